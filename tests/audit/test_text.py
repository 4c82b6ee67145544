"""Rules that are read are the ones that were written, and an audit reads as what it is."""

from __future__ import annotations

import functools
import json
import re
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dueto
from dueto import Component, FeatureSpace, InputError, Rule
from dueto.audit import Category
from dueto.audit.read import entries, read_rule
from dueto.audit.vocabulary import Vocabulary
from trials import trials

PEOPLE = pd.DataFrame(
    {
        "age": [25, 40, 61, 40, 33],
        "rate": [0.1, 1.5, None, 0.3, 0.7],
        "job": ["clerk", "smith", "clerk", "clerk", "nurse"],
        "edu": pd.Categorical(["low", "high", "low", "mid", "mid"], categories=["low", "mid", "high"], ordered=True),
        "sure": [True, False, True, True, False],
        "g_a": [1, 0, 0, 0, 1],
        "g_b": [0, 1, 1, 0, 0],
    }
)
SPACE = FeatureSpace.infer(PEOPLE, onehot={"g": ["g_a", "g_b"]})


def scores(frame: Any) -> Any:
    return (frame["age"] > 50).to_numpy() * 1.0


def test_a_rule_that_covers_no_row_or_nobody_says_so():
    none, nobody = dueto.audit(["age = 61 and job = smith", "age <= 40 and age >= 61"], scores, PEOPLE, space=SPACE)
    assert (none.rows, none.warnings) == (0, ("no row of the data meets it",))
    assert (nobody.rows, nobody.category) == (0, Category.REDUNDANT)
    assert nobody.warnings == ("no possible applicant whom the constraints allow meets it",)


def test_a_rule_that_constraints_between_features_leave_to_nobody_says_so():
    data = pd.DataFrame({"a": [1, 2, 3, 4], "b": [1, 2, 3, 4]})
    rules = ["a <= 2", "a <= 1 and b <= 3", "a <= 4"]
    found = dueto.audit(rules, lambda t: np.zeros(len(t)), data, constraints="cf.a + cf.b >= 6")
    none = ("no possible applicant whom the constraints allow meets it",)
    assert [one.warnings for one in found] == [(), none, ()]
    (one,) = dueto.audit(["a <= 2"], lambda t: np.zeros(len(t)), data, row=0, constraints="cf.a + cf.b >= 100")
    assert one.warnings == none


def test_an_audit_reads_as_a_table_and_is_data_from_which_it_can_be_done_again():
    rules = ["age <= 40", "age <= 40 and job = clerk", "age >= 40", "job = smith", "age <= 61 and rate is missing"]
    found = dueto.audit(rules, scores, PEOPLE, space=SPACE, constraints="cf.age <= 70")
    assert [one.category.value for one in found] == ["GC minimal", "GC redundant", "FDC", "FGC", "FDC"]
    assert found[1].redundant == (Component("job", "=", "clerk"),)
    text = str(found)
    assert re.search(r"^ +2 +FDC +a row of the data", text, re.MULTILINE)
    assert "row 2 of the data meets it and is accepted: age = 61; rate = missing; job = clerk" in text
    assert "age must be at most 70" in text
    assert found.counts["FDC"] == 2
    data = json.loads(found.to_json())
    assert sum(data["counts"].values()) == data["rules"] == len(found) == 5
    again = dueto.audit(data["judgements"], scores, PEOPLE, space=SPACE, constraints="cf.age <= 70")
    assert again.to_dict() == found.to_dict()
    assert [one.rule for one in found[:2]] == [found[0].rule, found[1].rule]


