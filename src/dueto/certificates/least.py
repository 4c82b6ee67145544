"""How short a rule could be, worked out again from the witnesses alone: plain sets, and HiGHS for the shortest."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING

import numpy as np

from dueto.certificates.checks import Check
from dueto.certificates.program import Program, Sum
from dueto.certificates.region import meets

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dueto.certificates.read import Claimed, LeastClaim
    from dueto.certificates.region import Region
    from dueto.rule import Component

__all__ = ["irredundant", "least"]

UNIT = 1000  # weights are in thousandths
SETTLED = 0.01  # thousandths: what HiGHS's rounding may hide


def least(told: Claimed, claim: LeastClaim, everybody: Region, until: float) -> Check:
    """Whether no rule that holds counts less: each must shut out every witness.

    Bounds further out than the applicant's own value would shut out fewer, so that it is enough to look at these.
    """
    text = f"No rule that holds has fewer than {claim.at_least:g} {claim.counted}"
    if claim.weights:
        text = f"No rule that holds weighs less than {claim.at_least:g} ({claim.counted})"
    length = _length(told, claim)
    if abs(length - claim.length) > 1e-9:
        return Check(text, False, f"The rule itself counts {length:g}, not {claim.length:g} as the certificate says.")
    if claim.at_least > claim.length + 1e-9:
        return Check(text, False, f"The rule itself counts only {length:g}.")
    for component in claim.left_out:
        if _met(everybody, component):
            return Check(text, False, f"Rules with {component} are left out, though the constraints allow that.")
    if claim.at_least <= 0:
        return Check(text, True, "That needs no proof.")
    void = {(c.feature, c.op) for c in claim.left_out}
    duals = {frozenset(dual - void or dual) for dual in _duals(told)}
    if frozenset() in duals:
        return Check(text, False, "A witness is the applicant itself.")
    duals = {dual for dual in duals if not any(other < dual for other in duals)}
    bound, done = _cheapest(claim, duals, until)
    if bound >= claim.at_least - 1e-9:
        return Check(text, True, f"No fewer shut out all {len(duals):,} witnesses that matter (by HiGHS).")
    if done:
        return Check(
            text, False, f"{bound:g} are enough to shut out all {len(duals):,} witnesses that matter (by HiGHS)."
        )
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
            elif not (a == b or (math.isnan(a) and math.isnan(b))):
                dual.add((feature.name, "="))
        yield dual


def _length(told: Claimed, claim: LeastClaim) -> float:
    """What the rule counts."""
    names = [c.feature for c in told.components]
    if claim.counted == "conditions":
        names = list(dict.fromkeys(names))
    return sum(round(UNIT * claim.weights.get(name, 1.0)) for name in names) / UNIT


def _met(everybody: Region, component: Component) -> bool:
    """Whether some value that the constraints on its part alone leave to a feature meets a component."""
    for part in everybody.parts:
        Y = np.tile(everybody.x, (len(part.values), 1))
        Y[:, part.members] = part.values
        if everybody.space.index(component.feature) in part.members:
            return part.span is not None or bool(meets(everybody.space, [component], Y).any())
    return True


def _cheapest(claim: LeastClaim, duals: set[frozenset[tuple[str, str]]], until: float) -> tuple[float, bool]:
    """The least weight of components (or conditions) that meet every dual, or a bound; and whether it is exact."""
    program, chosen, cost = Program(), dict[tuple[str, ...], Sum](), list[Sum]()
    for dual in duals:
        keys = {element if claim.counted == "components" else element[:1] for element in dual}
        for key in sorted(keys - chosen.keys()):
            chosen[key] = program.variable(whole=True)
            cost.append(chosen[key] * round(UNIT * claim.weights.get(key[0], 1.0)))
        row = Sum({})
        for key in keys:
            row = row + chosen[key]
        program.row(row, low=1.0)
    objective = Sum({})
    for term in cost:
        objective = objective - term
    outcome = program.maximise(objective, until - time.perf_counter())
    if math.isinf(outcome.bound):
        return 0.0, False
    bound = math.ceil(-outcome.bound - SETTLED) / UNIT
    exact = outcome.point is not None
    if exact:
        found = -sum(a * round(outcome.point[i]) for i, a in objective.terms.items()) / UNIT  # type: ignore[index]
        exact = found <= bound + 1e-9
    return bound, exact
