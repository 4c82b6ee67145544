"""The one error a user meets: a sentence that says what is wrong, where, and what to do."""

from __future__ import annotations

import difflib
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["InputError", "count", "in_words", "known", "one_line", "some"]


BREAK = re.compile(r"[\t-\r\x1c-\x1e\x85\u2028\u2029]")


class InputError(ValueError):
    """Input that cannot be answered: the message names what, where (column, row, line) and the remedy."""


def count(n: int, noun: str) -> str:
    """A number of things, for a sentence: 1 row, 2 rows.

    >>> count(1, "row"), count(1200, "row")
    ('1 row', '1,200 rows')
    """
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def in_words(value: Any) -> str:
    """A value for a reader, in one line: None is missing, and a label that reads so stands in quotes.

    >>> in_words(None), in_words("missing"), in_words(2.5)
    ('missing', "'missing'", '2.5')
    """
    if value is None:
        return "missing"
    return repr(value) if value == "missing" else one_line(str(value))


def one_line(text: str) -> str:
    r"""A text whose line breaks and tabs are written out, so that a name cannot pass for a line of its own.

    >>> print(one_line("age\nProved."))
    age\nProved.
    """
    return BREAK.sub(lambda m: m[0].encode("unicode_escape").decode(), text)


def known(name: Any, names: Iterable[Any], otherwise: str) -> str:
    """A hint at what may have been meant by a name that is not among `names`; if nothing is like it, what there is.

    >>> known("Hours-per week", ["hours_per_week", "age"], "there are")
    "did you mean 'hours_per_week'?"
    >>> known("job", ["hours_per_week", "age"], "there are")
    "there are 'hours_per_week', 'age'"
    """
    names = list(names)
    near = difflib.get_close_matches(_bare(name), map(_bare, names), n=3, cutoff=0.6)
    meant = [n for text in dict.fromkeys(near) for n in names if _bare(n) == text]
    return f"did you mean {some(meant)}?" if meant else f"{otherwise} {some(names)}"


def _bare(name: Any) -> str:
    """A name without what is easily mistaken in it: capitals, blanks, signs."""
    return re.sub(r"[\W_]", "", str(name)).casefold() or str(name)


def some(names: Iterable[Any], limit: int = 8) -> str:
    """The first few of some names, quoted, for a sentence."""
    shown = [repr(n) for n in names]
    return ", ".join(shown[:limit]) + (f" and {len(shown) - limit} more" if len(shown) > limit else "")
