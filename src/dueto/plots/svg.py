"""A picture inside a page: SVG with the page's letters and colours, light or dark; the same bytes each time."""

from __future__ import annotations

import html
import io
import re
import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING

from dueto.errors import InputError
from dueto.plots.canvas import BACKWARD, FORWARD, MISSING, NEITHER

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["as_svg", "paper"]

# What matplotlib writes, and what the page calls it; outside a page the former is what is seen.
COLOURS = {
    "#000000": "ink",
    "#ffffff": "paper",
    "#cccccc": "line",
    "#bbbbbb": "line",
    NEITHER.lower(): "quiet",
    FORWARD.lower(): "accepted",
    BACKWARD.lower(): "refused",
}
TAG = re.compile(r"<[^>]*>")
PART = re.compile(r'\b(id="|xlink:href="#|url\(#)')
LETTERS = re.compile(r"font-family: [^;\"]*")
NUMBER = re.compile(r"(?<![#\w])(-?\d+\.\d{2})\d+")
COLOUR = re.compile(r"(?<=: )#[0-9a-f]{6}\b")


@contextmanager
def paper(width: float, height: float) -> Iterator[tuple[Figure, Axes]]:
    """A figure and its axes in matplotlib's own style, whatever the user's is; in inches. No window knows of it.

    Raises
    ------
    InputError
        If matplotlib is missing.
    """
    try:
        import matplotlib as mpl
        from matplotlib.figure import Figure
    except ImportError:
        raise InputError(MISSING) from None
    with mpl.rc_context(), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from")  # the page has other letters
        mpl.rcdefaults()
        mpl.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "dueto"})
        figure = Figure(figsize=(width, height), layout="constrained")
        yield figure, figure.add_subplot()


def as_svg(figure: Figure, name: str, label: str) -> str:
    """A figure of `paper`, still open, as an SVG element for a page.

    Parameters
    ----------
    figure : matplotlib Figure
        What was drawn.
    name : str
        A word that no other picture of the page has, of letters: its parts are named after it.
    label : str
        What the picture shows, for those who do not see it.
    """
    file = io.StringIO()
    figure.savefig(file, format="svg", transparent=True, metadata={"Date": None})
    text = file.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"\s*<metadata>.*?</metadata>|\s*<style.*?</style>", "", text, flags=re.DOTALL)
    text = TAG.sub(lambda tag: _for_page(tag.group(), name), text)
    told = f'role="img" aria-label="{html.escape(label)}" style="fill: var(--ink, #000); stroke-linejoin: round"'
    return text.replace("<svg ", f"<svg {told} ", 1).strip()


def _for_page(tag: str, name: str) -> str:
    """One tag: names that no other picture has, the page's letters and colours, and no more digits than can be seen."""
    tag = PART.sub(rf"\g<1>{name}-", tag).replace("xlink:href", "href")
    return COLOUR.sub(_themed, NUMBER.sub(r"\1", LETTERS.sub("font-family: inherit", tag)))


def _themed(found: re.Match[str]) -> str:
    colour = found.group()
    return f"var(--{COLOURS[colour]}, {colour})" if colour in COLOURS else colour
