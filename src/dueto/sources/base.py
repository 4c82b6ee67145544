"""A table that is read a batch at a time, as often as it is asked for, and never held whole."""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, Any

from dueto.errors import InputError, known, some

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    import pandas as pd

__all__ = ["BATCH", "PACKED", "Source", "ending"]

BATCH = 1 << 17  # rows read at a time
PACKED = (".gz", ".bz2", ".xz")


def ending(path: Path) -> str:
    """What the name of a file ends in, whether it is packed or not: `.csv` of table.csv.gz."""
    endings = [s.lower() for s in path.suffixes]
    if endings and endings[-1] in PACKED:
        endings.pop()
    return endings[-1] if endings else ""


class Source:
    """A table outside memory, with the columns that are wanted of it; made by `dueto.open_table`.

    Parameters
    ----------
    name : str
        What messages call it.
    columns : sequence of str
        Its columns, in order.
    batch : int
        Rows read at a time.
    """

    def __init__(self, name: str, columns: Sequence[str], *, batch: int = BATCH) -> None:
        self.name, self.columns, self.batch = name, list(columns), batch
        if not self.columns:
            raise InputError(f"{name} has no columns; give a table with one column for each feature")
        twins = [c for c in self.columns if self.columns.count(c) > 1] if len(set(columns)) < len(columns) else []
        if twins:
            raise InputError(f"{name} has two columns named {twins[0]!r}; rename one")

    def __repr__(self) -> str:
        return f"<Source {self.name}: {some(self.columns)}>"

    def __contains__(self, column: Any) -> bool:
        return column in self.columns

    def __getitem__(self, columns: Sequence[str]) -> Source:
        """The same table with these columns only: of the others nothing is read where the format allows.

        Raises
        ------
        InputError
            If there is no such column.
        """
        for column in columns:
            if column not in self.columns:
                raise InputError(f"the data has no column {column!r}; {known(column, self.columns, 'it has')}")
        narrow = copy(self)
        narrow.columns = list(columns)
        return narrow

    def drop(self, columns: Sequence[str]) -> Source:
        """The same table without some columns."""
        return self[[column for column in self.columns if column not in set(columns)]]

    def batches(self) -> Iterator[pd.DataFrame]:
        """The rows in order, with the columns in order; each time the same.

        Raises
        ------
        InputError
            If the table cannot be read.
        """
        raise NotImplementedError

    def frame(self) -> pd.DataFrame:
        """The whole table in memory."""
        import pandas as pd

        parts = list(self.batches())
        return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=self.columns)
