"""What an ensemble can tell apart: each feature's domain in classes that all its splits treat alike."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np

from dueto.models.ensemble import ZERO, ZERO_IS_MISSING, Ensemble

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dueto.models.structure import Structure

__all__ = ["Partition", "partition"]

_KNOWN: WeakKeyDictionary[Structure, dict[int, Partition]] = WeakKeyDictionary()


@dataclass(frozen=True, eq=False)
class Partition:
    """The classes of one feature.

    Parameters
    ----------
    which : (s,) intp
        The ensemble's splits that look at a column of this feature.
    columns : (s,) intp
        For each, the column's place among the feature's columns.
    of_value : (k + 1,) intp
        The class of each listed value of the domain, and last of missing.
    cuts : (c,) float64
        Of a range: the largest number of each class but the last, rising. Empty where the domain is a list.
    """

    structure: Structure
    feature: int
    which: NDArray[np.intp]
    columns: NDArray[np.intp]
    of_value: NDArray[np.intp]
    cuts: NDArray[np.float64]

    def left(self, values: NDArray[np.float64]) -> NDArray[np.bool_]:
        """(s, K) whether each encoded value goes left at each of `which`."""
        form = self.structure.form
        assert isinstance(form, Ensemble)
        Z = self.structure.columns.of(self.feature, values)
        left = np.empty((len(self.which), len(values)), dtype=np.bool_)
        for i in np.unique(self.columns):
            mine = self.columns == i
            left[mine] = form.splits.left(self.which[mine], Z[:, i])
        return left

    def classes(self, values: NDArray[np.float64]) -> NDArray[np.intp]:
        """(K,) the class of each encoded value; equal for values that no split tells apart, -1 - i for a stranger."""
        domain = self.structure.columns.space.features[self.feature].domain
        if domain.interval is not None:
            return np.where(np.isnan(values), -1, np.searchsorted(self.cuts, values))
        at = np.minimum(np.searchsorted(domain.values, values), len(domain.values))
        known = np.append(domain.values, np.nan)[at]
        return np.where((known == values) | np.isnan(values), self.of_value[at], -1 - np.arange(len(values)))


def partition(structure: Structure, j: int) -> Partition:
    """The classes of feature j, worked out once for a structure."""
    known = _KNOWN.setdefault(structure, {})
    if j not in known:
        known[j] = _partition(structure, j)
    return known[j]


def _partition(structure: Structure, j: int) -> Partition:
    form, columns, domain = structure.form, structure.columns, structure.columns.space.features[j].domain
    assert isinstance(form, Ensemble)
    none = np.empty(0, dtype=np.intp)
    parts = [(i, form.by_column.get(int(c), none)) for i, c in enumerate(columns.places[j])]
    which = np.concatenate([none, *(p for _, p in parts)])
    places = np.concatenate([none, *(np.full(len(p), i) for i, p in parts)])
    bare = Partition(structure, j, which, places, none, np.empty(0))
    values = np.append(domain.values, np.nan)
    if domain.interval is not None:
        return Partition(
            structure,
            j,
            which,
            places,
            np.zeros(len(values), dtype=np.intp),
            _cuts(bare, domain.interval, integer=domain.integer),
        )
    left = bare.left(values)
    packed = np.packbits(left, axis=0) if len(left) else np.zeros((1, len(values)), dtype=np.uint8)
    fresh = np.append(True, (packed[:, 1:] != packed[:, :-1]).any(axis=0))
    fresh[-1] = True  # missing is a class of its own
    if not columns.space.features[j].ordered:
        fresh[:] = True
    return Partition(structure, j, which, places, np.cumsum(fresh) - 1, np.empty(0))


def _cuts(bare: Partition, interval: tuple[float, float], *, integer: bool) -> NDArray[np.float64]:
    """The last numbers before some split changes its mind, by bisection along the floating-point numbers.

    It rests on the columns being monotone, so that each threshold is passed at most once; and so are either end of what
    LightGBM takes for zero, and with it for missing.
    """
    low, high = _rank(np.array(interval))
    form = bare.structure.form
    assert isinstance(form, Ensemble)
    zeros = form.splits.zero is not None and bool((form.splits.zero[bare.which] == ZERO_IS_MISSING).any())
    plain = replace(bare, structure=replace(bare.structure, form=replace(form, splits=replace(form.splits, zero=None))))

    def passed(values: NDArray[np.float64]) -> NDArray[np.bool_]:
        found = plain.left(values)
        if not zeros:
            return found
        Z = bare.structure.columns.of(bare.feature, values).T
        return np.vstack([found, Z < -ZERO, Z <= ZERO])

    ends = passed(np.array(interval))
    changes = np.flatnonzero(ends[:, 0] != ends[:, 1])
    a, b = np.full(len(changes), low), np.full(len(changes), high)
    first = ends[changes, 0]
    rows = np.arange(len(changes))
    while (a + 1 < b).any():
        middle = (a >> 1) + (b >> 1) + (a & b & 1)  # half way, where a + b would overflow
        same = passed(_number(middle))[changes, rows] == first
        a, b = np.where(same, middle, a), np.where(same, b, middle)
    cuts = _number(a)
    return np.unique(np.floor(cuts) if integer else cuts)


def _rank(values: NDArray[np.float64]) -> NDArray[np.int64]:
    """Floating-point numbers as integers in the same order, neighbours one apart."""
    bits = (values + 0.0).view(np.int64)
    return np.where(bits < 0, np.int64(-(2**63)) - bits, bits)


def _number(ranks: NDArray[np.int64]) -> NDArray[np.float64]:
    """The floating-point numbers of these ranks."""
    return np.where(ranks < 0, np.int64(-(2**63)) - ranks, ranks).view(np.float64)
