"""From text to lines of tokens: a line is one constraint, each token knows its place in the user's text."""

from __future__ import annotations

import bisect
import keyword
import re
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, Final, NamedTuple

from dueto.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_LENGTH: Final = 1_000_000
MAX_BRACKETS: Final = 100
MAX_DIGITS: Final = 1000
WORD: Final = r"[^\W\d]\w*"

_TOKEN: Final = re.compile(
    rf"""
      (?P<blank>   [^\S\n]+ | \\\n | \#[^\n]* )
    | (?P<newline> \n )
    | (?P<number>  (?: \d[\d_]*\.?[\d_]* | \.\d[\d_]* ) (?: [eE][+-]?\d[\d_]* )? )
    | (?P<name>    {WORD} )
    | (?P<string>  "(?:[^"\\\n]|\\[^\n])*" | '(?:[^'\\\n]|\\[^\n])*' )
    | (?P<sign>    ==> | => | =< | <> | -> | && | \|\| | \*\* | // | [<>=!]= | \.\.\. | (?s:.) )
    """,
    re.VERBOSE,
)
_ESCAPES: Final = re.compile(r"""(?:[^\\\0]|\\[\\'"abfnrtvxuUN])*""")
_CLOSES: Final = {")": "(", "]": "[", "}": "{"}
_JOINING: Final = {"+", "-", "*", "/", "<", "<=", ">", ">=", "==", "!=", "=", "=>", "&", "|", "~", ",", "."}
_JOINING_WORDS: Final = {"and", "or", "not", "in"}
_CONSTANT_WORDS: Final = {"True", "False", "None"}
_REMEDIES: Final = {
    **dict.fromkeys(["≤", "=<"], "write <="),
    **dict.fromkeys(["≥"], "write >="),
    **dict.fromkeys(["≠", "<>", "!"], "write != between two values, and not before a condition"),
    **dict.fromkeys(["->", "→", "⇒", "==>"], "write => for 'implies'"),
    **dict.fromkeys(["&&"], "write and"),
    **dict.fromkeys(["||"], "write or"),
    **dict.fromkeys(["**", "//", "%", "^", "@"], "arithmetic has + - * / only"),
    **dict.fromkeys(["“", "”", "`"], 'write straight quotes, as in "clerk"'),
    **dict.fromkeys(["if", "else"], "write A => B for 'if A, then B'"),
    "is": "write == to compare, and .missing() to ask for a missing value, as in cf.income.missing()",
    ";": "write one constraint a line",
}


class ConstraintError(InputError):
    """The text of a constraint cannot be read; the message says where, and what to write instead.

    Attributes
    ----------
    line, column : int
        The place in the text, counted from 1.
    """

    def __init__(self, message: str, line: int = 1, column: int = 1) -> None:
        super().__init__(message)
        self.line = line
        self.column = column


def error(message: str, *, name: str | None, line: int = 1, column: int = 1) -> ConstraintError:
    """The error, its place written before the message."""
    place = f"line {line}, column {column}"
    return ConstraintError(f"{place if name is None else f'{name}, {place}'}: {message}", line, column)


class Token(NamedTuple):
    """A name, number, string or sign, with its row and column counted from 1."""

    text: str
    kind: str
    row: int
    column: int

    @property
    def joins(self) -> bool:
        return self.text in _JOINING or self.text in _JOINING_WORDS

    @property
    def starts_value(self) -> bool:
        return self.kind != "sign" and not self.joins

    @property
    def ends_value(self) -> bool:
        return self.starts_value or self.text in _CLOSES

    def touches(self, other: Token) -> bool:
        return self.row == other.row and self.column + len(self.text) == other.column


@dataclass(frozen=True)
class Line:
    """The tokens of one constraint.

    Python's form of it, in one line, has ``==`` for ``=``, and ``A if ... else B`` for ``A => B``: the one
    operator that binds as loosely, and to the right.  No user can write that ``...`` himself.
    """

    tokens: tuple[Token, ...]
    name: str | None

    def pieces(self) -> list[str]:
        return [{"=": "==", "=>": "if ... else"}.get(token.text, token.text) for token in self.tokens]

    def token_at(self, offset: int) -> Token:
        """The token at a byte of Python's form."""
        starts_of_next = list(accumulate(len(piece.encode()) + 1 for piece in self.pieces()))
        return self.tokens[min(bisect.bisect_right(starts_of_next, offset), len(self.tokens) - 1)]

    def error(self, message: str, token: Token | None = None) -> ConstraintError:
        """The error at a token, by default the first."""
        token = token or self.tokens[0]
        return error(message, name=self.name, line=token.row, column=token.column)


