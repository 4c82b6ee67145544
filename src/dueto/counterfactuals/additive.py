"""The nearest point of an additive model (logistic regression, scorecards) on a grid whose units nothing ties."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np

from dueto.counterfactuals.base import Status
from dueto.models.additive import Additive

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dueto.counterfactuals.branch_and_bound import Search
    from dueto.counterfactuals.grid import Grid

__all__ = ["nearest", "suits"]

OPEN = 4096  # boxes that are open at once, at most
SLICE = 2_000  # boxes looked at before the clock is


def suits(grid: Grid) -> bool:
    """Whether `nearest` can be asked: each unit adds to the margin for itself, and nothing else bounds them."""
    return (
        isinstance(grid.cells.structure.form, Additive) and not len(grid.ties.start) and grid.query.plausibility is None
    )


def nearest(search: Search, limit: float) -> tuple[Status, NDArray[np.intp] | None]:
    """NONE once no box is left that could be nearer, UNKNOWN when the budget is spent; and the nearest point found."""
    k, g = search.k, search.grid
    cells, efficient = _efficient(search)
    U = len(cells)
    front = k.Front(
        np.zeros((OPEN, U), np.int64), np.zeros((OPEN, U), np.int64), np.empty(OPEN), np.empty((OPEN, U)),
        np.empty((OPEN, U)), np.ones(1, np.int64), np.array([limit]), np.zeros(U, np.int64),
        np.zeros(U, np.int64),
    )  # fmt: skip
    front.hi[0] = np.array([len(c) for c in cells]) - 1
    front.bound[0], front.alpha[0], front.beta[0] = -1.0, 1 / np.sqrt(max(1, U)), 1 / max(1, U)
    base, best, before = float(g.forest.base), None, limit

    def chosen(places: NDArray[np.int64]) -> NDArray[np.intp]:
        return np.array([c[i] for c, i in zip(cells, places, strict=True)], dtype=np.intp)

    while True:
        told, looked = k.cheapest(
            efficient, front, g.cut - 2 * g.slack - base, g.cut + g.slack - base, g.weights, min(SLICE, search.left)
        )
        search.left, search.spent = search.left - looked, search.spent + looked
        if front.limit[0] < before:
            best, before = chosen(front.point), front.limit[0]
        if told == k.CONFIRM and g.query.accepts(g.cells.rows((asked := chosen(front.asked))[None]))[0]:
            best = asked
            before = front.limit[0] = search.distance(asked)
        if told == k.DONE:
            return Status.NONE, best
        if search.progress is not None:
            search.progress(search.spent, int(front.top[0]))
        if told == k.FULL or search.left <= 0 or time.perf_counter() > search.until:
            search.told = f"the budget is spent, after {search.spent:,} boxes"
            return Status.UNKNOWN, best


def _efficient(search: Search) -> tuple[list[NDArray[np.intp]], Any]:
    """For each unit the cells of the region that no other beats in both gain and distance, gains rising."""
    g = search.grid
    cells, gains, costs, curves, hulls = [], [], [], [], []
    for u, (lo, hi) in enumerate(zip(search.lo, search.hi, strict=True)):
        which = np.arange(lo, hi + 1)
        at = g.cell_start[u] + which
        gain, parts = g.forest.add[at], g.parts[at]
        root = np.sqrt(parts[:, 2])
        moved = parts[:, 0] > 0
        d = parts[:, 3]
        curve = bool((parts[:, 0] <= 1).all() and (parts[:, 1] == d).all() and np.allclose(root, d, rtol=1e-15, atol=0))
        order = np.lexsort((-gain, d)) if curve else np.argsort(gain, kind="stable")
        if curve:
            rising = gain[order] > np.append(-np.inf, np.maximum.accumulate(gain[order])[:-1])
            order = order[rising]
        cells.append(which[order])
        gains.append(gain[order])
        costs.append(np.column_stack([parts[order, 0], parts[order, 1], d[order] if curve else root[order], d[order]]))
        curves.append(curve)
        changed = order[moved[order]]
        hulls.append(_hull(gain[changed], d[changed]) if curve else np.empty((0, 2)))
    return cells, search.k.Efficient(
        np.cumsum([0, *map(len, gains)]), np.concatenate(gains), np.vstack(costs), np.array(curves),
        np.cumsum([0, *map(len, hulls)]), np.vstack(hulls),
    )  # fmt: skip


def _hull(gain: NDArray[np.float64], d: NDArray[np.float64]) -> NDArray[np.float64]:
    """(h, 2) the corners of the lower hull of points whose gains rise."""
    corners: list[tuple[float, float]] = []
    for x, y in zip(gain.tolist(), d.tolist(), strict=True):
        while len(corners) > 1:
            (a, b), (c, e) = corners[-2:]
            if (e - b) * (x - c) < (y - e) * (c - a):
                break
            corners.pop()
        corners.append((x, y))
    return np.array(corners).reshape(-1, 2)
