"""Constraints as data that a page can evaluate: names and labels resolved, the applicant's present values filled in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dueto.plaf import And, Arith, Compare, Const, Fixed, Implies, IsIn, Missing, Neg, Not, Or, Ref

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dueto.feature import Feature
    from dueto.plaf import Constant, Expr, Term
    from dueto.space import FeatureSpace

__all__ = ["condition"]

Tree = list[Any]


def condition(expr: Expr, space: FeatureSpace, x: NDArray[np.float64]) -> Tree:
    """A constraint as nested lists, `[what, parts...]`, over the encoded values of what is proposed.

    Terms: `["number", v]` (None is missing), `["feature", j]`, `["minus", a]`, `["+", a, b]` and so on, `["recoded", a,
    codes]`. Conditions: `["<", a, b]` and so on, `["in", a, numbers, whether missing is in]`, `["missing", a]`,
    `["not", p]`, `["and", p...]`, `["or", p...]`. It holds exactly where `expr.bind(space)` does.

    Raises
    ------
    InputError
        As `bind` does.

    Examples
    --------
    >>> import pandas as pd
    >>> from dueto import FeatureSpace
    >>> from dueto.plaf import cf, x
    >>> space = FeatureSpace.infer(pd.DataFrame({"age": [25, 40]}))
    >>> condition(cf.age >= x.age + 4, space, space.encode_row({"age": 25}))
    ['>=', ['feature', 0], ['+', ['number', 25.0], ['number', 4.0]]]
    """
    expr.bind(space)  # refuses what makes no sense
    return _Exporter(space, x).test(expr)


class _Exporter:
    """The same turns as `dueto.plaf.bind` takes, written down instead of compiled."""

    def __init__(self, space: FeatureSpace, x: NDArray[np.float64]) -> None:
        self.space = space
        self.x = x

    def test(self, expr: Expr) -> Tree:
        match expr:
            case Compare(op, left, right):
                return [op, *self.sides(left, right)]
            case IsIn(term, values):
                feature = self.labelled(term)
                codes = [_code(feature, value) for value in values if value is not None]
                return ["in", self.term(term), codes, None in values]
            case Missing(term):
                return ["missing", self.term(term)]
            case Not(part):
                return ["not", self.test(part)]
            case And(parts):
                return ["and", *map(self.test, parts)]
            case Or(parts):
                return ["or", *map(self.test, parts)]
            case Implies(premise, consequence):
                return ["or", ["not", self.test(premise)], self.test(consequence)]
            case Fixed(names):
                return ["and", *(["==", self.term(Ref("cf", name)), self.term(Ref("x", name))] for name in names)]
        raise AssertionError(f"{type(expr).__name__} cannot be evaluated")

    def sides(self, left: Term, right: Term) -> tuple[Tree, Tree]:
        a, b = self.labelled(left), self.labelled(right)
        if a is not None and isinstance(right, Const):
            return self.term(left), ["number", _code(a, right.value)]
        if a is not None and b is not None and _keys(a) != _keys(b):
            return self.term(left), self.recoded(right, a, b)
        return self.term(left), self.term(right)

    def recoded(self, term: Term, to: Feature, own: Feature) -> Tree:
        """The code that a label has in another feature: -1 if it has none."""
        place = {key: float(code) for code, key in enumerate(_keys(to))}
        codes = [place.get(key, -1.0) for key in _keys(own)]
        kind, value = self.term(term)
        if kind == "number":
            return ["number", None if value is None else codes[int(value)]]
        return ["recoded", [kind, value], codes]

    def term(self, term: Term) -> Tree:
        match term:
            case Const(value):
                return ["number", _code(None, value)]
            case Ref("cf", name):
                return ["feature", self.space.index(name)]
            case Ref(_, name):
                value = float(self.x[self.space.index(name)])
                return ["number", None if np.isnan(value) else value]
            case Neg(operand):
                return ["minus", self.term(operand)]
            case Arith(op, left, right):
                return [op, self.term(left), self.term(right)]
        raise AssertionError(f"{type(term).__name__} has no value")

    def labelled(self, term: Term) -> Feature | None:
        feature = self.space[term.name] if isinstance(term, Ref) else None
        return feature if feature is not None and feature.labelled else None


def _keys(feature: Feature) -> list[tuple[bool, object]]:
    """The labels, so that True is not 1."""
    return [(isinstance(label, bool), label) for label in feature.labels]


def _code(feature: Feature | None, value: Constant) -> float:
    assert value is not None
    return float(value) if feature is None else feature.code(value)
