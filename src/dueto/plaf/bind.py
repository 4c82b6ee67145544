"""Constraints resolved in a feature space, and evaluated on encoded columns without a loop over rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from dueto.errors import InputError, some
from dueto.plaf.constant import Constant, literal
from dueto.plaf.expr import (
    And,
    Arith,
    Compare,
    Comparison,
    Const,
    Expr,
    Fixed,
    Implies,
    IsIn,
    Missing,
    Neg,
    Not,
    Or,
    Ref,
    Term,
    Together,
    walk,
)

if TYPE_CHECKING:
    from dueto.feature import Feature
    from dueto.space import FeatureSpace

Value = float | NDArray[np.float64]
"""The encoded values of one feature: one for all rows, or an array of one a row."""
Column = Callable[[int], Value]
"""Gives the proposed values of feature j."""
Truth = NDArray[np.bool_] | np.bool_
_Number = Callable[[Column, NDArray[np.float64]], Value]
_Test = Callable[[Column, NDArray[np.float64]], Truth]

_COMPARE: Final[dict[Comparison, np.ufunc]] = {
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
    "==": np.equal,
}
_ARITHMETIC: Final[dict[str, np.ufunc]] = {"+": np.add, "-": np.subtract, "*": np.multiply}


@dataclass(frozen=True, eq=False)
class Bound:
    """A constraint that knows its features' columns and codes; call it to evaluate it.

    Attributes
    ----------
    expr : Expr
        What was bound.
    features : frozenset of int
        The features whose proposed values it looks at.
    consequence : frozenset of int
        Of an implication, those of its consequence (of the last, in a chain); otherwise empty.
    """

    expr: Expr
    features: frozenset[int]
    consequence: frozenset[int]
    _space: FeatureSpace = field(repr=False)
    _test: _Test = field(repr=False)

    def __call__(self, column: Column, x: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Where the constraint holds.

        Parameters
        ----------
        column : callable
            ``column(j)`` gives the proposed values of feature j, encoded: an array (N,), or a float where all
            rows have the same.  Other shapes do too, if they broadcast.
        x : array (n,)
            The row at hand, encoded.

        Returns
        -------
        array of bool
            Of the shape the columns broadcast to: (N,), or () when all were floats.
        """
        with np.errstate(all="ignore"):  # overflow and division by zero have a meaning here
            return np.asarray(self._test(column, x), dtype=np.bool_)

    def __reduce__(self) -> tuple[object, ...]:
        return bind, (self.expr, self._space)


def bind(expr: Expr, space: FeatureSpace) -> Bound:
    """Resolve an expression in a space; see `Expr.bind`."""
    if isinstance(expr, Together):
        raise InputError(f"{expr} is no condition on a row: give its names to the search as a group")
    if isinstance(expr, Term):
        raise InputError(f"{expr} is a value, not a condition: compare it with something, as in cf.age >= x.age")
    try:
        test = _Binder(space).test(expr)
    except InputError as problem:
        text = str(expr)
        raise InputError(f"{problem} (in the constraint {text if len(text) <= 100 else text[:97] + '...'})") from None
    return Bound(expr, _proposed(expr, space), _proposed(_consequence(expr), space), space, test)


def _proposed(expr: Expr | None, space: FeatureSpace) -> frozenset[int]:
    names: set[str] = set()
    for node in walk(expr) if expr is not None else ():
        if isinstance(node, Ref) and node.side == "cf":
            names.add(node.name)
        elif isinstance(node, Fixed):
            names.update(node.names)
    return frozenset(space.index(name) for name in names)


def _consequence(expr: Expr) -> Expr | None:
    found = None
    while isinstance(expr, Implies):
        expr = found = expr.consequence
    return found


