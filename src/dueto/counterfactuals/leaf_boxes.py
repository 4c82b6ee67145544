"""Leaf boxes: exact counterfactuals of one decision tree."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dueto.counterfactuals.base import Answer, Finds, Query, Status
from dueto.counterfactuals.exhaustive import instances
from dueto.counterfactuals.ranking import best_moves, ranked
from dueto.counterfactuals.units import CONSTRAINTS, Unit, contradiction, crossing
from dueto.distance import joined, parts, steps

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["LeafBoxes"]

CELLS = 1 << 22  # leaves times values looked at in one piece


@dataclass(frozen=True)
class LeafBoxes:
    """Go through the leaves that give the desired outcome: each is a box, whose nearest point is found unit by unit.

    Use it for a single decision tree over raw columns or one-hot groups; it proves what it says. It equals `Exhaustive`
    on every space small enough for that.

    Parameters
    ----------
    limit : int
        The most joint values of features that constraints tie together.

    Notes
    -----
    A box is a product of sets, one a feature, so it holds a feasible point iff each unit of features has an allowed
    value in it; and since the distance grows with every d_j, the nearest point takes the nearest allowed value of each
    feature. Features that a constraint ties are one unit: its joint values are listed, and those that break a
    constraint struck out. With two or more such units, the nearest of each need not be the nearest together, so they
    are listed jointly if that stays within `limit`; else the answer is FOUND instead of OPTIMAL.
    """

    limit: int = 200_000
    name: str = "leaf boxes"

    def refuses(self, query: Query) -> str:
        """Why the query is beyond leaf boxes, or empty."""
        if query.model.tree is None:
            return "the model is not a decision tree over the raw columns"
        if query.plausibility is not None:
            return "how plausible a row is, leaf boxes cannot tell"
        units = query.units(np.random.default_rng(0))
        ranged = {unit.members[0]: unit.settled for unit in units if not unit.listed}
        between = crossing(query, units)
        for constraint in query.constraints:
            for j in constraint.features & ranged.keys():
                if constraint in between or not ranged[j]:
                    name = query.space.names[j]
                    return f"the constraint {constraint.expr} is on {name}, which is declared over a range"
        tied = [part for part in _tied(query, units) if len(part) > 1]
        size = max((math.prod(unit.size for unit in part) for part in tied), default=0)
        if size > self.limit:
            return f"constraints tie features with {size:,} joint values, more than the limit of {self.limit:,}"
        return ""

    def judge(self, query: Query) -> Finds:
        """Leaf boxes, to be asked about many rules on a query."""
        return Finds(self, query, np.random.default_rng(0))

    def find(self, query: Query, *, k: int, nearest: bool, rng: np.random.Generator) -> Answer:  # noqa: ARG002
        """The `k` nearest of the leaves' nearest points; the first is the nearest of all."""
        before = query.model.rows_scored
        units = query.units(rng)
        single, joint = self._arranged(query, units)
        if reason := contradiction(query, units) or contradiction(query, joint):
            return Answer(Status.NONE, np.empty((0, len(query.x))), np.empty(0), CONSTRAINTS, 0, reason)
        leaves = _Leaves(query)
        for unit in (*single, *joint):
            leaves.place(unit)
        X = best_moves(query, leaves.X)
        ok = query.accepts(X)
        X = ranked(query, X[ok], k)
        if not len(ok):
            contradicted = query.model.good(query.within_reach).any()  # the model is not the tree it says it is
            status = Status.UNKNOWN if contradicted else Status.NONE
        else:
            sure = ok.all() and len(joint) <= 1
            status = Status.OPTIMAL if sure else Status.FOUND if len(X) else Status.UNKNOWN
        return Answer(status, X, query.distances(X), self.name, query.model.rows_scored - before)

    def _arranged(self, query: Query, units: Sequence[Unit]) -> tuple[list[Unit], list[Unit]]:
        """Units of one feature, and units of several: tied ones made one, and all of them one where few enough."""
        parts = [_join(query, part) for part in _tied(query, units)]
        single = [unit for unit in parts if len(unit.members) == 1]
        joint = [unit for unit in parts if len(unit.members) > 1]
        if len(joint) > 1 and math.prod(unit.size for unit in joint) <= self.limit:
            joint = [_join(query, joint)]
        return single, joint


