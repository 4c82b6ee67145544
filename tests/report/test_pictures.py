"""The pictures count the data: nobody twice, nobody left out, and the rule's interval exactly."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dueto import FeatureSpace
from dueto.report.drawing import WIDTH, drawn
from dueto.report.pictures import picture
from dueto.rule import Component, Rule
from trials import trials

SOME = {
    "whole": st.integers(-5, 5).map(float),
    "wide": st.integers(-(10**6), 10**6).map(float),
    "real": st.floats(-1e3, 1e3, allow_subnormal=False),
    "tiny": st.floats(0, 1e-9),
    "zeros": st.one_of(st.just(0.0), st.just(0.0), st.floats(-1e6, 1e6)),
}


def counted(column, counts, good, value, interval):
    frame = pd.DataFrame({"f": column})
    if not np.isnan(column).any() and (column == np.round(column)).all():
        frame = frame.astype(np.int64)
    feature = FeatureSpace.infer(frame).features[0]
    return picture(feature, column, counts, good, value, interval=interval, moves=[(1, float(column[-1]))])


@pytest.mark.parametrize("kind", SOME)
@trials(40)
@given(data=st.data())
def test_every_row_is_in_one_bar_and_the_rule_s_bars_hold_those_that_meet_it(kind, data):
    n = data.draw(st.integers(1, 60))
    column = np.array(data.draw(st.lists(SOME[kind], min_size=n, max_size=n)))
    column[data.draw(st.lists(st.integers(0, n - 1), max_size=3))] = np.nan
    if np.isnan(column).all():
        column[0] = 1.0
    counts = np.array(data.draw(st.lists(st.integers(1, 9), min_size=n, max_size=n)))
    good = np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    value = float(column[data.draw(st.integers(0, n - 1))])
    low, high = data.draw(st.sampled_from([(-np.inf, value), (value, np.inf), (value, value), (-np.inf, np.inf)]))
    interval = (np.inf, -np.inf, True) if np.isnan(value) else (low, high, False)
    told = counted(column, counts, good, value, interval)
    for side, which in (("accepted", good), ("refused", ~good)):
        assert sum(bar[side] for bar in told["bars"]) == told[side] == counts[which].sum()
        meets = np.isnan(column) if np.isnan(value) else (column >= low) & (column <= high)
        assert told["inside"][side] == counts[which & meets].sum()
        assert sum(bar[side] for bar in told["bars"] if bar["inside"]) == told["inside"][side]
    (mine,) = [bar for bar in told["bars"] if bar["applicant"]]
    assert mine["inside"]
    assert sum(1 in bar["moves"] for bar in told["bars"]) == 1
    assert len(told["bars"]) <= 40
    shown = drawn(told, "a condition")
    assert 0 <= shown["x"] <= WIDTH
    assert all(0 <= bar["up"] <= 66 and 0 <= bar["down"] <= 66 for bar in shown["bars"])


def test_a_category_shows_the_commonest_and_those_that_matter_and_counts_the_others():
    labels = [f"town {i:02}" for i in range(30)]
    rows = np.repeat(np.arange(30.0), np.arange(30) + 1)
    frame = pd.DataFrame({"town": [labels[int(i)] for i in rows]})
    feature = FeatureSpace.infer(frame).features[0]
    told = picture(feature, rows, np.ones(len(rows)), rows % 2 == 0, 0.0, interval=(0.0, 0.0, False), moves=[(1, 1.0)])
    names = [bar["label"] for bar in told["bars"]]
    assert names == [*labels[:-9:-1], "town 01", "town 00", "20 others"]
    assert sum(bar["accepted"] + bar["refused"] for bar in told["bars"]) == len(rows)
    assert [bar["label"] for bar in told["bars"] if bar["inside"]] == ["town 00"]


def test_a_value_that_most_rows_have_leaves_room_for_the_others():
    rng = np.random.default_rng(0)
    column = np.where(rng.random(2000) < 0.92, 0.0, rng.integers(1, 9999, 2000))
    told = counted(column, np.ones(2000), column > 5000, 0.0, (-np.inf, 0.0, False))
    assert len(told["bars"]) > 8
    assert told["bars"][0]["label"] == "up to 0"
    assert told["even"]


def test_bars_of_whole_numbers_are_named_by_what_they_hold():
    column = np.arange(100.0)
    told = counted(column, np.ones(100), column > 50, 40.0, (33.0, 66.0, False))
    names = [bar["label"] for bar in told["bars"]]
    assert names[0].startswith("up to ")
    assert names[-1].endswith(" or more")
    inside = [bar["label"] for bar in told["bars"] if bar["inside"]]
    assert (inside[0].split()[0], inside[-1].split()[-1]) == ("33", "66")
    assert "33" in [bar["edge"] for bar in told["bars"]]


def test_labels_under_a_picture_do_not_overlap():
    column = np.round(np.random.default_rng(0).lognormal(12, 2, 3000))
    value = float(np.sort(column)[1500])
    told = counted(column, np.ones(3000), column > 1e5, value, (-np.inf, value, False))
    shown = drawn(told, f"at most {value:g}")
    ends = [(tick["x"] - 3 * len(tick["label"]), tick["x"] + 3 * len(tick["label"])) for tick in shown["ticks"]]
    assert all(a[1] < b[0] for a, b in pairwise(ends))
    assert str(int(value)) in [tick["label"] for tick in shown["ticks"]]


@pytest.mark.parametrize("column", [np.arange(100.0), np.arange(100.0) + 0.25])
def test_a_condition_that_asks_for_one_number_is_one_bar_with_its_name_and_the_applicant_in_its_middle(column):
    value = float(column[50])
    told = counted(column, np.ones(100), np.arange(100) > 60, value, (value, value, False))
    (bar,) = [i for i, bar in enumerate(told["bars"]) if bar["inside"]]
    assert told["bars"][bar]["label"] == told["value"]
    assert told["place"] == bar + 0.5
    shown = drawn(told, f"exactly {told['value']}")
    assert [tick["x"] for tick in shown["ticks"] if tick["label"] == told["value"]] == [shown["x"]]
    assert shown["told"].endswith("as 1 of the 61 refused (2%) and 0 of the 39 accepted. The rule: exactly this.")


def test_where_a_change_leads_is_written_beside_its_mark_and_over_no_other():
    feature = FeatureSpace.infer(pd.DataFrame({"year": range(1990, 2020)})).features[0]
    years = np.arange(1990.0, 2020.0)
    moves = [(1, 2001.0), (2, 1999.0), (3, 2019.0)]
    marks = drawn(picture(feature, years, np.ones(30), years > 2000, 2000.0, moves=moves))["marks"]
    spans = [(m["x"] - 5, m["x"] + 5) for m in marks]
    texts = [(m["x"] - 7 - 6 * len(m["text"]), m["x"] - 7) if m["left"] else (m["x"] + 7, m["x"] + 13) for m in marks]
    assert [m["text"] for m in marks] == ["2", "1", "3"]
    assert all(not (a < d and c < b) for a, b in texts for c, d in [*spans, *texts] if (a, b) != (c, d))
    assert all(0 <= a < b <= WIDTH for a, b in texts)


def test_a_number_is_written_alike_in_a_bar_and_as_a_value():
    years = np.arange(1990.0, 2020.0)
    told = counted(years, np.ones(30), years > 2000, 2000.0, (2000.0, np.inf, False))
    assert "2000 to 2005" in [bar["label"] for bar in told["bars"]]


def test_a_rule_of_the_space_is_pictured_in_its_order():
    from dueto.report.background import pictures
    from dueto.rules.draws import Rows

    frame = pd.DataFrame({"a": [1, 2, 3], "b": [3.5, 2.5, 1.5], "c": ["x", "y", "x"]})
    space = FeatureSpace.infer(frame)
    rows = Rows(space.encode(frame), np.ones(3, dtype=np.intp), np.array([False, True, True]))
    rule = Rule((Component("c", "=", "x"), Component("a", "<=", 1)))
    told = pictures(space, rows, rows.X[0], rule, [{"b": 2.5}, {"a": 2}])
    assert [p["feature"] for p in told] == ["c", "a", "b"]
    assert [p["inside"] for p in told] == [{"accepted": 1, "refused": 1}, {"accepted": 0, "refused": 1}, None]
    assert [[m["text"] for m in p["moves"]] for p in told] == [[], ["2"], ["2.5"]]