def read(given: Any, space: FeatureSpace = SPACE, frame: Any = PEOPLE, own: Any = None) -> Rule:
    words = Vocabulary(space, space.encode(frame))
    (entry,) = entries(given)
    return read_rule(entry.rule, words, np.full(len(space), np.nan) if own is None else own)[0]


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("age <= 40", "age <= 40"),
        ("40 >= age", "age <= 40"),
        ("age == 40", "age = 40"),
        ("30 <= age <= 50, job=clerk", "30 <= age <= 50 and job = clerk"),
        ("50 >= age > 33 AND job = clerk", "40 <= age <= 50 and job = clerk"),
        ("(age <= 40) & (job == 'clerk')", "age <= 40 and job = clerk"),
        ("(age <= 40 and job = clerk)", "age <= 40 and job = clerk"),
        ("((age <= 40) and ( job = clerk, (g = (none)) ))", "age <= 40 and job = clerk and g = (none)"),
        ("(" * 3000 + "age <= 40" + ")" * 3000, "age <= 40"),
        ("age => 40", "age >= 40"),
        ("age >= np.float64(40.5) and sure = np.True_", "age >= 40.5 and sure = True"),
        ("job = np.str_('clerk')", "job = clerk"),
        ('"age <= 40 and job = clerk"', "age <= 40 and job = clerk"),
        ('"age" ≤ 40 && `job` = "clerk"', "age <= 40 and job = clerk"),
        ("age < 40", "age <= 33"),
        ("age > 40", "age >= 61"),
        ("age < 25", "age <= 24.999999999999996"),
        ("rate > 0.3", "rate >= 0.7"),
        ("rate <= 1e-1", "rate <= 0.1"),
        ("rate is missing", "rate = missing"),
        ("rate = missing and age <= 28.00", "age <= 28 and rate = missing"),
        ("edu < high", "edu <= mid"),
        ("low < edu <= high", "mid <= edu <= high"),
        ("edu = mid", "edu = mid"),
        ("sure = True", "sure = True"),
        ("sure = 1", "sure = True"),
        ("sure <= 0.5", "sure = False"),
        ("g = (none)", "g = (none)"),
        ("g_a > 0.5", "g = a"),
        ("g_b = 1", "g = b"),
        ("g_a <= 1", "(no condition: everybody)"),
        ("(no condition: everybody)", "(no condition: everybody)"),
        ("age in [30, 40]", "30 <= age <= 40"),
        ("age in ]33, 61[", "age = 40"),
        ([["37.00 < age <= 48.00", "job = clerk", "rate > 0.30"]], "40 <= age <= 48 and rate >= 0.7 and job = clerk"),
        ({"anchor": ["age <= 28.00", "job = clerk"]}, "age <= 28 and job = clerk"),
        ({"meta": {"name": "AnchorTabular"}, "data": {"anchor": ["age <= 28.00"], "precision": 1.0}}, "age <= 28"),
        ({"anchor": "age <= 28.00 and job = clerk"}, "age <= 28 and job = clerk"),
        ({"components": "age <= 28"}, "age <= 28"),
        (SimpleNamespace(anchor=["age > 28.00"]), "age >= 33"),
        (SimpleNamespace(anchor=[]), "(no condition: everybody)"),
        (
            [{"feature": "age", "op": "<=", "value": 40}, {"feature": "job", "op": "=", "value": "clerk"}],
            "age <= 40 and job = clerk",
        ),
        ('[{"feature": "rate", "op": "=", "value": null}]', "rate = missing"),
        ([("age", "<=", 40.5), ("g", "=", "a")], "age <= 40.5 and g = a"),
        (("age", ">", np.int64(33)), "age >= 40"),
        ({"age": [{"name": "age", "operator_sign_considered": "GT", "threshold": 32.5}]}, "age >= 33"),
        (Rule((Component("age", "=", 40),)), "age = 40"),
        (Rule((Component("age", "<=", 40),)).to_dict(), "age <= 40"),
        ({"rule": Rule((Component("age", "<=", 40),)).to_dict()}, "age <= 40"),
        ({"rule": "age <= 40", "row": 3}, "age <= 40"),
    ],
)
def test_a_rule_is_read_in_every_form(text: Any, rule: str):
    assert str(read(text)) == rule


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("agee <= 40", "rule 1: .*there is no feature 'agee'; did you mean 'age'"),
        ("40 >= agee", "rule 1: .*there is no feature 'agee'; did you mean 'age'"),
        ("age <= 40\n\njob = clerk and agee <= 40", "line 3: 'agee <= 40' cannot be read: .*did you mean 'age'"),
        (["age <= 40", "agee <= 40"], "rule 2: .*'agee'"),
        ("age <= forty", "feature 'age' holds numbers, so 'forty'"),
        ("agee in [1, 2]", "there is no feature 'agee'"),
        ("age <= 40 years and job = clerk", "'age <= 40 years' cannot be read"),
        ("age <= 1,000", "'000' is no condition; .*without commas"),
        ("age <= 40 or job = clerk", "cannot be read"),
        ("age", "'age' is no condition"),
        ("age <= 40 and", "no condition stands after the last 'and'; leave it out"),
        ("(age <= 40,)", "no condition stands after the last ','"),
        ("(age <= 40 and job = clerk", "a bracket is not closed"),
        ("age <= 40 and job = clerk)", "a bracket is closed that was not opened"),
        ("(age <= 40 and jobb = clerk)", "did you mean 'job'"),
        ("(agee <= np.float64(40) and job = clerk)", "did you mean 'age'"),
        (" and ".join(["age <= 40"] * 3000 + ["agee <= 40"]), "rule 1: 'agee <= 40' cannot be read"),
        ("", "no rule to audit"),
        ([], "no rule to audit"),
        ("age <= 1e999", "no bound"),
        ("age != 40", "refused: a rule says what holds"),
        ("sure != True", "write sure = False"),
        ("job = clark", "no category 'clark'; it has 'clerk'"),
        ("job <= clerk", "'job' has no order; use '='"),
        ("age <= missing", "neither less nor more"),
        ("edu < low", "true of nobody: that is the lowest label"),
        ("g_a <= 0.5", "one of 'b', '\\(none\\)', and a rule names one label"),
        ("g_a > 1", "none of"),
        ("[1, 2", "no JSON"),
        ({"a": 1}, "a mapping with 'a' is no rule"),
        ({"components": [{"feature": "age", "op": "<="}]}, "has no 'value'"),
        ({"components": [{"feature": "age", "op": "~", "value": 1}]}, "cannot use '~'"),
        ({"components": [3]}, "3 is no condition"),
        ({"components": 5}, "rule 1: 'components' must be a list of conditions, got 5"),
        ({"data": {"anchor": None}}, "rule 1: 'anchor' must be a list of conditions, got None"),
        (["age <= 40", SimpleNamespace(anchor=5)], "rule 2: 'anchor' must be a list of conditions, got 5"),
        ("[3]", "rule 1: 3 is no rule"),
        ('{"rule": null}', "rule 1: None is no rule"),
        ('[["age", "<=", 1' + "0" * 400 + "]]", "rule 1: age <= 10+ is no bound"),
        ('[["age", "<=", 1' + "0" * 5000 + "]]", "this JSON cannot be read"),
        ("[" * 5000, "^brackets are nested too deep; give a rule as a flat list"),
        ("[" * 500 + "]" * 500, r"rule 1: \[.{,20}\] is no condition"),
        (functools.reduce(lambda rule, _: {"rule": rule}, range(5000), "age <= 40"), "rule 1: brackets are nested"),
        ({"rule": "age <= 40", "row": "0"}, "rule 1: its 'row' must be a whole number, .* got '0'"),
        ({"rule": "age <= 40", "applicant": 5}, "rule 1: its 'applicant' must name each feature .*; give the row"),
        ({"rule": "age <= 40", "row": 99}, "there is no row 99"),
        ({"rule": "age <= 40", "applicant": {"age": 3}}, "the applicant that it came with has no 'rate'"),
    ],
)
def test_what_is_no_rule_is_refused_with_where_what_and_what_to_do(given: Any, message: str):
    with pytest.raises(InputError, match=message):
        dueto.audit(given, scores, PEOPLE, space=SPACE)