class _Leaves:
    """The leaves with the desired outcome, and the nearest point of each, as far as units have been placed."""

    def __init__(self, query: Query) -> None:
        self.query, self.boxes = query, query.model.boxes
        self.leaf = np.flatnonzero(self.boxes.score > query.model.threshold)
        self.X = np.tile(query.x, (len(self.leaf), 1))
        self.parts = np.zeros((len(self.leaf), 4))  # ‖d‖₀, ‖d‖₁, Σ d², max d

    def place(self, unit: Unit) -> None:
        """Give every leaf its nearest allowed value of a unit; leaves that allow none are struck out."""
        j = unit.members[0]
        plain = len(unit.members) == 1 and j not in self.boxes.tables and self.query.space.features[j].ordered
        values, found = self._nearest_number(unit, j) if plain else self._nearest_listed(unit)
        self.leaf, self.X, self.parts = self.leaf[found], self.X[found], self.parts[found]
        self.X[:, unit.members] = values[found]
        self.parts = joined(self.parts, self._parts(unit, values[found]))

    def _parts(self, unit: Unit, values: NDArray[np.float64]) -> NDArray[np.float64]:
        return parts(steps(self.query.space, self.query.x, values, unit.members))

    def _nearest_listed(self, unit: Unit) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Among listed joint values, the one that brings each point least further from x."""
        choices = unit.choices(self.query.x)
        added = self._parts(unit, choices)
        best, found = np.zeros(len(self.leaf), dtype=np.intp), np.zeros(len(self.leaf), dtype=bool)
        piece = max(1, CELLS // len(choices))
        for start in range(0, len(self.leaf), piece):
            some = slice(start, start + piece)
            allowed = np.ones((len(self.leaf[some]), len(choices)), dtype=bool)
            for i, j in enumerate(unit.members):
                allowed &= self.boxes.allows(j, choices[:, i], self.leaf[some])
            both = joined(*np.broadcast_arrays(self.parts[some, None], added[None]))
            total = self.query.distance.combine(both, len(self.query.space))
            best[some] = np.where(allowed, total, np.inf).argmin(axis=1)
            found[some] = allowed.any(axis=1)
        return choices[best], found

    def _nearest_number(self, unit: Unit, j: int) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Of numbers, by bisection: the nearest below, the nearest above, x itself or missing."""
        x, feature = self.query.x[j], self.query.space.features[j]
        low, high = self.boxes.low[self.leaf, j], self.boxes.high[self.leaf, j]
        missing = self.boxes.missing[self.leaf, j]
        column = unit.values[:, 0]
        numbers = np.sort(column[~np.isnan(column)])
        best = np.full(len(low), np.nan)
        if not unit.listed:
            low, high = np.maximum(low, unit.low), np.minimum(high, unit.high)
            if feature.domain.integer:
                low, high = np.ceil(low), np.floor(high)
            found = low <= high
            best[found] = np.clip(low[found] if np.isnan(x) else x, low[found], high[found])
        else:
            first, last = np.searchsorted(numbers, low), np.searchsorted(numbers, high, side="right")
            padded = np.append(numbers, np.nan)
            at = np.searchsorted(numbers, x)
            above, below = np.maximum(first, at), np.minimum(last, at) - 1
            up = np.where(above < last, padded[np.minimum(above, len(numbers))], np.inf)
            down = np.where(below >= first, padded[below], -np.inf)
            found = np.isfinite(up) | np.isfinite(down)
            if np.isnan(x):  # `at` is the end: all numbers are below, and as far
                best[found] = down[found]
            else:
                best[found] = np.where(up - x < x - down, up, down)[found]
        if not np.isnan(x) and len(numbers) < len(column):
            far = ~found | (np.abs(best - x) > feature.domain.range)
            best[far & missing] = np.nan
            found = found | missing
        stay = (
            missing if np.isnan(x) else (self.boxes.low[self.leaf, j] <= x) & (x <= self.boxes.high[self.leaf, j])
        ) & unit.keep
        best[stay] = x
        return best[:, None], found | stay


def _tied(query: Query, units: Sequence[Unit]) -> list[list[Unit]]:
    """The units in parts: two are in one part if a constraint looks at both."""
    tied = [[unit] for unit in units]
    for constraint in crossing(query, units):
        looked_at = [part for part in tied if any(constraint.features & set(unit.members) for unit in part)]
        if len(looked_at) > 1:
            tied = [part for part in tied if part not in looked_at] + [[u for part in looked_at for u in part]]
    return tied


def _join(query: Query, part: Sequence[Unit]) -> Unit:
    """Units made one, with the joint values that meet every constraint on them."""
    if len(part) == 1:
        return part[0]
    members = tuple(j for unit in part for j in unit.members)
    settled = [c for c in query.constraints if c.features and c.features <= set(members)]
    rows = []
    for X in instances(query, part):
        ok = np.ones(len(X), dtype=bool)
        for constraint in settled:
            ok &= constraint(lambda j, X=X: X[:, j], query.x)  # type: ignore[misc]
        rows.append(X[ok])
    found = np.vstack([np.empty((0, len(query.x))), *rows])
    same = ~query.changed(found).any(axis=1)
    values = found[~same][:, members]
    return Unit(members, values, np.ones(len(values)), bool(same.any()), listed=True)
