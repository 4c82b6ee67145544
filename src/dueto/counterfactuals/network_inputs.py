"""A network's inputs over regions of a grid: the greatest value of linear functions, unit by unit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dueto.counterfactuals.network_grid import NetworkGrid

__all__ = ["Ends", "Inputs", "Least"]


@dataclass(eq=False)
class Ends:
    """What B regions leave of the inputs: middle and half width of lines; 0 or -inf for the cells of others."""

    middle: NDArray[np.float64]
    half: NDArray[np.float64]
    masks: list[NDArray[np.float64]]

    def take(self, at: NDArray[np.generic]) -> Ends:
        """Some of them."""
        return Ends(self.middle[at], self.half[at], [m[at] for m in self.masks])


class Least:
    """Where the least of some numbers is, among those from one place to another: a table of the powers of two."""

    def __init__(self, numbers: NDArray[np.float64]) -> None:
        self.numbers, self.rows = numbers, [np.arange(len(numbers))]
        while (step := 2 ** (len(self.rows) - 1)) * 2 <= len(numbers):
            one, two = self.rows[-1][:-step], self.rows[-1][step:]
            self.rows.append(np.where(numbers[two] < numbers[one], two, one))

    def __call__(self, lo: NDArray[np.intp], hi: NDArray[np.intp]) -> NDArray[np.intp]:
        level = np.frexp(np.maximum(hi - lo + 1, 1))[1] - 1
        found = lo.copy()
        for i in np.unique(level):
            at = np.flatnonzero(level == i)
            one, two = self.rows[i][lo[at]], self.rows[i][np.maximum(hi[at], lo[at]) + 1 - 2**i]
            found[at] = np.where(self.numbers[two] < self.numbers[one], two, one)
        return found


class _Line:
    """A unit that the network sees as one number: from `low` to `high` (K,) in each cell."""

    def __init__(self, u: int, low: NDArray[np.float64], high: NDArray[np.float64]) -> None:
        self.u, self.low, self.high = u, low, high
        rises, falls = ((np.diff(z) >= 0).all() for z in (low, -high))
        self.way = 1 if rises and (np.diff(high) >= 0).all() else -1 if falls and (np.diff(low) <= 0).all() else 0
        self.least, self.most = Least(low), Least(-high)

    def ends(self, lo: NDArray[np.intp], hi: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """The cells from lo to hi of the least and of the greatest number."""
        if self.way:
            return (lo, hi) if self.way > 0 else (hi, lo)
        return self.least(lo, hi), self.most(lo, hi)

    def within(
        self, lo: NDArray[np.intp], hi: NDArray[np.intp], low: NDArray[np.float64], high: NDArray[np.float64]
    ) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """The first and the last cell from lo to hi with a number from low to high; last < first if there is none."""
        if self.way > 0:
            return np.maximum(lo, np.searchsorted(self.high, low)), np.minimum(
                hi, np.searchsorted(self.low, high, side="right") - 1
            )
        if self.way < 0:
            first, last = np.searchsorted(-self.low, -high), np.searchsorted(-self.high, -low, side="right") - 1
            return np.maximum(lo, first), np.minimum(hi, last)
        k = np.arange(len(self.low))
        return run((k >= lo[:, None]) & (k <= hi[:, None]) & (self.high >= low[:, None]) & (self.low <= high[:, None]))


def run(ok: NDArray[np.bool_]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The first and the last true place of each row; 1 and 0 if there is none."""
    some = ok.any(axis=1)
    last = ok.shape[1] - 1 - ok[:, ::-1].argmax(axis=1)
    return np.where(some, ok.argmax(axis=1), 1), np.where(some, last, 0)


