"""Pictures of a decision: the rule's part of the rows, where the row stands, where counterfactuals lead."""

from __future__ import annotations

import dataclasses
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

import dueto
from dueto import Component, InputError, Rule, Status, plots
from dueto.report.background import Background

LONG = "a $ long_{name} of a feature 😀 that goes on, 2019"


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"income": rng.integers(1, 60, 200).astype(float), LONG: rng.uniform(size=200)})
    frame.loc[::9, "income"] = np.nan
    return frame.assign(job=rng.choice(["clerk", "<b>boss</b>", "none of the above"], 200), same=1)


def model(frame):
    rich = frame["income"].fillna(0) + 30 * frame[LONG] > 40
    return (rich | (frame["job"] == "<b>boss</b>")).astype(float)


@pytest.fixture(scope="module")
def explained(data):
    refused = np.flatnonzero((model(data) == 0) & (data["income"] > 5))
    return dueto.explain(model, data, int(refused[0]))


@pytest.fixture(scope="module")
def missing(data):
    refused = np.flatnonzero((model(data) == 0) & data["income"].isna())
    return dueto.explain(model, data, int(refused[0]))


@pytest.fixture(autouse=True)
def _close():
    import matplotlib as mpl
    import matplotlib.pyplot as plt

    mpl.use("Agg")
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from")  # matplotlib's letters have no emoji
        yield
    plt.close("all")


def axes():
    return Figure(figsize=(8, 4), layout="constrained").add_subplot()


def saved(figure):
    figure.savefig("/dev/null", format="png")


@pytest.mark.parametrize("which", ["explained", "missing"])
def test_the_rule_has_a_picture_for_each_feature_that_it_speaks_of(which, request):
    found = request.getfixturevalue(which)
    figure = plots.plot_rule(found)
    saved(figure)
    speaks = list(dict.fromkeys(component.feature for component in found.rule))
    assert len(figure.axes) == len(speaks) > 1
    assert figure.get_suptitle().startswith(found.label)


def test_the_bars_of_a_feature_are_shares_of_the_rows_on_either_side(explained, data):
    for feature in dict.fromkeys(component.feature for component in explained.rule):
        ax = plots.plot_feature(explained, feature, axes())
        accepted, refused = ax.containers
        assert sum(bar.get_height() for bar in accepted) == pytest.approx(100)
        assert sum(bar.get_height() for bar in refused) == pytest.approx(-100)
        good = int(model(data).sum())
        assert accepted.get_label() == f"accepted, {good} rows"
        assert refused.get_label() == f"refused, {200 - good} rows"


def test_the_rule_is_shaded_and_the_row_stands_in_it(explained):
    for one in explained.background.pictures:
        if one["inside"] is None:
            continue
        ax = plots.plot_feature(explained, one["feature"], axes())
        shaded = [patch for patch in ax.patches if patch.get_alpha() == 0.35]
        assert [patch.get_x() for patch in shaded] == [i for i, bar in enumerate(one["bars"]) if bar["inside"]]
        (row,) = [line.get_xdata()[0] for line in ax.get_lines() if line.get_label() == "the row"]
        assert any(patch.get_x() <= row <= patch.get_x() + 1 for patch in shaded)


def test_a_rule_of_no_condition_and_one_of_25_are_drawn(explained):
    one = next(p for p in explained.background.pictures if p["inside"] is not None)
    for k in (0, 25):
        pictures = [one | {"feature": f"$ a long name of feature {i}"} for i in range(k)]
        rule = Rule(tuple(Component(p["feature"], "<=", 1.0) for p in pictures))
        kept = Background(pictures=lambda pictures=pictures: pictures, bounds=list, provenance=dict)
        figure = plots.plot_rule(dataclasses.replace(explained, rule=rule, background=kept))
        saved(figure)
        assert len(figure.axes) == k
    assert "25" not in figure.get_suptitle()


def test_changes_are_arrows_from_the_row_to_where_they_lead(explained):
    ax = plots.plot_changes(explained, axes())
    saved(ax.figure)
    moved = [one for one in explained.background.pictures if one["moves"]]
    arrows = [text for text in ax.texts if getattr(text, "arrow_patch", None)]
    assert len(arrows) == sum(len(one["moves"]) for one in moved) > 0
    expected = [(one["place"], move["place"], len(one["bars"])) for one in moved for move in one["moves"]]
    for arrow, (start, end, bars) in zip(arrows, expected, strict=True):
        assert (arrow.get_position()[0], arrow.xy[0]) == (start / bars, end / bars)
    told = [text.get_text() for text in ax.get_legend().get_texts()]
    ranks = sorted({move["rank"] for one in moved for move in one["moves"]})
    costs = {c.rank: c.cost for c in explained.counterfactuals}
    assert told == ["as it is", *(f"change {rank}, cost {costs[rank]:.3g}" for rank in ranks)]


def test_changes_from_a_missing_value_are_drawn(missing):
    ax = plots.plot_changes(missing)
    saved(ax.figure)
    if any(change.feature == "income" for c in missing.counterfactuals[:3] for change in c.changes):
        assert "missing" in [text.get_text() for text in ax.texts]


def test_one_change_and_none_are_drawn(explained, data):
    row = dict(data.iloc[int(explained.label.split()[1])])
    several = dueto.Explainer(model, data).changes(row, k=1)
    ax = plots.plot_changes(several)
    assert len([text for text in ax.texts if getattr(text, "arrow_patch", None)]) == len(
        several.counterfactuals[0].changes
    )
    nobody = dueto.Explainer(lambda frame: np.zeros(len(frame)), data[["job", "same"]]).changes(0)
    assert nobody.status is Status.NONE
    ax = plots.plot_changes(nobody)
    assert [text.get_text() for text in ax.texts] == ["No change would flip the decision (proved)"]
    saved(ax.figure)
    with pytest.raises(InputError, match="speaks of any feature"):
        plots.plot_feature(nobody)


def test_what_has_lost_its_data_or_is_not_there_is_refused(explained):
    gone = dataclasses.replace(explained, background=None)
    for draw in (plots.plot_rule, plots.plot_feature, plots.plot_changes):
        with pytest.raises(InputError, match=r"has lost its data; draw what dueto\.explain returned"):
            draw(gone)
    with pytest.raises(InputError, match="there is no picture of 'same'"):
        plots.plot_feature(explained, "same")


def test_an_explanation_that_was_pickled_is_drawn_the_same(explained):
    again = pickle.loads(pickle.dumps(explained))
    assert [ax.get_title() for ax in plots.plot_rule(again).axes] == [
        ax.get_title() for ax in plots.plot_rule(explained).axes
    ]