class _Binder:
    """Compiles an expression to a function of the columns and the row at hand."""

    def __init__(self, space: FeatureSpace) -> None:
        self.space = space

    def test(self, expr: Expr) -> _Test:
        match expr:
            case Compare():
                return self.compare(expr)
            case IsIn(term, values):
                return self.isin(term, values)
            case Missing(term):
                value = self.column(term) if isinstance(term, Ref) else self.number(term)
                self.speaks(term)
                return lambda column, x: np.isnan(value(column, x))
            case Not(part):
                inner = self.test(part)
                return lambda column, x: np.logical_not(inner(column, x))
            case And(parts):
                return _fold(np.logical_and, [self.test(part) for part in parts])
            case Or(parts):
                return _fold(np.logical_or, [self.test(part) for part in parts])
            case Implies(condition, consequence):
                fails = self.test(Not(condition))
                return _fold(np.logical_or, [fails, self.test(consequence)])
            case Fixed(names):
                pairs = [(self.column(Ref("cf", name)), self.column(Ref("x", name))) for name in names]
                return _fold(np.logical_and, [_comparison("==", cf, x) for cf, x in pairs])
        raise AssertionError(f"{type(expr).__name__} cannot be evaluated")

    def compare(self, expr: Compare) -> _Test:
        op, left, right = expr.op, expr.left, expr.right
        self.speaks(left, right)
        a, b = self.labelled(left), self.labelled(right)
        if a is not None and isinstance(right, Const):
            self.ordered(op, a)
            return _comparison(op, self.column(left), _constantly(_code(a, right.value)))
        if a is not None and b is not None:
            self.ordered(op, a, b)
            column = self.column(right)
            if _keys(a) != _keys(b):
                column = _recoded(column, a, b)
            return _comparison(op, self.column(left), column)
        for feature, other in ((a, right), (b, left)):
            if feature is not None and isinstance(other, Ref):
                raise InputError(f"{feature.name} has labels and {other.name} has numbers, so they cannot be compared")
        return _comparison(op, self.number(left, right), self.number(right, left))

    def isin(self, term: Term, values: tuple[Constant, ...]) -> _Test:
        self.speaks(term)
        feature = self.labelled(term)
        present = [value for value in values if value is not None]
        if feature is not None:
            column = self.column(term)
            codes = np.array([_code(feature, value) for value in present])
        else:
            column = self.number(term)
            codes = np.array([_plain(value, term) for value in present])
        if len(present) == len(values):
            return lambda cf, x: np.isin(column(cf, x), codes)

        def test(cf: Column, x: NDArray[np.float64]) -> Truth:
            value = column(cf, x)
            return np.logical_or(np.isin(value, codes), np.isnan(value))

        return test

    def number(self, term: Term, beside: Term | None = None) -> _Number:
        """A term as a number; `beside` is what it is compared with."""
        match term:
            case Const(value):
                return _constantly(_plain(value, beside))
            case Ref():
                feature = self.labelled(term)
                if feature is not None and not feature.ordered:
                    raise InputError(f"{feature.name} has no order and no arithmetic: compare it with == != or in")
                if feature is not None and not all(isinstance(label, str) for label in feature.labels):
                    raise InputError(
                        f"arithmetic on {feature.name} could mean its labels or its levels: "
                        "declare it as integer or float, or compare it with its labels"
                    )
                return self.column(term)
            case Neg(operand):
                inner = self.number(operand)
                return lambda column, x: np.negative(inner(column, x))
            case Arith(op, left, right):
                a, b = self.number(left), self.number(right)
                if op == "/":
                    return lambda column, x: _divide(a(column, x), b(column, x))
                ufunc = _ARITHMETIC[op]
                return lambda column, x: ufunc(a(column, x), b(column, x))
        raise AssertionError(f"{type(term).__name__} has no number")

    def column(self, term: Term) -> _Number:
        assert isinstance(term, Ref)
        j = self.space.index(term.name)
        if term.side == "x":
            return lambda _, x: x[j]
        return lambda column, _: column(j)

    def labelled(self, term: Term) -> Feature | None:
        """The feature, if the term is one whose values are labels."""
        if not isinstance(term, Ref):
            return None
        feature = self.space.features[self.space.index(term.name)]
        return feature if feature.kind in ("ordinal", "category") else None

    def speaks(self, *terms: Term) -> None:
        if not any(isinstance(node, Ref) for term in terms for node in walk(term)):
            raise InputError("only constants are compared: name a feature, as in cf.age or x.age")

    def ordered(self, op: Comparison, *features: Feature) -> None:
        if op in ("==", "!="):
            return
        for feature in features:
            if not feature.ordered:
                raise InputError(
                    f"{feature.name} has no order: compare it with == != or in, not {op}; or give it one, by --space "
                    'FILE with kind = "ordinal" and values = [lowest, ..., highest], or '
                    "FeatureSpace.infer(ordinal=...) in Python"
                )
        if _keys(features[0]) != _keys(features[-1]):
            names = f"{features[0].name} and {features[-1].name}"
            raise InputError(f"{names} have different labels, so there is no order between them: compare with == or !=")