def test_what_is_of_no_kind_that_says_a_rule_is_a_type_error():
    for thing in (3, [3], {1: 2}.keys()):
        with pytest.raises(TypeError, match="is no rule"):
            dueto.audit(thing, scores, PEOPLE, space=SPACE)


def test_a_constraint_on_the_present_applicant_needs_one():
    for constraint in ("cf.age >= x.age", 'fixed("age")'):
        with pytest.raises(InputError, match="speaks of the present applicant; give the row"):
            dueto.audit("age <= 40", scores, PEOPLE, space=SPACE, constraints=constraint)


def test_files_are_read_by_line_or_as_json_and_errors_name_them(tmp_path: Any):
    path = tmp_path / "rules.txt"
    path.write_text("# from the bank\nage <= 40\n\njob = smith\n")
    assert [str(one.rule) for one in dueto.audit(path, scores, PEOPLE, space=SPACE)] == ["age <= 40", "job = smith"]
    path.write_text("age <= 40\njobb = smith\n")
    with pytest.raises(InputError, match=r"rules\.txt, line 2: .*did you mean 'job'"):
        dueto.audit(path, scores, PEOPLE, space=SPACE)
    path.write_text('["age <= 40",\n')
    with pytest.raises(InputError, match=r"rules\.txt, line 2: this is no JSON"):
        dueto.audit(path, scores, PEOPLE, space=SPACE)
    path.write_text('[["age", "<=", 40], 5]')
    with pytest.raises(InputError, match=r"rules\.txt, rule 2: 5 is no rule"):
        dueto.audit(path, scores, PEOPLE, space=SPACE)
    with pytest.raises(InputError, match="cannot read"):
        dueto.audit(tmp_path / "none.txt", scores, PEOPLE, space=SPACE)


