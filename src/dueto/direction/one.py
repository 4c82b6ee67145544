"""One pair: regress both ways, test the residuals, and decide or abstain."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from threadpoolctl import threadpool_limits

from dueto.dependence import SMI, measure_named, paired
from dueto.dependence.kernels import standardised
from dueto.dependence.sample import LEAST, order, refuse_constant, settled
from dueto.direction.base import Direction
from dueto.direction.decide import Bounds, Evidence, decide
from dueto.errors import InputError
from dueto.inference import permutation_test
from dueto.options import whole
from dueto.regression import LSIR
from dueto.seeds import as_seed, generator

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

    from dueto.dependence import Measure
    from dueto.dependence.sample import Missing
    from dueto.inference import TestResult

__all__ = ["direction"]

MAX_ROWS = 20_000
FEW = 10  # different values up to which a column is likely one of codes
RESIDUAL = SMI(scores="x")  # "smi" of a residual
LARGEST = 1e150  # of larger numbers, squares would overflow


def direction(
    x: ArrayLike,
    y: ArrayLike,
    *,
    names: tuple[str, str] = ("x", "y"),
    regressor: Any = None,
    measure: Measure | str = "smi",
    n_permutations: int = 999,
    stop_after: int | None = None,
    reject: float = 0.05,
    accept: float = 0.05,
    known_related: bool = False,
    fast: bool = False,
    split: bool = False,
    missing: Missing = "refuse",
    max_rows: int = MAX_ROWS,
    rng: np.random.Generator | int | None = 0,
) -> Direction:
    """Which of two variables is due to the other, if effect = f(cause) + noise, independent of the cause?

    Both ways are tried: a regression whose residual is as independent of the input as it can be, then a test of
    whether it is. The arrow is drawn where one way passes and the other does not.

    Parameters
    ----------
    x, y : array-like of numbers, (n,)
        n >= 20 pairs.
    names : pair of str, optional
        What to call them.
    regressor : scikit-learn regressor, optional
        Fitted to either way: `LSIR()` by default, `HSICR()`, or any other.
    measure, n_permutations, stop_after, missing
        Of the tests: as for `independence_test`. "smi" takes the normal scores of the input, and the residual as it is.
    reject, accept : float, optional
        δ1 and δ2: a way is rejected where its p-value is at most δ1, accepted where it is above δ2 >= δ1.
    known_related : bool, optional
        One of the two is known to cause the other: then the way with the larger p-value wins (with the smaller SMI, if
        they are equal), unless both p-values are at most 0.001.
    fast : bool, optional
        No tests: the way with the smaller SMI wins, whatever the evidence. For screening.
    split : bool, optional
        Fit on one half of the rows, and test on the other.
    max_rows : int, optional
        Of more rows, so many are drawn; at least 20.
    rng : Generator or int, optional
        Whatever is drawn. Exchanging x and y turns the answer round exactly; the order of the rows does not matter.

    Returns
    -------
    Direction

    Raises
    ------
    InputError
        If the columns are no numbers, differ in length, are constant or too short; or an option is not possible.

    Notes
    -----
    With p(x→y) the p-value of "x and the residual of y on x are independent": p(x→y) > δ2 and p(y→x) <= δ1 give `->`,
    the mirror image `<-`, all else `?` [1]_. Columns that are linear functions of each other, without noise, are `?`.

    The residuals come from the data that the regression was fitted to, which makes p-values somewhat too large.
    Splitting does not repair it: on the half that is tested, what the regression missed looks like dependence, and
    true directions are rejected too often.

    `LSIR` draws centres and folds, so another `rng` is another fit: where a p-value lies near a level, the verdict can
    change with it. Try a few before you rely on one.

    What no such method can tell: linear relations with normal noise (both ways fit), hidden common causes (often
    neither way fits), and noise that is not additive.

    References
    ----------
    .. [1] Yamada, Sugiyama and Sese, "Least-squares independence regression for non-linear causal inference under
       non-Gaussian noise", Machine Learning 96 (2014), section 4.

    Examples
    --------
    >>> import numpy as np
    >>> from dueto import direction
    >>> rng = np.random.default_rng(0)
    >>> x = rng.uniform(-1, 1, 300)
    >>> y = x**3 + rng.exponential(size=300) - 1
    >>> direction(x, y).arrow, direction(y, x).arrow
    ('->', '<-')
    """
    start = time.perf_counter()
    bounds, chosen = Bounds(reject, accept), measure_named(measure)
    whole("max_rows", max_rows, LEAST)
    whole("n_permutations", n_permutations)
    if not fast and not known_related and (n_permutations + 1) * reject < 1:
        raise InputError(
            f"{n_permutations} permutations give no p-value below {1 / (n_permutations + 1):.2g}, so nothing can be "
            f"rejected at {reject:g}; use n_permutations={math.ceil(1 / reject) - 1} or more"
        )
    columns = paired(x, y, names=names, missing=missing)
    for name, column in zip(names, columns, strict=True):
        if column.shape[1] > 1:
            raise InputError(f"{name} has {column.shape[1]} columns; a direction is between two single ones")
        if np.abs(column).max() > LARGEST:
            raise InputError(f"{name} has values beyond {LARGEST:g}, too large to compute with; use another unit")
    # What is drawn depends neither on which column is called x nor on the order of the rows.
    first, second = min((columns, columns[::-1]), key=_rank)
    rows = order(first, second)
    n_given = len(rows)
    seed = int(settled(int(generator(rng).integers(2**31)), first[rows], second[rows]).integers(2**31))
    if len(rows) > max_rows:
        rows = rows[np.sort(np.random.default_rng(seed).permutation(len(rows))[:max_rows])]
    kept = tuple(column[np.sort(rows), 0] for column in columns)
    first, second = first[rows], second[rows]
    columns = columns[0][rows], columns[1][rows]
    for name, column in zip(names, columns, strict=True):
        refuse_constant(column, name, f" in the {max_rows:,} rows drawn")
    options: dict[str, Any] = {"n_permutations": n_permutations, "stop_after": stop_after}
    test = None if fast else partial(_tested, measured(measure), seed, **options)
    with threadpool_limits(1, user_api="blas"):  # on matrices this small, threads only wait for each other
        related = None if fast else _tested(chosen, seed, first, second, **options)
        ways = [_way(*pair, regressor, test, seed, split=split) for pair in (columns, columns[::-1])]
    forward, backward = ways
    counts = {name: len(np.unique(column)) for name, column in zip(names, columns, strict=True)}
    evidence = Evidence(
        names=names,
        n=len(columns[0]),
        smi=(forward.smi, backward.smi),
        p=(forward.test.pvalue, backward.test.pvalue) if forward.test and backward.test else None,
        least=1 / (n_permutations + 1),
        related=related.pvalue if related else None,
        linear=_linear(*columns),
        few=tuple((name, k) for name, k in counts.items() if k <= FEW),
    )
    arrow, reason = decide(evidence, bounds, known_related=known_related)
    return Direction(
        arrow=arrow,
        reason=reason,
        evidence=evidence,
        forward=forward.test,
        backward=backward.test,
        related=related,
        x=kept[0],
        y=kept[1],
        fits=(forward.fit, backward.fit),
        seconds=time.perf_counter() - start,
        settings={
            "regressor": repr(LSIR() if regressor is None else regressor),
            "measure": repr(measured(measure)),
            "n_permutations": n_permutations,
            "stop_after": stop_after,
            "reject": reject,
            "accept": accept,
            "known_related": known_related,
            "fast": fast,
            "split": split,
            "rows": n_given,
            "seed": as_seed(rng),
        },
    )


def measured(measure: Measure | str) -> Measure:
    """What a residual is tested by."""
    return RESIDUAL if measure == "smi" else measure_named(measure)


@dataclass(frozen=True, eq=False)
class _Way:
    fit: Any
    smi: float
    test: TestResult | None


def _way(
    cause: NDArray[np.float64],
    effect: NDArray[np.float64],
    regressor: Any,
    test: Callable[..., TestResult] | None,
    seed: int,
    *,
    split: bool,
) -> _Way:
    """One way: the fit, and how its residual depends on the input."""
    from sklearn.base import clone

    in_order = order(cause, effect)
    cause, effect = cause[in_order], effect[in_order]
    if regressor is not None and (isinstance(regressor, type) or not hasattr(regressor, "fit")):
        raise TypeError(f"regressor must be a scikit-learn regressor, such as LSIR(), got {regressor!r}")
    fit = LSIR() if regressor is None else clone(regressor)
    free = {name: seed for name, v in fit.get_params().items() if name.endswith("random_state") and v is None}
    fit.set_params(**free)  # those of a pipeline's steps, too
    rows = np.random.default_rng(seed).permutation(len(cause))
    fitted, left = (rows[: len(rows) // 2], rows[len(rows) // 2 :]) if split else (rows, rows)
    fit.fit(cause[fitted], effect[fitted, 0])
    for part in (fitted, left) if split else ():
        refuse_constant(np.hstack([cause, effect])[part], "one of the two", " in one half of the rows")
    predicted = np.asarray(fit.predict(cause[left]), dtype=float).reshape(-1, 1)
    if not np.isfinite(predicted).all():
        raise InputError(f"{fit!r} predicts what is no number; use another regressor")
    cause, residual = cause[left], effect[left] - predicted
    smi = RESIDUAL.estimate(cause, residual, rng=np.random.default_rng(seed))
    return _Way(fit, smi, test and test(cause, residual))


def _tested(measure: Measure, seed: int, a: NDArray[np.float64], b: NDArray[np.float64], **options: Any) -> TestResult:
    rng = np.random.default_rng(seed)
    return permutation_test(measure.prepare(a, b, rng=rng), len(a), measure=measure.name, rng=rng, **options)


def _rank(pair: tuple[NDArray[np.float64], NDArray[np.float64]]) -> list[list[float]]:
    """What decides which of two columns comes first: its values, and if they are the same the other's beside them."""
    rows = order(*pair)
    return [standardised(column[rows])[:, 0].tolist() for column in pair]


def _linear(x: NDArray[np.float64], y: NDArray[np.float64]) -> bool:
    """Whether y = a + bx, to rounding."""
    x, y = standardised(x)[:, 0], standardised(y)[:, 0]
    y = y * np.sign(x @ y)
    return bool(np.abs(y - x).max() < 1e-6 and (np.diff(y[np.argsort(x, kind="stable")]) > -1e-9).all())
