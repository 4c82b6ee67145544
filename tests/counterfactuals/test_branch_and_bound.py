"""Branch and bound where enumeration cannot follow: declared ranges, ties at the threshold, budgets."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import dueto
from dueto.counterfactuals import BranchAndBound, Exhaustive, Status, build_query
from dueto.errors import InputError
from dueto.models import as_model
from dueto.plaf import cf, x
from dueto.rule import Components
from dueto.space import FeatureSpace
from trials import trials

RNG = np.random.default_rng(0)
FRAME = pd.DataFrame(
    {"a": RNG.integers(0, 30, 120) / 4, "b": RNG.integers(0, 9, 120), "c": RNG.normal(size=120).round(1)}
)
TARGET = (FRAME["a"] + FRAME["b"] + 2 * FRAME["c"] + RNG.normal(size=120) > 8).astype(int)
RANGES = {"a": {"low": 0.0, "high": 7.25}, "b": {"low": 0, "high": 500_000}, "c": {"low": -4.0, "high": 4.0}}
MODELS = {
    "forest": lambda: RandomForestClassifier(7, max_depth=4, random_state=0),
    "boosting": lambda: GradientBoostingClassifier(n_estimators=6, max_depth=3, random_state=0),
    "logistic": lambda: make_pipeline(StandardScaler(), LogisticRegression()),
}


def asked(name: str, row: int, *, ranges: bool = True, constraints=()):
    space = FeatureSpace.infer(FRAME)
    space = space.declare(RANGES) if ranges else space
    fitted = MODELS[name]().fit(FRAME, TARGET)
    model = as_model(fitted, space)
    X = space.encode(FRAME)
    bad = X[~model.good(X)]
    good = X[model.good(X)]
    return build_query(model, space, bad[row % len(bad)], constraints=constraints, X=X, donors=good)


@pytest.mark.parametrize("name", MODELS)
@given(row=st.integers(0, 50), bits=st.integers(0, 63))
@trials(30)
def test_in_a_declared_range_no_number_escapes_a_rule_that_is_proved(name: str, row: int, bits: int):
    query = asked(name, row)
    under = query.under(Components(query.space, query.x).box(bits))
    answer = BranchAndBound().find(under, k=1, nearest=False, rng=np.random.default_rng(0))
    rng = np.random.default_rng(row)
    ends = np.array([[0.0, 0.0, -4.0], [7.25, 500_000.0, 4.0]])
    low, high = np.maximum(ends[0], under.box.low), np.minimum(ends[1], under.box.high)
    sample = rng.uniform(low, high, (3000, 3))
    sample[::3] = np.where(rng.random((1000, 3)) < 0.5, low, high)
    sample[:, 1] = np.clip(np.round(sample[:, 1]), low[1], high[1])
    if answer.status is Status.NONE:
        assert not under.accepts(sample).any()
    else:
        assert answer.status is Status.FOUND
        assert under.accepts(answer.X).all()


@pytest.mark.parametrize("name", ["forest", "boosting"])
@given(row=st.integers(0, 50))
@trials(20)
def test_in_a_declared_range_no_sampled_change_is_nearer_than_the_optimum(name: str, row: int):
    query = asked(name, row)
    answer = BranchAndBound().find(query, k=1, nearest=True, rng=np.random.default_rng(0))
    assert answer.status is Status.OPTIMAL
    rng = np.random.default_rng(row)
    near = np.where(rng.random((4000, 3)) < 0.5, query.x, query.x + rng.normal(size=(4000, 3)) * [1.0, 3.0, 0.7])
    near[:, 1] = np.round(near[:, 1])
    near = near[query.accepts(near)]
    assert not len(near) or query.distances(near).min() >= answer.distances[0] - 1e-12


def test_the_nearest_change_of_a_sum_of_functions_over_a_range_is_not_called_optimal():
    answer = BranchAndBound().find(asked("logistic", 0), k=1, nearest=True, rng=np.random.default_rng(0))
    assert answer.status is Status.FOUND


@pytest.mark.parametrize("name", MODELS)
@given(row=st.integers(0, 50), bits=st.integers(0, 63), nearest=st.booleans())
@trials(20)
def test_it_equals_the_enumeration_where_constraints_tie_features(name: str, row: int, bits: int, nearest: bool):
    ties = [cf.a <= cf.b + 2, (cf.c > x.c).implies(cf.b >= x.b + 1), cf.a + cf.b + cf.c <= 12]
    query = asked(name, row, ranges=False, constraints=ties)
    under = query.under(Components(query.space, query.x).box(bits))
    ways = (BranchAndBound(), Exhaustive(limit=2_000_000))
    one, two = (m.find(under, k=1, nearest=nearest, rng=np.random.default_rng(0)) for m in ways)
    assert len(one) == len(two)
    assert (one.status is Status.NONE) == (two.status is Status.NONE)
    if nearest and len(one):
        assert one.distances[0] == pytest.approx(two.distances[0])


def test_without_a_budget_nothing_is_claimed():
    hard = asked("forest", 3, ranges=False)
    for k in range(20):
        under = hard.under(Components(hard.space, hard.x).box(k))
        answer = BranchAndBound(nodes=0).find(under, k=1, nearest=True, rng=np.random.default_rng(0))
        truth = Exhaustive().find(under, k=1, nearest=True, rng=np.random.default_rng(0))
        assert answer.status in (Status.FOUND, Status.UNKNOWN) or answer.status is truth.status
        if answer.status is Status.UNKNOWN:
            assert "budget" in answer.reason


@pytest.mark.parametrize("option", ["seconds", "nodes"])
def test_a_negative_budget_is_refused(option: str):
    with pytest.raises(InputError, match=option):
        BranchAndBound(**{option: -1})


def test_a_tie_at_the_threshold_is_undesired():
    frame = pd.DataFrame({"a": [0, 1, 2, 3]})
    space = FeatureSpace.infer(frame)
    forest = RandomForestClassifier(2, bootstrap=False, random_state=0).fit(frame, [0, 1, 0, 1])
    for tree, values in zip(forest.estimators_, ([0, 1, 0, 1], [0, 0, 0, 1]), strict=True):
        tree.fit(frame, values)
    model = as_model(forest, space)
    assert model.score(space.encode(frame)).tolist() == [0.0, 0.5, 0.0, 1.0]
    query = build_query(model, space, np.array([0.0]))
    assert BranchAndBound().find(query, k=3, nearest=True, rng=np.random.default_rng(0)).X.tolist() == [[3.0]]


def test_a_score_that_rounding_puts_above_the_threshold_is_desired():
    frame = pd.DataFrame({"a": range(10), "b": [0, 1] * 5})
    space = FeatureSpace.infer(frame)
    for seed in range(10):
        fitted = RandomForestClassifier(5, max_depth=3, random_state=seed).fit(frame, [0, 1, 0, 1, 1, 0, 1, 0, 1, 1])
        X = space.encode(frame)
        for score in np.unique(fitted.predict_proba(frame)[:, 1])[1:]:
            model = as_model(fitted, space, threshold=float(np.nextafter(score, 0.0)))
            bad = X[~model.good(X)]
            if len(bad):
                query = build_query(model, space, bad[0])
                ways = (BranchAndBound(), Exhaustive())
                one, two = (m.find(query, k=1, nearest=True, rng=np.random.default_rng(0)) for m in ways)
                assert one.status is two.status
                assert np.allclose(one.distances, two.distances)


def test_over_a_range_a_linear_model_with_a_falling_weight_is_explained():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"debt": rng.normal(size=200), "income": rng.normal(size=200)})
    space = FeatureSpace.infer(frame).declare(
        {"debt": {"low": -3.5, "high": 3.5}, "income": {"low": -3.5, "high": 3.5}}
    )
    model = LogisticRegression().fit(frame, frame["income"] - 2 * frame["debt"] + rng.normal(size=200) > 0)
    explainer = dueto.Explainer(model, frame, space=space)
    for row in explainer.refused[:10]:
        assert explainer.explain(int(row)).rule.verdict.standing == "proved"


def test_a_model_whose_inside_is_not_known_is_refused_with_the_reason():
    space = FeatureSpace.infer(FRAME)
    model = as_model(lambda t: np.zeros(len(t)), space)
    query = build_query(model, space, space.encode(FRAME)[0])
    assert BranchAndBound().refuses(query)
    with pytest.raises(InputError, match="branch and bound"):
        dueto.explain(lambda t: np.zeros(len(t)), FRAME, 0, counterfactual_method="branch-and-bound")
