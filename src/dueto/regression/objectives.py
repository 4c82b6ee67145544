"""Dependence between an input and a residual, with its gradient by the residual: what a regression makes small."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

from dueto.dependence.kernels import REACH, cholesky, features, grid, median_width, normal_scores

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dueto.dependence import SMI

__all__ = ["HSICObjective", "Objective", "SMIObjective"]

REACHED = 6  # steps of the grid beyond which a residual has no part in HSIC: below 1e-6
FLAT = 1e-9  # a residual whose standard deviation is below this (that of y being 1) is no noise


class Objective(Protocol):
    """A residual (n,) -> its dependence on the input, and the gradient (n,)."""

    def __call__(self, e: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        """The value and the gradient."""
        ...


class SMIObjective:
    """The mean over widths of the regularised SMI between Z and the residual, which is brought to mean 0 and sd 1.

    Parameters
    ----------
    Z : (n, d)
        The input.
    measure : SMI
        Widths, ridge, and whether Z is replaced by its normal scores (the residual is not).
    rng : Generator
        Draws centres where Z has several columns.

    Notes
    -----
    S = ½ h'(H + λI)⁻¹h - ½ has the gradient α'∂h - ½ α'∂Hα at fixed α, since α maximises what S is the maximum of. The
    centres for the residual are a grid that stays while the residual is standardised. A literal minimisation, with
    centres among the residuals of the start and the residual's size free, finds its minimum where the residuals have
    run away from all centres; one width alone leaves dependence at other scales.
    """

    def __init__(self, Z: NDArray[np.float64], measure: SMI, *, rng: np.random.Generator) -> None:
        Z = normal_scores(Z) if measure.scores else Z
        self.ridge = measure.ridge
        self.scales = [(width, *features(Z, width, rng=rng), grid(-REACH, REACH, width)) for width in measure.widths]

    def __call__(self, e: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        """S of the residual and its gradient."""
        n, sd = len(e), float(e.std())
        if sd < FLAT:
            return 0.0, np.zeros(n)
        z = (e - e.mean()) / sd
        value, g = 0.0, np.zeros(n)
        for width, A, d, c in self.scales:
            apart = (z[:, None] - c[:, 0]) / width
            K = np.exp(-0.5 * apart * apart)
            q, V = np.linalg.eigh(K.T @ K / n)
            h = A.T @ K / n
            alpha = ((h @ V) / (np.multiply.outer(d, q) + self.ridge)) @ V.T
            value += 0.5 * float((h * alpha).sum()) - 0.5
            pull = A @ alpha - K @ ((alpha.T * d) @ alpha)
            g -= np.einsum("il,il,il->i", apart, K, pull) / (n * width)
        g /= len(self.scales)
        return value / len(self.scales), (g - g.mean() - z * (g @ z) / n) / sd


class HSICObjective:
    """HSIC between Z and the residual, with the residual's width as the initial regression had it.

    Notes
    -----
    For Gaussian kernels HSIC = ‖A'Φ(e)‖²/n², A being the centred low-rank form of Z's kernel and Φ features on a grid t
    of the residual: exp(-(a-b)²/(2σ²)) = c Σ_t exp(-(a-t)²/σ²) exp(-(b-t)²/σ²), to 1e-6 for a grid σ/1.7 apart (the
    trapezoid rule). No n × n array is formed.
    """

    def __init__(self, Z: NDArray[np.float64], e: NDArray[np.float64], *, rng: np.random.Generator) -> None:
        A = cholesky(Z, median_width(Z, rng=rng), tol=1e-6, rank=200)
        self.A = A - A.mean(axis=0)
        self.width = median_width(e[:, None], rng=rng)
        self.origin = float(e.mean())

    def __call__(self, e: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        """HSIC of the residual and its gradient."""
        n, step = len(e), self.width / 1.7
        at = np.round((e - self.origin) / step)
        cells = np.unique(np.add.outer(np.arange(-REACHED, REACHED + 1), np.unique(at)))
        apart = (e[:, None] - self.origin - cells * step) / self.width
        K = np.exp(-apart * apart)
        h = K.T @ self.A / n
        weight = 2 * step / (self.width * np.sqrt(2 * np.pi))
        g = -4 * weight / (n * self.width) * np.einsum("il,il,il->i", apart, K, self.A @ h.T)
        return weight * float((h * h).sum()), g
