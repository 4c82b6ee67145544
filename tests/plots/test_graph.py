"""The graph of many pairs: every column a place of its own, every arrow from cause to effect."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from sklearn.linear_model import LinearRegression

from dueto import InputError, directions, plots


def found(k, names=None, rows=25):
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(rows, k)), columns=names)
    return directions(frame, fast=True, regressor=LinearRegression())


def test_every_arrow_goes_from_cause_to_effect_and_every_column_is_named():
    many = found(4, ["a", "$b_{", "", "d" * 60])
    ax = plots.plot_graph(many, Figure().add_subplot())
    named = [text for text in ax.texts if not getattr(text, "arrow_patch", None)]
    assert len(named) == 4
    arrows = [text for text in ax.texts if getattr(text, "arrow_patch", None)]
    assert len(arrows) == len(many.arrows) == 6
    points = [tuple(line.get_xydata()[0]) for line in ax.get_lines()]
    label = {text.get_text(): point for text, point in zip(named, points, strict=True)}
    place = {name: label[name] if name in label else label["d" * 14 + "..." + "d" * 11] for name in many.names}
    drawn = {(tuple(text.get_position()), tuple(text.xy)) for text in arrows}
    assert drawn == {(place[a], place[b]) for a, b in many.arrows}
    ax.figure.savefig("/dev/null", format="png")


@pytest.mark.parametrize("k", [2, 3, 7, 30])
def test_no_two_names_overlap(k):
    figure = Figure(figsize=(9.5, 3.5 + 0.1 * k), layout="constrained")
    ax = plots.plot_graph(found(k, [f"a column of some length, {i}" for i in range(k)]), figure.add_subplot())
    figure.canvas.draw()
    boxes = [text.get_window_extent() for text in ax.texts if not getattr(text, "arrow_patch", None)]
    assert len(boxes) == k
    assert not any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[:i])


def test_more_columns_than_can_be_read_are_refused():
    with pytest.raises(InputError, match="31 columns are too many to draw, at most 30"):
        plots.plot_graph(found(31))
