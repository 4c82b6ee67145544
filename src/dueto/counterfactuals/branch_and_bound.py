"""Branch and bound: exact counterfactuals of tree ensembles."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from dueto.box import Box
from dueto.counterfactuals import additive
from dueto.counterfactuals.base import Answer, Query, Status
from dueto.counterfactuals.cells import refusal
from dueto.counterfactuals.grid import DONORS, Grid
from dueto.counterfactuals.ranking import ranked
from dueto.counterfactuals.units import CONSTRAINTS
from dueto.errors import InputError
from dueto.models.additive import Additive
from dueto.models.ensemble import Ensemble

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

__all__ = ["BranchAndBound"]

STARTS = 8  # points that a climb starts from
RECENT = 64  # points found last, of which they are taken, besides good rows of the data
FEW = 16  # of these, those tried before the others
FIRST, SLICE = 300, 1_000  # boxes looked at before what is still open is taken up again: at first, and later
JOINED = 512  # leaves of trees that are joined, at most
PAIRS = 4_000  # pairs of trees looked at to choose those to join


@dataclass(frozen=True)
class BranchAndBound:
    """Bound the margin over a box by the best leaf of each tree that is still within reach; split; repeat.

    Use it for sums of trees: forests, boosting. A climb from good rows finds most counterfactuals that exist; what it
    does not find is searched for box by box, and where no box is left there is none. It equals `Exhaustive` wherever
    that can be used.

    Parameters
    ----------
    seconds : float
        The longest that one question may take; then the answer is UNKNOWN, or FOUND for what was found until then.
    nodes : int
        The most boxes looked at for one question.
    progress : callable, optional
        Called now and then with the number of boxes looked at for the question, and how many are waiting to be taken up
        again.
    """

    seconds: float = 60.0
    nodes: int = 10_000_000
    progress: Callable[[int, int], None] | None = None
    name: str = "branch and bound"

    def __post_init__(self) -> None:
        for option in ("seconds", "nodes"):
            if not getattr(self, option) >= 0:
                raise InputError(f"{option} of branch and bound must not be negative, got {getattr(self, option)!r}")

    def refuses(self, query: Query) -> str:
        """Why the query is beyond branch and bound, or empty."""
        structure = query.model.structure
        if structure is not None and not isinstance(structure.form, Ensemble | Additive):
            return "the model is not a sum of decision trees, nor of functions of one feature each"
        return refusal(query)

    def grid(self, query: Query) -> Grid:
        """The query without its box as a grid, made once for all rules on it."""
        if "grid" not in query.memo:
            query.memo["grid"] = Grid(replace(query, box=Box.everything(len(query.x))))
            if not query.memo["grid"].cells.reason:
                compiled(query.memo["grid"])
        found: Grid = query.memo["grid"]
        return found

    def judge(self, query: Query) -> GridJudge:
        """Branch and bound made ready for many rules on a query."""
        return GridJudge(self, query)

    def region(self, query: Query) -> tuple[Grid, tuple[NDArray[np.intp], NDArray[np.intp]]]:
        """A query as a region of the grid that all rules share, or, if its box cuts holes there, of its own."""
        grid = self.grid(query)
        found = grid.cells.region(query.box)
        if found is None:
            grid = Grid(query)
            found = np.zeros(len(grid.cells.units), dtype=np.intp), grid.cells.sizes - 1
        return grid, found

    def find(self, query: Query, *, k: int, nearest: bool, rng: np.random.Generator) -> Answer:  # noqa: ARG002
        """Counterfactuals, the first of them the nearest if asked for and proved."""
        before = query.model.rows_scored
        grid, region = self.region(query)
        if grid.cells.reason:
            return _none(query, grid)
        search = Search(grid, *region, seconds=self.seconds, nodes=self.nodes, progress=self.progress)
        near = query.donors[np.argsort(query.distances(query.donors), kind="stable")[:DONORS]]
        status, points = search.nearest(grid.cells.points(near)) if nearest else search.any()
        X = ranked(query, grid.cells.rows(points), k)
        if len(points) and not len(X):
            status = Status.UNKNOWN
        if status is Status.OPTIMAL and isinstance(grid.cells.structure.form, Additive) and not _listed(grid):
            status = Status.FOUND  # of a range, only the ends were looked at
        spent = query.model.rows_scored - before
        return Answer(status, X, query.distances(X), self.name, spent, search.told, search.spent)


@dataclass(frozen=True, eq=False)
class GridJudge:
    """Asks about many boxes of one query; see `Judge`."""

    method: BranchAndBound
    query: Query
    pool: list[NDArray[np.intp]] = field(default_factory=list)

    def escape(self, box: Box, *, seconds: float | None = None) -> Answer:
        """Whether a feasible instance in the box gets the desired outcome."""
        before = self.query.model.rows_scored
        grid, region = self.method.region(self.query.under(box))
        if grid.cells.reason:
            return _none(self.query, grid)
        limit = self.method.seconds if seconds is None else min(seconds, self.method.seconds)
        pool = self.pool if grid is self.method.grid(self.query) else None
        search = Search(grid, *region, seconds=limit, nodes=self.method.nodes, pool=pool, progress=self.method.progress)
        status, points = search.any()
        X = grid.cells.rows(points)
        spent = self.query.model.rows_scored - before
        return Answer(status, X, self.query.distances(X), self.method.name, spent, search.told, search.spent)

    def undo(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Accepted rows with changes undone, or as they are where the structure alone cannot tell."""
        grid = self.method.grid(self.query)
        whole = Search(grid, np.zeros_like(grid.own), grid.cells.sizes - 1, seconds=0.0, nodes=0, pool=self.pool)
        points = grid.cells.points(X)
        good = whole.k.margins(grid.forest, points) > grid.cut + grid.slack
        good &= np.array([whole.k.fits(grid.forest, grid.ties, -1, p) for p in points], dtype=np.bool_)
        undone = X.copy()
        shrunk = np.array([whole.shrunk(p) for p in points[good]], dtype=np.intp).reshape(-1, len(grid.own))
        undone[good] = grid.cells.rows(shrunk)
        return undone


