"""A query's grid as a network sees it: scores of points, climbs, and changes undone."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from dueto.counterfactuals.cells import Cells
from dueto.models.network import Network

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dueto.counterfactuals.base import Query

__all__ = ["NetworkGrid"]

PIECES = 256  # cells of a range
DONORS = 400  # good rows of the data, the nearest, that climbs start from
STARTS = 16  # the best of them that climb
STEPS = 12  # cells of a unit that a climb looks at, evenly spread
SWEEPS = 12  # times a climb goes over all units


class NetworkGrid:
    """The cells of a query, its box included, and for each unit what its cells add to the first layer.

    Parameters
    ----------
    query : Query
        Its model's structure is a `Network`.

    Attributes
    ----------
    rows, low, high, tables : list of (p_u, H), (K_u, p_u), (K_u, p_u), (K_u, H) float64
        For each unit: its columns' weights; their least and greatest values in each cell; what the value that stands
        for each cell adds to the H sums of the first layer.
    exact : bool
        Whether each cell is one value to the network: not so where a unit has a range of real numbers.
    """

    def __init__(self, query: Query) -> None:
        self.query, self.cells = query, _listed(Cells.of(query))
        structure = self.cells.structure
        form, columns = structure.form, structure.columns
        assert isinstance(form, Network)
        self.form, self.cut = form, structure.cut
        self.own, self.sizes = self.cells.own, self.cells.sizes
        self.rows, self.low, self.high = [], [], []
        self.tables: list[NDArray[np.float64]] = []
        self.exact = True
        for u, (unit, values) in enumerate(zip(self.cells.units, self.cells.values, strict=True)):
            W = form.weights[0][np.concatenate([columns.places[j] for j in unit.members])]
            Z = np.hstack([columns.of(j, values[:, i]) for i, j in enumerate(unit.members)])
            low, high = Z, Z
            if not unit.listed:
                ends = [columns.of(unit.members[0], end) for end in (self.cells.low[u], self.cells.high[u])]
                low, high = np.minimum(*ends), np.maximum(*ends)
                self.exact &= bool((low == high).all())
            self.rows.append(W)
            self.low.append(low)
            self.high.append(high)
            self.tables.append(Z @ W)
        self.slack = max(structure.slack, self._rounding())
        self.none = np.empty((0, len(self.sizes)), dtype=np.intp)

    def _rounding(self) -> float:
        """How far rounding may move a margin on this grid: the applicant's values may be outside their domains."""
        most = np.abs(self.form.biases[0])
        for low, high, W in zip(self.low, self.high, self.rows, strict=True):
            most = most + np.maximum(np.abs(low), np.abs(high)).max(axis=0, initial=0.0) @ np.abs(W)
        for W, b in zip(self.form.weights[1:], self.form.biases[1:], strict=True):
            most = most @ np.abs(W) + np.abs(b)
        return float(4 * np.finfo(np.float64).eps * sum(len(W) + 2 for W in self.form.weights) * most.max())

    @cached_property
    def donors(self) -> NDArray[np.intp]:
        """Points of the nearest good rows of the data."""
        X = self.query.donors
        near = np.argsort(self.query.distances(X), kind="stable")[:DONORS]
        return self.cells.points(X[near])

    # -- scores

    def sums(self, points: NDArray[np.integer]) -> NDArray[np.float64]:
        """(N, H) the sums of the first layer."""
        total = np.tile(self.form.biases[0], (len(points), 1))
        for u, table in enumerate(self.tables):
            total += table[points[:, u]]
        return total

    def after(self, sums: NDArray[np.float64]) -> NDArray[np.float64]:
        """(...,) the margin, from the sums of the first layer (..., H)."""
        for W, b in zip(self.form.weights[1:], self.form.biases[1:], strict=True):
            sums = np.maximum(sums, 0.0) @ W + b
        return sums[..., 0]

    def margins(self, points: NDArray[np.integer]) -> NDArray[np.float64]:
        """(N,) the margin of each point."""
        return self.after(self.sums(points))

    def good(self, points: NDArray[np.intp], margins: NDArray[np.float64]) -> NDArray[np.bool_]:
        """(N,) whether each point gets the desired outcome; where rounding could decide, the model is asked."""
        good = margins > self.cut + self.slack
        ask = ~good & (margins >= self.cut - self.slack)
        if ask.any():
            good[ask] = self.query.model.good(self.cells.rows(points[ask]))
        return good

    # -- ties

    def allowed(self, points: NDArray[np.intp]) -> NDArray[np.bool_]:
        """(N,) whether each point meets the constraints between units."""
        ok = np.ones(len(points), dtype=np.bool_)
        for tie in self.cells.ties:
            ok &= tie.allowed[tuple(points[:, u] for u in tie.units)]
        return ok

    def possible(self, lo: NDArray[np.integer], hi: NDArray[np.integer]) -> NDArray[np.bool_]:
        """(B,) whether each tie allows something in each region lo to hi, both (B, U)."""
        ok = np.asarray((lo <= hi).all(axis=1))
        for tie in self.cells.ties:
            total = np.zeros(len(lo), dtype=np.int64)
            for corner in range(1 << len(tie.units)):
                picks = [
                    lo[:, u] if corner >> i & 1 else np.maximum(hi[:, u] + 1, lo[:, u]) for i, u in enumerate(tie.units)
                ]
                total += (-1) ** corner.bit_count() * tie.counts[tuple(picks)]
            ok &= total > 0
        return ok

    def _moves(self, points: NDArray[np.intp], u: int, to: NDArray[np.intp]) -> NDArray[np.bool_]:
        """(N, K) whether the ties allow each point with unit u moved to each of these cells."""
        ok = np.ones((len(points), len(to)), dtype=np.bool_)
        for tie in self.cells.ties:
            if u in tie.units:
                ok &= tie.allowed[tuple(to[None] if v == u else points[:, v, None] for v in tie.units)]
        return ok

    # -- search

    def climbed(
        self, lo: NDArray[np.intp], hi: NDArray[np.intp], pool: NDArray[np.intp], *, starts: int = STARTS
    ) -> NDArray[np.intp]:
        """Good points of a region that climbs reach from these points, moved into it."""
        pool = np.unique(np.clip(pool, lo, hi), axis=0)
        pool = pool[self.allowed(pool)]
        sums = self.sums(pool)
        margins = self.after(sums)
        best = np.argsort(-margins, kind="stable")[:starts]
        points, sums, margins = pool[best], sums[best], margins[best]
        free = np.flatnonzero(lo < hi).tolist()
        enough = self.cut + self.slack
        for _ in range(SWEEPS):
            if not len(points) or (margins > enough).any():
                break
            before = margins.copy()
            for u in free:
                to = np.unique(np.linspace(lo[u], hi[u], STEPS).astype(np.intp))
                tried = (sums - self.tables[u][points[:, u]])[:, None] + self.tables[u][to]
                m = self.after(tried)
                if self.cells.ties:
                    m = np.where(self._moves(points, u, to), m, -np.inf)
                at = m.argmax(axis=1)
                rows = np.arange(len(points))
                up = np.flatnonzero(m[rows, at] > margins)
                points[up, u], sums[up], margins[up] = to[at[up]], tried[up, at[up]], m[up, at[up]]
            moving = margins > before
            points, sums, margins = points[moving], sums[moving], margins[moving]
        return points[margins > enough] if len(points) else points

    def shrunk(self, point: NDArray[np.intp], lo: NDArray[np.intp], hi: NDArray[np.intp]) -> NDArray[np.intp]:
        """A good point with as many units as possible back at the applicant's own cells, the cheapest first."""
        point = point.copy()
        back = np.flatnonzero((self.own >= lo) & (self.own <= hi))
        while True:
            undo = back[point[back] != self.own[back]]
            tried = np.repeat(point[None], len(undo), axis=0)
            tried[np.arange(len(undo)), undo] = self.own[undo]
            tried = tried[self.allowed(tried)]
            margins = self.margins(tried)
            if not len(tried) or margins.max() <= self.cut + self.slack:
                return point
            point = tried[int(margins.argmax())]

    def distance(self, points: NDArray[np.intp]) -> NDArray[np.float64]:
        """(N,) how far points are from the applicant."""
        return self.query.distances(self.cells.rows(points))


