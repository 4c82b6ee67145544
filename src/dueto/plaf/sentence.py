"""Constraints as English sentences.

A condition is told in two moods: as a demand ("age must be at least 18") and, after *if*, as a fact ("age is
at least 18").  The usual patterns have words of their own; the rest falls back on brackets and signs, never
on a wrong word.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from dueto.plaf.constant import Constant, literal
from dueto.plaf.expr import (
    FLIP,
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
)
from dueto.plaf.text import PRODUCT, SIGN, SUM, ranges

if TYPE_CHECKING:
    from collections.abc import Sequence


WORDS: Final = SUM - 1  # several words bind less than any sign between them


@dataclass(frozen=True)
class _Mood:
    be: str
    not_be: str
    negation: str
    moves: dict[Comparison, str]
    stay: str


_DEMAND: Final = _Mood(
    be="must be",
    not_be="must not be",
    negation="it must not be that",
    moves={
        "==": "must stay the same",
        "!=": "must change",
        ">=": "may not fall",
        "<=": "may not rise",
        ">": "must rise",
        "<": "must fall",
    },
    stay="must stay the same",
)
_FACT: Final = _Mood(
    be="is",
    not_be="is not",
    negation="it is not so that",
    moves={
        "==": "stays the same",
        "!=": "changes",
        ">=": "does not fall",
        "<=": "does not rise",
        ">": "rises",
        "<": "falls",
    },
    stay="stay the same",
)
_DEGREES: Final[dict[Comparison, str]] = {
    "==": "",
    "!=": "",
    ">=": "at least ",
    "<=": "at most ",
    ">": "more than ",
    "<": "less than ",
}


def sentence(expr: Expr) -> str:
    """The expression in English, without capital or full stop."""
    return _phrase(expr) if isinstance(expr, Term) else _say(expr, _DEMAND)


def _say(expr: Expr, mood: _Mood) -> str:
    match expr:
        case Compare():
            return _compare(expr, mood)
        case Not(Compare("==", left, right)):
            return _compare(Compare("!=", left, right), mood)
        case Not(Compare("!=", left, right)):
            return _compare(Compare("==", left, right), mood)
        case Not(Compare() as part) if _mover(part) is None:
            return _compare(part, mood, negated=True)
        case IsIn(term, values):
            return f"{_phrase(term)} {mood.be} {_listed(values, 'or')}"
        case Not(IsIn(term, [value])):
            return f"{_phrase(term)} {mood.not_be} {_constant(value)}"
        case Not(IsIn(term, values)):
            return f"{_phrase(term)} {mood.be} none of {_listed(values, 'and')}"
        case Missing(term):
            return f"{_phrase(term)} {mood.be} missing"
        case Not(Missing(term)):
            return f"{_phrase(term)} {mood.not_be} missing"
        case Not(part):
            return f"{mood.negation} {_bracketed(part, _FACT)}"
        case And(parts):
            found = ranges(parts)
            if len(found) == 1:
                return _range(*found[0], mood=mood)
            return " and ".join([_range(*each, mood=mood) for each in found])
        case Or(parts):
            return ("either " if mood is _DEMAND else "") + " or ".join([_bracketed(part, mood) for part in parts])
        case Implies(condition, consequence) if mood is _DEMAND:
            then = " then" if isinstance(consequence, Implies) else ""
            return f"if {_say(condition, _FACT)},{then} {_say(consequence, _DEMAND)}"
        case Implies(condition, consequence):
            return f"{_bracketed(consequence, _FACT)} whenever {_bracketed(condition, _FACT)}"
        case Fixed([name]):
            return f"{name} {mood.moves['==']}"
        case Fixed(names):
            return f"{_joined(names, 'and')} {mood.stay}"
        case Together(names):
            return f"{_joined(names, 'and')} must change together, only to combinations seen in the data"
    raise AssertionError(f"no sentence for {type(expr).__name__}")


def _bracketed(part: Expr, mood: _Mood) -> str:
    """A part of a longer sentence, in brackets where it would run into its neighbours."""
    text = _say(part, mood)
    loose = isinstance(part, And | Or | Implies) or text.startswith(mood.negation)
    return f"({text})" if loose else text


def _range(low: Expr, high: Compare | None = None, *, mood: _Mood) -> str:
    if high is None:
        return _bracketed(low, mood)
    assert isinstance(low, Compare)
    least, most = _phrase(low.right), _phrase(high.right)
    if (low.op, high.op) == (">=", "<="):
        return f"{_phrase(low.left)} {mood.be} between {least} and {most}"
    return f"{_phrase(low.left)} {mood.be} {_DEGREES[low.op]}{least} and {_DEGREES[high.op]}{most}"


def _compare(expr: Compare, mood: _Mood, *, negated: bool = False) -> str:
    mover = _mover(expr)
    op, left, right = _facing(expr)
    if mover is not None:
        return f"{mover} {mood.moves[op]}"
    be = mood.not_be if (op == "!=") is not negated else mood.be
    subject = left.name if isinstance(left, Ref) and left.side == "cf" else None
    return f"{_phrase(left)} {be} {_DEGREES[op]}{_phrase(right, subject)}"


def _facing(expr: Compare) -> tuple[Comparison, Term, Term]:
    """The comparison turned so that the proposed value of a feature, if alone on a side, comes first."""
    op, left, right = expr.op, expr.left, expr.right
    if not _proposed(left) and _proposed(right):
        return FLIP[op], right, left
    return op, left, right


def _mover(expr: Compare) -> str | None:
    """The feature whose proposed and present values are compared, if that is all."""
    _, left, right = _facing(expr)
    if isinstance(left, Ref) and isinstance(right, Ref) and left.name == right.name and left.side != right.side:
        return left.name
    return None


def _proposed(term: Term) -> bool:
    return isinstance(term, Ref) and term.side == "cf"


def _phrase(expr: Expr, subject: str | None = None, least: int = WORDS) -> str:
    """A term in words; `subject` is the feature that "its" means."""
    match expr:
        case Const(value):
            return _constant(value)
        case Ref("cf", name):
            return name
        case Ref("x", name) if name == subject:
            return "its present value"
        case Ref("x", name):
            level, text = WORDS, f"the present {name}"
        case Neg(operand):
            level, text = SIGN, "-" + _phrase(operand, subject, SIGN)
        case Arith("-", Ref("cf", name), Ref("x", again)) if name == again:
            level, text = WORDS, f"the change in {name}"
        case Arith(op, left, right):
            level = SUM if op in "+-" else PRODUCT
            text = f"{_phrase(left, subject, level)} {op} {_phrase(right, subject, level + 1)}"
        case _:
            raise AssertionError(f"no phrase for {type(expr).__name__}")
    return text if level >= least else f"({text})"


def _constant(value: Constant) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    text = literal(value)
    return text.removesuffix(".0") if isinstance(value, float) else text


def _listed(values: Sequence[Constant], word: str) -> str:
    return _joined([_constant(value) for value in values], word)


def _joined(texts: Sequence[str], word: str) -> str:
    return f" {word} ".join(part for part in (", ".join(texts[:-1]), texts[-1]) if part)
