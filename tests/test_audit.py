"""Audits: every category is that of the enumeration, and every rule that is read is the one that was written."""

from __future__ import annotations

import itertools
import json
import re
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import dueto
from dueto import Component, FeatureSpace, InputError, Rule
from dueto.audit import Category, audited
from dueto.audit.read import entries, read_rule
from dueto.audit.vocabulary import Vocabulary
from dueto.rules import Oracle
from dueto.testing import World, world, worlds

ABOUT_NOBODY = {"cf.f0 + cf.f1 <= 4", "cf.f1 != 1"}


# -- categories, against enumeration ----------------------------------------------------------------------------------


def meets(w: World, y: Any, parts: Any) -> bool:
    """Whether an instance meets some components, in plain Python."""
    value = {f.name: f.label(v) for f, v in zip(w.space.features, y, strict=True)}

    def holds(c: Component) -> bool:
        v, code = value[c.feature], w.space[c.feature].code
        if v is None or c.value is None:
            return v is None and c.value is None
        return {"<=": code(v) <= code(c.value), ">=": code(v) >= code(c.value), "=": v == c.value}[c.op]

    return all(map(holds, parts))


def random_rule(w: World, rng: np.random.Generator, *, own: bool) -> tuple[Component, ...]:
    """Some components, on the values of the row or on others."""
    found = []
    for j, feature in enumerate(w.space.features):
        x = feature.label(w.x[j])
        if not feature.ordered or (x is None and rng.random() < 0.7):
            if rng.random() < 0.4:
                found.append(Component(feature.name, "=", x))
            continue
        for op in ("<=", ">="):
            if rng.random() < 0.5:
                free = float(rng.integers(-1, 9)) / 2
                found.append(Component(feature.name, op, x if own and x is not None else free))
    return tuple(found)


def needed(w: World, rng: np.random.Generator) -> tuple[Component, ...]:
    """A consistent rule on the values of the row that can lose nothing, but need not be shortest."""
    parts = every = own_components(w)
    for dropped in rng.permutation(len(parts)):
        fewer = [c for c in parts if c != every[dropped]]
        if not any(meets(w, y, fewer) for y in w.counterfactuals):
            parts = fewer
    return tuple(parts)


def own_components(w: World) -> list[Component]:
    found = []
    for feature, v in zip(w.space.features, w.x, strict=True):
        two = feature.ordered and not np.isnan(v)
        found += [Component(feature.name, op, feature.label(v)) for op in (("<=", ">=") if two else ("=",))]
    return found


def least(w: World) -> int:
    """How many components the shortest consistent rule over the row's own values has, by trying all.

    Those that ask of a feature what has to change are left out, unless nothing else is consistent.
    """
    every = own_components(w)
    oracle = Oracle(w.query, dueto.GeCo(), np.random.default_rng(0))
    idle = list(oracle.components.rule(oracle.must))
    for parts in ([c for c in every if c not in idle], every):
        for size in range(len(parts) + 1):
            for chosen in itertools.combinations(parts, size):
                if not any(meets(w, y, chosen) for y in w.counterfactuals):
                    return size
    raise AssertionError("the row itself is accepted")


def check(w: World, parts: tuple[Component, ...], one: dueto.Judgement, *, relative: bool) -> Category:
    """The category is what the enumeration says, and so is all that comes with it."""

    def escaped(some: Any) -> bool:
        return any(meets(w, y, some) for y in w.counterfactuals)

    told = f"{one.rule} under {[str(c) for c in w.constraints]} for {w.x.tolist() if relative else None}: {one}"
    good = [i for i, y in enumerate(w.X) if w.has(y) and meets(w, y, parts)]
    fewer = [parts[:i] + parts[i + 1 :] for i in range(len(parts))]
    assert sorted(one.rule.components, key=str) == sorted(parts, key=str)
    assert one.rows == sum(meets(w, y, parts) for y in w.X), told
    assert one.support.accepted - one.barred == len(good), told
    if relative and not meets(w, w.x, parts):
        expected = Category.NOT_RELEVANT
        assert one.broken == tuple(c for c in one.rule if not meets(w, w.x, [c])), told
    elif good:
        expected = Category.FDC
        assert one.data_row in good, told
        assert one.counterexample == named(w, w.X[one.data_row]), told
    elif escaped(parts):
        expected = Category.FGC
        assert one.data_row is None, told
        assert any(named(w, y) == one.counterexample and meets(w, y, parts) for y in w.counterfactuals), told
    elif any(not escaped(some) for some in fewer):
        expected = Category.REDUNDANT
        rest = tuple(c for c in one.rule if c not in one.redundant)
        assert one.redundant, told
        assert not escaped(rest), told
        assert all(escaped([c for c in rest if c is not dropped]) for dropped in rest), told
    elif relative and (size := least(w)) < len(parts):
        expected = Category.NOT_MINIMAL
        assert one.shorter is not None, told
        assert len(one.shorter) == size == one.at_least, told
        assert not escaped(one.shorter.components), told
        assert meets(w, w.x, one.shorter.components), told
    else:
        expected = Category.MINIMAL
    assert one.category is expected, told
    assert one.proved, told
    return expected


