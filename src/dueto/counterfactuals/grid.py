"""A query over an ensemble or an additive model, in the arrays that the compiled loops take."""

from __future__ import annotations

import itertools
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dueto.counterfactuals.cells import Cells
from dueto.counterfactuals.partition import partition
from dueto.models.additive import Additive
from dueto.models.ensemble import Ensemble

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from dueto.counterfactuals.base import Query
    from dueto.models.structure import Structure

__all__ = ["DONORS", "Grid"]

DONORS = 64  # good rows of the data kept as points to start from: the nearest


class Grid:
    """The cells of a query, its box included, with what the model's trees or functions say of them."""

    def __init__(self, query: Query) -> None:
        from dueto.counterfactuals import kernels

        self.query, self.cells = query, Cells.of(query)
        structure = self.cells.structure
        form = structure.form
        assert isinstance(form, Ensemble | Additive)
        self.cut, self.slack, self.own = structure.cut, structure.slack, self.cells.own
        sizes = self.cells.sizes.astype(np.int64)
        forests = [s for s in (structure, query.plausibility) if s is not None and isinstance(s.form, Ensemble)]
        trees = _joined([s.form for s in forests])
        self.ordered = self.cells.numeric.astype(np.int64) if forests else sizes.copy()
        splits = self._splits(kernels, forests)
        add, odd = np.zeros(int(sizes.sum())), np.zeros(len(trees.value), dtype=np.bool_)
        if isinstance(form, Additive):
            add = np.concatenate([np.zeros(0), *(self._added(u, form) for u in range(len(sizes)))])
        else:
            odd[: len(form.value)] = _odd(structure, query.model.threshold)
        own = len(form.root) if isinstance(form, Ensemble) else 0
        least = query.plausibility.cut if query.plausibility is not None else 0.0
        cells = np.append(0, np.cumsum(sizes))
        unit, kind, cut, start, counts = splits
        self.forest = kernels.Forest(
            trees.root, trees.left, trees.right, trees.split, trees.value, odd, float(form.base), unit, kind, cut,
            start, counts, sizes, self.ordered, cells, add, bool(add.any()), own, float(least), _depth(trees),
        )  # fmt: skip
        self.ties = _ties(kernels, self.cells)
        self.set_start = np.append(0, np.cumsum(np.where(self.ordered == 0, sizes, 0)))
        self.cell_start = self.forest.cell_start
        self.parts = np.vstack([np.empty((0, 4)), *self.cells.parts])
        self.weights = np.array([*query.distance.weights, max(1, len(query.x))], dtype=np.float64)
        self.single = np.array([len(unit.members) == 1 for unit in self.cells.units], dtype=np.int64)

    @cached_property
    def donors(self) -> NDArray[np.intp]:
        """Points of the nearest good rows of the data."""
        X = self.query.donors
        return self.cells.points(X[np.argsort(self.query.distances(X), kind="stable")[:DONORS]])

    def _added(self, u: int, form: Additive) -> NDArray[np.float64]:
        """(K_u,) what each cell of a unit adds to the margin of an additive model."""
        columns, total = self.cells.structure.columns, np.zeros(len(self.cells.values[u]))
        for i, j in enumerate(self.cells.units[u].members):
            total += columns.of(j, self.cells.values[u][:, i]) @ form.weights[columns.places[j]]
        return total

    def _splits(self, kernels: Any, forests: list[Structure]) -> tuple[NDArray[Any], ...]:
        """Of each split of all forests: its unit, kind, cut, and where its running count of the cells that go left
        starts.

        Last, the counts. A unit whose cells some split does not cut in two runs has no order from here on.
        """
        offset = np.cumsum([0, *(len(s.form.splits) for s in forests if isinstance(s.form, Ensemble))])
        unit, kind, cut, start = (np.zeros(offset[-1], dtype=np.int64) for _ in range(4))
        counts, at = [np.zeros(1, dtype=np.int32)], 1
        for u, (members, values) in enumerate(
            zip((x.members for x in self.cells.units), self.cells.values, strict=True)
        ):
            for (i, j), (f, structure) in itertools.product(enumerate(members), enumerate(forests)):
                part = partition(structure, j)
                which = part.which + offset[f]
                if not len(which):
                    continue
                left = part.left(values[:, i])
                unit[which] = u
                cut[which], kind[which] = _cuts(left[:, : self.ordered[u]])
                if (kind[which] == kernels.SET).any():
                    self.ordered[u] = 0
                running = np.pad(left.cumsum(axis=1, dtype=np.int32), [(0, 0), (1, 0)])
                start[which] = at + np.arange(len(which)) * running.shape[1]
                at += running.size
                counts.append(running.ravel())
        kind[self.ordered[unit] == 0] = kernels.SET
        return unit, kind, cut, start, np.concatenate(counts)


