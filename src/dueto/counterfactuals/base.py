"""The question every counterfactual method is asked, and the answer it gives.

`Query.accepts` is the one judge of validity and feasibility: whatever a method finds passes it before it leaves.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np

from dueto.box import Box
from dueto.distance import Distance, steps
from dueto.domain import distinct_rows
from dueto.plaf import And, Fixed, Together, fixed

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from dueto.models import Model
    from dueto.plaf import Bound, Expr
    from dueto.space import FeatureSpace

__all__ = ["Answer", "Method", "Query", "Status", "Unit", "build_query", "contradiction", "irredundant"]


class Status(StrEnum):
    """What an answer is worth.

    FOUND: these pass, nearer ones may exist. OPTIMAL: the first is the nearest there is. NONE: proved that there is
    none. UNKNOWN: the budget is spent and nothing was found, which proves nothing.
    """

    FOUND = "found"
    OPTIMAL = "optimal"
    NONE = "none"
    UNKNOWN = "unknown"


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
    """

    members: tuple[int, ...]
    values: NDArray[np.float64]
    weights: NDArray[np.float64]
    keep: bool
    listed: bool

    @property
    def size(self) -> int:
        """How many joint values it can have, x's own among them if it may keep them."""
        return len(self.values) + self.keep

    def choices(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """(size, len(members)) these values, x's own first."""
        return np.vstack([x[None, list(self.members)], self.values]) if self.keep else self.values


@dataclass(frozen=True, eq=False)
class Query:
    """Is there a feasible instance with the desired outcome, and which is nearest to x?

    Parameters
    ----------
    model : Model
        Scores encoded rows; the desired outcome is a score above its threshold.
    space : FeatureSpace
        What can be. x's own values are always in, whether or not they occur in the data.
    x : (n,) float64
        The encoded applicant.
    constraints : tuple of Bound
        Plausibility and feasibility constraints.
    distance : Distance
        What "near" means.
    box : Box
        The part of the space asked about: a rule, or everything.
    donors : (d, n) float64
        Encoded rows known to get the desired outcome; a search may start from them. May be empty.
    """

    model: Model
    space: FeatureSpace
    x: NDArray[np.float64]
    constraints: tuple[Bound, ...]
    distance: Distance
    box: Box
    donors: NDArray[np.float64]

    def under(self, box: Box) -> Query:
        """The same question inside a box (a rule's) too."""
        return replace(self, box=self.box & box)

    def plausible(self, X: NDArray[np.float64]) -> NDArray[np.bool_]:
        """(N,) whether each row is in the space and the box and meets every constraint; the model is not asked."""
        ok = self.box.contains(X)
        for j, feature in enumerate(self.space.features):
            ok &= self._same(X, j) | feature.domain.contains(X[:, j])
        for group in self.space.groups:
            unchanged = np.all([self._same(X, j) for j in group.members], axis=0)
            ok &= unchanged | group.contains(X)
        for constraint in self.constraints:
            ok &= constraint(lambda j: X[:, j], self.x)
        return ok

    def accepts(self, X: NDArray[np.float64]) -> NDArray[np.bool_]:
        """(N,) whether each row is plausible and gets the desired outcome. The model scores only the plausible ones."""
        ok = self.plausible(X)
        ok[ok] = self.model.good(X[ok])
        return ok

    def distances(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """(N,) distance of each row from x."""
        return self.distance(self.space, self.x, X)

    def changed(self, X: NDArray[np.float64]) -> NDArray[np.bool_]:
        """(N, n) which features differ from x's."""
        return steps(self.space, self.x, X) > 0

    def units(self, rng: np.random.Generator) -> list[Unit]:
        """Features that change together, each with the values left by the box and by the constraints on it alone."""
        tied = {j for group in self.space.groups for j in group.members}
        singles = [(j,) for j in range(len(self.space)) if j not in tied]
        return [self._unit(members, rng) for members in (*singles, *(g.members for g in self.space.groups))]

    def crossing(self, units: Sequence[Unit]) -> list[Bound]:
        """The constraints that `units` have not settled: those on features of more than one unit, or of none."""
        owners = [set(unit.members) for unit in units]
        return [c for c in self.constraints if not (c.features and any(c.features <= o for o in owners))]

    def _unit(self, members: tuple[int, ...], rng: np.random.Generator) -> Unit:
        listed = True
        if len(members) == 1:
            domain = self.space.features[members[0]].domain
            listed = domain.interval is None
            values, weights = domain.candidates(rng, self.box.low[members[0]], self.box.high[members[0]])
            values = values[:, None]
        else:
            group = next(g for g in self.space.groups if g.members == members)
            values, weights = group.tuples, group.counts
        own = self.x[list(members)]
        rows = np.vstack([values, own])
        ok = self._settled(members, rows)
        other = ~((rows == own) | (np.isnan(rows) & np.isnan(own))).all(axis=1)
        pick = (ok & other)[:-1]
        return Unit(members, values[pick], weights[pick], bool(ok[-1]), listed)

    def _settled(self, members: tuple[int, ...], values: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Whether each joint value passes the box and every constraint on these features alone."""
        place = {j: i for i, j in enumerate(members)}
        ok = np.ones(len(values), dtype=bool)
        for j, i in place.items():
            ok &= self.box.allows(j, values[:, i])
        for constraint in self.constraints:
            if constraint.features and constraint.features <= set(members):
                ok &= constraint(lambda j: values[:, place[j]], self.x)
        return ok

    def _same(self, X: NDArray[np.float64], j: int) -> NDArray[np.bool_]:
        return np.isnan(X[:, j]) if np.isnan(self.x[j]) else X[:, j] == self.x[j]


@dataclass(frozen=True, eq=False)
class Answer:
    """What a method found: accepted instances, nearest first, and how it is known.

    Parameters
    ----------
    status : Status
        What the answer is worth.
    X : (k, n) float64
        Encoded instances that `Query.accepts`, without redundant changes, by increasing distance; may be empty.
    distances : (k,) float64
        Their distances from x.
    by : str
        The method.
    rows_scored : int
        How many rows the model was asked about.
    reason : str
        For NONE, why there is none, where the constraints alone say so.
    """

    status: Status
    X: NDArray[np.float64]
    distances: NDArray[np.float64]
    by: str
    rows_scored: int
    reason: str = field(default="")

    def __len__(self) -> int:
        return len(self.X)


@runtime_checkable
class Method(Protocol):
    """A way to find counterfactuals. To add one, see the guide "add a method"."""

    @property
    def name(self) -> str:
        """How reports call it."""
        ...

    def refuses(self, query: Query) -> str:
        """Why this method cannot answer the query, in words; empty if it can."""
        ...

    def find(self, query: Query, *, k: int, nearest: bool, rng: np.random.Generator) -> Answer:
        """Up to `k` counterfactuals; if not `nearest`, any will do, and the search may stop at the first."""
        ...


def build_query(
    model: Model,
    space: FeatureSpace,
    x: NDArray[np.float64],
    *,
    constraints: Iterable[Expr] = (),
    distance: Distance | None = None,
    X: NDArray[np.float64] | None = None,
    donors: NDArray[np.float64] | None = None,
) -> Query:
    """A query over the whole space, constraints bound to it; `together` ties features to the tuples in `X`."""
    parts = [part for constraint in constraints for part in _conjuncts(constraint)]
    ties = [part.names for part in parts if isinstance(part, Together)]
    if ties:
        space = space.grouped(x[None, :] if X is None else X, ties)
    bound = tuple(part.bind(space) for part in parts if not isinstance(part, Together))
    nobody = np.empty((0, len(space)))
    everything = Box.everything(len(space))
    return Query(model, space, x, bound, distance or Distance(), everything, nobody if donors is None else donors)


def _conjuncts(expr: Expr) -> list[Expr]:
    """What must hold, one by one: the fewer features a constraint speaks of, the earlier it prunes."""
    if isinstance(expr, And):
        return [part for inner in expr.parts for part in _conjuncts(inner)]
    return [fixed(name) for name in expr.names] if isinstance(expr, Fixed) else [expr]


def contradiction(query: Query, units: Sequence[Unit]) -> str:
    """Why no instance at all can meet the constraints, where one of them alone says so; empty otherwise."""
    for unit in units:
        if not unit.keep and not len(unit.values):
            names = " and ".join(query.space.names[j] for j in unit.members)
            return f"the constraints and the rule leave no value for {names}"
    for constraint in query.constraints:
        if not constraint.features and not constraint(lambda j: query.x[j], query.x).all():
            return f"the constraint {constraint.expr} fails for this row, whatever changes"
    return ""


def irredundant(query: Query, X: NDArray[np.float64]) -> NDArray[np.float64]:
    """The rows that the query accepts, with every redundant change undone, distinct, nearest first.

    A change is redundant when setting the feature back to x's value (or a whole group back) leaves an accepted row. All
    single ones are tried at once; then, for each row, those that can be undone are undone together, as many as can be,
    the one that brings it nearest first; until none is left. So the model is called a few times, whatever the rows.
    """
    undone, owner = _undoings(query, X)
    ok = query.accepts(np.vstack([X, _reset(query, X[owner], undone)]))
    accepted, ok = ok[: len(X)], ok[len(X) :] & ok[owner]
    X = X.copy()
    while ok.any():
        undone, owner = undone[ok], owner[ok]
        order = np.lexsort((query.distances(_reset(query, X[owner], undone)), owner))
        undone, owner = undone[order], owner[order]
        active, first = np.unique(owner, return_index=True)
        for start, end in zip(first, np.append(first, len(owner))[1:], strict=True):
            np.logical_or.accumulate(undone[start:end], axis=0, out=undone[start:end])
        ok = np.zeros(len(owner), dtype=bool)
        ok[first] = True  # known already
        ok[~ok] = query.accepts(_reset(query, X[owner[~ok]], undone[~ok]))
        last = np.flatnonzero(ok)[np.searchsorted(owner[ok], active, side="right") - 1]
        X[active] = _reset(query, X[active], undone[last])
        undone, owner = _undoings(query, X[active])
        owner = active[owner]
        ok = query.accepts(_reset(query, X[owner], undone))
    X = X[accepted]
    X = X[distinct_rows(X)[0]] if len(X) else X
    return X[np.argsort(query.distances(X), kind="stable")]


def _reset(query: Query, X: NDArray[np.float64], undone: NDArray[np.bool_]) -> NDArray[np.float64]:
    return np.where(undone, query.x, X)


def _undoings(query: Query, X: NDArray[np.float64]) -> tuple[NDArray[np.bool_], NDArray[np.intp]]:
    """(T, n) every way to undo one change, as the features it resets, or a whole group's; and the row it is for."""
    changed = query.changed(X)
    owner, feature = np.nonzero(changed)
    undone = feature[:, None] == np.arange(len(query.x))
    for group in query.space.groups:
        inside = np.isin(np.arange(len(query.x)), group.members)
        rows = np.flatnonzero((changed & inside).sum(axis=1) > 1)
        undone, owner = np.vstack([undone, changed[rows] & inside]), np.append(owner, rows)
    return undone, owner
