"""Tests: one against its permutations, and the p-values of many."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dueto.direction.decide import Bounds
from dueto.errors import InputError
from dueto.inference import TestResult
from dueto.plots.canvas import BACKWARD, FORWARD, NEITHER, PLAIN, axes_or_new, drawn, legend

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike, NDArray

__all__ = ["plot_null", "plot_pvalues"]


def plot_null(result: TestResult, ax: Axes | None = None, *, color: str = FORWARD) -> Axes:
    """The statistics of the permutations as a histogram, and where the observed one lies.

    Parameters
    ----------
    result : TestResult
        Of `independence_test`, or `forward`, `backward` or `related` of a direction.
    ax : matplotlib Axes, optional
        Where to draw; by default, on a new figure.
    color : str, optional
        Of the observed statistic.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    InputError
        If matplotlib is missing.
    TypeError
        If `result` is no TestResult: None, say, of a direction found without tests.

    Examples
    --------
    >>> import dueto
    >>> pair = dueto.datasets.simulate("cubic", 100, rng=0)
    >>> dueto.plots.plot_null(dueto.independence_test(pair.x, pair.y)).get_title()
    'p = 0.001, 999 permutations'
    """
    if not isinstance(result, TestResult):
        raise TypeError(f"result must be a TestResult, got {result!r}; with fast=True there are no tests")
    ax = axes_or_new(ax)
    ax.hist(result.null, bins="sqrt", color="#BBBBBB", label="permuted")
    ax.axvline(result.statistic, color=color, linewidth=2.2, label="observed")
    ax.set_xlabel(f"statistic ({result.measure})")
    ax.set_ylabel("permutations")
    ax.set_title(f"p = {result.pvalue:.3g}, {result.n_permutations:,} permutations")
    legend(ax)
    return ax


def plot_pvalues(
    p_forward: ArrayLike,
    p_backward: ArrayLike,
    ax: Axes | None = None,
    *,
    reject: float = 0.05,
    accept: float = 0.05,
    names: tuple[str, str] = ("x", "y"),
) -> Axes:
    """The p-values of many pairs or many runs, forward against backward, with what follows from them.

    Parameters
    ----------
    p_forward, p_backward : (k,) array-like
        In (0, 1], such as the columns of `Directions.table`. Pairs with NaN (not tested) are left out.
    ax : matplotlib Axes, optional
        Where to draw; by default, on a new figure.
    reject, accept : float, optional
        The levels of decision, as for `direction`.
    names : pair of str, optional
        What x and y are called.

    Returns
    -------
    matplotlib Axes
        Both axes logarithmic. The legend counts the pairs by decision.

    Raises
    ------
    InputError
        If the p-values differ in number or lie outside (0, 1], the levels are not possible, or matplotlib is missing.

    Notes
    -----
    Of more than 3,000 points, 3,000 are drawn, chosen by chance; all are counted.

    Examples
    --------
    >>> import dueto
    >>> ax = dueto.plots.plot_pvalues([0.6, 0.4, 0.001], [0.001, 0.3, 0.7])
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['1 × x → y', '1 × x ← y', '1 × ?']
    """
    bounds, p = Bounds(reject, accept), _pairs(p_forward, p_backward)
    ax = axes_or_new(ax)
    low, high = min(1e-3, bounds.reject / 10, float(p.min(initial=1))) / 1.6, 1.6
    ax.set(xscale="log", yscale="log", xlim=(low, high), ylim=(low, high), aspect="equal")
    ax.fill_between([accept, high], low, reject, color=FORWARD, alpha=0.12, linewidth=0)
    ax.fill_between([low, reject], accept, high, color=BACKWARD, alpha=0.12, linewidth=0)
    for level in {reject, accept}:
        ax.axvline(level, color="black", linewidth=0.7, linestyle=":")
        ax.axhline(level, color="black", linewidth=0.7, linestyle=":")
    a, b = names
    forward, backward = ((p[:, k] > accept) & (p[:, 1 - k] <= reject) for k in (0, 1))
    shown = np.isin(np.arange(len(p)), drawn(len(p)))
    for name, which, color, marker in (
        (f"{a} → {b}", forward, FORWARD, "o"),
        (f"{a} ← {b}", backward, BACKWARD, "s"),
        ("?", ~forward & ~backward, NEITHER, "^"),
    ):
        label = f"{which.sum():,} × {name}"
        points = p[which & shown]
        ax.scatter(points[:, 0], points[:, 1], s=22, color=color, marker=marker, alpha=0.5, linewidths=0, label=label)
    ax.set_xlabel(f"p-value of {a} → {b}", **PLAIN)
    ax.set_ylabel(f"p-value of {b} → {a}", **PLAIN)
    legend(ax)
    return ax


def _pairs(p_forward: ArrayLike, p_backward: ArrayLike) -> NDArray[np.float64]:
    """Pairs of p-values without those that are NaN: (k, 2)."""
    columns = [np.asarray(p, dtype=np.float64) for p in (p_forward, p_backward)]
    if columns[0].ndim != 1 or columns[0].shape != columns[1].shape:
        raise InputError(f"p-values come in pairs: (k,) and (k,), got {columns[0].shape} and {columns[1].shape}")
    p = np.stack(columns, axis=1)
    p = p[~np.isnan(p).any(axis=1)]
    if not ((p > 0) & (p <= 1)).all():
        raise InputError("p-values must be above 0 and at most 1, to have a place on a logarithmic axis")
    return p
