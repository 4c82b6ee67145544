"""The table that an estimator is given, as a function of encoded rows, and the feature behind each of its columns."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from dueto.models.columns import Columns
from dueto.models.lookup import NotUnderstood
from dueto.models.tables import columns_behind, fitted_names

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from dueto.models.base import Model
    from dueto.space import FeatureSpace

__all__ = ["Inputs", "as_numbers"]

INEXACT = ("float16", "float32", "halffloat", "float[", "decimal")  # types that round what is encoded


@dataclass(frozen=True, eq=False)
class Inputs:
    """What stands before an estimator.

    Parameters
    ----------
    space : FeatureSpace
        What encoded rows mean.
    table : callable
        From encoded rows (N, n) to the table that the estimator is given.
    owner : (p,) intp
        The feature that each of the table's columns is a function of.
    monotone : (p,) int8
        1 where a column is a number that never falls as its feature's rises, -1 where it never rises, else 0.
    raw : Columns, optional
        The same columns as numbers, where no table need be made to have them.
    """

    space: FeatureSpace
    table: Callable[[NDArray[np.float64]], Any]
    owner: NDArray[np.intp]
    monotone: NDArray[np.int8]
    raw: Columns | None = None

    @classmethod
    def of(cls, obj: Any, model: Model) -> Inputs:
        """The raw columns that a fitted object takes, in the order of its fitting."""
        space = model.space
        names = fitted_names(obj, space)
        columns = space.columns if names is None else columns_behind(names, space, model.name)
        features = {column: j for j, feature in enumerate(space.features) for column in feature.columns}
        owner = np.array([features[c] for c in columns], dtype=np.intp)
        rising = np.array([not space.features[j].labels for j in owner], dtype=np.int8)
        exact = not any(rounding in str(dtype).lower() for dtype in space.dtypes for rounding in INEXACT)
        raw = Columns.raw(space) if exact else None
        if raw is not None and columns != space.columns:
            raw = raw.picked(np.array([space.columns.index(c) for c in columns], dtype=np.intp))
        return cls(space, model.table, owner, rising, raw)

    def columns(self, numbers: Callable[[Any], NDArray[np.float64]] | None = None) -> Columns:
        """The columns as numbers: by default what `numpy.asarray` makes of the table."""
        if numbers is None and self.raw is not None:
            return self.raw
        read = partial(_numbers, self.table, as_numbers if numbers is None else numbers)
        return Columns(self.space, self.owner, read, self.monotone)

    def then(self, transform: Callable[[Any], Any], owner: NDArray[np.intp], monotone: NDArray[np.int8]) -> Inputs:
        """The same after one more transformation of the table."""
        return Inputs(self.space, partial(_after, self.table, transform), owner, monotone)

    def picked(self, positions: Sequence[int]) -> Inputs:
        """The owners of some columns only, for a transformer that takes these; the table is not cut."""
        return Inputs(self.space, self.table, self.owner[list(positions)], self.monotone[list(positions)])


def as_numbers(table: Any) -> NDArray[np.float64]:
    """A table, sparse or not, as float64; missing is NaN."""
    if hasattr(table, "toarray"):
        table = table.toarray()
    if hasattr(table, "to_numpy"):
        pandas = type(table).__module__.startswith("pandas")
        table = table.to_numpy(dtype=np.float64, na_value=np.nan) if pandas else table.to_numpy()
    return np.asarray(table, dtype=np.float64)


def _numbers(table: Any, numbers: Any, X: NDArray[np.float64]) -> NDArray[np.float64]:
    given = table(X)
    try:
        return np.asarray(numbers(given))
    except (ValueError, TypeError):
        raise NotUnderstood("the estimator is given columns that are not numbers") from None


def _after(table: Any, transform: Any, X: NDArray[np.float64]) -> Any:
    return transform(table(X))
