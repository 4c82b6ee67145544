"""Distance covariance, by the package dcor."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dueto.dependence.base import observed
from dueto.dependence.hsic import LARGEST, Matrices
from dueto.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["DistanceCorrelation"]


@dataclass(frozen=True)
class DistanceCorrelation:
    """Squared distance correlation [1]_: 0 to 1, and in the limit 0 just where x and y are independent.

    Computed by the package dcor (extra `dcor`). The test works on n × n distances, so it takes n up to 3,000.

    References
    ----------
    .. [1] Székely, Rizzo and Bakirov, "Measuring and testing dependence by correlation of distances", Annals of
       Statistics 35 (2007), eq. 2.9.
    """

    @property
    def name(self) -> str:
        """By what name users ask for it."""
        return "dcor"

    def prepare(self, x: NDArray[np.float64], y: NDArray[np.float64], *, rng: np.random.Generator) -> Matrices:  # noqa: ARG002
        """Its numerator, distance covariance, as a function of the permutation: the denominator does not change."""
        if len(x) > LARGEST:
            raise InputError(f"dcor needs n × n distances, too many for n = {len(x):,}; use the measure smi or hsic")
        return Matrices(_centred(x), _centred(y))

    def estimate(self, x: NDArray[np.float64], y: NDArray[np.float64], *, rng: np.random.Generator) -> float:
        """Squared distance correlation of the sample as it is."""
        return observed(self.prepare(x, y, rng=rng), len(x))


def _centred(z: NDArray[np.float64]) -> NDArray[np.float64]:
    """Distances, centred in rows and columns, with mean square 1; of a constant sample, 0."""
    try:
        import dcor
    except ImportError:
        raise InputError("distance correlation needs the package dcor; run: pip install dcor") from None
    z = z / (np.abs(z).max() or 1)  # squares must neither overflow nor vanish
    A = np.asarray(dcor.double_centered(dcor.distances.pairwise_distances(z)))
    return A / (np.sqrt(np.mean(A * A)) or 1)
