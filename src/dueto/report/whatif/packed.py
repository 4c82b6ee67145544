"""Many numbers as one text, the shortest that gives each of them back: JSON would part them by two characters each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import ArrayLike, NDArray

__all__ = ["floats", "whole"]

SINGLE = "f "  # before numbers that are to be rounded to float32 when they are read


def floats(values: ArrayLike) -> str:
    """Numbers parted by blanks, `nan` for missing: each is read back to the last bit.

    Where all are float32, they are written with as few digits as tell these apart, after `f`, and to be rounded.

    >>> floats([0.1, 2.0, float("nan")]), floats(np.float32([0.1, 2.0]))
    ('0.1 2 nan', 'f 0.1 2')
    """
    found = np.asarray(values, dtype=np.float64).ravel()
    if (short := _single(found)) is not None:
        return SINGLE + " ".join(short)
    return " ".join(map(_text, found.tolist()))


def whole(values: Iterable[int]) -> str:
    """Whole numbers parted by blanks."""
    return " ".join(map(str, values))


def _single(values: NDArray[np.float64]) -> list[str] | None:
    """Texts of float32 numbers that a reader of float64 numbers rounds to these; None if there are none such."""
    with np.errstate(over="ignore"):
        near = values.astype(np.float32)
    if not len(values) or not (near == values).all() or (values == np.round(values)).all():
        return None
    texts = [_text(v) for v in map(str, near)]
    back = np.array([float(text) for text in texts]).astype(np.float32)
    return texts if bool((back == near).all()) else None


def _text(value: float | str) -> str:
    return str(value).removesuffix(".0")
