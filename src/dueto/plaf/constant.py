"""The constants of a constraint: numbers, texts, truth values and missing."""

from __future__ import annotations

import math

import numpy as np

from dueto.errors import InputError

Constant = bool | int | float | str | None


def constant(value: object) -> Constant:
    """A plain Python constant; numpy's scalars lose their wrapping.

    Raises
    ------
    InputError
        For NaN and infinite numbers.
    TypeError
        For anything that is not a number, a text, a truth value or None.
    """
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return str.__str__(value)
    if not isinstance(value, int | float):
        raise TypeError(
            f"values of type {type(value).__name__} cannot stand in a constraint: "
            "constants are numbers, texts, True, False, and None for a missing value"
        )
    try:
        number = int(value) if isinstance(value, int) else float(value)
        finite = math.isfinite(number)
    except OverflowError:
        finite = False
    if not finite:
        if value != value:
            raise InputError("NaN equals nothing: write .missing(), as in cf.income.missing(), for a missing value")
        raise InputError("a constant must be a finite number (below 1.8e308): leave out a bound that is infinite")
    return number


def literal(value: Constant) -> str:
    """The text of a constant."""
    if value is None:
        return "missing"
    return quote(value) if isinstance(value, str) else repr(value)


def quote(text: str) -> str:
    r"""A text in double quotes, what cannot be printed escaped.

    Examples
    --------
    >>> print(quote('caf\u00e9 "x"\n'))
    "café \"x\"\n"
    """
    body = repr(text + '"')[1:-2]  # the added quote makes repr choose single ones
    return '"' + body.replace("\\'", "'").replace('"', '\\"') + '"'
