"""Minimal covers (hitting sets): the sets of components that meet every dual."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dueto.rule import bits, minimal

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["covers", "minimal_covers"]


def covers(chosen: int, duals: Iterable[int]) -> bool:
    """Whether a set meets every dual."""
    return all(chosen & dual for dual in duals)


def minimal_covers(duals: Iterable[int], limit: int) -> list[int]:
    """Up to `limit` inclusion-minimal sets that meet every dual, smallest first.

    Berge's algorithm: dual by dual, every partial cover that misses it is extended by each of its elements, and sets
    that contain another are dropped. It is exhaustive while at most `limit` partial covers are alive; beyond that only
    the `limit` smallest, and among these those that meet most of the duals to come, are carried on (a beam), and each
    result is made minimal at the end.

    Parameters
    ----------
    duals : iterable of int
        Bit sets, none of them empty.
    limit : int
        The most covers returned.
    """
    pending = minimal(duals)
    partial = [0]
    for i, dual in enumerate(pending):
        hit = [c for c in partial if c & dual]
        grown = [c | 1 << bit for c in partial if not c & dual for bit in bits(dual)]
        partial = minimal([*hit, *grown])
        if len(partial) > limit:
            ahead = pending[i + 1 :]
            partial.sort(key=lambda c: (c.bit_count(), -sum(1 for d in ahead if c & d), c))
            partial = partial[:limit]
    return minimal(_irredundant(c, pending) for c in partial)


def _irredundant(chosen: int, duals: Sequence[int]) -> int:
    """The cover without the elements that it can lose one by one and still meet every dual, highest first."""
    for bit in reversed(list(bits(chosen))):
        fewer = chosen & ~(1 << bit)
        if covers(fewer, duals):
            chosen = fewer
    return chosen
