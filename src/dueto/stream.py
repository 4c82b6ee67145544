"""The rows of a table, encoded: in memory, or packed as they are read from outside."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dueto.domain import distinct_rows, row_keys
from dueto.errors import InputError
from dueto.packed import Packed, Repeated
from dueto.sources import Source

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dueto.space import FeatureSpace

__all__ = ["Encoded", "encoded"]

SHARE = 0.5  # of the machine's memory may be taken by the rows of a streamed table
PER_ROW = 24  # bytes of a distinct row besides its values: two hashes, its number, its count, while rows are read
LEAST = 1 << 20  # keys in a sorted run, from which on runs are merged with runs of about their length only


class Encoded(NamedTuple):
    """The rows of a table, encoded; of a streamed one, `X` and `distinct` are packed, and read as arrays are.

    Parameters
    ----------
    X : (m, n) float64
        The rows in their order.
    distinct : (d, n) float64
        The distinct ones, in an order that depends on what they hold alone.
    which : (m,) int
        Which of them each row is.
    counts : (d,) int
        How many rows are each.
    """

    X: NDArray[np.float64]
    distinct: NDArray[np.float64]
    which: NDArray[np.intp]
    counts: NDArray[np.intp]


def encoded(space: FeatureSpace, data: Any, *, memory: float | None = None) -> Encoded:
    """The rows of a table; those of a `Source` are read batch by batch, and only the distinct ones kept.

    Parameters
    ----------
    space : FeatureSpace
        What the columns mean.
    data : table or Source
        As `FeatureSpace.encode` takes it, or a table outside memory.
    memory : float, optional
        Bytes that the rows of a source may take; by default half of the machine's.

    Raises
    ------
    InputError
        As `FeatureSpace.encode` does; if the distinct rows of a source do not fit into memory.
    """
    if isinstance(data, Source):
        return _streamed(space, data[[str(column) for column in space.columns]], _half() if memory is None else memory)
    X = space.encode(data)
    first, which, counts = distinct_rows(X)
    return Encoded(X, X[first], which, counts)


def _streamed(space: FeatureSpace, source: Source, memory: float) -> Encoded:
    ledger, m = _Ledger(), 0
    parts: list[Packed] = []
    which: list[NDArray[np.uint32]] = []
    for frame in source.batches():
        X = space.encode_from(frame, m)
        m += len(X)
        ids, fresh = ledger.enter(X)
        which.append(ids)
        parts.append(Packed.of(X[fresh]))
        taken = sum(part.nbytes for part in parts) + PER_ROW * ledger.size + 4 * m
        if taken > memory:
            raise InputError(
                f"{source.name} has {ledger.size:,} distinct rows among its first {m:,}, and they take "
                f"{taken / 1e9:.3g} GB, more than the {memory / 1e9:.3g} GB that are left to them; give fewer columns, "
                "round the numbers, or give a sample of the rows"
            )
    order = ledger.order()
    distinct = Packed.joined(parts).taken(order)
    rank = np.empty(len(order), dtype=np.uint32)
    rank[order] = np.arange(len(order), dtype=np.uint32)
    for ids in which:
        ids[:] = rank[ids]
    where = np.concatenate(which)
    counts = np.bincount(where, minlength=len(order)).astype(np.int32 if m < 1 << 31 else np.int64)
    rows: Any = Repeated(distinct, where)
    packed: Any = distinct
    return Encoded(rows, packed, where, counts)  # type: ignore[arg-type]


class _Ledger:
    """Which rows were seen: sorted runs of 64-bit hashes with the rows' numbers, and a second hash of each."""

    def __init__(self) -> None:
        self.size = 0
        self.runs: list[tuple[NDArray[np.uint64], NDArray[np.uint32]]] = []
        self.checks = np.empty(0, dtype=np.uint32)  # longer than needed

    def enter(self, X: NDArray[np.float64]) -> tuple[NDArray[np.uint32], NDArray[np.intp]]:
        """The number of each of some encoded rows, and where those that are new come first."""
        keys, checks = row_keys(X), (row_keys(X, 1) >> np.uint64(32)).astype(np.uint32)
        keys, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
        ids = np.full(len(keys), -1, dtype=np.int64)
        for run, numbers in self.runs:
            at = np.minimum(np.searchsorted(run, keys), len(run) - 1)
            found = run[at] == keys
            ids[found] = numbers[at[found]]
        new = ids < 0
        ids[new] = self.size + np.arange(new.sum())
        self.size += int(new.sum())
        if self.size > len(self.checks):
            self.checks = np.append(self.checks, np.zeros(max(self.size, LEAST), dtype=np.uint32))
        self.checks[ids[new]] = checks[first[new]]
        self._refuse_collisions(checks, ids[inverse])
        if new.any():
            self.runs.append((keys[new], ids[new].astype(np.uint32)))
            self._merge(everything=False)
        return ids[inverse].astype(np.uint32), first[new]

    def order(self) -> NDArray[np.uint32]:
        """The numbers of all rows by their hashes."""
        self._merge(everything=True)
        return self.runs.pop()[1]

    def _merge(self, *, everything: bool) -> None:
        """Merge short runs into long ones, so that there are few, and none is copied often."""
        while len(self.runs) > 1 and (everything or len(self.runs[-2][0]) <= max(2 * len(self.runs[-1][0]), LEAST)):
            (keys, ids), (others, more) = self.runs.pop(), self.runs.pop()
            keys, ids = np.concatenate([others, keys]), np.concatenate([more, ids])
            order = np.argsort(keys, kind="stable")
            self.runs.append((keys[order], ids[order]))

    def _refuse_collisions(self, checks: NDArray[np.uint32], ids: NDArray[np.int64]) -> None:
        """Two rows that share the first hash, a chance of N²/2⁶⁵, are told by the second."""
        if (self.checks[ids] != checks).any():
            raise InputError("two different rows of the data share a hash, which almost never happens; leave out a row")


def _half() -> float:
    """Half of the machine's memory, in bytes."""
    try:
        return SHARE * os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # not every system tells
        return 8e9
