"""A query as a finite grid: each unit of features as a row of cells that neither model, rules nor constraints can
split.

A cell holds values that nothing in the query tells apart; the one nearest to the applicant stands for it. A point of
the grid is one cell index a unit; a region, made by a rule, is a first and a last cell a unit.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from dueto.counterfactuals.partition import partition
from dueto.counterfactuals.units import contradiction, crossing
from dueto.distance import parts, steps
from dueto.domain import same
from dueto.models.additive import Additive
from dueto.models.ensemble import Ensemble

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from dueto.box import Box
    from dueto.counterfactuals.base import Query
    from dueto.counterfactuals.units import Unit
    from dueto.models.structure import Structure
    from dueto.plaf import Bound

__all__ = ["Cells", "Tie", "refusal"]

LARGEST = 1 << 24  # joint values of the units that one constraint ties
MOST = 30_000  # cells of one unit


@dataclass(frozen=True, eq=False)
class Tie:
    """A constraint between units: which joint cells it allows.

    `units` are their positions; `allowed` has one axis a unit.
    """

    units: tuple[int, ...]
    allowed: NDArray[np.bool_]

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        """How many allowed joint cells come before each corner: a summed-area table, one longer along every axis."""
        total = np.pad(self.allowed.astype(np.int64), [(1, 0)] * self.allowed.ndim)
        for axis in range(total.ndim):
            total = total.cumsum(axis=axis)
        return total


@dataclass(frozen=True, eq=False)
class Cells:
    """The grid of a query.

    Parameters
    ----------
    query : Query
    structure : Structure
        The model's.
    units : tuple of Unit
    values : tuple of (K_u, members) float64
        For each unit and cell, the encoded joint values that stand for it. A single ordered feature's numbers rise,
        and missing comes last.
    low, high : tuple of (K_u,) float64
        Of a single ordered feature: the least and the greatest allowed number in each cell (NaN for missing).
    own : (U,) intp
        The applicant's own cell, -1 where a unit has to change.
    ties : tuple of Tie
        Constraints between units.
    reason : str
        Why the constraints alone leave nothing, or empty.
    """

    query: Query
    structure: Structure
    units: tuple[Unit, ...]
    values: tuple[NDArray[np.float64], ...]
    low: tuple[NDArray[np.float64], ...]
    high: tuple[NDArray[np.float64], ...]
    own: NDArray[np.intp]
    ties: tuple[Tie, ...]
    reason: str = ""

    @classmethod
    def of(cls, query: Query) -> Cells:
        """The grid of a query that `refusal` does not refuse."""
        structure = query.model.structure
        assert structure is not None
        units = tuple(query.units(np.random.default_rng(0)))
        choices = [_Choices.of(query, structure, unit) for unit in units]
        ties = [_tie(query, units, choices, c) for c in crossing(query, units) if c.features]
        for u, choice in enumerate(choices):
            choice.merge([np.moveaxis(tie.allowed, tie.units.index(u), 0) for tie in ties if u in tie.units])
        ties = [Tie(tie.units, tie.allowed[np.ix_(*(choices[u].kept for u in tie.units))]) for tie in ties]
        return cls(
            query,
            structure,
            units,
            tuple(c.values for c in choices),
            tuple(c.low for c in choices),
            tuple(c.high for c in choices),
            np.array([c.own for c in choices], dtype=np.intp),
            tuple(ties),
            contradiction(query, units),
        )

    @cached_property
    def sizes(self) -> NDArray[np.intp]:
        """(U,) how many cells each unit has."""
        return np.array([len(v) for v in self.values], dtype=np.intp)

    @cached_property
    def numeric(self) -> NDArray[np.intp]:
        """(U,) how many of a unit's cells are in order: all but missing, or none where there is no order."""
        return np.array(
            [0 if not self.in_order(u) else int((~np.isnan(v[:, 0])).sum()) for u, v in enumerate(self.values)],
            dtype=np.intp,
        )

    @cached_property
    def parts(self) -> tuple[NDArray[np.float64], ...]:
        """For each unit, (K_u, 4) what each cell adds to a distance; see `Distance`."""
        query = self.query
        return tuple(
            parts(steps(query.space, query.x, v, u.members)) for u, v in zip(self.units, self.values, strict=True)
        )

    def in_order(self, u: int) -> bool:
        """Whether a unit is one feature whose numbers have an order."""
        members = self.units[u].members
        return len(members) == 1 and self.query.space.features[members[0]].ordered

    def region(self, box: Box) -> tuple[NDArray[np.intp], NDArray[np.intp]] | None:
        """The first and the last cell of each unit that a box leaves; None if it does not leave a run of cells.

        A unit of which nothing is left has its last before its first.
        """
        first, last = np.zeros(len(self.units), dtype=np.intp), self.sizes - 1
        bounded = (box.low > -np.inf) | (box.high < np.inf) | ~box.missing
        for u, unit in enumerate(self.units):
            if not bounded[list(unit.members)].any():
                continue
            if self.in_order(u):
                j = unit.members[0]
                inside = (self.high[u] >= box.low[j]) & (self.low[u] <= box.high[j])
                inside |= np.isnan(self.values[u][:, 0]) & box.missing[j]
                if self.units[u].listed:
                    inside &= self._holds(u, j, box)
                elif self._between_points(u, box.low[j]) or self._between_points(u, box.high[j]):
                    return None
            else:
                inside = np.ones(self.sizes[u], dtype=bool)
                for i, j in enumerate(unit.members):
                    inside &= box.allows(j, self.values[u][:, i])
            found = np.flatnonzero(inside)
            if not len(found):
                first[u], last[u] = 0, -1
            elif found[-1] - found[0] + 1 != len(found):
                return None
            else:
                first[u], last[u] = found[0], found[-1]
        return first, last

    def _between_points(self, u: int, bound: float) -> bool:
        """Whether a bound cuts a range where an additive model has points only: the ends of the cut would matter."""
        points = isinstance(self.structure.form, Additive)
        k = int(self.numeric[u])
        return points and k > 0 and self.low[u][0] < bound < self.high[u][k - 1] and bound not in self.low[u]

    def _holds(self, u: int, j: int, box: Box) -> NDArray[np.bool_]:
        """Whether a cell of listed numbers has one inside the box: its ends may be outside, and one between inside."""
        numbers = np.sort(np.append(self.units[u].values[:, 0], self.query.x[j] if self.units[u].keep else np.nan))
        numbers = numbers[~np.isnan(numbers)]
        first = np.searchsorted(numbers, np.maximum(self.low[u], box.low[j]))
        last = np.searchsorted(numbers, np.minimum(self.high[u], box.high[j]), side="right")
        return np.asarray((first < last) | np.isnan(self.values[u][:, 0]))

    def rows(self, points: NDArray[np.integer]) -> NDArray[np.float64]:
        """Encoded rows (N, n) of points (N, U)."""
        X = np.tile(self.query.x, (len(points), 1))
        for u, unit in enumerate(self.units):
            X[:, unit.members] = self.values[u][points[:, u]]
        return X

    def points(self, X: NDArray[np.float64]) -> NDArray[np.intp]:
        """(N, U) the cells that encoded rows are in; for a value that is not allowed, a near one, or the first."""
        found = np.zeros((len(X), len(self.units)), dtype=np.intp)
        for u, unit in enumerate(self.units):
            if not self.sizes[u]:
                continue
            Y = X[:, unit.members]
            if self.in_order(u):
                k = int(self.numeric[u])
                at = np.minimum(np.searchsorted(self.high[u][:k], Y[:, 0]), max(k - 1, 0))
                found[:, u] = np.where(np.isnan(Y[:, 0]), self.sizes[u] - 1, at)
            else:
                table = {row.tobytes(): i for i, row in enumerate(self.values[u] + 0.0)}
                found[:, u] = [table.get(row.tobytes(), 0) for row in Y + 0.0]
        return found


