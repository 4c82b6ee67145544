"""Methods at work: a genetic run by generation, what rules are worth, and what they cost."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from dueto.errors import InputError, count
from dueto.plots.canvas import FORWARD, NEITHER, axes_or_new, short

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from dueto.audit import Audit, Comparison
    from dueto.rule import Run

__all__ = ["plot_categories", "plot_run", "plot_times"]

# Of Okabe and Ito's palette: red where a rule is false, yellow where that is not known, blue and green where it holds.
COLOURS = {
    "not relevant": NEITHER,
    "FDC": "#D55E00",
    "FGC": "#E69F00",
    "not refuted": "#F0E442",
    "GC redundant": "#56B4E9",
    "GC not minimal": "#0072B2",
    "GC minimal": "#009E73",
    "GC": "#CC79A7",
}
OTHERS = ("#009E73", "#56B4E9", "#D55E00", "#E69F00", "#CC79A7", "#0072B2", "#F0E442", "#BBBBBB")
DARK = {"#0072B2", "#D55E00", "#009E73", NEITHER}  # on these, figures are white
WIDE = 28  # characters of a method's name
LEAST = 0.06  # of a bar, from which on a part has its figure in it


def plot_run(run: Run, ax: Axes | None = None) -> Axes:
    """A genetic search by generation: how many of the population stand where, and how fit the best of them is.

    Parameters
    ----------
    run : Run
        `rule.run` of a rule found by "genetic" or "genetic-cf".
    ax : matplotlib Axes, optional
        Where to draw; by default, on a new figure.

    Returns
    -------
    matplotlib Axes
        Areas: the share of the population that fails on the data (FDC), fails on applicants drawn at random (FGC), or
        passed both trials (GC). Lines: the fitness of the best rule and the median; .75 and more is GC.

    Raises
    ------
    InputError
        If the run has no generations, or matplotlib is missing.

    Examples
    --------
    >>> import dueto, pandas as pd
    >>> data = pd.DataFrame({"income": [12, 22, 35, 41, 50], "debt": [40, 32, 32, 10, 5]})
    >>> def model(frame):
    ...     return ((frame["income"] > 22) | (frame["debt"] < 32)).astype(float)
    >>> rule = dueto.explain(model, data, 1, method="genetic").rule
    >>> dueto.plots.plot_run(rule.run).get_xlabel()
    'generation'
    """
    history = getattr(run, "history", ())
    if not history or any("generation" not in step for step in history):
        raise InputError('there are no generations to draw; give `rule.run` of a rule found by method="genetic"')
    ax = axes_or_new(ax)
    from matplotlib.ticker import MaxNLocator

    at = [step["generation"] for step in history]
    counts = np.array([[step[level] for step in history] for level in ("FDC", "FGC", "GC")], dtype=float)
    shares = counts / counts.sum(axis=0).clip(1)
    steps = [at[0], at[0] + 1] if len(at) == 1 else at  # one generation is drawn as wide as one
    colours = [COLOURS[level] for level in ("FDC", "FGC", "GC minimal")]
    labels = ["FDC: fails on the data", "FGC: fails on random applicants", "GC: passed both"]
    areas = ax.stackplot(steps, np.repeat(shares, len(steps), axis=1) if len(at) == 1 else shares, colors=colours)
    for area, label, hatch in zip(areas, labels, ("", "//", ".."), strict=True):
        area.set(label=label, alpha=0.55, hatch=hatch, edgecolor="white", linewidth=0)
    ax.plot(at, [step["best"] for step in history], "o-", color="black", markersize=3, label="fitness of the best")
    ax.plot(at, [step["median"] for step in history], "s--", color="black", markersize=3, label="median fitness")
    ax.set(xlim=(steps[0], steps[-1]), ylim=(0, 1), xlabel="generation", ylabel="share of the population; fitness")
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    late = "" if run.finished else ", then time ran out"
    ax.set_title(f"{count(at[-1], 'generation')}, {history[-1]['rules']:,} rules tried{late}", fontsize="medium")
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=2, frameon=False, fontsize="small")
    return ax


def plot_categories(
    found: Comparison | Audit | Sequence[Comparison] | Mapping[str, Any] | Any,
    ax: Axes | None = None,
    *,
    share: bool = True,
    legend: bool = True,
) -> Axes:
    """What the rules of several methods are worth, as stacked bars: one for each method, a part for each category.

    Parameters
    ----------
    found : Comparison, several of them, Audit, mapping or DataFrame
        What `dueto.compare` returned, for one row or a list of many; what `dueto.audit` returned; a mapping of each
        method to an Audit, or to its counts by category; or a table of them, a line a method.
    ax : matplotlib Axes, optional
        Where to draw; by default, on a new figure.
    share : bool, optional
        Per cent of each method's rules (by default), or numbers as given.
    legend : bool, optional
        Whether to name the categories.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    InputError
        If there is nothing to draw, or matplotlib is missing.

    Examples
    --------
    >>> import dueto
    >>> counts = {"genetic": {"FGC": 3, "GC minimal": 17}, "anchor": {"FDC": 12, "FGC": 8}}
    >>> ax = dueto.plots.plot_categories(counts)
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['GC minimal', 'FGC', 'FDC']
    """
    table = _counts(found)
    parts = [c for c in COLOURS if any(c in row for row in table.values())]
    parts += [c for c in dict.fromkeys(c for row in table.values() for c in row) if c not in COLOURS]
    parts = [c for c in parts if any(row.get(c) for row in table.values())]
    if not parts:
        raise InputError("there are no rules to draw; give what dueto.compare or dueto.audit returned, or counts")
    ax = axes_or_new(ax)
    spare = itertools.cycle([colour for colour in OTHERS if colour not in {COLOURS.get(c) for c in parts}])
    colours = {c: COLOURS.get(c) or next(spare) for c in parts}
    values = np.array([[row.get(c) or 0.0 for c in parts] for row in table.values()], dtype=float)
    totals = values.sum(axis=1, keepdims=True)
    if share:
        values = 100 * values / np.where(totals > 0, totals, 1)
    below = np.zeros(len(table))
    top = values.sum(axis=1).max()
    for c, heights in zip(parts, values.T, strict=True):
        bars = ax.bar(range(len(table)), heights, bottom=below, color=colours[c], edgecolor="white", label=c)
        told = [f"{h:.0f}" if h > LEAST * top else "" for h in heights]
        ink = "white" if colours[c] in DARK else "black"
        ax.bar_label(bars, told, label_type="center", color=ink, fontsize="small")
        below = below + heights
    _methods(ax, list(table), along="x")
    ax.set_ylim(0, 1.02 * top)
    ax.set_ylabel("% of rules" if share else "rules")
    if legend:
        shown = ax.legend(loc="center left", bbox_to_anchor=(1, 0.5), frameon=False, reverse=True, alignment="left")
        for text in shown.get_texts():
            text.set_parse_math(False)
    return ax


def plot_times(found: Comparison | Sequence[Comparison] | Mapping[str, Any], ax: Axes | None = None) -> Axes:
    """How long each method took: a dot at the median and a line to the 95th percentile, in seconds, logarithmic.

    Parameters
    ----------
    found : Comparison, several of them, or mapping
        What `dueto.compare` returned, for one row or a list of many; or the seconds of each method, one or many.
    ax : matplotlib Axes, optional
        Where to draw; by default, on a new figure.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    InputError
        If there is nothing to draw, a time is not above 0, or matplotlib is missing.

    Examples
    --------
    >>> import dueto
    >>> ax = dueto.plots.plot_times({"genetic": [0.8, 1.1, 4.0], "minimum": [0.02, 0.03, 0.5]})
    >>> ax.get_xscale(), [text.get_text() for text in ax.get_yticklabels()]
    ('log', ['genetic', 'minimum'])
    """
    times = _times(found)
    ax = axes_or_new(ax)
    from matplotlib.ticker import LogLocator

    for y, seconds in enumerate(times.values()):
        middle, late = np.median(seconds), np.quantile(seconds, 0.95)
        line, dot = (None, None) if y else ("to the 95th percentile", "median")
        ax.plot([middle, late], [y, y], color=FORWARD, linewidth=2.2, label=line)
        ax.plot([late], [y], "|", color=FORWARD, markersize=12, markeredgewidth=2.2)
        ax.plot([middle], [y], "o", color=FORWARD, markersize=8, label=dot)
        ax.annotate(f"{middle:.3g} s", (middle, y), (0, 9), textcoords="offset points", ha="center", fontsize="small")
    _methods(ax, list(times), along="y")
    ax.set(xscale="log", xlabel="seconds", ylim=(len(times) - 0.5, -0.6))
    ax.margins(x=0.12)
    ax.xaxis.set_minor_locator(LogLocator(subs=(2, 5)))
    ax.xaxis.set_major_formatter("{x:g}")
    ax.xaxis.set_minor_formatter("{x:g}")
    ax.grid(axis="x", color="#BBBBBB", linewidth=0.6)
    ax.set_axisbelow(True)
    ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=2, frameon=False, fontsize="small")
    return ax


def _methods(ax: Axes, names: Sequence[str], *, along: str) -> None:
    """The methods' names beside one axis, slanted below it where they would run into one another."""
    labels = [short(name, WIDE) for name in names]
    if along == "y":
        ax.set_yticks(range(len(names)), labels)
    else:
        slanted = sum(map(len, labels)) > 40
        ax.set_xticks(range(len(names)), labels, rotation=45 if slanted else 0, ha="right" if slanted else "center")
    for text in ax.get_yticklabels() if along == "y" else ax.get_xticklabels():
        text.set_parse_math(False)
        text.set_rotation_mode("anchor")


