"""The one error a user meets: a sentence that says what is wrong, where, and what to do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["InputError", "some"]


class InputError(ValueError):
    """Input that cannot be answered: the message names what, where (column, row, line) and the remedy."""


def some(names: Iterable[Any], limit: int = 8) -> str:
    """The first few of some names, quoted, for a sentence."""
    shown = [repr(n) for n in names]
    return ", ".join(shown[:limit]) + (f" and {len(shown) - limit} more" if len(shown) > limit else "")
