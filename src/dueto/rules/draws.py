"""Whom rules are counted on: the rows of the data, and possible applicants drawn at random."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dueto.counterfactuals.units import allowed, crossing
from dueto.domain import same
from dueto.rule import Components

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from dueto.box import Box
    from dueto.counterfactuals.base import Query
    from dueto.counterfactuals.units import Unit
    from dueto.models import Model
    from dueto.rules.base import Oracle

    Floats = NDArray[np.float64]
    Flags = NDArray[np.bool_]
    Draw = Callable[[Floats], Floats]

__all__ = ["Drawn", "Draws", "Perturbed", "Rows", "scored"]


@dataclass(frozen=True, eq=False)
class Rows:
    """The distinct rows of the data.

    Parameters
    ----------
    X : (d, n) float64
        Encoded.
    counts : (d,) int
        How many rows of the data each stands for.
    good : (d,) bool
        Whether the model accepts them.
    """

    X: Floats
    counts: NDArray[np.intp]
    good: Flags

    @classmethod
    def of(cls, oracle: Oracle) -> Rows:
        """Those of an oracle; the query's donors if it has none."""
        donors = oracle.query.donors
        return oracle.rows or cls(donors, np.ones(len(donors), dtype=np.intp), np.ones(len(donors), dtype=bool))


class Drawn(NamedTuple):
    """How many were drawn under each rule, by what they are, and the accepted feasible ones."""

    drawn: NDArray[np.intp]
    feasible: NDArray[np.intp]
    refused: NDArray[np.intp]
    exceptions: NDArray[np.float64]


class Draws:
    """Possible applicants at random: each unit of features for itself, by the counts of its values in the data.

    Values are drawn among those that the rule and the constraints on the unit alone leave; if the data has none of
    them, all alike.
    """

    def __init__(self, query: Query) -> None:
        self.query = query
        units = query.units(np.random.default_rng(0))
        self.units = [(list(u.members), u.choices(query.x), counted(query, u)) for u in units]

    def under(self, box: Box, size: int, rng: np.random.Generator) -> Floats:
        """(size, n) encoded rows in a box; none if it leaves some unit no value."""
        X = np.empty((size, len(self.query.x)))
        for members, values, weights in self.units:
            inside = _inside(box, members, values)
            if not inside.any():
                return np.empty((0, len(self.query.x)))
            w = np.where(inside, weights, 0.0)
            ends = np.cumsum(w if w.any() else inside)
            X[:, members] = values[np.searchsorted(ends, rng.random(size) * ends[-1], side="right")]
        return X

    def judged(self, boxes: list[Box], size: int, rng: np.random.Generator) -> Drawn:
        """So many applicants under each of some rules, by what they are."""
        drawn = [self.under(box, size, rng) for box in boxes]
        sizes = np.array([len(X) for X in drawn], dtype=np.intp)
        X, owner = np.vstack(drawn), np.repeat(np.arange(len(boxes)), sizes)
        X, owner, good = scored(self.query.model, X, owner, self.query.plausible(X))
        feasible, refused = (np.bincount(o, minlength=len(boxes)) for o in (owner, owner[~good]))
        return Drawn(sizes, feasible, refused, X[good])


def scored(model: Model, X: Floats, owner: NDArray[np.intp], feasible: Flags) -> tuple[Floats, NDArray[np.intp], Flags]:
    """The feasible ones of some rows, the rule that each was drawn under, and whether the model accepts it."""
    if not feasible.all():
        X, owner = X[feasible], owner[feasible]
    return X, owner, model.good(X) if len(X) else np.zeros(0, dtype=bool)


def _inside(box: Box, members: Sequence[int], values: Floats) -> Flags:
    """(k,) whether each joint value of some features is in a box."""
    ok = np.ones(len(values), dtype=bool)
    for i, j in enumerate(members):
        ok &= box.allows(j, values[:, i])
    return ok


def counted(query: Query, unit: Unit) -> NDArray[np.float64]:
    """(unit.size,) how often each of a unit's choices occurs in the data."""
    own = query.x[list(unit.members)]
    if len(unit.members) > 1:
        group = next(g for g in query.space.groups if g.members == unit.members)
        mine = group.counts[same(group.tuples, own).all(axis=1)].sum()
        return np.append(mine, unit.weights) if unit.keep else unit.weights
    domain, values = query.space.features[unit.members[0]].domain, unit.choices(query.x)[:, 0]
    found = np.zeros(len(values))
    if len(domain.values):
        at = np.minimum(np.searchsorted(domain.values, values), len(domain.values) - 1)
        found = np.where(domain.values[at] == values, domain.counts[at], 0.0)
    return np.where(np.isnan(values), domain.missing, found)


