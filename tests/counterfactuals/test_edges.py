"""What once went wrong: each kind, with the right answer."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier

from dueto import Explainer, FeatureSpace, InputError, Model, as_model, cf, together
from dueto.counterfactuals import Auto, GeCo, LeafBoxes, Status, build_query
from dueto.rules import Oracle


def income_and_debt(frame: pd.DataFrame) -> pd.Series:
    return ((frame["income"] > 22) | (frame["debt"] < 32)).astype(float)


DATA = pd.DataFrame({"income": [12, 22, 35, 41], "debt": [40, 32, 32, 10], "bmi": [20, 27, 21, 20]})


def test_tying_features_leaves_the_tuples_of_other_groups_as_they_are():
    frame = pd.DataFrame({"a": [0, 0, 1, 1], "b": [0, 1, 0, 1], "c": [0, 1, 2, 3], "d": [0, 1, 2, 3]})
    space = FeatureSpace.infer(frame, groups=[("c", "d")])
    tied = space.grouped(space.encode(frame.iloc[:2]), [("a", "b")], np.array([5, 7]))
    groups = {g.members: (sorted(g.tuples.tolist()), g.counts.tolist()) for g in tied.groups}
    assert groups[2, 3][0] == [[0, 0], [1, 1], [2, 2], [3, 3]]
    assert groups[0, 1][0] == [[0, 0], [0, 1]]
    assert sorted(groups[0, 1][1]) == [5, 7]


def test_features_are_not_tied_without_the_data_that_ties_them():
    space = FeatureSpace.infer(DATA)
    with pytest.raises(InputError, match="needs the data"):
        build_query(
            as_model(income_and_debt, space), space, space.encode(DATA)[1], constraints=[together("bmi", "debt")]
        )


@pytest.mark.parametrize("constraint", [cf.income == 33.3, cf.income.isin([33.3, 44.4]), cf.income * 2 == 66.6])
@pytest.mark.parametrize("method", [GeCo(), Auto()], ids=["geco", "auto"])
def test_a_range_with_holes_is_searched_at_the_values_that_its_constraints_name(constraint, method):
    space = FeatureSpace.infer(DATA.astype(float)).declare({"income": {"low": 0.0, "high": 50.0}})
    explainer = Explainer(income_and_debt, DATA, space=space, constraints=constraint, counterfactual_method=method)
    answer = explainer.counterfactuals(1)
    if "* 2" in str(constraint):  # no value is named: nothing is known, and nothing claimed
        assert answer.status is Status.UNKNOWN
    else:
        assert set(answer.X[:, 0]) <= {33.3, 44.4}
        assert len(answer)


def test_a_column_that_rounds_hides_the_tree():
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"a": polars.Series([0.1, 0.5, 0.9, 0.3]).cast(polars.Decimal(5, 1))})
    space = FeatureSpace.infer(frame)
    tree = DecisionTreeClassifier().fit(np.array([[0.1], [0.5], [0.9], [0.3]]), [0, 1, 1, 0])
    assert as_model(tree, space).tree is None


def test_nothing_is_proved_by_a_tree_that_is_not_the_model():
    space = FeatureSpace.infer(DATA)
    X = space.encode(DATA)
    tree = as_model(DecisionTreeClassifier().fit(DATA, [0, 0, 0, 1]), space).tree
    liar = Model(lambda frame: np.asarray(frame["bmi"] == 21, dtype=float), space, tree=tree)
    query = build_query(liar, space, X[0], constraints=[cf.income < 36], X=X, donors=X[liar.good(X)])
    free = build_query(liar, space, X[0], X=X, donors=X[liar.good(X)])
    assert LeafBoxes().find(free, k=1, nearest=True, rng=np.random.default_rng(0)).status is not Status.OPTIMAL
    found = Auto().find(query, k=1, nearest=True, rng=np.random.default_rng(0))
    assert found.status is not Status.NONE
    assert len(found)


def test_tuples_beyond_a_declared_domain_are_no_candidates():
    frame = pd.DataFrame({"a": [0, 1, 2, 3], "b": [0, 1, 2, 3]})
    space = FeatureSpace.infer(frame, groups=[("a", "b")]).declare({"a": {"values": [0, 1]}})
    model = as_model(DecisionTreeClassifier().fit(frame, [0, 0, 1, 1]), space)
    query = build_query(model, space, space.encode(frame)[0])
    assert LeafBoxes().find(query, k=1, nearest=True, rng=np.random.default_rng(0)).status is Status.NONE


def test_a_feature_of_many_values_does_not_keep_leaf_boxes_from_a_tree():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.random(300), "b": rng.random(300)})
    explainer = Explainer(DecisionTreeClassifier(max_depth=3).fit(frame, frame["a"] > 0.5), frame)
    query = explainer.query(explainer.X[int(explainer.refused[0])])
    assert LeafBoxes(limit=10).refuses(query) == ""


def test_a_change_too_small_for_its_range_is_still_a_change():
    frame = pd.DataFrame({"a": [0.0, 1e-180, 1e150]})
    explainer = Explainer(lambda f: np.asarray(f["a"] > 0, dtype=float), frame)
    (first, *_) = explainer.explain(0).counterfactuals
    assert [c.after for c in first.changes] == [1e-180]


def test_a_rule_does_not_rest_on_what_the_constraints_force_to_change():
    explainer = Explainer(income_and_debt, DATA, constraints=cf.bmi.isin([20, 21]))
    explanation = explainer.explain(1)
    assert explanation.broken == explanation.constraints
    assert {c.feature for c in explanation.rule} == {"income", "debt"}
    assert "has to change" in str(explanation)
    oracle = Oracle(explainer.query(explainer.X[1]), Auto(), np.random.default_rng(0))
    assert [c.feature for c in oracle.components.rule(oracle.must)] == ["bmi"]
    assert [c.op for c in oracle.components.rule(oracle.must)] == [">="]


def test_rows_beyond_a_narrow_space_are_not_laid_to_constraints():
    space = FeatureSpace.infer(DATA).declare({"income": {"low": 0, "high": 22}, "debt": {"low": 32, "high": 40}})
    explanation = Explainer(income_and_debt, DATA, space=space).explain(1)
    assert "constraints" not in str(explanation)


@pytest.mark.parametrize("options", [{"method": 5}, {"counterfactual_method": None}, {"counterfactual_method": GeCo}])
def test_what_is_no_method_is_refused_by_name(options):
    with pytest.raises(TypeError, match="or its name, one of"):
        Explainer(income_and_debt, DATA, **options)


def test_hundreds_of_columns_are_searched_in_bounded_generations():
    wide = pd.DataFrame(np.random.default_rng(0).integers(0, 3, (60, 300))).add_prefix("f")
    explanation = Explainer(lambda table: (table["f7"] > 0) * 1.0, wide).explain(int(wide["f7"].argmin()))
    assert [str(c) for c in explanation.rule] == ["f7 <= 0"]
    assert [c.feature for c in explanation.counterfactuals[0].changes] == ["f7"]
