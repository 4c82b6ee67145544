"""ONNX classifiers: trees, linear models and networks of ReLUs, after operators that work on each column for itself."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from dueto.models.folding import Trace
from dueto.models.importers.base import EPS, EPS32, Task, rounding_of_sum
from dueto.models.importers.onnx_nodes import DOUBLE, RULES, Cells, Constant, Layers, Scores
from dueto.models.importers.sklearn_networks import layered, rounding
from dueto.models.lookup import NotUnderstood
from dueto.models.structure import Structure

if TYPE_CHECKING:
    from dueto.models.columns import Columns

__all__ = ["graph"]


def graph(task: Task) -> Structure:
    """The scores of the graph's output, traced back to its inputs; computed in float32 unless the file says double."""
    scores = _traced(task)
    if len(scores.columns) == 1:
        chosen = scores.columns[0]
    elif task.column < len(scores.columns):
        chosen = scores.columns[task.column]
    else:
        raise NotUnderstood(f"it has {len(scores.columns)} scores")
    form = scores.forms[max(chosen, ~chosen)]
    task = replace(task, column=0 if chosen < 0 else 1)
    trace = scores.source.trace
    inputs = task.inputs.then(partial(task.estimator.tensor, scores.source.name), trace.owner, trace.monotone)
    columns = inputs.columns()
    if isinstance(form, Layers):
        return _layered(task, columns, form)
    slack = rounding_of_sum(form, eps=EPS32)
    form = replace(form, value=task.sign * form.value, base=task.sign * form.base)
    if scores.logistic:
        return task.logistic(columns, form, slack, eps=EPS32)
    if task.sign < 0:
        form = replace(form, base=1.0 + form.base)
        slack += EPS32
    return Structure(columns, form, task.threshold, slack, np.asarray, 8.0 * EPS32)


def _layered(task: Task, columns: Columns, layers: Layers) -> Structure:
    eps = EPS if layers.double else EPS32
    slack = rounding(columns, layers.weights, layers.biases, eps=eps)
    return layered(task, columns, layers.weights, layers.biases, layers.bent, slack, eps=eps)


def _traced(task: Task) -> Scores:
    """What the output is, by the rules of the nodes before it."""
    onnx = _package()
    model = onnx.load_model_from_string(task.estimator.content)
    known: dict[str, Any] = {t.name: Constant(onnx.numpy_helper.to_array(t)) for t in model.graph.initializer}
    given = [i.name for i in model.graph.input if i.name not in known]
    trace = Trace(task.inputs.owner, task.inputs.monotone)
    double = {i.name: i.type.tensor_type.elem_type == DOUBLE for i in model.graph.input}
    for k, name in enumerate(given):
        known[name] = Cells(name, trace if len(given) == 1 else trace.picked([k]), double[name])
    needed = _before(model.graph, task.estimator.output)
    for node in model.graph.node:
        if not needed.intersection(node.output):
            continue
        attributes = {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute} | {"op": node.op_type}
        if node.op_type == "Constant":
            known[node.output[0]] = Constant(onnx.numpy_helper.to_array(attributes["value"]))
            continue
        if node.op_type not in RULES:
            raise NotUnderstood(f"its graph has an operator {node.op_type}")
        found = RULES[node.op_type]([known[name] for name in node.input if name], attributes, node.output[0])
        known |= dict.fromkeys(node.output, found)
        if isinstance(found, Cells):
            known[node.output[0]] = found
    scores = known[task.estimator.output]
    if not isinstance(scores, Scores):
        raise NotUnderstood("its output is no logistic function, and no mean of trees")
    return scores


def _before(graph: Any, output: str) -> set[str]:
    """The tensors that an output depends on."""
    makers = {name: node for node in graph.node for name in node.output}
    found, waiting = set(), [output]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += makers[name].input if name in makers else []
    return found


def _package() -> Any:
    try:
        import onnx
        import onnx.numpy_helper
    except ImportError:
        raise NotUnderstood("its graph is read by the package onnx; run: pip install onnx") from None
    return onnx
