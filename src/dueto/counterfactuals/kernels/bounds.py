"""How much a box of cells can give at most: for every tree, bit masks of the leaves, best first, still compatible.

Tightening a bound is an AND with the mask of a cell, and the best leaf left is the lowest bit.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

from dueto.counterfactuals.kernels.forests import PLAUSIBLE

__all__ = ["Bounder", "Stack", "allowed", "bound_of", "bounder", "tighten"]

WIDE = 48  # cells of an unordered unit that are looked at one by one


class Bounder(NamedTuple):
    """Bit masks of leaves; see the module."""

    words: Any
    at: Any
    offset: Any
    segments: Any
    segment: Any
    masks: Any


class Stack(NamedTuple):
    """Open boxes of the search, depth first, and what is told: `top` their number, `limit` a distance to beat."""

    lo: Any
    hi: Any
    mask: Any
    best: Any
    bound: Any
    near: Any
    top: Any
    limit: Any
    point: Any


@intrinsic  # type: ignore[untyped-decorator]
def _ctz(_context: Any, x: Any) -> Any:
    """Zeros below the lowest one of a 64-bit word that is not 0."""

    def codegen(_ctx: Any, builder: Any, _signature: Any, args: Any) -> Any:
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.uint64), codegen


@njit(cache=True)
def bounder(leaves, lo, hi, ordered, set_start, cell_start):
    """Bit masks for the leaves of a region."""
    T, U = len(leaves.first) - 1, len(lo)
    words, at = np.empty(T, np.int64), np.zeros(T + 1, np.int64)
    offset = np.full((T, U), -1, np.int64)
    segments = np.zeros((T, U), np.int64)
    segment = np.zeros((T, cell_start[U]), np.int32)
    mark = np.zeros(ordered.max() + 2, np.bool_)
    total = 0
    for t in range(T):
        i0, i1 = leaves.first[t], leaves.first[t + 1]
        W = (i1 - i0 + 63) // 64
        words[t], at[t + 1] = W, at[t] + W
        for u in range(U):
            o = ordered[u]
            used = False
            if o > 0:
                last, gone = min(hi[u], o - 1), hi[u] >= o
                for i in range(i0, i1):
                    if leaves.a[i, u] != lo[u] or leaves.b[i, u] != last or leaves.gone[i, u] != gone:
                        used = True
                        break
                if not used:
                    continue
                mark[:] = False
                for i in range(i0, i1):
                    if leaves.a[i, u] <= leaves.b[i, u]:
                        mark[leaves.a[i, u]] = True
                        mark[leaves.b[i, u] + 1] = True
                n = -1
                for k in range(lo[u], last + 1):
                    if mark[k] or n < 0:
                        n += 1
                    segment[t, cell_start[u] + k] = n
                n += 1
                segments[t, u], offset[t, u] = n, total
                total += (2 * n + 1) * W
            else:
                for i in range(i0, i1):
                    for k in range(lo[u], hi[u] + 1):
                        used |= leaves.sets[i, set_start[u] + k] == 0
                    if used:
                        break
                if used:
                    segments[t, u], offset[t, u] = hi[u] - lo[u] + 1, total
                    total += (hi[u] - lo[u] + 1) * W
    masks = np.zeros(total, np.uint64)
    for t in range(T):
        i0, W = leaves.first[t], words[t]
        for u in range(U):
            base = offset[t, u]
            if base < 0:
                continue
            n = segments[t, u]
            for i in range(i0, leaves.first[t + 1]):
                w, bit = (i - i0) >> 6, np.uint64(1) << np.uint64((i - i0) & 63)
                if ordered[u] > 0:
                    if leaves.a[i, u] <= leaves.b[i, u]:
                        masks[base + segment[t, cell_start[u] + leaves.b[i, u]] * W + w] |= bit
                        masks[base + (n + segment[t, cell_start[u] + leaves.a[i, u]]) * W + w] |= bit
                    if leaves.gone[i, u]:
                        masks[base + 2 * n * W + w] |= bit
                else:
                    for k in range(lo[u], hi[u] + 1):
                        if leaves.sets[i, set_start[u] + k]:
                            masks[base + (k - lo[u]) * W + w] |= bit
            if ordered[u] > 0:
                for k in range(n - 2, -1, -1):
                    for w in range(W):
                        masks[base + k * W + w] |= masks[base + (k + 1) * W + w]
                for k in range(n + 1, 2 * n):
                    for w in range(W):
                        masks[base + k * W + w] |= masks[base + (k - 1) * W + w]
    return Bounder(words, at, offset, segments, segment, masks)


@njit(cache=True)
def allowed(B, t, u, w, lo, hi, o, root_lo, cell):
    """Word w of the leaves of tree t that a run of unit u's cells, lo to hi, leaves alive."""
    base, n, W = B.offset[t, u], B.segments[t, u], B.words[t]
    if o == 0:
        x = np.uint64(0)
        if hi - lo >= WIDE:
            return ~x
        for k in range(lo - root_lo, hi - root_lo + 1):
            x |= B.masks[base + k * W + w]
        return x
    x = np.uint64(0)
    if lo < o:
        last = min(hi, o - 1)
        x = B.masks[base + B.segment[t, cell + lo] * W + w] & B.masks[base + (n + B.segment[t, cell + last]) * W + w]
    if hi >= o:
        x |= B.masks[base + 2 * n * W + w]
    return x


@njit(cache=True)
def bound_of(B, leaves, stack, i, u, lo, hi, o, root_lo, cell, base, least):
    """The bound of box i with unit u from lo to hi, and whether some best leaf's value is not a round number.

    It is -inf for a box in which nothing is plausible: the bound of that sum does not come near `least`.
    """
    total, odd, other = base, False, 0.0
    for t in range(len(B.words)):
        if B.offset[t, u] < 0:
            leaf = stack.best[i, t]
        else:
            leaf = -1
            start = stack.best[i, t] - leaves.first[t]
            for w in range(start >> 6, B.words[t]):
                m = stack.mask[i, B.at[t] + w]
                if m:
                    m &= allowed(B, t, u, w, lo, hi, o, root_lo, cell)
                    if m:
                        leaf = leaves.first[t] + 64 * w + _ctz(m)
                        break
            if leaf < 0:
                return -np.inf, False
        if t < leaves.own:
            total += leaves.value[leaf]
            odd |= leaves.odd[leaf]
        else:
            other += leaves.value[leaf]
    if leaves.own < len(B.words) and other <= least - PLAUSIBLE:
        return -np.inf, False
    return total, odd


@njit(cache=True)
def tighten(B, leaves, stack, i, j, u, lo, hi, o, root_lo, cell):
    """Box j: box i with unit u from lo to hi."""
    stack.lo[j], stack.hi[j] = stack.lo[i], stack.hi[i]
    stack.lo[j, u], stack.hi[j, u] = lo, hi
    for t in range(len(B.words)):
        start, end = B.at[t], B.at[t + 1]
        if B.offset[t, u] < 0:
            for w in range(start, end):
                stack.mask[j, w] = stack.mask[i, w]
            stack.best[j, t] = stack.best[i, t]
        else:
            leaf = -1
            for w in range(B.words[t]):
                m = stack.mask[i, start + w]
                if m:
                    m &= allowed(B, t, u, w, lo, hi, o, root_lo, cell)
                    if leaf < 0 and m:
                        leaf = leaves.first[t] + 64 * w + _ctz(m)
                stack.mask[j, start + w] = m
            stack.best[j, t] = leaf
