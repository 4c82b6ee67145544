"""Regression that minimises the Hilbert-Schmidt independence criterion."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dueto.dependence.hsic import HSIC
from dueto.dependence.kernels import median_width
from dueto.regression.base import DependenceRegressor, Settings, minimise
from dueto.regression.objectives import HSICObjective

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from dueto.regression.base import Found, Problem
    from dueto.regression.basis import Basis

__all__ = ["HSICR"]


class HSICR(DependenceRegressor):
    """HSIC regression: f that makes the HSIC of x and y - f(x) small [1]_.

    f(x) = Σ_l θ_l exp(-‖x - c_l‖²/(2ρ²)) + intercept minimises HSIC(x, y - f(x)) + (ξ/2) θ'θ by L-BFGS. The residual's
    kernel has the width that the initial ridge regression's residuals give, which is this method's known weakness: use
    `LSIR` unless you compare.

    Parameters
    ----------
    n_centres : int, optional
        How many rows are drawn as centres c_l, at most n: by default 200. The paper takes all n.
    widths : tuple of float, optional
        ρ, in standard deviations of x: by default the paper's rule, 2^(-½) times the median distance. Several are
        chosen from by cross-validation, on held-out HSIC.
    penalties : tuple of float, optional
        ξ, y having standard deviation 1: by default 1e-6. Several are chosen from as ρ is.
    folds, max_iter, random_state
        As for `LSIR`; the most steps are 100 by default.

    Attributes
    ----------
    coef_, centres_, width_, penalty_, intercept_, cv_scores_, learning_curve_, converged_, n_iter_, n_evaluations_
        As for `LSIR`.

    References
    ----------
    .. [1] Mooij, Janzing, Peters and Schölkopf, "Regression by dependence minimization and its application to causal
       inference in additive noise models", ICML 2009.

    Examples
    --------
    >>> import numpy as np
    >>> from dueto import HSICR
    >>> rng = np.random.default_rng(0)
    >>> x = rng.uniform(-1, 1, 300)
    >>> y = x**3 + rng.exponential(size=300) - 1
    >>> fit = HSICR(random_state=0).fit(x[:, None], y)
    >>> error = fit.predict(x[:, None]) - x**3
    >>> bool(error.std() < 0.15)
    True
    """

    def __init__(
        self,
        *,
        n_centres: int | None = None,
        widths: tuple[float, ...] | None = None,
        penalties: tuple[float, ...] | None = None,
        folds: int = 2,
        max_iter: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_centres = n_centres
        self.widths = widths
        self.penalties = penalties
        self.folds = folds
        self.max_iter = max_iter
        self.random_state = random_state

    def _settings(self, Z: NDArray[np.float64], rng: np.random.Generator) -> Settings:
        return Settings(n_centres=200, widths=(median_width(Z, rng=rng),), penalties=(1e-6,), max_iter=100)

    def _problem(
        self, Z: NDArray[np.float64], y: NDArray[np.float64], max_iter: int, rng: np.random.Generator
    ) -> Problem:
        return _HSICProblem(Z, y, max_iter, rng)


class _HSICProblem:
    def __init__(self, Z: NDArray[np.float64], y: NDArray[np.float64], max_iter: int, rng: np.random.Generator) -> None:
        self.Z, self.y, self.max_iter, self.rng = Z, y, max_iter, rng

    def fit(self, basis: Basis, penalty: float) -> Found:
        first = self.y - basis.values(basis.ridge(self.y))
        return minimise(basis, self.y, HSICObjective(self.Z, first, rng=self.rng), penalty, self.max_iter)

    def judge(self, e: NDArray[np.float64]) -> float:
        return HSIC().estimate(self.Z, e[:, None], rng=self.rng)
