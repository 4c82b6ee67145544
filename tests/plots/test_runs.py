"""Pictures of methods: a run by generation, rules by category, seconds by method, as they were counted."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

import dueto
from dueto import InputError, plots
from dueto.audit import Category
from dueto.plots.runs import COLOURS
from dueto.rule import Run

DATA = pd.DataFrame({"income": [12, 22, 35, 41, 50], "debt": [40, 32, 32, 10, 5]})


def model(frame):
    return ((frame["income"] > 22) | (frame["debt"] < 32)).astype(float)


def axes():
    return Figure().add_subplot()


@pytest.fixture(scope="module")
def compared():
    return [dueto.compare(model, DATA, row, methods=["minimum", "set-cover"]) for row in (0, 1)]


def step(generation, **counts):
    return {"generation": generation, "best": 0.8, "median": 0.3, "FDC": 0, "FGC": 0, "GC": 0, "rules": 9} | counts


def heights(ax):
    """What is stacked: one line a category."""
    return {bars.get_label(): [bar.get_height() for bar in bars] for bars in ax.containers}


def test_a_run_shows_the_population_and_the_fitness_of_each_generation():
    rule = dueto.explain(model, DATA, 1, method="genetic").rule
    ax = plots.plot_run(rule.run, axes())
    best, median = ax.get_lines()
    assert best.get_ydata().tolist() == [told["best"] for told in rule.run.history]
    assert median.get_ydata().tolist() == [told["median"] for told in rule.run.history]
    assert best.get_xdata().tolist() == list(range(len(rule.run.history)))
    assert [area.get_label()[:3] for area in ax.collections] == ["FDC", "FGC", "GC:"]
    assert ax.get_ylim() == (0, 1)
    ax.figure.savefig("/dev/null", format="png")


def test_the_areas_of_a_run_are_shares():
    ax = plots.plot_run(Run(False, {}, (step(0, FDC=3, GC=1), step(1, FGC=2, GC=2))), axes())
    tops = [max(area.get_paths()[0].vertices[:, 1]) for area in ax.collections]
    assert tops == [0.75, 0.75, 1.0]
    assert ax.get_title() == "1 generation, 9 rules tried, then time ran out"


def test_a_run_of_one_generation_or_of_nothing_counted_is_drawn():
    for history in ((step(0, FDC=1),), (step(0), step(1))):
        plots.plot_run(Run(True, {}, history), axes()).figure.savefig("/dev/null", format="png")


@pytest.mark.parametrize("run", [None, Run(), Run(True, {}, ({"size": 1},))])
def test_what_has_no_generations_is_refused(run):
    with pytest.raises(InputError, match=r"no generations to draw; give `rule\.run`"):
        plots.plot_run(run)


def test_categories_of_comparisons_are_counted_by_method(compared):
    ax = plots.plot_categories(compared, axes(), share=False)
    shown = heights(ax)
    for k, method in enumerate(("minimum", "set-cover")):
        told = [one.judgement.category.value for found in compared for one in found if one.method == method]
        assert {c: v[k] for c, v in shown.items() if v[k]} == {c: told.count(c) for c in set(told)}
    assert [text.get_text() for text in ax.get_xticklabels()] == ["minimum", "set-cover"]
    assert plots.plot_categories(compared[0], axes()).get_ylim()[1] == pytest.approx(102)


def test_counts_come_as_mappings_tables_and_audits():
    counts = {"one": {"FDC": 1, "GC minimal": 3}, "two": {"FDC": 2}}
    expected = {"FDC": [25, 100], "GC minimal": [75, 0]}
    assert heights(plots.plot_categories(counts, axes())) == expected
    assert heights(plots.plot_categories(pd.DataFrame(counts).T, axes())) == expected
    audit = dueto.audit(["income <= 30", "income <= 22 and debt >= 32"], model, DATA, row=1)
    assert heights(plots.plot_categories({"mine": audit}, axes())) == heights(plots.plot_categories(audit, axes()))


def test_every_category_has_a_colour_of_its_own_and_stands_in_order():
    assert list(COLOURS) == [category.value for category in Category]
    assert len(set(COLOURS.values())) == len(COLOURS)
    ax = plots.plot_categories({"a": {"mine": 1, "GC minimal": 1, "other": 1, "FDC": 1}}, axes())
    assert list(heights(ax)) == ["FDC", "GC minimal", "mine", "other"]
    assert len({bars[0].get_facecolor() for bars in ax.containers}) == 4


@pytest.mark.parametrize("nothing", [{}, {"a": {}}, {"a": {"FDC": 0}}, [], pd.DataFrame()])
def test_nothing_to_stack_is_refused(nothing):
    with pytest.raises(InputError, match="no rules to draw"):
        plots.plot_categories(nothing)


def test_times_are_the_median_and_the_95th_percentile(compared):
    seconds = [0.5, 1.0, 1.5, 30.0]
    ax = plots.plot_times({"$a_{": seconds, "b": 2}, axes())
    line, late, dot, *_ = ax.get_lines()
    assert dot.get_xdata()[0] == 1.25
    assert late.get_xdata()[0] == np.quantile(seconds, 0.95)
    assert line.get_xdata().tolist() == [1.25, np.quantile(seconds, 0.95)]
    assert ax.get_xscale() == "log"
    ax.figure.savefig("/dev/null", format="png")
    ax = plots.plot_times(compared, axes())
    told = [one.seconds for found in compared for one in found if one.method == "minimum"]
    assert ax.get_lines()[2].get_xdata()[0] == np.median(told)


@pytest.mark.parametrize(
    ("times", "says"),
    [
        ({}, "no times to draw"),
        ({"a": []}, "no times to draw"),
        ({"a": [0.0]}, "the seconds of 'a' must be above 0"),
        ({"a": [np.nan]}, "the seconds of 'a' must be above 0"),
        ([3], "give what dueto.compare returned, or figures by method; got int"),
    ],
)
def test_times_that_cannot_be_drawn_are_refused(times, says):
    with pytest.raises(InputError, match=says):
        plots.plot_times(times)
