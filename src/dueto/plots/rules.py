"""A decision: the rule over the rows of the data, and the changes that would flip it."""

from __future__ import annotations

import re
import textwrap
from typing import TYPE_CHECKING, Any

from dueto.errors import InputError, known
from dueto.plots.canvas import BACKWARD, FORWARD, PLAIN, THIRD, axes_or_new, legend, pyplot, short
from dueto.rule import Rule

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from dueto.explanation import Changes, Explanation

__all__ = ["plot_changes", "plot_feature", "plot_rule"]

ACCEPTED, REFUSED, INSIDE = FORWARD, BACKWARD, "#F0E442"
ACROSS = 4  # pictures in a line
WIDE, LINE = 26, 80  # characters of a name, and of a line across the page
TICKS = 6
NUMBER = re.compile(r"[-\d.,e+]+")  # a label that is one
LONG = re.compile(r"\d+\.\d{5,}")  # more digits than a picture needs
MARKS = (("o", FORWARD), ("s", BACKWARD), ("^", THIRD))


def plot_rule(explanation: Explanation) -> Figure:
    """The rule as intervals over the rows of the data, one picture for each feature that it speaks of.

    Parameters
    ----------
    explanation : Explanation
        What `dueto.explain` returned.

    Returns
    -------
    matplotlib Figure
        A new one, four pictures in a line; each is that of `plot_feature`.

    Raises
    ------
    InputError
        If the explanation has lost its data, or matplotlib is missing.

    Examples
    --------
    >>> import dueto, pandas as pd
    >>> data = pd.DataFrame({"income": [12, 22, 35, 41, 50], "debt": [40, 32, 32, 10, 5]})
    >>> def model(frame):
    ...     return ((frame["income"] > 22) | (frame["debt"] < 32)).astype(float)
    >>> figure = dueto.plots.plot_rule(dueto.explain(model, data, 1))
    >>> [ax.get_title() for ax in figure.axes]
    ['income <= 22', 'debt >= 32']
    """
    counted = [one for one in _pictures(explanation) if one["inside"] is not None]
    said = _conditions(explanation)
    across = min(ACROSS, max(1, len(counted)))
    down = -(-len(counted) // across) or 1
    figure: Figure = pyplot().figure(figsize=(max(3.4 * across, 6), 3.2 * down + 0.9), layout="constrained")
    heading = f"{short(explanation.label, LINE)}: the rule, and where the row stands"
    figure.suptitle(textwrap.fill(heading, 20 * across + 20), **PLAIN)
    if not counted:
        figure.text(0.5, 0.5, _without(explanation), ha="center", va="center")
        return figure
    grid = figure.add_gridspec(down, across)
    for i, one in enumerate(counted):
        ax = figure.add_subplot(grid[i // across, i % across])
        _draw(one, ax, said[one["feature"]])
    shown = dict(zip(*reversed(figure.axes[0].get_legend_handles_labels()), strict=True))
    figure.legend(list(shown.values()), list(shown), loc="outside lower center", ncols=len(shown), frameon=False)
    return figure


def plot_feature(explanation: Explanation | Changes, feature: str | None = None, ax: Axes | None = None) -> Axes:
    """One feature of the rows: how the accepted and the refused are spread, what the rule says, where the row stands.

    Parameters
    ----------
    explanation : Explanation or Changes
        What `dueto.explain` returned, or `Explainer.changes`.
    feature : str, optional
        One that the rule or one of the first three counterfactuals speaks of; by default the first.
    ax : matplotlib Axes, optional
        Where to draw; by default, on a new figure.

    Returns
    -------
    matplotlib Axes
        Upwards the share of the accepted rows in each bar, downwards that of the refused; yellow is what the rule
        allows. Long numbers are rounded to five digits.

    Raises
    ------
    InputError
        If there is nothing to show of the feature, the explanation has lost its data, or matplotlib is missing.

    Examples
    --------
    >>> import dueto, pandas as pd
    >>> data = pd.DataFrame({"income": [12, 22, 35, 41, 50], "debt": [40, 32, 32, 10, 5]})
    >>> def model(frame):
    ...     return ((frame["income"] > 22) | (frame["debt"] < 32)).astype(float)
    >>> ax = dueto.plots.plot_feature(dueto.explain(model, data, 1), "debt")
    >>> ax.get_title(), ax.get_xlabel()
    ('debt >= 32', 'debt')
    """
    counted = {one["feature"]: one for one in _pictures(explanation)}
    if not counted:
        raise InputError(f"neither a rule nor a change of {explanation.label} speaks of any feature")
    feature = next(iter(counted)) if feature is None else feature
    if feature not in counted:
        raise InputError(f"there is no picture of {feature!r}; {known(feature, counted, 'there are those of')}")
    ax = axes_or_new(ax)
    _draw(counted[feature], ax, _conditions(explanation).get(feature, ""))
    legend(ax)
    return ax


def plot_changes(explanation: Explanation | Changes, ax: Axes | None = None) -> Axes:
    """The counterfactuals as arrows, a line for each feature: from what the row has to what it would have to be.

    Parameters
    ----------
    explanation : Explanation or Changes
        What `dueto.explain` returned, or `Explainer.changes`.
    ax : matplotlib Axes, optional
        Where to draw; by default, on a new figure.

    Returns
    -------
    matplotlib Axes
        From left to right, a feature's values from the lowest to the highest in the data, in bars of rows as
        `plot_feature` shows them; labels without an order from the commonest on, and missing values last. The
        counterfactuals have a mark each: of more than three, the three nearest are drawn.

    Raises
    ------
    InputError
        If the explanation has lost its data, or matplotlib is missing.

    Examples
    --------
    >>> import dueto, pandas as pd
    >>> data = pd.DataFrame({"income": [12, 22, 35, 41, 50], "debt": [40, 32, 32, 10, 5]})
    >>> def model(frame):
    ...     return ((frame["income"] > 22) | (frame["debt"] < 32)).astype(float)
    >>> ax = dueto.plots.plot_changes(dueto.explain(model, data, 1))
    >>> [tick.get_text() for tick in ax.get_yticklabels()]
    ['income', 'debt']
    """
    moved = [one for one in _pictures(explanation) if one["moves"]]
    if ax is None:
        ax = pyplot().subplots(figsize=(8, 1.6 + 0.8 * max(1, len(moved))), layout="constrained")[1]
    assert ax is not None
    ax.set(xlim=(-0.04, 1.04), ylim=(len(moved) - 0.4, -0.6), xlabel="of the feature's values, from lowest to highest")
    ax.set_xticks([0, 1], ["lowest", "highest"])
    ax.set_yticks(range(len(moved)), [short(one["feature"], WIDE) for one in moved])
    for text in ax.get_yticklabels():
        text.set_parse_math(False)
    if not moved:
        sure = "would flip the decision (proved)" if explanation.status.value == "none" else "was found"
        ax.text(0.5, -0.5, f"No change {sure}", ha="center", va="center")
        ax.set(ylim=(0, -1), yticks=[])
        return ax
    ranks = sorted({move["rank"] for one in moved for move in one["moves"]})
    for y, one in enumerate(moved):
        ax.axhline(y, color="#BBBBBB", linewidth=0.8, zorder=0)
        _arrows(one, y, {rank: i for i, rank in enumerate(ranks)}, ax)
    ax.plot([], [], "|", color="black", markersize=12, markeredgewidth=2, label="as it is")
    costs = {one.rank: one.cost for one in explanation.counterfactuals}
    for rank in ranks:
        marker, colour = MARKS[(rank - 1) % len(MARKS)]
        ax.plot([], [], marker, color=colour, label=f"change {rank}, cost {costs[rank]:.3g}")
    ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=4, frameon=False, fontsize="small")
    return ax


def _arrows(one: Mapping[str, Any], y: int, lanes: Mapping[int, int], ax: Axes) -> None:
    """The moves of one feature, those of different counterfactuals side by side."""
    bars = len(one["bars"])
    start = one["place"] / bars
    ax.plot([start], [y], "|", color="black", markersize=20, markeredgewidth=2)
    ax.text(start, y - 0.36, short(_rounded(one["value"]), WIDE), ha="center", va="center", fontsize="small", **PLAIN)
    for move in one["moves"]:
        marker, colour = MARKS[(move["rank"] - 1) % len(MARKS)]
        end, lane = move["place"] / bars, y + 0.2 * (lanes[move["rank"]] - (len(lanes) - 1) / 2)
        how = {"arrowstyle": "-|>", "color": colour, "linewidth": 1.8, "shrinkA": 0, "shrinkB": 5}
        ax.annotate("", (end, lane), (start, lane), arrowprops=how)
        ax.plot([end], [lane], marker, color=colour, markersize=7)
        left = end < start
        ax.annotate(
            short(_rounded(move["text"]), WIDE),
            (end, lane),
            (-8 if left else 8, 0),
            textcoords="offset points",
            ha="right" if left else "left",
            va="center",
            color=colour,
            fontsize="small",
            **PLAIN,
        )


def _draw(one: Mapping[str, Any], ax: Axes, condition: str) -> None:
    """Bars of both sides in per cent of each, the rule's part of them, and the row."""
    bars, places = one["bars"], range(len(one["bars"]))
    for label, colour, sign, hatch in (("accepted", ACCEPTED, 1, ""), ("refused", REFUSED, -1, "//")):
        heights = [sign * 100 * bar[label] / (one[label] or 1) for bar in bars]
        how: dict[str, Any] = {"width": 0.92, "align": "edge", "hatch": hatch, "edgecolor": "white", "linewidth": 0}
        ax.bar([i + 0.04 for i in places], heights, color=colour, label=f"{label}, {one[label]:,} rows", **how)
    first = True
    for i in places:
        if bars[i]["inside"]:
            ax.axvspan(i, i + 1, color=INSIDE, alpha=0.35, linewidth=0, zorder=0, label="the rule" if first else None)
            first = False
    ax.axhline(0, color="black", linewidth=0.8)
    ax.axvline(one["place"], color="black", linewidth=2, linestyle="--", label="the row")
    ax.set_xlim(0, len(bars))
    ax.yaxis.set_major_formatter(lambda v, _: f"{abs(v):.0f}%")
    ax.set_ylabel("share of the rows")
    ax.set_xlabel(short(one["feature"], WIDE), **PLAIN)
    ax.set_title(textwrap.fill(short(condition, 2 * LINE), 34), fontsize="medium", **PLAIN)
    _ticks(bars, ax)


def _ticks(bars: list[dict[str, Any]], ax: Axes) -> None:
    """What bars are called: a value or label below its middle, or the ends of intervals between them."""
    at = [(i + 0.5, bar["label"]) for i, bar in enumerate(bars)]
    if any(bar["edge"] for bar in bars):
        step = -(-sum(bool(bar["edge"]) for bar in bars) // TICKS)
        ends = [(i + 1, bar["edge"]) for i, bar in enumerate(bars) if bar["edge"]]
        at = ends[::step] + [(i, label) for i, label in at[-1:] if label == "missing"]
    elif all(bar["label"].replace(".", "").replace("-", "").replace(",", "").isdecimal() for bar in bars):
        at = at[:: -(-len(at) // (2 * TICKS))]
    numbers = bars[0]["edge"] or NUMBER.fullmatch(bars[0]["label"])
    labels = [short(_rounded(label) if numbers else label, 14) for _, label in at]
    slanted = sum(map(len, labels)) > 24
    ax.set_xticks([i for i, _ in at], labels, rotation=45 if slanted else 0, ha="right" if slanted else "center")
    for text in ax.get_xticklabels():
        text.set_parse_math(False)
        text.set_rotation_mode("anchor")


def _rounded(text: str) -> str:
    """A text whose numbers have no more digits than a picture needs."""
    return LONG.sub(lambda number: f"{float(number.group()):.{max(5, number.group().index('.'))}g}", text)


def _without(explanation: Explanation) -> str:
    """What is said where the rule has no condition."""
    if explanation.rule.verdict is not None and explanation.rule.verdict.counterexample is not None:
        return "The rule has no condition, and is refuted."
    return "The rule has no condition: no change was found that flips the decision."


def _pictures(explanation: Changes) -> list[dict[str, Any]]:
    """What stands behind an explanation, counted."""
    if explanation.background is None:
        raise InputError(f"the explanation of {explanation.label} has lost its data; draw what dueto.explain returned")
    found: list[dict[str, Any]] = explanation.background.pictures
    return found


def _conditions(explanation: Changes) -> dict[str, str]:
    """What the rule says of each feature, in its own words."""
    rule = getattr(explanation, "rule", Rule(()))
    names = dict.fromkeys(c.feature for c in rule)
    return {name: " and ".join(Rule(tuple(c for c in rule if c.feature == name)).conditions()) for name in names}
