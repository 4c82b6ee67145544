"""Linear models over an estimator's columns: logistic regression, linear SVMs, scorecards."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Additive"]


@dataclass(frozen=True, eq=False)
class Additive:
    """base + Σ_c weights[c] · column c: a sum of one function a feature, since each column depends on one."""

    weights: NDArray[np.float64]
    base: float

    def margin(self, Z: NDArray[np.float64]) -> NDArray[np.float64]:
        """(N,) the sum, of columns (N, p) as numbers."""
        return np.asarray(Z @ self.weights + self.base)