class Inputs:
    """The inputs of a network inside one region, lo to hi (U,), of a grid.

    A unit that the network sees as one number (or that has but two cells) is a *line*: its number is scaled to [-1, 1].
    Any other is *wide*: a table of its cells' columns.

    Attributes
    ----------
    W : (p, H) float64
        First-layer weights of the inputs, lines first.
    b : (H,) float64
        First-layer biases, with what is the same in the whole region.
    size, b_size : (p,), (H,) float64
        Greatest absolute values that the inputs and the parts of the biases stand for, for rounding.
    """

    def __init__(self, grid: NetworkGrid, lo: NDArray[np.intp], hi: NDArray[np.intp]) -> None:
        self.lines: list[_Line] = []
        self.wides: list[tuple[int, NDArray[np.float64], slice]] = []
        self.b, self.b_size = grid.form.biases[0].copy(), np.abs(grid.form.biases[0])
        rows: list[NDArray[np.float64]] = []
        wide = []
        for u, (low, high, W) in enumerate(zip(grid.low, grid.high, grid.rows, strict=True)):
            here = slice(lo[u], hi[u] + 1)
            vary = (low[here] != low[lo[u]]).any(axis=0) | (high[here] != low[lo[u]]).any(axis=0)
            self._fold(low[lo[u], ~vary], W[~vary])
            single = hi[u] == lo[u] + 1 and (low[here] == high[here]).all()
            if vary.sum() == 1:
                least, most = low[here, vary].min(), high[here, vary].max()
                middle, half = (least + most) / 2, (most - least) / 2
                self._fold(np.array([middle]), W[vary])
                self.lines.append(_Line(u, (low[:, vary][:, 0] - middle) / half, (high[:, vary][:, 0] - middle) / half))
                rows.append(W[vary][0] * half)
            elif vary.any() and single:
                one, two = low[lo[u], vary], low[hi[u], vary]
                self._fold((one + two) / 2, W[vary])
                self.b_size += (np.abs(one) + np.abs(two)) @ np.abs(W[vary])
                z = np.where(np.arange(len(low)) > lo[u], 1.0, -1.0)
                self.lines.append(_Line(u, z, z))
                rows.append((two - one) / 2 @ W[vary])
            elif vary.any():
                wide.append((u, low[:, vary], W[vary]))
        self.n = len(rows)
        size = [np.ones(self.n)]
        for u, table, W in wide:
            at = slice(len(rows), len(rows) + len(W))
            self.wides.append((u, table, at))
            rows += list(W)
            size.append(np.abs(table[lo[u] : hi[u] + 1]).max(axis=0))
        self.W = np.array(rows).reshape(len(rows), len(self.b))
        self.size = np.concatenate(size)

    def _fold(self, z: NDArray[np.float64], W: NDArray[np.float64]) -> None:
        self.b += z @ W
        self.b_size += np.abs(z) @ np.abs(W)

    def ends(self, lo: NDArray[np.intp], hi: NDArray[np.intp]) -> Ends:
        """What regions (B, U) leave."""
        least, most = np.empty((len(lo), self.n)), np.empty((len(lo), self.n))
        for i, line in enumerate(self.lines):
            a, b = line.ends(lo[:, line.u], hi[:, line.u])
            least[:, i], most[:, i] = line.low[a], line.high[b]
        masks = []
        for u, table, _ in self.wides:
            k = np.arange(len(table))
            masks.append(np.where((k >= lo[:, u, None]) & (k <= hi[:, u, None]), 0.0, -np.inf))
        return Ends((most + least) / 2, (most - least) / 2, masks)

    def most(self, C: NDArray[np.float64], ends: Ends) -> NDArray[np.float64]:
        """(B, R) the greatest values of linear functions, C (B, R, p) or the same for all (1, R, p), over B regions."""
        n = self.n
        if len(C) == 1:
            total = ends.middle @ C[0, :, :n].T + ends.half @ np.abs(C[0, :, :n]).T
        else:
            total = (C[..., :n] @ ends.middle[:, :, None] + np.abs(C[..., :n]) @ ends.half[:, :, None])[..., 0]
        for (_, table, at), mask in zip(self.wides, ends.masks, strict=True):
            total += (C[..., at] @ table.T + mask[:, None]).max(axis=2)
        return np.asarray(total)

    def near_top(self, c: NDArray[np.float64], ends: Ends, smooth: float) -> NDArray[np.float64]:
        """(B, p) where linear functions c (B, p) are greatest; with small coefficients, nearer to the middle."""
        z = np.empty_like(c)
        scale = smooth * np.abs(c).sum(axis=1, keepdims=True) / max(1, c.shape[1]) + 1e-300
        z[:, : self.n] = ends.middle + np.clip(c[:, : self.n] / scale, -1.0, 1.0) * ends.half
        for (_, table, at), mask in zip(self.wides, ends.masks, strict=True):
            z[:, at] = table[(c[:, at] @ table.T + mask).argmax(axis=1)]
        return z

    def top(self, c: NDArray[np.float64], lo: NDArray[np.intp], hi: NDArray[np.intp]) -> NDArray[np.intp]:
        """(B, U) the points of regions where linear functions c (B, p) are greatest."""
        points = lo.copy()
        for i, line in enumerate(self.lines):
            a, b = line.ends(lo[:, line.u], hi[:, line.u])
            points[:, line.u] = np.where(c[:, i] > 0, b, a)
        for u, table, at in self.wides:
            k = np.arange(len(table))
            inside = (k >= lo[:, u, None]) & (k <= hi[:, u, None])
            points[:, u] = np.where(inside, c[:, at] @ table.T, -np.inf).argmax(axis=1)
        return points

    def spread(self, c: NDArray[np.float64], ends: Ends, units: int) -> NDArray[np.float64]:
        """(B, U) how far each unit alone can move linear functions c (B, p)."""
        far = np.zeros((len(c), units))
        for i, line in enumerate(self.lines):
            far[:, line.u] = 2 * np.abs(c[:, i]) * ends.half[:, i]
        for (u, table, at), mask in zip(self.wides, ends.masks, strict=True):
            s = c[:, at] @ table.T
            far[:, u] = (s + mask).max(axis=1) - (s - mask).min(axis=1)
        return far

    def reach(self, weight: NDArray[np.float64], ends: Ends, units: int) -> NDArray[np.float64]:
        """(B, U) how far each unit alone can move the first sums, each of these weighted, (B, H); about so, if wide."""
        far = np.zeros((len(weight), units))
        lines = 2 * ends.half * (weight @ np.abs(self.W[: self.n]).T)
        for i, line in enumerate(self.lines):
            far[:, line.u] = lines[:, i]
        for (u, table, at), mask in zip(self.wides, ends.masks, strict=True):
            far[:, u] = (weight @ np.ptp(table @ self.W[at], axis=0)) * ((mask == 0).sum(axis=1) > 1)
        return far

    def trim(
        self, c: NDArray[np.float64], room: NDArray[np.float64], ends: Ends, lo: NDArray[np.intp], hi: NDArray[np.intp]
    ) -> None:
        """Drop the cells at the ends of regions that make c (B, p) lose more than `room` (B,)."""
        room = room * (1 + 1e-9)
        for i, line in enumerate(self.lines):
            u, loss = line.u, np.abs(c[:, i])
            rows = np.flatnonzero((2 * loss * ends.half[:, i] > room) & (lo[:, u] < hi[:, u]))
            if len(rows):
                far = room[rows] / loss[rows] + 1e-12
                low = np.where(c[rows, i] > 0, ends.middle[rows, i] + ends.half[rows, i] - far, -np.inf)
                high = np.where(c[rows, i] < 0, ends.middle[rows, i] - ends.half[rows, i] + far, np.inf)
                lo[rows, u], hi[rows, u] = line.within(lo[rows, u], hi[rows, u], low, high)
        for (u, table, at), mask in zip(self.wides, ends.masks, strict=True):
            s = c[:, at] @ table.T + mask
            lo[:, u], hi[:, u] = run(s >= (s.max(axis=1) - room)[:, None] - 1e-12)
