"""Feed-forward networks of torch."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import numpy as np

from dueto.errors import InputError
from dueto.models.inputs import as_numbers
from dueto.models.lookup import attribute, known

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

__all__ = ["TorchModel"]

SILENT = {"torch.Identity": True, "torch.Dropout": True, "torch.Flatten": True}  # nothing in a finished model
ENDS = {"torch.Sigmoid": True, "torch.Softmax": True}


class TorchModel:
    """A `torch.nn.Sequential` that ends in one margin or in scores of k classes, as a model of a table.

    Its score is what a last `Sigmoid` or `Softmax` gives; without one, the logistic function of its one output or the
    softmax of its k.

    Parameters
    ----------
    module : torch.nn.Sequential
        Trained. A copy is taken, on the CPU and in evaluation mode: training it further changes nothing here.
    columns : sequence of str, optional
        The columns of the table that it takes, in this order: by default those that the scaler was fitted on, or all.
    scaler : fitted scikit-learn transformer, optional
        What it was trained behind: a `StandardScaler`, a `ColumnTransformer`, a pipeline of transformers.

    Raises
    ------
    TypeError
        If the module is not a `Sequential`.
    InputError
        If its outputs are neither a margin nor scores.

    Examples
    --------
    ::

        net = torch.nn.Sequential(torch.nn.Linear(2, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1))
        ...  # train it on scaler.transform(loans[["income", "age"]])
        dueto.explain(dueto.TorchModel(net, columns=["income", "age"], scaler=scaler), loans, 0)
    """

    def __init__(self, module: Any, *, columns: Sequence[str] | None = None, scaler: Any = None) -> None:
        if not known(module, {"torch.Sequential": True}, ("forward",)):
            raise TypeError(
                f"a TorchModel takes a torch.nn.Sequential, got {type(module).__name__}; give the Sequential inside "
                "it, or a function of a table that gives scores"
            )
        self.module = copy.deepcopy(module).cpu().eval()
        self.scaler = scaler
        self.layers = list(_flat(self.module))
        ends = [known(layer, ENDS, ("forward",)) for layer in self.layers]
        if any(ends[:-1]) or not self.layers:
            raise InputError("a torch.nn.Sequential must have layers, and a Sigmoid or a Softmax only at its end")
        if attribute(self.layers[-1], "dim") == 0:
            raise InputError("a Softmax with dim=0 adds up the rows of a table, not the classes; make it dim=1")
        self.probabilities = bool(ends[-1])
        names = attribute(scaler, "feature_names_in_") if columns is None else columns
        self.feature_names_in_ = None if names is None else [str(name) for name in names]
        width = attribute(scaler, "n_features_in_")
        self.n_features_in_ = attribute(self.layers[0], "in_features") if width is None else width

    def predict_proba(self, table: Any) -> NDArray[np.float64]:
        """(N,) scores, or (N, k) those of k classes."""
        import torch

        with torch.inference_mode():
            given = self.module(torch.from_numpy(self.tensor(table)))
        found: NDArray[np.float64] = given.double().numpy().reshape(len(given), -1)
        if found.shape[1] == 1:
            found = found[:, 0]
            return found if self.probabilities else np.asarray(1.0 / (1.0 + np.exp(-np.clip(found, -700.0, 700.0))))
        if not self.probabilities:
            found = np.exp(found - found.max(axis=1, keepdims=True))
            found /= found.sum(axis=1, keepdims=True)
        return found

    def tensor(self, table: Any) -> NDArray[Any]:
        """(N, p) what the first layer is given, in the type of its weights."""
        if self.scaler is not None:
            table = self.scaler.transform(
                table if attribute(self.scaler, "feature_names_in_") is not None else _bare(table)
            )
        weights = next(self.module.parameters(), None)
        double = weights is not None and str(weights.dtype) == "torch.float64"
        with np.errstate(over="ignore"):
            return np.array(as_numbers(table), dtype=np.float64 if double else np.float32, order="C")


def _flat(module: Any) -> Iterator[Any]:
    """The layers of nested sequences, without those that do nothing in a finished model."""
    for layer in module.children():
        if known(layer, {"torch.Sequential": True}, ("forward",)):
            yield from _flat(layer)
        elif not known(layer, SILENT, ("forward",)):
            yield layer


def _bare(table: Any) -> NDArray[Any]:
    return np.asarray(table.to_numpy() if hasattr(table, "to_numpy") else table)