def refusal(query: Query) -> str:
    """Why a query cannot be made a grid, in words; empty if it can."""
    structure = query.model.structure
    if structure is None:
        return query.model.unstructured
    units = query.units(np.random.default_rng(0))
    ranged = {unit.members[0]: unit for unit in units if not unit.listed}
    for j, unit in ranged.items():
        name = query.space.names[j]
        looked_at = structure.columns.places[j]
        if not structure.columns.monotone[looked_at].all():
            return f"{name} is declared over a range, and the model does not see it as a number that rises with it"
        if isinstance(structure.form, Ensemble) and structure.form.splits.by_codes(looked_at):
            return f"{name} is declared over a range, and the model takes it for the code of a category"
        if not unit.settled:
            return f"{name} is declared over a range, and a constraint cuts holes into it"
    for constraint in crossing(query, units):
        for j in constraint.features & ranged.keys():
            return f"the constraint {constraint.expr} is on {query.space.names[j]}, which is declared over a range"
        tied = [unit for unit in units if constraint.features & set(unit.members)]
        if (size := math.prod(unit.size for unit in tied)) > LARGEST:
            return f"the constraint {constraint.expr} ties features with {size:,} joint values, more than {LARGEST:,}"
    return ""


class _Choices:
    """The allowed values of one unit, on their way to be merged into cells."""

    def __init__(
        self,
        values: NDArray[np.float64],
        low: NDArray[np.float64],
        high: NDArray[np.float64],
        key: NDArray[np.intp],
        own: int,
        x: NDArray[np.float64],
    ) -> None:
        self.values, self.low, self.high, self.key, self.own, self.x = values, low, high, key, own, x
        self.kept = np.arange(len(values))

    @classmethod
    def of(cls, query: Query, structure: Structure, unit: Unit) -> _Choices:
        x = query.x[list(unit.members)]
        j = unit.members[0]
        plain = len(unit.members) == 1 and query.space.features[j].ordered
        if plain and not unit.listed:
            return cls._ranged(query, structure, unit)
        values = unit.choices(query.x)
        if plain:
            values = values[np.argsort(values[:, 0], kind="stable")]  # missing last
        own = np.flatnonzero(same(values, x).all(axis=1))
        n = len(values)
        if plain and isinstance(structure.form, Ensemble):
            classes = [partition(s, j).classes(values[:, 0]) for s in _forests(query, structure)]
            key = np.column_stack([*classes, _sides(values[:, 0], x[0])])
        elif plain and isinstance(structure.form, Additive):
            Z = structure.columns.of(j, values[:, 0]) + 0.0
            fresh = np.append(True, (Z[1:] != Z[:-1]).any(axis=1))[:n]
            classes = [partition(s, j).classes(values[:, 0]) for s in _forests(query, structure)]
            key = np.column_stack([np.cumsum(fresh), *classes, _sides(values[:, 0], x[0])])
        else:
            key = np.arange(n)[:, None]
        column = values[:, 0] if n else np.empty(0)
        return cls(values, column, column, key, int(own[0]) if len(own) else -1, x)

    @classmethod
    def _ranged(cls, query: Query, structure: Structure, unit: Unit) -> _Choices:
        """A range cut where a split changes its mind and at x; cells are closed intervals of numbers."""
        j, x = unit.members[0], query.x[unit.members[0]]
        domain = query.space.features[j].domain
        low, high = (np.ceil(unit.low), np.floor(unit.high)) if domain.integer else (unit.low, unit.high)
        inner = np.unique(np.concatenate([np.empty(0), *(partition(s, j).cuts for s in _forests(query, structure))]))
        inside = unit.low <= x <= unit.high
        inner = np.union1d(inner, [_next(x, -1, integer=domain.integer), x]) if inside else inner
        ends = np.append(inner[(inner >= low) & (inner < high)], high) if low <= high else np.empty(0)
        starts = np.append(low, _next(ends[:-1], 1, integer=domain.integer)) if len(ends) else ends
        starts, ends = starts[starts <= ends], ends[starts <= ends]
        if isinstance(structure.form, Additive):  # its columns are monotone: of each run, the ends alone can matter
            starts = ends = np.union1d(starts, ends)
        near = starts if np.isnan(x) else np.clip(x, starts, ends)
        keeps_x = near == x
        if keeps_x.any() and not unit.keep:
            near, starts, ends = near[~keeps_x], starts[~keeps_x], ends[~keeps_x]
        if unit.keep and not np.isnan(x) and not (near == x).any():  # x's own value is outside the declared range
            at = np.searchsorted(ends, x)
            near, starts, ends = (np.insert(a, at, x) for a in (near, starts, ends))
        gone = np.isnan(unit.values[:, 0]).any() or (np.isnan(x) and unit.keep)
        if gone:
            near, starts, ends = (np.append(a, np.nan) for a in (near, starts, ends))
        own = np.flatnonzero(same(near, x)) if unit.keep else np.empty(0)
        return cls(
            near[:, None], starts, ends, np.arange(len(near))[:, None], int(own[0]) if len(own) else -1, np.array([x])
        )

    def merge(self, ties: Sequence[NDArray[np.bool_]]) -> None:
        """Make runs of values that no split and no tie tells apart one cell, for which the nearest to x stands."""
        n = len(self.values)
        if not n:
            return
        fresh = np.append(True, (self.key[1:] != self.key[:-1]).any(axis=1))
        for allowed in ties:
            fresh[1:] |= (allowed[1:] != allowed[:-1]).any(axis=tuple(range(1, allowed.ndim)))
        first = np.flatnonzero(fresh)
        if len(first) == n:
            return
        last = np.append(first[1:], n) - 1
        kept = np.where(self.values[first, 0] > self.x[0], first, last) if not np.isnan(self.x[0]) else first
        self.low, self.high = self.low[first], self.high[last]
        self.values, self.kept = self.values[kept], kept
        self.own = int(np.searchsorted(first, self.own, side="right")) - 1 if self.own >= 0 else -1


