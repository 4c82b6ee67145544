"""The bit-packed index of a data set: how many of its rows satisfy a rule, at the speed of memory."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from dueto.rule import bits, to_words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from dueto.rule import Components

__all__ = ["Index"]

BLOCK = 1 << 15  # words ANDed at a time: 256 KiB, which stay in the processor's second-level cache
SPAN = 1 << 20  # rows looked at a time, a multiple of 64: what is worked out of more of them at once takes memory
SAMPLE = 1 << 13  # rows looked at to guess whether duals repeat


class Index:
    """Encoded rows against the components of one applicant.

    Two forms are kept, and the cheaper one counts: a *bitmap* for each component (which rows meet it, 64 rows to a
    word), ANDed and counted block by block; and the *distinct duals* with how many rows have each, where rows repeat.

    Parameters
    ----------
    components : Components
        The components relevant to the applicant.
    X : (m, n) float64
        Encoded rows.
    weights : (m,) int64, optional
        How many rows of the data each row of `X` stands for; 1 if not given.
    """

    def __init__(
        self, components: Components, X: NDArray[np.float64], weights: NDArray[np.int64] | None = None
    ) -> None:
        self.components, self.X, self.weights = components, X, weights

    @cached_property
    def bitmaps(self) -> dict[int, NDArray[np.uint64]]:
        """For each component's bit, which rows meet it: ceil(m / 64) words, rows beyond m never."""
        found = {bit: np.zeros(8 * -(-len(self.X) // 64), dtype=np.uint8) for bit in bits(self.components.all)}
        for rows in self._spans():
            for bit, fails in self.components.failing(self.X[rows]):
                packed = np.packbits(~fails, bitorder="little")
                found[bit][rows.start // 8 : rows.start // 8 + len(packed)] = packed
        return {bit: packed.view("<u8") for bit, packed in found.items()}

    @cached_property
    def distinct(self) -> tuple[NDArray[np.uint64], NDArray[np.int64], NDArray[np.intp]]:
        """The distinct duals, smallest first; how many rows of the data have each; and the first row that has it."""
        keys = np.empty((0, self.components.n_words), dtype=np.uint64)
        counts, first = np.empty(0, dtype=np.int64), np.empty(0, dtype=np.intp)
        for rows in self._spans():
            weights = np.ones(rows.stop - rows.start, dtype=np.int64) if self.weights is None else self.weights[rows]
            words = np.vstack([keys, self.components.duals(self.X[rows])])
            keys, at, inverse = _distinct(words)
            counts = np.bincount(inverse, weights=np.append(counts, weights), minlength=len(keys)).astype(np.int64)
            first = np.append(first, np.arange(rows.start, rows.stop))[at]
        order = np.argsort(np.bitwise_count(keys).sum(axis=1), kind="stable")
        return keys[order], counts[order], first[order]

    def _spans(self) -> Iterator[slice]:
        """The rows, so many at a time."""
        for start in range(0, len(self.X), SPAN):
            yield slice(start, min(start + SPAN, len(self.X)))

    @cached_property
    def _repeats(self) -> bool:
        """Whether distinct duals are few enough to be worth finding: judged on a sample spread over the rows."""
        if self.weights is not None or len(self.X) <= 1 << 16:
            return True
        sample = self.components.duals(self.X[:: max(1, len(self.X) // SAMPLE)])
        return len(np.unique(sample, axis=0)) < len(sample) // 16

    def count(self, chosen: int) -> int:
        """How many rows satisfy the rule made of a set of components."""
        if self._repeats:
            keys, counts, _ = self.distinct
            return int(counts[self._escaping(keys, chosen)].sum())
        return count_ones([self.bitmaps[bit] for bit in bits(chosen)], len(self.X))

    def exceptions(self, chosen: int, limit: int) -> NDArray[np.intp]:
        """Positions of at most `limit` rows that satisfy the rule: smallest duals first, none holding another."""
        keys, _, first = self.distinct
        rows = np.flatnonzero(self._escaping(keys, chosen))
        found: list[np.intp] = []
        while len(rows) and len(found) < limit:
            found.append(first[rows[0]])
            smallest = keys[rows[0]]
            rows = rows[((keys[rows] & smallest) != smallest).any(axis=1)]
        return np.array(found, dtype=np.intp)

    @staticmethod
    def _escaping(keys: NDArray[np.uint64], chosen: int) -> NDArray[np.bool_]:
        return np.asarray(((keys & to_words(chosen, keys.shape[1])) == 0).all(axis=1))


def _distinct(words: NDArray[np.uint64]) -> tuple[NDArray[np.uint64], NDArray[np.intp], NDArray[np.intp]]:
    """The distinct rows of words, where each comes first, and which of them each row is."""
    if words.shape[1] == 1:
        keys, first, inverse = np.unique(words[:, 0], return_index=True, return_inverse=True)
        return keys[:, None], first, inverse
    keys, first, inverse = np.unique(words, axis=0, return_index=True, return_inverse=True)
    return keys, first, inverse.ravel()


def count_ones(bitmaps: list[NDArray[np.uint64]], m: int) -> int:
    """How many of `m` rows are set in all bitmaps: AND and population count, one block at a time."""
    if not bitmaps:
        return m
    first, *others = bitmaps
    total, block = 0, np.empty(BLOCK, dtype=np.uint64)
    for start in range(0, len(first), BLOCK):
        span = slice(start, start + BLOCK)
        acc = block[: len(first[span])]
        source = first[span]
        for other in others:
            np.bitwise_and(source, other[span], out=acc)
            source = acc
        total += int(np.bitwise_count(source).sum(dtype=np.int64))
    return total
