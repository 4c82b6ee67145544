"""The nearest point of an additive model: branch and bound, each box bounded by a linear program solved by sorting.

A point's distance is at least any sum of costs of its cells that puts, for the root of the sum of squares, a vector of
length 1, and for the largest part, weights that add up to 1. For given ones, the least such sum with enough gain, cells
being mixed as one likes, is a knapsack: each unit's cells on their lower hull, steeper and steeper steps, the cheapest
steps of all first. The vector and the weights are moved towards what the solution changes, some times.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from dueto.counterfactuals.kernels.search import NEARLY

__all__ = ["CONFIRM", "DONE", "FULL", "GO_ON", "Efficient", "Front", "cheapest"]

DONE, CONFIRM, GO_ON, FULL = range(4)
FIRST, LATER = 60, 8  # times that the weights are moved: for the first box, and for others


class Efficient(NamedTuple):
    """Cells that no other of the same unit beats, unit after unit from `start`, gains rising.

    `gain` (C,), `parts` (C, 4): ‖d‖₀, ‖d‖₁, the root of Σ d², max d. A unit of one feature is a `curve`: but for the
    applicant's own cell, all parts are one number; `hull` (H, 2) are the corners of its lower hull as (gain, d), from
    `hull_start`.
    """

    start: Any
    gain: Any
    parts: Any
    curve: Any
    hull_start: Any
    hull: Any


class Front(NamedTuple):
    """What is open: boxes `lo`, `hi` (S, U), their bounds, and the weights that gave these; `top` of them.

    `point` is the nearest that is good for sure, at `limit`; `asked` one that the model has to be asked about.
    """

    lo: Any
    hi: Any
    bound: Any
    alpha: Any
    beta: Any
    top: Any
    limit: Any
    point: Any
    asked: Any


@njit(cache=True)
def _on_hull(hull, first, last, g):
    """The height of a lower hull at a gain."""
    i = first
    while i + 2 < last and hull[i + 1, 0] < g:
        i += 1
    if i + 1 >= last:
        return hull[i, 1]
    a, b = hull[i], hull[i + 1]
    t = min(1.0, max(0.0, (g - a[0]) / (b[0] - a[0])))
    return a[1] + t * (b[1] - a[1])


@njit(cache=True)
def _points(E, u, a, b, cost, P):
    """The points of unit u's cells a to b: gain, cost, root and largest part; how many. `cost`: of 1, l1, root, max."""
    s, n = E.start[u], 0
    if not E.curve[u]:
        for c in range(s + a, s + b + 1):
            p = E.parts[c]
            P[n, 0], P[n, 2], P[n, 3] = E.gain[c], p[2], p[3]
            P[n, 1] = cost[0] * p[0] + cost[1] * p[1] + cost[2] * p[2] + cost[3] * p[3]
            n += 1
        return n
    slope = cost[1] + cost[2] + cost[3]
    if E.parts[s + a, 0] == 0.0:
        P[0, 0], P[0, 1], P[0, 2], P[0, 3] = E.gain[s + a], 0.0, 0.0, 0.0
        n, a = 1, a + 1
    if a > b:
        return n
    low, high = E.gain[s + a], E.gain[s + b]
    first, last = E.hull_start[u], E.hull_start[u + 1]
    for i in range(-1, last - first + 1):
        if i == -1:
            g, d = low, E.parts[s + a, 1] if a == b else _on_hull(E.hull, first, last, low)
        elif i == last - first:
            if a == b:
                break
            g, d = high, _on_hull(E.hull, first, last, high)
        else:
            g, d = E.hull[first + i, 0], E.hull[first + i, 1]
            if g <= low or g >= high:
                continue
        P[n, 0], P[n, 1], P[n, 2], P[n, 3] = g, cost[0] + slope * d, d, d
        n += 1
    return n


@njit(cache=True)
def _solved(E, lo, hi, need, weights, alpha, beta, P, steps, taken):
    """The linear program: its value, and the unit of whose steps a part is taken (-1 if none is).

    `taken[u]`: gain, root and largest part of what is taken of unit u; infinity if the gain is out of reach.
    """
    n, m, total, gained = weights[4], 0, 0.0, 0.0
    cost = np.empty(4)
    for u in range(len(lo)):
        cost[0], cost[1] = weights[0] / n, weights[1] / n
        cost[2], cost[3] = weights[2] * alpha[u] / np.sqrt(n), weights[3] * beta[u]
        k = _points(E, u, lo[u], hi[u], cost, P)
        at = 0
        for i in range(1, k):
            if P[i, 1] <= P[at, 1]:
                at = i
        total += P[at, 1]
        gained += P[at, 0]
        taken[u, 0], taken[u, 1], taken[u, 2] = P[at, 0], P[at, 2], P[at, 3]
        begin = m
        for i in range(at + 1, k):  # the lower hull to the right of the cheapest point
            if P[i, 0] <= P[at, 0]:
                continue
            j = m
            while j > begin:
                before = steps[j - 1]
                if (P[i, 1] - before[5]) * (before[4] - before[2]) > (before[5] - before[3]) * (P[i, 0] - before[4]):
                    break
                j -= 1
            g, f = (P[at, 0], P[at, 1]) if j == begin else (steps[j - 1, 4], steps[j - 1, 5])
            if P[i, 0] <= g:
                continue
            steps[j, 0], steps[j, 1] = (P[i, 1] - f) / (P[i, 0] - g), u
            steps[j, 2], steps[j, 3], steps[j, 4], steps[j, 5] = g, f, P[i, 0], P[i, 1]
            steps[j, 6], steps[j, 7] = P[i, 2], P[i, 3]
            m = j + 1
    order = np.argsort(steps[:m, 0])
    split = -1
    for i in order:
        if gained >= need:
            break
        step = steps[i]
        u, dg = int(step[1]), step[4] - step[2]
        t = 1.0
        if gained + dg > need:
            t, split = (need - gained) / dg, u
        total += t * (step[5] - step[3])
        gained += t * dg
        taken[u, 0] = step[2] + t * dg
        taken[u, 1] += t * (step[6] - taken[u, 1])
        taken[u, 2] += t * (step[7] - taken[u, 2])
        if split >= 0:
            break
    return (total, split) if gained >= need or split >= 0 else (np.inf, -1)