def _next(values: Any, way: int, *, integer: bool) -> Any:
    """The next number up (1) or down (-1), or the next whole one."""
    return values + way if integer else np.nextafter(values, way * np.inf)


def _forests(query: Query, structure: Structure) -> list[Structure]:
    """The structures that are ensembles: the model's, and what says how plausible a row is."""
    return [s for s in (structure, query.plausibility) if s is not None and isinstance(s.form, Ensemble)]


def _sides(values: NDArray[np.float64], x: float) -> NDArray[np.intp]:
    return (
        np.where(np.isnan(values) | (values == x), 1, np.where(values < x, 0, 2)).astype(np.intp)
        if not np.isnan(x)
        else np.ones(len(values), dtype=np.intp)
    )


def _tie(query: Query, units: Sequence[Unit], choices: Sequence[_Choices], constraint: Bound) -> Tie:
    """The joint values that a constraint between units allows."""
    tied = tuple(u for u, unit in enumerate(units) if constraint.features & set(unit.members))
    shape = tuple(len(choices[u].values) for u in tied)
    grid = {}
    for axis, u in enumerate(tied):
        view = [1] * len(tied)
        view[axis] = -1
        for i, j in enumerate(units[u].members):
            grid[j] = choices[u].values[:, i].reshape(view)
    return Tie(tied, np.broadcast_to(constraint(grid.__getitem__, query.x), shape).copy())