_COMPILED: list[bool] = []


def compiled(grid: Grid) -> None:
    """Have the kernels compiled, once a process, before any clock runs: else the first answer is the poorer for it."""
    if _COMPILED:
        return
    _COMPILED.append(True)
    own = np.maximum(grid.own, 0)
    search = Search(grid, np.zeros_like(own), grid.cells.sizes - 1, seconds=np.inf, nodes=1)
    search.empty  # noqa: B018
    search.climbed(1)
    search.k.fits(grid.forest, grid.ties, -1, own)
    search.closer(own, enough=-np.inf)
    search.distance(own)
    search._root(search.lo, search.hi, 1)
    search._within(1.0, search.lo, search.hi)
    for nearest in (False, True):
        search.proved(nearest=nearest)
    if additive.suits(grid):
        additive.nearest(search, 1.0)


def _listed(grid: Grid) -> bool:
    return all(unit.listed for unit in grid.cells.units)


def _none(query: Query, grid: Grid) -> Answer:
    return Answer(Status.NONE, np.empty((0, len(query.x))), np.empty(0), CONSTRAINTS, 0, grid.cells.reason)


class Search:
    """One question about one region of a grid; climbs start from a pool of points too, and what is found goes there."""

    def __init__(
        self,
        grid: Grid,
        lo: NDArray[np.intp],
        hi: NDArray[np.intp],
        *,
        seconds: float,
        nodes: int,
        pool: list[NDArray[np.intp]] | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> None:
        from dueto.counterfactuals import kernels

        self.k, self.grid, self.lo, self.hi = kernels, grid, lo.astype(np.int64), hi.astype(np.int64)
        self.pool = [] if pool is None else pool
        self.progress = progress
        self.until, self.left, self.spent, self.told = time.perf_counter() + seconds, nodes, 0, ""

    @property
    def empty(self) -> bool:
        """Whether the region holds no feasible point at all."""
        return bool((self.lo > self.hi).any()) or not self.k.possible(self.grid.ties, -1, self.lo, self.hi)

    @property
    def nowhere(self) -> NDArray[np.intp]:
        """No point."""
        return np.empty((0, len(self.lo)), dtype=np.intp)

    def any(self) -> tuple[Status, NDArray[np.intp]]:
        """FOUND with points, their changes undone as far as the margin allows; NONE; or UNKNOWN."""
        if self.empty:
            return Status.NONE, self.nowhere
        found = self.climbed(STARTS)
        if not len(found):
            status, point = self.proved()
            if point is None:
                return status, self.nowhere
            found = point[None]
        return Status.FOUND, np.array([self.shrunk(p) for p in found])

    def climbed(
        self, starts: int, lo: NDArray[np.int64] | None = None, hi: NDArray[np.int64] | None = None
    ) -> NDArray[np.intp]:
        """The first good point that climbs reach, from good rows and points found before, moved into the region."""
        g = self.grid
        pool = np.vstack([np.maximum(g.own, 0)[None], *self.pool[: -RECENT - 1 : -1], g.donors])
        lo, hi = (self.lo, self.hi) if lo is None or hi is None else (lo, hi)
        pool = np.clip(pool, lo, hi)
        if len(g.ties.start) or g.query.plausibility is not None:
            pool = pool[[self.k.fits(g.forest, g.ties, -1, p) for p in pool]]
        enough = g.cut + g.slack
        for some in (pool[:FEW], pool[FEW:]):
            margins = self.k.margins(g.forest, some)
            for p in some[np.argsort(-margins, kind="stable")[:starts]]:
                if self.k.climb(g.forest, g.ties, lo, hi, p, enough) > enough:
                    return np.array(p[None])
        return self.nowhere

    def shrunk(self, point: NDArray[np.intp], *, enough: float | None = None) -> NDArray[np.intp]:
        """The point with as many units as possible back at the applicant's own cells, the margin above `enough`."""
        g = self.grid
        enough = g.cut + g.slack if enough is None else enough
        point = point.copy()
        if self.k.margins(g.forest, point[None])[0] > enough:
            order = np.argsort(-np.abs(point - g.own), kind="stable")
            self.k.shrink(g.forest, g.ties, g.own, self.lo, self.hi, point, enough, order)
        self.pool.append(point)
        return point

    def closer(self, point: NDArray[np.intp], *, enough: float | None = None) -> NDArray[np.intp]:
        """The point with changes undone, and then made as small as they can be one by one."""
        g, point = self.grid, self.shrunk(point, enough=enough)
        enough = g.cut + g.slack if enough is None else enough
        if self.k.margins(g.forest, point[None])[0] > enough:
            order = np.argsort(-g.parts[g.cell_start[:-1] + point][:, 1], kind="stable")
            self.k.approach(g.forest, g.ties, g.parts, g.cell_start, self.lo, self.hi, point, enough, order)
        return point

    def nearest(self, near: NDArray[np.intp]) -> tuple[Status, NDArray[np.intp]]:
        """OPTIMAL with the nearest point among others, FOUND where that is not proved, NONE, or UNKNOWN.

        `near` are points that may be good: what is good among them need not be looked for.
        """
        g = self.grid
        if self.empty:
            return Status.NONE, self.nowhere
        near = np.clip(near, self.lo, self.hi)
        near = near[self.k.margins(g.forest, near) > g.cut + g.slack] if len(near) else near
        near = near[[self.k.fits(g.forest, g.ties, -1, p) for p in near]]
        known = [self.closer(p) for p in [*near, *self.climbed(STARTS)]]
        limit = min((self.distance(p) for p in known), default=np.inf)
        find = partial(additive.nearest, self) if additive.suits(g) else partial(self.proved, nearest=True)
        status, point = find(limit=np.nextafter(limit, np.inf))
        points = np.array(known if point is None else [*known, point], dtype=np.intp).reshape(-1, len(self.lo))
        if status is Status.NONE:
            return (Status.OPTIMAL if len(points) else Status.NONE), points
        return (Status.FOUND if len(points) else Status.UNKNOWN), points

    def distance(self, point: NDArray[np.intp]) -> float:
        """How far a point is from the applicant."""
        g = self.grid
        return float(self.k.distance(g.parts[g.cell_start[:-1] + point], g.weights))

    def proved(self, *, limit: float = np.inf, nearest: bool = False) -> tuple[Status, NDArray[np.intp] | None]:
        """Branch and bound: NONE once no box is left, UNKNOWN when the budget is spent; and the (nearest) point found.

        What is still open after some boxes is taken up again box by box: with fewer leaves within reach, trees are
        joined, and bound each other.
        """
        g, best = self.grid, None
        open_ = [(self.lo, self.hi, 0)]
        while open_:
            lo, hi, level = open_.pop()
            if level and not nearest and len(point := self.climbed(2, lo, hi)):
                return Status.FOUND, point[0]
            if nearest and np.isfinite(limit):
                lo, hi = self._within(limit, lo, hi)
                if (lo > hi).any():
                    continue
            stack, bounds, leaves = self._root(lo, hi, level)
            stack.limit[0] = limit
            room = FIRST if level == 0 else SLICE
            while stack.top[0]:
                told, nodes = self.k.run(
                    g.forest, bounds, leaves, g.ties, g.parts, g.weights, g.single, stack, lo, g.set_start,
                    g.cell_start, g.cut, g.slack, min(room, self.left), nearest,
                )  # fmt: skip
                self.left, self.spent, room = self.left - nodes, self.spent + nodes, room - nodes
                if self.progress is not None:
                    self.progress(self.spent, len(open_))
                if self.left <= 0 or time.perf_counter() > self.until:
                    self.told = f"the budget is spent, after {self.spent:,} boxes"
                    return Status.UNKNOWN, best
                if told in (self.k.FOUND, self.k.ASK):
                    point = stack.point.astype(np.intp)
                    if told == self.k.FOUND or bool(g.query.accepts(g.cells.rows(point[None]))[0]):
                        if not nearest:
                            return Status.FOUND, point
                        best, limit = point, self.distance(point)
                        stack.limit[0] = limit
                if room <= 0 or told == self.k.OVERFLOW:
                    boxes = range(int(stack.top[0]))
                    open_ += [(stack.lo[i].copy(), stack.hi[i].copy(), level + 1) for i in boxes]
                    break
        return Status.NONE, best

    def _within(
        self, limit: float, lo: NDArray[np.int64], hi: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """A box without the cells at its ends that are too far."""
        g, lo, hi = self.grid, lo.copy(), hi.copy()
        near = np.empty((len(lo), 4))
        for u in range(len(lo)):
            self.k.nearest_parts(g.parts, g.cell_start, u, lo[u], hi[u], near)
        self.k.within(g.parts, g.cell_start, g.weights, near, limit, lo, hi)
        return lo, hi

    def _root(self, lo: NDArray[np.int64], hi: NDArray[np.int64], level: int) -> tuple[Any, Any, Any]:
        """A search of one box: its leaves within reach, joined at deeper levels, their masks, and a stack."""
        g, k = self.grid, self.k
        leaves = k.reach(g.forest, lo, hi, g.set_start)
        while level:
            joined = k.product(leaves, lo, hi, g.ordered, g.set_start, JOINED, PAIRS)
            if len(joined.first) == len(leaves.first):
                break
            leaves = joined
        bounds = k.bounder(leaves, lo, hi, g.ordered, g.set_start, g.cell_start)
        T, U, W, depth = len(bounds.words), len(lo), int(bounds.at[-1]), 2 * SLICE
        stack = k.Stack(
            np.empty((depth, U), np.int64), np.empty((depth, U), np.int64), np.empty((depth, W), np.uint64),
            np.empty((depth, T), np.int64), np.empty(depth), np.empty((depth, U, 4)), np.ones(1, np.int64),
            np.empty(1), np.empty(U, np.int64),
        )  # fmt: skip
        stack.lo[0], stack.hi[0] = lo, hi
        count = np.diff(leaves.first)
        for t in range(T):
            full, rest = divmod(int(count[t]), 64)
            stack.mask[0, bounds.at[t] : bounds.at[t] + full] = ~np.uint64(0)
            if rest:
                stack.mask[0, bounds.at[t] + full] = np.uint64((1 << rest) - 1)
        stack.best[0] = leaves.first[:-1]
        stack.bound[0] = g.forest.base + leaves.value[leaves.first[: leaves.own]].sum()
        if stack.bound[0] <= g.cut - g.slack:
            stack.top[0] = 0
        for u in range(U):
            k.nearest_parts(g.parts, g.cell_start, u, lo[u], hi[u], stack.near[0])
        return stack, bounds, leaves