def _counts(found: Any) -> dict[str, Mapping[str, float]]:
    """Of each method, how many rules are in each category."""
    if hasattr(found, "counts") and hasattr(found, "judgements"):
        return {"": found.counts}
    if hasattr(found, "iterrows"):
        return {str(name): {str(c): float(v) for c, v in row.items() if v == v} for name, row in found.iterrows()}
    if isinstance(found, Mapping):
        return {str(name): row if isinstance(row, Mapping) else row.counts for name, row in found.items()}
    table: dict[str, dict[str, float]] = {}
    for one in _compared(found):
        row, category = table.setdefault(one.method, {}), one.judgement.category.value
        row[category] = row.get(category, 0) + 1
    return dict(table)


def _times(found: Any) -> dict[str, list[float]]:
    """The seconds of each method."""
    times: dict[str, list[float]] = {}
    if isinstance(found, Mapping):
        times = {str(name): np.atleast_1d(np.asarray(v, dtype=float)).tolist() for name, v in found.items()}
    else:
        for one in _compared(found):
            times.setdefault(one.method, []).append(one.seconds)
    times = {name: seconds for name, seconds in times.items() if seconds}
    if not times:
        raise InputError("there are no times to draw; give what dueto.compare returned, or seconds by method")
    for name, seconds in times.items():
        if not all(s > 0 and np.isfinite(s) for s in seconds):
            raise InputError(f"the seconds of {name!r} must be above 0, to have a place on a logarithmic axis")
    return times


def _compared(found: Any) -> list[Any]:
    """What methods gave, of one comparison or of several."""
    several = [found] if hasattr(found, "found") else list(found)
    for one in several:
        if not hasattr(one, "found"):
            raise InputError(f"give what dueto.compare returned, or figures by method; got {type(one).__name__}")
    return [each for one in several for each in one.found]
