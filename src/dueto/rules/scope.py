"""Of whom a rule speaks: rows of the data, applicants drawn at random, and the nearest exception."""

from __future__ import annotations

from dataclasses import dataclass, is_dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dueto.counterfactuals.auto import Auto
from dueto.counterfactuals.base import Status
from dueto.domain import same
from dueto.rule import Scope, Standing, Verdict

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dueto.box import Box
    from dueto.counterfactuals.base import Method, Query
    from dueto.counterfactuals.units import Unit
    from dueto.rules.base import Oracle

__all__ = ["Drawn", "Draws", "Rows", "judged", "proved_soon", "within"]

ENOUGH = 10  # a scope is told of at least a tenth as many feasible applicants as are drawn at first, if there are such
ROUNDS = 10  # times that so many are drawn, at most
SOON = 0.5  # seconds


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


def proved_soon(oracle: Oracle, chosen: int) -> bool:
    """Whether a method that can be judge proves a rule in little time."""
    return oracle.judge is not None and oracle.ask(chosen, seconds=SOON).status is Status.NONE


def within(method: Method, seconds: float) -> Method:
    """A method, or those that it chooses from, with at most so many seconds for a question, where it keeps a limit."""
    if isinstance(method, Auto):
        return replace(method, structured=tuple(within(one, seconds) for one in method.structured))
    limit: float | None = getattr(method, "seconds", None)
    if limit is None or not is_dataclass(method) or isinstance(method, type):
        return method
    return replace(method, **{"seconds": min(seconds, limit)})


def judged(
    oracle: Oracle, chosen: int, rows: Rows | None, draws: Draws, *, size: int, seconds: float, fewest: bool
) -> tuple[Verdict, Scope]:
    """How a rule stands, and its scope, from new draws and from the nearest exception that the method finds in time."""
    query, box, before = oracle.query, oracle.components.box(chosen), oracle.query.model.rows_scored
    told = [draws.judged([box], size, oracle.rng)]
    while sum(t.feasible[0] for t in told) * ENOUGH < size and len(told) < ROUNDS and told[0].drawn[0]:
        told.append(draws.judged([box], size, oracle.rng))
    known = [query.donors[box.contains(query.donors) & query.plausible(query.donors)], *(t.exceptions for t in told)]
    if any(map(len, known)) or not proved_soon(oracle, chosen):
        answer = within(oracle.method, seconds).find(query.under(box), k=1, nearest=True, rng=oracle.rng)
    else:
        answer = oracle.ask(chosen)
    X = np.vstack([answer.X, *known])
    distances = query.distances(X)
    at = int(np.argmin(distances)) if len(X) else -1
    exception = None if at < 0 else oracle._raw(X[at])
    spent = query.model.rows_scored - before
    if exception is not None:
        by = [answer.by] * len(answer) + ["a look at the data"] * len(known[0])
        verdict = Verdict(Standing.REFUTED, by[at] if at < len(by) else "a random draw", spent, exception)
    else:
        standing = Standing.PROVED if answer.status is Status.NONE else Standing.UNREFUTED
        verdict = Verdict(standing, answer.by, spent)
    refused = accepted = barred = 0
    if rows is not None:
        inside = box.contains(rows.X)
        refused, accepted = (int(rows.counts[inside & side].sum()) for side in (~rows.good, rows.good))
        barred = accepted - int(rows.counts[inside & rows.good & query.plausible(rows.X)].sum())
    scope = Scope(
        rows=0 if rows is None else int(rows.counts.sum()),
        refused=refused,
        accepted=accepted,
        barred=barred,
        drawn=int(sum(t.drawn[0] for t in told)),
        feasible=int(sum(t.feasible[0] for t in told)),
        feasible_refused=int(sum(t.refused[0] for t in told)),
        exception=exception,
        distance=None if at < 0 else float(distances[at]),
        nearest=answer.status is Status.OPTIMAL,
        fewest=fewest,
    )
    return verdict, scope
