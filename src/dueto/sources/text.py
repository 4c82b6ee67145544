"""Large CSV files, a batch at a time, each column of the type that it has when the file is read whole."""

from __future__ import annotations

import csv
import zlib
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

from dueto.errors import InputError
from dueto.sources.base import BATCH, Source

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    import pandas as pd

__all__ = ["TextSource", "parts", "readable"]


class TextSource(Source):
    """A .csv or .tsv file, compressed or not.

    The file is read once more than other sources are: what type a column has is known when all of it was seen.

    Parameters
    ----------
    path : Path
        The file, in UTF-8.
    separator : str
        What stands between the fields.
    texts : iterable of str
        Columns that hold texts whatever they look like.
    names : iterable of str
        Columns of texts as they stand: none is missing, NA is one and so is that of an empty field.
    batch : int
        Rows read at a time.
    """

    def __init__(
        self,
        path: Path,
        separator: str = ",",
        *,
        texts: Iterable[str] = (),
        names: Iterable[str] = (),
        batch: int = BATCH,
    ) -> None:
        self.path, self.separator, self._names = path, separator, list(names)
        if path.stat().st_size == 0:
            raise InputError(f"{path} is empty; a table has a line of column names and a line for each row")
        first = next(self._read(nrows=1, header=None, dtype=str)).iloc[0].dropna()
        self._all = list(next(self._read(nrows=0)).columns)  # two columns of one name are told apart here
        super().__init__(str(path), list(first) if first.duplicated().any() else self._all, batch=batch)
        self._texts = [column for column in texts if column in self.columns]
        self._known: list[dict[str, Any]] = []  # the types, once known; shared by all that have fewer columns

    def batches(self) -> Iterator[pd.DataFrame]:
        """As `Source.batches`."""
        if not self._known:
            self._known.append(self._types())
        dtypes = {c: t for c, t in self._known[0].items() if c in self.columns and c not in self._names}
        for part in self._read(chunksize=self.batch, usecols=self._places(self.columns), dtype=dtypes):
            yield part[self.columns]

    def _types(self) -> dict[str, Any]:
        """What a column's parts are together, where they differ: numbers with a fraction or a gap somewhere, texts."""
        kinds: dict[str, set[str]] = {column: set() for column in self._all}
        for part in self._read(chunksize=self.batch, dtype=dict.fromkeys(self._texts, str)):
            for column in self._all:
                kinds[column].add(_kind(part[column]))
        found: dict[str, Any] = dict.fromkeys(self._texts, str)
        for column, seen in kinds.items():
            some = seen - {"gaps"}
            if "text" in some or len(some - {"integer", "float"}) + bool(some & {"integer", "float"}) > 1:
                found[column] = str
            elif some and some <= {"integer", "float"} and seen != {"integer"}:
                found[column] = float
        return found

    def _places(self, columns: Iterable[str]) -> list[int]:
        return [self._all.index(column) for column in columns]

    def _read(self, **options: Any) -> Iterator[pd.DataFrame]:
        with readable(self.path):
            yield from parts(self.path, self.separator, names=self._names, **options)


def parts(path: Path, separator: str, *, names: Iterable[str] = (), **options: Any) -> Iterator[pd.DataFrame]:
    """A file as `pandas.read_csv` reads it, in one part or, with `chunksize`, in several.

    The columns `names` hold texts as they stand: NA is one, and so is that of an empty field.
    """
    import pandas as pd

    common: dict[str, Any] = {"sep": separator, "encoding": "utf-8-sig", "low_memory": False}
    found = pd.read_csv(path, converters=dict.fromkeys(names, "_{}".format), **common, **options)  # _NA is not missing
    with nullcontext([found]) if isinstance(found, pd.DataFrame) else found as read:
        for part in read:
            for name in part.columns.intersection(list(names)):
                part[name] = part[name].str[1:]
            yield part


@contextmanager
def readable(path: Path) -> Iterator[None]:
    """What may go wrong with a file of text, in a sentence."""
    import lzma

    try:
        yield
    except InputError:
        raise
    except UnicodeError:
        raise InputError(f"{path} is not text in UTF-8; save the table as CSV in UTF-8") from None
    except (OSError, EOFError, ValueError, csv.Error, zlib.error, lzma.LZMAError) as problem:
        text = " ".join(str(getattr(problem, "strerror", None) or problem).split())
        raise InputError(f"{path} cannot be read as a table: {text}") from None


def _kind(series: pd.Series) -> str:
    from pandas.api import types

    if types.is_bool_dtype(series.dtype):
        return "truth"
    if types.is_integer_dtype(series.dtype):
        return "integer"
    if types.is_float_dtype(series.dtype):
        return "gaps" if series.isna().all() else "float"
    return "truth" if types.infer_dtype(series, skipna=True) == "boolean" else "text"
