"""Whom rules are counted on: the rows of the data, and possible applicants drawn at random."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dueto.domain import same

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dueto.box import Box
    from dueto.counterfactuals.base import Query
    from dueto.counterfactuals.units import Unit

__all__ = ["Drawn", "Draws", "Rows"]


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
