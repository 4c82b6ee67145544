"""Features declared over ranges: leaf boxes against every value at which anything can change."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeClassifier

from dueto import Explainer, FeatureSpace, as_model, cf, fixed, x
from dueto.counterfactuals import BranchAndBound, LeafBoxes, Status, build_query
from dueto.counterfactuals.ranking import irredundant, neat
from dueto.rule import Standing
from trials import trials

if TYPE_CHECKING:
    from collections.abc import Callable

    from dueto.plaf import Expr

CONSTRAINTS: list[tuple[list[Expr], Callable[[Any, Any], bool]]] = [
    ([], lambda cf, x: True),  # noqa: ARG005
    ([cf.a >= x.a], lambda cf, x: cf[0] >= x[0]),
    ([cf.a < x.a * 2, cf.n <= 700], lambda cf, x: cf[0] < x[0] * 2 and cf[1] <= 700),
    ([x.n > cf.n, fixed("a")], lambda cf, x: x[1] > cf[1] and cf[0] == x[0]),
    ([cf.a.between(0.25, 0.3)], lambda cf, x: 0.25 <= cf[0] <= 0.3),  # noqa: ARG005
    ([cf.n >= x.n + 200_000], lambda cf, x: cf[1] >= x[1] + 200_000),
]


def critical(tree: Any, j: int, extra: list[float], *, whole: bool) -> list[float]:
    """Values of a feature between which neither the tree nor a constraint changes its mind: each side of each cut."""
    cuts = [*tree.threshold[tree.feature == j].tolist(), *extra]
    around = [v for c in cuts for v in near(c)]
    if whole:
        around = [float(np.floor(v) + d) for v in around for d in (-1, 0, 1)]
    ends = (0.0, 200_000.0) if whole else (0.0, 1.0)
    return sorted({v for v in [*around, *ends] if ends[0] <= v <= ends[1]})


def near(c: float) -> list[float]:
    """A number, its neighbours, and the numbers beside which float32 rounds the other way."""
    single = np.float32(c)
    found = [c, np.nextafter(c, -np.inf), np.nextafter(c, np.inf)]
    for other in (np.nextafter(single, np.float32(-np.inf)), np.nextafter(single, np.float32(np.inf))):
        middle = (float(single) + float(other)) / 2
        found += [middle, np.nextafter(middle, -np.inf), np.nextafter(middle, np.inf)]
    return [float(v) for v in found]


@pytest.mark.parametrize(("constraints", "holds"), CONSTRAINTS, ids=[str(i) for i in range(len(CONSTRAINTS))])
@given(seed=st.integers(0, 2**32 - 1))
@trials(25)
def test_the_nearest_point_of_a_range_is_found_to_the_last_bit(constraints: Any, holds: Any, seed: int):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"a": rng.random(40), "n": rng.integers(0, 1000, 40)})
    tree = DecisionTreeClassifier(max_leaf_nodes=8, random_state=0).fit(frame, rng.permutation(40) < 15)
    declared = {"a": {"low": 0.0, "high": 1.0}, "n": {"low": 0, "high": 200_000}}
    space = FeatureSpace.infer(frame).declare(declared)
    model = as_model(tree, space)
    X = space.encode(frame)
    own = X[~model.good(X)][0]
    query = build_query(model, space, own, constraints=constraints)
    assert LeafBoxes().refuses(query) == ""
    answer = LeafBoxes().find(query, k=3, nearest=True, rng=rng)

    a = critical(tree.tree_, 0, [own[0], own[0] * 2, 0.25, 0.3], whole=False)
    n = critical(tree.tree_, 1, [own[1], 700.0], whole=True)
    points = np.array(list(itertools.product(a, n)))
    points = points[model.good(points)]
    points = points[[holds(p, own) for p in points]]
    if len(points):
        assert answer.status is Status.OPTIMAL
        assert answer.distances[0] == pytest.approx(query.distances(points).min(), abs=1e-12)
        assert all(holds(y, own) for y in answer.X)
    else:
        assert answer.status is Status.NONE


@given(seed=st.integers(0, 2**32 - 1))
@trials(25)
def test_fewer_digits_cost_a_millionth_at_most_and_keep_what_holds_of_a_change(seed: int):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"a": rng.random(60), "b": 5000 * rng.random(60), "n": rng.integers(0, 9, 60)})
    tree = DecisionTreeClassifier(max_leaf_nodes=10, random_state=0).fit(frame, rng.permutation(60) < 25)
    space = FeatureSpace.infer(frame).declare({"a": {"low": 0.0, "high": 1.0}, "b": {"low": 0, "high": 5000}})
    model = as_model(tree, space)
    X = space.encode(frame)
    query = build_query(model, space, X[~model.good(X)][0], constraints=[cf.b <= 1.5 * x.b])
    exact = LeafBoxes().find(query, k=5, nearest=True, rng=rng).X
    shown = neat(query, exact)
    assert query.accepts(shown).all()
    assert (query.changed(shown) == query.changed(exact)).all()
    grown = query.distances(shown) - query.distances(exact)
    assert ((grown >= 0) & (grown <= 1e-6)).all()
    assert np.array_equal(irredundant(query, shown), shown[np.argsort(query.distances(shown), kind="stable")])
    moved = shown != exact
    assert (moved.any(axis=1) <= query.changed(exact)[:, :2].any(axis=1)).all()
    assert all(len(repr(s)) < len(repr(e)) for s, e in zip(shown[moved], exact[moved], strict=True))


def test_a_change_to_a_bound_is_written_with_few_digits_unless_that_would_undo_it():
    frame = pd.DataFrame({"a": [0.0, 0.25, 1.0]})
    space = FeatureSpace.infer(frame).declare({"a": {"low": 0, "high": 1}})
    for wanted, exact, shown in [
        (lambda a: a <= 0.8789999980832609, 0.8789999980832609, 0.878999),
        (lambda a: (a <= 0.8789999980832609) & (a > 0.8789999980832607), 0.8789999980832609, 0.8789999980832609),
        (lambda a: a <= 0.5, 0.5, 0.5),
    ]:
        model = as_model(lambda table, wanted=wanted: wanted(table["a"]) * 1.0, space)
        query = build_query(model, space, np.array([1.0]))
        assert neat(query, np.array([[exact]])).tolist() == [[shown]]


@pytest.mark.parametrize("trees", [1, 3, 20])
def test_a_zero_inside_a_range_that_the_model_takes_for_missing_is_found(trees: int):
    lightgbm = pytest.importorskip("lightgbm")
    rng = np.random.default_rng(0)
    a = rng.uniform(-1, 1, 400).round(2)
    a[rng.random(400) < 0.3] = 0.0
    frame = pd.DataFrame({"a": a, "b": rng.integers(0, 3, 400).astype(float)})
    options = {"verbose": -1, "n_jobs": 1, "zero_as_missing": True, "learning_rate": 1}
    model = lightgbm.LGBMClassifier(n_estimators=trees, **options).fit(frame, a == 0)
    apart = frame[a != 0]  # so that the range alone holds the zero
    explainer = Explainer(model, apart, space=FeatureSpace.infer(apart).declare({"a": {"low": -1, "high": 1}}))
    tiny = np.array([-1e-34, -1e-36, 0.0, 1e-36, 1e-34, 0.3, -0.3])
    everybody = np.array(list(itertools.product(tiny, [0.0, 1.0, 2.0])))
    good = explainer.model.good(everybody)
    assert good.any()
    for row in explainer.refused[:8]:
        explanation = explainer.explain(int(row), k=3)
        assert explanation.rule.verdict.standing is Standing.PROVED
        assert not (explanation.rule.box(explainer.space).contains(everybody) & good).any()
        assert explanation.status is Status.OPTIMAL


def test_codes_of_categories_over_a_range_are_not_taken_for_numbers_that_rise():
    lightgbm = pytest.importorskip("lightgbm")
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.integers(0, 6, 400), "b": rng.integers(0, 3, 400)})
    options = {"min_data_per_group": 1, "cat_smooth": 0, "cat_l2": 0, "learning_rate": 1}
    fitted = lightgbm.LGBMClassifier(verbose=-1, n_jobs=1, n_estimators=2, **options)
    fitted.fit(frame, frame["a"].isin([2, 4]), categorical_feature=["a"])
    space = FeatureSpace.infer(frame).declare({"a": {"low": 0, "high": 200_000}})
    explainer = Explainer(fitted, frame, space=space)
    assert "code of a category" in BranchAndBound().refuses(explainer.query(explainer.X[explainer.refused[0]]))
