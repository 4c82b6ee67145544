"""LinearBounds: exact counterfactuals of ReLU networks, by linear bounds of the margin and branch and bound."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from dueto.box import Box
from dueto.counterfactuals.base import Answer, Query, Status
from dueto.counterfactuals.cells import refusal
from dueto.counterfactuals.network_grid import NetworkGrid
from dueto.counterfactuals.network_inputs import Least
from dueto.counterfactuals.ranking import ranked
from dueto.counterfactuals.relu_bounds import Bounds, Linear, Nodes
from dueto.counterfactuals.units import CONSTRAINTS
from dueto.models.network import Network

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dueto.counterfactuals.network_inputs import Ends


__all__ = ["LinearBounds", "NetworkJudge"]

BATCH = 256  # regions bounded at once
ROOT, STEPS = 100, 20  # gradient steps for the first region, and for each later one
CLIMBS = 8  # batches between two climbs from the corners where bounds were taken
POOL = 400  # points found under other rules, the last, that climbs start from
PRICES = 0.4, 0.05  # two plans: nearly all splits part units; or most fix ReLUs
FIRST, AHEAD = 2_000, 4  # regions given to the first plan; how many times as many the better plan may get
FEW = 64  # points of a region that are looked at one by one


@dataclass(frozen=True)
class LinearBounds:
    """Bound a network's margin over a region by a linear function; split the region or fix a ReLU; repeat.

    Use it for multilayer perceptrons with ReLUs. A climb from good rows finds most counterfactuals that exist; what it
    does not find is searched for, and where no region is left there is none. It equals `Exhaustive` wherever that can
    be used. The work grows steeply with the ReLUs that a rule leaves undecided: two layers of 16 or 32 can be settled,
    ten layers often not; then the answer is UNKNOWN.

    Parameters
    ----------
    seconds : float
        The longest that one question may take; then the answer is UNKNOWN, or FOUND for what was found until then.
    nodes : int
        The most regions bounded for one question.
    """

    seconds: float = 60.0
    nodes: int = 10_000_000
    name: str = "linear bounds"

    def refuses(self, query: Query) -> str:
        """Why the query is beyond linear bounds, or empty."""
        structure = query.model.structure
        if structure is not None and not isinstance(structure.form, Network):
            return "the model is not a network of ReLUs"
        if reason := refusal(query):
            return reason
        assert structure is not None
        if query.plausibility is not None:
            return "only plausible rows are asked for, which linear bounds of a network do not look at"
        for unit in query.units(np.random.default_rng(0)):
            for i, j in enumerate(unit.members):
                if not unit.listed and len(structure.columns.places[j]) > 1:
                    return (
                        f"{query.space.names[j]} is declared over a range, and the network sees it as several numbers"
                    )
                if np.isnan(structure.columns.of(j, unit.choices(query.x)[:, i])).any():
                    return f"a missing value of {query.space.names[j]} reaches the network"
        return ""

    def grid(self, query: Query) -> NetworkGrid:
        """The query without its box as a grid, made once for all rules on it."""
        if "network" not in query.memo:
            query.memo["network"] = NetworkGrid(replace(query, box=Box.everything(len(query.x))))
        found: NetworkGrid = query.memo["network"]
        return found

    def judge(self, query: Query) -> NetworkJudge:
        """Who answers for many rules on one query."""
        return NetworkJudge(self, query)

    def search(self, query: Query, pool: NDArray[np.intp] | None = None, seconds: float = np.inf) -> Search:
        """A search of the grid that all rules share, or, if the query's box cuts holes there, of its own."""
        grid = self.grid(query)
        region = grid.cells.region(query.box)
        if region is None:
            grid, pool = NetworkGrid(query), None
            region = np.zeros(len(grid.sizes), dtype=np.intp), grid.sizes - 1
        pool = grid.none if pool is None else pool[-POOL:]
        return Search(grid, *region, box=query.box, pool=pool, seconds=min(seconds, self.seconds), nodes=self.nodes)

    def find(self, query: Query, *, k: int, nearest: bool, rng: np.random.Generator) -> Answer:  # noqa: ARG002
        """Counterfactuals, the first of them the nearest if asked for and proved."""
        before = query.model.rows_scored
        search = self.search(query)
        if search.grid.cells.reason:
            return _none(query, search.grid)
        status, points = search.nearest() if nearest else search.any()
        X = ranked(query, search.grid.cells.rows(points), k)
        if not len(X) and status is not Status.NONE:
            status = Status.UNKNOWN
        told = search.told if status in (Status.UNKNOWN, Status.FOUND) else ""
        return Answer(status, X, query.distances(X), self.name, query.model.rows_scored - before, told)


