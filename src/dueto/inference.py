"""Tests of independence by permutation, whose p-values hold for every sample size and every law."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from threadpoolctl import threadpool_limits

from dueto.dependence import measure_named, paired
from dueto.dependence.sample import order, settled
from dueto.errors import InputError, some
from dueto.options import whole
from dueto.seeds import generator

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from dueto.dependence import Measure, Statistic
    from dueto.dependence.sample import Missing

__all__ = ["TestResult", "adjusted", "independence_test", "permutation_test"]

SCALING = 100  # permutations that only bring several scales to one
ROUNDS = 1 << 22  # numbers permuted at a time: 32 MiB
SAME = 1e-10  # statistics closer than this, relative to the largest, are tied: permutations of tied values
ROUNDING = 1e-13  # and so are those closer than this: SMI near 0 is the difference of two numbers near ½


@dataclass(frozen=True, eq=False)
class TestResult:
    """A test by permutation.

    Attributes
    ----------
    statistic : float
        The observed statistic. For a measure of several scales: the largest, over scales, of the statistic less its
        mean under permutation, in standard deviations.
    pvalue : float
        (1 + number of permutations that reach the statistic) / (1 + permutations), in (0, 1]. Under independence,
        P(pvalue <= a) <= a for every a. If the test was stopped early: see `independence_test`.
    stderr : float
        Standard error of `pvalue` that comes from drawing permutations instead of taking all.
    null : (B,) float
        The statistic of each permutation drawn.
    estimate : float
        The measure itself, in its own units.
    measure : str
        Its name.
    n : int
        Pairs tested.
    """

    __test__ = False  # pytest: not a test, for all its name

    statistic: float
    pvalue: float
    stderr: float
    null: NDArray[np.float64]
    estimate: float
    measure: str
    n: int

    @property
    def n_permutations(self) -> int:
        """How many permutations were drawn."""
        return len(self.null)

    def __repr__(self) -> str:
        return (
            f"TestResult(pvalue={self.pvalue:.4g} ± {self.stderr:.1g}, statistic={self.statistic:.4g}, "
            f"measure={self.measure!r}, n={self.n}, n_permutations={self.n_permutations})"
        )

    def to_dict(self) -> dict[str, Any]:
        """Everything but the permuted statistics, as plain data."""
        return {
            "pvalue": self.pvalue,
            "stderr": self.stderr,
            "statistic": self.statistic,
            "estimate": self.estimate,
            "measure": self.measure,
            "n": self.n,
            "n_permutations": self.n_permutations,
        }


def independence_test(
    x: ArrayLike,
    y: ArrayLike,
    *,
    measure: Measure | str = "smi",
    n_permutations: int = 999,
    stop_after: int | None = None,
    missing: Missing = "refuse",
    rng: np.random.Generator | int | None = 0,
) -> TestResult:
    """Are two samples independent? Permute one against the other, and see how often chance gives as much dependence.

    Parameters
    ----------
    x, y : array-like of numbers, (n,) or (n, d)
        n >= 20 pairs.
    measure : str or Measure, optional
        "smi" (squared-loss mutual information at three widths at once, the default), "lsmi" (one width and ridge,
        chosen by cross-validation for every permutation), "lsmi-refit" (the paper's: all of LSMI anew for every
        permutation; slow), "hsic", "dcor" (distance correlation), or one of your own.
    n_permutations : int, optional
        B. The smallest p-value that can be found is 1 / (B + 1).
    stop_after : int, optional
        Stop as soon as so many permutations reach the observed statistic; the p-value is then their number divided by
        the permutations drawn, and holds as well [2]_. Saves time where there is no dependence.
    missing : "refuse" or "drop", optional
        What to do with pairs that are missing or infinite.
    rng : Generator or int, optional
        Draws the permutations (and what the measure draws). The order of the rows does not matter.

    Returns
    -------
    TestResult

    Raises
    ------
    InputError
        If the samples are no numbers, differ in length, are constant or too short; or an option is not possible.

    Notes
    -----
    Under independence all n! pairings are equally likely, so the observed statistic is just one of B + 1 alike, and the
    test is exact [1]_, as long as the statistic depends on the observed pairing in no other way. Here it does not:
    centres and widths come from each sample alone. Several scales are each brought to mean 0 and standard deviation 1
    by 100 permutations that are drawn first and not counted, and the largest is the statistic.

    Ties and discrete columns are no problem for the level: tied values share one normal score, and tied statistics
    count as reached.

    References
    ----------
    .. [1] Phipson and Smyth, "Permutation p-values should never be zero", Statistical Applications in Genetics and
       Molecular Biology 9 (2010), section 3.
    .. [2] Besag and Clifford, "Sequential Monte Carlo p-values", Biometrika 78 (1991), section 2.

    Examples
    --------
    >>> import numpy as np
    >>> from dueto import independence_test
    >>> rng = np.random.default_rng(0)
    >>> x, noise = rng.normal(size=(2, 200))
    >>> independence_test(x, x**2 + noise).pvalue
    0.001
    >>> independence_test(x, noise).pvalue > 0.05
    True
    """
    found = measure_named(measure)
    left, right = paired(x, y, missing=missing)
    rows = order(left, right)
    left, right = left[rows], right[rows]
    draws = settled(int(generator(rng).integers(2**31)), left, right)
    with threadpool_limits(1, user_api="blas"):  # on matrices this small, threads only wait for each other
        statistic = found.prepare(left, right, rng=draws)
        return permutation_test(
            statistic, len(left), measure=found.name, n_permutations=n_permutations, stop_after=stop_after, rng=draws
        )


def permutation_test(
    statistic: Statistic,
    n: int,
    *,
    measure: str,
    n_permutations: int = 999,
    stop_after: int | None = None,
    rng: np.random.Generator,
) -> TestResult:
    """The test of `independence_test`, for a prepared statistic of n pairs."""
    whole("n_permutations", n_permutations)
    if stop_after is not None:
        whole("stop_after", stop_after)
    observed = _finite(statistic(np.arange(n)[None]), measure)
    middle, size = np.zeros(1), np.ones(1)
    if observed.shape[1] > 1:
        table = statistic(_drawn(n, SCALING, statistic.blocks, rng))
        middle, size = table.mean(axis=0), table.std(axis=0)
        size = np.where(size > ROUNDING, size, 1)
    reached = float(((observed - middle) / size).max())
    null = np.empty(0)
    while len(null) < n_permutations:
        B = min(max(1, ROUNDS // n), n_permutations - len(null))
        if stop_after is not None:
            B = min(B, max(10 * stop_after, len(null)))
        values = ((_finite(statistic(_drawn(n, B, statistic.blocks, rng)), measure) - middle) / size).max(axis=1)
        null = np.concatenate([null, values])
        at_least = null >= reached - max(ROUNDING, SAME * abs(reached), SAME * float(np.abs(null).max()))
        if stop_after is not None and at_least.sum() >= stop_after:
            null = null[: 1 + int(np.flatnonzero(at_least)[stop_after - 1])]
            p = stop_after / len(null)
            break
    else:
        p = (1 + float(at_least.sum())) / (1 + n_permutations)
    stderr = float(np.sqrt(p * (1 - p) / (1 + len(null))))
    return TestResult(reached, p, stderr, null, float(observed.mean()), measure, n)


def _finite(values: NDArray[np.float64], measure: str) -> NDArray[np.float64]:
    if not np.isfinite(values).all():
        raise InputError(f"the measure {measure!r} gives no number for these samples; use another")
    return values


def _drawn(n: int, B: int, blocks: NDArray[np.intp] | None, rng: np.random.Generator) -> NDArray[np.intp]:
    """B permutations of n rows, each row staying in its block: (B, n)."""
    if blocks is None:
        return rng.permuted(np.broadcast_to(np.arange(n), (B, n)), axis=1)
    found = np.empty((B, n), dtype=np.intp)
    for block in np.unique(blocks):
        rows = np.flatnonzero(blocks == block)
        found[:, rows] = rng.permuted(np.broadcast_to(rows, (B, len(rows))), axis=1)
    return found


def adjusted(pvalues: ArrayLike, *, method: Literal["holm", "bh", "none"] = "holm") -> NDArray[np.float64]:
    """P-values of many tests, made larger so that they can be read together.

    Parameters
    ----------
    pvalues : (k,) array-like
        In [0, 1].
    method : "holm", "bh" or "none", optional
        "holm": rejecting where the result is at most a, the probability of even one false rejection is at most a,
        whatever ties the tests together [1]_. "bh": the expected share of false ones among all rejections is at most a,
        for tests that are independent or positively dependent [2]_.

    Returns
    -------
    (k,) float
        In the order given.

    Raises
    ------
    InputError
        If a p-value lies outside [0, 1], or there is no such method.

    References
    ----------
    .. [1] Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of Statistics 6 (1979).
    .. [2] Benjamini and Hochberg, "Controlling the false discovery rate", JRSS B 57 (1995).

    Examples
    --------
    >>> from dueto.inference import adjusted
    >>> adjusted([0.01, 0.04, 0.03], method="holm").tolist()
    [0.03, 0.06, 0.06]
    >>> adjusted([0.01, 0.04, 0.03], method="bh").tolist()
    [0.03, 0.04, 0.04]
    """
    p = np.asarray(pvalues, dtype=np.float64)
    if p.ndim != 1 or not ((p >= 0) & (p <= 1)).all():
        raise InputError("p-values must be a list of numbers from 0 to 1")
    if method not in (methods := ("holm", "bh", "none")):
        raise InputError(f"the method of adjustment must be one of {some(methods)}, got {method!r}")
    if method == "none" or not len(p):
        return p
    if method == "bh":
        from scipy.stats import false_discovery_control

        return np.asarray(false_discovery_control(p, method="bh"))
    order = np.argsort(p, kind="stable")
    steps = np.maximum.accumulate(np.minimum(p[order] * np.arange(len(p), 0, -1), 1))
    found = np.empty_like(p)
    found[order] = steps
    return found
