"""Statistics that are a weighted sum of squared means of products of features: SMI on a grid, and HSIC."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dueto.dependence.base import batches

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Products", "Scale"]


@dataclass(frozen=True, eq=False)
class Scale:
    """Features A (n, r) of x and C (n, q) of y, weights W (r, q), and what is taken off at the end."""

    A: NDArray[np.float64]
    C: NDArray[np.float64]
    W: NDArray[np.float64]
    less: float = 0.0


@dataclass(frozen=True, eq=False)
class Products:
    """Σ_kl W_kl (1/n Σ_i A_ik C_π(i)l)² - less, for each scale: a matrix product for each permutation."""

    scales: tuple[Scale, ...]
    blocks: None = None

    def __call__(self, permutations: NDArray[np.intp]) -> NDArray[np.float64]:
        """(B, n) -> (B, s)."""
        found = np.empty((len(permutations), len(self.scales)))
        for column, scale in zip(found.T, self.scales, strict=True):
            transposed = np.ascontiguousarray(scale.A.T) / len(scale.A)
            for part in batches(permutations, scale.C.size):
                h = transposed @ scale.C[permutations[part]]
                column[part] = np.einsum("bkl,bkl,kl->b", h, h, scale.W) - scale.less
        return found
