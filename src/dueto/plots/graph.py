"""Many pairs: the arrows between the columns of a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dueto.errors import InputError
from dueto.plots.canvas import FORWARD, NEITHER, PLAIN, axes_or_new, short

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from dueto.direction import Directions

__all__ = ["MOST", "plot_graph"]

MOST = 30  # names round a circle that can be read
WIDE = 28  # characters of a name


def plot_graph(directions: Directions, ax: Axes | None = None) -> Axes:
    """The columns round a circle, with an arrow from each cause to its effect.

    Columns that are joined by arrows stand beside each other; those without an arrow are grey, and come last.

    Parameters
    ----------
    directions : Directions
        What `dueto.directions` returned, of at most 30 columns.
    ax : matplotlib Axes, optional
        Where to draw; by default, on a new figure.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    InputError
        If there are more columns, or matplotlib is missing.

    Examples
    --------
    >>> import dueto, pandas as pd
    >>> pair = dueto.datasets.simulate("cubic", 100, rng=0)
    >>> found = dueto.directions(pd.DataFrame({"dose": pair.x, "effect": pair.y}), fast=True)
    >>> ax = dueto.plots.plot_graph(found)
    >>> [text.get_text() for text in ax.texts if text.get_text()]
    ['dose', 'effect']
    """
    if len(directions.names) > MOST:
        raise InputError(
            f"{len(directions.names)} columns are too many to draw, at most {MOST} can be read; use the table"
        )
    ax = axes_or_new(ax)
    arrows, names = directions.arrows, _ordered(directions.names, directions.arrows)
    place = dict(zip(names, _round(len(names)), strict=True))
    for cause, effect in arrows:
        how: dict[str, Any] = {"arrowstyle": "-|>,head_width=0.3,head_length=0.7", "color": FORWARD, "linewidth": 1.6}
        how |= {"shrinkA": 7, "shrinkB": 8, "connectionstyle": _bent(place[cause], place[effect])}
        ax.annotate("", xy=place[effect], xytext=place[cause], arrowprops=how)
    joined = {name for arrow in arrows for name in arrow}
    for name, (x, y) in place.items():
        colour = "black" if name in joined else NEITHER
        ax.plot(x, y, "o", color=colour, markersize=7, clip_on=False)
        side = "left" if x > 0 else "right"
        ax.text(x + np.sign(x) * 0.07, y, short(name, WIDE), ha=side, va="center", color=colour, **PLAIN)
    ax.set(xlim=(-1.9, 1.9), ylim=(-1.08, 1.08))
    ax.axis("off")
    return ax


def _round(n: int) -> NDArray[np.float64]:
    """(n, 2) places round a circle, clockwise from its top; on either side the heights are evenly spaced, for names."""
    right = (n + 1) // 2
    y = np.concatenate([1 - (2 * np.arange(k) + 1) / k for k in (right, n - right) if k])
    y[right:] *= -1
    x = np.sqrt(1 - y**2)
    x[right:] *= -1
    return np.column_stack([x, y])


def _bent(start: Any, end: Any) -> str:
    """A bend towards the middle, the more so between neighbours, whose straight line would run along the circle."""
    side = start[0] * end[1] - start[1] * end[0]  # of which side the middle is
    near = 1 - np.linalg.norm(end - start) / 2
    return f"arc3,rad={-np.sign(side) * 0.35 * near:.3f}"


def _ordered(names: Sequence[Hashable], arrows: Sequence[tuple[Hashable, Hashable]]) -> list[Hashable]:
    """Names joined by arrows one after the other, each beside one that it is joined to; then the others."""
    beside: dict[Hashable, list[Hashable]] = {name: [] for name in names}
    for cause, effect in arrows:
        beside[cause].append(effect)
        beside[effect].append(cause)
    found: dict[Hashable, None] = {}
    for first in sorted(names, key=lambda name: len(beside[name]) == 0):
        ahead = [first]
        while ahead:
            name = ahead.pop()
            if name not in found:
                found[name] = None
                ahead += reversed(beside[name])
    return list(found)