class Perturbed:
    """Rows of the data with some units redrawn: what the genetic rules and anchors are tried on.

    A row of the data is drawn by the counts. Each unit of features that a rule bounds is redrawn, uniformly from its
    values that meet the bound; so is a unit whose value in that row is not in the space, or breaks a constraint on that
    unit alone. In every second sample all other units are redrawn from their domains too, so that possible applicants
    are covered, and not only those there were. Features that change together are redrawn together.

    Parameters
    ----------
    query : Query
        The space, the applicant (whose own values are always in), and the constraints.
    rows : Rows
        The data; if it has no row, the applicant.
    """

    def __init__(self, query: Query, rows: Rows) -> None:
        self.query, self.X = query, rows.X if len(rows.X) else query.x[None]
        self.ends = np.cumsum(rows.counts if len(rows.X) else [1])
        units, components = query.units(np.random.default_rng(0)), Components(query.space, query.x)
        self.pools = [_Pool(query, unit, components, self.X) for unit in units]
        self.crossing = crossing(query, units)

    def positions(self, size: int, rng: np.random.Generator) -> NDArray[np.intp]:
        """(size,) rows of the data, drawn by the counts."""
        return np.asarray(np.searchsorted(self.ends, rng.random(size) * self.ends[-1], side="right"))

    def satisfying(self, has: Flags, size: int, rng: np.random.Generator) -> tuple[Floats, NDArray[np.intp]]:
        """So many rows under each of b rules at once: the same draws for all, so that they are compared alike.

        Parameters
        ----------
        has : (b, 2n) bool
            Which components each rule has, by their bits (see `Components`).

        Returns
        -------
        X : (N, n) float64
            The rows, rule by rule, stored column by column; none of a rule that leaves some unit no value.
        owner : (N,) int
            Which rule each satisfies.
        """
        at = self.positions(size, rng)
        rows, second, some, parts = self.X[at], np.arange(size) % 2 == 1, np.ones(len(has), dtype=bool), []
        for pool in self.pools:
            codes, which = np.unique(has[:, pool.bits] @ pool.powers, return_inverse=True)
            found, left = np.tile(rows[:, pool.members], (len(codes), 1, 1)), np.zeros(len(codes), dtype=bool)
            u, loose = rng.random(size), second | ~pool.fits[at]
            for i, code in enumerate(codes.tolist()):
                if draw := pool.meeting(code):
                    left[i], redrawn = True, loose | (code > 0)
                    found[i, redrawn] = draw(u[redrawn])
            some &= left[which]
            parts.append((pool.members, found, which))
        X = np.empty((rows.shape[1], int(some.sum()), size))
        for members, found, which in parts:
            for i, j in enumerate(members):
                np.take(found[:, :, i], which[some], axis=0, out=X[j])
        return X.reshape(len(X), -1).T, np.repeat(np.flatnonzero(some), size)

    def feasible(self, X: Floats) -> Flags:
        """(N,) whether drawn rows are plausible: what concerns one unit alone they meet already."""
        ok, plausibility = np.ones(len(X), dtype=bool), self.query.plausibility
        for constraint in self.crossing:
            ok &= constraint(lambda j: X[:, j], self.query.x)
        if plausibility is not None:
            ok[ok] = plausibility.margin(X[ok]) > plausibility.cut
        return ok


class _Pool:
    """What a unit of features is redrawn to: each value as likely, missing in a range as often as in the data.

    Attributes
    ----------
    members : list of int
        The features.
    bits, powers : list of int, (2 len(members),) int
        Their components; and what each counts in a *code*, which says which of them a rule has.
    fits : (d,) bool
        Whether the values of a row of the data are among those that the query leaves it.
    """

    def __init__(self, query: Query, unit: Unit, components: Components, X: Floats) -> None:
        self.members, self.components = list(unit.members), components
        self.bits = [2 * j + side for j in self.members for side in (0, 1)]
        self.powers = np.array([1 << i for i in range(len(self.bits))], dtype=object if len(self.bits) > 62 else int)
        self.domain, self.low, self.high = query.space.features[self.members[0]].domain, unit.low, unit.high
        values = unit.choices(query.x)
        self.values = np.sort(values, axis=0) if len(self.members) == 1 else values
        strange = unit.keep and not self.domain.contains(query.x[self.members[0]])  # then its own value is one more
        self.listed = unit.listed or not unit.settled or strange or unit.low > unit.high
        self.fits = _fitting(query, unit, X)
        self._draws: dict[int, Draw | None] = {}

    def meeting(self, code: int) -> Draw | None:
        """How to draw what meets some of the components, from uniform numbers; None if nothing does."""
        if code not in self._draws:
            box = self.components.box(sum(1 << bit for i, bit in enumerate(self.bits) if code >> i & 1))
            self._draws[code] = self._of_list(box) if self.listed else self._of_range(box, self.members[0])
        return self._draws[code]

    def _of_list(self, box: Box) -> Draw | None:
        left = self.values[_inside(box, self.members, self.values)]
        return (lambda u: left[(u * len(left)).astype(np.intp)]) if len(left) else None

    def _of_range(self, box: Box, j: int) -> Draw | None:
        low, high = max(box.low[j], self.low), min(box.high[j], self.high)
        if self.domain.integer:
            low, high = np.ceil(low), np.floor(high)
        missing = self.domain.missing if box.missing[j] else 0.0
        if low > high:
            return (lambda u: np.full((len(u), 1), np.nan)) if missing else None
        lacks = missing / max(1.0, self.domain.missing + self.domain.counts.sum())

        def draw(u: Floats) -> Floats:
            v = (u - lacks) / (1 - lacks or 1.0)
            found = low + (np.floor(v * (high - low + 1)) if self.domain.integer else v * (high - low))
            return np.where(u < lacks, np.nan, np.clip(found, low, high))[:, None]

        return draw


def _fitting(query: Query, unit: Unit, X: Floats) -> Flags:
    """(N,) whether a unit's values in encoded rows are among those that the query leaves it."""
    values, own = X[:, unit.members], query.x[list(unit.members)]
    ok = allowed(query, unit.members, values)
    for group in query.space.groups:
        if group.members == unit.members:
            ok &= group.contains(X) | same(values, own).all(axis=1)
    return ok
