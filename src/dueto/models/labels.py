"""Which class is the desired one: a label, however it was typed, found among a model's classes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dueto.errors import InputError, some
from dueto.frames import plain

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["match", "plain"]


def match(desired: Any, classes: Iterable[Any]) -> int | None:
    """Position of the desired label among the classes; None if there is one class only, and it is another.

    A label is found as it is, else by its text or its number: "1" is 1, "true" is True, 1 is True, if that names one
    class. Without a label it is the second of two classes, or the only one.

    Raises
    ------
    InputError
        If no class, or more than one, is meant: listing the classes.
    """
    known = [plain(c) for c in classes]
    if desired is None:
        if len(known) > 2:
            raise InputError(f"the model has {len(known)} classes; say which is the desired one: {some(known)}")
        return len(known) - 1
    wanted = plain(desired)
    for alike in (_same, _same_text, _same_number):
        found = [i for i, c in enumerate(known) if alike(c, wanted)]
        if len(found) == 1:
            return found[0]
    if len(known) == 1:
        return None
    raise InputError(f"the model has no class {wanted!r}; its classes are {some(known)}")


def _same(a: Any, b: Any) -> bool:
    return type(a) is type(b) and bool(a == b)


def _same_text(a: Any, b: Any) -> bool:
    return str(a).lower() == str(b).lower() if isinstance(a, bool) or isinstance(b, bool) else str(a) == str(b)


def _same_number(a: Any, b: Any) -> bool:
    try:
        return float(a) == float(b)
    except (TypeError, ValueError):
        return False
