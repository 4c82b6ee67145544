"""Data frames in: from a table to one series a column, and from a series to numbers or positions among labels."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from dueto.errors import InputError
from dueto.sources import Source, as_source

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

__all__ = [
    "LARGEST",
    "LARGEST_INTEGER",
    "Flavour",
    "Table",
    "is_frame",
    "kind_of",
    "labels_of",
    "one_row",
    "outline",
    "plain",
    "read",
    "says_nan",
    "select",
    "to_codes",
    "to_numbers",
]

Flavour = Literal["pandas", "polars", "numpy"]
LARGEST_INTEGER = 2.0**53
LARGEST = 1e150  # of larger numbers, distances and their squares could overflow


@dataclass(frozen=True)
class Table:
    """Columns of a frame as pandas arrays by name, with the types they are to be written back with.

    Of a table that is condensed, a column holds its distinct values only, and `weights` says how often each occurs.
    Of a part of a table, `start` says how many rows are before it.
    """

    flavour: Flavour
    columns: dict[Hashable, pd.Series]
    dtypes: dict[Hashable, Any]
    nans: frozenset[Hashable] = frozenset()  # columns of objects, or of polars, that say "missing" by NaN, not None
    weights: Mapping[Hashable, NDArray[np.float64]] = field(default_factory=dict)
    start: int = 0

    @property
    def n_rows(self) -> int:
        return len(next(iter(self.columns.values()))) if self.columns else 0


def read(frame: Any, start: int = 0) -> Table:
    """Read a pandas or polars frame, or a two-dimensional array; what a `Source` is made of is read whole.

    Raises
    ------
    InputError
        If there are no rows, no columns or two columns of one name.
    TypeError
        If `frame` is none of those.
    """
    import pandas as pd

    frame = as_source(frame)
    frame = frame.frame() if isinstance(frame, Source) else frame
    if isinstance(frame, pd.DataFrame):
        flavour: Flavour = "pandas"
        names: list[Any] = list(frame.columns)
        _refuse_twins(names)
        columns = {name: frame[name] for name in names}
        dtypes = {name: frame[name].dtype for name in names}
        nans = [name for name in names if says_nan(frame[name])]
    elif is_frame(frame):
        flavour, names = "polars", list(frame.columns)
        columns = {name: _from_polars(frame[name]) for name in names}
        dtypes = dict(zip(names, frame.dtypes, strict=True))
        nans = [name for name in names if dtypes[name].is_float() and _only_nan(frame[name])]
    else:
        array = _as_array(frame)
        flavour, names = "numpy", list(range(array.shape[1]))
        columns = {j: pd.Series(array[:, j]).infer_objects() for j in names}
        dtypes = {j: array.dtype for j in names}
        nans = [j for j in names if says_nan(array[:, j])]
    if not names:
        raise InputError("the data has no columns; give a table with one column for each feature")
    table = Table(flavour, columns, dtypes, frozenset(nans), start=start)
    if table.n_rows == 0:
        raise InputError("the data has no rows; give at least one row for each value that a feature can take")
    return table


def outline(frame: Any) -> Table:
    """A table by its columns alone, where reading it whole can be put off."""
    import pandas as pd

    if isinstance(frame, Source):
        return Table("pandas", {column: pd.Series(dtype=object) for column in frame.columns}, {})
    return read(frame)


def is_frame(thing: Any) -> bool:
    """Whether it is a pandas or polars DataFrame, or a `Source`."""
    import pandas as pd

    kinds = ((kind.__module__.partition(".")[0], kind.__name__) for kind in type(thing).__mro__)
    return isinstance(thing, pd.DataFrame | Source) or ("polars", "DataFrame") in kinds


def _as_array(frame: Any) -> NDArray[Any]:
    """Anything two-dimensional as an array; rows of mixed values keep their types."""
    masked = isinstance(frame, np.ma.MaskedArray)
    try:
        array = np.asarray(frame)
        if array.dtype.kind in "US" and not isinstance(frame, np.ndarray):
            array = np.asarray(frame, dtype=object)
    except ValueError:
        raise InputError("the rows of the data do not make a table; give each of them as many values") from None
    if masked or array.ndim != 2 or array.dtype.names is not None:
        hint = "; fill what it masks, as in array.filled(numpy.nan)" if masked else ""
        raise TypeError(
            "expected a pandas or polars DataFrame or a two-dimensional array, "
            f"got {type(frame).__name__} of {array.ndim} dimension(s){hint}"
        )
    return array


def select(frame: Any, columns: Any) -> Any:
    """The named columns of a frame, where it has names and all of them; else the frame as it is."""
    named = columns is not None and is_frame(frame)
    return frame[list(columns)] if named and set(columns) <= set(frame.columns) else frame


def one_row(row: Any, columns: tuple[Hashable, ...]) -> Table:
    """Read a single row given as a mapping, a pandas Series or a sequence in the order of `columns`."""
    import pandas as pd

    if isinstance(row, Mapping | pd.Series):
        given = dict(row.items())
        absent = [name for name in columns if name not in given]
        if absent:
            raise InputError(
                f"the row has no value for column {absent[0]!r}; give every column, None where it is missing"
            )
        values = [given[name] for name in columns]
    elif isinstance(row, str | bytes | set | frozenset) or not np.iterable(row):
        raise TypeError(
            f"a row must be its number, a mapping, a Series, a sequence of values or a frame of one row, got {row!r}"
        )
    else:
        values = list(np.asarray(row, dtype=object).ravel())
        if len(values) != len(columns):
            raise InputError(
                f"the row has {len(values)} values, but the data has {len(columns)} columns; give one for each"
            )
    series = {
        name: pd.Series([value], dtype=object).infer_objects() for name, value in zip(columns, values, strict=True)
    }
    return Table("pandas", series, {name: s.dtype for name, s in series.items()})


def says_nan(values: Any) -> bool:
    """Whether a column of objects says "missing" by NaN, not None."""
    import pandas as pd

    missing = list(values[pd.isna(values)]) if values.dtype == np.dtype(object) else []
    return bool(missing) and isinstance(missing[0], float)


def _only_nan(series: Any) -> bool:
    """Whether a polars column says "missing" by NaN and never by null."""
    return bool(series.is_nan().any()) and series.null_count() == 0


def _refuse_twins(names: list[Any]) -> None:
    seen: set[Any] = set()
    for name in names:
        if name in seen:
            raise InputError(f"two columns are named {name!r}; rename one, since a feature is known by its name")
        seen.add(name)


def _from_polars(series: Any) -> pd.Series:
    import pandas as pd

    base = series.dtype.base_type().__name__
    if base in {"Categorical", "Enum"}:
        texts = series.cast(str).to_list()
        return pd.Series(pd.Categorical(texts, categories=list(series.dtype.categories) if base == "Enum" else None))
    if series.dtype.is_integer():
        present = series.fill_null(0).to_numpy()
        return pd.Series(
            pd.arrays.IntegerArray(present, series.is_null().to_numpy()) if series.null_count() else present
        )
    if series.dtype.is_float():
        return pd.Series(series.cast(float).to_numpy())
    return pd.Series(series.to_list(), dtype=object)


def kind_of(name: Hashable, series: pd.Series) -> Literal["integer", "float", "category", "ordinal"]:
    """The kind of feature that a column holds, or an `InputError` that says why it holds none."""
    import pandas as pd
    from pandas.api import types

    dtype = series.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        odd = [v for v in dtype.categories if not isinstance(plain(v), str | int | float)]
        if odd:
            raise InputError(
                f"column {name!r} has categories of type {type(odd[0]).__name__}, such as {odd[0]}; "
                "rename them as text: series.cat.rename_categories(str)"
            )
        return "ordinal" if dtype.ordered else "category"
    if types.is_bool_dtype(dtype):
        return "category"
    if types.is_integer_dtype(dtype):
        return "integer"
    if types.is_float_dtype(dtype):
        return "float"
    present = series.dropna()
    inner = types.infer_dtype(present, skipna=True)
    if inner.startswith(("date", "time", "period")):
        raise InputError(f"column {name!r} holds dates or times; turn it into a number, such as days before today")
    if inner in {"string", "boolean", "empty"}:
        return "category"
    if inner in {"integer", "floating", "mixed-integer-float", "decimal"}:
        return "integer" if inner == "integer" and len(present) == len(series) else "float"
    raise InputError(f"column {name!r} holds values of kind '{inner}'; make it all numbers or all text")


def to_numbers(name: Hashable, series: pd.Series, start: int = 0) -> NDArray[np.float64]:
    """A column as float64, missing as NaN; infinities and integers beyond 2**53 are refused.

    `start` says how many rows are before these, for the number of a row that is refused.
    """
    import pandas as pd

    try:
        numbers = np.asarray(
            pd.to_numeric(series, errors="raise").to_numpy(dtype=np.float64, na_value=np.nan),
            dtype=np.float64,
        )
    except (ValueError, TypeError):
        loose = pd.to_numeric(series, errors="coerce")
        bad = np.flatnonzero((loose.isna() & series.notna()).to_numpy())
        where = f", row {start + bad[0]}: {series.iloc[bad[0]]!r}" if len(bad) else ""
        raise InputError(
            f"column {name!r}{where} is not a number, as this feature's values are; correct it or declare a category"
        ) from None
    _refuse(np.isinf(numbers), name, start, "is infinite; replace it by a finite number or by a missing value")
    beyond = f"is beyond {LARGEST:g}; rescale the column, or say that it is missing"
    _refuse(np.abs(numbers) > LARGEST, name, start, beyond)
    if kind_of(name, series) == "integer":
        too_large = np.abs(numbers) >= LARGEST_INTEGER
        inexact = "is not below 2**53, from where on whole numbers are not exact; rescale the column"
        _refuse(too_large, name, start, inexact)
    return numbers + 0.0  # -0.0 becomes 0.0: equal values have equal bytes


def _refuse(bad: NDArray[np.bool_], name: Hashable, start: int, sentence: str) -> None:
    if bad.any():
        raise InputError(f"column {name!r}, row {start + int(np.argmax(bad))}: the value {sentence}")


def to_codes(series: pd.Series, labels: pd.Index[Any]) -> tuple[NDArray[np.float64], int]:
    """Positions in `labels` as float64, missing as NaN; and the first row whose value is unknown, or -1."""
    import pandas as pd

    codes, uniques = pd.factorize(series, use_na_sentinel=True)
    places = labels.get_indexer(pd.Index(np.asarray(uniques, dtype=object), dtype=object))
    table = np.append(np.where(places < 0, -1.0, places), np.nan)  # factorize gives -1 for missing: the last entry
    found = table[codes]
    unknown = np.flatnonzero(found == -1.0)
    return found, int(unknown[0]) if len(unknown) else -1


def labels_of(series: pd.Series) -> tuple[Any, ...]:
    """All labels of a column: the declared categories, both truth values, or the sorted distinct values."""
    import pandas as pd

    if isinstance(series.dtype, pd.CategoricalDtype):
        found = list(series.cat.categories)
    else:
        found = sorted(series.dropna().unique(), key=lambda v: (str(type(v)), v))
    labels = tuple(plain(v) for v in found)
    return (False, True) if labels in ((False,), (True,)) and isinstance(labels[0], bool) else labels


def plain(value: Any) -> Any:
    """A label without NumPy's clothes."""
    return value.item() if isinstance(value, np.generic) else value
