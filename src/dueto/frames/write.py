"""Data frames out: encoded numbers and labels as columns of the types that the table had."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dueto.frames.read import plain

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping

    from numpy.typing import NDArray

    from dueto.frames.read import Flavour

__all__ = ["dtype_from_json", "dtype_to_json", "numbers", "pick", "pickings", "to_numpy", "write"]


def pickings(flavour: Flavour, labels: tuple[Any, ...], dtype: Any, *, nan: bool = False) -> Any:
    """Labels, and last a missing value, as a column of this type to `pick` from; a type that lists them is widened."""
    import pandas as pd

    table = np.empty(len(labels) + 1, dtype=object)
    table[:] = [*labels, np.nan if nan else None]
    if flavour == "polars":
        import polars as pl

        if isinstance(dtype, pl.Enum):
            dtype = pl.Enum(list(dict.fromkeys([*dtype.categories, *labels])))
        return pl.Series(table.tolist(), dtype=dtype)
    if flavour == "numpy" or isinstance(dtype, np.dtype):
        return table
    if isinstance(dtype, pd.CategoricalDtype):
        dtype = pd.CategoricalDtype(list(dict.fromkeys([*dtype.categories, *labels])), ordered=dtype.ordered)
    return pd.array(table, dtype=dtype)


def pick(table: Any, codes: NDArray[np.intp]) -> Any:
    """The rows of `pickings` with these codes."""
    return table.gather(codes) if type(table).__module__.startswith("polars") else table[codes]


def numbers(flavour: Flavour, values: NDArray[np.float64], dtype: Any, *, nan: bool) -> Any:
    """A copy of encoded numbers, to `write`: where the data said "missing" by None or null, not NaN, so does this."""
    if flavour == "polars" and nan:
        import polars as pl

        return pl.Series(values, dtype=dtype)
    column = values.copy()
    if flavour != "polars" and dtype == np.dtype(object) and not nan:
        column = column.astype(object)
        column[np.isnan(values)] = None
    return column


def write(flavour: Flavour, columns: Mapping[Hashable, Any], dtypes: Mapping[Hashable, Any]) -> Any:
    """Build a frame of the flavour; each column is float64, or `pick`ed labels with None for missing."""
    if flavour == "numpy":
        stacked = np.column_stack(list(columns.values()))
        return to_numpy(stacked, next(iter(dtypes.values())))
    if flavour == "polars":
        import polars as pl

        return pl.DataFrame({name: _to_polars(pl, values, dtypes[name]) for name, values in columns.items()})
    import pandas as pd

    return pd.DataFrame({name: _to_pandas(values, dtypes[name]) for name, values in columns.items()}, copy=False)


def to_numpy(values: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Cast to the type that the data had, unless that would change a value: a fraction, a missing one, a long text."""
    if dtype.kind in "UT":
        if any(v is None for v in values.flat):
            return values
        return values.astype(np.promote_types(dtype, values.astype(str).dtype) if dtype.kind == "U" else dtype)
    if values.dtype == dtype or dtype.kind not in "iub":
        return values.astype(dtype, copy=False)
    try:
        with np.errstate(invalid="ignore"):
            whole = values.astype(dtype)
    except (TypeError, ValueError, OverflowError):  # None, or too large
        return values.astype(np.float64)
    if np.array_equal(whole, values):
        return whole
    return values if dtype.kind == "b" else values.astype(np.float64)


def _to_pandas(values: Any, dtype: Any) -> Any:
    import pandas as pd

    if not isinstance(values, np.ndarray):
        return values
    if isinstance(dtype, np.dtype):
        values = to_numpy(values, dtype)
        return pd.Series(values, dtype=object) if values.dtype == object else values
    if isinstance(dtype, pd.CategoricalDtype):
        known = pd.Index(list(dtype.categories), dtype=object)
        return pd.Categorical.from_codes(known.get_indexer(pd.Index(values, dtype=object)), dtype=dtype)
    column = pd.array(values, dtype="Float64")
    return (
        column.astype(dtype)
        if dtype.kind not in "iu" or _fits(values, getattr(dtype, "numpy_dtype", dtype.type))
        else column
    )


def _to_polars(pl: Any, values: Any, dtype: Any) -> Any:
    if isinstance(values, pl.Series):
        return values
    column = pl.Series(values, nan_to_null=True)
    return column.cast(dtype) if not dtype.is_integer() or _fits(values, str(dtype).lower()) else column


def _fits(values: NDArray[np.float64], integer: Any) -> bool:
    """Whether all numbers, missing ones aside, are among those of a type of integers."""
    known, present = np.iinfo(integer), values[~np.isnan(values)]
    inside = (present >= known.min) & (present <= known.max) & (present == np.round(present))
    return bool(inside.all())


def dtype_to_json(dtype: Any) -> Any:
    """A column's type as plain data, for a saved space."""
    import pandas as pd

    if isinstance(dtype, pd.CategoricalDtype):
        return {"categories": [plain(v) for v in dtype.categories], "ordered": bool(dtype.ordered)}
    match type(dtype).__name__:  # polars has types with parameters
        case "Enum":
            return {"enum": list(dtype.categories)}
        case "Decimal":
            return {"decimal": [dtype.precision, dtype.scale]}
    return "T" if dtype == np.dtypes.StringDType() else str(dtype)  # the text that NumPy reads


def dtype_from_json(flavour: Flavour, saved: Any) -> Any:
    """The type that `dtype_to_json` wrote."""
    import pandas as pd

    if flavour == "polars":
        import polars as pl

        if isinstance(saved, dict):
            return pl.Enum(saved["enum"]) if "enum" in saved else pl.Decimal(*saved["decimal"])
        return getattr(pl, saved.partition("(")[0])
    if isinstance(saved, dict):
        return pd.CategoricalDtype(saved["categories"], ordered=saved["ordered"])
    return pd.api.types.pandas_dtype(saved)
