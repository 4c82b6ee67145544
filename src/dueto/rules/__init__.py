"""Rule finders: what a refusal is due to, one method a file."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from dueto.errors import InputError, some
from dueto.rules.anchor import Anchor
from dueto.rules.auto import AutoRule
from dueto.rules.base import Finder, Oracle
from dueto.rules.genetic import GeneticRule, GeneticRuleCF
from dueto.rules.greedy import GreedyRuleCF
from dueto.rules.minimum import MinimumRule
from dueto.rules.set_cover import MinSetCover
from dueto.rules.short import ShortRule
from dueto.rules.widen import widened

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "FINDERS",
    "Anchor",
    "AutoRule",
    "Finder",
    "GeneticRule",
    "GeneticRuleCF",
    "GreedyRuleCF",
    "MinSetCover",
    "MinimumRule",
    "Oracle",
    "ShortRule",
    "finder_named",
    "widened",
]

FINDERS: dict[str, Callable[[], Finder]] = {
    "auto": AutoRule,
    "greedy": GreedyRuleCF,
    "genetic": GeneticRule,
    "genetic-cf": GeneticRuleCF,
    "anchor": Anchor,
    "set-cover": MinSetCover,
    "minimum": MinimumRule,
    "irredundant": partial(MinimumRule, least=False, name="irredundant"),
}


def finder_named(finder: str | Finder) -> Finder:
    """The rule finder of a name, with its defaults; a finder itself passes through."""
    if not isinstance(finder, str):
        if isinstance(finder, type) or not isinstance(finder, Finder):
            raise TypeError(f"expected a rule finder or its name, one of {some(FINDERS)}; got {finder!r}")
        return finder
    if finder not in FINDERS:
        raise InputError(f"there is no rule finder {finder!r}; there are {some(FINDERS)}")
    return FINDERS[finder]()
