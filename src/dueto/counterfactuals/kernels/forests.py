"""An ensemble over a grid of cells: score points, climb, and undo changes."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

__all__ = ["Forest", "Ties", "approach", "climb", "fits", "goes_left", "margin", "margins", "possible", "shrink"]

PREFIX, SUFFIX, SET = range(3)
PLAUSIBLE = 1e-9  # how far rounding may move the sum that says how plausible a point is


class Forest(NamedTuple):
    """An ensemble over cells; see `dueto.models.Ensemble` for the nodes.

    `unit`, `kind`, `cut`, `start` tell of each split which unit it looks at, whether the cells that go left are the
    first `cut` ordered ones (PREFIX), those from `cut` on (SUFFIX) or any (SET), and where its running count of cells
    that go left begins in `cum`. `size`, `ordered` are each unit's number of cells, and of cells in order (0 for a
    unit of sets). Where `adds`, each cell adds a number of its own: `add`, unit after unit from `cell_start`. The
    first `own` trees are the model's; the sum of the others, which say how plausible a point is, has to exceed
    `least`.
    """

    root: Any
    left: Any
    right: Any
    split: Any
    value: Any
    odd: Any
    base: Any
    unit: Any
    kind: Any
    cut: Any
    start: Any
    cum: Any
    size: Any
    ordered: Any
    cell_start: Any
    add: Any
    adds: Any
    own: Any
    least: Any
    depth: Any


class Ties(NamedTuple):
    """Summed-area tables of the constraints between units: `unit` (C, D) padded with -1, `stride` likewise."""

    unit: Any
    stride: Any
    start: Any
    counts: Any


@njit(cache=True)
def goes_left(f, s, k):
    at = f.start[s] + k
    return f.cum[at + 1] != f.cum[at]


@njit(cache=True)
def _sum(f, first, last, point):
    total = 0.0
    for t in range(first, last):
        node = f.root[t]
        while f.split[node] >= 0:
            s = f.split[node]
            node = f.left[node] if goes_left(f, s, point[f.unit[s]]) else f.right[node]
        total += f.value[node]
    return total


@njit(cache=True)
def fits(f, ties, u, point):
    """Whether the ties (that have unit u, unless u is negative) allow a point, and it is plausible."""
    return possible(ties, u, point, point) and (
        f.own == len(f.root) or _sum(f, f.own, len(f.root), point) > f.least + PLAUSIBLE
    )


@njit(cache=True)
def margin(f, point):
    total = f.base + _sum(f, 0, f.own, point)
    if f.adds:
        for u in range(len(point)):
            total += f.add[f.cell_start[u] + point[u]]
    return total


@njit(cache=True)
def margins(f, points):
    """(N,) the margin of each point."""
    found = np.empty(len(points))
    for i in range(len(points)):
        found[i] = margin(f, points[i])
    return found


@njit(cache=True)
def count(ties, c, lo, hi):
    """How many joint cells of a box a tie allows (inclusion and exclusion over the corners)."""
    d = 0
    while d < ties.unit.shape[1] and ties.unit[c, d] >= 0:
        d += 1
    total = 0
    for corner in range(1 << d):
        at, sign = ties.start[c], 1
        for i in range(d):
            u = ties.unit[c, i]
            if corner >> i & 1:
                at += ties.stride[c, i] * lo[u]
                sign = -sign
            else:
                at += ties.stride[c, i] * (hi[u] + 1)
        total += sign * ties.counts[at]
    return total


@njit(cache=True)
def possible(ties, u, lo, hi):
    """Whether every tie (that has unit u, unless u is negative) allows some joint cell of a box."""
    for c in range(len(ties.start)):
        mine = u < 0
        for i in range(ties.unit.shape[1]):
            mine |= ties.unit[c, i] == u
        if mine and count(ties, c, lo, hi) == 0:
            return False
    return True


@njit(cache=True)
def _scores(f, point, u, lo, hi, out, stack):
    """out[k]: the margin with unit u at k, for k from lo to hi, everything else as at the point."""
    n = f.ordered[u]
    last = min(hi, n - 1)
    fixed = f.base
    if f.adds:
        for v in range(len(point)):
            if v != u:
                fixed += f.add[f.cell_start[v] + point[v]]
    for k in range(lo, hi + 1):
        out[k] = fixed + (f.add[f.cell_start[u] + k] if f.adds else 0.0)
    for t in range(f.own):
        if lo <= last:
            out_of = 1
            stack[0, 0], stack[0, 1], stack[0, 2] = f.root[t], lo, last
            while out_of:
                out_of -= 1
                node, a, b = stack[out_of, 0], stack[out_of, 1], stack[out_of, 2]
                while f.split[node] >= 0:
                    s = f.split[node]
                    if f.unit[s] != u:
                        node = f.left[node] if goes_left(f, s, point[f.unit[s]]) else f.right[node]
                        continue
                    below, above = f.left[node], f.right[node]
                    if f.kind[s] == SUFFIX:
                        below, above = above, below
                    c = f.cut[s]
                    if b < c:
                        node = below
                    elif a >= c:
                        node = above
                    else:
                        stack[out_of, 0], stack[out_of, 1], stack[out_of, 2] = above, c, b
                        out_of += 1
                        node, b = below, c - 1
                for k in range(a, b + 1):
                    out[k] += f.value[node]
        for k in range(max(lo, n), hi + 1):
            node = f.root[t]
            while f.split[node] >= 0:
                s = f.split[node]
                at = k if f.unit[s] == u else point[f.unit[s]]
                node = f.left[node] if goes_left(f, s, at) else f.right[node]
            out[k] += f.value[node]


@njit(cache=True)
def climb(f, ties, lo, hi, point, enough):
    """Move one unit at a time to its best cell that the ties allow, until nothing helps or the margin is enough."""
    U = len(lo)
    out = np.empty(f.size.max())
    stack = np.empty((f.depth + 2, 3), dtype=np.int64)
    now = margin(f, point)
    still = 0
    while still < U and now <= enough:
        for u in range(U):
            still += 1
            if lo[u] < hi[u]:
                _scores(f, point, u, lo[u], hi[u], out, stack)
                here, best, top = point[u], point[u], now
                for k in range(lo[u], hi[u] + 1):
                    if out[k] > top + 1e-12:
                        point[u] = k
                        if fits(f, ties, u, point):
                            best, top = k, out[k]
                point[u] = best
                if best != here:
                    now, still = top, 0
            if still >= U or now > enough:
                break
    return now


@njit(cache=True)
def shrink(f, ties, own, lo, hi, point, enough, order):
    """Set units back to the applicant's own cell, in an order, where the margin stays enough and the ties allow."""
    moved = True
    while moved:
        moved = False
        for u in order:
            here = point[u]
            if own[u] >= lo[u] and own[u] <= hi[u] and own[u] >= 0 and here != own[u]:
                point[u] = own[u]
                if fits(f, ties, u, point) and margin(f, point) > enough:
                    moved = True
                else:
                    point[u] = here


@njit(cache=True)
def approach(f, ties, parts, cell_start, lo, hi, point, enough, order):
    """Move one unit at a time to the cell nearest to the applicant at which the margin stays enough."""
    out = np.empty(f.size.max())
    stack = np.empty((f.depth + 2, 3), dtype=np.int64)
    moved = True
    while moved:
        moved = False
        for u in order:
            at = cell_start[u]
            if parts[at + point[u], 0] == 0.0:
                continue
            _scores(f, point, u, lo[u], hi[u], out, stack)
            here = best = point[u]
            least = parts[at + here, 1]
            for k in range(lo[u], hi[u] + 1):
                if out[k] > enough and parts[at + k, 1] < least:
                    point[u] = k
                    if fits(f, ties, u, point):
                        best, least = k, parts[at + k, 1]
            point[u] = best
            moved |= best != here
