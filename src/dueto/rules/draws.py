"""Whom rules are counted on: the rows of the data, and possible applicants drawn at random."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dueto.counterfactuals.units import _allowed, crossing
from dueto.domain import same
from dueto.rule import Components

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from dueto.box import Box
    from dueto.counterfactuals.base import Query
    from dueto.counterfactuals.units import Unit
    from dueto.domain import Domain

    Floats = NDArray[np.float64]
    Flags = NDArray[np.bool_]
    Draw = Callable[[NDArray[np.intp], Floats], Floats]

__all__ = ["Drawn", "Draws", "Perturbed", "Rows"]


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

    X: NDArray[np.float64]
    counts: NDArray[np.intp]
    good: NDArray[np.bool_]


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

    def under(self, box: Box, size: int, rng: np.random.Generator) -> NDArray[np.float64]:
        """(size, n) encoded rows in a box; none if it leaves some unit no value."""
        X = np.empty((size, len(self.query.x)))
        for members, values, weights in self.units:
            inside = np.ones(len(values), dtype=bool)
            for i, j in enumerate(members):
                inside &= box.allows(j, values[:, i])
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
        ok = self.query.plausible(X)
        X, owner = X[ok], owner[ok]
        good = self.query.model.good(X) if len(X) else np.zeros(0, dtype=bool)
        feasible, refused = (np.bincount(o, minlength=len(boxes)) for o in (owner, owner[~good]))
        return Drawn(sizes, feasible, refused, X[good])


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
    rows : Rows, optional
        The data; if not given, the query's donors, or the applicant if there are none.
    """

    def __init__(self, query: Query, rows: Rows | None = None) -> None:
        known = query.donors if len(query.donors) else query.x[None]
        self.X = known if rows is None else rows.X
        self.ends = np.cumsum(np.ones(len(known)) if rows is None else rows.counts)
        units = query.units(np.random.default_rng(0))
        self.pools = [_pool(query, unit) for unit in units]
        self.fits = [_fitting(query, unit, self.X) for unit in units]
        self.components, self.crossing = Components(query.space, query.x), crossing(query, units)
        self.plausibility = query.plausibility

    def under(self, box: Box, size: int, rng: np.random.Generator) -> Floats:
        """(size, n) encoded rows in a box; none if it leaves some unit no value."""
        low, high, missing = box.low[None], box.high[None], box.missing[None]
        one = np.zeros(1, dtype=np.intp)
        kinds = [(low[:, p.members], high[:, p.members], missing[:, p.members], one) for p in self.pools]
        return self._drawn(kinds, size, rng)[0]

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
        kinds = []
        for pool in self.pools:
            bits = has.reshape(len(has), -1, 2)[:, pool.members]
            distinct, which = np.unique(bits @ [1, 2] @ 4 ** np.arange(len(pool.members)), return_inverse=True)
            codes = distinct[:, None] // 4 ** np.arange(len(pool.members)) % 4
            kinds.append((*self._bounds(pool.members, codes), which))
        return self._drawn(kinds, size, rng)

    def feasible(self, X: Floats) -> Flags:
        """(N,) whether drawn rows are plausible: what concerns one unit alone they meet already."""
        ok = np.ones(len(X), dtype=bool)
        for constraint in self.crossing:
            ok &= constraint(lambda j: X[:, j], self.components.x)
        if self.plausibility is not None:
            ok[ok] = self.plausibility.margin(X[ok]) > self.plausibility.cut
        return ok

    def _bounds(self, members: list[int], codes: NDArray[np.intp]) -> tuple[Floats, Floats, Flags]:
        """(P, g) bounds of features that have none (0), `<=` or `=` (1), `>=` (2) or both (3) of their components."""
        x, two = self.components.x[members], self.components.two_sided[members]
        lower, upper = (codes > 1) | ((codes > 0) & ~two), codes % 2 == 1
        low = np.where(lower, np.where(np.isnan(x), np.inf, x), -np.inf)
        high = np.where(upper, np.where(np.isnan(x), -np.inf, x), np.inf)
        return low, high, (codes == 0) | np.isnan(x)

    def _drawn(
        self, kinds: list[tuple[Floats, Floats, Flags, NDArray[np.intp]]], size: int, rng: np.random.Generator
    ) -> tuple[Floats, NDArray[np.intp]]:
        """Rows under some rules: for each pool, the distinct bounds on it and which of these each rule has."""
        columns: list[Floats] = []
        some = np.ones(len(kinds[0][3]), dtype=bool)
        row = np.searchsorted(self.ends, rng.random(size) * self.ends[-1], side="right")
        second = np.arange(size) % 2 == 1
        for pool, fits, (low, high, missing, which) in zip(self.pools, self.fits, kinds, strict=True):
            any_left, draw = pool.within(low, high, missing)
            some &= any_left[which]
            bound, u = np.logical_or.reduce((low > -np.inf) | (high < np.inf) | ~missing, axis=1), rng.random(size)
            found = np.tile(self.X[row][:, pool.members], (len(low), 1, 1))
            for kind in np.flatnonzero(any_left):
                at = np.flatnonzero(second | bound[kind] | ~fits[row])
                found[kind, at] = draw(np.full(len(at), kind), u[at])
            columns.append(found)
        X = np.empty((self.X.shape[1], int(some.sum()), size))
        for pool, found, (*_, which) in zip(self.pools, columns, kinds, strict=True):
            for i, j in enumerate(pool.members):
                np.take(found[:, :, i], which[some], axis=0, out=X[j])
        return X.reshape(len(X), -1).T, np.repeat(np.flatnonzero(some), size)


