"""Upper bounds of a ReLU network's margin over many regions at once, by linear functions of its inputs.

The last layer is followed backwards: each ReLU is replaced by a line above or below it, so that a linear function of
the inputs is left, whose greatest value over a region is a sum of each unit's own maximum [1]_. The lines below may
have any slope from 0 to 1, and a ReLU that a search has fixed gives an inequality with a multiplier; both are
improved by gradient steps [2]_. All variables of all regions move together, in products of matrices.

.. [1] Zhang, Weng, Chen, Hsieh and Daniel, "Efficient neural network robustness certification with general activation
   functions", NeurIPS 2018.
.. [2] Wang, Zhang, Xu, Lin, Jana, Hsieh and Kolter, "Beta-CROWN: efficient bound propagation with per-neuron split
   constraints", NeurIPS 2021.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from dueto.counterfactuals.network_inputs import Inputs

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dueto.counterfactuals.network_grid import NetworkGrid
    from dueto.counterfactuals.network_inputs import Ends

__all__ = ["Bounds", "Linear", "Nodes"]

RATE, DECAY, MEMORY, SQUARES, SMOOTH = 0.4, 0.95, 0.7, 0.99, 0.4  # of the gradient steps
CHUNK = 10  # steps between two looks at which boxes are settled


@dataclass(eq=False)
class Nodes:
    """B regions of a search: `lo`, `hi` (B, U) cells; all else (B, H), one a ReLU, or (B,).

    Parameters
    ----------
    sign : int8
        1 or -1 where the search has fixed a ReLU to be active or not.
    low, high : float64
        Bounds of the ReLU's argument.
    alpha, beta : float64
        Slope of the line below; multiplier of the inequality.
    bound : (B,) float64
        No margin in the region is greater, rounding included.
    weight, value : float64
        The margin's coefficient of the ReLU, and the ReLU's argument, where the bound was taken: to choose the next
        split by.
    share : (B,) float64
        How much of the search it is: a child has half of it.
    """

    lo: NDArray[np.intp]
    hi: NDArray[np.intp]
    sign: NDArray[np.int8]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    alpha: NDArray[np.float64]
    beta: NDArray[np.float64]
    bound: NDArray[np.float64]
    share: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.bound)

    def take(self, at: NDArray[np.generic] | slice) -> Nodes:
        """Some of them, copied."""
        return Nodes(*(np.array(getattr(self, f.name)[at]) for f in fields(self)))

    @classmethod
    def join(cls, parts: list[Nodes]) -> Nodes:
        """All of these in one."""
        return cls(*(np.concatenate([getattr(p, f.name) for p in parts]) for f in fields(cls)))

    @property
    def free(self) -> NDArray[np.bool_]:
        """(B, H) whether a ReLU may be active or not."""
        return (self.low < 0) & (self.high > 0)


@dataclass(eq=False)
class Linear:
    """Of B regions: linear functions above the margin, c (B, p) and a constant, and their greatest values.

    `weight`, `value` (B, H): the margin's coefficient of each ReLU and the ReLU's argument there, to choose a split by.
    """

    c: NDArray[np.float64]
    bound: NDArray[np.float64]
    weight: NDArray[np.float64]
    value: NDArray[np.float64]

    def take(self, at: NDArray[np.generic]) -> Linear:
        """Some of them."""
        return Linear(self.c[at], self.bound[at], self.weight[at], self.value[at])


class Bounds:
    """Bounds over regions inside one region, lo to hi (U,), of a grid; what is pruned has no margin above `target`."""

    def __init__(self, grid: NetworkGrid, lo: NDArray[np.intp], hi: NDArray[np.intp]) -> None:
        self.inputs = Inputs(grid, lo, hi)
        self.target = grid.cut - grid.slack
        form = grid.form
        self.W = [self.inputs.W, *form.weights[1:]]
        self.WT = [np.ascontiguousarray(W.T) for W in self.W]
        self.b = [self.inputs.b, *form.biases[1:]]
        widths = [len(b) for b in self.b[:-1]]
        ends = np.cumsum([0, *widths])
        self.at = [slice(a, b) for a, b in pairwise(ends.tolist())]
        self.n = int(ends[-1])
        # Rounding: sums of k terms are off by less than k eps times the sum of absolute values; four times that.
        self.eps = 4 * float(np.finfo(np.float64).eps) * (sum(widths) + 2 * len(widths) + len(self.W[0]) + 8)
        most = self.inputs.size @ np.abs(self.W[0]) + self.inputs.b_size
        self.wide = [self.eps * most]
        for W, b in zip(self.W[1:-1], self.b[1:-1], strict=True):
            most = 2 * most @ np.abs(W) + np.abs(b)
            self.wide.append(self.eps * most)
        self.scale = np.ones(self.n)

    def root(self, lo: NDArray[np.intp], hi: NDArray[np.intp]) -> Nodes:
        """One region, of which nothing is known yet."""
        one = np.ones((1, self.n))
        return Nodes(
            lo[None].copy(), hi[None].copy(), np.zeros((1, self.n), np.int8), -np.inf * one, np.inf * one,
            0.5 * one, 0 * one, np.array([np.inf]), np.ones(1),
        )  # fmt: skip

    # -- bounds of the ReLUs' arguments

    def narrow(self, nodes: Nodes, ends: Ends) -> NDArray[np.bool_]:
        """Narrow `low` and `high` by the regions; (B,) whether something is left of each."""
        for layer, at in enumerate(self.at):
            low, high = self._layer(layer, nodes, ends)
            nodes.low[:, at] = np.maximum(nodes.low[:, at], low - self.wide[layer])
            nodes.high[:, at] = np.minimum(nodes.high[:, at], high + self.wide[layer])
        return np.asarray((nodes.low <= nodes.high).all(axis=1))

    def _layer(self, layer: int, nodes: Nodes, ends: Ends) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """(B, H) least and greatest arguments of a layer's ReLUs, each alone."""
        A = np.concatenate([self.WT[layer], -self.WT[layer]])[None]
        const = np.concatenate([self.b[layer], -self.b[layer]]) + np.zeros((len(nodes), 1))
        for k in range(layer - 1, -1, -1):
            low, high = nodes.low[:, self.at[k]], nodes.high[:, self.at[k]]
            up, off = _above(low, high)
            down = np.where(low >= 0, 1.0, (high > -low) & (high > 0))
            above = np.maximum(A, 0.0)
            const = const + (off @ above[0].T if len(above) == 1 else (above @ off[:, :, None])[..., 0])
            A = above * up[:, None] + (A - above) * down[:, None]
            const = const + A @ self.b[k]
            A = A @ self.WT[k]
        most = const + self.inputs.most(A, ends)
        half = len(self.WT[layer])
        return -most[:, half:], most[:, :half]

    # -- bounds of the margin

    def improve(self, nodes: Nodes, ends: Ends, *, steps: int, enough: bool = True) -> Linear:
        """Lower the bounds of the margin by gradient steps on `alpha` and `beta`, until settled if that is `enough`."""
        B = len(nodes)
        best = Linear(np.empty((B, len(self.W[0]))), np.full(B, np.inf), np.empty((B, self.n)), np.empty((B, self.n)))
        rows, work = np.arange(B), _Steps(self, nodes, ends)
        for start in range(0, max(steps, 1), CHUNK):
            for i in range(start, min(start + CHUNK, max(steps, 1))):
                bound, c = work.backward()
                better = bound < best.bound[rows]
                at = rows[better]
                best.bound[at], best.c[at] = bound[better], c[better]
                work.forward(c)
                nodes.alpha[at], nodes.beta[at] = work.alpha[better], work.beta[better]
                best.weight[at], best.value[at] = work.weight[better], work.value[better]
                work.step(i)
            keep = best.bound[rows] > self.target if enough else np.ones(len(rows), dtype=np.bool_)
            if not keep.any():
                break
            if not keep.all():
                rows = rows[keep]
                work.take(keep)
        best.bound += self._error(nodes)
        nodes.bound = np.minimum(nodes.bound, best.bound)
        return best

    def _error(self, nodes: Nodes) -> NDArray[np.float64]:
        """(B,) how far rounding may move bounds: the same computation with absolute values only."""
        A = np.abs(self.WT[-1])
        total = np.full(len(nodes), np.abs(self.b[-1])[0])
        for k in range(len(self.at) - 1, -1, -1):
            at = self.at[k]
            total += (A * _above(nodes.low[:, at], nodes.high[:, at])[1]).sum(axis=1)
            A = A + nodes.beta[:, at]
            total += A @ (self.inputs.b_size if k == 0 else np.abs(self.b[k]))
            A = A @ np.abs(self.WT[k])
        return np.asarray(self.eps * (total + A @ self.inputs.size))


