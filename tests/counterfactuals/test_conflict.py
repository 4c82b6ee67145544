"""Constraints that contradict each other are told, and none too many of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dueto.counterfactuals import build_query
from dueto.counterfactuals.conflict import conflict, feasible, told
from dueto.models import as_model
from dueto.plaf import cf, parse_constraints
from dueto.space import FeatureSpace
from trials import trials

FRAME = pd.DataFrame({"a": [0, 1, 2, 3, 1], "b": [0, 1, 2, 3, 2], "c": [0, 1, 2, 2, 0]})
SPACE = FeatureSpace.infer(FRAME)
POOL = (
    "cf.a > cf.b",
    "cf.b > cf.c",
    "cf.c > cf.a",
    "cf.a + cf.b >= 5",
    "cf.a <= 1",
    "cf.c == x.c",
    "cf.a in [0, 2]",
    "cf.b != 2",
    "cf.a > 1 => cf.c > 1",
)


def query(texts: list[str], row: int = 1):
    model = as_model(lambda t: np.zeros(len(t)), SPACE)
    constraints = [e for text in texts for e in parse_constraints(text)]
    return build_query(model, SPACE, SPACE.encode(FRAME)[row], constraints=constraints, X=SPACE.encode(FRAME))


def met(q) -> bool:
    """By going through all instances."""
    grid = np.array(np.meshgrid(*(f.domain.values for f in SPACE.features))).reshape(3, -1).T
    return bool(np.all([c(lambda j: grid[:, j], q.x) for c in q.constraints] or [[True]], axis=0).any())


@given(texts=st.lists(st.sampled_from(POOL), unique=True), row=st.integers(0, 4))
@trials(60)
def test_what_is_told_is_a_smallest_contradiction(texts: list[str], row: int):
    q = query(texts, row)
    assert feasible(q) == met(q)
    found = conflict(q)
    assert bool(found) == (not met(q))
    if found:
        assert not met(replace(q, constraints=found))
        for one in found:
            assert met(replace(q, constraints=tuple(c for c in found if c is not one)))


def test_the_explanation_names_the_constraints_that_contradict_each_other():
    import dueto

    def model(table):
        return (table["a"] > 2).astype(float)

    ruled = dueto.explain(model, FRAME, 1, constraints=[cf.a > cf.b, cf.b > cf.a, cf.c >= 0])
    assert ruled.status == "none"
    assert "a must be more than b; b must be more than a" in " ".join(str(ruled).split())
    assert "c must" not in ruled.reason


def test_a_single_impossible_constraint_is_told_alone():
    assert told(query(["cf.a > 9", "cf.b <= 3"])) == "no applicant meets this constraint: a must be more than 9"
    assert told(query(["cf.b <= 3"])) == ""
    mine = "this applicant breaks this constraint, and no change can mend that: the present a must be more than 9"
    assert told(query(["x.a > 9", "cf.b <= 3"])) == mine


@pytest.mark.parametrize(
    "text",
    [
        "x.a < 2 => cf.b >= 9",
        "cf.b >= 9 * x.b",
        "x.a >= 2 or cf.a < 0",
        "not (x.a < 2 or cf.b < 2)",
        "x.a < 2 => cf.a + cf.b > 9",
        "cf.a > 9",
    ],
)
def test_what_no_change_can_mend_is_not_said_to_have_to_change(text: str):
    import dueto

    found = dueto.explain(lambda t: (t["c"] > 1).astype(float), FRAME, 1, constraints=text)
    who = "nothing that this applicant could become" if "x." in text else "no applicant"
    assert found.reason.startswith(f"{who} meets this constraint: ")
    assert found.broken == found.unmendable == found.constraints
    assert "has to change" not in str(found)


def test_constraints_that_contradict_each_other_only_for_this_applicant_are_told_so():
    assert "contradict each other for this applicant: " in told(query(["cf.a > x.a", "cf.a <= 1"]))
    assert "contradict each other: " in told(query(["cf.a > cf.b", "cf.b > cf.a"]))
