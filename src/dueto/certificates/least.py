"""How short a rule could be, worked out again from the witnesses alone: plain sets, and HiGHS for the shortest."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING

import numpy as np

from dueto.certificates.checks import Check
from dueto.certificates.region import meets
from dueto.domain import same

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dueto.certificates.read import Claimed, LeastClaim
    from dueto.certificates.region import Region
    from dueto.rule import Component

__all__ = ["irredundant", "least"]

UNIT = 1000  # weights are in thousandths
ROUNDED = 0.01  # thousandths: what HiGHS's rounding may hide


def least(told: Claimed, claim: LeastClaim, everybody: Region, until: float) -> Check:
    """Whether no rule that holds counts less: each must shut out every witness.

    Bounds further out than the applicant's own value would shut out fewer, so that it is enough to look at these.
    """
    text = f"No rule that holds has fewer than {claim.at_least:g} {claim.counted}"
    if claim.weights:
        text = f"No rule that holds weighs less than {claim.at_least:g} ({claim.counted})"
    names = [c.feature for c in told.components]
    length = sum(_cost(claim, name) for name in (names if claim.counted == "components" else set(names))) / UNIT
    if abs(length - claim.length) > 1e-9:
        return Check(text, False, f"The rule itself counts {length:g}, not {claim.length:g} as the certificate says.")
    if claim.at_least > length + 1e-9:
        return Check(text, False, f"The rule itself counts only {length:g}.")
    for component in claim.left_out:
        if _met(everybody, component):
            return Check(text, False, f"Rules with {component} are left out, though the constraints allow that.")
    void = {(c.feature, c.op) for c in claim.left_out}
    duals = {frozenset(dual - void or dual) for dual in _duals(told)}
    duals = {dual for dual in duals if not any(other < dual for other in duals)}
    if frozenset() in duals:
        return Check(text, False, "A witness is the applicant itself.")
    bound, enough = _cheapest(claim, duals, until)
    if bound >= claim.at_least - 1e-9:
        return Check(text, True, f"No fewer shut out all {len(duals):,} witnesses that matter (by HiGHS).")
    if enough < claim.at_least - 1e-9:
        return Check(text, False, f"{enough:g} are enough to shut out all {len(duals):,} witnesses that matter.")
    return Check(text, None, f"HiGHS has shown {bound:g} within the time.")


def irredundant(told: Claimed) -> Check:
    """Whether some witness meets all components but one, for each."""
    text = "No condition of the rule can be dropped"
    for i, component in enumerate(told.components):
        others = told.components[:i] + told.components[i + 1 :]
        if not meets(told.space, others, told.witnesses).any():
            return Check(text, False, f"No witness meets all but {component}.")
    return Check(text, True, "For each, a witness meets all the others and is accepted.")


def _duals(told: Claimed) -> Iterator[set[tuple[str, str]]]:
    """For each witness, the components relevant to the applicant that it does not meet."""
    for y in told.witnesses:
        dual = set()
        for feature, a, b in zip(told.space.features, told.x, y, strict=True):
            if feature.ordered and not math.isnan(a):
                dual |= {(feature.name, op) for op, holds in (("<=", b <= a), (">=", b >= a)) if not holds}
            elif not same(a, b):
                dual.add((feature.name, "="))
        yield dual


def _cost(claim: LeastClaim, name: str) -> int:
    """What a component on a feature costs, in thousandths."""
    return round(UNIT * claim.weights.get(name, 1.0))


def _met(everybody: Region, component: Component) -> bool:
    """Whether some value that the constraints on its part alone leave to a feature meets a component."""
    j = everybody.space.index(component.feature)
    part = next(part for part in everybody.parts if j in part.members)
    Y = everybody.with_values(part, part.values)
    return part.span is not None or bool(meets(everybody.space, [component], Y).any())


def _cheapest(claim: LeastClaim, duals: set[frozenset[tuple[str, str]]], until: float) -> tuple[float, float]:
    """The least weight of components (or conditions) that meet every dual: what HiGHS shows, and what it found."""
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import csr_array

    if not duals:
        return 0.0, 0.0
    sets = [{element if claim.counted == "components" else element[:1] for element in dual} for dual in duals]
    keys = sorted(set().union(*sets))
    costs = np.array([_cost(claim, key[0]) for key in keys])
    meets_it = csr_array([[key in dual for key in keys] for dual in sets], dtype=np.float64)
    found = milp(
        costs,
        constraints=LinearConstraint(meets_it, lb=1.0),
        integrality=np.ones(len(keys)),
        bounds=Bounds(0, 1),
        options={"time_limit": max(until - time.perf_counter(), 0.01), "mip_rel_gap": 0.0},
    )
    shown = found.fun if found.status == 0 else found.get("mip_dual_bound")
    bound = math.ceil(shown - ROUNDED) / UNIT if shown is not None and math.isfinite(shown) else 0.0
    chosen = np.zeros(len(keys)) if found.x is None else np.round(found.x)
    return bound, float(costs @ chosen) / UNIT if (meets_it @ chosen >= 1).all() else math.inf