def scan(text: str, name: str | None) -> Iterator[Line]:
    """The constraints of a text: one a line, but for lines within brackets; comments are left out.

    Raises
    ------
    ConstraintError
        For what no constraint holds: an open bracket, an unknown sign, two values with nothing between.
    """
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    if len(text) > MAX_LENGTH:
        raise error(f"{len(text):,} characters are too many: give at most {MAX_LENGTH:,} at once", name=name)
    opened: list[Token] = []
    line: list[Token] = []
    row, start = 1, 0
    for match in _TOKEN.finditer(text):
        kind = str(match.lastgroup)
        token = Token(match.group(), kind, row, match.start() - start + 1)
        if token.text.endswith("\n"):
            row, start = row + 1, match.end()
        if kind == "newline" and line and not opened:
            yield _finish(line, name)
            line = []
        if kind in ("blank", "newline"):
            continue
        _check(line[-1] if line else None, token, opened, name)
        line.append(token)
    if opened:
        last = opened[-1]
        raise error(f"this {last.text} is never closed", name=name, line=last.row, column=last.column)
    if line:
        yield _finish(line, name)


def _finish(tokens: list[Token], name: str | None) -> Line:
    line = Line(tuple(tokens), name)
    if tokens[-1].joins:
        raise line.error(
            f"something is missing after {tokens[-1].text}: complete the line, "
            "or put brackets around a constraint that runs over several lines",
            tokens[-1],
        )
    return line


def _check(last: Token | None, token: Token, opened: list[Token], name: str | None) -> None:
    """Refuse a token that no constraint has here, and keep account of the brackets."""
    message = _objection(last, token)
    if token.text in _CLOSES.values():
        opened.append(token)
        if len(opened) > MAX_BRACKETS:
            message = f"brackets are nested more than {MAX_BRACKETS} deep: split the constraint into several"
    elif token.text in _CLOSES:
        if not opened:
            message = f"this {token.text} closes nothing: take it away, or open a bracket before it"
        elif opened[-1].text != _CLOSES[token.text]:
            other = opened[-1]
            place = f"line {other.row}, column {other.column}"
            message = f"this {token.text} cannot close the {other.text} of {place}: close that one first"
        else:
            opened.pop()
    if message:
        raise error(message, name=name, line=token.row, column=token.column)


def _objection(last: Token | None, token: Token) -> str | None:
    """What is wrong with a token after the last one, if anything."""
    text, kind = token.text, token.kind
    if text in _REMEDIES and not (kind == "name" and last and last.text == "."):
        return f"{text} is not used here: {_REMEDIES[text]}"
    if kind == "sign" and text in ('"', "'"):
        return "this text is never closed: add the quote at its end, on the same line"
    if kind == "sign" and not token.joins and text not in {*_CLOSES, *_CLOSES.values()}:
        return f"the sign {text!r} has no meaning here"
    if kind == "number" and len(text) > MAX_DIGITS:
        return f"a number of {len(text)} digits is too long: write at most {MAX_DIGITS}"
    if kind == "string" and not _ESCAPES.fullmatch(text):
        return 'write \\\\ for each backslash in a text, as in "a\\\\b"'
    if kind == "name" and keyword.iskeyword(text):
        if last and last.text == ".":
            return f'{text} is a word of the language: write cf["{text}"] for a feature named so'
        if text not in _JOINING_WORDS | _CONSTANT_WORDS:
            return f"{text} is not used here: conditions are joined with and, or, not and =>"
    return _gap(last, token) if last and last.ends_value and token.starts_value else None


def _gap(last: Token, token: Token) -> str:
    """Two values with nothing between them."""
    if last.kind == token.kind == "string":
        return f"a comma is missing between {last.text} and {token.text}"
    if token.kind == "string" and last.touches(token):
        return f"a text has no letter before its quote: take away {last.text}"
    for word in (last.text, token.text):
        if word.lower() in _JOINING_WORDS:
            return f"write {word.lower()} for {word}"
    if last.text in ("cf", "x") and token.text.startswith("."):
        return f'a name that begins with a digit stands in brackets, as in {last.text}["2nd"]'
    return (
        f"an operator is missing between {last.text} and {token.text}: join values with + - * / or a "
        'comparison, conditions with and, or, =>, and write a name of several words like cf["hours per week"]'
    )