class _Steps:
    """Gradient steps (Adam) of some nodes; the gradient is that of a bound whose corners are rounded off."""

    def __init__(self, bounds: Bounds, nodes: Nodes, ends: Ends) -> None:
        self.of, self.ends = bounds, ends
        self.alpha, self.beta, self.sign = nodes.alpha.copy(), nodes.beta.copy(), nodes.sign.astype(np.float64)
        self.up, self.off = _above(nodes.low, nodes.high)
        self.free = nodes.free
        self.weight, self.slope, self.lift, self.value = (np.empty_like(self.alpha) for _ in range(4))
        self.mean = [np.zeros_like(self.alpha) for _ in range(2)]
        self.square = [np.zeros_like(self.alpha) for _ in range(2)]

    def take(self, keep: NDArray[np.bool_]) -> None:
        """Go on with some of them."""
        for name in ("alpha", "beta", "sign", "up", "off", "free", "weight", "slope", "lift", "value"):
            setattr(self, name, getattr(self, name)[keep])
        self.mean, self.square = [m[keep] for m in self.mean], [s[keep] for s in self.square]
        self.ends = self.ends.take(keep)

    def backward(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """(B,) bounds and (B, p) the coefficients of the inputs."""
        A = np.repeat(self.of.WT[-1], len(self.alpha), axis=0)
        const = np.full(len(A), self.of.b[-1][0])
        for k in range(len(self.of.at) - 1, -1, -1):
            at, above = self.of.at[k], A > 0
            self.weight[:, at] = A
            self.slope[:, at] = np.where(self.free[:, at] & ~above, self.alpha[:, at], self.up[:, at])
            self.lift[:, at] = np.where(above, self.off[:, at], 0.0)
            const += (A * self.lift[:, at]).sum(axis=1)
            A = A * self.slope[:, at] + self.beta[:, at] * self.sign[:, at]
            const += A @ self.of.b[k]
            A = A @ self.of.WT[k]
        return const + self.of.inputs.most(A[:, None], self.ends)[:, 0], A

    def forward(self, c: NDArray[np.float64]) -> None:
        """The ReLUs' arguments where the linear function is greatest, nearly."""
        v = self.of.inputs.near_top(c, self.ends, SMOOTH) @ self.of.W[0] + self.of.b[0]
        for k, at in enumerate(self.of.at):
            self.value[:, at] = v
            if k + 1 < len(self.of.at):
                v = (self.slope[:, at] * v + self.lift[:, at]) @ self.of.W[k + 1] + self.of.b[k + 1]

    def step(self, i: int) -> None:
        """The i-th step downhill."""
        slopes = np.where(self.free & (self.weight < 0), self.weight * self.value, 0.0)
        self._move(0, self.alpha, slopes, i, RATE)
        self._move(1, self.beta, self.sign * self.value, i, RATE * self.of.scale)
        np.clip(self.alpha, 0.0, 1.0, out=self.alpha)
        np.maximum(self.beta, 0.0, out=self.beta)

    def _move(
        self, which: int, x: NDArray[np.float64], g: NDArray[np.float64], i: int, rate: float | NDArray[np.float64]
    ) -> None:
        m, s = self.mean[which], self.square[which]
        m *= MEMORY
        m += (1 - MEMORY) * g
        s *= SQUARES
        s += (1 - SQUARES) * g * g
        x -= rate * DECAY**i / (1 - MEMORY ** (i + 1)) * m / (np.sqrt(s / (1 - SQUARES ** (i + 1))) + 1e-12)


def _above(low: NDArray[np.float64], high: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Slope and height at 0 of the line above a ReLU on [low, high]."""
    free = (low < 0) & (high > 0)
    slope = np.where(free, high / np.where(free, high - low, 1.0), low >= 0)
    return slope, np.where(free, -slope * np.where(free, low, 0.0), 0.0)
