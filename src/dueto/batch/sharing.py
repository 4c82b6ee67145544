"""For whom else a proved rule is proved: what lets one rule serve many rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dueto.plaf import Compare, Fixed, Ref, Together, walk
from dueto.plaf.expr import FLIP, conjuncts
from dueto.rule import Component, Rule

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray

    from dueto.explain import Explainer
    from dueto.plaf import Expr

__all__ = ["Reach", "rule_of"]


class Reach:
    """Which applicants a rule that is proved for one of them is proved for, too.

    A proof says that nobody whom the constraints allow *this applicant* to become meets the rule and is accepted. It
    holds for another who meets the rule, if all that the constraints allow the other is allowed the first. That is so
    if the other lies in the space (an applicant's own values are possible for them even outside of it), and if

    - where a constraint says that a feature may not fall below its present value, the other's is not below the first's,
      and where it may not rise, not above;
    - in every other feature that a constraint compares with its present value (`fixed`, `x.age`), the two are equal.

    The rule need not be the shortest for the other.

    Parameters
    ----------
    explainer : Explainer
        Its constraints and its space, tied features included.
    X : (m, n) float64
        Encoded applicants.
    """

    def __init__(self, explainer: Explainer, X: NDArray[np.float64]) -> None:
        self.X = X
        space = explainer.query(X[0]).space if len(X) else explainer.space
        self.space = space
        self.inside = space.contains(X)
        parts = [part for expr in explainer.constraints for part in conjuncts(expr)]
        compared = [found for part in parts for found in _compared(part)]
        self.signs = {(space.index(name), sign) for name, sign in compared}

    def of(self, rule: Rule, x: NDArray[np.float64]) -> NDArray[np.intp]:
        """Positions of the applicants for whom a rule that is proved for `x` is proved."""
        at = np.flatnonzero(rule.box(self.space).contains(self.X) & self.inside)
        for j, sign in self.signs:
            at = at[_stays(self.X[at, j], x[j], sign)]
        return at


class _Present(NamedTuple):
    """A feature that a constraint compares with its present value: 1 where it may not fall, -1 not rise, else 0."""

    name: str
    sign: int


def _compared(expr: Expr) -> Iterable[_Present]:
    if isinstance(expr, Together):
        return []
    if isinstance(expr, Compare) and isinstance(expr.left, Ref) and isinstance(expr.right, Ref):
        left, right, op = expr.left, expr.right, expr.op
        if left.side == "x":
            left, right, op = right, left, FLIP[op]
        if left.side == "cf" and right.side == "x" and left.name == right.name and op not in ("==", "!="):
            return [_Present(left.name, 1 if op in (">=", ">") else -1)]
    names = [name for node in walk(expr) if isinstance(node, Fixed) for name in node.names]
    names += [node.name for node in walk(expr) if isinstance(node, Ref) and node.side == "x"]
    return [_Present(name, 0) for name in names]


def _stays(values: NDArray[np.float64], x: float, sign: int) -> NDArray[np.bool_]:
    """Which values do not leave x in the wrong direction; missing is equal to missing alone."""
    if np.isnan(x):
        return np.isnan(values)
    return values == x if not sign else values * sign >= x * sign


def rule_of(told: Mapping[str, Any]) -> Rule:
    """A rule from its plain data."""
    return Rule(tuple(Component(c["feature"], c["op"], c["value"]) for c in told["components"]))
