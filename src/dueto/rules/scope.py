"""Of whom a rule speaks, and the nearest exception to it."""

from __future__ import annotations

from dataclasses import is_dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from dueto.counterfactuals.auto import Auto
from dueto.counterfactuals.base import Status
from dueto.rule import Scope, Standing, Verdict

if TYPE_CHECKING:
    from dueto.counterfactuals.base import Method
    from dueto.rules.base import Oracle
    from dueto.rules.draws import Draws

__all__ = ["judged", "proved_soon", "within"]

ENOUGH = 10  # a scope is told of at least a tenth as many feasible applicants as are drawn at first, if there are such
ROUNDS = 10  # times that so many are drawn, at most
SOON = 0.5  # seconds


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
    oracle: Oracle, chosen: int, draws: Draws, *, size: int, seconds: float, fewest: bool
) -> tuple[Verdict, Scope]:
    """How a rule stands, and its scope, from new draws and from the nearest exception that the method finds in time."""
    query, box, before = oracle.query, oracle.components.box(chosen), oracle.query.model.rows_scored
    rows = oracle.rows
    told = [draws.judged([box], size, oracle.rng)]
    while sum(t.feasible[0] for t in told) * ENOUGH < size and len(told) < ROUNDS and told[0].drawn[0]:
        told.append(draws.judged([box], size, oracle.rng))
    known = [query.under(box).within_reach, *(t.exceptions for t in told)]
    if any(map(len, known)) or not proved_soon(oracle, chosen):
        answer = within(oracle.method, seconds).find(query.under(box), k=1, nearest=True, rng=oracle.rng)
    else:
        answer = oracle.ask(chosen)
    X = np.vstack([answer.X, *known])
    distances = query.distances(X)
    at = int(np.argmin(distances)) if len(X) else -1
    exception = None if at < 0 else oracle.raw(X[at])
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
