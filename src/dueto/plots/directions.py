"""One pair: what was fitted either way, what is left, and what the tests say."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Literal

import numpy as np

from dueto.errors import InputError, some
from dueto.plots.canvas import BACKWARD, FORWARD, NEITHER, PLAIN, axes_or_new, drawn, legend, pyplot, short
from dueto.plots.pvalues import plot_null

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from dueto.direction import Direction

__all__ = ["plot_direction", "plot_fits", "plot_residuals"]

Way = Literal["forward", "backward"]
WAYS: tuple[Way, Way] = ("forward", "backward")
STEPS = 400  # of a curve
WIDE = 24  # characters of a name that fit beside another
LINE = 90  # characters of a line across the page


def plot_fits(direction: Direction, ax: Axes | None = None) -> Axes:
    """The points, with the regression of y on x and that of x on y in the same axes.

    Parameters
    ----------
    direction : Direction
        What `dueto.direction` returned.
    ax : matplotlib Axes, optional
        Where to draw; by default, on a new figure.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    InputError
        If matplotlib is missing.

    Notes
    -----
    Of more than 3,000 points, 3,000 are drawn, chosen by chance.

    Examples
    --------
    >>> import dueto
    >>> pair = dueto.datasets.simulate("cubic", 100, rng=0)
    >>> ax = dueto.plots.plot_fits(dueto.direction(pair.x, pair.y, names=("dose", "effect")))
    >>> ax.get_xlabel(), [line.get_label() for line in ax.get_lines()]
    ('dose', ['fit of effect on dose', 'fit of dose on effect'])
    """
    ax = axes_or_new(ax)
    x, y, rows = direction.x, direction.y, drawn(direction.n)
    a, b = _short(direction)
    ax.scatter(x[rows], y[rows], s=12, color=NEITHER, alpha=_alpha(len(rows)), linewidths=0)
    ax.update_datalim([(x.min(), y.min()), (x.max(), y.max())])
    ax.set(xlim=ax.get_xlim(), ylim=ax.get_ylim())  # where a curve leaves the data, it may leave the picture
    (forward, backward), grid = direction.fits, np.linspace([x.min(), y.min()], [x.max(), y.max()], STEPS)
    ax.plot(grid[:, 0], forward.predict(grid[:, :1]), color=FORWARD, linewidth=2.2, label=f"fit of {b} on {a}")
    ax.plot(backward.predict(grid[:, 1:]), grid[:, 1], "--", color=BACKWARD, linewidth=2.2, label=f"fit of {a} on {b}")
    ax.set_xlabel(a, **PLAIN)
    ax.set_ylabel(b, **PLAIN)
    legend(ax)
    return ax


def plot_residuals(direction: Direction, ax: Axes | None = None, *, way: Way = "forward") -> Axes:
    """The residual of one regression against its input; the title has the p-value of their independence.

    In the true direction the cloud has the same shape at every input.

    Parameters
    ----------
    direction : Direction
        What `dueto.direction` returned.
    ax : matplotlib Axes, optional
        Where to draw; by default, on a new figure.
    way : "forward" or "backward", optional
        The residual of y on x, or that of x on y.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    InputError
        If there is no such way, or matplotlib is missing.

    Notes
    -----
    Of more than 3,000 points, 3,000 are drawn, chosen by chance. All rows are shown, those that `split` kept from the
    test too. Without tests (`fast`) the title has the SMI.

    Examples
    --------
    >>> import dueto
    >>> pair = dueto.datasets.simulate("cubic", 100, rng=0)
    >>> ax = dueto.plots.plot_residuals(dueto.direction(pair.x, pair.y), way="backward")
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('y', 'residual of x')
    """
    if way not in WAYS:
        raise InputError(f"there is no way {way!r}; there are {some(WAYS)}")
    ax, k = axes_or_new(ax), WAYS.index(way)
    given, left = (direction.x, direction.y)[k], direction.residuals[k]
    a, b = _short(direction)[:: 1 - 2 * k]
    rows, test = drawn(direction.n), (direction.forward, direction.backward)[k]
    ax.scatter(given[rows], left[rows], s=12, color=(FORWARD, BACKWARD)[k], alpha=_alpha(len(rows)), linewidths=0)
    ax.axhline(0, color="black", linewidth=0.8)
    ax.locator_params(axis="x", nbins=6)
    ax.set_xlabel(a, **PLAIN)
    ax.set_ylabel(f"residual of {b}", **PLAIN)
    told = f"p = {test.pvalue:.3g}" if test else f"SMI = {direction.smi[k]:.3g}"
    ax.set_title(f"{textwrap.fill(f'{a} → {b}', LINE // 3)}\n{told}", fontsize="medium", **PLAIN)
    return ax


def plot_direction(direction: Direction) -> Figure:
    """All of it on one page: fits, residuals either way, the tests' statistics, and the verdict as the title.

    Parameters
    ----------
    direction : Direction
        What `dueto.direction` returned. Found without tests (`fast`), there are no statistics to show.

    Returns
    -------
    matplotlib Figure
        A new one; `figure.savefig("page.png")` writes it.

    Raises
    ------
    InputError
        If matplotlib is missing.

    Examples
    --------
    >>> import dueto
    >>> pair = dueto.datasets.simulate("cubic", 100, rng=0)
    >>> figure = dueto.plots.plot_direction(dueto.direction(pair.x, pair.y))
    >>> len(figure.axes)
    5
    """
    tests = [test for test in (direction.forward, direction.backward) if test]
    rows = [("fits", "fits"), WAYS, *([("null forward", "null backward")] if tests else [])]
    figure: Figure = pyplot().figure(figsize=(9, 3.6 * len(rows) + 0.8), layout="constrained")
    axes: dict[str, Axes] = figure.subplot_mosaic(rows, height_ratios=[1.3, 1, 0.8][: len(rows)])  # type: ignore[arg-type]
    plot_fits(direction, axes["fits"])
    for way in WAYS:
        plot_residuals(direction, axes[way], way=way)
    for way, test, colour in zip(WAYS, tests, (FORWARD, BACKWARD), strict=False):
        plot_null(test, axes[f"null {way}"], color=colour)
    a, b = _short(direction)
    verdict = f"{a} {direction.arrow.replace('->', '→').replace('<-', '←')} {b}"
    figure.suptitle(verdict, fontsize="xx-large", fontweight="bold", **PLAIN)
    axes["fits"].set_title(textwrap.fill(direction.reason, LINE), fontsize="medium", **PLAIN)
    return figure


def _short(direction: Direction) -> tuple[str, str]:
    """The names, as they fit beside each other."""
    a, b = direction.names
    return short(a, WIDE), short(b, WIDE)


def _alpha(points: int) -> float:
    """So that many points do not run into one another."""
    return float(np.clip(30 / np.sqrt(points), 0.25, 0.8))
