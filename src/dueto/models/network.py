"""Feed-forward networks of ReLUs over an estimator's columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Network"]


@dataclass(frozen=True, eq=False)
class Network:
    """Layers h ↦ max(0, h W + b), and a last one without the ReLU that gives one number, the margin.

    Parameters
    ----------
    weights : tuple of (inputs, outputs) float64
    biases : tuple of (outputs,) float64
    """

    weights: tuple[NDArray[np.float64], ...]
    biases: tuple[NDArray[np.float64], ...]

    def margin(self, Z: NDArray[np.float64]) -> NDArray[np.float64]:
        """(N,) the last layer's number, of columns (N, p) as numbers."""
        for W, b in zip(self.weights[:-1], self.biases[:-1], strict=True):
            Z = np.maximum(Z @ W + b, 0.0)
        return np.asarray((Z @ self.weights[-1] + self.biases[-1])[:, 0])
