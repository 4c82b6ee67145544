"""CatBoost's classifier of two classes over numbers, read from its JSON export."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dueto.models.ensemble import Ensemble
from dueto.models.importers.base import Task, rounding_of_sum
from dueto.models.lookup import NotUnderstood

if TYPE_CHECKING:
    from dueto.models.structure import Structure

__all__ = ["classifier"]


def classifier(task: Task) -> Structure:
    """float32(x) > border goes right; leaves are summed in float64, then scaled and shifted."""
    task.binary()
    model = _exported(task.estimator)
    loss = task.estimator.get_all_params().get("loss_function")
    if loss not in {"Logloss", "CrossEntropy"}:
        raise NotUnderstood(f"a {task.name} is understood with the loss Logloss, not {loss}")
    info = model["features_info"]
    if set(info) - {"float_features"}:
        raise NotUnderstood(f"a {task.name} is understood over columns of numbers, not of categories or text")
    column = {f["feature_index"]: f["flat_feature_index"] for f in info["float_features"]}
    right = {f["feature_index"]: f["nan_value_treatment"] == "AsTrue" for f in info["float_features"]}
    scale, (bias,) = model["scale_and_bias"]
    roots = [_unfolded(tree, len(tree["splits"]) - 1, 0) for tree in model.get("oblivious_trees", ())]
    trees = [_tree(root, column, right, task.sign * scale) for root in roots or model["trees"]]
    form = Ensemble.from_trees(trees, float32=True, base=task.sign * bias)
    return task.logistic(task.inputs.columns(), form, rounding_of_sum(form))


def _exported(estimator: Any) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.json"
        estimator.save_model(str(path), format="json")
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return found


def _unfolded(tree: dict[str, Any], level: int, leaf: int) -> dict[str, Any]:
    """An oblivious tree, one question a level, as nested nodes: split k decides bit k of the leaf's number."""
    if level < 0:
        return {"value": tree["leaf_values"][leaf]}
    sides = {"left": leaf, "right": leaf | 1 << level}
    children = {side: _unfolded(tree, level - 1, number) for side, number in sides.items()}
    return {"split": tree["splits"][level], **children}


def _tree(root: dict[str, Any], column: dict[int, int], right: dict[int, bool], factor: float) -> dict[str, Any]:
    """Nested nodes as arrays, each node after its parent."""
    nodes, rows = [root], []
    for node in nodes:  # grows as it goes
        if "split" not in node:
            rows.append((-1, -1, 0, 0.0, factor * node["value"], False))
            continue
        split = node["split"]
        if split["split_type"] != "FloatFeature":
            raise NotUnderstood(f"it asks for a {split['split_type']}")
        nodes += [node["left"], node["right"]]
        j = split["float_feature_index"]
        rows.append((len(nodes) - 2, len(nodes) - 1, column[j], float(np.float32(split["border"])), 0.0, not right[j]))
    names = ("left", "right", "column", "threshold", "value", "missing_left")
    return {name: np.array(values) for name, values in zip(names, zip(*rows, strict=True), strict=True)}