@pytest.mark.parametrize("text", ["age <= 40", '["age <= 40"]', '"age <= 40"', "# of the bank\r\nage <= 40\r\n"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
def test_files_may_begin_with_the_mark_of_windows_editors(tmp_path: Any, text: str, encoding: str):
    rules, constraints = tmp_path / "rules.json", tmp_path / "bank.plaf"
    rules.write_text(text, encoding=encoding, newline="")
    constraints.write_text("cf.age <= 70\r\n", encoding=encoding, newline="")
    found = dueto.audit(rules, scores, PEOPLE, space=SPACE, constraints=constraints)
    assert [str(one.rule) for one in found] == ["age <= 40"]
    assert found.constraints == ("age must be at most 70",)


@pytest.mark.parametrize("condition", ["age <= {}", "age <= 40", "age <= 40 and rate is missing"])
def test_any_number_of_conditions_is_read_and_judged(condition: str):
    text = " and ".join(condition.format(40 + i) for i in range(3000))
    (one,) = dueto.audit(text, scores, PEOPLE, space=SPACE)
    assert len(one.rule) == 3000 * (1 + condition.count("and"))
    assert one.category is Category.REDUNDANT
    assert len(one.redundant) == len(one.rule) - 1
    assert set(one.rule) - set(one.redundant) <= {Component("age", "<=", 40)}


@trials(60)
@given(st.lists(st.sampled_from(["age <= 40", "30 < age", "job = clerk", "g = (none)", "rate is missing"])), st.data())
def test_brackets_around_conditions_change_nothing(conditions: list[str], data: Any):
    flat = list(conditions)
    while len(conditions) > 1:
        cut = data.draw(st.integers(2, len(conditions)))
        conditions = [f"({' and '.join(conditions[:cut])})", *conditions[cut:]]
    text = "".join(conditions) or "(no condition: everybody)"
    assert read(text) == read([flat])
    if flat:
        for broken in (f"({text}", f"{text})"):
            with pytest.raises(InputError, match=r"a bracket is (not closed|closed that was not opened)"):
                read(broken)


def test_numbered_columns_are_features_by_number():
    frame = pd.DataFrame({0: [1, 2, 3], 5: [4, 5, 6]})
    space = FeatureSpace.infer(frame)
    assert read("0 <= 5 and 4 <= 5 <= 5", space, frame).components == (
        Component("0", "<=", 5),
        Component("5", ">=", 4),
        Component("5", "<=", 5),
    )
    found = read([{"feature": 5, "op": ">", "value": 4}], space, frame)
    assert str(found) == '"5" >= 5'
    assert read(str(found), space, frame) == found
    array = frame.to_numpy()
    assert str(read([{"feature": 1, "op": ">", "value": 4}], FeatureSpace.infer(array), array)) == "x1 >= 5"


def test_a_text_with_two_meanings_is_refused():
    frame = pd.DataFrame({"job": ["clerk", "clerk and age <= 4"], "age": [4, 5]})
    space = FeatureSpace.infer(frame)
    with pytest.raises(InputError, match="in two ways; put names and labels in quotes"):
        read("job = clerk and age <= 4", space, frame)
    assert len(read('job = "clerk" and age <= 4', space, frame)) == 2
    assert len(read('job = "clerk and age <= 4"', space, frame)) == 1


PLAIN, WILD = "ab1 -,.&()and", "ab1 -,.&<=>!()and"


@st.composite
def awkward(draw: Any, letters: str) -> tuple[FeatureSpace, Any, Rule]:
    """A space with awkward names and labels, and a rule over it."""
    word = st.text(st.sampled_from(letters), min_size=1, max_size=8).map(str.strip).filter(bool)
    columns: dict[str, Any] = {}
    for i, name in enumerate(draw(st.lists(word, min_size=1, max_size=4, unique=True))):
        values = word if i % 2 else st.floats(-1e6, 1e6) | st.integers(-9, 9)
        columns[name] = draw(st.lists(values, min_size=4, max_size=4))
    frame = pd.DataFrame(columns)
    space = FeatureSpace.infer(frame)
    parts = []
    for feature in space.features:
        low, high = sorted(draw(st.sampled_from(feature.domain.values.tolist())) for _ in range(2))
        ends = ((">=", low), ("<=", high)) if feature.ordered else (("=", low),)
        parts += [Component(feature.name, op, feature.label(v)) for op, v in ends if draw(st.booleans())]
    return space, frame, Rule(tuple(parts))


def same_box(a: Rule, b: Rule, space: FeatureSpace) -> bool:
    one, two = a.box(space), b.box(space)
    return all(np.array_equal(getattr(one, end), getattr(two, end)) for end in ("low", "high", "missing"))


@trials(60)
@given(awkward(PLAIN))
def test_a_printed_rule_is_read_back_or_said_to_have_two_meanings(drawn: tuple[FeatureSpace, Any, Rule]):
    space, frame, rule = drawn
    try:
        found = read(str(rule), space, frame)
    except InputError as problem:
        found = rule if "in two ways" in str(problem) else Rule((Component("neither", "=", None),))
    assert same_box(found, rule, space)


@trials(60)
@given(awkward(WILD))
def test_with_quotes_any_rule_is_read_back(drawn: tuple[FeatureSpace, Any, Rule]):
    space, frame, rule = drawn
    values = [json.dumps(c.value) if isinstance(c.value, str) else repr(c.value) for c in rule]
    text = " and ".join(f"{json.dumps(c.feature)} {c.op} {value}" for c, value in zip(rule, values, strict=True))
    assert same_box(read(text or "(no condition: everybody)", space, frame), rule, space)
    assert not len(rule) or same_box(read(rule.to_dict(), space, frame), rule, space)


@trials(60)
@given(
    st.lists(st.integers(-5, 5) | st.floats(-5, 5, allow_subnormal=False), min_size=1, max_size=6),
    st.integers(-6, 6) | st.floats(-6, 6),
    st.floats(-6, 6),
    st.sampled_from(["<", ">"]),
    st.sampled_from([None, {"low": -4, "high": 4}]),
)
def test_a_strict_bound_lets_in_just_those_beyond_it(values: Any, bound: Any, own: float, op: str, declared: Any):
    frame = pd.DataFrame({"f": [float(v) for v in values]})
    space = FeatureSpace.infer(frame)
    space = space if declared is None else space.declare({"f": declared})
    rule = read(f"f {op} {bound!r}", space, frame, np.array([own]))
    drawn = np.linspace(-4, 4, 81) if declared else np.empty(0)
    everybody = np.concatenate([frame["f"], drawn, [own, bound, np.nextafter(bound, 9.0), np.nextafter(bound, -9.0)]])
    known = everybody if declared else everybody[:-3]
    expected = known < bound if op == "<" else known > bound
    assert rule.box(space).contains(known[:, None]).tolist() == expected.tolist()