def _comparison(op: Comparison, left: _Number, right: _Number) -> _Test:
    """Missing equals missing, and is neither below nor above anything."""
    if op == "!=":
        equal = _comparison("==", left, right)
        return lambda column, x: np.logical_not(equal(column, x))
    ufunc = _COMPARE[op]
    if op in ("<", ">"):
        return lambda column, x: ufunc(left(column, x), right(column, x))

    def test(column: Column, x: NDArray[np.float64]) -> Truth:
        a, b = left(column, x), right(column, x)
        found: Truth = ufunc(a, b)
        absent = np.isnan(b)
        return found | (absent & np.isnan(a)) if absent.any() else found

    return test


def _fold(join: np.ufunc, tests: list[_Test]) -> _Test:
    def test(column: Column, x: NDArray[np.float64]) -> Truth:
        found: Truth = tests[0](column, x)
        for each in tests[1:]:
            found = join(found, each(column, x))
        return found

    return test


def _constantly(value: float) -> _Number:
    return lambda _column, _x: value


def _divide(a: Value, b: Value) -> Value:
    return np.where(np.equal(b, 0), np.nan, np.divide(a, b))


def _recoded(column: _Number, to: Feature, own: Feature) -> _Number:
    """The codes that one feature's labels have in another: -1 for one it has not, NaN for missing."""
    codes = {key: float(code) for code, key in enumerate(_keys(to))}
    table = np.array([*(codes.get(key, -1.0) for key in _keys(own)), np.nan])

    def recode(cf: Column, x: NDArray[np.float64]) -> Value:
        value = np.asarray(column(cf, x))
        return table[np.where(np.isnan(value), -1, value).astype(np.intp)]

    return recode


def _keys(feature: Feature) -> list[tuple[bool, object]]:
    """The labels, so that True is not 1."""
    return [(isinstance(label, bool), label) for label in feature.labels]


def _code(feature: Feature, label: Constant) -> float:
    try:
        return feature.code(label)
    except InputError:
        known = some(feature.labels, limit=20)
        no_text = isinstance(label, str) and not any(isinstance(known, str) for known in feature.labels)
        hint = "; make the column one of texts, or write the label as they are" if no_text else ""
        raise InputError(f"{feature.name} has no label {label!r}: its labels are {known}{hint}") from None


def _plain(value: Constant, beside: Term | None) -> float:
    """A constant compared with numbers."""
    if not isinstance(value, str):
        assert value is not None
        return float(value)
    subject = f"{beside.name} has" if isinstance(beside, Ref) else "arithmetic gives"
    try:
        number = float(value)
    except ValueError:
        raise InputError(f"{subject} numbers, and {literal(value)} is a text: compare it with a number") from None
    if isinstance(beside, Ref) and value.strip()[:1] == "0" and value.strip().isdigit() and len(value.strip()) > 1:
        remedy = f"make the column one of texts, or compare it with {number:.0f}"
        raise InputError(f"{subject} numbers, and {literal(value)} is a text: {remedy}")
    raise InputError(f"{subject} numbers, and {literal(value)} is a text: write {value.strip()} without quotes")
