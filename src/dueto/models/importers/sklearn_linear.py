"""scikit-learn's linear classifiers of two classes: a weighted sum of the columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dueto.models.additive import Additive
from dueto.models.importers.base import EPS, Task, bounds, precision
from dueto.models.lookup import NotUnderstood
from dueto.models.structure import Structure

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dueto.models.columns import Columns

__all__ = ["additive", "clipped", "linear", "sgd"]


def linear(task: Task) -> Structure:
    """The score is the logistic function of the margin, by the model itself or, for a bare margin, by `as_model`."""
    if getattr(task.estimator, "multi_class", None) == "multinomial":
        raise NotUnderstood("a multinomial LogisticRegression is no logistic function of one margin")
    return task.logistic(*_weighted(task), eps=precision(task.estimator.coef_))


def sgd(task: Task) -> Structure:
    """Its probability is the logistic function of the margin, or for the modified Huber loss a clipped line."""
    columns, form, slack = _weighted(task)
    if task.method == "predict_proba" and task.estimator.loss == "modified_huber":
        eps = 8.0 * precision(task.estimator.coef_)
        return Structure(columns, form, 2.0 * task.threshold - 1.0, slack + eps, clipped, eps)
    return task.logistic(columns, form, slack, eps=precision(task.estimator.coef_))


def additive(
    task: Task, weights: NDArray[np.generic], base: float, *, eps: float = EPS
) -> tuple[Columns, Additive, float]:
    """The columns, the sum for the desired class, and how far rounding may move it.

    Two sums of p products and a constant, each rounded, in any order, differ by at most 2 (p + 2) ε Σ |w z| with the
    largest value z of each column; twice that, for the sums of parts that a method may take.
    """
    columns = task.inputs.columns()
    form = Additive(task.sign * weights.astype(np.float64).ravel(), float(task.sign * base))
    if len(form.weights) != len(columns):
        raise NotUnderstood(f"it has {len(form.weights)} weights for {len(columns)} columns")
    most = np.abs(form.weights) @ bounds(columns) + abs(form.base)
    return columns, form, float(4 * (len(columns) + 2) * eps * most)


def _weighted(task: Task) -> tuple[Columns, Additive, float]:
    task.binary()
    weights, base = np.asarray(task.estimator.coef_), np.ravel(task.estimator.intercept_)
    if weights.size != weights.shape[-1] or base.size != 1:
        raise NotUnderstood(f"a {task.name} is understood if it has one weight a column")
    return additive(task, weights, float(base[0]), eps=precision(weights))


def clipped(margin: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray((np.clip(margin, -1.0, 1.0) + 1.0) / 2.0)
