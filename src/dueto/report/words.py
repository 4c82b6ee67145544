"""Conditions as a person says them, and texts of the user's that leave what surrounds them as it is."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from dueto.errors import in_words

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dueto.rule import Component, Rule

__all__ = ["conditions", "directed", "in_markdown", "outcome", "share", "visible"]

FIRST = re.compile(r"^(\d*)([.)]|>|[-+=]+)(?=\s|$)|^(?=>)")  # what would start a list, a heading or a quotation
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
RIGHT_TO_LEFT = r"\u0590-\u08ff\u200f\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff"
RUN = re.compile(rf"([{RIGHT_TO_LEFT}](?:[{RIGHT_TO_LEFT}\d\s_'\u2019-]*[{RIGHT_TO_LEFT}])?)")
SPECIAL = re.compile(r"[\\`*\[\]<|~&#$!]|(?<![^\W_])_|_(?![^\W_])")


def outcome(desired: Any) -> str:
    """The desired outcome, by its class where the model names its classes.

    >>> outcome("paid"), outcome(1), outcome(None)
    ('"paid"', 'class 1', 'the desired outcome')
    """
    if desired is None:
        return "the desired outcome"
    return f'"{desired}"' if isinstance(desired, str) else f"class {desired}"


def conditions(rule: Rule) -> list[tuple[str, str]]:
    """What a rule demands of each of its features, in words, in its order.

    >>> from dueto.rule import Component, Rule
    >>> conditions(Rule((Component("age", ">=", 30), Component("income", "<=", 22), Component("age", "<=", 39))))
    [('age', 'between 30 and 39'), ('income', 'at most 22')]
    """
    found: dict[str, list[Component]] = {}
    for component in rule:
        found.setdefault(component.feature, []).append(component)
    return [(feature, _in_words(parts)) for feature, parts in found.items()]


def _in_words(parts: Iterable[Component]) -> str:
    value = {component.op: in_words(component.value) for component in parts}
    low, high, same = (value.get(op) for op in (">=", "<=", "="))
    told = [] if same is None else [same]
    if low is not None and high is not None:
        told.append(f"exactly {low}" if low == high else f"between {low} and {high}")
    else:
        told += [f"at least {low}"] * (low is not None) + [f"at most {high}"] * (high is not None)
    return " and ".join(told)


def share(part: int, whole: int) -> str:
    """A part of some rows as a percentage: never 0 or 100 where it is neither.

    >>> share(1, 3000), share(1, 3), share(0, 0)
    ('under 1%', '33%', 'none')
    """
    if not whole:
        return "none"
    percent = 100 * part / whole
    if 0 < percent < 1:
        return "under 1%"
    return "over 99%" if 99 < percent < 100 else f"{percent:.0f}%"


def visible(text: str) -> str:
    """A text whose control characters, which could reorder or overwrite what surrounds it, are written out.

    >>> print(visible("pay\\u202elap"))
    pay\\u202elap
    """
    return CONTROL.sub(lambda m: m[0].encode("unicode_escape").decode(), text)


def directed(text: str) -> list[str]:
    """A sentence cut at its words from right to left, which a page isolates: these are every other part.

    >>> list(map(ascii, directed("if שכר <= 22")))
    ["'if '", "'\\\\u05e9\\\\u05db\\\\u05e8'", "' <= 22'"]
    """
    return RUN.split(text)


def in_markdown(value: Any) -> str:
    """A text that Markdown shows as it is, in a paragraph or in a cell of a table.

    >>> print(in_markdown("*a*|b_c <script>"))
    \\*a\\*\\|b_c \\<script>
    """
    return FIRST.sub(
        lambda m: f"{m[1] or ''}\\{m[2] or ''}",
        SPECIAL.sub(r"\\\g<0>", visible(" ".join(("missing" if value is None else str(value)).split()))),
    )
