"""Constraints as text: the shortest brackets that `parse` reads back to the same tree."""

from __future__ import annotations

import keyword
import re
import unicodedata
from typing import TYPE_CHECKING

from dueto.plaf.constant import literal, quote
from dueto.plaf.expr import (
    And,
    Arith,
    Compare,
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
    Together,
)
from dueto.plaf.scan import WORD

if TYPE_CHECKING:
    from collections.abc import Sequence

IMPLIES, OR, AND, NOT, COMPARE, SUM, PRODUCT, SIGN, ATOM = range(9)


def write(expr: Expr, least: int = IMPLIES) -> str:
    """The text of an expression, in brackets if it binds less tightly than asked."""
    level, text = _write(expr)
    return text if level >= least else f"({text})"


def _write(expr: Expr) -> tuple[int, str]:
    match expr:
        case Const(value):
            return ATOM, literal(value)
        case Ref(side, name):
            return ATOM, f"{side}.{name}" if _plain(name) else f"{side}[{quote(name)}]"
        case Neg(operand):
            return SIGN, "-" + write(operand, SIGN)
        case Arith(op, left, right):
            level = SUM if op in "+-" else PRODUCT
            return level, f"{write(left, level)} {op} {write(right, level + 1)}"
        case Compare(op, left, right):
            return COMPARE, f"{write(left, SUM)} {op} {write(right, SUM)}"
        case IsIn(term, values):
            return COMPARE, f"{write(term, SUM)} in [{', '.join(map(literal, values))}]"
        case Missing(term):
            return ATOM, (write(term) if isinstance(term, Ref) else f"({write(term)})") + ".missing()"
        case Not(IsIn(term, values)):
            return COMPARE, f"{write(term, SUM)} not in [{', '.join(map(literal, values))}]"
        case Not(part):
            return NOT, "not " + write(part, NOT)
        case And(parts):
            return AND, " and ".join([_write_range(*part) for part in ranges(parts)])
        case Or(parts):
            return OR, " or ".join([write(part, AND) for part in parts])
        case Implies(condition, consequence):
            return IMPLIES, f"{write(condition, OR)} => {write(consequence, IMPLIES)}"
        case Fixed(names):
            return ATOM, f"fixed({', '.join(map(quote, names))})"
        case Together(names):
            return ATOM, f"together({', '.join(map(quote, names))})"
    raise AssertionError(f"no text for {type(expr).__name__}")


def _write_range(low: Expr, high: Compare | None = None) -> str:
    if high is None:
        return write(low, NOT)
    assert isinstance(low, Compare)
    strict = low.op.replace(">", "<")
    return f"{write(low.right)} {strict} {write(low.left, SUM)} {high.op} {write(high.right)}"


def ranges(parts: Sequence[Expr]) -> list[tuple[Expr] | tuple[Compare, Compare]]:
    """The parts of a conjunction, a lower and then an upper constant bound on one term taken as a pair."""
    found: list[tuple[Expr] | tuple[Compare, Compare]] = []
    for part in parts:
        last = found[-1][0] if found and len(found[-1]) == 1 else None
        if last is not None and _bounds(last, part):
            assert isinstance(last, Compare)
            assert isinstance(part, Compare)
            found[-1] = (last, part)
        else:
            found.append((part,))
    return found


def _bounds(low: Expr, high: Expr) -> bool:
    match low, high:
        case Compare(">" | ">=", term, Const()), Compare("<" | "<=", again, Const()):
            return not isinstance(term, Const) and term.same(again)
    return False


def _plain(name: str) -> bool:
    """Whether Python reads ``cf.name`` as written: one word, not a keyword or private, in its normal form."""
    if not name.isidentifier() or keyword.iskeyword(name) or name.startswith("_"):
        return False
    # Python reads more than words as identifiers ("l·l"), and some of them as others ("\ufb01" as "fi").
    return re.fullmatch(WORD, name) is not None and unicodedata.normalize("NFKC", name) == name
