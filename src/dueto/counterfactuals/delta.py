"""The Δ-representation: a candidate is the applicant plus its changes, and nothing else.

A *change* is a pair (unit, value); all changes that constraints on single units allow are numbered in one catalogue.
A set of candidates is an integer array (N, w): row i lists the changes of candidate i, in increasing order, padded with
`Catalogue.none`. Distances, duplicates and full rows are all read off the catalogue by indexing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dueto.counterfactuals.units import crossing
from dueto.distance import joined, parts, steps
from dueto.domain import distinct_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from dueto.counterfactuals.base import Query
    from dueto.counterfactuals.units import Unit
    from dueto.plaf import Bound

__all__ = ["Catalogue"]


class Catalogue:
    """Every single change that a query allows, numbered.

    Parameters
    ----------
    query : Query
        What is asked.
    units : sequence of Unit
        Its units, each with the values that it can change to.
    rng : Generator
        Draws the keys by which candidates are compared.
    """

    def __init__(self, query: Query, units: Sequence[Unit], rng: np.random.Generator) -> None:
        self.query, self.units = query, tuple(units)
        sizes = np.array([len(u.values) for u in units], dtype=np.intp)
        self.start = np.append(0, np.cumsum(sizes))
        self.none = int(self.start[-1])
        self.unit = np.append(np.repeat(np.arange(len(units)), sizes), len(units))
        self.feature = np.repeat([u.members[0] for u in units], sizes)  # of each change, its (first) feature ...
        self.value = np.concatenate([u.values[:, 0] for u in units])  # ... and what that becomes
        self.several = [u for u, unit in enumerate(units) if len(unit.members) > 1]
        self.weights = np.concatenate([*(u.weights for u in units), [0.0]])
        self.cumulative = [np.cumsum(u.weights) for u in units]
        alone = [parts(steps(query.space, query.x, u.values, u.members)) for u in units]
        self.parts = np.vstack([*alone, np.zeros((1, 4))])  # of each change alone; the padding changes nothing
        self.near = self.distances(np.arange(self.none + 1)[:, None])
        self.by_nearness = np.lexsort((self.near, self.unit))
        self.rank = np.zeros(self.none + 1, dtype=np.intp)  # how many changes of the same unit are strictly nearer
        for u in range(len(units)):
            here = slice(self.start[u], self.start[u + 1])
            self.rank[here] = np.searchsorted(self.near[self.by_nearness[here]], self.near[here])
        self.keys = np.append(rng.integers(0, 2**63, self.none, dtype=np.uint64), np.uint64(0))
        directions = [
            np.sign(u.values - query.x[list(u.members)]) * query.space.ordered[list(u.members)] for u in units
        ]
        self.move_keys = np.append(
            np.concatenate(
                [rng.integers(2**63, size=len(d), dtype=np.uint64)[distinct_rows(d)[1]] for d in directions]
            ),
            np.uint64(0),
        )
        self.owner = {j: u for u, unit in enumerate(units) for j in unit.members}
        self.must = np.array([u for u, unit in enumerate(units) if not unit.keep], dtype=np.intp)
        self.crossing = crossing(query, units)

    def distances(self, C: NDArray[np.intp]) -> NDArray[np.float64]:
        """(N,) distance of each candidate from x."""
        both = self.parts[C[:, 0]]
        for slot in range(1, C.shape[1]):
            both = joined(both, self.parts[C[:, slot]])
        return self.query.distance.combine(both, len(self.query.space))

    def moves(self, C: NDArray[np.intp]) -> NDArray[np.uint64]:
        """(N,) a number for the features that each candidate changes and in which direction, equal for equal moves."""
        return _sums(self.move_keys, C)

    def stack(self, parts: Sequence[NDArray[np.intp]]) -> NDArray[np.intp]:
        """Candidates of different widths as one array."""
        width = max((part.shape[1] for part in parts), default=1)
        wide = [np.hstack([p, np.full((len(p), width - p.shape[1]), self.none)]) for p in parts]
        return np.vstack([np.empty((0, width), dtype=np.intp), *wide])

    def tidy(self, C: NDArray[np.intp]) -> NDArray[np.intp]:
        """Candidates with their changes in increasing order, without columns that are all padding."""
        C = np.sort(C, axis=1)
        return C[:, : max(1, int((self.none > C).sum(axis=1).max(initial=1)))]

    def distinct(self, C: NDArray[np.intp], seen: NDArray[np.uint64]) -> tuple[NDArray[np.intp], NDArray[np.uint64]]:
        """Candidates whose key is not in the sorted keys `seen`, each once; and `seen` with the new keys among them.

        A key is the sum of its changes' random 64-bit keys: equal sets of changes have equal keys, and others do not,
        but for a chance of about N² / 2⁶⁴.
        """
        keys, first = np.unique(_sums(self.keys, C), return_index=True)
        new = seen[np.minimum(np.searchsorted(seen, keys), len(seen) - 1)] != keys
        return C[np.sort(first[new])], np.sort(np.concatenate([seen, keys[new]]), kind="stable")

    def rows(self, C: NDArray[np.intp]) -> NDArray[np.float64]:
        """(N, n) the candidates as full encoded rows."""
        X = np.tile(self.query.x, (len(C), 1))
        row, slot = np.nonzero(self.none > C)
        change = C[row, slot]
        X[row, self.feature[change]] = self.value[change]
        for u in self.several:
            here = self.unit[change] == u
            X[row[here][:, None], self.units[u].members] = self.units[u].values[change[here] - self.start[u]]
        return X

    def changes(self, X: NDArray[np.float64]) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
        """Rows as candidates, units whose values are not in the catalogue unchanged; and whether all musts change."""
        C = np.full((len(X), len(self.units)), self.none)
        for u, unit in enumerate(self.units):
            if len(unit.values):
                at = _places(unit.values, X[:, unit.members])
                C[:, u] = np.where(at < 0, self.none, self.start[u] + at)
        return C, np.asarray((C[:, self.must] < self.none).all(axis=1))

    def has(self, C: NDArray[np.intp]) -> NDArray[np.bool_]:
        """(N, n_units) which units each candidate changes."""
        found = np.zeros((len(C), len(self.units) + 1), dtype=bool)
        found[np.arange(len(C))[:, None], self.unit[C]] = True
        return found[:, :-1]

    def draw(self, u: int, size: int, rng: np.random.Generator) -> NDArray[np.intp]:
        """`size` changes of unit `u`, drawn by weight with replacement."""
        cumulative = self.cumulative[u]
        at = np.searchsorted(cumulative, rng.random(size) * cumulative[-1], side="right")
        return np.asarray(self.start[u] + np.minimum(at, len(cumulative) - 1))

    def draw_nearer(self, change: NDArray[np.intp], rng: np.random.Generator) -> NDArray[np.intp]:
        """For each change, another of the same unit that is strictly nearer to x, all equally likely."""
        step = (rng.random(len(change)) * self.rank[change]).astype(np.intp)
        return np.asarray(self.by_nearness[self.start[self.unit[change]] + step])

    def feasible(self, C: NDArray[np.intp]) -> NDArray[np.bool_]:
        """(N,) whether each candidate changes what must change and meets every constraint between units."""
        ok = np.asarray(self.has(C)[:, self.must].all(axis=1))
        for constraint in self.crossing:
            ok &= constraint(self.column(C), self.query.x)
        return ok

    def column(self, C: NDArray[np.intp]) -> Callable[[int], NDArray[np.float64] | float]:
        """The values of a feature in each candidate: x's own, a scalar, where none changes it."""

        def values(j: int) -> NDArray[np.float64] | float:
            u = self.owner[j]
            row, slot = np.nonzero(self.unit[C] == u)
            if not len(row):
                return float(self.query.x[j])
            column = np.full(len(C), self.query.x[j])
            unit = self.units[u]
            column[row] = unit.values[C[row, slot] - self.start[u], unit.members.index(j)]
            return column

        return values

    def repair(self, C: NDArray[np.intp], rng: np.random.Generator) -> NDArray[np.intp]:
        """Candidates made feasible where resampling can do it; the others are dropped.

        Constraint by constraint (an implication's consequence first among its units): where it fails, one unit is drawn
        anew from the values that mend it, by weight. Passes repeat, since mending one may break another.
        """
        if len(self.must):
            C = self._add_musts(C, rng)
        for _ in range(len(self.crossing) + 1):
            clean = True
            for constraint in self.crossing:
                fails = ~np.broadcast_to(constraint(self.column(C), self.query.x), (len(C),))
                if fails.any():
                    clean = False
                    C = self.stack([C[~fails], self._mend(constraint, C[fails], rng)])
            if clean:
                return C
        return C[self.feasible(C)]

    def _add_musts(self, C: NDArray[np.intp], rng: np.random.Generator) -> NDArray[np.intp]:
        has = self.has(C)
        extra = np.full((len(C), len(self.must)), self.none)
        for i, u in enumerate(self.must):
            extra[:, i] = np.where(has[:, u], self.none, self.draw(u, len(C), rng))
        return self.tidy(np.hstack([C, extra]))

    def _mend(self, constraint: Bound, C: NDArray[np.intp], rng: np.random.Generator) -> NDArray[np.intp]:
        """One unit of the constraint redrawn for every candidate; candidates that no unit can mend are dropped."""
        mended = [C[:0]]
        for u in self._order(constraint, rng):
            if not len(C):
                break
            options = self._options(u, rng)
            table = self.units[u].values[options[:-1] - self.start[u]]
            current = self.column(C)

            def values(
                j: int,
                u: int = u,
                table: NDArray[np.float64] = table,
                current: Callable[[int], object] = current,
            ) -> NDArray[np.float64] | float:
                if self.owner[j] == u:
                    return np.append(table[:, self.units[u].members.index(j)], self.query.x[j])[None, :]
                column = np.asarray(current(j))
                return column[:, None] if column.ndim else float(column)

            allowed = np.broadcast_to(constraint(values, self.query.x), (len(C), len(options))).copy()
            allowed[:, -1] &= self.units[u].keep
            total = (allowed * np.append(self.weights[options[:-1]], 1.0)).cumsum(axis=1)
            can = total[:, -1] > 0
            pick = (total < (rng.random(len(C)) * total[:, -1])[:, None]).sum(axis=1)
            pick = np.minimum(pick, len(options) - 1)
            rest = np.where(self.unit[C] == u, self.none, C)
            new = self.tidy(np.column_stack([rest, options[pick]])[can])
            mended.append(new)
            C = C[~can]
        return self.stack(mended)

    def _options(self, u: int, rng: np.random.Generator) -> NDArray[np.intp]:
        """Changes of a unit to try in a repair (all, or a weighted draw of many), and at the end staying unchanged."""
        size = len(self.units[u].values)
        found = np.arange(self.start[u], self.start[u + 1]) if size <= 256 else np.unique(self.draw(u, 256, rng))
        return np.append(found, self.none)

    def _order(self, constraint: Bound, rng: np.random.Generator) -> list[int]:
        """The units of a constraint, an implication's consequence first, otherwise in random order."""
        units = sorted({self.owner[j] for j in constraint.features})
        first = {self.owner[j] for j in constraint.consequence}
        return sorted(rng.permutation(units).tolist(), key=lambda u: u not in first)


def _sums(keys: NDArray[np.uint64], C: NDArray[np.intp]) -> NDArray[np.uint64]:
    """(N,) the sum of the keys of each row, modulo 2⁶⁴; column by column, since rows are short."""
    total = keys[C[:, 0]]
    for slot in range(1, C.shape[1]):
        total += keys[C[:, slot]]
    return total


def _places(values: NDArray[np.float64], rows: NDArray[np.float64]) -> NDArray[np.intp]:
    """Where each row stands among distinct values, -1 if it does not; NaN equals NaN. One column is sorted."""
    if values.shape[1] > 1:
        _, which, _ = distinct_rows(np.vstack([values, rows]))
        place = np.full(which.max() + 1, -1)
        place[which[: len(values)]] = np.arange(len(values))
        return place[which[len(values) :]]
    column, sought = values[:, 0], rows[:, 0]
    at = np.minimum(np.searchsorted(column, sought), len(column) - 1)
    found = (column[at] == sought) | (np.isnan(column[at]) & np.isnan(sought))
    return np.where(found, at, -1)
