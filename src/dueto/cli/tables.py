"""Tables in files, read whole or refused with the line that is wrong."""

from __future__ import annotations

import csv
import re
from typing import IO, TYPE_CHECKING, NamedTuple

from dueto.cli import console
from dueto.errors import InputError, count, some
from dueto.sources.base import PACKED, ending
from dueto.sources.text import parts, readable

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    import pandas as pd

    from dueto.sources import Source
    from dueto.space import FeatureSpace

__all__ = ["AS_SEEN", "Kinds", "is_number", "kinds_declared", "kinds_in", "large_table", "read_table"]

SEPARATORS = {".csv": ",", ".tsv": "\t", ".txt": None, ".dat": None}  # None: blanks, and nothing but numbers
LARGE = 20_000_000  # values, from which on a table is not read into memory where only its encoded rows are needed
LARGE_TEXT = 150_000_000  # bytes of a file of text, compressed ones counted several times
PADDED = re.compile(r"\s*0\d+\s*")  # a number would lose its first zeros


class Kinds(NamedTuple):
    """Which columns of a file of text hold texts whatever they look like, and which hold numbers.

    `padded` says of the others whether one with a value such as 00017 holds texts. `names` are texts as they stand, of
    which NA and None are such as well.
    """

    texts: frozenset[str] = frozenset()
    numbers: frozenset[str] = frozenset()
    padded: bool = True
    names: frozenset[str] = frozenset()

    def with_names(self, column: str | None) -> Kinds:
        """The same, and this column names applicants."""
        return self if column is None else self._replace(texts=self.texts - {column}, names=frozenset({column}))


AS_SEEN = Kinds()


def kinds_declared(space_file: Path | None) -> Kinds:
    """What a file for --space says of columns: that their labels are texts, or that they are a kind of number."""
    from dueto.space import read_declarations

    features = {} if space_file is None else read_declarations(space_file).get("features", {})
    if not isinstance(features, dict):
        return AS_SEEN  # which is complained of where the space is made
    plain = {str(n): w for n, w in features.items() if isinstance(w, dict) and "columns" not in w}
    listed = {n for n, w in plain.items() if isinstance(w.get("values"), list)}
    texts = {n for n in listed if plain[n]["values"] and all(isinstance(v, str) for v in plain[n]["values"])}
    return Kinds(frozenset(texts), frozenset(n for n, w in plain.items() if w.get("kind") in ("integer", "float")))


def kinds_in(space: FeatureSpace) -> Kinds:
    """What the features of a space say of their columns."""
    plain = [f for f in space.features if f.tuples is None]
    texts = {str(f.columns[0]) for f in plain if f.labels and all(isinstance(label, str) for label in f.labels)}
    return Kinds(frozenset(texts), frozenset(str(f.columns[0]) for f in plain if not f.labelled))


def read_table(path: Path, kinds: Kinds = AS_SEEN, query: str | None = None) -> pd.DataFrame:
    """The table of a .csv, .tsv, .txt or .dat file (also .gz, .bz2 or .xz of it), of a .parquet, .arrow or .feather
    file, of a folder of Parquet files, of a DuckDB database, or of a `query` over one of these.

    A .txt or .dat file holds numbers between blanks. Its first line may be names; without them, the columns are called
    `column 0`, `column 1` and so on. Lines that begin with # are skipped.

    In a .csv or .tsv file, a column with a value such as 00017 is text, so that it keeps its zeros, unless `kinds` says
    that it holds numbers; and `kinds` may say that others are text.

    Raises
    ------
    InputError
        If the file is absent, of another kind, empty or damaged, has two columns of one name or a line too short or too
        long, or in a .txt or .dat file something that is no number; or if the package that reads it is missing.
    """
    from dueto.sources import open_table

    kind = _kind(path)
    if query is None and kind in SEPARATORS:
        return _text(path, SEPARATORS[kind], kinds)
    frame = open_table(path, query=query).frame()
    if not len(frame):
        raise InputError(f"{path if query is None else 'the query'} has no rows; a table has one for each applicant")
    return frame


def large_table(path: Path, kinds: Kinds = AS_SEEN, query: str | None = None) -> Source | None:
    """The table as a `Source`, to be read in parts, if it is large or a query's answer; None if it is not.

    Raises
    ------
    InputError
        As `read_table` does, as far as the file is looked at.
    """
    from dueto.sources import open_table
    from dueto.sources.arrow import ArrowSource
    from dueto.sources.text import TextSource

    kind = _kind(path)
    if query is None and kind in SEPARATORS:
        size = path.stat().st_size * (8 if path.suffix.lower() in PACKED else 1)
        if size < LARGE_TEXT or not (separator := SEPARATORS[kind]):
            return None
        with readable(path):
            padded = _check(path, separator) if kinds.padded else []
        names = open_table(path).columns
        kept = {names[j] for j in padded} - kinds.numbers - kinds.texts - kinds.names
        if kept:
            _note_padded(path, sorted(kept))
        return TextSource(path, separator, texts=kinds.texts | kept, names=kinds.names)
    source = open_table(path, query=query)
    small = isinstance(source, ArrowSource) and source.dataset.count_rows() * len(source.columns) < LARGE
    return None if small else source


