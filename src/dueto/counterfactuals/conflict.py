"""Constraints that contradict each other: whether anything at all is allowed, and if not, which of them it takes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from dueto.box import Box
from dueto.counterfactuals.base import Status
from dueto.counterfactuals.branch_and_bound import BranchAndBound
from dueto.counterfactuals.units import contradiction
from dueto.models.additive import Additive
from dueto.models.base import Model
from dueto.models.columns import Columns
from dueto.models.structure import Structure
from dueto.plaf import Fixed, Ref, walk

if TYPE_CHECKING:
    from dueto.counterfactuals.base import Query
    from dueto.plaf import Bound, Expr
    from dueto.space import FeatureSpace

__all__ = ["conflict", "feasible", "hopeless", "told"]

SECONDS = 5.0  # for one question


def conflict(query: Query) -> tuple[Bound, ...]:
    """Constraints that no instance of the space meets together, none of which could be left out.

    Empty if some instance meets all of the query's constraints, or if that could not be settled.
    """
    if feasible(query) is not False:
        return ()
    kept = list(query.constraints)
    for constraint in query.constraints:
        fewer = [c for c in kept if c is not constraint]
        if feasible(replace(query, constraints=tuple(fewer))) is False:
            kept = fewer
    return tuple(kept)


def told(query: Query) -> str:
    """The constraints that contradict each other, as a clause; empty if they do not."""
    found = conflict(query)
    said = "; ".join(constraint.expr.sentence() for constraint in found)
    mine = any(speaks_of_x(constraint.expr) for constraint in found)
    if len(found) > 1:
        return f"these constraints contradict each other{' for this applicant' if mine else ''}: {said}"
    if found and not found[0].features:
        return f"this applicant breaks this constraint, and no change can mend that: {said}"
    who = "nothing that this applicant could become" if mine else "no applicant"
    return f"{who} meets this constraint: {said}" if found else ""


def speaks_of_x(expr: Expr) -> bool:
    """Whether a constraint speaks of what the applicant is, so that others may meet what this one cannot."""
    return any(isinstance(e, Fixed) or (isinstance(e, Ref) and e.side == "x") for e in walk(expr))


def hopeless(query: Query) -> bool:
    """Whether nothing at all meets the constraints, as far as that can be settled."""
    return bool(contradiction(query, query.units(np.random.default_rng(0)))) or feasible(query) is False


def feasible(query: Query) -> bool | None:
    """Whether an instance of the space meets the constraints, whatever the model says; None if unsettled."""
    free = replace(
        query,
        model=accepting(query.space),
        box=Box.everything(len(query.x)),
        donors=query.x[None],
        inside=None,
        memo={},
    )
    method = BranchAndBound(seconds=SECONDS)
    if method.refuses(free):
        return None
    status = method.judge(free).escape(free.box).status
    return None if status is Status.UNKNOWN else status is Status.FOUND


def accepting(space: FeatureSpace) -> Model:
    """A model that gives everybody the desired outcome."""
    none = np.empty(0, dtype=np.intp)
    columns = Columns(space, none, lambda X: np.empty((len(X), 0)), np.empty(0, dtype=np.int8))
    structure = Structure(columns, Additive(np.empty(0), 1.0), 0.0, 0.0)
    model = Model(lambda table: np.ones(len(table)), space)
    model._read = structure, ""
    return model
