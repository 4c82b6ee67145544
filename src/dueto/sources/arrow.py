"""Parquet, Arrow and Feather files, folders of them, and Arrow tables: columns and row groups that are not needed stay
unread."""

from __future__ import annotations

import json
from pathlib import Path
from shutil import rmtree
from typing import TYPE_CHECKING, Any
from weakref import finalize

from dueto.errors import InputError
from dueto.sources.base import BATCH, Source

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd

__all__ = ["FORMATS", "ArrowSource", "opened_reader", "opened_table"]

FORMATS = {".parquet": "parquet", ".arrow": "ipc", ".feather": "ipc", ".ipc": "ipc"}
WORDS = {"parquet": "a Parquet file", "ipc": "an Arrow file"}


class ArrowSource(Source):
    """A pyarrow dataset as a source.

    Parameters
    ----------
    name : str
        What messages call it.
    dataset : pyarrow.dataset.Dataset
        The files, or a table in memory.
    filters : list of (column, operator, value), optional
        Which rows are read, as in `pandas.read_parquet`: row groups without such a row are skipped.
    """

    def __init__(self, name: str, dataset: Any, *, filters: Any = None, batch: int = BATCH) -> None:
        metadata = dict(dataset.schema.metadata or {})
        known = json.loads(metadata[b"pandas"]) if b"pandas" in metadata else None
        index = [] if known is None else [c for c in known["index_columns"] if isinstance(c, str)]
        if known is not None:
            metadata[b"pandas"] = json.dumps(known | {"index_columns": []}).encode()
        super().__init__(name, [c for c in dataset.schema.names if c not in index], batch=batch)
        self.dataset, self.metadata = dataset, metadata
        self.filter = None if filters is None else _expression(name, filters, self.columns)

    def batches(self) -> Iterator[pd.DataFrame]:
        """As `Source.batches`."""
        import pyarrow as pa
        import pyarrow.dataset as ds

        self._refuse_nested()
        options: dict[str, Any] = {"columns": self.columns, "filter": self.filter, "batch_size": self.batch}
        options |= {"batch_readahead": 2, "fragment_readahead": 1}
        if isinstance(getattr(self.dataset, "format", None), ds.ParquetFileFormat):
            options["fragment_scan_options"] = ds.ParquetFragmentScanOptions(pre_buffer=False)
        try:
            for batch in self.dataset.scanner(**options).to_batches():
                if batch.num_rows:
                    table = _without_decimals(pa.Table.from_batches([batch]))
                    yield table.replace_schema_metadata(self.metadata).to_pandas(split_blocks=True)
        except (pa.ArrowException, OSError, ValueError) as problem:
            raise _unreadable(self.name, problem) from None

    def frame(self) -> pd.DataFrame:
        """As `Source.frame`: the files read at once."""
        import pyarrow as pa

        self._refuse_nested()
        try:
            table = _without_decimals(self.dataset.to_table(columns=self.columns, filter=self.filter))
            found: pd.DataFrame = table.replace_schema_metadata(self.metadata).to_pandas()
        except (pa.ArrowException, OSError, ValueError) as problem:
            raise _unreadable(self.name, problem) from None
        return found

    def _refuse_nested(self) -> None:
        import pyarrow as pa

        for column in self.columns:
            kind = self.dataset.schema.field(column).type
            if pa.types.is_nested(kind):
                raise InputError(
                    f"column {column!r} of {self.name} holds {kind}, several values a row; make a column of each, or "
                    "leave it out"
                )


def opened_table(path: Path, kind: str, *, filters: Any = None, batch: int = BATCH) -> ArrowSource:
    """A file, or a folder of files, of a kind of `FORMATS`."""
    try:
        import pyarrow as pa
        import pyarrow.dataset as ds
    except ImportError:
        raise InputError(f"{path} needs the package pyarrow; run: pip install pyarrow") from None
    try:
        dataset = ds.dataset(path, format=kind)
        if path.is_dir() and not dataset.files:
            raise InputError(f"{path} has no files; give a folder of Parquet files, or a file")
    except (pa.ArrowException, OSError, ValueError) as problem:
        if isinstance(problem, InputError):
            raise
        if "duplicate field names" in str(problem):
            raise InputError(f"{path} has two columns of one name; rename one") from None
        raise _unreadable(str(path), problem, WORDS[kind]) from None
    return ArrowSource(str(path), dataset, filters=filters, batch=batch)


def opened_reader(name: str, reader: Any, *, batch: int = BATCH) -> ArrowSource:
    """What a reader gives, written once to a temporary file, since it can be read only once and is read twice."""
    from tempfile import mkdtemp

    import pyarrow as pa
    import pyarrow.dataset as ds

    folder = Path(mkdtemp(prefix="dueto-"))
    path = folder / "rows.arrow"
    options = pa.ipc.IpcWriteOptions(compression="lz4", unify_dictionaries=False)
    schema = pa.schema([_plain_field(field) for field in reader.schema], metadata=reader.schema.metadata)
    try:
        with pa.ipc.new_file(path, schema, options=options) as file:
            for part in reader:
                file.write_table(_without_decimals(pa.Table.from_batches([part])).cast(schema))
    except Exception as problem:  # the reader is somebody's
        rmtree(folder, ignore_errors=True)
        raise _unreadable(name, problem) from None
    dataset = ds.dataset(path, format="ipc")
    finalize(dataset, rmtree, folder, ignore_errors=True)
    return ArrowSource(name, dataset, batch=batch)


def _plain_field(field: Any) -> Any:
    """Categories of a reader may differ from batch to batch, which a file cannot hold: they are kept as texts."""
    import pyarrow as pa

    kind = field.type
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    return pa.field(field.name, pa.float64() if pa.types.is_decimal(kind) else kind)


def _without_decimals(table: Any) -> Any:
    """Decimals as float64, as they are encoded anyway: as objects they are slow, and few models take them."""
    import pyarrow as pa

    for j, field in enumerate(table.schema):
        if pa.types.is_decimal(field.type):
            table = table.set_column(j, field.name, table.column(j).cast(pa.float64()))
    return table


def _expression(name: str, filters: Any, columns: list[str]) -> Any:
    import pyarrow.parquet as pq

    try:
        return pq.filters_to_expression(filters)
    except (ValueError, TypeError, IndexError) as problem:
        raise InputError(
            f"filters {filters!r} of {name} cannot be read ({problem}); give a list such as [({columns[0]!r}, '>', 0)]"
        ) from None


def _unreadable(name: str, problem: Exception, kind: str = "a table") -> InputError:
    return InputError(f"{name} cannot be read as {kind}: {' '.join(str(problem).split())[:300]}")
