"""Branch and bound over boxes of cells, depth first."""

from __future__ import annotations

import numpy as np
from numba import njit

from dueto.counterfactuals.kernels.bounds import bound_of, tighten
from dueto.counterfactuals.kernels.forests import PLAUSIBLE, fits, possible

__all__ = ["ASK", "BUDGET", "FOUND", "NONE", "OVERFLOW", "distance", "nearest_parts", "run", "within"]

NONE, FOUND, ASK, BUDGET, OVERFLOW = range(5)
NEARLY = 1e-12  # how far rounding may move a distance
CANDIDATES = 12  # cuts whose two sides are bounded before one is chosen


@njit(cache=True)
def nearest_parts(parts, cell_start, u, lo, hi, near):
    """near[u]: the least of each part of the distance over the cells lo to hi."""
    near[u] = np.inf
    for k in range(lo, hi + 1):
        for p in range(4):
            near[u, p] = min(near[u, p], parts[cell_start[u] + k, p])


@njit(cache=True)
def distance(near, weights):
    count, total, squares, largest = 0.0, 0.0, 0.0, 0.0
    for u in range(len(near)):
        count += near[u, 0]
        total += near[u, 1]
        squares += near[u, 2]
        largest = max(largest, near[u, 3])
    n = weights[4]
    return weights[0] * count / n + weights[1] * total / n + weights[2] * np.sqrt(squares / n) + weights[3] * largest


@njit(cache=True)
def within(parts, cell_start, weights, near, limit, lo, hi):
    """Shorten a box, in place, by the cells at its ends that alone make every point of it as far as the limit."""
    U = len(lo)
    count, total, squares, first, second = 0.0, 0.0, 0.0, 0.0, 0.0
    for u in range(U):
        count += near[u, 0]
        total += near[u, 1]
        squares += near[u, 2]
        if near[u, 3] > first:
            first, second = near[u, 3], first
        elif near[u, 3] > second:
            second = near[u, 3]
    n = weights[4]
    for u in range(U):
        others = second if near[u, 3] == first else first
        a, b, c = count - near[u, 0], total - near[u, 1], squares - near[u, 2]
        while lo[u] <= hi[u]:
            p = parts[cell_start[u] + lo[u]]
            far = weights[0] * (a + p[0]) / n + weights[1] * (b + p[1]) / n
            far += weights[2] * np.sqrt(max(c + p[2], 0.0) / n) + weights[3] * max(others, p[3])
            if far < limit + NEARLY:
                break
            lo[u] += 1
        while hi[u] > lo[u]:
            p = parts[cell_start[u] + hi[u]]
            far = weights[0] * (a + p[0]) / n + weights[1] * (b + p[1]) / n
            far += weights[2] * np.sqrt(max(c + p[2], 0.0) / n) + weights[3] * max(others, p[3])
            if far < limit + NEARLY:
                break
            hi[u] -= 1


@njit(cache=True)
def _shortened(f, B, leaves, stack, i, parts, weights, root_lo, cell_start, lo, hi):
    """Box i within the limit; whether anything of it is left that may be good."""
    lo[:] = stack.lo[i]
    hi[:] = stack.hi[i]
    within(parts, cell_start, weights, stack.near[i], stack.limit[0], lo, hi)
    changed = False
    for u in range(len(lo)):
        if lo[u] > hi[u]:
            return False
        if lo[u] != stack.lo[i, u] or hi[u] != stack.hi[i, u]:
            changed = True
            tighten(B, leaves, stack, i, i, u, lo[u], hi[u], f.ordered[u], root_lo[u], cell_start[u])
            nearest_parts(parts, cell_start, u, lo[u], hi[u], stack.near[i])
    if changed:
        stack.bound[i], other = f.base, 0.0
        for t in range(len(B.words)):
            if stack.best[i, t] < 0:
                return False
            if t < leaves.own:
                stack.bound[i] += leaves.value[stack.best[i, t]]
            else:
                other += leaves.value[stack.best[i, t]]
        if leaves.own < len(B.words) and other <= f.least - PLAUSIBLE:
            return False
    return True


