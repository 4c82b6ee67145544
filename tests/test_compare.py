"""Several finders side by side: each rule is that of its finder, and the judgement that of the audit."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from sklearn.tree import DecisionTreeClassifier

import dueto
from dueto.audit import Category
from dueto.rules import FINDERS, GeneticRule, MinimumRule

if TYPE_CHECKING:
    import pandas as pd


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


def test_a_row_that_is_not_refused_and_no_methods_are_refused(german):
    model, data = german
    accepted = int((model.predict(data) == model.classes_[1]).nonzero()[0][0])
    with pytest.raises(dueto.InputError, match="is not refused"):
        dueto.compare(model, data, accepted)
    with pytest.raises(dueto.InputError, match="no methods"):
        dueto.compare(model, data, 1, methods=[])
