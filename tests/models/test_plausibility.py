"""How ordinary a row is: scikit-learn's isolation forest, and proofs that keep to the ordinary."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.ensemble import IsolationForest

from dueto.counterfactuals import BranchAndBound, Status
from dueto.errors import InputError
from dueto.models.plausibility import plausibility
from dueto.rule import Standing
from dueto.rules import MinimumRule, Oracle
from dueto.space import FeatureSpace
from dueto.testing import worlds
from trials import trials

KINDS = ["tree", "forest", "boosting", "linear"]


def test_the_margin_orders_rows_as_the_forest_of_scikit_learn_does():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(500, 3)).round(2), columns=["a", "b", "c"])
    space = FeatureSpace.infer(frame)
    X = space.encode(frame)
    margin = plausibility(space, X, 0.9).margin(X)
    forest = IsolationForest(random_state=0).fit(X)
    depth = -np.log2(-forest.score_samples(X)) * len(forest.estimators_)  # up to the factor c(256)
    assert np.allclose(margin / margin.mean(), depth / depth.mean())


@pytest.mark.parametrize("share", [0.5, 0.9, 0.99])
def test_about_the_share_asked_for_is_ordinary(share: float):
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(rng.normal(size=(1000, 4)), columns=list("abcd"))
    space = FeatureSpace.infer(frame)
    X = space.encode(frame)
    bound = plausibility(space, X, share)
    assert (bound.margin(X) > bound.cut).mean() == pytest.approx(share, abs=0.005)


@pytest.mark.parametrize("share", [0.0, 1.0, -1, 2])
def test_a_share_that_keeps_nobody_or_everybody_is_refused(share: float):
    frame = pd.DataFrame({"a": [1, 2, 3]})
    space = FeatureSpace.infer(frame)
    with pytest.raises(InputError, match="share of plausible rows"):
        plausibility(space, space.encode(frame), share)


@pytest.mark.parametrize("kind", KINDS)
@given(seed=st.integers(0, 2**32 - 1), share=st.sampled_from([0.3, 0.7]))
@trials(25)
def test_proofs_keep_to_the_ordinary_and_miss_nothing_of_it(kind: str, seed: int, share: float):
    method = BranchAndBound()
    for w in worlds([seed], kind=kind):
        bound = plausibility(w.space, w.X, share)
        query = replace(w.query, plausibility=bound, memo={})
        Y = w.counterfactuals
        ordinary = Y[bound.margin(Y) > bound.cut] if len(Y) else Y
        answer = method.find(query, k=3, nearest=True, rng=np.random.default_rng(0))
        assert answer.status is (Status.OPTIMAL if len(ordinary) else Status.NONE)
        if len(ordinary):
            assert answer.distances[0] == pytest.approx(query.distances(ordinary).min())
            assert (bound.margin(answer.X) > bound.cut).all()
        rule = MinimumRule().find(Oracle(query, method, np.random.default_rng(0)))
        assert rule.verdict is not None
        assert rule.least is not None
        assert rule.verdict.standing is Standing.PROVED
        assert not rule.box(w.space).contains(ordinary).any()
        free = MinimumRule().find(Oracle(replace(w.query, memo={}), method, np.random.default_rng(0)))
        assert free.least is not None
        assert rule.least.length <= free.least.length or w.constraints
