"""What the regressions share: scaling, centres, model selection, and a regressor as scikit-learn knows it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data
from threadpoolctl import threadpool_limits

from dueto.dependence.kernels import gauss
from dueto.options import positive, whole
from dueto.regression.basis import Basis

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from dueto.regression.objectives import Objective

__all__ = ["DependenceRegressor", "Found", "Problem", "Settings", "minimise"]

SELECT_ROWS, FIT_ROWS = 10_000, 20_000  # rows used to choose width and penalty, and to fit; of more, so many are drawn


@dataclass(frozen=True, eq=False)
class Found:
    """What a search ends with: weights of the bumps, the objective at the start and after each step, how it went."""

    basis: Basis
    penalty: float
    beta: NDArray[np.float64]
    curve: list[float]
    evaluations: int
    converged: bool
    scores: NDArray[np.float64] | None = None


@dataclass(frozen=True)
class Settings:
    """The options of a search."""

    n_centres: int
    widths: tuple[float, ...]
    penalties: tuple[float, ...]
    max_iter: int
    folds: int = 2

    def __post_init__(self) -> None:
        for name in ("widths", "penalties"):
            positive(name, getattr(self, name))
        for name, least in (("n_centres", 1), ("folds", 2), ("max_iter", 1)):
            whole(name, getattr(self, name), least)


class Problem(Protocol):
    """A sample (Z, y), standardised, and a measure of dependence."""

    def fit(self, basis: Basis, penalty: float) -> Found:
        """Make the dependence of Z and y - f(Z), plus half the penalty times β'β, small."""
        ...

    def judge(self, e: NDArray[np.float64]) -> float:
        """The dependence of Z and a residual."""
        ...


class DependenceRegressor(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """A regressor that makes its residuals as independent of the input as it can, whatever their size."""

    n_centres: int | None
    widths: tuple[float, ...] | None
    penalties: tuple[float, ...] | None
    folds: int
    max_iter: int | None
    random_state: Any

    def _settings(self, Z: NDArray[np.float64], rng: np.random.Generator) -> Settings:
        """What options are where they are not given."""
        raise NotImplementedError

    def _problem(
        self, Z: NDArray[np.float64], y: NDArray[np.float64], max_iter: int, rng: np.random.Generator
    ) -> Problem:
        raise NotImplementedError

    def fit(self, X: ArrayLike, y: ArrayLike) -> DependenceRegressor:
        """Fit to n rows.

        Parameters
        ----------
        X : (n, d) array-like
            The input.
        y : (n,) array-like
            The output.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If the shapes do not agree, or values are missing or infinite, or an option is not possible.
        """
        Z: NDArray[np.float64]
        t: NDArray[np.float64]
        Z, t = validate_data(self, X, y, dtype=np.float64, y_numeric=True, ensure_min_samples=2)
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31 - 1))
        t = np.asarray(t, dtype=np.float64)
        self._middle, self._size = _scale(Z)
        middle, size = _scale(t)
        with threadpool_limits(1, user_api="blas"):  # on matrices this small, threads only wait for each other
            found = self._search((Z - self._middle) / self._size, (t - middle) / size, rng)
        self.centres_, self.width_, self.penalty_ = found.basis.centres, found.basis.width, found.penalty
        self.coef_, self.intercept_ = found.beta * size, 0.0
        self.intercept_ = float(np.mean(t - self.predict(X)))
        self.learning_curve_, self.cv_scores_ = np.array(found.curve), found.scores
        self.n_iter_, self.n_evaluations_ = max(1, len(found.curve) - 1), found.evaluations
        self.converged_ = found.converged
        return self

    def predict(self, X: ArrayLike) -> NDArray[np.float64]:
        """f at k rows: (k, d) -> (k,)."""
        check_is_fitted(self)
        Z: NDArray[np.float64] = validate_data(self, X, dtype=np.float64, reset=False)
        bumps = gauss((Z - self._middle) / self._size, self.centres_, self.width_)
        return np.asarray(bumps @ self.coef_ + self.intercept_)

    def _search(self, Z: NDArray[np.float64], y: NDArray[np.float64], rng: np.random.Generator) -> Found:
        rows = rng.permutation(len(y))[:FIT_ROWS]
        Z, y = Z[rows], y[rows]
        given = {name: getattr(self, name) for name in ("n_centres", "widths", "penalties", "max_iter", "folds")}
        chosen = replace(self._settings(Z, rng), **{name: v for name, v in given.items() if v is not None})
        centres = Z[: chosen.n_centres]
        scores = np.zeros((len(chosen.widths), len(chosen.penalties)))
        folds = min(chosen.folds, len(y) // 2)
        if scores.size > 1 and folds > 1:
            fold = np.arange(min(len(y), SELECT_ROWS)) % folds
            for k in range(folds):
                fit, rest = np.flatnonzero(fold != k), np.flatnonzero(fold == k)
                problem, judge = (self._problem(Z[part], y[part], chosen.max_iter, rng) for part in (fit, rest))
                for i, width in enumerate(chosen.widths):
                    basis, elsewhere = Basis(Z[fit], centres, width), gauss(Z[rest], centres, width)
                    for j, penalty in enumerate(chosen.penalties):
                        residual = y[rest] - elsewhere @ problem.fit(basis, penalty).beta
                        scores[i, j] += judge.judge(residual) / folds
        best = np.unravel_index(int(np.argmin(scores)), scores.shape)
        basis = Basis(Z, centres, chosen.widths[best[0]])
        found = self._problem(Z, y, chosen.max_iter, rng).fit(basis, chosen.penalties[best[1]])
        return replace(found, scores=scores)


def _scale(v: NDArray[np.float64]) -> tuple[Any, Any]:
    """Mean and standard deviation of each column; where it does not vary, 1."""
    top = np.where((top := np.abs(v).max(axis=0)) > 0, top, 1.0)  # squares must neither overflow nor vanish
    v = v / top
    sd = v.std(axis=0)
    return v.mean(axis=0) * top, np.where(sd > 0, sd * top, 1.0)


def minimise(basis: Basis, y: NDArray[np.float64], objective: Objective, penalty: float, max_iter: int) -> Found:
    """L-BFGS on the dependence of y - f plus (γ/2) β'β, from the ridge regression on."""
    from scipy.optimize import minimize

    weight = penalty * basis.penalty

    def value(w: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        found, g = objective(y - basis.values(w))
        return found + 0.5 * float(weight @ (w * w)), weight * w - basis.back(g)

    if not len(basis.s):  # no row is near a centre
        return Found(basis, penalty, np.zeros(len(basis.centres)), [objective(y)[0]], 1, True)
    start = basis.ridge(y)
    curve = [value(start)[0]]

    def note(intermediate_result: Any) -> None:
        curve.append(float(intermediate_result.fun))

    ended = minimize(value, start, jac=True, method="L-BFGS-B", options={"maxiter": max_iter}, callback=note)
    return Found(basis, penalty, basis.beta(ended.x), curve, int(ended.nfev) + 1, bool(ended.success))