class _Listed:
    """A feature's values, sorted, each as likely as the others; last, NaN if it may be missing."""

    def __init__(self, member: int, values: Floats) -> None:
        self.members, self.values = [member], np.sort(values)
        self.n = len(values) - int(np.isnan(values).sum())

    def within(self, low: Floats, high: Floats, missing: Flags) -> tuple[Flags, Draw]:
        """(b,) whether each of b boxes leaves a value, and how to draw: from numbers of boxes and uniform numbers."""
        start = np.searchsorted(self.values[: self.n], low[:, 0], "left")
        numbers = np.maximum(np.searchsorted(self.values[: self.n], high[:, 0], "right") - start, 0)
        size = numbers + (missing[:, 0] & (self.n < len(self.values)))

        def draw(owner: NDArray[np.intp], u: Floats) -> Floats:
            pick = (u * size[owner]).astype(np.intp)
            at = np.where(pick < numbers[owner], start[owner] + pick, self.n)
            return self.values[at][:, None]

        return size > 0, draw


class _Range:
    """A feature declared over a range: every number of it as likely, and missing as often as in the data."""

    def __init__(self, member: int, low: float, high: float, domain: Domain) -> None:
        self.members, self.low, self.high, self.integer = [member], low, high, domain.integer
        self.missing = domain.missing / max(1.0, domain.missing + domain.counts.sum())

    def within(self, low: Floats, high: Floats, missing: Flags) -> tuple[Flags, Draw]:
        """As in `_Listed`."""
        start, stop = np.maximum(low[:, 0], self.low), np.minimum(high[:, 0], self.high)
        if self.integer:
            start, stop = np.ceil(start), np.floor(stop)
        some = start <= stop
        lacks = np.where(missing[:, 0], np.where(some, self.missing, float(self.missing > 0)), 0.0)

        def draw(owner: NDArray[np.intp], u: Floats) -> Floats:
            first, last, p = start[owner], stop[owner], lacks[owner]
            u, lack = (u - p) / np.where(p < 1, 1 - p, 1.0), u < p
            first, last = np.where(lack, 0.0, first), np.where(lack, 0.0, last)
            found = first + (np.floor(u * (last - first + 1)) if self.integer else u * (last - first))
            return np.asarray(np.where(lack, np.nan, np.clip(found, first, last))[:, None])

        return some | (lacks > 0), draw


class _Tuples:
    """Joint values of features that change together, each as likely as the others."""

    def __init__(self, members: list[int], values: Floats) -> None:
        self.members, self.values = members, values

    def within(self, low: Floats, high: Floats, missing: Flags) -> tuple[Flags, Draw]:
        """As in `_Listed`."""
        kinds, which = np.unique(np.hstack([low, high, missing]), axis=0, return_inverse=True)
        low, high, known = (part[:, None, :] for part in np.split(kinds, 3, axis=1))
        met = np.where(np.isnan(self.values), known > 0, (self.values >= low) & (self.values <= high)).all(axis=2)
        order, size, kind = np.argsort(~met, axis=1, kind="stable"), met.sum(axis=1), which.ravel()

        def draw(owner: NDArray[np.intp], u: Floats) -> Floats:
            k = kind[owner]
            found: Floats = self.values[order[k, (u * size[k]).astype(np.intp)]]
            return found

        return size[kind] > 0, draw


def _fitting(query: Query, unit: Unit, X: Floats) -> Flags:
    """(N,) whether a unit's values in encoded rows are among those that the query leaves it."""
    values, own = X[:, unit.members], query.x[list(unit.members)]
    ok = _allowed(query, unit.members, values)
    for group in query.space.groups:
        if group.members == unit.members:
            ok &= group.contains(X) | same(values, own).all(axis=1)
    return ok


def _pool(query: Query, unit: Unit) -> _Listed | _Range | _Tuples:
    members, values = list(unit.members), unit.choices(query.x)
    if len(members) > 1:
        return _Tuples(members, values)
    domain = query.space.features[members[0]].domain
    strange = unit.keep and not domain.contains(query.x[members[0]])  # then its own value is one more
    if unit.listed or not unit.settled or strange or unit.low > unit.high:
        return _Listed(members[0], values[:, 0])
    return _Range(members[0], unit.low, unit.high, domain)
