"""Tables in files, read whole or refused with the line that is wrong."""

from __future__ import annotations

import csv
import zlib
from typing import IO, TYPE_CHECKING

from dueto.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

__all__ = ["is_number", "read_table"]

SEPARATORS = {".csv": ",", ".tsv": "\t", ".txt": None, ".dat": None}  # None: blanks, and nothing but numbers
PACKED = (".gz", ".bz2", ".xz")


def read_table(path: Path) -> pd.DataFrame:
    """The table of a .csv, .tsv, .txt or .dat file (also .gz, .bz2 or .xz of it), or of a .parquet file.

    A .txt or .dat file holds numbers between blanks. Its first line may be names; without them, the columns are called
    `column 0`, `column 1` and so on. Lines that begin with # are skipped.

    Raises
    ------
    InputError
        If the file is absent, of another kind, empty or damaged, has two columns of one name or a line too short or too
        long, or in a .txt or .dat file something that is no number; or if the package that reads it is missing.
    """
    if not path.exists():
        raise InputError(f"there is no file {path}")
    if path.is_dir():
        raise InputError(f"{path} is a folder; give a file")
    suffixes = [s.lower() for s in path.suffixes]
    plain = suffixes[-2:-1] if suffixes[-1:] and suffixes[-1] in PACKED else suffixes[-1:]
    if plain == [".parquet"] or (plain and plain[0] in SEPARATORS):
        if path.stat().st_size == 0:
            raise InputError(f"{path} is empty; a table has a line of column names and a line for each row")
        return _parquet(path) if plain == [".parquet"] else _text(path, SEPARATORS[plain[0]])
    raise InputError(
        f"{path} is not a kind of table that can be read; give .csv, .tsv, .txt, .dat (also .gz, .bz2 or .xz of it) or "
        ".parquet"
    )


def _text(path: Path, separator: str | None) -> pd.DataFrame:
    import lzma

    import pandas as pd

    try:
        if separator is None:
            return _numbers(path)
        _check(path, separator)
        return pd.read_csv(path, sep=separator, encoding="utf-8-sig", low_memory=False)
    except InputError:
        raise
    except UnicodeError:
        raise InputError(f"{path} is not text in UTF-8; save the table as CSV in UTF-8") from None
    except (OSError, EOFError, ValueError, csv.Error, zlib.error, lzma.LZMAError) as problem:
        text = " ".join(str(getattr(problem, "strerror", None) or problem).split())
        raise InputError(f"{path} cannot be read as a table: {text}") from None


def _check(path: Path, separator: str) -> None:
    """Refuse what pandas would mend in silence: lines of another length than the first, columns of one name."""
    with _open(path) as file:
        lines = csv.reader(file, delimiter=separator, strict=True)
        names = next((line for line in lines if line), [])
        if any("\0" in name for name in names):
            raise UnicodeError
        if len(names) == 1 and ";" in names[0]:
            raise InputError(f"{path} is separated by semicolons; save it with commas, and with points in its numbers")
        _refuse_twins(path, names)
        rows = 0
        for line in filter(None, lines):
            rows += 1
            if len(line) != len(names):
                raise InputError(
                    f"{path}, line {lines.line_num}: {len(line)} fields, but there are {len(names)} columns; "
                    "mend the line, or put quotes around a text that holds the separator"
                )
        if not rows:
            raise InputError(f"{path} has no rows; a table has a line of column names and a line for each row")


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
                f"{path}, line {number}: {len(row)} fields, but there are {len(names)} columns; mend the line"
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


def _parquet(path: Path) -> pd.DataFrame:
    import pandas as pd

    try:
        return pd.read_parquet(path)
    except ImportError:
        raise InputError(f'{path} needs the package pyarrow; run: pip install "dueto[parquet]"') from None
    except Exception as problem:
        raise InputError(
            f"{path} cannot be read as a Parquet file: {' '.join(str(problem).split())[:200]}"
        ) from problem