@njit(cache=True)
def _candidates(f, leaves, stack, i, set_start, weight, cuts, gains, L, R):
    """For each unit, the cut that shuts most of the best leaves out, on both sides; -1 where none shuts out any."""
    T, U = len(leaves.first) - 1, stack.lo.shape[1]
    for u in range(U):
        cuts[u], gains[u] = -1, -1.0
        lo, hi, o = stack.lo[i, u], stack.hi[i, u], f.ordered[u]
        if lo == hi:
            continue
        L[lo : hi + 2] = 0.0
        R[lo : hi + 2] = 0.0
        any_ = False
        for t in range(T):
            leaf = stack.best[i, t]
            if o > 0:
                a, b = max(leaves.a[leaf, u], lo), min(leaves.b[leaf, u], hi)
                if hi >= o and leaves.gone[leaf, u]:
                    if a > b:
                        a = o
                    b = o
            else:
                a, b = lo, hi
                while a < hi and not leaves.sets[leaf, set_start[u] + a]:
                    a += 1
                while b > a and not leaves.sets[leaf, set_start[u] + b]:
                    b -= 1
            if a > lo:
                L[a] += weight[leaf]
                any_ = True
            if b < hi:
                R[b + 1] += weight[leaf]
                any_ = True
        if not any_:
            continue
        for k in range(hi - 1, lo, -1):
            L[k] += L[k + 1]
        for k in range(lo + 1, hi + 1):
            R[k] += R[k - 1]
        for k in range(lo + 1, hi + 1):
            gain = L[k] * R[k] + 1e-3 * (L[k] + R[k])
            if gain > gains[u]:
                cuts[u], gains[u] = k, gain


@njit(cache=True)
def _balance(leaves, weight):
    """Give the trees that say how plausible a point is as much weight, all together, as the model's."""
    start = leaves.first[leaves.own]
    if start < len(weight):
        one, two = 0.0, 0.0
        for t in range(len(leaves.first) - 1):
            if t < leaves.own:
                one += weight[leaves.first[t]]
            else:
                two += weight[leaves.first[t]]
        weight[start:] *= one / two


@njit(cache=True)
def _holes(f, leaves, stack, i, set_start, cuts):
    """A cut that isolates a cell which some best leaf leaves out, in the midst of others: (unit, cut), or (-1, -1)."""
    for u in range(stack.lo.shape[1]):
        lo, hi, o = stack.lo[i, u], stack.hi[i, u], f.ordered[u]
        if lo == hi:
            continue
        for t in range(len(leaves.first) - 1):
            leaf = stack.best[i, t]
            if o > 0:
                whole = leaves.gone[leaf, u] and leaves.a[leaf, u] <= lo and leaves.b[leaf, u] >= o - 1
                if hi >= o and lo < o and not whole:
                    return u, o
            else:
                for k in range(lo + 1, hi + 1):
                    if leaves.sets[leaf, set_start[u] + k] != leaves.sets[leaf, set_start[u] + k - 1]:
                        return u, k
    return -1, -1


