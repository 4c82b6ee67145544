"""What an object is and has, without importing its package; and why a model is not understood."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["NotUnderstood", "attribute", "known"]

PREDICTS = ("predict_proba", "decision_function", "predict")


class NotUnderstood(Exception):
    """Why a model's structure is not read, as a clause."""


def attribute(obj: Any, name: str) -> Any:
    """An attribute, or None: some estimators raise errors of their own until they are fitted."""
    try:
        return getattr(obj, name, None)
    except Exception:
        return None


def known(obj: Any, table: Mapping[str, Any], methods: Sequence[str] = PREDICTS) -> Any:
    """What a table {"package.Class": ...} says of an object's class, or of the nearest class above it that is there.

    None if there is none, or if a class below it brings one of these methods of its own, which could do anything.
    """
    for kind in type(obj).__mro__:
        found = table.get(f"{kind.__module__.partition('.')[0]}.{kind.__name__}")
        if found is not None:
            return found
        if any(method in vars(kind) for method in methods):
            return None
    return None
