"""Text made the categories that XGBoost or LightGBM was fitted on: a CSV file has no categories, and both want them.

Other libraries take text as it is, or look labels up by themselves.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from dueto.errors import InputError
from dueto.models.folding import innermost
from dueto.models.lookup import attribute
from dueto.models.tables import columns_behind, fitted_names, table_for

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    import numpy as np
    from numpy.typing import NDArray

    from dueto.feature import Feature
    from dueto.space import FeatureSpace

__all__ = ["given_table"]


def given_table(obj: Any, space: FeatureSpace, name: str) -> Callable[[NDArray[np.float64]], Any]:
    """How encoded rows become the table that an estimator was fitted on, with categories where it had them.

    Raises
    ------
    InputError
        If it was fitted on categories, and the data holds something else there that cannot be made these.
    """
    table = table_for(obj, space, name)
    inner = innermost(obj)
    find = FINDERS.get(type(inner).__module__.partition(".")[0])
    if find is None or space.flavour == "polars":
        return table
    names = fitted_names(obj, space)
    columns = space.columns if names is None else columns_behind(names, space, name)
    asked = [_Column(c, space) for c in columns]
    found = find(inner, asked, name)
    known = {k: [*labels, *(v for v in asked[k].feature.labels if v not in labels)] for k, labels in found.items()}
    return partial(_cast, known, table) if known else table


class _Column:
    """A column of the data: what it holds, as far as this matters."""

    def __init__(self, name: Hashable, space: FeatureSpace) -> None:
        import pandas as pd

        self.name = name
        self.feature: Feature = next(f for f in space.features if name in f.columns)
        self.categorical = isinstance(space.dtypes[space.columns.index(name)], pd.CategoricalDtype)
        self.text = not self.categorical and any(isinstance(label, str) for label in self.feature.labels)

    def refusal(self, model: str) -> InputError:
        return InputError(
            f"{model} was fitted on categories in column {self.name!r}, and the data has none there that could be "
            "taken for these; give that column as it was at fitting, by DataFrame.astype('category') or in a Parquet "
            "file (a CSV file keeps no categories)"
        )


def _lightgbm(estimator: Any, columns: list[_Column], name: str) -> dict[int, list[Any]]:
    """Lists of labels in the order of the columns that had them, whose names are not kept."""
    lists = attribute(attribute(estimator, "booster_") or estimator, "pandas_categorical") or []
    wanting = [k for k, column in enumerate(columns) if column.text or column.categorical]
    if len(wanting) != len(lists):
        odd = [column for column in columns if column.text]
        if not lists or not odd:  # LightGBM has its own word for categories where it had numbers
            return {}
        raise InputError(
            f"{name} was fitted on {len(lists)} columns of categories, and the data has {len(wanting)} of text or "
            "categories; give these columns as they were at fitting, by DataFrame.astype('category') or in a Parquet "
            "file (a CSV file keeps no categories)"
        )
    found = {}
    for k, labels in zip(wanting, lists, strict=True):
        if columns[k].text:
            if not set(labels) & set(columns[k].feature.labels):
                raise columns[k].refusal(name)
            found[k] = list(labels)
    return found


def _xgboost(estimator: Any, columns: list[_Column], name: str) -> dict[int, list[Any]]:
    """Lists of labels by position, where the version keeps them."""
    booster = estimator.get_booster() if hasattr(estimator, "get_booster") else estimator
    kinds = attribute(booster, "feature_types") or []
    asked = [k for k, kind in enumerate(kinds) if kind == "c" and not columns[k].categorical]
    if not asked:
        return {}
    from dueto.models.importers.xgboost import fitted_labels, labels_in

    kept = fitted_labels(booster)
    found = {}
    for k in asked:
        labels = labels_in(kept[k], columns[k].feature.labels) if kept and columns[k].text else None
        if labels is None:
            raise columns[k].refusal(name)
        found[k] = labels
    return found


FINDERS = {"lightgbm": _lightgbm, "xgboost": _xgboost}


def _cast(known: dict[int, list[Any]], table: Callable[[NDArray[np.float64]], Any], X: NDArray[np.float64]) -> Any:
    """The table with these columns as categories; labels that the model never saw come last."""
    import pandas as pd

    given = table(X)
    columns = {name: given.iloc[:, k].array for k, name in enumerate(given.columns)}
    for k, labels in known.items():
        columns[given.columns[k]] = pd.Categorical(columns[given.columns[k]], categories=labels)
    return pd.DataFrame(columns, copy=False)
