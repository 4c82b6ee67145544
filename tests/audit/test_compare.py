"""Several finders side by side: each rule is that of its finder, and the judgement that of the audit."""

from __future__ import annotations

import json

import pandas as pd
import pytest
from joblib import Parallel, delayed
from sklearn.tree import DecisionTreeClassifier

import dueto
from dueto.audit import Category
from dueto.rules import FINDERS, GeneticRule, MinimumRule


@pytest.fixture(scope="module")
def german() -> tuple[DecisionTreeClassifier, pd.DataFrame]:
    data = dueto.datasets.load_german_credit()
    numbers = data.frame.select_dtypes("number")
    return DecisionTreeClassifier(max_leaf_nodes=30, random_state=0).fit(numbers, data.target), numbers


def test_the_proved_finders_are_minimal_and_every_judgement_is_the_audits(german):
    model, data = german
    found = dueto.compare(model, data, 1, rng=3)
    assert [one.method for one in found] == [name for name in FINDERS if name != "auto"]
    by = {one.method: one for one in found}
    assert by["minimum"].judgement.category is Category.MINIMAL
    least = len(by["minimum"].judgement.rule)
    for one in found:
        again = dueto.audit(one.judgement.rule, model, data, row=1)[0]
        assert again.category == one.judgement.category
        if one.judgement.category is Category.MINIMAL:
            assert len(one.judgement.rule) == least
        assert one.judgement.category is not Category.NOT_RELEVANT
    assert len(by["set-cover"].judgement.rule) <= least
    assert json.loads(json.dumps(found.to_dict()))["label"] == "Row 1"


def test_the_same_seed_gives_the_same_rules(german):
    model, data = german
    names = ["genetic", "anchor", "genetic-cf"]
    one, two = (dueto.compare(model, data, 11, methods=names, rng=5) for _ in range(2))
    assert [str(a.judgement.rule) for a in one] == [str(b.judgement.rule) for b in two]
    assert [a.rows_scored for a in one] == [b.rows_scored for b in two]


def test_a_finder_whose_time_ran_out_is_said_to_have_the_best_so_far(german):
    model, data = german
    found = dueto.compare(model, data, 1, methods=[GeneticRule(seconds=0), MinimumRule()])
    assert [one.finished for one in found] == [False, True]
    assert "Time ran out for genetic: the best rule so far." in str(found)


@pytest.mark.parametrize("method", ["set-cover", "anchor"])
def test_a_rule_that_does_not_hold_is_shown_with_its_exception_and_no_claim(german, method):
    model, data = german
    explainer = dueto.Explainer(model, data, method=method)
    every = (explainer.explain(int(row), k=1) for row in explainer.refused)
    found = next(one for one in every if one.rule.verdict.counterexample is not None)
    other = found.rule.verdict.counterexample
    assert model.predict(pd.DataFrame([other])[data.columns])[0] == model.classes_[1]
    assert found.rule.covers(dueto.FeatureSpace.infer(data), pd.DataFrame([other])[data.columns]).all()
    text = " ".join(str(found).split())
    assert f"What the method '{method}' says it is due to:" in text
    assert "But not everybody who meets" in text
    assert "is refused (" not in text
    assert found.to_dict()["rule"]["run"]["finished"] is True


@pytest.mark.parametrize("method", ["genetic", "genetic-cf", "anchor"])
def test_rules_do_not_depend_on_how_many_processes_find_them(german, method):
    model, data = german
    rows = [1, 11, 18]
    explainer = dueto.Explainer(model, data)
    told = [Parallel(n_jobs=n)(delayed(explainer.rule)(row, method=method, rng=row) for row in rows) for n in (1, 2)]
    assert told[0] == told[1]


def test_a_row_that_is_not_refused_and_no_methods_are_refused(german):
    model, data = german
    accepted = int((model.predict(data) == model.classes_[1]).nonzero()[0][0])
    with pytest.raises(dueto.InputError, match="is not refused"):
        dueto.compare(model, data, accepted)
    with pytest.raises(dueto.InputError, match="no methods"):
        dueto.compare(model, data, 1, methods=[])


def test_one_method_may_stand_for_a_list_and_what_is_none_is_refused(german):
    model, data = german
    for method in ("minimum", MinimumRule()):
        assert [one.method for one in dueto.compare(model, data, 1, methods=method)] == ["minimum"]
    with pytest.raises(dueto.InputError, match="methods must be a list of rule finders or their names, got 5; give"):
        dueto.compare(model, data, 1, methods=5)
    with pytest.raises(TypeError, match="expected a rule finder or its name"):
        dueto.compare(model, data, 1, methods=MinimumRule)
