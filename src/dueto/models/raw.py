"""Raw columns as numbers: what a model over plain numbers sees of an encoded row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dueto.space import FeatureSpace

__all__ = ["RawColumn", "raw_columns", "raw_matrix"]


@dataclass(frozen=True, eq=False)
class RawColumn:
    """One raw column: its feature and, if that has labels, the column's number for each code and last for missing."""

    feature: int
    numbers: NDArray[np.float64] | None


def raw_columns(space: FeatureSpace) -> tuple[RawColumn, ...] | None:
    """The space's raw columns, in order; None if one of them holds labels that are not numbers.

    Booleans are the numbers 0 and 1.
    """
    found = {}
    for j, feature in enumerate(space.features):
        if not feature.labels:
            found[feature.columns[0]] = RawColumn(j, None)
            continue
        if feature.tuples is not None:
            numbers = feature.tuples
        elif all(isinstance(label, bool | int | float) for label in feature.labels):
            numbers = np.array(feature.labels, dtype=np.float64)[:, None]
        else:
            return None
        numbers = np.vstack([numbers, np.full(numbers.shape[1], np.nan)])
        found |= {c: RawColumn(j, numbers[:, k]) for k, c in enumerate(feature.columns)}
    return tuple(found[c] for c in space.columns)


def raw_matrix(columns: tuple[RawColumn, ...], X: NDArray[np.float64]) -> NDArray[np.float64]:
    """Encoded rows, shape (N, n), as raw numbers, shape (N, p); always a copy."""
    raw = np.empty((len(X), len(columns)))
    for k, column in enumerate(columns):
        x = X[:, column.feature]
        if column.numbers is None:
            raw[:, k] = x
        else:
            raw[:, k] = column.numbers[np.where(np.isnan(x), -1, x).astype(np.intp)]
    return raw
