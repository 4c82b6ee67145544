"""The Hilbert-Schmidt independence criterion."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from dueto.dependence.base import batches, observed
from dueto.dependence.kernels import cholesky, gauss, median_width, standardised
from dueto.dependence.products import Products, Scale
from dueto.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dueto.dependence.base import Statistic

__all__ = ["HSIC", "Matrices"]

LARGEST = 3000  # rows up to which an n × n array is formed, if it is asked for
RANK = 200  # columns of a low-rank form, at most


@dataclass(frozen=True)
class HSIC:
    """The Hilbert-Schmidt independence criterion, tr(KΓLΓ)/n², with Gaussian kernels.

    Dimensionless, at least 0, and in the limit 0 just where x and y are independent.

    Parameters
    ----------
    form : "low-rank" or "exact", optional
        "low-rank" writes each kernel as GG' by pivoted Cholesky, to a mean error of 1e-8 on the diagonal: for one
        column some 15 to 30 columns of G suffice whatever n is, and no n × n array is formed. At most 200 are used.
        "exact" forms the n × n arrays, for n up to 3,000.

    Notes
    -----
    Γ = I - 11'/n; widths are 2^(-½) times the median distance between points, after standardisation [1]_.

    References
    ----------
    .. [1] Gretton, Bousquet, Smola and Schölkopf, "Measuring statistical dependence with Hilbert-Schmidt norms",
       ALT 2005, eq. 9, with n² for (n - 1)².

    Examples
    --------
    >>> import numpy as np
    >>> from dueto.dependence import HSIC
    >>> rng = np.random.default_rng(0)
    >>> x, noise = rng.normal(size=(2, 300, 1))
    >>> bool(HSIC().estimate(x, noise, rng=rng) < 0.005 < HSIC().estimate(x, x**2 + noise, rng=rng))
    True
    """

    form: Literal["low-rank", "exact"] = "low-rank"

    def __post_init__(self) -> None:
        if self.form not in ("low-rank", "exact"):
            raise InputError(f"the form of HSIC must be 'low-rank' or 'exact', got {self.form!r}")

    @property
    def name(self) -> str:
        """By what name users ask for it."""
        return "hsic"

    def prepare(self, x: NDArray[np.float64], y: NDArray[np.float64], *, rng: np.random.Generator) -> Statistic:
        """HSIC as a function of the permutation."""
        samples = [(z, median_width(z, rng=rng)) for z in map(standardised, (x, y))]
        if self.form == "low-rank":
            A, C = (centred(cholesky(z, width, rank=RANK)) for z, width in samples)
            return Products((Scale(A, C, np.ones((A.shape[1], C.shape[1]))),))
        if len(x) > LARGEST:
            raise InputError(
                f"the exact form of HSIC needs n × n numbers, too many for n = {len(x):,}; use the low-rank form"
            )
        K, L = (gauss(z, z, width) for z, width in samples)
        return Matrices(centred(centred(K).T), L)

    def estimate(self, x: NDArray[np.float64], y: NDArray[np.float64], *, rng: np.random.Generator) -> float:
        """HSIC of the sample as it is."""
        return observed(self.prepare(x, y, rng=rng), len(x))


@dataclass(frozen=True, eq=False)
class Matrices:
    """Σ_ij K_ij L_π(i)π(j) / n², K centred in rows and columns."""

    K: NDArray[np.float64]
    L: NDArray[np.float64]
    blocks: None = None

    def __call__(self, permutations: NDArray[np.intp]) -> NDArray[np.float64]:
        """(B, n) -> (B, 1)."""
        n = len(self.K)
        found = np.empty(len(permutations))
        for part in batches(permutations, n * n):
            p = permutations[part]
            found[part] = np.einsum("ij,bij->b", self.K, self.L[p[:, :, None], p[:, None, :]])
        return found[:, None] / n**2


def centred(A: NDArray[np.float64]) -> NDArray[np.float64]:
    """Each column less its mean."""
    return np.asarray(A - A.mean(axis=0))
