"""Tables outside memory: files, folders, queries and Arrow's own, read a batch at a time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dueto.errors import InputError
from dueto.sources.base import BATCH, Source, ending

__all__ = ["BATCH", "Source", "as_source", "open_table"]

SEPARATORS = {".csv": ",", ".tsv": "\t"}


def open_table(
    path: str | Path, *, query: str | None = None, filters: Any = None, texts: Any = (), batch: int = BATCH
) -> Source:
    """A table that is read a batch at a time, for data larger than memory.

    Parameters
    ----------
    path : path
        A .parquet, .arrow or .feather file, or a folder of Parquet files; a .csv or .tsv file (also .gz, .bz2 or .xz of
        it); or a DuckDB database (.duckdb, .ddb or .db).
    query : str, optional
        SQL over the database, or over the file, which it calls `data`; DuckDB runs it.
    filters : list of (column, operator, value), optional
        For Parquet and Arrow, which rows are read, as in `pandas.read_parquet`: row groups without such rows stay
        unread.
    texts : iterable of str
        For CSV, the columns that hold texts whatever they look like.
    batch : int
        Rows read at a time.

    Returns
    -------
    Source
        Give it to `explain`, `Explainer` or `FeatureSpace.infer` as the data.

    Raises
    ------
    InputError
        If the file is absent or of another kind, cannot be read or has two columns of one name; if the query fails; if
        the package that reads it is not installed.
    """
    path = Path(path)
    if not path.exists():
        raise InputError(f"there is no file {path}")
    kind = ending(path)
    from dueto.sources.arrow import FORMATS, opened_table
    from dueto.sources.database import DATABASES, queried
    from dueto.sources.text import TextSource

    if filters is not None and not (path.is_dir() or kind in FORMATS):
        raise InputError(f"{path}: filters are for Parquet and Arrow files; give a query, or filter the table before")
    if query is not None or (kind in DATABASES and not path.is_dir()):
        return queried(path, query, batch=batch)
    if path.is_dir() or kind in FORMATS:
        return opened_table(path, FORMATS.get(kind, "parquet"), filters=filters, batch=batch)
    if kind in SEPARATORS:
        return TextSource(path, SEPARATORS[kind], texts=texts, batch=batch)
    raise InputError(
        f"{path} is not a kind of table that can be streamed; give .parquet, .arrow, .feather, .csv, .tsv (also .gz, "
        ".bz2 or .xz of it) or .duckdb"
    )


def as_source(data: Any) -> Any:
    """A path, an Arrow table, dataset or reader, or a DuckDB relation as a `Source`; anything else as it is."""
    if isinstance(data, Path):
        return open_table(data)
    kinds = {(kind.__module__.partition(".")[0], kind.__name__) for kind in type(data).__mro__}
    if kinds & {("duckdb", "DuckDBPyRelation"), ("_duckdb", "DuckDBPyRelation")}:
        from dueto.sources.database import RelationSource

        return RelationSource(data)
    if kinds & {("pyarrow", name) for name in ("Table", "RecordBatch", "RecordBatchReader", "Dataset")}:
        return _of_arrow(data, {name for _, name in kinds})
    return data


def _of_arrow(data: Any, names: set[str]) -> Source:
    from dueto.sources.arrow import ArrowSource, opened_reader

    if "RecordBatchReader" in names:
        return opened_reader("the reader", data)
    if "Dataset" in names:
        return ArrowSource("the dataset", data)
    import pyarrow as pa
    import pyarrow.dataset as ds

    table = pa.Table.from_batches([data]) if "RecordBatch" in names else data
    return ArrowSource("the Arrow table", ds.dataset(table))
