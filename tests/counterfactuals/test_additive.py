"""The nearest change of an additive model, against the enumeration of all points and against the boxes of ensembles."""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from dueto import Distance, Explainer, FeatureSpace
from dueto.counterfactuals import BranchAndBound, Exhaustive, Status, additive
from dueto.counterfactuals.branch_and_bound import Search
from dueto.rule import Components
from dueto.testing import worlds
from trials import trials

seeds = st.integers(0, 2**32 - 1)
WEIGHTS = [(0.25, 0.25, 0.25, 0.25), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1), (1, 0, 0, 0.01), (0.1, 0, 2, 0.3)]


def asked(seed: int, *, n: int, values: int, weights: tuple[float, ...], tied: bool = False) -> Explainer:
    """A logistic regression over a few features, one of them perhaps a category, two of them perhaps tied."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({f"f{j}": rng.integers(0, values, 80) * rng.choice([1.0, 0.37, 10]) for j in range(n)})
    frame.iloc[rng.random(frame.shape) < rng.choice([0, 0.02])] = 0.0
    margin = frame.to_numpy() @ rng.normal(size=n)
    target = margin > np.quantile(margin, rng.choice([0.5, 0.8, 0.95]))
    target[np.argmax(margin)], target[np.argmin(margin)] = True, False
    model = make_pipeline(StandardScaler(), LogisticRegression(C=rng.choice([0.1, 10]))).fit(frame, target)
    groups = [("f0", "f1")] if tied else []
    space = FeatureSpace.infer(frame, groups=groups)
    return Explainer(model, frame, space=space, distance=Distance(weights))


@given(seed=seeds, weights=st.sampled_from(WEIGHTS), n=st.integers(1, 4), tied=st.booleans())
@trials(60)
def test_the_nearest_is_that_of_the_enumeration(seed: int, weights: tuple[float, ...], n: int, tied: bool):
    explainer = asked(seed, n=n, values=9, weights=weights, tied=tied and n > 1)
    rng = np.random.default_rng(0)
    for row in explainer.refused[:3]:
        query = explainer.query(explainer.X[row])
        assert additive.suits(BranchAndBound().grid(query))
        found = BranchAndBound().find(query, k=1, nearest=True, rng=rng)
        truth = Exhaustive(limit=10**6).find(query, k=1, nearest=True, rng=rng)
        assert found.status is truth.status
        assert query.accepts(found.X).all()
        np.testing.assert_allclose(found.distances, truth.distances, rtol=1e-12, atol=1e-15)


@given(seed=seeds, weights=st.sampled_from(WEIGHTS))
@trials(15)
def test_the_nearest_is_that_of_the_boxes_of_ensembles(seed: int, weights: tuple[float, ...]):
    explainer = asked(seed, n=5, values=60, weights=weights)
    for row in explainer.refused[:2]:
        grid = BranchAndBound().grid(explainer.query(explainer.X[row]))
        found = []
        for way in (additive.nearest, partial(Search.proved, nearest=True)):
            search = Search(grid, np.zeros_like(grid.own), grid.cells.sizes - 1, seconds=3, nodes=10**6)
            status, point = way(search, limit=np.inf)
            found.append((status, np.inf if point is None else search.distance(point)))
        assert found[0][0] is Status.NONE
        if found[1][0] is Status.NONE:
            assert found[0][1] == pytest.approx(found[1][1], rel=1e-12)
        else:
            assert found[0][1] <= found[1][1] * (1 + 1e-12)


def test_under_a_rule_the_nearest_is_that_of_the_enumeration_there():
    explainer = asked(7, n=4, values=9, weights=WEIGHTS[0])
    rng = np.random.default_rng(1)
    row = explainer.refused[0]
    query = explainer.query(explainer.X[row])
    components = Components(query.space, query.x)
    for _ in range(20):
        under = query.under(components.box(int(rng.integers(0, components.all + 1)) & components.all))
        found = BranchAndBound().find(under, k=1, nearest=True, rng=rng)
        truth = Exhaustive().find(under, k=1, nearest=True, rng=rng)
        assert found.status is truth.status
        np.testing.assert_allclose(found.distances, truth.distances, rtol=1e-12)


def test_when_the_budget_is_spent_nothing_is_claimed():
    explainer = asked(3, n=5, values=60, weights=WEIGHTS[0])
    grid = BranchAndBound().grid(explainer.query(explainer.X[explainer.refused[0]]))
    search = Search(grid, np.zeros_like(grid.own), grid.cells.sizes - 1, seconds=60, nodes=1)
    status, _ = additive.nearest(search, np.inf)
    assert status is Status.UNKNOWN
    assert "after 1 boxes" in search.told


def test_a_point_at_the_cut_that_the_model_refuses_does_not_hide_a_good_one_found_before_it():
    (world,) = worlds([1221], kind="linear")
    found = BranchAndBound().find(world.query, k=1, nearest=True, rng=np.random.default_rng(0))
    assert found.status is Status.OPTIMAL
    assert found.distances[0] == world.query.distances(world.counterfactuals).min()


@pytest.mark.parametrize("seed", [159, 298])
@pytest.mark.parametrize("huge", [-5.4e17, -4e30, -1e100])
def test_a_coefficient_that_dwarfs_the_others_does_not_spoil_the_bound(seed: int, huge: float):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.integers(0, 4, (60, 3)).astype(float), columns=list("abc"))
    model = LogisticRegression().fit(frame, np.arange(60) % 2 == 0)
    model.coef_, model.intercept_ = np.array([[huge, *rng.normal(size=2)]]), rng.normal(size=1)
    explainer = Explainer(model, frame, distance=Distance((0, 1, 0, 0)))
    for row in explainer.refused[:10]:
        query = explainer.query(explainer.X[row])
        found = BranchAndBound().find(query, k=1, nearest=True, rng=rng)
        truth = Exhaustive().find(query, k=1, nearest=True, rng=rng)
        if found.status is Status.OPTIMAL:
            np.testing.assert_allclose(found.distances, truth.distances, rtol=1e-12)
        assert (found.status is Status.NONE) <= (truth.status is Status.NONE)
