"""The leaves of an ensemble within reach of a region, each a box of cells; and trees joined two by two."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from dueto.counterfactuals.kernels.forests import PREFIX, goes_left

__all__ = ["Leaves", "product", "reach"]


class Leaves(NamedTuple):
    """Leaves within reach, tree after tree, best first: `a` to `b` the ordered cells, `gone` whether missing too,
    `sets`.

    The first `own` trees are the model's, and the others say how plausible a point is.
    """

    first: Any
    a: Any
    b: Any
    gone: Any
    sets: Any
    value: Any
    odd: Any
    own: Any


@njit(cache=True)
def reach(f, lo, hi, set_start):
    """The leaves of every tree within reach of a region; a unit whose cells add something is one more tree."""
    T, U = len(f.root), len(lo)
    width = set_start[U]
    capacity, n = 1024, 0
    A, B = np.empty((capacity, U), np.int32), np.empty((capacity, U), np.int32)
    G, S = np.empty((capacity, U), np.bool_), np.empty((capacity, width), np.uint8)
    V, O = np.empty(capacity), np.empty(capacity, np.bool_)
    first = np.zeros(T + 1 + (U if f.adds else 0), np.int64)
    d_max = f.depth + 2
    a, b = np.empty((d_max, U), np.int32), np.empty((d_max, U), np.int32)
    g, sets = np.empty((d_max, U), np.bool_), np.empty((d_max, width), np.uint8)
    nodes, stage = np.empty(d_max, np.int64), np.empty(d_max, np.int64)
    own = f.own + (U if f.adds else 0)
    for place in range(len(first) - 1):
        t = place if place < f.own else place - (own - f.own)
        if f.own <= place < own:  # what the cells of a unit add
            u = place - f.own
            for k in range(lo[u], hi[u] + 1):
                if n == capacity:
                    capacity *= 2
                    A, B = _grown(A, capacity), _grown(B, capacity)
                    G, S = _grown(G, capacity), _grown(S, capacity)
                    V, O = _grown1(V, capacity), _grown1(O, capacity)
                for v in range(U):
                    o = f.ordered[v]
                    if v == u:
                        A[n, v], B[n, v], G[n, v] = (k, k, False) if k < o else (1, 0, True)
                    else:
                        A[n, v], B[n, v], G[n, v] = lo[v], min(hi[v], o - 1), o > 0 and hi[v] >= o
                    if o == 0:
                        for c in range(f.size[v]):
                            S[n, set_start[v] + c] = c == k if v == u else lo[v] <= c <= hi[v]
                V[n], O[n] = f.add[f.cell_start[u] + k], True
                n += 1
            first[place + 1] = n
            _sort(first[place], n, A, B, G, S, V, O)
            continue
        for u in range(U):
            o = f.ordered[u]
            a[0, u], b[0, u] = lo[u], min(hi[u], o - 1)
            g[0, u] = o > 0 and hi[u] >= o
            if o == 0:
                for k in range(f.size[u]):
                    sets[0, set_start[u] + k] = lo[u] <= k <= hi[u]
        nodes[0], stage[0], d = f.root[t], 0, 0
        while d >= 0:
            node = nodes[d]
            s = f.split[node]
            if s < 0:
                if n == capacity:
                    capacity *= 2
                    A, B = _grown(A, capacity), _grown(B, capacity)
                    G, S = _grown(G, capacity), _grown(S, capacity)
                    V, O = _grown1(V, capacity), _grown1(O, capacity)
                A[n], B[n], G[n], S[n] = a[d], b[d], g[d], sets[d]
                V[n], O[n] = f.value[node], f.odd[node]
                n += 1
                d -= 1
                continue
            if stage[d] == 2:
                d -= 1
                continue
            left = stage[d] == 0
            stage[d] += 1
            u, e = f.unit[s], d + 1
            a[e], b[e], g[e], sets[e] = a[d], b[d], g[d], sets[d]
            if f.ordered[u] > 0:
                if left == (f.kind[s] == PREFIX):
                    b[e, u] = min(b[e, u], f.cut[s] - 1)
                else:
                    a[e, u] = max(a[e, u], f.cut[s])
                if g[e, u]:
                    g[e, u] = goes_left(f, s, f.size[u] - 1) == left
                open_ = a[e, u] <= b[e, u] or g[e, u]
            else:
                open_ = False
                for k in range(lo[u], hi[u] + 1):
                    at = set_start[u] + k
                    if sets[e, at]:
                        sets[e, at] = goes_left(f, s, k) == left
                        open_ |= sets[e, at] != 0
            if open_:
                nodes[e], stage[e] = (f.left[node] if left else f.right[node]), 0
                d = e
        first[place + 1] = n
        _sort(first[place], n, A, B, G, S, V, O)
    return Leaves(first, A[:n], B[:n], G[:n], S[:n], V[:n], O[:n], own)


@njit(cache=True)
def _grown(x, n):
    y = np.empty((n, x.shape[1]), x.dtype)
    y[: len(x)] = x
    return y


@njit(cache=True)
def _grown1(x, n):
    y = np.empty(n, x.dtype)
    y[: len(x)] = x
    return y


@njit(cache=True)
def _sort(start, end, A, B, G, S, V, O):
    order = start + np.argsort(-V[start:end], kind="mergesort")
    A[start:end], B[start:end], G[start:end], S[start:end] = A[order], B[order], G[order], S[order]
    V[start:end], O[start:end] = V[order], O[order]


@njit(cache=True)
def _meet(x, i, y, j, ordered, set_start, both):
    """Whether two leaves have a cell in common in every unit; only units that both of them bound can part them."""
    for u in range(len(ordered)):
        if not both >> np.uint64(u & 63) & np.uint64(1):
            continue
        if ordered[u] > 0:
            if max(x.a[i, u], y.a[j, u]) > min(x.b[i, u], y.b[j, u]) and not (x.gone[i, u] and y.gone[j, u]):
                return False
        else:
            common = False
            for k in range(set_start[u], set_start[u + 1]):
                if x.sets[i, k] and y.sets[j, k]:
                    common = True
                    break
            if not common:
                return False
    return True


@njit(cache=True)
def _bounded(leaves, lo, hi, ordered, set_start):
    """For each leaf, the units that it bounds within a region, as bits (unit 64 shares the bit of unit 0, ...)."""
    found = np.zeros(len(leaves.value), np.uint64)
    for i in range(len(found)):
        for u in range(len(lo)):
            o = ordered[u]
            if o > 0:
                loose = (
                    leaves.a[i, u] <= lo[u]
                    and leaves.b[i, u] >= min(hi[u], o - 1)
                    and leaves.gone[i, u] == (hi[u] >= o)
                )
            else:
                loose = True
                for k in range(lo[u], hi[u] + 1):
                    loose &= leaves.sets[i, set_start[u] + k] != 0
            if not loose:
                found[i] |= np.uint64(1) << np.uint64(u & 63)
    return found


@njit(cache=True)
def _pair_gain(x, s, t, bound, ordered, set_start):
    """How much less two trees can give together than apart."""
    apart = x.value[x.first[s]] + x.value[x.first[t]]
    best = -np.inf
    for i in range(x.first[s], x.first[s + 1]):
        if x.value[i] + x.value[x.first[t]] <= best:
            break
        for j in range(x.first[t], x.first[t + 1]):
            value = x.value[i] + x.value[j]
            if value <= best:
                break
            if _meet(x, i, x, j, ordered, set_start, bound[i] & bound[j]):
                best = value
                break
    return apart - best


@njit(cache=True)
def product(x, lo, hi, ordered, set_start, most, pairs):
    """The leaves with trees joined in pairs, those first that bound each other most, if not too many leaves."""
    T = len(x.first) - 1
    bound = _bounded(x, lo, hi, ordered, set_start)
    gains = np.zeros(pairs)
    one, two = np.empty(pairs, np.int64), np.empty(pairs, np.int64)
    n, every = 0, pairs >= T * (T - 1) // 2
    state = np.uint64(88172645463325252)
    for s in range(T):
        for r in range(s + 1, T) if every else range(max(1, pairs // T)):
            if every:
                t = r
            else:
                state ^= state << np.uint64(13)
                state ^= state >> np.uint64(7)
                state ^= state << np.uint64(17)
                t = np.int64(state % np.uint64(T))
                if t == s:
                    continue
            if (s < x.own) != (t < x.own):
                continue
            size = (x.first[s + 1] - x.first[s]) * (x.first[t + 1] - x.first[t])
            if size <= 16 * most and n < pairs:
                one[n], two[n] = s, t
                gains[n] = _pair_gain(x, s, t, bound, ordered, set_start)
                n += 1
    partner = np.full(T, -1, np.int64)
    sizes = np.zeros(T, np.int64)
    for p in np.argsort(-gains[:n], kind="mergesort"):
        s, t = min(one[p], two[p]), max(one[p], two[p])
        if gains[p] <= 0 or partner[s] >= 0 or partner[t] >= 0:
            continue
        size = 0
        for i in range(x.first[s], x.first[s + 1]):
            for j in range(x.first[t], x.first[t + 1]):
                size += _meet(x, i, x, j, ordered, set_start, bound[i] & bound[j])
            if size > most:
                break
        if size <= most:
            partner[s], partner[t], sizes[s] = t, s, size
    total = 0
    for s in range(T):
        total += x.first[s + 1] - x.first[s] if partner[s] < 0 else sizes[s]
    U, width = len(lo), x.sets.shape[1]
    A, B = np.empty((total, U), np.int32), np.empty((total, U), np.int32)
    G, S = np.empty((total, U), np.bool_), np.empty((total, width), np.uint8)
    V, O = np.empty(total), np.empty(total, np.bool_)
    first = np.zeros(T + 1, np.int64)
    trees, n, own = 0, 0, 0
    for s in range(T):
        t = partner[s]
        if t >= 0 and t < s:
            continue
        own += s < x.own
        for i in range(x.first[s], x.first[s + 1]):
            if t < 0:
                A[n], B[n], G[n], S[n], V[n], O[n] = x.a[i], x.b[i], x.gone[i], x.sets[i], x.value[i], x.odd[i]
                n += 1
                continue
            for j in range(x.first[t], x.first[t + 1]):
                if _meet(x, i, x, j, ordered, set_start, bound[i] & bound[j]):
                    for u in range(U):
                        A[n, u], B[n, u] = max(x.a[i, u], x.a[j, u]), min(x.b[i, u], x.b[j, u])
                        G[n, u] = x.gone[i, u] and x.gone[j, u]
                    for k in range(width):
                        S[n, k] = x.sets[i, k] and x.sets[j, k]
                    V[n], O[n] = x.value[i] + x.value[j], x.odd[i] or x.odd[j]
                    n += 1
        trees += 1
        first[trees] = n
        if t >= 0:
            _sort(first[trees - 1], n, A, B, G, S, V, O)
    return Leaves(first[: trees + 1], A[:n], B[:n], G[:n], S[:n], V[:n], O[:n], own)