def named(w: World, y: Any) -> dict[str, Any]:
    return {f.name: f.label(v) for f, v in zip(w.space.features, y, strict=True)}


def explainer_of(w: World) -> dueto.Explainer:
    return dueto.Explainer(w.model, w.space.decode(w.X), space=w.space, constraints=w.constraints)


@pytest.mark.parametrize("kind", ["scores", "tree", "forest", "boosting", "linear"])
def test_the_category_of_a_rule_is_that_of_the_enumeration(kind: str):
    seen = set()
    for w in worlds(range(30), kind=kind):
        rng = np.random.default_rng(len(w.X))
        rules = [*(random_rule(w, rng, own=i % 3 > 0) for i in range(6)), needed(w, rng), needed(w, rng)]
        row = next(i for i, y in enumerate(w.X) if np.array_equal(y, w.x, equal_nan=True))
        found = audited(explainer_of(w), list(map(Rule, rules)), row=row)
        seen |= {check(w, parts, one, relative=True) for parts, one in zip(rules, found, strict=True)}
    assert seen == set(Category) - {Category.UNREFUTED, Category.CONSISTENT}


@pytest.mark.parametrize("kind", ["scores", "tree", "forest"])
def test_the_category_of_a_rule_about_nobody_in_particular_is_that_of_the_enumeration(kind: str):
    seen = set()
    for w in worlds(range(100, 160), kind=kind):
        if not {str(c) for c in w.constraints} <= ABOUT_NOBODY:
            continue
        rng = np.random.default_rng(len(w.X))
        rules = [random_rule(w, rng, own=i % 2 > 0) for i in range(6)]
        found = audited(explainer_of(w), list(map(Rule, rules)))
        seen |= {check(w, parts, one, relative=False) for parts, one in zip(rules, found, strict=True)}
    assert seen == {Category.FDC, Category.FGC, Category.REDUNDANT, Category.MINIMAL}


@settings(max_examples=30)
@given(st.integers(0, 2**31), st.sampled_from(["scores", "tree", "forest"]))
def test_one_rule_alone_is_judged_as_among_others(seed: int, kind: str):
    w = world(seed, kind=kind)
    assume(w is not None)
    assert w is not None
    rule = Rule(random_rule(w, np.random.default_rng(seed), own=True))
    row = next(i for i, y in enumerate(w.X) if np.array_equal(y, w.x, equal_nan=True))
    (one,) = audited(explainer_of(w), rule, row=row)
    check(w, rule.components, one, relative=True)


def test_a_row_that_is_not_in_the_data_may_have_values_that_nobody_has():
    data = pd.DataFrame({"age": [20, 30, 50, 60], "debt": [1, 9, 1, 9]})

    def model(frame: Any) -> Any:
        return ((frame["age"] > 41) | (frame["debt"] < 5)).astype(float)

    (one,) = dueto.audit("age < 41 and debt > 1", model, data, row={"age": 40.5, "debt": 9})
    assert one.rule.components == (Component("age", "<=", 40.5), Component("debt", ">=", 9))
    assert one.category is Category.MINIMAL


def test_a_row_that_is_accepted_itself_refutes_its_rules():
    data = pd.DataFrame({"age": [20, 30, 50]})
    (one,) = dueto.audit("age >= 25", lambda t: (t["age"] > 40) * 1.0, data, row={"age": 45})
    assert (one.category, one.counterexample, one.by) == (Category.FDC, {"age": 50}, "a look at the data")
    (one,) = dueto.audit("42 <= age <= 46", lambda t: (t["age"] > 40) * 1.0, data, row={"age": 45})
    assert (one.category, one.counterexample) == (Category.FGC, {"age": 45})
    assert "is accepted as it is" in one.warnings[-1]


