"""Audits: every category is that of the enumeration."""

from __future__ import annotations

import itertools
import json
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import dueto
from dueto import Component, Rule
from dueto.audit import Category, audited
from dueto.rules import Oracle
from dueto.testing import World, world, worlds
from trials import trials

NOBODY = "no possible applicant whom the constraints allow meets it"
ABOUT_NOBODY = {"cf.f0 + cf.f1 <= 4", "cf.f1 != 1"}


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
    if expected is not Category.NOT_RELEVANT:
        allowed = any(w.feasible(y) and meets(w, y, parts) for y in w.instances)
        assert (NOBODY in one.warnings) is not allowed, told
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


@trials(30)
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
