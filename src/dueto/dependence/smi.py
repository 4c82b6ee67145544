"""Squared-loss mutual information at fixed scales, on a grid of centres: what regressions minimise and tests use."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from dueto.dependence.base import observed
from dueto.dependence.kernels import features, normal_scores, standardised
from dueto.dependence.products import Products, Scale
from dueto.options import positive

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["SMI"]


@dataclass(frozen=True)
class SMI:
    """Squared-loss mutual information (SMI) of two samples, at several scales at once.

    SMI = ½ ∬ (p(x,y)/(p(x)p(y)) - 1)² p(x) p(y) dx dy: dimensionless, at least 0, and 0 just where x and y are
    independent. The estimate of a sample lies near that, and can be a little below 0.

    Parameters
    ----------
    widths : tuple of float, optional
        Widths σ of the Gaussian kernels, in standard deviations; of d columns, times √d, as their distances are.
    ridge : float, optional
        λ, which keeps the estimated density ratio smooth.
    scores : bool or "x", optional
        Whether each column (or each of x alone) is first replaced by its normal scores. SMI itself does not change
        under monotone transformations; its estimate is then robust against outliers, and tied values share one score.
        A residual wants "x": where y is discrete, scores would tell apart residuals that differ by hardly anything.

    Notes
    -----
    The density ratio is modelled as Σ_kl α_kl K(x, u_k) K(y, v_l) with centres u and v on grids. Hence
    H = (Kx'Kx/n) ⊗ (Ky'Ky/n) and h = Kx'Ky/n, and S = ½ h'(H + λI)⁻¹h - ½ is least-squares mutual information [1]_ in
    its regularised form; two small eigendecompositions give it. The estimate is the mean over widths. A sample of
    several columns has rows of it as centres instead of a grid, drawn without regard to the pairing.

    References
    ----------
    .. [1] Suzuki, Sugiyama, Kanamori and Sese, "Mutual information estimation reveals global associations between
       stimuli and biological processes", BMC Bioinformatics 10 (2009), S52, eq. 11.

    Examples
    --------
    >>> import numpy as np
    >>> from dueto.dependence import SMI
    >>> rng = np.random.default_rng(0)
    >>> x, noise = rng.normal(size=(2, 300, 1))
    >>> bool(SMI().estimate(x, noise, rng=rng) < 0.05 < SMI().estimate(x, x**2 + noise, rng=rng))
    True
    """

    widths: tuple[float, ...] = (0.3, 0.6, 1.2)
    ridge: float = 1e-2
    scores: bool | Literal["x"] = True

    def __post_init__(self) -> None:
        positive("widths", self.widths)
        positive("ridge", (self.ridge,))

    @property
    def name(self) -> str:
        """By what name users ask for it."""
        return "smi"

    def prepare(self, x: NDArray[np.float64], y: NDArray[np.float64], *, rng: np.random.Generator) -> Products:
        """For each width, S as a function of the permutation."""
        x = normal_scores(x) if self.scores else standardised(x)
        y = normal_scores(y) if self.scores is True else standardised(y)
        scales = []
        for width in self.widths:
            (A, d), (C, e) = (features(z, width, rng=rng) for z in (x, y))
            scales.append(Scale(A, C, 0.5 / (np.outer(d, e) + self.ridge), 0.5))
        return Products(tuple(scales))

    def estimate(self, x: NDArray[np.float64], y: NDArray[np.float64], *, rng: np.random.Generator) -> float:
        """The mean of S over widths."""
        return observed(self.prepare(x, y, rng=rng), len(x))
