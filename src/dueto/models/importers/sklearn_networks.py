"""scikit-learn's multilayer perceptrons of two classes, with ReLUs or without any bend."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

import numpy as np

from dueto.models.additive import Additive
from dueto.models.importers.base import Task, bounds, precision
from dueto.models.lookup import NotUnderstood
from dueto.models.network import Network

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from dueto.models.columns import Columns
    from dueto.models.structure import Structure

__all__ = ["layered", "perceptron", "rounding"]


def perceptron(task: Task) -> Structure:
    """The score is the logistic function of the last layer; layers without a bend between them are one layer."""
    task.binary()
    net = task.estimator
    if net.out_activation_ != "logistic" or (net.activation not in {"relu", "identity"} and len(net.coefs_) > 1):
        raise NotUnderstood(
            f"a {task.name} is understood with the activation 'relu' or 'identity', not {net.activation!r}"
        )
    weights = [np.asarray(W, dtype=np.float64) for W in net.coefs_]
    biases = [np.asarray(b, dtype=np.float64) for b in net.intercepts_]
    weights[-1], biases[-1] = task.sign * weights[-1], task.sign * biases[-1]
    columns = task.inputs.columns()
    eps = precision(net.coefs_[0])
    slack = rounding(columns, weights, biases, eps=eps)
    if net.activation == "identity" or len(weights) == 1:
        base = reduce(lambda b, layer: b @ layer[0] + layer[1], zip(weights[1:], biases[1:], strict=True), biases[0])
        form = Additive(reduce(np.matmul, weights)[:, 0], float(base[0]))
        return task.logistic(columns, form, slack, eps=eps)
    return task.logistic(columns, Network(tuple(weights), tuple(biases)), slack, eps=eps)


def layered(
    task: Task,
    columns: Columns,
    weights: Sequence[NDArray[np.float64]],
    biases: Sequence[NDArray[np.float64]],
    bent: Sequence[bool],
    slack: float,
    *,
    eps: float,
) -> Structure:
    """Affine maps up to the margin of the second class, with a ReLU after each that is `bent`; those without are one.

    `slack` is how far rounding may move what the last map gives: the margin, or the two that it is the difference of.
    """
    weights, biases = list(weights), list(biases)
    if len(biases[-1]) == 2:
        slack *= 2
        weights[-1], biases[-1] = np.diff(weights[-1], axis=1), np.diff(biases[-1])
    W, b = [weights[0]], [biases[0]]
    for bends, V, c in zip(bent, weights[1:], biases[1:], strict=False):
        if bends:
            W.append(V)
            b.append(c)
        else:
            W[-1], b[-1] = W[-1] @ V, b[-1] @ V + c
    W[-1], b[-1] = task.sign * W[-1], task.sign * b[-1]
    form = Additive(W[0][:, 0], float(b[0][0])) if len(W) == 1 else Network(tuple(W), tuple(b))
    return task.logistic(columns, form, slack, eps=eps)


def rounding(
    columns: Columns, weights: Sequence[NDArray[np.float64]], biases: Sequence[NDArray[np.float64]], *, eps: float
) -> float:
    """How far rounding may move the last layer.

    With h the largest absolute values that a layer can be given, |W|ᵀ h + |b| bounds what it gives. Each layer of k
    inputs adds a relative error of at most (k + 2) ε to sums of absolute values, and a ReLU none; four times that, for
    two such computations, in whatever order, and the terms of ε².
    """
    most = bounds(columns)
    for W, b in zip(weights, biases, strict=True):
        most = most @ np.abs(W) + np.abs(b)
    return float(4 * eps * sum(len(W) + 2 for W in weights) * most.max())
