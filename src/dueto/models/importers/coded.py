"""Tables with columns of categories, as boosting libraries read them: each label by its position in a list."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dueto.models.inputs import as_numbers

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

__all__ = ["coded"]


def coded(codes: Callable[[int, int, Any], NDArray[Any]], table: Any) -> NDArray[np.float64]:
    """A table as float64, its pandas categories as positions in a list; missing, or not in the list (-1), is NaN.

    `codes(place, rank, categories)` are the positions of the categories of the column at `place`, the rank-th
    categorical one.
    """
    import pandas as pd

    if not isinstance(table, pd.DataFrame):
        return as_numbers(table)
    found = np.empty(table.shape)
    rank = 0
    plain = []
    for k, dtype in enumerate(table.dtypes):
        if not isinstance(dtype, pd.CategoricalDtype):
            plain.append(k)
            continue
        own = np.asarray(codes(k, rank, dtype.categories))
        found[:, k] = np.append(np.where(own < 0, np.nan, own), np.nan)[table.iloc[:, k].array.codes]
        rank += 1
    if plain:
        found[:, plain] = as_numbers(table.iloc[:, plain])
    return found
