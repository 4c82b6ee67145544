"""Two samples, checked once: numbers in pairs, or a sentence that says what is wrong with them."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from dueto.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["LEAST", "Missing", "as_columns", "order", "paired", "refuse_constant", "settled"]

LEAST = 20  # points that a statement about dependence must have
Missing = Literal["refuse", "drop"]


def as_columns(values: Any, name: str) -> NDArray[np.float64]:
    """Numbers as an array of shape (n, d): a column, a table, or anything NumPy reads as one.

    Raises
    ------
    InputError
        If they are text, dates or complex, or no column.
    """
    if isinstance(values, np.ma.MaskedArray):
        values = np.ma.filled(values.astype(object), np.nan)
    try:
        found = np.asarray(values)
    except ValueError:
        raise InputError(f"the rows of {name} do not make a table; give each of them as many values") from None
    if found.ndim not in (1, 2) or (found.ndim == 2 and found.shape[1] == 0):
        raise InputError(f"{name} must be a column of numbers, (n,) or (n, d); it has the shape {found.shape}")
    if found.dtype.kind not in "bfiu":
        try:
            if found.dtype.kind not in "O":
                raise TypeError
            found = np.array([_number(v) for v in found.flat]).reshape(found.shape)
        except (TypeError, ValueError):
            row, value = next(((i, v) for i, v in enumerate(found.ravel()) if not _is_number(v)), (0, ""))
            raise InputError(
                f"{name} is not numeric (row {row // max(1, found[:1].size)} holds {str(value)!r}); give numbers, or "
                "encode its categories first"
            ) from None
    with np.errstate(over="ignore"):
        found = found.astype(np.float64)
    return found if found.ndim == 2 else found[:, None]


def _is_number(value: Any) -> bool:
    try:
        _number(value)
    except (TypeError, ValueError):
        return False
    return True


def _number(value: Any) -> float:
    from pandas import NA

    if value is None or value is NA:
        return np.nan
    if isinstance(value, str | bytes | complex):
        raise TypeError
    try:
        return float(value)
    except OverflowError:
        return np.inf


def paired(
    x: Any, y: Any, *, names: tuple[str, str] = ("x", "y"), missing: Missing = "refuse", least: int = LEAST
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Two samples of n pairs as arrays (n, p) and (n, q).

    Parameters
    ----------
    x, y : array-like of numbers, (n,) or (n, d)
        Row i of the one belongs to row i of the other.
    names : pair of str
        What to call them in a message.
    missing : "refuse" or "drop"
        What to do where either is missing or infinite: say so, or leave out the pair.
    least : int
        The fewest pairs.

    Raises
    ------
    InputError
        If a sample is not numeric, the lengths differ, values are missing, a column is constant, or too few are left.
    """
    if missing not in ("refuse", "drop"):
        raise InputError(f"missing must be 'refuse' or 'drop', got {missing!r}")
    indexes = [values.index for values in (x, y) if hasattr(values, "index") and hasattr(values, "reindex")]
    if len(indexes) == 2 and len(indexes[0]) == len(indexes[1]) and not indexes[0].equals(indexes[1]):
        raise InputError(
            f"{names[0]} and {names[1]} have different indexes; bring them into one order (x, y = x.align(y, "
            "join='inner')), or give x.to_numpy() and y.to_numpy() if row i of the one belongs to row i of the other"
        )
    samples = tuple(as_columns(values, name) for values, name in zip((x, y), names, strict=True))
    if len(samples[0]) != len(samples[1]):
        raise InputError(
            f"{names[0]} has {len(samples[0]):,} values and {names[1]} {len(samples[1]):,}; row i of the one must "
            "belong to row i of the other"
        )
    known = np.isfinite(np.hstack(samples)).all(axis=1)
    if missing == "refuse":
        for name, values in zip(names, samples, strict=True):
            bad = np.flatnonzero(~np.isfinite(values).all(axis=1))
            if len(bad):
                raise InputError(
                    f"{name} is missing or infinite in {len(bad):,} of {len(values):,} rows, first in row {bad[0]}; "
                    "mend them, or leave such rows out (missing='drop')"
                )
    left, right = (values[known] for values in samples)
    if len(left) < least:
        raise InputError(f"{len(left)} pairs of {names[0]} and {names[1]} are too few; at least {least} are needed")
    for name, values in zip(names, (left, right), strict=True):
        refuse_constant(values, name)
    return left, right


def refuse_constant(values: NDArray[np.float64], name: str, where: str = "") -> None:
    """Refuse a sample with a column of one value.

    Raises
    ------
    InputError
        If there is one.
    """
    if (values == values[0]).all(axis=0).any():
        raise InputError(f"{name} is constant{where}, so nothing can depend on it; choose a column that varies")


def order(x: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.intp]:
    """Rows sorted by x, then by y: what is drawn from them in this order does not depend on the order they came in."""
    return np.lexsort((*y.T[::-1], *x.T[::-1]))


def settled(seed: int, x: NDArray[np.float64], y: NDArray[np.float64]) -> np.random.Generator:
    """A generator for a sample in `order`: another for each seed, and for each pairing of the ranks.

    Among tied x the sorted y ascend. Draws that were the same for every sample, of folds say, would fall on the same
    places among them each time, and the pairing would not be one of n! alike.
    """
    ranks = [np.unique(column, return_inverse=True)[1] for column in (*x.T, *y.T)]
    return np.random.default_rng([seed, zlib.crc32(np.array(ranks, dtype=np.int64).tobytes())])