class NetworkJudge:
    """Linear bounds, asked about many boxes of one query in a row; climbs start from what was found before, too."""

    def __init__(self, method: LinearBounds, query: Query) -> None:
        self.method, self.query = method, query
        self.found = method.grid(query).none

    def escape(self, box: Box, *, seconds: float | None = None) -> Answer:
        """Whether the box holds a counterfactual; what is found is not ranked."""
        before = self.query.model.rows_scored
        search = self.method.search(self.query.under(box), self.found, np.inf if seconds is None else seconds)
        if search.grid.cells.reason:
            return _none(self.query, search.grid)
        status, points = search.any()
        X = search.grid.cells.rows(points)
        if search.grid is self.method.grid(self.query):
            self.found = np.vstack([self.found, points])
        spent = self.query.model.rows_scored - before
        return Answer(status, X, self.query.distances(X), self.method.name, spent, search.told)

    def undo(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Accepted rows with changes undone."""
        grid = self.method.grid(self.query)
        lo, hi = np.zeros_like(grid.own), grid.sizes - 1
        points, undone = grid.cells.points(X), X.copy()
        good = (grid.margins(points) > grid.cut + grid.slack) & grid.allowed(points)
        shrunk = np.array([grid.shrunk(p, lo, hi) for p in points[good]], dtype=np.intp).reshape(-1, len(lo))
        undone[good] = grid.cells.rows(shrunk)  # the others as they are: of a range, a cell's own row may not be good
        return undone


def _none(query: Query, grid: NetworkGrid) -> Answer:
    return Answer(Status.NONE, np.empty((0, len(query.x))), np.empty(0), CONSTRAINTS, 0, grid.cells.reason)


class Search:
    """One question about one region of a grid."""

    def __init__(
        self,
        grid: NetworkGrid,
        lo: NDArray[np.intp],
        hi: NDArray[np.intp],
        *,
        box: Box,
        pool: NDArray[np.intp],
        seconds: float,
        nodes: int,
    ) -> None:
        self.grid, self.lo, self.hi, self.box, self.pool = grid, lo, hi, box, pool
        self.until, self.left, self.spent, self.told = time.perf_counter() + seconds, nodes, 0, ""
        self.limit, self.vague = np.inf, False

    @property
    def empty(self) -> bool:
        """Whether the constraints leave nothing of the region."""
        return not self.grid.possible(self.lo[None], self.hi[None])[0]

    def any(self) -> tuple[Status, NDArray[np.intp]]:
        """FOUND with points, their changes undone as far as the margin allows; NONE; or UNKNOWN."""
        if self.empty:
            return Status.NONE, self.grid.none
        found = self._climbed()[:4]
        status = Status.FOUND
        if not len(found):
            status, found = self._proved(nearest=False)
        return status, self._shrunk(found)

    def nearest(self) -> tuple[Status, NDArray[np.intp]]:
        """OPTIMAL with the nearest point first, FOUND where that is not proved, NONE, or UNKNOWN."""
        if self.empty:
            return Status.NONE, self.grid.none
        known = self._shrunk(self._climbed())
        self.limit = self.grid.distance(known).min(initial=np.inf)
        self.near = _Near(self.grid)
        status, found = self._proved(nearest=True)
        points = np.vstack([found, known])
        if status is Status.NONE and len(points):
            status = Status.OPTIMAL if self.grid.exact else Status.FOUND
        elif len(points):
            status = Status.FOUND
        return status, points

    def _climbed(self) -> NDArray[np.intp]:
        pool = np.vstack([np.maximum(self.grid.own, 0)[None], self.pool, self.grid.donors])
        return self._inside(self.grid.climbed(self.lo, self.hi, pool))

    def _shrunk(self, points: NDArray[np.intp]) -> NDArray[np.intp]:
        if not len(points):
            return points
        return np.unique([self.grid.shrunk(p, self.lo, self.hi) for p in points], axis=0)

    def _inside(self, points: NDArray[np.intp]) -> NDArray[np.intp]:
        """The points whose rows are in the box: a cell of a range may stick out."""
        return points if self.grid.exact else points[self.box.contains(self.grid.cells.rows(points))]

    # -- proofs

    def _proved(self, *, nearest: bool) -> tuple[Status, NDArray[np.intp]]:
        """Branch and bound: NONE once no region is left (nearer than what was found), FOUND, or UNKNOWN."""
        self.bounds = Bounds(self.grid, self.lo, self.hi)
        root = self.bounds.root(self.lo, self.hi)
        plans = [_Plan(root, price) for price in ((np.inf,) if nearest else PRICES)]
        found, batches = self.grid.none, 0
        while all(plan.stack for plan in plans):
            plan = _next(plans)
            if self.spent >= self.left or time.perf_counter() > self.until:
                self.told = (
                    f"the budget is spent, after {self.spent:,} regions; {plan.open:.1%} of the search is open, "
                    f"where the margin is at most {max(n.bound.max() for n in plan.stack):.3g}"
                )
                return Status.UNKNOWN, found
            nodes = plan.popped()
            self.spent += len(nodes)
            children, points = self._looked(nodes, price=plan.price, climb=batches % CLIMBS == 0, nearest=nearest)
            batches += 1
            if len(points):
                found = points
                if not nearest:
                    return Status.FOUND, found
            plan.push(children, nodes)
        if self.vague:
            self.told = "the margin comes too near to the cut within a range of real numbers"
        return Status.UNKNOWN if self.vague else Status.NONE, found

    def _looked(self, nodes: Nodes, *, price: float, climb: bool, nearest: bool) -> tuple[Nodes, NDArray[np.intp]]:
        """What is left of some regions, split; and a good point, if one was met (that is nearer than any known)."""
        bounds, grid = self.bounds, self.grid
        none = nodes.take(slice(0, 0)), grid.none
        if nearest:
            nodes = nodes.take(self.near.least(nodes.lo, nodes.hi) < self.limit)
        ends = bounds.inputs.ends(nodes.lo, nodes.hi)
        left = bounds.narrow(nodes, ends)
        nodes, ends = nodes.take(left), ends.take(left)
        if not len(nodes):
            return none
        first = nodes.share[0] == 1.0
        if first:
            start = bounds.improve(nodes, ends, steps=1)
            for at in bounds.at:
                bounds.scale[at] = np.abs(start.weight[:, at]).mean() + 1e-300
        linear = bounds.improve(nodes, ends, steps=ROOT if first else STEPS)
        keep = nodes.bound > bounds.target
        nodes, linear, ends = nodes.take(keep), linear.take(keep), ends.take(keep)
        if not len(nodes):
            return none
        points = self._met(bounds.inputs.top(linear.c, nodes.lo, nodes.hi), climb=climb, nearest=nearest)
        if len(points) and not nearest:
            return none[0], points
        bounds.inputs.trim(linear.c, linear.bound - bounds.target, ends, nodes.lo, nodes.hi)
        keep = grid.possible(nodes.lo, nodes.hi)
        few = keep & (
            np.prod(np.maximum(nodes.hi - nodes.lo + 1, 1).astype(np.float64), axis=1) <= (FEW if grid.exact else 1)
        )
        for i in np.flatnonzero(few):
            better = self._met(_all(nodes.lo[i], nodes.hi[i]), climb=False, nearest=nearest)
            points = better if len(better) else points
            self.vague |= not grid.exact
        keep &= ~few
        children = self._split(nodes.take(keep), linear.take(keep), ends.take(keep), price=price, nearest=nearest)
        return children, points

    def _met(self, points: NDArray[np.intp], *, climb: bool, nearest: bool) -> NDArray[np.intp]:
        """The good of some points, or of those that climbs reach from them; or the nearest, if nearer than all."""
        grid = self.grid
        points = points[grid.allowed(points)]
        good = self._inside(points[grid.good(points, grid.margins(points))])
        if climb and not len(good):
            good = self._inside(grid.climbed(self.lo, self.hi, points, starts=4))
        if not nearest or not len(good):
            return good[:4]
        good = np.unique(np.vstack([good, [grid.shrunk(p, self.lo, self.hi) for p in good]]), axis=0)
        far = grid.distance(good)
        if far.min() >= self.limit:
            return good[:0]
        self.limit = float(far.min())
        return np.asarray(good[far.argmin()][None])

    def _split(self, nodes: Nodes, linear: Linear, ends: Ends, *, price: float, nearest: bool) -> Nodes:
        """Two children or three for each region: it parts a unit's cells or, if worth it, fixes a ReLU.

        The unit is the one that moves the arguments of undecided ReLUs of the first layer most, weighted as they weigh
        in the bound; or, if none is left, the bound itself.
        """
        inputs, first = self.bounds.inputs, self.bounds.at[0]
        reach = inputs.reach(np.abs(linear.weight[:, first]) * nodes.free[:, first], ends, len(self.lo))
        reach[nodes.lo == nodes.hi] = 0.0
        far = np.asarray(reach.any(axis=1))
        worth = np.where(nodes.free, _worth(nodes, linear), -1.0)
        costly = np.asarray(worth.max(axis=1) <= price * reach.max(axis=1)) if np.isfinite(price) else far
        relu = nodes.free.any(axis=1) & ~(far & costly) & (not nearest)
        reach = np.where(far[:, None], reach, inputs.spread(linear.c, ends, len(self.lo)))
        which = worth.argmax(axis=1)
        children = Nodes.join(
            [*_fixed(nodes.take(relu), which[relu]), *self._halved(nodes.take(~relu), reach[~relu], nearest=nearest)]
        )
        order = -self.near.least(children.lo, children.hi) if nearest else children.bound
        return children.take(np.argsort(order, kind="stable"))

    def _halved(self, nodes: Nodes, spread: NDArray[np.float64], *, nearest: bool) -> list[Nodes]:
        """Two children for each region; three where the nearest is sought: below, at and above x's own cell."""
        open_ = nodes.lo < nodes.hi
        u = np.where(open_, spread + 1e-12 * (nodes.hi - nodes.lo) + 1e-15, -1.0).argmax(axis=1)
        rows = np.arange(len(nodes))
        lo, hi, own = nodes.lo[rows, u], nodes.hi[rows, u], self.grid.own[u]
        middle = (lo + hi) // 2
        at_own = nearest & (own >= lo) & (own <= hi)
        parts = []
        below = lo, np.where(at_own, own - 1, middle)
        at = np.where(at_own, own, middle + 1), np.where(at_own, own, hi)
        above = np.where(at_own, own + 1, 1), np.where(at_own, hi, 0)
        for first, last in (below, at, above):
            child = nodes.take(slice(None))
            child.lo[rows, u], child.hi[rows, u] = first, last
            child.share /= 2 + (at_own & (own > lo) & (own < hi))
            parts.append(child.take(first <= last))
        return parts


class _Plan:
    """The open regions of a search, and their share of it; what fixing a ReLU must be worth beside parting a unit."""

    def __init__(self, root: Nodes, price: float) -> None:
        self.stack, self.price, self.spent, self.open = [root], price, 0, 1.0

    def popped(self) -> Nodes:
        """At most BATCH regions from the end."""
        parts, size = [], 0
        while self.stack and size < BATCH:
            last = self.stack.pop()
            if (more := size + len(last) - BATCH) > 0:
                self.stack.append(last.take(slice(0, more)))
                last = last.take(slice(more, None))
            parts.append(last)
            size += len(last)
        self.spent += size
        return Nodes.join(parts)

    def push(self, children: Nodes, instead_of: Nodes) -> None:
        """The children of regions that were popped."""
        self.open += float(children.share.sum() - instead_of.share.sum())
        if len(children):
            self.stack.append(children)


def _next(plans: list[_Plan]) -> _Plan:
    """The plan to go on with: the one that is nearer its end, unless it has had far more than the other."""
    best = min(plans, key=lambda plan: plan.open)
    other = min(plans, key=lambda plan: plan.spent)
    return other if best.spent > FIRST + AHEAD * other.spent else best


class _Near:
    """The least distance from the applicant over regions."""

    def __init__(self, grid: NetworkGrid) -> None:
        self.distance, self.n = grid.query.distance, max(1, len(grid.query.x))
        self.parts = grid.cells.parts
        self.least_of = [[Least(parts[:, i]) for i in range(4)] for parts in self.parts]

    def least(self, lo: NDArray[np.intp], hi: NDArray[np.intp]) -> NDArray[np.float64]:
        """(B,) no point of each region is nearer."""
        total = np.zeros((len(lo), 4))
        for u, (parts, least) in enumerate(zip(self.parts, self.least_of, strict=True)):
            near = np.column_stack([parts[least[i](lo[:, u], hi[:, u]), i] for i in range(4)])
            total[:, :3] += near[:, :3]
            total[:, 3] = np.maximum(total[:, 3], near[:, 3])
        return np.asarray(self.distance.combine(total, self.n) * (1 - 1e-12))


def _fixed(nodes: Nodes, which: NDArray[np.intp]) -> list[Nodes]:
    """Two children for each region: one of its ReLUs active, or not."""
    rows, parts = np.arange(len(nodes)), []
    for sign in (1, -1):
        child = nodes.take(slice(None))
        child.sign[rows, which] = sign
        end = child.low if sign > 0 else child.high
        end[rows, which] = 0.0
        child.share /= 2
        parts.append(child)
    return parts


def _worth(nodes: Nodes, linear: Linear) -> NDArray[np.float64]:
    """(B, H) about how much of a bound is lost by what lies between each ReLU and its lines."""
    A, v = linear.weight, linear.value
    free = nodes.free
    low, high = np.where(free, nodes.low, -1.0), np.where(free, nodes.high, 1.0)
    gap = high * -low / (high - low)
    above = np.maximum(A, 0.0) * gap + 1e-6 * np.abs(A) * gap
    below = np.where(A < 0, -A * np.where(v > 0, (1 - nodes.alpha) * v, -nodes.alpha * v), 0.0)
    worth: NDArray[np.float64] = above + 0.3 * np.clip(below, 0.0, np.abs(A) * gap)
    return worth


def _all(lo: NDArray[np.intp], hi: NDArray[np.intp]) -> NDArray[np.intp]:
    """(N, U) every point of a region."""
    free = np.flatnonzero(lo < hi)
    points = np.repeat(lo[None], int(np.prod(hi[free] - lo[free] + 1)), axis=0)
    if len(free):
        shape = tuple((hi[free] - lo[free] + 1).tolist())
        points[:, free] = np.indices(shape).reshape(len(free), -1).T + lo[free]
    return points
