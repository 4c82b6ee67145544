"""Features cut into parts: missing, special codes, values that many rows have, and what lies between them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from operator import and_, or_
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from dueto.plaf import Compare, Expr, cf

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dueto.space import FeatureSpace

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

BINS = 1_000  # parts that all features together are cut into
LEVELS = 16  # a feature of at most so many values has a part for each
SURE = 20.0  # rows, beside the logarithm of the number of candidates, that should break what chance made
TRIPLES = 2_000  # sums of two features tried against a third
NEAR = 0.01  # what is near, as a share of the distance between the 10 % and the 90 % quantile
ATOM = 0.05  # share of the rows that gives a feature's least or greatest value a part of its own

Kind = Literal["equality", "tie", "order", "sum", "equivalence", "implication", "range"]


@dataclass(frozen=True, eq=False)
class Candidate:
    """A constraint that the rows looked at keep.

    `expected` of them would break it if its sides were independent; it says something where `speaks` holds (None:
    everywhere).
    """

    constraint: Expr
    kind: Kind
    expected: float
    speaks: Expr | None = None


class Cut:
    """The rows of a table, each feature cut into parts, which are numbered over all features.

    Attributes
    ----------
    X, W : (m, n)
        The encoded rows; and the same without special codes, which are missing there.
    P : (m, n) int
        The part that each value belongs to.
    parts : dict
        For each feature looked at, the range of its parts' numbers, missing last.
    low, high : (T,)
        The least and the greatest value of each part; both NaN for missing.
    special, mixed : (T,) bool
        Whether a part is a code or missing; whether it holds all labels too rare to be told apart.
    owner, count : (T,) int
        The feature of each part, and the rows that are in it.
    values, ranks : dict of arrays, (m, n) int
        Each feature's distinct values, and which of them each row has.
    near : (n,) float
        What is near along each feature.
    few : int
        So many rows make a condition worth speaking of.
    sure : float
        The least number of rows that should break a candidate if its sides were independent.
    """

    def __init__(self, space: FeatureSpace, X: Floats, use: list[int], few: int) -> None:
        self.space, self.X, self.use, self.few = space, X, use, few
        self.W, self.P, self.parts = X.copy(), np.zeros(X.shape, dtype=np.intp), dict[int, range]()
        self.values = dict[int, Floats]()
        self.ranks, self.near = np.zeros(X.shape, dtype=np.intp), np.zeros(X.shape[1])
        self.levels = levels = max(4, min(LEVELS, BINS // max(1, len(use))))
        low, high, special, mixed = list[float](), list[float](), list[bool](), list[bool]()
        for j in use:
            values, which, counts = np.unique(X[:, j], return_inverse=True, return_counts=True)
            coded = codes(values, counts, few) if not space.features[j].labelled else np.zeros(len(values), dtype=bool)
            apart = coded | np.isnan(values)
            if space.features[j].ordered:
                part, rest = _runs(counts, apart, few, levels), -1
            else:
                part, rest = _common(counts, few, levels)
            first = np.unique(part, return_index=True)[1]
            last = len(part) - 1 - np.unique(part[::-1], return_index=True)[1]
            self.values[j], self.ranks[:, j] = values, which
            self.parts[j] = range(len(low), len(low) + len(first))
            self.P[:, j] = len(low) + part[which]
            self.W[coded[which], j] = np.nan
            if (plain := values[~apart]).size:
                low10, high90 = np.searchsorted(np.cumsum(counts[~apart]) / counts[~apart].sum(), (0.1, 0.9))
                self.near[j] = NEAR * float(plain[high90] - plain[low10])
            low += values[first].tolist()
            high += values[last].tolist()
            special += apart[first].tolist()
            mixed += [p == rest for p in range(len(first))]
        self.low, self.high = np.array(low), np.array(high)
        self.special, self.mixed = np.array(special, dtype=bool), np.array(mixed, dtype=bool)
        self.owner = np.repeat(np.array(use, dtype=np.intp), [len(self.parts[j]) for j in use])
        self.count = np.bincount(self.P[:, use].ravel(), minlength=len(low))

        n, T = len(use), len(low)
        self.sure = SURE + float(np.log(max(1, T * T // 2 + 5 * T * n + 3 * n * n + TRIPLES)))

    def among(self, parts: Iterable[int]) -> Expr:
        """The value of a feature is in one of these parts of it (some, not all)."""
        inside = sorted(parts)
        j = int(self.owner[inside[0]])
        outside = [p for p in self.parts[j] if p not in inside]
        if not self.space.features[j].ordered:
            if self.mixed[inside].any() or (len(outside) < len(inside) and not self.mixed[outside].any()):
                return _unequal(self._labels(j, outside))
            return self._labels(j, inside)
        here, there = self._pieces(j, inside), self._pieces(j, outside)
        return reduce(or_, here) if len(here) <= len(there) else _unequal(reduce(or_, there))

    def ordinary(self, *features: int) -> Expr | None:
        """The values of these features are no special codes; None if they have none."""
        found: list[Expr] = []
        for j in features:
            order = [p for p in self.parts[j] if not np.isnan(self.low[p])]
            if self.special[order].any():
                found += self._pieces(j, [p for p in order if not self.special[p]])
        return reduce(and_, found) if found else None

    def _labels(self, j: int, parts: list[int]) -> Expr:
        feature = self.space.features[j]
        labels = [feature.label(self.low[p]) for p in parts]
        return cf[feature.name].isin(labels) if len(labels) > 1 else _equal(feature.name, labels[0])

    def _pieces(self, j: int, inside: list[int]) -> list[Expr]:
        """Conditions of which one must hold: for each run of neighbouring parts, for single values, for missing."""
        order = [p for p in self.parts[j] if not np.isnan(self.low[p])]
        present = [p for p in order if p in inside]
        runs: list[list[int]] = []
        for p in present:
            if runs and p == runs[-1][1] + 1:
                runs[-1][1] = p
            else:
                runs.append([p, p])
        single = [p for p, q in runs if self.low[p] == self.high[q]]
        found = [self._labels(j, single)] if single else []
        found += [self._run(j, p, q, order) for p, q in runs if self.low[p] != self.high[q]]
        return found + [cf[self.space.names[j]].missing()] * (len(present) < len(inside))

    def _run(self, j: int, p: int, q: int, order: list[int]) -> Expr:
        feature = self.space.features[j]
        ref, low, high = cf[feature.name], self.low, self.high
        bounds: list[Expr] = []
        if p != order[0]:
            if self.special[p - 1] and high[p - 1] < 0 <= low[p]:
                bounds.append(ref >= 0)
            elif low[p] == high[p] or self._next(j, high[p - 1], low[p]):
                bounds.append(ref >= feature.label(low[p]))
            else:
                bounds.append(ref > feature.label(high[p - 1]))
        if q != order[-1]:
            if self.special[q] and high[q] < 0 <= low[q + 1]:
                bounds.append(ref < 0)
            elif not self.special[q + 1] and (low[q] == high[q] or self._next(j, high[q], low[q + 1])):
                bounds.append(ref <= feature.label(high[q]))
            else:
                bounds.append(ref < feature.label(low[q + 1]))
        return reduce(and_, bounds) if bounds else ~ref.missing()

    def _next(self, j: int, a: float, b: float) -> bool:
        """Whether nothing lies between two values."""
        feature = self.space.features[j]
        return feature.labelled or (feature.kind == "integer" and b == a + 1)


def codes(values: Floats, counts: NDArray[np.intp], few: int) -> Bools:
    """Which of a column's distinct values, sorted, are no quantities but say why there is none.

    Whole numbers from -9 to -1, or all of -99, -999 and so on, if the others are not negative; and a greatest value
    that lies further from the second than that from the least of at least eight others.
    """
    plain = values[~np.isnan(values)]
    found = np.zeros(len(values), dtype=bool)
    below = plain[plain < 0]
    if (
        0 < len(below) <= len(plain) - 2
        and np.isin(below, [*range(-9, 0), *(-(10.0**k) + 1 for k in range(2, 8))]).all()
    ):
        found[: len(below)] = True
    rest = plain[len(below) :] if found.any() else plain
    if len(rest) >= 9 and counts[len(plain) - 1] >= few and rest[-1] - rest[-2] > rest[-2] - rest[0]:
        found[len(plain) - 1] = True
    return found


def _runs(counts: NDArray[np.intp], apart: Bools, few: int, levels: int) -> NDArray[np.intp]:
    """The part of each distinct value of an ordered feature: those that stand alone, and runs of the others."""
    alone = apart.copy()
    rest = np.flatnonzero(~apart)
    if len(rest) <= levels:
        alone |= counts >= few
    else:
        ends = rest[[0, -1]]
        alone[ends] = counts[ends] >= max(few, ATOM * counts.sum())
    starts = alone | np.append(True, alone[:-1])
    return np.cumsum(starts) - 1


def _common(counts: NDArray[np.intp], few: int, levels: int) -> tuple[NDArray[np.intp], int]:
    """The part of each label, one for each common one and one for all others, and which part that is (-1: none)."""
    common = np.sort(np.argsort(-counts, kind="stable")[:levels])
    common = common[counts[common] >= few]
    part = np.full(len(counts), len(common))
    part[common] = np.arange(len(common))
    several = len(common) < len(counts)
    return part, len(common) if several else -1


def _equal(name: str, label: Any) -> Expr:
    found: Expr = cf[name] == label
    return found


def _unequal(expr: Expr) -> Expr:
    if isinstance(expr, Compare) and expr.op == "==":
        found: Expr = expr.left != expr.right
        return found
    return ~expr
