"""What a measure of dependence gives, and what it asks for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

__all__ = ["Measure", "Statistic", "batches", "observed"]

ROOM = 1 << 22  # numbers held at once while permutations are evaluated: 32 MiB


class Statistic(Protocol):
    """A measure of one sample, prepared: everything that does not depend on the pairing is done already.

    Attributes
    ----------
    blocks : (n,) int, or None
        Permutations must keep every row within its block, if there are any.
    """

    @property
    def blocks(self) -> NDArray[np.intp] | None:
        """The block of each row, or None."""
        ...

    def __call__(self, permutations: NDArray[np.intp]) -> NDArray[np.float64]:
        """The statistic with row i of x beside row `permutations[b, i]` of y: (B, n) -> (B, s), one column a scale.

        Values less than 1e-13 apart are taken for tied.
        """
        ...


@runtime_checkable
class Measure(Protocol):
    """How dependent two samples are. Larger is more dependent.

    A test by permutations is exact if a prepared statistic depends on the observed pairing in no way but through the
    permutation it is given: what it fixes (centres, widths) must come from each sample's values alone, or from `rng`.
    """

    @property
    def name(self) -> str:
        """By what name users ask for it."""
        ...

    def estimate(self, x: NDArray[np.float64], y: NDArray[np.float64], *, rng: np.random.Generator) -> float:
        """The measure of a sample: (n, p) and (n, q) -> a number."""
        ...

    def prepare(self, x: NDArray[np.float64], y: NDArray[np.float64], *, rng: np.random.Generator) -> Statistic:
        """Factor once, to evaluate for many permutations."""
        ...


def observed(statistic: Statistic, n: int) -> float:
    """The statistic of n pairs as they are; of several scales, the mean."""
    return float(statistic(np.arange(n)[None]).mean())


def batches(permutations: NDArray[np.intp], numbers: int) -> Iterator[slice]:
    """Slices of permutations, so many that `numbers` for each fit into the room."""
    size = max(1, ROOM // max(1, numbers))
    for start in range(0, len(permutations), size):
        yield slice(start, start + size)
