"""Least-squares independence regression."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from dueto.dependence.smi import SMI
from dueto.errors import InputError, some
from dueto.regression.base import DependenceRegressor, Settings, minimise
from dueto.regression.objectives import SMIObjective
from dueto.regression.paper import PAPER_LSMI, descend

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from dueto.regression.base import Found, Problem
    from dueto.regression.basis import Basis

__all__ = ["LSIR"]

MEASURE = SMI()
MANY = 2000


class LSIR(DependenceRegressor):
    """Least-squares independence regression: f that makes y - f(x) as independent of x as it can [1]_.

    f(x) = Σ_l β_l exp(-‖x - c_l‖²/(2τ²)) + intercept minimises the squared-loss mutual information (SMI) of x and the
    residual plus (γ/2) β'β. Where y = g(x) + noise and the noise, of any law, is independent of x, f estimates g.

    Parameters
    ----------
    method : "multi-scale" or "paper", optional
        How SMI is made small. "multi-scale": the mean SMI at three widths, with the residual kept at standard
        deviation 1, by L-BFGS. "paper": as published, one width and ridge chosen by cross-validated LSMI, gradient
        descent with Armijo's rule; kept for reproduction, much slower.
    n_centres : int, optional
        m, how many rows are drawn as centres c_l, at most n: by default 100 (200 for "paper").
    widths : tuple of float, optional
        What to choose τ from, in standard deviations of x: by default .5, 1 and 2, times (2000/n)^(1/5) above 2,000
        rows (.4, .8, 1.6, 3.2 for "paper").
    penalties : tuple of float, optional
        What to choose γ from, y having standard deviation 1: by default .03/n, the error of SMI itself being of the
        order 1/n (.0001, .001, .01 for "paper").
    folds : int, optional
        T of the cross-validation that chooses τ and γ: each pair is fitted without a fold, and judged by the SMI of
        x and residual in it. One width and one penalty need none.
    max_iter : int, optional
        The most steps of the minimisation: by default 40, and 100 above 2,000 rows (30 for "paper", which counts on
        stopping early).
    random_state : int, RandomState or None, optional
        Draws centres and folds: the same integer, the same fit.

    Attributes
    ----------
    coef_ : (m,)
        β, in units of y.
    centres_ : (m, d)
        c_l, on standardised columns.
    width_, penalty_ : float
        τ and γ as chosen.
    intercept_ : float
        Makes the residuals' mean 0.
    cv_scores_ : (widths, penalties)
        Mean SMI of held-out residuals.
    learning_curve_ : (steps + 1,)
        The objective at the start, which is a ridge regression, and after each step.
    converged_ : bool
        The minimiser's own word: whether it ended otherwise than by `max_iter`, or by a step that it could not find.
    n_iter_, n_evaluations_ : int
        Steps, and evaluations of the objective.

    Notes
    -----
    Above 10,000 rows τ and γ are chosen on 10,000 of them, and above 20,000 the fit uses 20,000, drawn by
    `random_state`. A column of codes is read as numbers. What independence does not determine, the mean of the noise,
    is set to 0.

    References
    ----------
    .. [1] Yamada, Sugiyama and Sese, "Least-squares independence regression for non-linear causal inference under
       non-Gaussian noise", Machine Learning 96 (2014), section 3.

    Examples
    --------
    >>> import numpy as np
    >>> from dueto import LSIR
    >>> rng = np.random.default_rng(0)
    >>> x = rng.uniform(-1, 1, 300)
    >>> y = x**3 + rng.exponential(size=300) - 1
    >>> fit = LSIR(random_state=0).fit(x[:, None], y)
    >>> error = fit.predict(x[:, None]) - x**3
    >>> bool(error.std() < 0.1)
    True
    """

    def __init__(
        self,
        *,
        method: Literal["multi-scale", "paper"] = "multi-scale",
        n_centres: int | None = None,
        widths: tuple[float, ...] | None = None,
        penalties: tuple[float, ...] | None = None,
        folds: int = 2,
        max_iter: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.method = method
        self.n_centres = n_centres
        self.widths = widths
        self.penalties = penalties
        self.folds = folds
        self.max_iter = max_iter
        self.random_state = random_state

    def _settings(self, Z: NDArray[np.float64], rng: np.random.Generator) -> Settings:  # noqa: ARG002
        if self.method not in PROBLEMS:
            raise InputError(f"the method of LSIR must be one of {some(PROBLEMS)}, got {self.method!r}")
        if self.method == "paper":
            return Settings(n_centres=200, widths=(0.4, 0.8, 1.6, 3.2), penalties=(1e-4, 1e-3, 1e-2), max_iter=30)
        narrower = min(1.0, MANY / len(Z)) ** 0.2  # as a smoother's bandwidth is with more data
        widths = (0.5 * narrower, 1.0 * narrower, 2.0 * narrower)
        return Settings(n_centres=100, widths=widths, penalties=(0.03 / len(Z),), max_iter=40 if narrower == 1 else 100)

    def _problem(
        self, Z: NDArray[np.float64], y: NDArray[np.float64], max_iter: int, rng: np.random.Generator
    ) -> Problem:
        return PROBLEMS[self.method](Z, y, max_iter, rng)


class _MultiScale:
    def __init__(self, Z: NDArray[np.float64], y: NDArray[np.float64], max_iter: int, rng: np.random.Generator) -> None:
        self.y, self.max_iter = y, max_iter
        self.objective = SMIObjective(Z, MEASURE, rng=rng)

    def fit(self, basis: Basis, penalty: float) -> Found:
        return minimise(basis, self.y, self.objective, penalty, self.max_iter)

    def judge(self, e: NDArray[np.float64]) -> float:
        return self.objective(e)[0]


class _Paper:
    def __init__(self, Z: NDArray[np.float64], y: NDArray[np.float64], max_iter: int, rng: np.random.Generator) -> None:
        self.Z, self.y, self.max_iter, self.rng = Z, y, max_iter, rng

    def fit(self, basis: Basis, penalty: float) -> Found:
        return descend(self.Z, self.y, basis, penalty, max_iter=self.max_iter, tol=1e-3, rng=self.rng)

    def judge(self, e: NDArray[np.float64]) -> float:
        return PAPER_LSMI.estimate(self.Z, e[:, None], rng=self.rng)


PROBLEMS: dict[str, type[_MultiScale | _Paper]] = {"multi-scale": _MultiScale, "paper": _Paper}
