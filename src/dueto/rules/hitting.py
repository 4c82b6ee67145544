"""Minimum hitting sets while the family of sets still grows: a depth-first search that never starts again.

A branch that was refuted stays refuted when sets are added, so whoever judges a hitting set may answer with one more
set that it misses, and the search goes on from where it is. See [1]_ for the scheme (implicit hitting sets).

.. [1] Moreno-Centeno and Karp, "The implicit hitting set approach to solve combinatorial optimization problems with an
   application to multigenome alignment", Operations Research 61(2), 2013.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from dueto.rule import to_sets, to_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

__all__ = ["HittingSets"]


class HittingSets:
    """Hitting sets of a growing family, cheapest first.

    Parameters
    ----------
    cost : sequence of int
        The positive cost of each element.
    sets : iterable of int
        Bit sets to begin with.

    Attributes
    ----------
    bound : int
        No hitting set is cheaper; `next` gives one of just this cost.
    """

    def __init__(self, cost: Sequence[int], sets: Iterable[int] = ()) -> None:
        self.cost = np.array(cost, dtype=np.int64)
        self.n_words = max(1, -(-len(cost) // 64))
        self.sets = np.zeros((64, self.n_words), dtype=np.uint64)
        self.size, self.bound = 0, 0
        self._state: Any = None
        for s in sets:
            self.add(s)

    def add(self, s: int) -> None:
        """One more set to be hit."""
        if self.size == len(self.sets):
            self.sets = np.vstack([self.sets, np.zeros_like(self.sets)])
            if self._state is not None:
                lists = self._state[5]
                self._state = (*self._state[:5], np.hstack([lists, np.zeros_like(lists)]), *self._state[6:])
        self.sets[self.size] = to_words(s, self.n_words)
        self.size += 1
        if self._state is not None:
            from dueto.rules.search import extended

            extended(self.sets, self.size - 1, *self._state)

    def next(self, at_most: int | None = None, *, skip: bool = False) -> int | None:
        """The cheapest hitting set, or one as cheap as the last; None if none costs at most so much.

        `skip` passes over the one given last, which is asked for again otherwise, unless a set has been added that it
        misses.
        """
        from dueto.rules import search

        while True:
            if self._state is None:
                self._state = search.begin(len(self.cost), self.n_words, len(self.sets), self.size)
            told, higher = search.go_on(self.sets, self.cost, self.bound, skip, *self._state)
            if told:
                depth = int(self._state[0][0])
                return to_sets(self._state[1][depth][None])[0]
            skip, self._state = False, None
            if higher == np.iinfo(np.int64).max:
                return None
            self.bound = int(higher)
            if at_most is not None and self.bound > at_most:
                return None


@cache
def compiled() -> None:
    """Have the inner loop compiled, once a process, before any clock runs."""
    sets = HittingSets([1, 1], [1])
    sets.next()
    sets.add(2)
    sets.next()


def cheapest(cost: NDArray[np.int64], sets: Iterable[int]) -> int | None:
    """A cheapest hitting set of a family that does not grow; None if one of its sets is empty."""
    return HittingSets(list(cost), sets).next()
