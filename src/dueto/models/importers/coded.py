"""Tables with columns of categories, as boosting libraries read them: each label by its position in a list."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dueto.models.inputs import as_numbers

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

__all__ = ["coded"]


def coded(labels: Callable[[int, int], Sequence[Any] | None], table: Any) -> NDArray[np.float64]:
    """A table as float64, its pandas categories as positions in a list; missing, or not in the list, is NaN.

    `labels(place, rank)` is the list of the column at `place`, the rank-th categorical one; None keeps its own.
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
        column, wanted = table.iloc[:, k].array, labels(k, rank)
        own = np.arange(len(dtype.categories)) if wanted is None else pd.Index(wanted).get_indexer(dtype.categories)
        codes = np.append(np.where(own < 0, np.nan, own), np.nan)
        found[:, k] = codes[column.codes]
        rank += 1
    if plain:
        found[:, plain] = as_numbers(table.iloc[:, plain])
    return found
