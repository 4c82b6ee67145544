"""The table that an estimator was fitted on, from encoded rows: named columns in its own order, or an array."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, Any

from dueto.errors import InputError, known, some
from dueto.frames import is_frame
from dueto.models.folding import innermost
from dueto.models.lookup import attribute
from dueto.models.raw import raw_columns, raw_matrix

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable

    import numpy as np
    from numpy.typing import NDArray

    from dueto.space import FeatureSpace

__all__ = ["columns_behind", "features_of", "fitted_names", "fitted_on", "table_for"]


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
    names = _names(obj)
    made_up = names == [f"feature_{i:04}" for i in range(len(names or ()))]  # interpret numbers columns without names
    if names is not None and not (made_up and not set(names) <= set(space.columns)):
        return names
    for own in ("feature_names_", "feature_name_"):  # CatBoost, LightGBM
        names = attribute(obj, own)
        if isinstance(names, list) and names and set(names) <= set(space.columns):
            return names
    return None


def _names(obj: Any) -> list[str] | None:
    """The columns that a fitted object, or all that is inside it, was fitted on."""
    found = (attribute(one, "feature_names_in_") for one in (obj, innermost(obj)))
    return next(([str(n) for n in names] for names in found if names is not None), None)


def features_of(obj: Any, frame: Any) -> Any:
    """The columns of a frame that a fitted object takes, in its order; the frame itself where it does not tell.

    LightGBM writes "_" for a blank in a name, and such a name is found.
    """
    names = _names(obj)
    if names is None or not is_frame(frame):
        return frame
    found = _behind(names, frame.columns)
    return frame if None in found else frame[found]


def fitted_on(obj: Any, columns: Iterable[Any]) -> list[Any]:
    """Which of these columns a fitted object says that it was fitted on; none where it does not tell."""
    return [column for column in _behind(_names(obj) or [], columns) if column is not None]


def columns_behind(names: list[str], space: FeatureSpace, model: str) -> tuple[Hashable, ...]:
    """The space's columns behind a model's names: by name, by name as ONNX writes it, or by position in an array."""
    if space.flavour == "numpy" and len(names) == len(space.columns):
        return space.columns
    found = _behind(names, space.columns)
    if None in found:
        absent = names[found.index(None)]
        others = [column for column in space.columns if column not in found]
        hint = known(absent, others, "besides the others, it has") if others else f"it has {some(space.columns)}"
        raise InputError(f"{model} was fitted on a column {absent!r}, which the data does not have; {hint}")
    return tuple(found)


def _behind(names: list[str], columns: Iterable[Any]) -> list[Any]:
    """For each name the column that is meant, or None: exactly, or as ONNX or LightGBM writes it, if that is unique."""
    exact = {str(c): c for c in columns}
    loose = {_simple(c): c for c in exact}
    unique = len(loose) == len(exact)
    return [exact[n] if n in exact else exact[loose[n]] if unique and n in loose else None for n in names]


def _simple(name: str) -> str:
    return re.sub(r"\W", "_", name, flags=re.ASCII)
