"""Boxes: the part of the feature space that a conjunction of bounds leaves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Box"]


@dataclass(frozen=True, eq=False)
class Box:
    """All encoded instances with `low <= value <= high` on every feature; a missing one passes where `missing` says so.

    Parameters
    ----------
    low, high : (n,) float64
        Inclusive bounds; -inf and inf where there is none. An unordered feature is bound by low = high = its code.
    missing : (n,) bool
        Whether a missing value is inside. (It is neither <= nor >= anything, so any bound shuts it out.)
    """

    low: NDArray[np.float64]
    high: NDArray[np.float64]
    missing: NDArray[np.bool_]

    @classmethod
    def everything(cls, n: int) -> Box:
        """The whole space of `n` features."""
        return cls(np.full(n, -np.inf), np.full(n, np.inf), np.ones(n, dtype=bool))

    def __and__(self, other: Box) -> Box:
        return Box(np.maximum(self.low, other.low), np.minimum(self.high, other.high), self.missing & other.missing)

    def allows(self, j: int, values: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Whether each value of feature `j` is inside."""
        bounded = (values >= self.low[j]) & (values <= self.high[j])
        return np.asarray(np.where(np.isnan(values), self.missing[j], bounded), dtype=np.bool_)

    def contains(self, X: NDArray[np.float64]) -> NDArray[np.bool_]:
        """(N,) whether each encoded row is inside. Features without a bound are not looked at."""
        inside = np.ones(len(X), dtype=bool)
        for j in np.flatnonzero((self.low > -np.inf) | (self.high < np.inf) | ~self.missing):
            inside &= self.allows(int(j), X[:, j])
        return inside
