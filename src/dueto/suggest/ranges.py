"""Bounds that a bin of one feature puts on another of many values."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import numpy as np

from dueto.plaf import cf
from dueto.suggest.bins import Bools, Candidate, Floats, edge
from dueto.suggest.phrases import among
from dueto.suggest.tables import Tables, evidence

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

FIRST = 50  # rows of a bin that a range is tried on before it is held against all

_Bounds = dict[int, tuple[float, float]]  # for a bin, the lower bound that it puts on y, and the rows it should exclude


def ranges(tables: Tables, ordered: Bools) -> Iterator[Candidate]:
    """Bounds that bins put on features of many values, beyond what the orders that are proposed say."""
    bins, space = tables.bins, tables.bins.space
    usual = np.flatnonzero((bins.count >= bins.few) & ~bins.mixed).tolist()
    rows = {u: np.flatnonzero(bins.P[:, bins.owner[u]] == u) for u in usual}
    for b in (b for b in bins.use if space.features[b].ordered and len(bins.values[b]) > bins.levels):
        name, label = space.names[b], space.features[b].label
        for sign in (1, -1):  # an upper bound is a lower one of the negative
            y = sign * bins.X[:, b]
            values = np.sort(y[~np.isnan(y)])
            ends, order = (bins.low, ordered[:, b]) if sign > 0 else (-bins.high, ordered[b])
            known = np.where(order[bins.owner] & ~bins.special, ends, -np.inf)
            bounds = {
                u: found
                for u in usual
                if not tables.tied[u, bins.of[b].start]
                and (found := _bound(tables, u, b, y, values, rows[u]))
                and found[0] > known[u]
            }
            shared = defaultdict[tuple[int, float], list[int]](list)
            for u in _least(tables, bounds, tables.blocks[b], ends):
                shared[int(bins.owner[u]), bounds[u][0]].append(u)
            for (_, t), given in shared.items():
                where = among(bins, given)
                says = cf[name] >= label(t) if sign > 0 else cf[name] <= label(-t)
                yield Candidate(where.implies(says), "range", sum(bounds[u][1] for u in given), where)


def _bound(
    tables: Tables, u: int, b: int, y: Floats, values: Floats, rows: NDArray[np.intp]
) -> tuple[float, float] | None:
    """The lower bound that a bin puts on y = ±b, `values` if sorted, and the rows expected to break it.

    None if there is no bound, or if chance explains it.
    """
    bins, m, n, a = tables.bins, len(y), len(rows), int(tables.bins.owner[u])
    for some in (rows[:FIRST], rows):
        t = float(y[some].min())
        if np.isnan(t) or n * np.searchsorted(values, t) < bins.sure * m:
            return None
    gap = y[rows] - t
    if not edge(gap, bins.near[b]):
        return None
    feature = bins.space.features[b]
    beyond = tables.allowed[u, bins.P[:, b]] & (y < t)
    if not (feature.labelled or edge(gap)):
        t = _round(t, np.sort(y[beyond]), whole=feature.kind == "integer")
        beyond &= y < t
    expected = float(n * beyond.sum() / m)
    there = np.bincount(bins.P[beyond, a], minlength=len(bins.count))
    share = n / max(m - bins.count[there.argmax()], 1)
    sure = min(expected, evidence(there.sum() - there.max(), share)) >= bins.sure
    return (t, expected) if sure else None


def _least(tables: Tables, bounds: _Bounds, b: slice, ends: Floats) -> Iterator[int]:
    """The bins whose bound does not follow from others: u, so w, and w has one as high, or allows only such bins of b.

    `ends` are the least values of all bins.
    """
    left = np.full(len(tables.allowed), -np.inf)
    left[list(bounds)] = [t for t, _ in bounds.values()]
    through = np.where(tables.allowed[:, b], np.nan_to_num(ends[b], nan=-np.inf), np.inf).min(axis=1)
    for u in sorted(bounds, key=lambda u: bounds[u][1]):
        by = np.minimum.reduceat(np.where(tables.allowed[u], np.maximum(left, through), np.inf), tables.starts)
        by[np.isin(tables.bins.use, tables.bins.owner[[u, b.start]])] = -np.inf
        if by.max() >= left[u]:
            left[u] = -np.inf
        else:
            yield u


def _round(t: float, below: Floats, *, whole: bool) -> float:
    """A lower bound of fewest digits, at most t, that still forbids nine tenths of the values `below` (sorted) it."""
    if not len(below):
        return t
    v = below[-(-9 * len(below) // 10) - 1]
    if v < 0 <= t:
        return 0.0
    for e in range(15, -1 if whole else -10, -1):
        k = (np.floor(v / 10.0**e) + 1) * 10.0**e if e >= 0 else (np.floor(v * 10.0**-e) + 1) / 10.0**-e
        if v < k <= t:
            return float(k)
    return t
