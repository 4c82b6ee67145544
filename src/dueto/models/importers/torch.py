"""torch's sequences of linear layers and ReLUs, up to one margin or two."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dueto.models.folding import Trace, traced
from dueto.models.importers.base import EPS, EPS32, Task
from dueto.models.importers.sklearn_networks import layered, rounding
from dueto.models.lookup import NotUnderstood, known

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dueto.models.structure import Structure

__all__ = ["sequence"]


def sequence(task: Task) -> Structure:
    """Computed in the type of its weights, float32 as a rule, and so is the table after its scaler rounded to it.

    Two outputs z are a margin z[1] - z[0]; each is off by what rounding does to it.
    """
    model, inputs = task.estimator, task.inputs
    weights: list[NDArray[np.float64]] = []
    biases: list[NDArray[np.float64]] = []
    bent: list[bool] = []
    kinds = set()
    for layer in model.layers[: -1 if model.probabilities else None]:
        if known(layer, {"torch.Linear": True}, ("forward",)):
            kinds.add(str(layer.weight.dtype))
            weights.append(layer.weight.detach().double().numpy().T)
            biases.append(
                np.zeros(weights[-1].shape[1]) if layer.bias is None else layer.bias.detach().double().numpy()
            )
            bent.append(False)
        elif known(layer, {"torch.ReLU": True}, ("forward",)) and bent:
            bent[-1] = True
        else:
            raise NotUnderstood(
                f"a {task.name} is understood as Linear layers with ReLUs between them, not with {type(layer).__name__}"
            )
    if not weights or bent[-1]:
        raise NotUnderstood(f"a {task.name} is understood if its last layer is Linear, before a Sigmoid or a Softmax")
    end = type(model.layers[-1]).__name__ if model.probabilities else ""
    outputs = len(biases[-1])
    if outputs > 2 or end == ("Softmax" if outputs == 1 else "Sigmoid"):
        raise NotUnderstood(f"a {task.name} is understood for two classes, not with {outputs} outputs {end}".rstrip())
    if not kinds <= {"torch.float32", "torch.float64"}:
        raise NotUnderstood(f"a {task.name} is understood in float32 or float64, not in {', '.join(sorted(kinds))}")
    eps = EPS if kinds == {"torch.float64"} else EPS32
    trace = Trace(inputs.owner, inputs.monotone)
    if model.scaler is not None:
        trace = traced(model.scaler, trace, "scaler")
    columns = inputs.then(model.tensor, trace.owner, trace.monotone).columns()
    if len(columns) != len(weights[0]):
        raise NotUnderstood(f"its first layer takes {len(weights[0])} columns, and {len(columns)} come to it")
    slack = rounding(columns, weights, biases, eps=eps)
    return layered(task, columns, weights, biases, bent, slack, eps=eps)