class _Trees(NamedTuple):
    """The nodes of several ensembles, one after the other, their splits numbered on."""

    root: NDArray[np.int32]
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    split: NDArray[np.int32]
    value: NDArray[np.float64]


def _joined(forms: Sequence[Any]) -> _Trees:
    none = np.empty(0, dtype=np.int32)
    root, left, right, split, value = [none], [none], [none], [none], [np.empty(0)]
    nodes = splits = 0
    for form in forms:
        root.append(form.root + nodes)
        left.append(np.where(form.left < 0, -1, form.left + nodes))
        right.append(np.where(form.right < 0, -1, form.right + nodes))
        split.append(np.where(form.split < 0, -1, form.split + splits))
        value.append(form.value)
        nodes, splits = nodes + len(form.left), splits + len(form.splits)
    a, b, c, d = (np.concatenate(parts).astype(np.int32) for parts in (root, left, right, split))
    return _Trees(a, b, c, d, np.concatenate(value))


def _cuts(left: NDArray[np.bool_]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Where the ordered cells that go left end (kind 0) or begin (kind 1); kind 2 if they are no such run."""
    n = left.shape[1]
    count = left.sum(axis=1)
    k = np.arange(n)
    prefix = (left == (k < count[:, None])).all(axis=1)
    suffix = (left == (k >= (n - count)[:, None])).all(axis=1)
    return np.where(prefix, count, n - count), np.where(prefix, 0, np.where(suffix, 1, 2))


def _odd(structure: Structure, threshold: float) -> NDArray[np.bool_]:
    """(nodes,) whether a sum with this value that is at the cut has to be settled by the model.

    It has not if the sum is exact, which it is of multiples of 2⁻²⁰, and if the score at the cut is the threshold
    itself, to the last bit: known of a half only, be it half of a whole number of trees or the logistic function of 0.
    """
    form = structure.form
    assert isinstance(form, Ensemble)
    scaled = form.value * 2.0**20
    odd = (scaled != np.round(scaled)) | (np.abs(form.value) > 2.0**20)
    gaps = np.diff(np.unique(form.value[form.left < 0]))
    whole = all(v * 2.0**20 == round(v * 2.0**20) for v in (form.base, structure.cut))
    half = threshold == 0.5 and structure.link is not None and structure.link(np.array([structure.cut]))[0] == 0.5
    if (gaps <= 4 * structure.slack).any() or not (whole and half):
        odd[:] = True
    return np.asarray(odd)


def _depth(form: _Trees) -> int:
    """The most inner nodes on a path."""
    depth, level = 0, form.root
    while len(level := level[form.split[level] >= 0]):
        depth, level = depth + 1, np.concatenate([form.left[level], form.right[level]])
    return depth


def _ties(kernels: Any, cells: Cells) -> Any:
    width = max((len(tie.units) for tie in cells.ties), default=1)
    unit = np.full((len(cells.ties), width), -1, dtype=np.int64)
    stride = np.zeros((len(cells.ties), width), dtype=np.int64)
    start = np.zeros(len(cells.ties), dtype=np.int64)
    tables, at = [np.zeros(1, dtype=np.int64)], 1
    for c, tie in enumerate(cells.ties):
        table = np.ascontiguousarray(tie.counts)
        unit[c, : len(tie.units)] = tie.units
        stride[c, : len(tie.units)] = np.array(table.strides) // table.itemsize
        start[c] = at
        at += table.size
        tables.append(table.ravel())
    return kernels.Ties(unit, stride, start, np.concatenate(tables))