@njit(cache=True)
def run(
    f, B, leaves, ties, parts, weights, single, stack, root_lo, set_start, cell_start, cut, slack, max_nodes, nearest
):
    """Branch and bound from the open boxes of a stack: (status, nodes). After FOUND and ASK, stack.point is the point.

    NONE: no box is left, so nothing (nothing nearer than the limit) is good. ASK: the margin is within rounding of the
    cut, and the model has to say. BUDGET: boxes are left on the stack.
    """
    U, T = stack.lo.shape[1], len(B.words)
    longest = f.size.max() + 2
    L, R = np.empty(longest), np.empty(longest)
    cuts, gains = np.empty(U, np.int64), np.empty(U)
    weight = np.empty(len(leaves.value))
    low_end, high_end = np.empty(U, np.int64), np.empty(U, np.int64)
    for t in range(T):
        for leaf in range(leaves.first[t], leaves.first[t + 1]):
            weight[leaf] = leaves.value[leaf] - leaves.value[leaves.first[t + 1] - 1] + 1e-9
    _balance(leaves, weight)
    nodes = 0
    while stack.top[0] > 0:
        if nodes >= max_nodes:
            return BUDGET, nodes
        if stack.top[0] + 3 > len(stack.bound):
            return OVERFLOW, nodes
        nodes += 1
        i = stack.top[0] - 1
        if nearest and (
            distance(stack.near[i], weights) >= stack.limit[0]
            or not _shortened(f, B, leaves, stack, i, parts, weights, root_lo, cell_start, low_end, high_end)
            or stack.bound[i] <= cut - slack
            or not possible(ties, -1, stack.lo[i], stack.hi[i])
        ):
            stack.top[0] -= 1
            continue
        _candidates(f, leaves, stack, i, set_start, weight, cuts, gains, L, R)
        u, at, score = -1, -1, -1.0
        for _ in range(CANDIDATES):
            v = np.argmax(gains)
            if gains[v] < 0.0:
                break
            gains[v] = -1.0
            c, o, cell = cuts[v], f.ordered[v], cell_start[v]
            low, _o = bound_of(B, leaves, stack, i, v, stack.lo[i, v], c - 1, o, root_lo[v], cell, f.base, f.least)
            high, _o = bound_of(B, leaves, stack, i, v, c, stack.hi[i, v], o, root_lo[v], cell, f.base, f.least)
            room = stack.bound[i] - cut + 1e-9
            down, up = min(stack.bound[i] - low, room) / room, min(stack.bound[i] - high, room) / room
            worth = max(down, 1e-3) * max(up, 1e-3) + 1e-3 * max(down, up)
            if worth > score:
                u, at, score = v, c, worth
        if u < 0:
            u, at = _holes(f, leaves, stack, i, set_start, cuts)
        if u < 0:  # the margin is the same in the whole box
            for v in range(U):
                stack.point[v] = stack.lo[i, v]
                if nearest:
                    least = np.inf
                    for k in range(stack.lo[i, v], stack.hi[i, v] + 1):
                        if parts[cell_start[v] + k, 3] < least:
                            least, stack.point[v] = parts[cell_start[v] + k, 3], k
            if possible(ties, -1, stack.point, stack.point):
                if nearest:
                    for v in range(U):
                        if single[v] == 0 and stack.lo[i, v] < stack.hi[i, v]:
                            u, at = v, (stack.lo[i, v] + stack.hi[i, v] + 1) // 2
                if u < 0:
                    stack.top[0] -= 1
                    sure = stack.bound[i] > cut + slack and fits(f, ties, -1, stack.point)
                    return (FOUND if sure else ASK), nodes
            else:
                widest = 0
                for c in range(len(ties.start)):
                    for d in range(ties.unit.shape[1]):
                        v = ties.unit[c, d]
                        if v >= 0 and stack.hi[i, v] - stack.lo[i, v] > widest:
                            widest, u = stack.hi[i, v] - stack.lo[i, v], v
                at = (stack.lo[i, u] + stack.hi[i, u] + 1) // 2
        o, cell, lo, hi = f.ordered[u], cell_start[u], stack.lo[i, u], stack.hi[i, u]
        low, odd_low = bound_of(B, leaves, stack, i, u, lo, at - 1, o, root_lo[u], cell, f.base, f.least)
        high, odd_high = bound_of(B, leaves, stack, i, u, at, hi, o, root_lo[u], cell, f.base, f.least)
        # the better child is made last, to be looked at first
        j = i
        for turn in range(2):
            first_low = low <= high
            take_low = first_low if turn == 0 else not first_low
            value, odd = (low, odd_low) if take_low else (high, odd_high)
            if value <= cut - slack or (not odd and value <= cut):
                continue
            a, b = (lo, at - 1) if take_low else (at, hi)
            j += 1
            tighten(B, leaves, stack, i, j, u, a, b, o, root_lo[u], cell)
            stack.bound[j] = value
            if not possible(ties, u, stack.lo[j], stack.hi[j]):
                j -= 1
                continue
            if nearest:
                stack.near[j] = stack.near[i]
                nearest_parts(parts, cell_start, u, a, b, stack.near[j])
                if distance(stack.near[j], weights) >= stack.limit[0]:
                    j -= 1
        for k in range(i, j):  # box i's place is taken by its children
            stack.lo[k], stack.hi[k], stack.mask[k] = stack.lo[k + 1], stack.hi[k + 1], stack.mask[k + 1]
            stack.best[k], stack.bound[k], stack.near[k] = stack.best[k + 1], stack.bound[k + 1], stack.near[k + 1]
        stack.top[0] = j
    return NONE, nodes
