"""DuckDB: a relation in Python, a query over a database or over files on the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dueto.errors import InputError, known, some
from dueto.sources.arrow import opened_reader
from dueto.sources.base import BATCH, Source

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import pandas as pd

__all__ = ["DATABASES", "RelationSource", "queried"]

DATABASES = (".duckdb", ".ddb", ".db")
FILES = {".csv": "read_csv", ".tsv": "read_csv", ".parquet": "read_parquet"}


class RelationSource(Source):
    """A DuckDB relation. Its query is run once, with the columns that are wanted; the rows wait in a temporary file.

    Parameters
    ----------
    relation : duckdb.DuckDBPyRelation
        A table or a query.
    name : str
        What messages call it.
    batch : int
        Rows read at a time.
    connection : optional
        Something to hold on to as long as the relation is needed.
    """

    def __init__(self, relation: Any, name: str = "the query", *, batch: int = BATCH, connection: Any = None) -> None:
        super().__init__(name, list(relation.columns), batch=batch)
        self.relation, self.connection = relation, connection
        self._ran: dict[tuple[str, ...], Source] = {}  # shared by all that are made of this one

    def batches(self) -> Iterator[pd.DataFrame]:
        """As `Source.batches`."""
        wider = (found for found in self._ran.values() if set(self.columns) <= set(found.columns))
        found = next(wider, None)
        if found is None:
            found = self._ran[tuple(self.columns)] = self._run()
        yield from found[self.columns].batches()

    def _run(self) -> Source:
        try:
            chosen = self.relation.project(", ".join(map(_quoted, self.columns)))
            reader = chosen.to_arrow_reader if hasattr(chosen, "to_arrow_reader") else chosen.fetch_record_batch
            return opened_reader(self.name, reader(self.batch), batch=self.batch)
        except InputError:
            raise
        except Exception as problem:
            raise failed(self.name, problem) from None


def queried(path: Path, query: str | None, *, batch: int = BATCH) -> RelationSource:
    """A query over a DuckDB database, or over a file, which it calls `data`; without one, the database's only table.

    Raises
    ------
    InputError
        If the query fails, or names no table where there are several; if duckdb is not installed.
    """
    try:
        import duckdb
        import pyarrow  # noqa: F401
    except ImportError as problem:
        raise InputError(f"{path} needs the package {problem.name}; run: pip install duckdb pyarrow") from None
    suffix = next((s for s in map(str.lower, reversed(path.suffixes)) if s not in (".gz", ".zst")), "")
    try:
        if suffix in DATABASES:
            connection = duckdb.connect(str(path), read_only=True)
            query = query or _only_table(path, connection)
        elif suffix in FILES:
            connection = duckdb.connect()
            file = str(path).replace("'", "''")
            connection.execute(f"CREATE VIEW data AS SELECT * FROM {FILES[suffix]}('{file}')")
        else:
            raise InputError(f"{path} cannot be queried; give a DuckDB database ({some(DATABASES)}), .parquet or .csv")
        relation = connection.sql(query or "FROM data")
    except duckdb.Error as problem:
        raise failed(str(path) if query is None else "the query", problem) from None
    if relation is None:
        raise InputError("the query gives no table; write a SELECT")
    return RelationSource(relation, f"the query of {path.name}", batch=batch, connection=connection)


def failed(name: str, problem: Exception) -> InputError:
    """What DuckDB complains of, in one line."""
    return InputError(f"{name} cannot be answered by DuckDB: {' '.join(str(problem).split())[:300]}")


def _only_table(path: Path, connection: Any) -> str:
    names = [row[0] for row in connection.sql("SELECT table_name FROM information_schema.tables ORDER BY 1").fetchall()]
    if not names:
        raise InputError(f"{path} has no tables; write some, or give another file")
    if len(names) > 1:
        raise InputError(f"{path} has several tables; {known('', names, 'they are')}; say which by --query 'FROM name'")
    return f"SELECT * FROM {_quoted(names[0])}"


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
