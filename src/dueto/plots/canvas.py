"""What all pictures share: axes to draw on, colours, and how many points are worth drawing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dueto.errors import InputError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

__all__ = [
    "BACKWARD",
    "FORWARD",
    "MISSING",
    "NEITHER",
    "PLAIN",
    "POINTS",
    "THIRD",
    "axes_or_new",
    "drawn",
    "legend",
    "pyplot",
    "short",
]

# Of Okabe and Ito's palette, which colour-blind readers can tell apart; where it matters, the line style differs too.
FORWARD, BACKWARD, THIRD, NEITHER = "#0072B2", "#D55E00", "#009E73", "#767676"
POINTS = 3000
MISSING = "plots need the package matplotlib; run: pip install matplotlib"
PLAIN: dict[str, Any] = {"parse_math": False}  # a dollar sign in a column's name is no formula


def pyplot() -> Any:
    """matplotlib.pyplot, or the command that installs it."""
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise InputError(MISSING) from None
    return plt


def axes_or_new(ax: Axes | None) -> Axes:
    """The axes given, or those of a new figure."""
    if ax is not None:
        return ax
    found: Axes = pyplot().subplots(layout="constrained")[1]
    return found


def drawn(n: int) -> NDArray[np.intp]:
    """Which of n points to draw: all, or POINTS of them by chance, the same each time."""
    return np.arange(n) if n <= POINTS else np.random.default_rng(0).permutation(n)[:POINTS]


def legend(ax: Axes) -> None:
    """The legend, with names as they are."""
    for text in ax.legend(frameon=True, framealpha=0.85, fontsize="small").get_texts():
        text.set_parse_math(False)


def short(name: Any, wide: int) -> str:
    """A name in one line, cut in the middle where it is long: often only the ends of two differ."""
    text = " ".join(str(name).split())
    return text if len(text) <= wide else f"{text[: wide // 2]}...{text[3 - wide // 2 :]}"
