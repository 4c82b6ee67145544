"""What a feature space is read from, of a table that is read in batches: the distinct values of each column."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dueto import frames
from dueto.domain import distinct_rows
from dueto.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping

    import pandas as pd
    from numpy.typing import NDArray

    from dueto.onehot import Bundle
    from dueto.sources import Source

__all__ = ["condensed"]

MOST = 20_000_000  # distinct values of one column, or combinations of one-hot columns


def condensed(source: Source, bundles: Mapping[str, Bundle]) -> frames.Table:
    """The distinct values of each column with how often each occurs; of one-hot columns, what they hold together.

    Raises
    ------
    InputError
        If there are no rows; a column has more distinct values than can be kept, or holds what no feature can.
    """
    together = [list(bundle.columns) for bundle in bundles.values()]
    alone = set(source.columns) - {column for columns in together for column in columns}
    tallies = [_Tally([column]) for column in source.columns if column in alone] + [_Joint(c) for c in together]
    m = 0
    for frame in source.batches():
        if not m:
            for column in source.columns:
                frames.kind_of(column, frame[column])  # which refuses dates at once
        m += len(frame)
        for tally in tallies:
            tally.add(frame, m)
    if not m:
        raise InputError(f"{source.name} has no rows; give at least one row for each value that a feature can take")
    columns: dict[Hashable, pd.Series] = {}
    weights: dict[Hashable, NDArray[np.float64]] = {}
    for tally in tallies:
        found, counts = tally.closed()
        for name in tally.columns:
            columns[name], weights[name] = found[name], counts
    dtypes: dict[Hashable, Any] = {column: columns[column].dtype for column in source.columns}
    nans = frozenset(column for column, series in columns.items() if frames.says_nan(series))
    return frames.Table("pandas", {column: columns[column] for column in dtypes}, dtypes, nans, weights)


class _Tally:
    """Distinct values of a column in the order in which they came, with their counts."""

    def __init__(self, columns: list[Hashable]) -> None:
        self.columns = columns
        self.parts: list[tuple[pd.DataFrame, NDArray[np.float64]]] = []
        self.settled = 0

    def add(self, frame: pd.DataFrame, m: int) -> None:
        """Count the rows of a batch, the last of m rows so far."""
        self.parts.append(self.counted(frame[self.columns], np.ones(len(frame))))
        if sum(len(counts) for _, counts in self.parts[1:]) > max(self.settled, 1 << 18):
            self.settle()
            if self.settled > MOST:
                raise InputError(
                    f"{self.told()} among the first {m:,} rows, more than the {MOST:,} that can be kept; leave the "
                    "column out if it only names the row, else round or group its values"
                )

    def told(self) -> str:
        return f"column {self.columns[0]!r} has {self.settled:,} distinct values"

    def settle(self) -> None:
        """Make one part of all."""
        if len(self.parts) > 1:
            found = _stacked([frame for frame, _ in self.parts])
            self.parts = [self.counted(found, np.concatenate([counts for _, counts in self.parts]))]
        self.settled = len(self.parts[0][1])

    def closed(self) -> tuple[pd.DataFrame, NDArray[np.float64]]:
        """All of them."""
        self.settle()
        return self.parts[0]

    def counted(self, frame: pd.DataFrame, weights: NDArray[np.float64]) -> tuple[pd.DataFrame, NDArray[np.float64]]:
        """The distinct rows of a part, each where it came first, with the weights of all that are the same."""
        codes, first = self.codes(frame)
        counts = np.bincount(codes, weights=weights, minlength=len(first)).astype(np.float64)
        return frame.iloc[first], counts

    def codes(self, frame: pd.DataFrame) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Which of the distinct values each row has; and where each comes first."""
        import pandas as pd

        codes, _ = pd.factorize(frame.iloc[:, 0], use_na_sentinel=False)
        return codes, np.flatnonzero(np.diff(np.maximum.accumulate(codes), prepend=-1))


class _Joint(_Tally):
    """The same of several columns of numbers."""

    def codes(self, frame: pd.DataFrame) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """As `_Tally.codes`."""
        rows = np.column_stack([frames.to_numbers(column, frame[column]) for column in self.columns])
        first, which, _ = distinct_rows(rows)
        return which, first

    def told(self) -> str:
        return f"the one-hot columns {self.columns[0]!r} and so on have {self.settled:,} distinct combinations"


def _stacked(parts: list[pd.DataFrame]) -> pd.DataFrame:
    """One below the other, each column of the type that it has when the table is read whole."""
    import pandas as pd

    found: dict[Any, pd.Series] = {}
    for column in parts[0].columns:
        series = [part[column] for part in parts]
        dtypes = list(dict.fromkeys(s.dtype for s in series if isinstance(s.dtype, pd.CategoricalDtype)))
        if len(dtypes) > 1:  # each batch of a file may name its own categories
            labels = list(dict.fromkeys(label for dtype in dtypes for label in dtype.categories))
            union = pd.CategoricalDtype(labels, ordered=dtypes[0].ordered)
            series = [s.astype(union) for s in series]
        found[column] = pd.concat(series, ignore_index=True)
    return pd.DataFrame(found)