def _kind(path: Path) -> str:
    """The ending that says how a file is read; a folder of Parquet files is as one."""
    from dueto.sources.arrow import FORMATS
    from dueto.sources.database import DATABASES

    if not path.exists():
        raise InputError(f"there is no file {path}")
    if path.is_dir():
        if not any(path.glob("**/*.parquet")):
            raise InputError(f"{path} is a folder; give a file, or a folder of Parquet files")
        return ".parquet"
    kind = ending(path)
    if kind not in (*FORMATS, *DATABASES, *SEPARATORS):
        raise InputError(
            f"{path} is not a kind of table that can be read; give .csv, .tsv, .txt, .dat (also .gz, .bz2 or .xz of "
            "it), .parquet, .arrow, .feather or .duckdb"
        )
    if path.stat().st_size == 0:
        raise InputError(f"{path} is empty; a table has a line of column names and a line for each row")
    return kind


def _text(path: Path, separator: str | None, kinds: Kinds) -> pd.DataFrame:
    import pandas as pd

    with readable(path):
        if separator is None:
            return _numbers(path)
        padded = _check(path, separator)

        def read(texts: Iterable[str]) -> pd.DataFrame:
            return next(parts(path, separator, names=kinds.names, dtype=dict.fromkeys(texts, str)))

        table = read(kinds.texts)
        names = [table.columns[j] for j in padded if kinds.padded]
        kept = [name for name in names if name not in kinds.numbers and pd.api.types.is_numeric_dtype(table[name])]
        if not kept:
            return table
        _note_padded(path, kept)
        return read(kinds.texts.union(kept))


def _note_padded(path: Path, kept: list[str]) -> None:
    has, is_ = ("has", "is") if len(kept) == 1 else ("have", "are")
    console.note(
        f"{some(kept)} of {path.name} {has} values that begin with 0, as in 00017, and so {is_} read as text; "
        'numbers are declared so by --space, with kind = "integer" or "float"'
    )


def _check(path: Path, separator: str) -> list[int]:
    """Refuse what pandas would mend in silence: lines of another length than the first, columns of one name.

    Gives the positions of the columns that have a value such as 00017.
    """
    with _open(path) as file:
        lines = csv.reader(file, delimiter=separator, strict=True)
        names = next((line for line in lines if line), [])
        if any("\0" in name for name in names):
            raise UnicodeError
        if len(names) == 1 and ";" in names[0]:
            raise InputError(f"{path} is separated by semicolons; save it with commas, and with points in its numbers")
        _refuse_twins(path, names)
        rows, padded = 0, set[int]()
        for line in filter(None, lines):
            rows += 1
            if len(line) != len(names):
                raise InputError(
                    f"{path}, line {lines.line_num}: {count(len(line), 'field')} for {count(len(names), 'column')}; "
                    "mend the line, or put quotes around a text that holds the separator"
                )
            padded |= {j for j, field in enumerate(line) if field[:1] in ("0", " ") and PADDED.fullmatch(field)}
        if not rows:
            raise InputError(f"{path} has no rows; a table has a line of column names and a line for each row")
    return sorted(padded)


def _refuse_twins(path: Path, names: list[str]) -> None:
    twins = {name for name in names if name and names.count(name) > 1}
    if twins:
        raise InputError(f"{path} has two columns named {sorted(twins)[0]!r}; rename one")


def _numbers(path: Path) -> pd.DataFrame:
    """Numbers between blanks, below a line of names or not."""
    import pandas as pd

    with _open(path) as file:
        lines = [(k, found) for k, line in enumerate(file, start=1) if (found := line.split()) and found[0][0] != "#"]
    number, first = lines[0] if lines else (1, [])
    named = not all(map(is_number, first))
    if any("\0" in name for name in first):
        raise UnicodeError
    if any(mark in name for name in first for mark in ",;"):
        raise InputError(
            f"{path}, line {number}: a .txt or .dat file has blanks between its numbers, and points in them; save one "
            "that has commas between them as .csv"
        )
    names = first if named else [f"column {j}" for j in range(len(first))]
    _refuse_twins(path, names)
    rows = lines[named:]
    if not rows:
        raise InputError(f"{path} has no rows; a table has a line for each")
    for number, row in rows:
        if len(row) != len(names):
            raise InputError(
                f"{path}, line {number}: {count(len(row), 'field')} for {count(len(names), 'column')}; mend the line"
            )
        wrong = next((field for field in row if not is_number(field)), None)
        if wrong is not None:
            raise InputError(f"{path}, line {number}: {wrong!r} is not a number; write a missing one as NaN")
    header = 0 if named else None
    return pd.read_csv(
        path, sep=r"\s+", header=header, names=names, comment="#", encoding="utf-8-sig", low_memory=False
    )


def is_number(field: str) -> bool:
    """Whether a field of a file is a number, or a missing one."""
    try:
        float(field)
    except ValueError:
        return field == "NA"
    return True


def _open(path: Path) -> IO[str]:
    import bz2
    import gzip
    import lzma

    openers = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
    opened: IO[str] = openers.get(path.suffix.lower(), open)(path, "rt", encoding="utf-8-sig", newline="")  # type: ignore[operator]
    return opened
