"""LightGBM's classifier of two classes, read from the text of its booster."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from dueto.models.ensemble import ZERO, Ensemble
from dueto.models.importers.base import Task, rounding_of_sum
from dueto.models.importers.coded import coded
from dueto.models.lookup import NotUnderstood

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dueto.models.structure import Structure

__all__ = ["classifier"]

# Of a node's decision_type:
CATEGORICAL, DEFAULT_LEFT = 1, 2  # bits
ZERO_OF_MISSING_TYPE = np.array([1, 2, 0])  # none, zero, nan: as `Splits.zero` says it


def classifier(task: Task) -> Structure:
    """x <= threshold in float64 goes left, as do the categories in a set; leaves are summed in float64."""
    task.binary()
    booster = task.estimator.booster_
    if task.estimator.get_params().get("pred_early_stop"):
        raise NotUnderstood("it stops early at prediction")
    head, *parts = booster.model_to_string().split("\nTree=")
    header = dict(line.partition("=")[::2] for line in head.splitlines())
    objective = header.get("objective", "none").split()
    if objective[0] != "binary":
        raise NotUnderstood(f"a {task.name} is understood with the objective binary, not {objective[0]}")
    scale = next((float(word.partition(":")[2]) for word in objective if word.startswith("sigmoid:")), 1.0)
    share = 1.0 / len(parts) if "average_output" in header else 1.0
    form = Ensemble.from_trees([_tree(part, task.sign * share) for part in parts])
    numbers = partial(_numbers, booster.pandas_categorical or [])
    return task.logistic(task.inputs.columns(numbers), form, rounding_of_sum(form), scale=scale)


def _tree(text: str, factor: float) -> dict[str, Any]:
    lines = dict(line.partition("=")[::2] for line in text.partition("\n\n")[0].splitlines()[1:])
    if lines.get("is_linear", "0") != "0":
        raise NotUnderstood("its leaves hold linear models")

    def array(name: str, dtype: type) -> NDArray[Any]:
        return np.array(lines.get(name, "").split(), dtype=dtype)

    leaves = array("leaf_value", np.float64)
    column = array("split_feature", np.int64)
    kind = array("decision_type", np.int64)
    threshold = array("threshold", np.float64)
    by_set = kind & CATEGORICAL == CATEGORICAL
    ends, words = array("cat_boundaries", np.int64), array("cat_threshold", np.uint32)
    sets: list[NDArray[np.float64] | None] = [None] * (len(column) + len(leaves))
    for i in np.flatnonzero(by_set):
        k = int(threshold[i])
        bits = words[ends[k] : ends[k + 1]]
        codes = np.arange(32 * len(bits))
        sets[i] = codes[(bits[codes // 32] >> (codes % 32).astype(np.uint32)) & 1 == 1].astype(np.float64)
    none = np.full(len(leaves), -1)

    def children(name: str) -> NDArray[np.int64]:
        child = array(name, np.int64)  # ~k is leaf k
        return np.append(np.where(child < 0, len(column) + ~child, child), none)

    def padded(values: NDArray[Any]) -> NDArray[Any]:
        return np.append(values, np.zeros(len(leaves), dtype=values.dtype))

    return {
        "left": children("left_child"),
        "right": children("right_child"),
        "column": padded(column),
        "threshold": padded(np.where(by_set, 0.0, threshold)),
        "value": np.append(np.zeros(len(column)), factor * leaves),
        "missing_left": padded(~by_set & (kind & DEFAULT_LEFT == DEFAULT_LEFT)),
        "zero": padded(np.where(by_set, 0, ZERO_OF_MISSING_TYPE[(kind >> 2) & 3])),
        "sets": sets,
    }


def _numbers(categories: list[list[Any]], table: Any) -> NDArray[np.float64]:
    """At prediction LightGBM leaves out whatever is as good as zero, whatever it does with missing values."""
    found = coded(partial(_nth, categories), table)
    found[np.abs(found) <= ZERO] = 0.0
    return found


def _nth(lists: list[list[Any]], _: int, rank: int, categories: Any) -> NDArray[Any]:
    import pandas as pd

    return pd.Index(lists[rank]).get_indexer(categories) if rank < len(lists) else np.arange(len(categories))
