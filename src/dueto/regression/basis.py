"""Sums of Gaussian bumps, in the directions that a sample can tell apart."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dueto.dependence.kernels import gauss

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Basis"]

SMALLEST = 1e-6  # singular values are kept down to this share of the largest
SHRINKAGES = np.logspace(-6, 1, 15)


class Basis:
    """f(x) = Σ_l β_l exp(-‖x - c_l‖²/(2τ²)) on a sample Z, as f(Z) = √n U w with U'U = I.

    The bumps of neighbouring centres are nearly the same function, so a hundred of them have some ten directions: a
    search over w instead of β is small and well conditioned, and finds the same f.

    Parameters
    ----------
    Z : (n, d)
        The sample.
    centres : (m, d)
        c_l.
    width : float
        τ.
    """

    def __init__(self, Z: NDArray[np.float64], centres: NDArray[np.float64], width: float) -> None:
        self.centres, self.width, self.n = centres, width, len(Z)
        U, s, Vt = np.linalg.svd(gauss(Z, centres, width), full_matrices=False)
        kept = s > SMALLEST * s[0]
        self.U, self.s, self.Vt = U[:, kept], s[kept], Vt[kept]

    @property
    def penalty(self) -> NDArray[np.float64]:
        """What w_k² weighs in β'β: (r,)."""
        return np.asarray(self.n / self.s**2)

    def values(self, w: NDArray[np.float64]) -> NDArray[np.float64]:
        """f at the sample: (n,)."""
        return np.asarray(np.sqrt(self.n) * (self.U @ w))

    def back(self, g: NDArray[np.float64]) -> NDArray[np.float64]:
        """The gradient by w, given the gradient by f at the sample."""
        return np.asarray(np.sqrt(self.n) * (self.U.T @ g))

    def beta(self, w: NDArray[np.float64]) -> NDArray[np.float64]:
        """The weights of the bumps: (m,)."""
        return np.asarray(np.sqrt(self.n) * (self.Vt.T @ (w / self.s)))

    def ridge(self, y: NDArray[np.float64]) -> NDArray[np.float64]:
        """w of the ridge regression that predicts a left-out value best: where the search starts."""
        n = len(y)
        y = y - y.mean()
        along = self.U.T @ y
        squares = self.U**2
        best, found = np.inf, along
        for shrinkage in SHRINKAGES:
            f = self.s**2 / (self.s**2 + n * shrinkage)
            left_out = (y - self.U @ (f * along)) / np.maximum(1 - squares @ f, 1e-12)
            if (error := float(left_out @ left_out)) < best:
                best, found = error, f * along
        return np.asarray(found / np.sqrt(n))
