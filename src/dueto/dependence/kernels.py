"""Gaussian kernels on small sets of centres, and the scales on which they work."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = [
    "centres",
    "cholesky",
    "features",
    "gauss",
    "grid",
    "in_own_order",
    "median_width",
    "normal_scores",
    "rotated",
    "standardised",
]

REACH = 5.0  # standard deviations that a grid of centres covers on either side, at most
CENTRES = 100  # centres drawn where a sample has more than one column
KEPT = 1e-4  # directions of a kernel are kept down to this share of the largest
ROWS = 1000  # rows among which a median distance is taken


def standardised(z: NDArray[np.float64]) -> NDArray[np.float64]:
    """Each column with mean 0 and standard deviation 1; a constant column is 0. (n, d) -> (n, d)."""
    z = z / np.where((top := np.abs(z).max(axis=0, initial=0)) > 0, top, 1)  # squares must neither overflow nor vanish
    z = z - z.mean(axis=0)
    return np.asarray(z / np.where((sd := z.std(axis=0)) > 0, sd, 1))


def normal_scores(z: NDArray[np.float64]) -> NDArray[np.float64]:
    """Each column's mid-ranks as quantiles of the standard normal: Φ⁻¹((rank - ½)/n); tied values share theirs.

    Independence, and every measure that is invariant under monotone transformations, is left as it was.
    """
    from scipy.special import ndtri

    scores = np.empty_like(z)
    for j, column in enumerate(z.T):
        _, where, counts = np.unique(column, return_inverse=True, return_counts=True)
        scores[:, j] = ndtri((np.cumsum(counts) - counts / 2) / len(column))[where]
    return scores


def gauss(z: NDArray[np.float64], c: NDArray[np.float64], width: float) -> NDArray[np.float64]:
    """exp(-‖z_i - c_l‖²/(2 width²)): (n, d) and (b, d) -> (n, b)."""
    if z.shape[1] == 1:
        scaled = (z - c[:, 0]) / width
        return np.asarray(np.exp(-0.5 * scaled * scaled))
    z, c = z / width, c / width
    squares = (z * z).sum(axis=1)[:, None] + (c * c).sum(axis=1) - 2 * (z @ c.T)
    return np.asarray(np.exp(-0.5 * np.maximum(squares, 0)))


def in_own_order(z: NDArray[np.float64]) -> NDArray[np.float64]:
    """Rows sorted by themselves: a draw from them says nothing of what they are paired with."""
    return z[np.lexsort(z.T[::-1])]


def grid(low: float, high: float, spacing: float) -> NDArray[np.float64]:
    """Equidistant centres from `low` to `high`, at most `spacing` apart: (b, 1)."""
    return np.linspace(low, high, max(2, int(np.ceil((high - low) / spacing)) + 1))[:, None]


def centres(z: NDArray[np.float64], width: float, *, rng: np.random.Generator) -> NDArray[np.float64]:
    """Centres for a sample: a grid over its range, a width apart; rows drawn from it where it has several columns.

    Either way they say nothing of how the rows are paired with another sample's.
    """
    if z.shape[1] > 1:
        return in_own_order(z)[rng.choice(len(z), min(CENTRES, len(z)), replace=False)]
    return grid(max(float(z.min()), -REACH), min(float(z.max()), REACH), width)


def rotated(K: NDArray[np.float64], kept: float = KEPT) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Features in the directions of K'K/n = U diag(d) U': K U (n, r) and d (r,), small directions left out."""
    d, U = np.linalg.eigh(K.T @ K / len(K))
    large = d > kept * d[-1]
    return K @ U[:, large], d[large]


def features(
    z: NDArray[np.float64], width: float, *, rng: np.random.Generator
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The rotated kernel of a sample of d standardised columns with its centres, `width` √d wide."""
    width = width * np.sqrt(z.shape[1])
    return rotated(gauss(z, centres(z, width, rng=rng), width))


def median_width(z: NDArray[np.float64], *, rng: np.random.Generator) -> float:
    """2^(-½) times the median distance between different points, taken among at most 1,000 rows."""
    from scipy.spatial.distance import pdist

    if len(z) > ROWS:
        z = in_own_order(z)[rng.choice(len(z), ROWS, replace=False)]
    apart = pdist(z)
    apart = apart[apart > 0]
    return float(np.median(apart) / np.sqrt(2)) if len(apart) else 1.0


def cholesky(
    z: NDArray[np.float64], width: float, *, tol: float = 1e-8, rank: int | None = None
) -> NDArray[np.float64]:
    """G with GG' ≈ K, the Gaussian kernel of a sample with itself, by pivoted Cholesky: (n, r).

    Stops when the mean of diag(K - GG') is at most `tol`, or at `rank` columns. No n × n array is formed.

    References
    ----------
    .. [1] Fine and Scheinberg, "Efficient SVM training using low-rank kernel representations", JMLR 2 (2001).
    """
    rows = np.lexsort(z.T[::-1])  # among equals the pivot is the first of these: it must not tell of the pairing
    z, n = z[rows], len(z)
    limit = n if rank is None else min(rank, n)
    G = np.empty((min(limit, 32), n))
    left, k = np.ones(n), 0
    while k < limit and left.mean() > tol:
        if k == len(G):
            G = np.concatenate([G, np.empty((min(limit, 2 * k) - k, n))])
        pivot = int(np.argmax(left))
        column = gauss(z, z[pivot : pivot + 1], width)[:, 0] - G[:k, pivot] @ G[:k]
        G[k] = column / np.sqrt(left[pivot])
        left = np.maximum(left - G[k] ** 2, 0)
        k += 1
    found = np.empty((n, k))
    found[rows] = G[:k].T
    return found
