"""The table that an estimator was fitted on, from encoded rows: named columns in its own order, or an array."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, Any

from dueto.errors import InputError, some
from dueto.models.raw import raw_columns, raw_matrix

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    import numpy as np
    from numpy.typing import NDArray

    from dueto.space import FeatureSpace

__all__ = ["attribute", "columns_behind", "fitted_names", "table_for"]


def attribute(obj: Any, name: str) -> Any:
    """An attribute, or None: some estimators raise errors of their own until they are fitted."""
    try:
        return getattr(obj, name, None)
    except Exception:
        return None


def table_for(obj: Any, space: FeatureSpace, name: str) -> Callable[[NDArray[np.float64]], Any]:
    """How encoded rows become the table that an estimator was fitted on: named columns in its order, or an array."""
    names = fitted_names(obj, space)
    if names is not None:
        columns = columns_behind(names, space, name)
        as_given = space.flavour != "numpy" and list(columns) == names and columns == space.columns
        return space.decode if as_given else partial(_frame, space, columns, names)
    width = attribute(obj, "n_features_in_")
    if width is None:
        return space.decode
    if width != len(space.columns):
        raise InputError(
            f"{name} was fitted on {width} columns, but the data has {len(space.columns)}; "
            "give the table it was fitted on, without the target"
        )
    if space.flavour == "numpy":
        return space.decode
    raw = raw_columns(space)
    return partial(_array, space) if raw is None else partial(raw_matrix, raw)


def _array(space: FeatureSpace, X: NDArray[np.float64]) -> Any:
    return space.decode(X).to_numpy()


def _frame(space: FeatureSpace, columns: tuple[Hashable, ...], names: list[str], X: NDArray[np.float64]) -> Any:
    table = space.decode(X)
    if space.flavour == "polars":
        return table.select(columns).rename(dict(zip(columns, names, strict=True)))
    if space.flavour == "numpy":
        import pandas as pd

        table = pd.DataFrame(table, columns=list(space.columns)).infer_objects()
    return table[list(columns)].set_axis(names, axis=1)


def fitted_names(obj: Any, space: FeatureSpace) -> list[str] | None:
    names = attribute(obj, "feature_names_in_")
    if names is not None:
        return [str(n) for n in names]
    for own in ("feature_names_", "feature_name_"):  # CatBoost, LightGBM
        names = attribute(obj, own)
        if isinstance(names, list) and names and set(names) <= set(space.columns):
            return names
    return None


def columns_behind(names: list[str], space: FeatureSpace, model: str) -> tuple[Hashable, ...]:
    """The space's columns behind a model's names: by name, by name as ONNX writes it, or by position in an array."""
    if space.flavour == "numpy" and len(names) == len(space.columns):
        return space.columns
    exact = {str(c): c for c in space.columns}
    loose = {_simple(c): c for c in exact}
    absent = [n for n in names if n not in exact and (n not in loose or len(loose) < len(exact))]
    if absent:
        raise InputError(
            f"{model} was fitted on a column {absent[0]!r}, which the data does not have; it has {some(space.columns)}"
        )
    return tuple(exact[n] if n in exact else exact[loose[n]] for n in names)


def _simple(name: str) -> str:
    return re.sub(r"\W", "_", name, flags=re.ASCII)