def test_a_finders_rules_are_minimal_for_the_row_that_they_came_with():
    loans = dueto.datasets.load_german_credit()
    from sklearn.tree import DecisionTreeClassifier

    table = loans.frame.select_dtypes("number")
    explainer = dueto.Explainer(
        DecisionTreeClassifier(max_leaf_nodes=20, random_state=0).fit(table, loans.target), table
    )
    explained = [explainer.explain(int(row)) for row in explainer.refused[:4]]
    for rules in (explained, json.dumps([{"row": 5, **json.loads(e.to_json())} for e in explained])):
        found = audited(explainer, rules)
        assert [one.category for one in found] == [Category.MINIMAL] * 4
        assert [one.rule for one in found] == [e.rule for e in explained]
        assert [one.at_least for one in found] == [len(e.rule) for e in explained]
        assert explained[0].label in str(found)


def black_box(frame: Any) -> Any:
    X = np.asarray(frame, dtype=float)
    return (np.sin(X * 3).sum(axis=1) > 1.0).astype(float)


def test_what_only_a_search_says_is_never_called_proved_nor_minimal():
    data = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 5)).round(2), columns=list("abcde"))
    explainer = dueto.Explainer(black_box, data)
    narrow = "0.9 <= a <= 2 and 0.9 <= b <= 2 and 0.9 <= c <= 2"
    (one,) = audited(explainer, narrow)
    if one.category is not Category.FDC:
        assert one.category in (Category.UNREFUTED, Category.FGC)
    never = [f"{name} >= {data[name].max()}" for name in data]  # one applicant is left: enumerated, so proved
    (one,) = audited(explainer, [[*never, *(f"{name} <= {data[name].max()}" for name in data)]])
    assert one.consistent is not None


def test_a_black_box_without_a_known_exception_is_not_refuted():
    data = pd.DataFrame(np.random.default_rng(1).normal(size=(60, 5)).round(2), columns=list("abcde"))
    (one,) = dueto.audit("a <= 0", lambda t: np.zeros(len(t)), data, row=int(data["a"].argmin()))
    assert one.category is Category.UNREFUTED
    assert not one.proved
    assert one.consistent is None
    assert one.rows_scored > 100
    assert f"scored {one.rows_scored:,} rows and found no exception, which proves nothing" in str(one).replace(
        "\n ", ""
    )


@pytest.mark.parametrize("other", [False, True])
def test_whether_a_long_rule_of_a_black_box_could_be_shorter_may_stay_undecided(other: bool):
    data = pd.DataFrame(np.random.default_rng(2).integers(-20, 20, (80, 8)), columns=list("abcdefgh"))
    data.iloc[0] = 0
    fixed = list("abcdef")

    def model(frame: Any) -> Any:
        refused = (frame[fixed] == 0).all(axis=1) | (other & (frame["g"] <= 0))
        return (~refused).to_numpy() * 1.0

    rule = " and ".join(f"{name} = 0" for name in fixed)
    (one,) = dueto.audit(rule, model, data, row=0)
    assert one.consistent
    assert one.category is (Category.CONSISTENT if other else Category.MINIMAL)  # g <= 0 holds, which nobody can prove
    assert one.proved is not other
    assert one.at_least == (1 if other else len(one.rule) == 12 and 12)
    assert ("whether a shorter rule, of at least 1 component" in " ".join(str(one).split())) is other


# -- warnings and text ------------------------------------------------------------------------------------------------

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


# -- reading ----------------------------------------------------------------------------------------------------------


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
        ("age <= 40 and", "no condition|cannot be read"),
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
    with pytest.raises(InputError, match="cannot read"):
        dueto.audit(tmp_path / "none.txt", scores, PEOPLE, space=SPACE)


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


@settings(max_examples=60)
@given(awkward(PLAIN))
def test_a_printed_rule_is_read_back_or_said_to_have_two_meanings(drawn: tuple[FeatureSpace, Any, Rule]):
    space, frame, rule = drawn
    try:
        found = read(str(rule), space, frame)
    except InputError as problem:
        found = rule if "in two ways" in str(problem) else Rule((Component("neither", "=", None),))
    assert same_box(found, rule, space)


@settings(max_examples=60)
@given(awkward(WILD))
def test_with_quotes_any_rule_is_read_back(drawn: tuple[FeatureSpace, Any, Rule]):
    space, frame, rule = drawn
    values = [json.dumps(c.value) if isinstance(c.value, str) else repr(c.value) for c in rule]
    text = " and ".join(f"{json.dumps(c.feature)} {c.op} {value}" for c, value in zip(rule, values, strict=True))
    assert same_box(read(text or "(no condition: everybody)", space, frame), rule, space)
    assert not len(rule) or same_box(read(rule.to_dict(), space, frame), rule, space)


@settings(max_examples=60)
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
