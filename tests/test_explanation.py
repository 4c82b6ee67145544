"""What is said of a refused row is so, and no more than is known."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dueto
from dueto import Explainer, InputError
from dueto.changes import shown

DATA = pd.DataFrame({"income": [12, 22, 35, 41, 50], "debt": [40, 32, 32, 10, 5]})


def model(table):
    return ((table["income"] > 22) | (table["debt"] < 32)) * 1.0


def text(**options):
    return str(dueto.explain(model, DATA, 1, **options))


def test_a_proof_is_called_one_and_a_search_is_not():
    assert "possible applicant who meets all of this is refused (proved by exhaustive)." in text()
    searched = " ".join(text(counterfactual_method="geco").split())
    assert "is refused, as far as could be found (not proved: geco scored " in searched
    assert "proved: nothing is nearer" in text()
    assert "proved: nothing is nearer" not in searched


def test_why_nothing_is_proved_of_a_black_box_is_told_where_something_is_only_searched():
    wide = pd.DataFrame({c: np.linspace(0, 1, 40) for c in "abcdef"})

    def mystery(table):
        return (table["a"] + table["b"] > 1) * 1.0

    explainer = Explainer(mystery, wide)
    for found in (explainer.explain(0), explainer.changes(0)):
        assert found.black_box == found.to_dict()["black_box"] == "dueto does not know the inside of mystery"
        words = " ".join(str(found).split())
        assert words.count("could not be read: dueto does not know the inside of mystery.") == 1
    proved = dueto.explain(model, DATA, 1)
    assert "could not be read" not in str(proved)
    assert proved.to_dict()["black_box"] == ""
    asked_for = dueto.explain(model, DATA, 1, method="greedy", counterfactual_method="geco")
    assert "could not be read" not in str(asked_for)


def test_a_claim_under_constraints_speaks_of_them_and_counts_what_they_rule_out():
    found = text(constraints="cf.debt >= x.debt")
    assert "  - income <= 22\nWhile this holds, no change that the constraints allow flips the decision" in found
    assert "Constraints on what may change:\n  - debt may not fall" in found
    assert "2 meet it: 2 of the 2 refused ones and no other." in found
    found = " ".join(text(constraints=["fixed('income')", "cf.debt >= 10"]).split())
    assert "to this: - debt >= 32 While this holds" in found
    assert "3 meet it: 2 of the 2 refused ones, and 1 other that the constraints rule out here." in found


def test_where_nothing_helps_that_is_said_once():
    found = text(constraints="fixed('income', 'debt')")
    assert (
        found.split("\n\n")[1] == "No change that the constraints allow would flip the decision (proved by exhaustive)."
    )
    assert "due to" not in found
    found = " ".join(text(constraints="x.income > 90").split())
    broken = "this applicant breaks this constraint, and no change can mend that: the present income must be more"
    assert f"(proved by the constraints): {broken} than 90." in found


def test_what_the_row_breaks_has_to_change_unless_the_constraint_speaks_only_of_what_it_is():
    def notes(*constraints):
        found = text(constraints=list(constraints)).split("Constraints on what may change:")[1]
        return [line.partition("   (the row breaks this as it is, ")[2] for line in found.strip().split("\n")]

    change, no_change = "so that has to change)", "and no change can mend that)"
    assert notes("cf.debt <= 20", "cf.debt <= 40", "x.income > 90") == [change, "", no_change]
    assert notes("x.income > 20 => x.debt < 3") == [no_change]
    assert notes("cf.debt <= 20 and x.income > 90") == [no_change]
    assert notes("x.income > 90 or cf.debt <= 5") == [change]
    assert notes("x.income > 20 => cf.debt < 6") == [change]
    assert notes("x.income < 90") == [""]


def test_the_class_of_the_desired_outcome_is_named():
    class Named:
        def __init__(self, *classes):
            self.classes_ = np.array(classes)

        def predict_proba(self, table):
            return np.column_stack([1 - model(table), model(table)])

    assert 'its score for "paid" is 0, and more than 0.5 is needed' in str(
        dueto.explain(Named("lost", "paid"), DATA, 1)
    )
    assert "its score for class 1 is 0" in str(dueto.explain(Named(0, 1), DATA, 1))
    assert "its score for the desired outcome is 0" in text()


@given(st.floats(0, 1), st.one_of(st.just(0.5), st.floats(0, 0.99)))
def test_a_score_is_shown_on_its_side_of_the_threshold(score, threshold):
    assert (float(shown(score, threshold)) > threshold) == (score > threshold)
    assert float(shown(score, threshold)) == pytest.approx(score, rel=1e-2)


def test_no_more_digits_are_shown_than_that_takes():
    assert [shown(score, 0.5) for score in (0.5, 0.123456, 0.5001234, 1)] == ["0.5", "0.123", "0.5001", "1"]


def test_a_row_that_is_not_refused_is_answered_with_rows_that_are():
    for ask in (Explainer(model, DATA).explain, Explainer(model, DATA).changes, Explainer(model, DATA).counterfactuals):
        with pytest.raises(InputError, match=r"Row 2 is not refused: its score 1 .* for example, rows 0, 1$"):
            ask(2)
    with pytest.raises(InputError, match="nobody in the data is refused"):
        dueto.explain(lambda table: np.ones(len(table)), DATA, 2)
    assert Explainer(model, pd.concat([DATA, DATA])).refused.tolist() == [0, 1, 5, 6]


def test_a_model_that_fails_names_the_row_of_the_data():
    def fussy(table):
        if (table["debt"] == 5).any():
            raise RuntimeError("no debt of 5")
        return model(table)

    data = pd.DataFrame({"income": [50, 50, 22, 22, 12], "debt": [40, 40, 32, 32, 5]})
    with pytest.raises(InputError, match=r"failed on row 4 \(income=12, debt=5\) with RuntimeError: no debt of 5"):
        dueto.explain(fussy, data, 3)


@pytest.mark.parametrize("method", ["auto", "geco"])
def test_changes_are_those_of_the_explanation(method):
    explainer = Explainer(model, DATA, counterfactual_method=method)
    whole, part = explainer.explain(1, rng=7), explainer.changes(1, rng=7)
    answer = explainer.counterfactuals(1, rng=7)
    assert whole.counterfactuals == part.counterfactuals
    assert [c.cost for c in part.counterfactuals] == answer.distances.tolist()
    mine, all_of_it = part.to_dict(), whole.to_dict()
    assert {name: all_of_it[name] for name in mine if name not in ("methods", "rows_scored", "seconds")} == {
        name: value for name, value in mine.items() if name not in ("methods", "rows_scored", "seconds")
    }


def test_json_is_the_dictionary():
    found = dueto.explain(model, DATA.astype({"debt": float}).replace({"debt": {5.0: np.nan}}), 1)
    assert json.loads(found.to_json()) == found.to_dict()
    assert found.to_dict()["applicant"] == {"income": 22, "debt": 32}


def test_changes_that_are_not_proved_nearest_say_so():
    data = pd.DataFrame({name: range(20) for name in "abcd"})
    found = dueto.explain(lambda t: (t.sum(axis=1) > 40).astype(float), data, 0, counterfactual_method="geco")
    assert found.status == "found"
    assert "nearest first (found by geco; something nearer may exist):" in str(found)
