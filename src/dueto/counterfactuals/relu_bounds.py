"""Upper bounds of a network's margin over many regions at once, by linear functions of its inputs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from dueto.counterfactuals.network_grid import NetworkGrid

EPS = float(np.finfo(np.float64).eps)


class Line:
    """A unit that the network sees as one number, a function of its cell."""

    def __init__(self, z):
        self.z = z
        d = np.diff(z)
        self.monotone = 1 if (d >= 0).all() else -1 if (d <= 0).all() else 0
        if not self.monotone:
            self.least, self.most = _table(z), _table(-z)

    def ends(self, lo, hi):
        """The cells in lo to hi of the least and of the greatest number."""
        if self.monotone:
            return (lo, hi) if self.monotone > 0 else (hi, lo)
        return _pick(self.least, self.z, lo, hi), _pick(self.most, -self.z, lo, hi)

    def within(self, lo, hi, low, high):
        """The first and last cell in lo to hi whose number is in low to high, first > last if there is none."""
        if self.monotone:
            z = self.z if self.monotone > 0 else -self.z
            if self.monotone < 0:
                low, high = -high, -low
            return np.maximum(lo, np.searchsorted(z, low)), np.minimum(hi, np.searchsorted(z, high, side="right") - 1)
        k = np.arange(len(self.z))
        ok = (k >= lo[:, None]) & (k <= hi[:, None]) & (self.z >= low[:, None]) & (self.z <= high[:, None])
        return _run(ok)


def _run(ok):
    some = ok.any(axis=1)
    first, last = ok.argmax(axis=1), ok.shape[1] - 1 - ok[:, ::-1].argmax(axis=1)
    return np.where(some, first, 1), np.where(some, last, 0)


def _table(z):
    """Where the least of every 2^i neighbours is."""
    rows = [np.arange(len(z))]
    while 2 ** len(rows) <= len(z):
        one, two = rows[-1][: -(2 ** (len(rows) - 1))], rows[-1][2 ** (len(rows) - 1) :]
        rows.append(np.where(z[two] < z[one], two, one))
    return rows


def _pick(table, z, lo, hi):
    width = np.maximum(hi - lo + 1, 1)
    level = np.frexp(width)[1] - 1
    found = np.empty_like(lo)
    for i in np.unique(level):
        at = level == i
        one, two = table[i][lo[at]], table[i][hi[at] + 1 - 2**i]
        found[at] = np.where(z[two] < z[one], two, one)
    return found


class Bounds:
    def __init__(self, grid: NetworkGrid, lo, hi):
        self.grid = grid
        form = grid.form
        self.W = [np.ascontiguousarray(W) for W in form.weights[1:]]
        self.b = [b.copy() for b in form.biases]
        self.lines, self.line_units, self.wides = [], [], []
        rows = []
        for u, (Z, W) in enumerate(zip(grid.inputs, grid.rows)):
            part = Z[lo[u] : hi[u] + 1]
            vary = (part != part[0]).any(axis=0)
            self.b[0] = self.b[0] + part[0, ~vary] @ W[~vary]
            if vary.sum() == 0 and lo[u] == hi[u]:
                continue
            if vary.sum() <= 1 or lo[u] + 1 == hi[u]:
                z = np.zeros(len(Z))
                if vary.sum() == 1:
                    col = Z[:, vary][:, 0]
                    a, b = part[:, vary].min(), part[:, vary].max()
                    mid, half = (a + b) / 2, (b - a) / 2
                    z = (col - mid) / half
                    self.b[0] = self.b[0] + mid * W[vary][0]
                    row = W[vary][0] * half
                elif vary.sum() > 1:
                    z[hi[u] :] = 1.0
                    self.b[0] = self.b[0] + part[0, vary] @ W[vary]
                    row = (part[1] - part[0])[vary] @ W[vary]
                else:
                    row = np.zeros(W.shape[1])
                self.lines.append(Line(z))
                self.line_units.append(u)
                rows.append(row)
            else:
                self.wides.append((u, Z[:, vary], W[vary]))
        self.P = len(rows)
        at = self.P
        self.wide = []
        for u, Z, W in self.wides:
            self.wide.append((u, Z, slice(at, at + Z.shape[1])))
            rows += list(W)
            at += Z.shape[1]
        self.W0 = np.array(rows).reshape(at, len(self.b[0]))
        self.W0T = np.ascontiguousarray(self.W0.T)
        self.WT = [np.ascontiguousarray(W.T) for W in self.W]
        self.lu = np.array(self.line_units, dtype=int)
        self.widths = [len(b) for b in self.b[:-1]]
        self.start = np.cumsum([0, *self.widths])
        self.slices = [slice(a, b) for a, b in zip(self.start, self.start[1:])]
        self.H = int(self.start[-1])
        self.L = len(self.widths)

    def ends(self, lo, hi):
        B = len(lo)
        small, big = np.empty((B, self.P)), np.empty((B, self.P))
        for i, (u, line) in enumerate(zip(self.line_units, self.lines)):
            a, b = line.ends(lo[:, u], hi[:, u])
            small[:, i], big[:, i] = line.z[a], line.z[b]
        masks = []
        for u, Z, _ in self.wide:
            k = np.arange(len(Z))
            masks.append(np.where((k >= lo[:, u, None]) & (k <= hi[:, u, None]), 0.0, -np.inf))
        return (big + small) / 2, (big - small) / 2, masks

    def most(self, c, ends):
        """(B, R) greatest value of linear functions c (B, R, p) over the regions."""
        center, radius, masks = ends
        P = self.P
        total = (c[..., :P] @ center[:, :, None] + np.abs(c[..., :P]) @ radius[:, :, None])[..., 0]
        for (u, Z, cols), mask in zip(self.wide, masks):
            total += (c[..., cols] @ Z.T + mask[:, None]).max(axis=2)
        return total

    def top(self, c, ends):
        """(B,) values and (B, p) where, of c (B, p)."""
        center, radius, masks = ends
        P = self.P
        z = np.empty_like(c)
        z[:, :P] = center + np.sign(c[:, :P]) * radius
        for (u, Z, cols), mask in zip(self.wide, masks):
            z[:, cols] = Z[(c[:, cols] @ Z.T + mask).argmax(axis=1)]
        return (c * z).sum(axis=1), z

    def first(self, ends):
        """(B, H1) bounds of the first sums."""
        center, radius, masks = ends
        P = self.P
        mid = center @ self.W0[:P] + self.b[0]
        far = radius @ np.abs(self.W0[:P])
        low, high = mid - far, mid + far
        for (u, Z, cols), mask in zip(self.wide, masks):
            t = Z @ self.W0[cols]  # K, H
            s = t[None] + mask[:, :, None]
            high += s.max(axis=1)
            low += (t[None] - mask[:, :, None]).min(axis=1)
        return low, high

    def slopes(self, low, high):
        gap = np.maximum(high - low, 1e-300)
        up = np.where(low >= 0, 1.0, np.where(high <= 0, 0.0, high / gap))
        icpt = np.where((low < 0) & (high > 0), -up * low, 0.0)
        return up, icpt

    def layer(self, l, low, high, ends, down=None):
        """Bounds of sums of layer l (>= 1), from the bounds of those before."""
        W = self.WT[l - 1]  # H_l, H_{l-1}
        B = len(low)
        H = len(W)
        A = np.concatenate([W, -W])[None]
        const = np.concatenate([self.b[l], -self.b[l]])[None] + np.zeros((B, 1))
        for k in range(l - 1, -1, -1):
            s = self.slices[k]
            up, icpt = self.slopes(low[:, s], high[:, s])
            dn = (high[:, s] > -low[:, s]).astype(float)
            dn[low[:, s] >= 0] = 1
            dn[high[:, s] <= 0] = 0
            pos = np.maximum(A, 0)
            if len(A) == 1:
                const = const + icpt @ pos[0].T
            else:
                const = const + (pos @ icpt[:, :, None])[..., 0]
            A = pos * up[:, None] + (A - pos) * dn[:, None]
            const = const + A @ self.b[k]
            A = A @ (self.WT[k - 1] if k else self.W0T)
        v = const + self.most(A, ends)
        return -v[:, H:], v[:, :H]
