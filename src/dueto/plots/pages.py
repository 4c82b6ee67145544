"""The pictures of a page about directions, as SVG by name, each with what it shows in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dueto.errors import count
from dueto.plots.canvas import BACKWARD, FORWARD
from dueto.plots.directions import WAYS, plot_fits, plot_residuals
from dueto.plots.graph import MOST, plot_graph
from dueto.plots.pvalues import plot_null
from dueto.plots.svg import as_svg, paper

if TYPE_CHECKING:
    from dueto.direction import Direction, Directions
    from dueto.inference import TestResult

__all__ = ["graph_picture", "pair_pictures"]

HALF = (4.6, 3.3)  # inches of a picture that stands beside another


def pair_pictures(direction: Direction) -> dict[str, str]:
    """Of one pair: `fits`, `forward` and `backward` residuals; and the tests, `null_forward` and `null_backward`."""
    (a, b), found = direction.names, {}
    with paper(9.5, 4.6) as (figure, ax):
        plot_fits(direction, ax)
        told = f"Scatter of {b} against {a}, {count(direction.n, 'pair')}, with the regression of each on the other"
        found["fits"] = as_svg(figure, "fits", told)
    tests = (direction.forward, direction.backward)
    each = zip(WAYS, ((a, b), (b, a)), tests, direction.smi, (FORWARD, BACKWARD), strict=True)
    for way, (given, left), test, smi, colour in each:
        with paper(*HALF) as (figure, ax):
            plot_residuals(direction, ax, way=way)
            told = f"p = {test.pvalue:.3g}" if test else f"SMI = {smi:.3g}"
            told = f"What the regression of {left} on {given} leaves, against {given}: {told}"
            found[way] = as_svg(figure, way, told)
        if test:
            with paper(HALF[0], 2.6) as (figure, ax):
                plot_null(test, ax, color=colour)
                found[f"null_{way}"] = as_svg(figure, f"null-{way}", _null(test, f"{given} to {left}"))
    return found


def _null(test: TestResult, way: str) -> str:
    low, high = test.null.min(), test.null.max()
    return (
        f"Test of {way}: {test.n_permutations:,} permutations gave statistics from {low:.3g} to {high:.3g}; "
        f"the observed one is {test.statistic:.3g}"
    )


def graph_picture(directions: Directions) -> str:
    """The arrows of many pairs; empty if there are none, or more columns than can be read."""
    arrows = directions.arrows
    if not arrows or len(directions.names) > MOST:
        return ""
    with paper(9.5, 3.5 + 0.1 * len(directions.names)) as (figure, ax):
        plot_graph(directions, ax)
        told = "; ".join(f"{cause} to {effect}" for cause, effect in arrows)
        return as_svg(figure, "graph", f"{count(len(arrows), 'arrow')}: {told}")
