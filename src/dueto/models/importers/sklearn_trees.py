"""scikit-learn's decision trees, and the forests and bags whose probability is the mean of their trees'."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from dueto.models.ensemble import Ensemble
from dueto.models.importers.base import EPS, Task
from dueto.models.lookup import NotUnderstood
from dueto.models.structure import Structure

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["bag", "forest", "nodes", "share", "tree"]


def tree(task: Task) -> Structure:
    """The margin is the leaf's probability itself."""
    _single(task.estimator)
    return _mean(task, [nodes(task.estimator, task.column)])


def forest(task: Task) -> Structure:
    """The margin is the sum of the trees' probabilities."""
    for estimator in task.estimator.estimators_:
        _single(estimator)
    return _mean(task, [nodes(estimator, task.column) for estimator in task.estimator.estimators_])


def bag(task: Task) -> Structure:
    """Like a forest; each tree may know some of the columns, and some of the classes, only."""
    trees = []
    for estimator, columns in zip(task.estimator.estimators_, task.estimator.estimators_features_, strict=True):
        if not hasattr(estimator, "tree_"):
            raise NotUnderstood(f"a {task.name} of {type(estimator).__name__} is not a sum of trees")
        _single(estimator)
        place = np.flatnonzero(np.asarray(estimator.classes_) == task.column)
        trees.append(nodes(estimator, int(place[0]) if len(place) else None))
        trees[-1]["column"] = np.asarray(columns)[trees[-1]["column"]]
    return _mean(task, trees)


def nodes(estimator: Any, column: int | None) -> dict[str, NDArray[Any]]:
    """A tree's arrays: float32(x) <= threshold in float64 goes left; `column` picks among the values of a leaf."""
    inner = estimator.tree_
    leaf = inner.children_left < 0
    return {
        "left": inner.children_left,
        "right": inner.children_right,
        "column": np.where(leaf, 0, inner.feature),
        "threshold": np.where(leaf, 0.0, inner.threshold),
        "value": np.zeros(len(leaf)) if column is None else inner.value[:, 0, column],
        "missing_left": np.asarray(inner.missing_go_to_left, dtype=np.bool_),
    }


def _single(estimator: Any) -> None:
    if estimator.tree_.n_outputs != 1:
        raise NotUnderstood("it predicts several outputs")


def _mean(task: Task, trees: Sequence[dict[str, NDArray[Any]]]) -> Structure:
    """A sum of n probabilities, in any order, is off by less than n² ε; so is the cut n t; one tree adds nothing."""
    n = len(trees)
    form = Ensemble.from_trees(trees, float32=True)
    slack = n * (n + 3) * EPS if n > 1 else 0.0
    return Structure(task.inputs.columns(), form, n * task.threshold, slack, partial(share, n), n * EPS)


def share(n: int, margin: NDArray[np.float64]) -> NDArray[np.float64]:
    return margin / n
