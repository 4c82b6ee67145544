"""What "near" means: how far a changed applicant is from the present one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dueto.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dueto.space import FeatureSpace

__all__ = ["Distance", "steps"]


@dataclass(frozen=True)
class Distance:
    """Weighted mean of how many features change, by how much in sum, in square, and at most.

    Parameters
    ----------
    weights : four non-negative numbers
        w0 to w3 of the formula below.

    Notes
    -----
    With d_j = |cf_j - x_j| / range_j on an ordered feature, 0 or 1 on an unordered one, and 1 where a value goes
    missing or a missing one is filled, over n features:

        dist = w0 ‖d‖₀ / n + w1 ‖d‖₁ / n + w2 √(Σ d_j² / n) + w3 max_j d_j

    It is dimensionless, 0 only for x itself, and at most 1 inside the domain when the weights sum to 1.

    References
    ----------
    .. [1] Schleich, Geng, Zhang and Suciu, "GeCo: Quality Counterfactual Explanations in Real Time", PVLDB 14(9), 2021.
    """

    weights: tuple[float, float, float, float] = (0.25, 0.25, 0.25, 0.25)

    def __post_init__(self) -> None:
        if (
            len(self.weights) != 4
            or any(not (w >= 0 and np.isfinite(w)) for w in self.weights)
            or not any(self.weights)
        ):
            raise InputError(f"a distance needs four non-negative weights, not all 0; got {self.weights}")

    def __call__(self, space: FeatureSpace, x: NDArray[np.float64], X: NDArray[np.float64]) -> NDArray[np.float64]:
        """(N,) distance of each encoded row of `X` from the encoded applicant `x`."""
        d = steps(space, x, X)
        return self.combine(
            (d > 0).sum(axis=1), d.sum(axis=1), (d * d).sum(axis=1), d.max(axis=1, initial=0.0), len(space)
        )

    def combine(
        self,
        changes: NDArray[np.int_] | NDArray[np.float64],
        total: NDArray[np.float64],
        squares: NDArray[np.float64],
        largest: NDArray[np.float64],
        n: int,
    ) -> NDArray[np.float64]:
        """The formula, from ‖d‖₀, ‖d‖₁, Σ d² and max d."""
        w0, w1, w2, w3 = self.weights
        combined: NDArray[np.float64] = w0 * changes / n + w1 * total / n + w2 * np.sqrt(squares / n) + w3 * largest
        return combined


def steps(space: FeatureSpace, x: NDArray[np.float64], X: NDArray[np.float64]) -> NDArray[np.float64]:
    """(N, n) d_j of every row: how far each feature moved, in units of its range."""
    moved = np.abs(X - x) / space.ranges
    moved = np.where(space.ordered, moved, (X != x).astype(np.float64))
    gone = np.isnan(X)
    return np.where(gone | np.isnan(x), (gone != np.isnan(x)).astype(np.float64), moved)
