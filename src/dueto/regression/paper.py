"""LSIR as its paper has it: gradient descent with Armijo's rule, in turns with LSMI."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dueto.dependence.kernels import gauss
from dueto.dependence.lsmi import LSMI
from dueto.regression.base import Found

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dueto.regression.basis import Basis

__all__ = ["PAPER_LSMI", "Held", "descend"]

PAPER_LSMI = LSMI(centres="paired", standardise=False)
LONGEST, SHORTER, ENOUGH, SMALLEST = 1.0, 0.5, 1e-4, 1e-8  # Armijo: step sizes, and what a step must gain
EVERY = 5  # steps between two choices of σ and λ


class Held:
    """Regularised SMI of Z and a residual, as a function of the residual, for one σ and λ: its centres are given.

    Parameters
    ----------
    Z : (n, d)
        The input.
    u : (b, d)
        The centres' first halves.
    width, ridge : float
        σ and λ.
    """

    def __init__(self, Z: NDArray[np.float64], u: NDArray[np.float64], width: float, ridge: float) -> None:
        self.width, self.ridge = width, ridge
        self.Kx = gauss(Z, u, width)
        self.Hx = self.Kx.T @ self.Kx

    def fit(
        self, e: NDArray[np.float64], v: NDArray[np.float64]
    ) -> tuple[float, NDArray[np.float64], NDArray[np.float64]]:
        """S, α (b,), and the residual's kernel (n, b), for centres with second halves v (b,)."""
        Ke = gauss(e[:, None], v[:, None], self.width)
        H = self.Hx * (Ke.T @ Ke) / len(e) ** 2
        h = (self.Kx * Ke).mean(axis=0)
        H.flat[:: len(h) + 1] += self.ridge
        alpha = np.linalg.solve(H, h)
        return 0.5 * float(h @ alpha) - 0.5, alpha, Ke

    def gradient(
        self, e: NDArray[np.float64], v: NDArray[np.float64], alpha: NDArray[np.float64], Ke: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """∂S/∂e with α and the centres held: (n,)."""
        n = len(e)
        D = (v - e[:, None]) / self.width**2 * Ke
        return np.asarray((D * (self.Kx / n - (Ke * alpha) @ self.Hx / n**2)) @ alpha)


def descend(
    Z: NDArray[np.float64],
    y: NDArray[np.float64],
    basis: Basis,
    penalty: float,
    *,
    max_iter: int,
    tol: float,
    rng: np.random.Generator,
) -> Found:
    """Minimise SMI(Z, y - f) + (γ/2) β'β along its negative gradient, from the ridge regression on.

    LSMI chooses σ and λ for the residuals of every fifth step, with centres paired as the residuals stand; in between
    α is fitted anew at each trial of Armijo's rule. The gradient takes α and the centres as held. It ends when a step
    gains less than `tol` of the value, or none gains.
    """
    Psi = gauss(Z, basis.centres, basis.width)
    beta = basis.beta(basis.ridge(y))
    rows = rng.choice(len(y), min(PAPER_LSMI.n_centres, len(y)), replace=False)
    curve: list[float] = []
    trials, step, gained = 0, 1.0, np.inf
    while len(curve) < max_iter and gained >= tol * max(abs(curve[-1]) if curve else 0.0, tol):
        e = y - Psi @ beta
        if len(curve) % EVERY == 0:
            ratio = PAPER_LSMI.fit(Z, e[:, None], rng=rng)
            held = Held(Z, Z[rows], ratio.width, ratio.ridge)
        S, alpha, Ke = held.fit(e, e[rows])
        curve.append(S + 0.5 * penalty * float(beta @ beta))
        g = penalty * beta - Psi.T @ held.gradient(e, e[rows], alpha, Ke)
        step = min(2 * step, LONGEST)
        while step > SMALLEST:
            trial = beta - step * g
            left = y - Psi @ trial
            gained = curve[-1] - held.fit(left, left[rows])[0] - 0.5 * penalty * float(trial @ trial)
            trials += 1
            if gained >= ENOUGH * step * float(g @ g):
                beta = trial
                break
            step, gained = step * SHORTER, 0.0
    steps = len(curve)
    if gained > 0:
        curve.append(curve[-1] - gained)
    return Found(basis, penalty, beta, curve, trials + steps, steps < max_iter)