@njit(cache=True)
def _rounded(E, lo, hi, taken, point):
    """For each unit the first cell with at least the gain taken, into `point`; their gain."""
    gained = 0.0
    for u in range(len(lo)):
        s, a, b = E.start[u], lo[u], hi[u]
        while a < b:
            middle = (a + b) // 2
            if E.gain[s + middle] >= taken[u, 0]:
                b = middle
            else:
                a = middle + 1
        point[u] = a
        gained += E.gain[s + a]
    return gained


@njit(cache=True)
def _distance(E, point, weights):
    count, total, squares, largest = 0.0, 0.0, 0.0, 0.0
    for u in range(len(point)):
        p = E.parts[E.start[u] + point[u]]
        count, total, squares, largest = count + p[0], total + p[1], squares + p[2] ** 2, max(largest, p[3])
    n = weights[4]
    return weights[0] * count / n + weights[1] * total / n + weights[2] * np.sqrt(squares / n) + weights[3] * largest


@njit(cache=True)
def _moved(taken, alpha, beta, rate):
    """Move the weights towards those of what is taken."""
    U = len(taken)
    length, largest = 0.0, 0.0
    for u in range(U):
        length += taken[u, 1] ** 2
        largest = max(largest, taken[u, 2])
    ties = 0
    for u in range(U):
        ties += taken[u, 2] >= largest - NEARLY
    for u in range(U):
        if length > 0:
            alpha[u] += rate * (taken[u, 1] / np.sqrt(length) - alpha[u])
        beta[u] += rate * ((1.0 / ties if taken[u, 2] >= largest - NEARLY else 0.0) - beta[u])


@njit(cache=True)
def cheapest(E, front, need, sure, weights, budget):
    """Take up open boxes: (DONE, CONFIRM, GO_ON or FULL; boxes looked at).

    A point with a gain above `sure` becomes `front.point`, and its distance the limit. CONFIRM: `front.asked` is nearer
    than the limit, and so near the cut that the model has to be asked.
    """
    U = len(E.start) - 1
    widest = 4
    for u in range(U):
        width = E.hull_start[u + 1] - E.hull_start[u] + 3 if E.curve[u] else E.start[u + 1] - E.start[u]
        widest = max(widest, width)
    P = np.empty((widest, 4))
    room = 0
    for u in range(U):
        room += E.hull_start[u + 1] - E.hull_start[u] + 3 if E.curve[u] else E.start[u + 1] - E.start[u]
    steps, taken, chosen = np.empty((room, 8)), np.empty((U, 3)), np.empty((U, 3))
    alpha, beta, point, best = np.empty(U), np.empty(U), np.empty(U, np.int64), np.empty(U, np.int64)
    lo, hi, looked = np.empty(U, np.int64), np.empty(U, np.int64), 0
    while front.top[0]:
        if looked >= budget:
            return GO_ON, looked
        if front.top[0] + 2 >= len(front.bound):
            return FULL, looked
        front.top[0] -= 1
        i = front.top[0]
        if front.bound[i] * (1 - NEARLY) >= front.limit[0]:
            continue
        looked += 1
        lo[:], hi[:], alpha[:], beta[:] = front.lo[i], front.hi[i], front.alpha[i], front.beta[i]
        bound, split, near, gained = front.bound[i], -1, np.inf, 0.0
        times = FIRST if front.bound[i] == -1.0 else LATER
        for r in range(times):
            value, part = _solved(E, lo, hi, need, weights, alpha, beta, P, steps, taken)
            if value >= bound or r == 0:
                split = part
                chosen[:] = taken
            bound = max(bound, value)
            if bound * (1 - NEARLY) >= front.limit[0]:
                break
            g = _rounded(E, lo, hi, taken, point)
            d = _distance(E, point, weights)
            if g >= need and d < near:
                near, gained = d, g
                best[:] = point
            if near * (1 - NEARLY) <= bound:
                break
            _moved(taken, alpha, beta, 2.0 / (r + (2.0 if times == FIRST else 6.0)))
        if bound * (1 - NEARLY) >= front.limit[0]:
            continue
        single = True
        for u in range(U):
            single &= lo[u] == hi[u]
        if not single:
            _rounded(E, lo, hi, chosen, point)
            u = split
            if u < 0 or lo[u] == hi[u]:
                u = 0
                for v in range(U):
                    if hi[v] - lo[v] > hi[u] - lo[u]:
                        u = v
            cut = point[u]
            own = E.parts[E.start[u] + lo[u], 0] == 0.0
            if cut == lo[u] or own:
                cut = lo[u] + 1
            for side in range(2):
                k = front.top[0]
                front.lo[k], front.hi[k], front.alpha[k], front.beta[k] = lo, hi, alpha, beta
                front.bound[k] = bound
                if side == 0:
                    front.lo[k, u] = cut
                else:
                    front.hi[k, u] = cut - 1
                front.top[0] += 1
        if near < front.limit[0]:
            if gained <= sure:
                front.asked[:] = best
                return CONFIRM, looked
            front.point[:] = best
            front.limit[0] = near
    return DONE, looked
