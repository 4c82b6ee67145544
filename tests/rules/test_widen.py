"""Widened rules: proved as before, and no bound could go further; against enumeration."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder
from sklearn.tree import DecisionTreeClassifier

from dueto.counterfactuals import BranchAndBound, GeCo, LeafBoxes
from dueto.explain import Explainer
from dueto.rule import Rule, Standing
from dueto.rules import MinimumRule, Oracle, widened
from dueto.rules.widen import shortest
from dueto.space import FeatureSpace
from dueto.testing import worlds
from trials import trials

WAYS = {"tree": LeafBoxes(), "forest": BranchAndBound(), "boosting": BranchAndBound(), "linear": BranchAndBound()}


@pytest.mark.parametrize("kind", WAYS)
@given(seed=st.integers(0, 2**32 - 1))
@trials(40)
def test_a_widened_rule_is_consistent_and_no_bound_can_go_further(kind: str, seed: int):
    for w in worlds([seed], kind=kind):
        oracle = Oracle(w.query, WAYS[kind], np.random.default_rng(0))
        narrow = MinimumRule().find(oracle)
        wide = widened(oracle, narrow)
        assert wide.verdict is not None
        assert wide.verdict.standing is Standing.PROVED
        inside = wide.box(w.space).contains
        assert not inside(w.counterfactuals).any()
        assert (inside(w.instances) | ~narrow.box(w.space).contains(w.instances)).all()
        for i, part in enumerate(wide):
            values = w.space[part.feature].domain.values
            if part.op == "=":
                assert part == narrow.components[i]
                continue
            beyond = values[values < part.value][::-1] if part.op == ">=" else values[values > part.value]
            for value in beyond[:1]:
                further = Rule((*wide.components[:i], replace(part, value=float(value)), *wide.components[i + 1 :]))
                assert further.box(w.space).contains(w.counterfactuals).any()


def test_the_bound_of_an_ordinal_is_one_of_its_labels():
    frame = pd.DataFrame({"size": ["S", "M", "L", "XL", "S", "XL"], "n": [1, 2, 3, 4, 5, 6]})
    space = FeatureSpace.infer(frame, ordinal={"size": ["S", "M", "L", "XL"]})
    prepare = make_column_transformer(
        (OrdinalEncoder(categories=[["S", "M", "L", "XL"]]), ["size"]), remainder="passthrough"
    )
    model = make_pipeline(prepare, DecisionTreeClassifier()).fit(frame, [0, 0, 0, 1, 0, 1])
    explainer = Explainer(model, frame, space=space, widen=True)
    rule = explainer.explain(0).rule
    assert [str(c) for c in rule] == ["size <= L"]
    assert rule.verdict is not None
    assert rule.verdict.standing is Standing.PROVED


def test_a_rule_that_is_not_proved_stays_as_it_is():
    w = next(worlds(range(20), kind="scores"))
    oracle = Oracle(w.query, GeCo(), np.random.default_rng(0))
    rule = MinimumRule().find(oracle)
    assert widened(oracle, rule) is rule


def test_bounds_have_the_fewest_digits_that_keep_the_region():
    assert shortest(0.1 + 0.2, 0.41, near=0.1 + 0.2) == 0.4
    assert shortest(44500.00195312501, 44501.0, near=44500.00195312501) == 44501.0
    assert shortest(1.0, 1.0, near=1.0) == 1.0
    assert shortest(-2.37, -1.31, near=-2.37) == -2.0


@given(low=st.floats(-1e9, 1e9), width=st.floats(0, 1e6), at=st.floats(0, 1))
@trials(60)
def test_the_short_number_is_in_the_range_and_no_longer_than_its_ends(low: float, width: float, at: float):
    high, near = low + width, min(low + at * width, low + width)
    found = shortest(low, high, near=near)
    assert low <= found <= high
    assert len(digits(found)) <= min(len(digits(low)), len(digits(high)), len(digits(near)))


def digits(value: float) -> str:
    """The significant digits of a number as Python prints it."""
    return repr(abs(value)).split("e")[0].replace(".", "").strip("0") or "0"


@given(income=st.floats(1.0, 2e6), far=st.sampled_from([1e6, 1e8, 1e9]))
@trials(30)
def test_the_applicant_meets_a_widened_rule_however_long_the_range(income: float, far: float):
    frame = pd.DataFrame({"income": [0.0, 900.0, 1243.56, 5e5, 1e6, 2e6, income], "n": [1, 2, 1, 2, 1, 2, 1]})
    space = FeatureSpace.infer(frame).declare({"income": {"low": 0.0, "high": far}})
    forest = RandomForestClassifier(5, random_state=0).fit(frame, [0, 0, 0, 1, 1, 1, 0])
    explainer = Explainer(forest, frame, space=space, widen=True)
    for row in explainer.refused[:2]:
        rule = explainer.explain(int(row)).rule
        assert rule.box(space).contains(explainer.X[[row]]).all()
