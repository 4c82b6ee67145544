"""What "near" means: how far a changed applicant is from the present one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dueto.errors import InputError
from dueto.packed import blocks_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from dueto.space import FeatureSpace

__all__ = ["Distance", "joined", "parts", "steps"]

TINY = np.nextafter(0.0, 1.0)  # the least step, so that no change is lost in rounding


@dataclass(frozen=True)
class Distance:
    """Weighted mean of how many features change, by how much in sum, in square, and at most.

    Parameters
    ----------
    weights : four non-negative numbers
        w0 to w3 of the formula below.

    Notes
    -----
    With ``d_j = |cf_j - x_j| / range_j`` on an ordered feature, 0 or 1 on an unordered one, and 1 where a value goes
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
        found = [self.combine(parts(steps(space, x, block)), len(space)) for block in blocks_of(X)]
        return found[0] if len(found) == 1 else np.concatenate([np.empty(0), *found])

    def combine(self, parts: NDArray[np.float64], n: int) -> NDArray[np.float64]:
        """The formula, from (..., 4) parts as `parts` gives them, over n features."""
        w0, w1, w2, w3 = self.weights
        count, total, squares, largest = np.moveaxis(parts, -1, 0)
        return np.asarray(w0 * count / n + w1 * total / n + w2 * np.sqrt(squares / n) + w3 * largest)


def parts(d: NDArray[np.float64]) -> NDArray[np.float64]:
    """(N, 4) ‖d‖₀, ‖d‖₁, Σ d² and max d of each row of steps (N, n)."""
    return np.column_stack([(d > 0).sum(1), d.sum(1), (d * d).sum(1), d.max(1, initial=0.0)])


def joined(one: NDArray[np.float64], two: NDArray[np.float64]) -> NDArray[np.float64]:
    """(..., 4) parts of steps on some features and parts of steps on others, as parts of both."""
    both = one + two
    np.maximum(one[..., 3], two[..., 3], out=both[..., 3])
    return both


def steps(
    space: FeatureSpace, x: NDArray[np.float64], X: NDArray[np.float64], members: Sequence[int] | None = None
) -> NDArray[np.float64]:
    """(N, n) d_j of every row: how far each feature moved, in units of its range; of some features, if named."""
    at = slice(None) if members is None else list(members)
    x = x[at]
    far = np.maximum(np.abs(X - x) / space.ranges[at], TINY)
    moved = np.where(x != X, np.where(space.ordered[at], far, 1.0), 0.0)
    gone = np.isnan(X)
    if not (gone.any() or np.isnan(x).any()):
        return moved
    return np.where(gone | np.isnan(x), (gone != np.isnan(x)).astype(np.float64), moved)
