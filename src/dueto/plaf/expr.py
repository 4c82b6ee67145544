"""The nodes of a constraint and the operators that build them.

Terms have a value (``cf.age``, ``x.age + 4``, ``18``), predicates hold or do not (``cf.age >= x.age``).
Nodes are frozen.  ``==`` builds a comparison, so nodes are compared with `Expr.same`, and never put in sets.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, NoReturn

from dueto.errors import InputError
from dueto.plaf.constant import Constant, constant

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from dueto.plaf.bind import Bound
    from dueto.space import FeatureSpace

Side = Literal["cf", "x"]
Comparison = Literal["<", "<=", ">", ">=", "==", "!="]
Operation = Literal["+", "-", "*", "/"]

MAX_DEPTH: Final = 100
FLIP: Final[dict[Comparison, Comparison]] = {
    "<": ">",
    "<=": ">=",
    ">": "<",
    ">=": "<=",
    "==": "==",
    "!=": "!=",
}


@dataclass(frozen=True, eq=False, repr=False, slots=True)
class Expr:
    """A constraint, or a part of one.  ``str`` gives the text that `parse` reads back.

    Attributes
    ----------
    depth : int
        Levels of nesting below and including this node, at most 100.
    """

    depth: int = field(init=False)

    __array_ufunc__: ClassVar[None] = None  # numpy scalars leave the operators to us

    def __post_init__(self) -> None:
        depth = 1 + max((child.depth for child in children(self)), default=0)
        if depth > MAX_DEPTH:
            raise InputError(
                f"a constraint may be nested at most {MAX_DEPTH} deep: split it into several, "
                "or group a long sum with brackets, as in (a + b) + (c + d)"
            )
        object.__setattr__(self, "depth", depth)

    def same(self, other: object) -> bool:
        """Whether the other is the same tree: same nodes, names and constants (1 and 1.0 differ).

        Examples
        --------
        >>> from dueto.plaf import cf
        >>> (cf.age >= 18).same(18 <= cf.age), (cf.age >= 18).same(cf.age > 18)
        (True, False)
        """
        pairs: list[tuple[object, object]] = [(self, other)]
        while pairs:
            a, b = pairs.pop()
            if type(a) is not type(b):
                return False
            if isinstance(a, Expr):
                assert isinstance(b, Expr)
                pairs.extend((getattr(a, f.name), getattr(b, f.name)) for f in fields(a))
            elif isinstance(a, tuple) and isinstance(b, tuple):
                if len(a) != len(b):
                    return False
                pairs.extend(zip(a, b, strict=True))
            elif a != b:
                return False
        return True

    def sentence(self) -> str:
        """The constraint in English, without capital or full stop.

        Examples
        --------
        >>> from dueto.plaf import cf, x
        >>> (cf.age >= x.age).sentence()
        'age may not fall'
        """
        from dueto.plaf.sentence import sentence

        return sentence(self)

    def bind(self, space: FeatureSpace) -> Bound:
        """Resolve names and labels in a feature space, ready to evaluate on encoded columns.

        Parameters
        ----------
        space : FeatureSpace
            Where names are looked up and labels become codes.

        Returns
        -------
        Bound
            A function of columns and of the row at hand.

        Raises
        ------
        InputError
            An unknown feature or label, an order or arithmetic asked of an unordered feature, text compared
            with numbers, a value instead of a condition, or a ``together``, which is no condition on one row.
        """
        from dueto.plaf.bind import bind

        return bind(self, space)

    def implies(self, other: Expr) -> Implies:
        """Where this holds, the other must hold too.

        Examples
        --------
        >>> from dueto.plaf import cf, x
        >>> (cf.job != x.job).implies(cf.income.between(0, 1e6))
        cf.job != x.job => 0 <= cf.income <= 1000000.0
        """
        return Implies(_condition(self), _condition(other))

    def __and__(self, other: Expr) -> And:
        return And((_condition(self), _condition(other)))

    def __or__(self, other: Expr) -> Or:
        return Or((_condition(self), _condition(other)))

    def __invert__(self) -> Not:
        return Not(_condition(self))

    def __rand__(self, other: object) -> NoReturn:
        _condition(self)
        raise TypeError(f"{other!r} is no condition: only conditions can be joined with & and |")

    __ror__ = __rand__

    def __eq__(self, other: object) -> Any:
        raise TypeError("conditions are not compared with ==: use a.same(b) to ask whether two are the same")

    def __bool__(self) -> NoReturn:
        raise TypeError(
            "a constraint is neither true nor false before it meets data: write .between(18, 65) for a chain "
            "of comparisons, & | ~ for and, or, not (with brackets around each part), .isin([...]) for in, "
            "and a.same(b) to compare two constraints"
        )

    def __str__(self) -> str:
        from dueto.plaf.text import write

        return write(self)

    def __repr__(self) -> str:
        return str(self)

    def __reduce__(self) -> tuple[Any, ...]:
        from dueto.plaf.parse import parse

        return parse, (str(self),)


class Term(Expr):
    """What has a value: a feature, a constant, or arithmetic on them."""

    __slots__ = ()

    def isin(self, values: Iterable[object]) -> IsIn:
        """One of the given constants; None stands for a missing value.

        Examples
        --------
        >>> from dueto.plaf import cf
        >>> cf.job.isin(["clerk", None])
        cf.job in ["clerk", missing]
        """
        if isinstance(values, str | bytes | Expr):
            raise TypeError('isin takes a list of constants, as in cf.job.isin(["clerk", "nurse"])')
        constants = [constant(value) for value in values]
        if isinstance(values, set | frozenset):
            constants.sort(key=lambda value: (type(value).__name__, value))
        if not constants:
            raise InputError("isin needs at least one value: nothing is in an empty list")
        return IsIn(self, tuple(constants))

    def between(self, low: object, high: object) -> Expr:
        """At least `low` and at most `high`, which may be constants or terms.

        Examples
        --------
        >>> from dueto.plaf import cf, x
        >>> cf.age.between(18, x.age + 10)
        cf.age >= 18 and cf.age <= x.age + 10
        """
        low, high = _term(low), _term(high)
        if isinstance(low, Const) and isinstance(high, Const):
            a, b = low.value, high.value
            if isinstance(a, int | float) and isinstance(b, int | float) and a > b:
                raise InputError(f"between({a}, {b}) can never hold: give the lower value first")
        both: Expr = (self >= low) & (self <= high)
        return both

    def missing(self) -> Missing:
        """The value is missing.

        Examples
        --------
        >>> from dueto.plaf import cf
        >>> ~cf.income.missing()
        not cf.income.missing()
        """
        return Missing(self)

    # ``==`` and ``!=`` build too; the wide return type is what lets them override object's.
    def __eq__(self, other: object) -> Any:
        return _compare("==", self, other)

    def __ne__(self, other: object) -> Any:
        return _compare("!=", self, other)

    def __lt__(self, other: object) -> Expr:
        return _compare("<", self, other)

    def __le__(self, other: object) -> Expr:
        return _compare("<=", self, other)

    def __gt__(self, other: object) -> Expr:
        return _compare(">", self, other)

    def __ge__(self, other: object) -> Expr:
        return _compare(">=", self, other)

    def __add__(self, other: object) -> Term:
        return _arith("+", self, other)

    def __sub__(self, other: object) -> Term:
        return _arith("-", self, other)

    def __mul__(self, other: object) -> Term:
        return _arith("*", self, other)

    def __truediv__(self, other: object) -> Term:
        return _arith("/", self, other)

    def __radd__(self, other: object) -> Term:
        return _arith("+", other, self)

    def __rsub__(self, other: object) -> Term:
        return _arith("-", other, self)

    def __rmul__(self, other: object) -> Term:
        return _arith("*", other, self)

    def __rtruediv__(self, other: object) -> Term:
        return _arith("/", other, self)

    def __pos__(self) -> Term:
        return _number(self)

    def __neg__(self) -> Term:
        operand = _number(self)
        if isinstance(operand, Const):
            assert isinstance(operand.value, int | float)
            return Const(-operand.value)
        return Neg(operand)


class Predicate(Expr):
    """What holds of a pair (cf, x), or does not."""

    __slots__ = ()


@dataclass(frozen=True, eq=False, repr=False, slots=True)
class Ref(Term):
    """The value of a feature: proposed (side ``cf``) or present (side ``x``)."""

    side: Side
    name: str


@dataclass(frozen=True, eq=False, repr=False, slots=True)
class Const(Term):
    """A number, a text, a truth value, or None for missing."""

    value: Constant


@dataclass(frozen=True, eq=False, repr=False, slots=True)
class Neg(Term):
    """Minus a term."""

    operand: Term


@dataclass(frozen=True, eq=False, repr=False, slots=True)
class Arith(Term):
    """Two terms added, subtracted, multiplied or divided."""

    op: Operation
    left: Term
    right: Term


@dataclass(frozen=True, eq=False, repr=False, slots=True)
class Compare(Predicate):
    """Two terms compared.  A lone constant always stands on the right."""

    op: Comparison
    left: Term
    right: Term


@dataclass(frozen=True, eq=False, repr=False, slots=True)
class IsIn(Predicate):
    """A term is one of some constants."""

    term: Term
    values: tuple[Constant, ...]


@dataclass(frozen=True, eq=False, repr=False, slots=True)
class Missing(Predicate):
    """A term is missing."""

    term: Term


@dataclass(frozen=True, eq=False, repr=False, slots=True)
class And(Predicate):
    """All parts hold.  No part is itself an `And`."""

    parts: tuple[Expr, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "parts", _flat(And, self.parts))
        Expr.__post_init__(self)


@dataclass(frozen=True, eq=False, repr=False, slots=True)
class Or(Predicate):
    """Some part holds.  No part is itself an `Or`."""

    parts: tuple[Expr, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "parts", _flat(Or, self.parts))
        Expr.__post_init__(self)


@dataclass(frozen=True, eq=False, repr=False, slots=True)
class Not(Predicate):
    """The part does not hold."""

    part: Expr


@dataclass(frozen=True, eq=False, repr=False, slots=True)
class Implies(Predicate):
    """Where the condition holds, the consequence holds."""

    condition: Expr
    consequence: Expr


@dataclass(frozen=True, eq=False, repr=False, slots=True)
class Fixed(Predicate):
    """The named features keep their present values."""

    names: tuple[str, ...]


@dataclass(frozen=True, eq=False, repr=False, slots=True)
class Together(Predicate):
    """The named features change together, only to tuples that co-occur in the data."""

    names: tuple[str, ...]


def children(expr: Expr) -> Iterator[Expr]:
    """The nodes right below this one."""
    for f in fields(expr):
        value = getattr(expr, f.name, None)
        for child in value if isinstance(value, tuple) else (value,):
            if isinstance(child, Expr):
                yield child


def walk(expr: Expr) -> Iterator[Expr]:
    """This node and all below it, in no particular order."""
    waiting = [expr]
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(children(node))


def conjuncts(expr: Expr) -> list[Expr]:
    """What must hold, one by one: the fewer features a constraint speaks of, the more can be told of each."""
    if isinstance(expr, And):
        return [part for inner in expr.parts for part in conjuncts(inner)]
    return [Fixed((name,)) for name in expr.names] if isinstance(expr, Fixed) else [expr]


def _term(value: object) -> Term:
    if isinstance(value, Term):
        return value
    if isinstance(value, Expr):
        raise TypeError(f"{value} is a condition, not a value: join conditions with & | ~ or .implies(...)")
    return Const(constant(value))


def _number(value: object) -> Term:
    term = _term(value)
    if isinstance(term, Const) and (isinstance(term.value, bool) or not isinstance(term.value, int | float)):
        raise TypeError(f"arithmetic takes numbers, not {term}")
    return term


def _arith(op: Operation, left: object, right: object) -> Arith:
    return Arith(op, _number(left), _number(right))


def _compare(op: Comparison, left: object, right: object) -> Expr:
    a, b = _term(left), _term(right)
    if isinstance(a, Const) and not isinstance(b, Const):
        a, b, op = b, a, FLIP[op]
    if isinstance(b, Const) and b.value is None:
        if op not in ("==", "!="):
            raise InputError(f"a missing value has no order: write {a} == missing or {a} != missing")
        return Missing(a) if op == "==" else Not(Missing(a))
    return Compare(op, a, b)


def _condition(value: object) -> Expr:
    if isinstance(value, Together):
        raise InputError(f"{value} stands alone: give it as a constraint of its own")
    if isinstance(value, Predicate):
        return value
    if isinstance(value, Term):
        raise TypeError(
            f"{value} is a value, not a condition: compare it with something, and put brackets around each "
            "comparison, as in (cf.age >= 18) & (cf.age <= 65)"
        )
    raise TypeError(f"{value!r} is no condition: write a comparison, as in cf.age >= x.age")


def _flat(kind: type[And] | type[Or], parts: tuple[Expr, ...]) -> tuple[Expr, ...]:
    return tuple(inner for part in parts for inner in (part.parts if isinstance(part, kind) else (part,)))
