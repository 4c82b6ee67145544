"""XGBoost's classifier of two classes, read from the JSON of its booster."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from dueto.models.columns import base_row
from dueto.models.ensemble import Ensemble
from dueto.models.importers.base import EPS32, Task, rounding_in_order, rounding_of_sum
from dueto.models.importers.coded import coded
from dueto.models.lookup import NotUnderstood

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from dueto.models.structure import Structure

__all__ = ["classifier", "fitted_labels", "labels_in"]


def classifier(task: Task) -> Structure:
    """float32(x) < threshold goes left, categories in the set go right; leaves are summed in float32, one tree by one.

    The constant is the logarithm of the odds of `base_score` p, computed in float32: 1/p is off by ε/p, which the
    logarithm makes ε/(1 - p).
    """
    task.binary()
    learner = json.loads(bytes(task.estimator.get_booster().save_raw("json")))["learner"]
    if learner["objective"]["name"] != "binary:logistic":
        raise NotUnderstood(f"a {task.name} is understood with binary:logistic, not {learner['objective']['name']}")
    booster, weights = learner["gradient_booster"], None
    if booster["name"] == "dart":
        booster, weights = booster["gbtree"], booster["weight_drop"]
    if booster["name"] != "gbtree":
        raise NotUnderstood(f"a {task.name} is understood as a sum of trees, not as {booster['name']}")
    model = booster["model"]
    trees = [_tree(tree, task.sign) for tree in model["trees"][: _used(learner, model)]]
    for tree, weight in zip(trees, weights or (), strict=False):
        tree["value"] = weight * tree["value"]
    p = float(np.float32(learner["learner_model_param"]["base_score"].strip("[]")))
    base = float(np.log(p / (1.0 - p)))
    form = Ensemble.from_trees(trees, strict=True, float32=True, base=task.sign * base)
    slack = EPS32 * (1.0 / (1.0 - p) + 1.0 + 2.0 * abs(base))
    slack += rounding_in_order(form, task.cut) + (rounding_of_sum(form, eps=EPS32) / len(trees) if weights else 0.0)
    missing, inputs = float(task.estimator.missing), task.inputs
    sparse = hasattr(inputs.table(base_row(inputs.space)[None]), "tocoo")
    if sparse or not np.isnan(missing):  # a number that is taken for missing breaks every order
        inputs = replace(inputs, monotone=np.zeros_like(inputs.monotone))
    numbers = partial(_numbers, _kept(model), missing)
    return task.logistic(inputs.columns(numbers), form, slack + rounding_of_sum(form), eps=EPS32)


def _used(learner: dict[str, Any], model: dict[str, Any]) -> int:
    """How many trees count: those up to the best iteration, if it stopped early."""
    best = learner["attributes"].get("best_iteration")
    if best is None:
        return len(model["trees"])
    if "iteration_indptr" in model:
        return int(model["iteration_indptr"][int(best) + 1])
    return (int(best) + 1) * int(model["gbtree_model_param"]["num_parallel_tree"])


def _tree(tree: dict[str, Any], sign: float) -> dict[str, Any]:
    left, right = np.array(tree["left_children"]), np.array(tree["right_children"])
    numbers = np.array(tree["split_conditions"], dtype=np.float32).astype(np.float64)
    missing_left = np.array(tree["default_left"], dtype=bool)
    leaf = left < 0
    sets: list[NDArray[np.float64] | None] = [None] * len(left)
    codes = np.array(tree["categories"], dtype=np.float64)
    for node, start, size in zip(
        tree["categories_nodes"], tree["categories_segments"], tree["categories_sizes"], strict=True
    ):
        sets[node] = codes[start : start + size]
        left[node], right[node] = right[node], left[node]  # here a set says what goes left
        missing_left[node] = not missing_left[node]
    return {
        "left": left,
        "right": right,
        "column": np.array(tree["split_indices"]),
        "threshold": np.where(leaf, 0.0, numbers),
        "value": np.where(leaf, sign * numbers, 0.0),
        "missing_left": missing_left,
        "sets": sets,
    }


# -- categories: XGBoost keeps texts as bytes, one after the other, and where each ends; up to 3.2 it counts the ends in
# -- characters, so that what it keeps, and compares, of texts beyond ASCII are pieces that are no labels


def fitted_labels(booster: Any) -> list[list[Any]]:
    """For each column, what is kept of its categories: numbers, or texts as bytes; nothing at all by old versions."""
    return _kept(json.loads(bytes(booster.save_raw("json")))["learner"]["gradient_booster"])


def labels_in(kept: list[Any], known: Sequence[Any]) -> list[Any] | None:
    """The labels behind what is kept of them, some of which are known; None if they cannot be told."""
    labels = list(known)
    for cut in CUTS:
        if cut(labels) == kept:
            return labels
    try:
        found = [piece.decode() if isinstance(piece, bytes) else piece for piece in kept]
    except UnicodeDecodeError:
        return None
    told = all(map(str.isascii, filter(_is_text, found))) and set(found) & set(labels)
    return found if told else None


def _kept(model: dict[str, Any]) -> list[list[Any]]:
    model = model.get("gbtree", model)
    return [_pieces(column) for column in model.get("model", model).get("cats", {}).get("enc", [])]


def _pieces(column: dict[str, Any]) -> list[Any]:
    if "offsets" not in column:
        return list(column["values"])
    return _cut(bytes(v % 256 for v in column["values"]), column["offsets"])


def _cut(text: bytes, ends: Sequence[int]) -> list[Any]:
    return [text[a:b] for a, b in pairwise(ends)]


def _by_bytes(labels: Sequence[Any]) -> list[Any]:
    return [label.encode() if _is_text(label) else label for label in labels]


def _by_characters(labels: Sequence[Any]) -> list[Any]:
    if not all(map(_is_text, labels)):
        return list(labels)
    return _cut("".join(labels).encode(), [0, *np.cumsum([len(label) for label in labels]).tolist()])


def _is_text(label: Any) -> bool:
    return isinstance(label, str)


CUTS = (_by_bytes, _by_characters)


def _numbers(kept: list[list[Any]], missing: float, table: Any) -> NDArray[np.float64]:
    """What a sparse table does not hold is missing, not zero; so is the number that stands for it."""
    if hasattr(table, "tocoo"):
        held = table.tocoo()
        found = np.full(table.shape, np.nan)
        found[held.row, held.col] = held.data
    else:
        found = coded(partial(_at, kept), table)
    if not np.isnan(missing):
        found[found.astype(np.float32) == np.float32(missing)] = np.nan
    return found


def _at(kept: list[list[Any]], place: int, _: int, categories: Any) -> NDArray[Any]:
    """Where XGBoost finds each category among those of the fitting."""
    if not kept or not kept[place]:
        return np.arange(len(categories))
    codes = {piece: code for code, piece in enumerate(kept[place])}
    if len(codes) < len(kept[place]):
        raise NotUnderstood(
            "XGBoost keeps two categories under one name, as it does not count bytes beyond ASCII right"
        )
    ways = [np.array([codes.get(piece, -1) for piece in cut(list(categories))], dtype=np.intp) for cut in CUTS]
    return max(ways, key=lambda found: int((found >= 0).sum()))
