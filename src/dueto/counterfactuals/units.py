"""Units: the features that change together, and what a query leaves each of them.

A unit is settled once, by the box and by every constraint that concerns it alone; a search or a proof then only has to
combine units and to mind the constraints between them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from dueto.domain import same
from dueto.plaf import Compare, Const, Fixed, IsIn, Ref, walk

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from dueto.counterfactuals.base import Query
    from dueto.plaf import Bound, Expr

__all__ = ["CONSTRAINTS", "Unit", "allowed", "contradiction", "crossing", "units_of"]

CONSTRAINTS = "the constraints"  # what an answer names as its proof where they alone leave nothing


@dataclass(frozen=True, eq=False)
class Unit:
    """Features that change together (most often one), and the joint values they can change to.

    Every constraint and bound that concerns these features alone has been applied already.

    Parameters
    ----------
    members : tuple of int
        Positions of the features.
    values : (k, len(members)) float64
        Joint values other than the applicant's own.
    weights : (k,) float64
        How often each occurs in the data.
    keep : bool
        Whether the applicant's own values are allowed.
    listed : bool
        Whether `values` are all there are, not a sample of a range.
    low, high : float
        The ends of that range, as far as order comparisons on it and the box leave it.
    settled : bool
        Whether the range from low to high is exact: no other constraint on this feature alone cuts holes into it.
    """

    members: tuple[int, ...]
    values: NDArray[np.float64]
    weights: NDArray[np.float64]
    keep: bool
    listed: bool = True
    low: float = -np.inf
    high: float = np.inf
    settled: bool = True

    @property
    def size(self) -> int:
        """How many joint values it can have, x's own among them if it may keep them."""
        return len(self.values) + self.keep

    def choices(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """(size, len(members)) these values, x's own first."""
        return np.vstack([x[None, list(self.members)], self.values]) if self.keep else self.values


def units_of(query: Query, rng: np.random.Generator) -> list[Unit]:
    """All units of a query: single features in their order, then the space's groups."""
    tied = {j for group in query.space.groups for j in group.members}
    units = []
    for j in (j for j in range(len(query.space)) if j not in tied):
        domain = query.space.features[j].domain
        if domain.interval is None:
            values, weights = domain.candidates(rng, query.box.low[j], query.box.high[j])
            units.append(_filtered(query, (j,), values[:, None], weights))
        else:
            units.append(_ranged(query, j, domain.interval, rng))
    return units + [_filtered(query, g.members, g.tuples, g.counts) for g in query.space.groups]


def crossing(query: Query, units: Sequence[Unit]) -> list[Bound]:
    """The constraints that units have not settled: those on features of more than one unit, or of none."""
    owners = [set(unit.members) for unit in units]
    return [c for c in query.constraints if not (c.features and any(c.features <= o for o in owners))]


def _ranged(query: Query, j: int, interval: tuple[float, float], rng: np.random.Generator) -> Unit:
    """The unit of a feature declared over a range: its ends exactly, with a sample of values between them."""
    low, high = max(interval[0], query.box.low[j]), min(interval[1], query.box.high[j])
    settled, named = True, list[float]()
    for constraint in query.constraints:
        if constraint.features != {j}:
            continue
        if isinstance(constraint.expr, Fixed):
            return _filtered(query, (j,), np.empty((0, 1)), np.empty(0))
        for part in _two_sided(constraint.expr):
            if rises := _direction(part):
                low, high = _cut(part.bind(query.space), query.x, low, high, rises)
            else:
                settled = False
                named += _numbers(part)
    domain = query.space.features[j].domain
    values, weights = domain.candidates(rng, low, high)
    extra = np.setdiff1d([v for v in named if low <= v <= high and domain.contains(v)], values)
    values, weights = np.append(values, extra), np.append(weights, np.ones(len(extra)))
    order = np.argsort(values)
    unit = _filtered(query, (j,), values[order][:, None], weights[order])
    return replace(unit, listed=False, low=low, high=high, settled=settled)


def _filtered(
    query: Query, members: tuple[int, ...], values: NDArray[np.float64], weights: NDArray[np.float64]
) -> Unit:
    own = query.x[list(members)]
    rows = np.vstack([values, own])
    ok = allowed(query, members, rows)
    other = ~same(rows, own).all(axis=1)
    pick = (ok & other)[:-1]
    return Unit(members, values[pick], weights[pick], bool(ok[-1]))


def allowed(query: Query, members: tuple[int, ...], values: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Whether each joint value is in the domains, passes the box and meets every constraint on these features alone."""
    place = {j: i for i, j in enumerate(members)}
    ok = np.ones(len(values), dtype=bool)
    for j, i in place.items():
        known = query.space.features[j].domain.contains(values[:, i]) | same(values[:, i], query.x[j])
        ok &= known & query.box.allows(j, values[:, i])
    for constraint in query.constraints:
        if constraint.features and constraint.features <= place.keys():
            ok &= constraint(lambda j: values[:, place[j]], query.x)
    return ok


def contradiction(query: Query, units: Sequence[Unit]) -> str:
    """Why no instance at all can meet the constraints, where one of them alone says so; empty otherwise."""
    for unit in units:
        if not unit.keep and not len(unit.values) and (unit.listed or unit.low > unit.high):
            names = " and ".join(query.space.names[j] for j in unit.members)
            return f"the constraints leave no value for {names}"
    for constraint in query.constraints:
        if not constraint.features and not constraint(lambda j: query.x[j], query.x).all():
            return f"the constraint {constraint.expr} fails for this row, whatever changes"
    return ""


def _numbers(expr: Expr) -> list[float]:
    """The numbers that a condition names."""
    nodes = list(walk(expr))
    values = [e.value for e in nodes if isinstance(e, Const)] + [
        v for e in nodes if isinstance(e, IsIn) for v in e.values
    ]
    return [float(v) for v in values if isinstance(v, int | float)]


def _two_sided(expr: Expr) -> list[Expr]:
    """An equation as its two inequalities; any other condition as it is."""
    if isinstance(expr, Compare) and expr.op == "==":
        return [Compare(">=", expr.left, expr.right), Compare("<=", expr.left, expr.right)]
    return [expr]


def _direction(expr: Expr) -> int:
    """1 for `cf.f >= ...`, -1 for `cf.f <= ...` (or strict), where the other side holds no proposed value; else 0."""
    if not isinstance(expr, Compare) or expr.op not in ("<", "<=", ">", ">="):
        return 0
    left, right = (any(isinstance(e, Ref) and e.side == "cf" for e in walk(side)) for side in (expr.left, expr.right))
    alone = expr.left if left else expr.right
    if left == right or not isinstance(alone, Ref):
        return 0
    return 1 if (expr.op in (">", ">=")) == left else -1


def _cut(constraint: Bound, x: NDArray[np.float64], low: float, high: float, rises: int) -> tuple[float, float]:
    """The part of [low, high] where a monotone constraint holds, to the last bit, by bisection; empty if low > high."""
    good, bad = (high, low) if rises > 0 else (low, high)
    if low > high or constraint(lambda _: bad, x):
        return low, high
    if not constraint(lambda _: good, x):
        return np.inf, -np.inf
    while (middle := good + (bad - good) / 2) not in (good, bad):
        good, bad = (middle, bad) if constraint(lambda _, v=middle: v, x) else (good, middle)  # type: ignore[misc]
    return (good, high) if rises > 0 else (low, good)
