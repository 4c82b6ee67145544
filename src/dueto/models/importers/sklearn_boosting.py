"""scikit-learn's two gradient boostings of two classes."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from dueto.models.ensemble import Ensemble
from dueto.models.importers.base import Task, rounding_of_sum
from dueto.models.importers.sklearn_trees import nodes
from dueto.models.lookup import NotUnderstood, known

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dueto.models.structure import Structure

__all__ = ["exact", "histogram"]

CODES = np.arange(256)  # categories that a bit set can hold


def exact(task: Task) -> Structure:
    """GradientBoostingClassifier: trees over float32, each times the learning rate, and a constant."""
    task.binary()
    model = task.estimator
    constant = isinstance(model.init_, str) or known(model.init_, {"sklearn.DummyClassifier": True})
    if not constant or not hasattr(model, "_raw_predict_init"):
        raise NotUnderstood(f"a {task.name} is understood if it starts from a constant, not from {model.init_!r}")
    trees = [nodes(tree, 0) for tree in model.estimators_[:, 0]]
    for tree in trees:
        tree["value"] = task.sign * model.learning_rate * tree["value"]
    base = model._raw_predict_init(np.zeros((1, model.n_features_in_), dtype=np.float32))[0, 0]
    form = Ensemble.from_trees(trees, float32=True, base=task.sign * base)
    scale = 2.0 if model.loss == "exponential" else 1.0
    return task.logistic(task.inputs.columns(), form, rounding_of_sum(form), scale=scale)


def histogram(task: Task) -> Structure:
    """HistGradientBoostingClassifier: trees over float64, x <= threshold; bit sets of categories; missing has a side.

    Its own encoder stands before the trees: it puts categorical columns first, and makes unknown categories missing.
    """
    task.binary()
    model, inputs = task.estimator, task.inputs
    categorical = model.is_categorical_
    if categorical is not None:
        order = np.concatenate([np.flatnonzero(categorical), np.flatnonzero(~categorical)])
        rising = np.where(categorical, 0, inputs.monotone)[order].astype(np.int8)
        inputs = inputs.then(partial(model._preprocess_X, reset=False), inputs.owner[order], rising)
    trees = [_binned(predictor, task.sign) for (predictor,) in model._predictors]
    form = Ensemble.from_trees(trees, base=task.sign * float(np.ravel(model._baseline_prediction)[0]))
    return task.logistic(inputs.columns(), form, rounding_of_sum(form))


def _binned(predictor: Any, sign: float) -> dict[str, Any]:
    node = predictor.nodes
    leaf = node["is_leaf"].astype(bool)
    by_set = node["is_categorical"].astype(bool) & ~leaf
    sets: list[NDArray[np.float64] | None] = [None] * len(node)
    for i in np.flatnonzero(by_set):
        words = predictor.raw_left_cat_bitsets[node["bitset_idx"][i]]
        sets[i] = CODES[(words[CODES // 32] >> (CODES % 32).astype(np.uint32)) & 1 == 1].astype(np.float64)
    return {
        "left": np.where(leaf, -1, node["left"].astype(np.int64)),
        "right": np.where(leaf, -1, node["right"].astype(np.int64)),
        "column": np.where(leaf, 0, node["feature_idx"]),
        "threshold": np.where(leaf | by_set, 0.0, node["num_threshold"]),
        "value": sign * node["value"],
        "missing_left": node["missing_go_to_left"].astype(bool),
        "sets": sets,
    }
