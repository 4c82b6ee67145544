"""Reading constraints from text, through ``ast`` and a list of what is allowed; nothing is ever evaluated."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any, Final

from dueto.errors import InputError
from dueto.plaf.build import cf, fixed, together, x
from dueto.plaf.constant import constant
from dueto.plaf.expr import Const, Expr, Ref, Term
from dueto.plaf.scan import ConstraintError, Line, error, scan

if TYPE_CHECKING:
    from collections.abc import Callable

_SIDES: Final = {"cf": cf, "x": x}
_WORDS: Final = {"true": True, "false": False, "missing": None}
_BRACKETS: Final = "put brackets around each comparison, as in (cf.age >= 18) & (cf.age <= 65), or write and, or"
_NO_NUMBERS: Final = {"nan", "na", "null", "none", "nil", "inf", "infinity"}
_FUNCTIONS: Final[dict[str, Callable[..., Expr]]] = {"fixed": fixed, "together": together}
_COMPARISONS: Final[dict[type[ast.cmpop], Callable[[Any, Any], Expr]]] = {
    ast.Lt: lambda a, b: a < b,
    ast.LtE: lambda a, b: a <= b,
    ast.Gt: lambda a, b: a > b,
    ast.GtE: lambda a, b: a >= b,
    ast.Eq: lambda a, b: a == b,
    ast.NotEq: lambda a, b: a != b,
}
_ARITHMETIC: Final[dict[type[ast.operator], Callable[[Any, Any], Expr]]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.Div: lambda a, b: a / b,
}
_SIGNS: Final[dict[type[ast.operator], str]] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}
_METHODS: Final = {
    "isin": (1, "one list"),
    "between": (2, "two values"),
    "missing": (0, "nothing"),
    "implies": (1, "one condition"),
}


def parse(text: str) -> Expr:
    """Read one constraint, or a part of one.

    Parameters
    ----------
    text : str
        For instance ``cf.age >= x.age``; see `dueto.plaf` for the language.

    Returns
    -------
    Expr
        ``parse(str(e)).same(e)`` for every expression.

    Raises
    ------
    ConstraintError
        With line and column, for text that is no constraint.

    Examples
    --------
    >>> parse("18 <= cf.age <= 65 and cf.job != x.job")
    18 <= cf.age <= 65 and cf.job != x.job
    """
    lines = list(scan(_text(text), None))
    if not lines:
        raise error("there is no constraint in this text: write one, as in cf.age >= x.age", name=None)
    if len(lines) > 1:
        raise lines[1].error(
            "one constraint was expected and here begins another: read several with parse_constraints, "
            "or put brackets around one that runs over several lines"
        )
    return _read(lines[0])


def parse_constraints(text: str, *, name: str | None = None) -> tuple[Expr, ...]:
    """Read many constraints, one a line.

    Comments run from ``#`` to the end of the line; what stands in brackets may run over several lines.

    Parameters
    ----------
    text : str
        The constraints.
    name : str, optional
        What to call the text in errors, such as the name of its file.

    Returns
    -------
    tuple of Expr
        In the order of the text, each a condition or a `Together`.

    Raises
    ------
    ConstraintError
        With line and column, for a line that is no constraint.

    Examples
    --------
    >>> parse_constraints("fixed('sex')  # by law\\ncf.age >= x.age")
    (fixed("sex"), cf.age >= x.age)
    """
    found = []
    for line in scan(_text(text), name):
        expr = _read(line)
        if isinstance(expr, Term):
            raise line.error(f"{_short(expr)} is a value, not a condition: compare it, as in cf.age >= x.age")
        found.append(expr)
    return tuple(found)


def _text(text: object) -> str:
    if not isinstance(text, str):
        raise TypeError(f"a constraint's text is a str, not a {type(text).__name__}")
    return text


def _read(line: Line) -> Expr:
    source = " ".join(line.pieces())
    try:
        return _Reader(line).read(ast.parse(source, mode="eval").body)
    except ConstraintError:
        raise
    except SyntaxError as problem:
        token = line.token_at(len(source[: max((problem.offset or 1) - 1, 0)].encode(errors="replace")))
        raise line.error(
            f'{token.text} cannot stand here: a constraint reads like cf.age >= x.age or cf.job in ["clerk"]',
            token,
        ) from None
    except (RecursionError, MemoryError):
        raise line.error("this constraint is nested too deep: split it into several") from None
    except ValueError:
        raise line.error("this constraint holds characters that are no text: take them away") from None


class _Reader:
    """From Python's syntax tree to ours; whatever is not listed here is refused."""

    def __init__(self, line: Line) -> None:
        self.line = line

    def read(self, node: ast.expr) -> Expr:
        try:
            return self._read(node)
        except ConstraintError:
            raise
        except (InputError, TypeError) as problem:  # the operators' own objections
            raise self.refusal(node, str(problem)) from None

    def _read(self, node: ast.expr) -> Expr:
        match node:
            case ast.Constant(value):
                return Const(constant(value))
            case ast.Name(word) if word in _WORDS:
                return Const(_WORDS[word])
            case ast.Attribute(ast.Name("cf" | "x" as side), name):
                return Ref(side, name)
            case ast.Subscript(ast.Name("cf" | "x" as side), ast.Constant(str() | int() as name)):
                return _SIDES[side][name]
            case ast.UnaryOp(ast.USub(), operand):
                return -self.term(operand)
            case ast.UnaryOp(ast.UAdd(), operand):
                return +self.term(operand)
            case ast.UnaryOp(ast.Not() | ast.Invert(), operand):
                return ~self.condition(operand)
            case ast.BinOp(left, op, right) if type(op) in _ARITHMETIC:
                self.slip(node)
                return _ARITHMETIC[type(op)](self.term(left), self.term(right))
            case ast.BinOp(left, ast.BitAnd(), right):
                return self.condition(left, _BRACKETS) & self.condition(right, _BRACKETS)
            case ast.BinOp(left, ast.BitOr(), right):
                return self.condition(left, _BRACKETS) | self.condition(right, _BRACKETS)
            case ast.BoolOp(op, values):
                return self.join(op, [self.condition(value) for value in values])
            case ast.IfExp(ast.Constant(), condition, consequence):  # its test is ours, see Line
                given = self.condition(condition, "=> means 'implies', and 'at least' is written >=")
                return given.implies(self.condition(consequence))
            case ast.Compare(left, ops, rest):
                pairs = zip([left, *rest], ops, rest, strict=False)
                return self.join(ast.And(), [self.compare(*pair) for pair in pairs])
            case ast.Call(ast.Name(function), arguments, []) if function in _FUNCTIONS:
                return _FUNCTIONS[function](*[self.name(argument, function) for argument in arguments])
            case ast.Call(ast.Attribute(operand, method), arguments, []) if method in _METHODS:
                return self.call(node, operand, method, arguments)
        raise self.refusal(node, self.remedy(node))

    def term(self, node: ast.expr) -> Term:
        found = self.read(node)
        if not isinstance(found, Term):
            raise self.refusal(
                node,
                f"{_short(found)} is a condition, not a value: join conditions with and, or, =>, "
                "and put brackets around each where & and | are used",
            )
        return found

    def condition(self, node: ast.expr, remedy: str = "compare it with something, as in cf.age >= 18") -> Expr:
        found = self.read(node)
        if isinstance(found, Term):
            raise self.refusal(node, f"{_short(found)} is a value, not a condition: {remedy}")
        return found

    def join(self, op: ast.boolop, parts: list[Expr]) -> Expr:
        joined = parts[0]
        for part in parts[1:]:
            joined = joined & part if isinstance(op, ast.And) else joined | part
        return joined

    def compare(self, left: ast.expr, op: ast.cmpop, right: ast.expr) -> Expr:
        if isinstance(op, ast.Eq | ast.NotEq) and not isinstance(left, ast.Constant):
            self.unquoted(right)
        if isinstance(op, ast.In):
            return self.term(left).isin(self.constants(right))
        if isinstance(op, ast.NotIn):
            return ~self.term(left).isin(self.constants(right))
        return _COMPARISONS[type(op)](self.term(left), self.term(right))

    def constants(self, node: ast.expr) -> list[object]:
        if not isinstance(node, ast.List | ast.Tuple | ast.Set):
            raise self.refusal(node, 'a list must follow in, as in cf.job in ["clerk", "nurse"]')
        found: list[object] = []
        self.unquoted(*node.elts)
        for element in node.elts:
            value = self.read(element)
            if not isinstance(value, Const):
                raise self.refusal(element, f'a list holds constants only, such as 3 or "clerk", not {_short(value)}')
            found.append(value.value)
        return found

    def call(self, node: ast.expr, operand: ast.expr, method: str, arguments: list[ast.expr]) -> Expr:
        if isinstance(operand, ast.Name) and operand.id in _SIDES:
            raise self.refusal(
                node, f"{operand.id} needs a feature before .{method}, as in {operand.id}.age.{method}(...)"
            )
        count, what = _METHODS[method]
        if len(arguments) != count:
            raise self.refusal(node, f".{method} takes {what} in its brackets, not {len(arguments)}")
        if method == "implies":
            return self.condition(operand).implies(self.condition(arguments[0]))
        if method == "between":
            return self.term(operand).between(*[self.term(argument) for argument in arguments])
        return self.term(operand).isin(self.constants(arguments[0])) if arguments else self.term(operand).missing()

    def name(self, node: ast.expr, function: str) -> str | int:
        match node:
            case ast.Constant(str() | int() as name):
                return name
            case ast.Name(word) | ast.Attribute(_, word):
                raise self.refusal(node, f'{function} takes names in quotes: write {function}("{word}")')
        raise self.refusal(node, f'{function} takes names in quotes, as in {function}("age")')

    def unquoted(self, *nodes: ast.expr) -> None:
        """A word alone where a label may stand is most often one without its quotes."""
        for node in nodes:
            match node:
                case ast.Name(word) if word.lower() not in {*_SIDES, *_WORDS, *_FUNCTIONS, *_NO_NUMBERS}:
                    meant = f'write "{word}" in quotes for a label, and cf.{word} or x.{word} for a feature'
                    raise self.refusal(node, f"{word} alone is ambiguous: {meant}")

    def slip(self, node: ast.BinOp) -> None:
        """``cf.capital-gain`` is a difference to Python, and most often a slip; so is ``cf.km/year``."""
        slip = _in_one_word(node)
        if slip and isinstance(node.right, ast.Name):
            side, name = slip
            remedy = f'write {side}["{name}"] if {name} is one name, else cf.{node.right.id} or x.{node.right.id}'
            raise self.refusal(node.right, f"{node.right.id} alone is ambiguous: {remedy}")

    def remedy(self, node: ast.expr) -> str:
        match node:
            case ast.Name("cf" | "x" as side):
                return f'{side} needs a feature, as in {side}.age or {side}["capital-gain"]'
            case ast.Name("fixed" | "together" as function):
                return f'{function} needs names in brackets, as in {function}("sex", "race")'
            case ast.Name(word) if word.lower() in (*_SIDES, *_WORDS, *_FUNCTIONS):
                return f"{word} is not known: write {word.lower()}"
            case ast.Name(word) if word.lower() in _NO_NUMBERS:
                return f"{word} is not a number: a missing value is asked for as in cf.income.missing()"
            case ast.Name(word):
                meant = f"cf.{word} for the proposed value or x.{word} for the present one"
                return f"{word} alone is ambiguous: write {meant}"
            case ast.Attribute(ast.Attribute(ast.Name("cf" | "x" as side), a), b):
                return f'{side}.{a} has no {b}: write {side}["{a}.{b}"] if that is one name'
            case ast.Attribute(ast.Name(word), name):
                return f"{word}.{name} is not known: features are written cf.{name} or x.{name}"
            case ast.Subscript(ast.Name("cf" | "x" as side)):
                return f'one name in quotes stands in the brackets, as in {side}["capital-gain"]'
            case ast.Call(ast.Name(word) | ast.Attribute(attr=word)):
                return (
                    f"there is no function {word}: there are fixed(...) and together(...), after a value "
                    ".isin([...]), .between(low, high) and .missing(), and after a condition .implies(...)"
                )
            case ast.Tuple():
                return "a comma stands between the values of a list only: write a number as 1000000 or 1_000_000"
            case ast.List() | ast.Set():
                return 'a list stands after in only, as in cf.job in ["clerk", "nurse"]'
        return "this is not part of the language: a constraint reads like cf.age >= x.age"

    def refusal(self, node: ast.expr, message: str) -> ConstraintError:
        return self.line.error(message, self.line.token_at(node.col_offset))


def _in_one_word(node: ast.expr) -> tuple[str, str] | None:
    """The side and name meant, if a feature's name with a sign of arithmetic in it was written without quotes."""
    match node:
        case ast.Attribute(ast.Name("cf" | "x" as side), name):
            return side, name
        case ast.BinOp(left, op, ast.Name(word)) if word not in _WORDS and type(op) in _SIGNS:
            found = _in_one_word(left)
            return found and (found[0], f"{found[1]}{_SIGNS[type(op)]}{word}")
    return None


def _short(expr: Expr) -> str:
    text = str(expr)
    return text if len(text) <= 60 else text[:57] + "..."
