"""Rules: what they say, whom they cover, and their components as bits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dueto import Component, FeatureSpace, InputError, Rule, Standing, Verdict
from dueto.box import Box
from dueto.rule import Components, bits, minimal, to_sets, to_words

NAN = float("nan")
FRAME = pd.DataFrame(
    {
        "age": [25, 40, 61, 40],
        "rate": [0.1, 1.5, None, 0.30000000000000004],
        "job": ["clerk", "smith", None, "clerk"],
        "edu": pd.Categorical(["low", "high", "low", "mid"], categories=["low", "mid", "high"], ordered=True),
        "sure": [True, False, True, True],
        "g_a": [1, 0, 0, 0],
        "g_b": [0, 1, 1, 0],
    }
)
SPACE = FeatureSpace.infer(FRAME, onehot={"g": ["g_a", "g_b"]})


def rule(*conditions: tuple[str, Any, Any]) -> Rule:
    return Rule(tuple(Component(*condition) for condition in conditions))


@pytest.mark.parametrize(
    ("conditions", "text"),
    [
        ([], "(no condition: everybody)"),
        ([("age", "<=", 40)], "age <= 40"),
        ([("age", ">=", 30), ("age", "<=", 39)], "30 <= age <= 39"),
        ([("age", "<=", 39), ("age", ">=", 30)], "30 <= age <= 39"),
        ([("age", ">=", 40), ("age", "<=", 40)], "age = 40"),
        ([("age", "<=", 40), ("job", "=", "clerk"), ("age", ">=", 30)], "30 <= age <= 40 and job = clerk"),
        ([("rate", "=", None)], "rate = missing"),
        ([("rate", "<=", 0.30000000000000004)], "rate <= 0.30000000000000004"),
        ([("rate", ">=", 0.0007)], "rate >= 0.0007"),
        ([("edu", ">=", "low"), ("edu", "<=", "mid")], "low <= edu <= mid"),
        ([("edu", "<=", "mid"), ("edu", ">=", "mid")], "edu = mid"),
        ([("sure", "=", True)], "sure = True"),
        ([("g", "=", "(none)")], "g = (none)"),
        ([("age", "<=", 40), ("age", "<=", 30)], "age <= 40 and age <= 30"),
        ([("age", "<=", 40), ("age", "=", 30)], "age <= 40 and age = 30"),
        ([("age", "<=", 40), ("age", "<=", 30), ("age", ">=", 20)], "age <= 40 and age <= 30 and age >= 20"),
        ([("age", "<=", 40), ("age", "<=", 40)], "age <= 40"),
        ([("0", "<=", 21), ("1", ">=", 1), ("1", "<=", 2)], '"0" <= 21 and 1 <= "1" <= 2'),
        ([("-1.5e3", "=", 2), ("2nd", "=", 3), ("x0", "=", 1)], '"-1.5e3" = 2 and 2nd = 3 and x0 = 1'),
    ],
)
def test_a_rule_reads_as_one_condition_a_feature_and_leaves_none_out(conditions: Any, text: str):
    assert str(rule(*conditions)) == text
    assert rule(*conditions).to_dict()["text"] == text


def test_iterating_gives_the_components_and_len_the_cardinality():
    r = rule(("age", ">=", 30), ("age", "<=", 39), ("job", "=", "clerk"))
    assert [(c.feature, c.op, c.value) for c in r] == [("age", ">=", 30), ("age", "<=", 39), ("job", "=", "clerk")]
    assert len(r) == 3
    assert r.conditions() == ("30 <= age <= 39", "job = clerk")
    assert r.to_dict() == {
        "components": [
            {"feature": "age", "op": ">=", "value": 30},
            {"feature": "age", "op": "<=", "value": 39},
            {"feature": "job", "op": "=", "value": "clerk"},
        ],
        "text": "30 <= age <= 39 and job = clerk",
        "cardinality": 3,
    }


def test_rules_are_equal_if_their_components_are_whatever_the_verdict():
    one, two = rule(("age", "<=", 40)), Rule((Component("age", "<=", 40),), Verdict(Standing.PROVED, "tree", 3))
    assert one == two
    assert hash(one) == hash(two)
    assert one != rule(("age", ">=", 40))
    assert one != rule(("age", "<=", 41))
    assert one != rule()


@pytest.mark.parametrize("op", ["<", ">", "==", "!=", "in", ""])
def test_a_condition_uses_one_of_three_signs(op: Any):
    with pytest.raises(InputError, match=r"a condition on 'age' cannot use '.*'; use '<=', '>=' or '='"):
        Component("age", op, 3)


@pytest.mark.parametrize(
    ("standing", "text"),
    [
        (Standing.PROVED, "proved by tree"),
        (Standing.UNREFUTED, "not proved: tree scored 12,345 rows under it and found no exception"),
        (Standing.REFUTED, "refuted: tree found an exception"),
    ],
)
def test_a_verdict_says_what_it_rests_on(standing: Standing, text: str):
    assert str(Verdict(standing, "tree", 12_345)) == text


# -- whom a rule covers -----------------------------------------------------------------------------------------------

CONDITIONS: list[tuple[str, Any, Any, Any]] = [
    ("age", "<=", 40, lambda r: r["age"] <= 40),
    ("age", ">=", 40, lambda r: r["age"] >= 40),
    ("age", "=", 40, lambda r: r["age"] == 40),
    ("rate", "<=", 0.3, lambda r: r["rate"] <= 0.3),
    ("rate", ">=", 0.1, lambda r: r["rate"] >= 0.1),
    ("rate", "=", None, lambda r: r["rate"] != r["rate"]),
    ("rate", "<=", None, lambda r: r["rate"] != r["rate"]),
    ("job", "=", "clerk", lambda r: r["job"] == "clerk"),
    ("job", "=", None, lambda r: not isinstance(r["job"], str)),
    ("edu", "<=", "mid", lambda r: r["edu"] in ("low", "mid")),
    ("edu", ">=", "mid", lambda r: r["edu"] in ("mid", "high")),
    ("edu", "=", "low", lambda r: r["edu"] == "low"),
    ("sure", "=", True, lambda r: r["sure"]),
    ("g", "=", "b", lambda r: r["g_b"] == 1),
    ("g", "=", "(none)", lambda r: r["g_a"] + r["g_b"] == 0),
]


@given(chosen=st.lists(st.sampled_from(CONDITIONS), max_size=4))
def test_a_rule_covers_the_rows_that_meet_every_condition(chosen: list[tuple[str, Any, Any, Any]]):
    r = rule(*(c[:3] for c in chosen))
    expected = [all(c[3](row) for c in chosen) for row in FRAME.to_dict("records")]
    assert r.covers(SPACE, FRAME).tolist() == expected
    assert r.box(SPACE).contains(SPACE.encode(FRAME)).tolist() == expected


def test_a_rule_covers_rows_of_any_kind_of_table():
    frame = pl.DataFrame({"a": [1, 2, None], "b": ["u", "v", "u"]})
    assert rule(("a", "<=", 1)).covers(FeatureSpace.infer(frame), frame).tolist() == [True, False, False]
    array = np.array([[1.0, 2.0], [3.0, NAN]])
    assert rule(("x1", "=", None)).covers(FeatureSpace.infer(array), array).tolist() == [False, True]


@pytest.mark.parametrize(
    ("condition", "message"),
    [
        (("aeg", "<=", 40), "there is no feature 'aeg'; did you mean 'age'"),
        (("job", "<=", "clerk"), "job <= clerk has no meaning: feature 'job' has no order; use '='"),
        (("job", "=", "judge"), "feature 'job' has no category 'judge'; it has 'clerk', 'smith'"),
        (("age", "<=", "old"), "feature 'age' holds numbers, so 'old' cannot be one of its values"),
    ],
)
def test_a_condition_without_meaning_in_the_space_is_refused(condition: Any, message: str):
    with pytest.raises(InputError, match=message):
        rule(condition).box(SPACE)


# -- components as bits -----------------------------------------------------------------------------------------------


@given(i=st.integers(0, 3), k=st.integers(0, 3), subset=st.integers(0, 2**12 - 1))
def test_the_components_of_a_row_hold_of_it_and_a_rule_made_of_them_has_their_box(i: int, k: int, subset: int):
    X = SPACE.encode(FRAME)
    components = Components(SPACE, X[i])
    chosen = components.all & subset
    r = components.rule(chosen)
    assert len(r) == chosen.bit_count()
    assert r.covers(SPACE, FRAME)[i]
    assert r.covers(SPACE, FRAME)[k] == components.box(chosen).contains(X[k : k + 1])[0]
    (dual,) = to_sets(components.duals(X[k : k + 1]))
    assert bool(chosen & dual) != r.covers(SPACE, FRAME)[k]


def test_an_ordered_feature_has_two_components_and_any_other_or_a_missing_value_one():
    ops = [
        [(c.feature, c.op) for c in Components(SPACE, x).rule(Components(SPACE, x).all)] for x in SPACE.encode(FRAME)
    ]
    both = [("age", "<="), ("age", ">=")]
    rest = [("job", "="), ("edu", "<="), ("edu", ">="), ("sure", "="), ("g", "=")]
    assert ops[0] == [*both, ("rate", "<="), ("rate", ">="), *rest]
    assert ops[2] == [*both, ("rate", "="), *rest]


@given(chosen=st.integers(0, 2**200 - 1), n_words=st.integers(4, 6))
def test_bits_words_and_sets_are_the_same(chosen: int, n_words: int):
    assert sum(1 << b for b in bits(chosen)) == chosen
    assert list(bits(chosen)) == sorted(bits(chosen))
    words = to_words(chosen, n_words)
    assert words.shape == (n_words,)
    assert to_sets(words[None]) == [chosen]
    assert to_sets(np.array([[chosen & (2**64 - 1)]], dtype=np.uint64)) == [chosen & (2**64 - 1)]


@given(sets=st.lists(st.integers(0, 255), max_size=12))
def test_the_minimal_sets_contain_no_other(sets: list[int]):
    expected = {s for s in sets if not any(t != s and t & s == t for t in sets)}
    found = minimal(sets)
    assert set(found) == expected
    assert len(found) == len(expected)
    assert [s.bit_count() for s in found] == sorted(s.bit_count() for s in found)


def test_boxes_meet_in_what_both_hold():
    X = SPACE.encode(FRAME)
    one, two = rule(("age", "<=", 40)).box(SPACE), rule(("rate", ">=", 0.2)).box(SPACE)
    assert (one & two).contains(X).tolist() == [False, True, False, True]
    assert Box.everything(len(SPACE)).contains(X).all()
    assert (one & Box.everything(len(SPACE))).contains(X).tolist() == one.contains(X).tolist()
    assert one.allows(0, np.array([40.0, 41.0, NAN])).tolist() == [True, False, False]
    assert one.allows(1, np.array([NAN])).tolist() == [True]
