"""What an option may be: a whole number, or positive numbers to choose from."""

from __future__ import annotations

from typing import Any

import numpy as np

from dueto.errors import InputError

__all__ = ["positive", "time_limit", "whole"]


def whole(name: str, value: Any, least: int = 1, *, what: str = "") -> None:
    """Refuse what is no whole number from `least` on; `what` says what it is the number of.

    Raises
    ------
    InputError, TypeError
        If it is smaller; if it is no whole number.
    """
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise TypeError(f"{name} must be a whole number, got {value!r}")
    if value < least:
        raise InputError(f"{name}{what and f', {what},'} must be at least {least}, got {value}")


def time_limit(seconds: float) -> None:
    """Refuse a limit of time that is no number, or below nothing, or NaN."""
    if isinstance(seconds, bool) or not isinstance(seconds, int | float | np.number):
        raise InputError(f"seconds must be a number, got {seconds!r}")
    if not seconds >= 0:
        raise InputError(f"seconds must not be negative, got {seconds!r}")


def positive(name: str, values: Any) -> None:
    """Refuse what is not one or more positive numbers.

    Raises
    ------
    InputError
        If one of them is none, or there is none.
    """
    try:
        found = np.array(values, dtype=float)
    except (TypeError, ValueError):
        found = np.empty(0)
    if found.ndim != 1 or not len(found) or not (np.isfinite(found) & (found > 0)).all():
        raise InputError(f"{name} must be one or more positive numbers in a tuple, got {values!r}")
