"""interpret's explainable boosting machines of two classes: a table of scores for each feature and some pairs."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from dueto.models.ensemble import Ensemble
from dueto.models.importers.base import Task, rounding_of_sum
from dueto.models.importers.sklearn_linear import additive
from dueto.models.lookup import NotUnderstood

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from dueto.models.columns import Columns
    from dueto.models.structure import Structure

__all__ = ["classifier"]


def classifier(task: Task) -> Structure:
    """Each term adds the score of the bin that a number or a label is in, and of a pair, that of the two bins.

    A number is in the bin after the last cut that it has reached, x >= cut in float64; a missing value is in the first
    bin, a label that was not seen in the last. A pair has bins of its own, coarser ones as a rule.

    Without pairs it is a sum of functions of one feature each, which are the columns, unless a feature has a range, to
    be cut at the bins. Else each term is a tree.
    """
    task.binary()
    model = task.estimator
    if model.link_ != "logit":
        raise NotUnderstood(f"a {task.name} is understood with the link logit, not {model.link_}")
    if any(len(term) > 2 for term in model.term_features_):
        raise NotUnderstood(f"a {task.name} is understood with terms of one or two features, not of more")
    if not all(np.isfinite(scores).all() for scores in model.term_scores_):
        raise NotUnderstood("some of its scores are not finite")
    return _sum(task) if _separable(task) else _trees(task)


def _separable(task: Task) -> bool:
    """Whether each term is a function of one feature, whose values are listed."""
    features = [task.inputs.space.features[j] for j in task.inputs.owner]
    return all(len(term) == 1 and features[term[0]].domain.interval is None for term in task.estimator.term_features_)


def _sum(task: Task) -> Structure:
    model = task.estimator
    owner = task.inputs.owner[np.array(model.term_features_, dtype=np.intp).ravel()]
    inputs = task.inputs.then(model.eval_terms, owner, np.zeros(len(owner), dtype=np.int8))
    return task.logistic(*additive(replace(task, inputs=inputs), np.ones(len(owner)), _base(model)))


def _trees(task: Task) -> Structure:
    model = task.estimator
    asked = sorted({_asked(model, i, len(term)) for term in model.term_features_ for i in term})
    trees = []
    for term, scores in zip(model.term_features_, model.term_scores_, strict=True):
        axes = []
        for axis, i in enumerate(term):
            bins = model.bins_[i][_level(model, i, len(term))]
            inner = bins if _is_number(model, i) else np.arange(1, scores.shape[axis] - 1) + 0.5
            axes.append((asked.index(_asked(model, i, len(term))), np.append(-np.inf, inner)))
        trees.append(_tree(task.sign * scores, axes))
    form = Ensemble.from_trees(trees, strict=True, base=task.sign * _base(model))
    return task.logistic(_columns(task, asked), form, rounding_of_sum(form))


def _base(model: Any) -> float:
    return float(np.ravel(model.intercept_)[0])


def _is_number(model: Any, i: int) -> bool:
    return bool(model.feature_types_in_[i] == "continuous")


def _level(model: Any, i: int, size: int) -> int:
    """Which bins of a feature a term of so many features uses: the last there are, if it has none of its own."""
    return min(len(model.bins_[i]), size) - 1


def _asked(model: Any, i: int, size: int) -> tuple[int, int]:
    """A column that a term needs: a feature, and if it has labels, whose bins they are numbered by."""
    return i, 0 if _is_number(model, i) else _level(model, i, size)


def _columns(task: Task, asked: Sequence[tuple[int, int]]) -> Columns:
    model, inputs = task.estimator, task.inputs
    places = np.array([i for i, _ in asked], dtype=np.intp)
    numbers = [_is_number(model, i) for i in places]
    if inputs.raw is not None and all(numbers):
        return inputs.raw.picked(places)
    rising = np.where(numbers, inputs.monotone[places], 0).astype(np.int8)
    return inputs.then(partial(_numbers, model, asked), inputs.owner[places], rising).columns()


def _numbers(model: Any, asked: Sequence[tuple[int, int]], table: Any) -> NDArray[np.float64]:
    """(N, len(asked)) numbers as they are, and the bins of labels, as interpret reads a table; missing is NaN."""
    from interpret.utils._clean_x import categorical_encode, preclean_X, unify_columns_schematized

    names, kinds = model.feature_names_in_, model.feature_types_in_
    X, n = preclean_X(table, names, kinds)
    column = unify_columns_schematized(X, n, names, kinds)
    found = np.empty((n, len(asked)))
    for k, (i, level) in enumerate(asked):
        present, labels, values, bad = column(i, kinds[i])
        if labels is None:
            if bad is not None:
                raise NotUnderstood(f"it is given text where it takes numbers, in {names[i]!r}")
            found[:, k] = values
        else:
            bins = model.bins_[i][level]
            place = categorical_encode(labels, values, present, bins).astype(np.float64)
            place[place < 0] = max(bins.values(), default=0) + 1
            found[:, k] = np.where(place == 0, np.nan, place)
    return found


def _tree(scores: NDArray[np.float64], axes: list[tuple[int, NDArray[np.float64]]]) -> dict[str, NDArray[Any]]:
    """A table of scores as nested halvings of its first axis, then of its second; equal neighbours are not parted.

    An axis is a column and its thresholds: the k-th parts places up to k, to the left, from those beyond. Missing is
    the first place, so that it goes left everywhere, and nothing else does at the first threshold, -inf.
    """
    shape = tuple(len(cuts) + 1 for _, cuts in axes)
    nodes, rows = [(scores[tuple(map(slice, shape))], axes)], []
    for part, left in nodes:  # grows as it goes
        while left:
            column, cuts = left[0]
            new = (part[1:] != part[:-1]).any(axis=tuple(range(1, part.ndim)))
            part, cuts = part[np.append(True, new)], cuts[new]
            if len(cuts):
                break
            part, left = part[0], left[1:]
        if not left:
            rows.append((-1, -1, 0, 0.0, float(part), False))
            continue
        middle = len(cuts) // 2
        nodes.append((part[: middle + 1], [(column, cuts[:middle]), *left[1:]]))
        nodes.append((part[middle + 1 :], [(column, cuts[middle + 1 :]), *left[1:]]))
        rows.append((len(nodes) - 2, len(nodes) - 1, column, cuts[middle], 0.0, True))
    names = ("left", "right", "column", "threshold", "value", "missing_left")
    return {name: np.array(values) for name, values in zip(names, zip(*rows, strict=True), strict=True)}
