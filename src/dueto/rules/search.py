"""The compiled inner loop of `HittingSets`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

__all__ = ["begin", "extended", "go_on"]

FAR = np.iinfo(np.int64).max


def begin(n: int, n_words: int, room: int, size: int) -> tuple[Any, ...]:
    """A search at its root: depth; of each depth, what is chosen, banned, still to try, the cost, the sets not hit."""
    words = tuple(np.zeros((n + 2, n_words), dtype=np.uint64) for _ in range(3))
    lists, count = np.zeros((n + 2, room), dtype=np.int32), np.zeros(n + 2, dtype=np.int64)
    lists[0, :size], count[0] = np.arange(size), size
    higher = np.full(1, FAR, dtype=np.int64)
    return (
        np.zeros(1, dtype=np.int64),
        *words,
        np.zeros(n + 2, dtype=np.int64),
        lists,
        count,
        np.ones(1, dtype=np.int64),
        higher,
    )


@njit(cache=True)
def _size(word):
    n = 0
    while word:
        word &= word - np.uint64(1)
        n += 1
    return n


@njit(cache=True)
def extended(sets, new, depth, chosen, banned, todo, cost_so_far, lists, count, fresh, higher):
    """Tell the open search of one more set: it joins the sets not yet hit at every depth where it is not."""
    for d in range(depth[0] + 1):
        hit = False
        for w in range(sets.shape[1]):
            hit |= (chosen[d, w] & sets[new, w]) != 0
        if hit:
            break
        lists[d, count[d]] = new
        count[d] += 1
        if d == depth[0]:
            fresh[0] = 1


@njit(cache=True)
def _pack(sets, list_, n, banned, cost, n_words, used):
    """A bound on what hitting the listed sets costs, by sets that share nothing; -1 if one of them cannot be hit."""
    total = 0
    used[:] = 0
    for size in range(1, 5):
        for i in range(n):
            s, k, free = list_[i], 0, True
            for w in range(n_words):
                left = sets[s, w] & ~banned[w]
                k += _size(left)
                free &= (left & used[w]) == 0
            if k == 0:
                return -1
            if free and (k == size or (size == 4 and k > 4)):
                least = FAR
                for w in range(n_words):
                    left = sets[s, w] & ~banned[w]
                    used[w] |= left
                    e = 64 * w
                    while left:
                        if left & np.uint64(1):
                            least = min(least, cost[e])
                        left >>= np.uint64(1)
                        e += 1
                total += least
    return total


@njit(cache=True)
def go_on(sets, cost, limit, skip, depth, chosen, banned, todo, so_far, lists, count, fresh, higher):
    """Search on for a hitting set within the limit: (found, the least that a higher limit would have to be)."""
    n_words = sets.shape[1]
    used = np.zeros(n_words, np.uint64)
    votes = np.zeros(64 * n_words, np.int64)
    d = depth[0]
    if skip and fresh[0] == 2:
        d -= 1
        fresh[0] = 0
    while d >= 0:
        if fresh[0]:
            if count[d] == 0:
                depth[0] = d
                fresh[0] = 2  # given out; seen again unless a set is added or it is skipped
                return True, higher[0]
            fresh[0] = 0
            bound = _pack(sets, lists[d], count[d], banned[d], cost, n_words, used)
            if bound < 0:
                d -= 1
                continue
            if so_far[d] + bound > limit:
                higher[0] = min(higher[0], so_far[d] + bound)
                d -= 1
                continue
            smallest, k = -1, 1 << 30
            for i in range(count[d]):
                size = 0
                for w in range(n_words):
                    size += _size(sets[lists[d, i], w] & ~banned[d, w])
                if size < k:
                    smallest, k = lists[d, i], size
            for w in range(n_words):
                todo[d, w] = sets[smallest, w] & ~banned[d, w]
        # the element of those to try that hits most
        votes[:] = -1
        some = False
        for w in range(n_words):
            left, e = todo[d, w], 64 * w
            while left:
                if left & np.uint64(1):
                    votes[e] = 0
                    some = True
                left >>= np.uint64(1)
                e += 1
        if not some:
            d -= 1
            continue
        for i in range(count[d]):
            for w in range(n_words):
                left, e = sets[lists[d, i], w] & todo[d, w], 64 * w
                while left:
                    if left & np.uint64(1):
                        votes[e] += 1
                    left >>= np.uint64(1)
                    e += 1
        e = np.argmax(votes)
        w_e, bit = e >> 6, np.uint64(1) << np.uint64(e & 63)
        todo[d, w_e] &= ~bit
        if so_far[d] + cost[e] > limit:
            higher[0] = min(higher[0], so_far[d] + cost[e])
            banned[d, w_e] |= bit
            continue
        c = d + 1
        chosen[c], banned[c] = chosen[d], banned[d]
        chosen[c, w_e] |= bit
        so_far[c] = so_far[d] + cost[e]
        n = 0
        for i in range(count[d]):
            if not sets[lists[d, i], w_e] & bit:
                lists[c, n] = lists[d, i]
                n += 1
        count[c] = n
        banned[d, w_e] |= bit  # what comes after does without it
        fresh[0] = 1
        d = c
    depth[0] = 0
    return False, higher[0]