def _listed(cells: Cells) -> Cells:
    """A grid whose ranges are cut into many cells, short enough for bounds to be tight."""
    units = [u for u, unit in enumerate(cells.units) if not unit.listed]
    if not units:
        return cells
    values, low, high, own = (list(x) for x in (cells.values, cells.low, cells.high, cells.own))
    for u in units:
        j = cells.units[u].members[0]
        x, whole = cells.query.x[j], cells.query.space.features[j].domain.integer
        starts, ends = [np.empty(0)], [np.empty(0)]
        for a, b in zip(low[u], high[u], strict=True):
            edges = np.linspace(a, b, PIECES)[:-1] if a < b else np.array([a])
            edges = np.unique(np.floor(edges) if whole else edges)
            starts.append(edges)
            ends.append(np.append(edges[1:] - 1 if whole else np.nextafter(edges[1:], -np.inf), b))
        low[u], high[u] = np.concatenate(starts), np.concatenate(ends)
        near = low[u] if np.isnan(x) else np.clip(x, low[u], high[u])
        here = np.flatnonzero((near == x) | (np.isnan(near) & np.isnan(x)))
        values[u], own[u] = near[:, None], int(here[0]) if len(here) and own[u] >= 0 else -1
    return replace(cells, values=tuple(values), low=tuple(low), high=tuple(high), own=np.array(own, dtype=np.intp))
