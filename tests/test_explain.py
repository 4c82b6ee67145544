"""The front door: every figure of an explanation recomputed from the table and the model's own predictions."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

import dueto
from dueto import Explainer, FeatureSpace, GeCo, InputError, Standing, Status, cf, explain, fixed, together, x
from dueto.datasets import load_german_credit
from trials import trials

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from dueto import Explanation

GERMAN = load_german_credit()
NUMBERS = [c for c in GERMAN.frame if GERMAN.frame[c].dtype.kind == "i"]
GROUPS = ["checking_account", "savings"]
FRAME = pd.get_dummies(GERMAN.frame[[*NUMBERS, *GROUPS]].astype(dict.fromkeys(GROUPS, "str")), dtype=int)
ONEHOT = {name: [c for c in FRAME if c.startswith(name)] for name in GROUPS}
TREE = DecisionTreeClassifier(max_depth=6, random_state=0).fit(FRAME, GERMAN.target)
SPACE = FeatureSpace.infer(FRAME, onehot=ONEHOT)
GOOD = TREE.predict_proba(FRAME)[:, 1] > 0.5
REFUSED = np.flatnonzero(~GOOD)[:40:10].tolist()

TINY = pd.DataFrame({"income": [12, 22, 35, 41, 50], "debt": [40, 32, 32, 10, 5]})


def tiny(frame: Any) -> Any:
    return ((frame["income"] > 22) | (frame["debt"] < 32)) * 1.0


# -- a second opinion -------------------------------------------------------------------------------------------------


def columns_of(feature: str) -> list[str]:
    return ONEHOT.get(feature, [feature])


def with_value(row: dict[str, Any], feature: str, value: Any) -> dict[str, Any]:
    """The raw row with one feature changed to a value as explanations write it."""
    if feature not in ONEHOT:
        return row | {feature: value}
    return row | {c: int(c == f"{feature}_{value}") for c in ONEHOT[feature]}


def value_in(row: dict[str, Any], feature: str) -> Any:
    if feature not in ONEHOT:
        return row[feature]
    return next(c.removeprefix(f"{feature}_") for c in ONEHOT[feature] if row[c])


def meets(value: Any, op: str, bound: Any) -> bool:
    return bool({"<=": lambda: value <= bound, ">=": lambda: value >= bound, "=": lambda: value == bound}[op]())


def step(feature: str, a: Any, b: Any) -> float:
    if feature in ONEHOT:
        return float(a != b)
    return abs(a - b) / float(FRAME[feature].max() - FRAME[feature].min())


def cost(steps: list[float]) -> float:
    n = len(SPACE)
    return (sum(s > 0 for s in steps) / n + sum(steps) / n + math.sqrt(sum(s * s for s in steps) / n) + max(steps)) / 4


def leaves() -> list[dict[str, tuple[float, float]]]:
    """Where the tree gives credit: bounds low < value <= high of the raw columns, leaf by leaf."""
    tree, found = TREE.tree_, []
    open_nodes: list[tuple[int, dict[str, tuple[float, float]]]] = [(0, {})]
    while open_nodes:
        node, bounds = open_nodes.pop()
        if tree.children_left[node] >= 0:
            column, t = FRAME.columns[tree.feature[node]], tree.threshold[node]
            low, high = bounds.get(column, (-math.inf, math.inf))
            open_nodes.append((tree.children_left[node], bounds | {column: (low, min(high, t))}))
            open_nodes.append((tree.children_right[node], bounds | {column: (max(low, t), high)}))
        elif tree.value[node][0, 1] > 0.5:
            found.append(bounds)
    return found


def choices(row: dict[str, Any], feature: str, rule: Any) -> pd.DataFrame:
    """What a feature can be under a rule, column by column, and how far that is from the row."""
    here = value_in(row, feature)
    values = dict.fromkeys([here, *(labels(feature) if feature in ONEHOT else FRAME[feature].unique().tolist())])
    kept = [v for v in values if all(meets(v, c.op, c.value) for c in rule if c.feature == feature)]
    columns = [with_value({}, feature, v) | {"step": step(feature, here, v)} for v in kept]
    return pd.DataFrame(columns, columns=[*columns_of(feature), "step"])


def least_cost(row: dict[str, Any], rule: Any = ()) -> float:
    """The cost of the nearest of all possible applicants who get the credit, inf if none does, leaf by leaf.

    A rule's conditions restrict the applicants; the values of each feature are those of the table.
    """
    least, tables = math.inf, {feature: choices(row, feature, rule) for feature in SPACE.names}
    for bounds in leaves():
        steps = []
        for table in tables.values():
            inside = np.ones(len(table), dtype=bool)
            for column in set(bounds) & set(table):
                low, high = bounds[column]
                inside &= (table[column] > low) & (table[column] <= high)
            steps.append(table["step"][inside].min() if inside.any() else math.inf)
        if max(steps) < math.inf:
            least = min(least, cost(steps))
    return least


def labels(feature: str) -> list[str]:
    return [c.removeprefix(f"{feature}_") for c in ONEHOT[feature] if FRAME[c].any()]


def score(row: dict[str, Any]) -> float:
    return float(TREE.predict_proba(pd.DataFrame([row])[list(FRAME)])[0, 1])


def check(e: Explanation, row: dict[str, Any]) -> None:
    """Every figure of an explanation of a row of FRAME by TREE, without constraints."""
    assert e.applicant == {feature: value_in(row, feature) for feature in SPACE.names}
    assert e.score == score(row) <= 0.5
    assert e.desired is True
    # the rule
    covered = np.ones(len(FRAME), dtype=bool)
    for c in e.rule:
        assert meets(value_in(row, c.feature), c.op, c.value)
        column = f"{c.feature}_{c.value}" if c.feature in ONEHOT else c.feature
        covered &= [meets(v, c.op, 1 if c.feature in ONEHOT else c.value) for v in FRAME[column]]
    s = e.support
    assert (s.rows, s.refused_in_all) == (len(FRAME), (~GOOD).sum())
    assert (s.refused, s.accepted) == ((covered & ~GOOD).sum(), (covered & GOOD).sum())
    assert e.rule.verdict is not None
    assert e.rule.verdict.standing is Standing.PROVED
    assert least_cost(row, e.rule) == math.inf
    for i in range(len(e.rule)):
        assert least_cost(row, e.rule.components[:i] + e.rule.components[i + 1 :]) < math.inf
    # the changes
    assert e.status is Status.OPTIMAL
    assert [c.rank for c in e.counterfactuals] == list(range(1, len(e.counterfactuals) + 1))
    assert [c.cost for c in e.counterfactuals] == sorted(c.cost for c in e.counterfactuals)
    assert e.counterfactuals[0].cost == pytest.approx(least_cost(row))
    for counterfactual in e.counterfactuals:
        changed, steps = row, []
        for change in counterfactual.changes:
            assert change.before == value_in(row, change.feature) != change.after
            changed = with_value(changed, change.feature, change.after)
            steps.append(step(change.feature, change.before, change.after))
            assert change.after in (labels(change.feature) if change.feature in ONEHOT else set(FRAME[change.feature]))
        assert counterfactual.score == score(changed) > 0.5
        assert counterfactual.cost == pytest.approx(cost(steps))
        for change in counterfactual.changes:
            assert score(with_value(changed, change.feature, change.before)) <= 0.5
        assert not all(meets(value_in(changed, c.feature), c.op, c.value) for c in e.rule)
    check_words(e)


def check_words(e: Explanation) -> None:
    """What is printed says all of it, and JSON holds nothing but JSON."""
    text = " ".join(str(e).split())
    assert text.startswith(f"{e.label} is refused")
    for condition in e.rule.conditions():
        assert f"- {condition}" in text or not len(e.rule)
    for c in e.counterfactuals:
        assert f"{c.rank}. {c} " in text
    for constraint in e.constraints:
        assert f"- {constraint}" in text
    found = json.loads(e.to_json(), parse_constant=lambda constant: pytest.fail(f"{constant} is no JSON"))
    assert found == json.loads(json.dumps(e.to_dict()))
    assert found["rule"]["text"] == str(e.rule)
    assert len(found["counterfactuals"]) == len(e.counterfactuals)


def same_answer(one: Explanation, two: Explanation) -> bool:
    """Equal but for the time taken, what is counted anew for each call, and the fingerprints of data and model."""
    mine, theirs = (e.to_dict() | {"seconds": 0, "rows_scored": 0, "label": "", "provenance": {}} for e in (one, two))
    return bool(mine == theirs)


# -- every figure -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("i", REFUSED)
def test_every_figure_is_right_for_a_row_of_the_data(i: int):
    e = explain(TREE, FRAME, i, space=SPACE)
    assert e.label == f"Row {i}"
    check(e, FRAME.iloc[i].to_dict())


@pytest.mark.parametrize("i", REFUSED[:2])
def test_every_figure_is_right_for_an_applicant_who_is_not_in_the_data(i: int):
    row = FRAME.iloc[i].to_dict() | {"age": 200, "credit_amount": FRAME["credit_amount"].iloc[i] + 1}
    row["credit_amount"] += row["credit_amount"] in set(FRAME["credit_amount"])
    if score(row) <= 0.5:
        e = explain(TREE, FRAME, row, space=SPACE)
        assert e.label == "This row"
        check(e, row)


def test_every_row_scored_is_counted():
    calls: list[int] = []

    def counted(frame: Any) -> Any:
        calls.append(len(frame))
        return tiny(frame)

    explainer = Explainer(counted, TINY)
    assert sum(calls) == 0
    for row in (1, 0, {"income": 3, "debt": 39}):
        before = sum(calls)
        for ask in (explainer.explain, explainer.changes):
            assert ask(row).rows_scored == sum(calls) - before
            before = sum(calls)


def test_the_changes_alone_are_those_of_the_whole_explanation():
    explainer = Explainer(TREE, FRAME, space=SPACE)
    for i in REFUSED[:3]:
        e, changes, answer = explainer.explain(i, k=3), explainer.changes(i, k=3), explainer.counterfactuals(i, k=3)
        assert changes.counterfactuals == e.counterfactuals
        assert (changes.status, changes.score, changes.applicant) == (e.status, e.score, e.applicant)
        assert answer.distances.tolist() == [c.cost for c in e.counterfactuals]
        assert "due to" not in str(changes)


# -- whatever the table, the row, the order ---------------------------------------------------------------------------


def tables() -> dict[str, tuple[Any, Any, Any, Callable[[int], Any]]]:
    """Kinds of table with the same numbers: a model fitted on it, the table, and a row's values."""
    numbers = FRAME[NUMBERS]

    def fit(table: Any, target: Any) -> DecisionTreeClassifier:
        return DecisionTreeClassifier(max_depth=5, random_state=0).fit(table, target)

    integers = numbers.set_axis(range(len(NUMBERS)), axis=1)
    return {
        "pandas": (fit(numbers, GERMAN.target), numbers, NUMBERS, lambda i: numbers.iloc[i]),
        "nullable": (
            fit(numbers, GERMAN.target),
            numbers.astype("Int64"),
            NUMBERS,
            lambda i: numbers.iloc[i].to_dict(),
        ),
        "polars": (fit(numbers, GERMAN.target), pl.from_pandas(numbers), NUMBERS, lambda i: numbers.iloc[i].tolist()),
        "array": (
            fit(numbers.to_numpy(), GERMAN.target),
            numbers.to_numpy(),
            [f"x{j}" for j in range(len(NUMBERS))],
            lambda i: numbers.to_numpy()[i],
        ),
        "integer names": (
            fit(numbers.to_numpy(), GERMAN.target),
            integers,
            [str(j) for j in range(len(NUMBERS))],
            lambda i: integers.iloc[[i]],
        ),
        "target left in": (
            fit(numbers, GERMAN.target),
            numbers.assign(target=GERMAN.target),
            NUMBERS,
            lambda i: numbers.iloc[i].to_dict(),
        ),
        "labels": (
            fit(numbers, np.where(GERMAN.target, "pays", "owes")),
            numbers,
            NUMBERS,
            lambda i: tuple(numbers.iloc[i]),
        ),
    }


@pytest.mark.parametrize("kind", tables())
def test_any_kind_of_table_and_of_row_gives_the_same_answer(kind: str):
    model, table, names, row = tables()[kind]
    renamed = dict(zip(names, NUMBERS, strict=True))
    plain_model, plain_table, *_ = tables()["pandas"]
    refused = np.flatnonzero(plain_model.predict_proba(plain_table)[:, 1] <= 0.5)[:2]
    explainer = Explainer(model, table)
    for i in refused.tolist():
        expected = explain(plain_model, plain_table, i)
        for e in (explainer.explain(i), explainer.explain(np.int64(i)), explainer.explain(row(i))):
            assert [(renamed[c.feature], c.op, c.value) for c in e.rule] == [
                (c.feature, c.op, c.value) for c in expected.rule
            ]
            assert [[(renamed[c.feature], c.before, c.after) for c in cfs.changes] for cfs in e.counterfactuals] == [
                [(c.feature, c.before, c.after) for c in cfs.changes] for cfs in expected.counterfactuals
            ]
            assert (e.support, e.status, e.score) == (expected.support, expected.status, expected.score)
            check_words(e)


@pytest.mark.parametrize("method", ["auto", "geco"])
def test_the_order_of_the_rows_does_not_count(method: str):
    order = np.random.default_rng(0).permutation(len(FRAME))
    options = {"space": SPACE, "counterfactual_method": method, "constraints": together("age", "duration_months")}
    one = Explainer(TREE, FRAME, **options)
    two = Explainer(TREE, FRAME.iloc[order], **options)
    for i in REFUSED[:2]:
        assert same_answer(one.explain(i), two.explain(int(np.flatnonzero(order == i)[0])))


def test_the_order_of_the_columns_changes_neither_costs_nor_standings():
    columns = list(np.random.default_rng(0).permutation(list(FRAME)))
    other = FeatureSpace.infer(FRAME[columns], onehot=ONEHOT)
    for i in REFUSED[:4]:
        one, two = explain(TREE, FRAME, i, space=SPACE), explain(TREE, FRAME[columns], i, space=other)
        assert one.counterfactuals[0].cost == pytest.approx(two.counterfactuals[0].cost)
        assert one.rule.verdict.standing is two.rule.verdict.standing is Standing.PROVED


@pytest.mark.parametrize("method", ["auto", "geco", GeCo(survivors=20)])
def test_the_same_seed_gives_the_same_answer_whatever_was_asked_before(method: Any):
    explainer = Explainer(TREE, FRAME, space=SPACE, counterfactual_method=method, constraints=[cf.age >= x.age])
    first = explainer.explain(REFUSED[0], rng=7)
    explainer.explain(REFUSED[1], rng=1)
    assert same_answer(explainer.explain(REFUSED[0], rng=7), first)
    assert same_answer(explainer.explain(REFUSED[0], rng=np.random.default_rng(7)), first)
    again = Explainer(TREE, FRAME, space=SPACE, counterfactual_method=method, constraints=[cf.age >= x.age])
    assert same_answer(again.explain(REFUSED[0], rng=7), first)


@given(seed=st.integers(0, 2**32 - 1))
@trials(12)
def test_no_change_that_is_shown_escapes_from_a_rule_that_is_shown(seed: int):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.integers(0, 4, (30, 4)), columns=list("abcd"))
    right = {tuple(v) for v in rng.integers(0, 4, (25, 4)).tolist()}

    def model(table: pd.DataFrame) -> Any:
        return np.array([tuple(v) in right for v in table.to_numpy().tolist()], dtype=float)

    explainer = Explainer(model, frame, counterfactual_method=GeCo(last_look=0, most=1, least=1, donors=0))
    for i in explainer.refused[:3]:
        e = explainer.explain(i, rng=seed)
        for c in e.counterfactuals:
            changed = frame.iloc[[i]].assign(**{change.feature: change.after for change in c.changes})
            assert not e.rule.covers(explainer.space, changed)[0]


def test_a_model_that_spoils_its_input_spoils_nothing_else():
    def spoiling(frame: Any) -> Any:
        scores = np.array(tiny(frame))
        frame["debt"] = 0
        frame.loc[:, "income"] = 99
        return scores

    assert same_answer(explain(spoiling, TINY, 1), explain(tiny, TINY, 1))
    assert TINY["income"].tolist() == [12, 22, 35, 41, 50]


# -- models -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("desired", ["few", "some", "many", None])
def test_any_class_may_be_the_desired_one(desired: str | None):
    y = pd.cut(FRAME["age"], [0, 30, 40, 99], labels=["few", "some", "many"]).astype(str)
    model = DecisionTreeClassifier(max_depth=4, random_state=0).fit(FRAME[NUMBERS].drop(columns="age"), y)
    if desired is None:
        with pytest.raises(InputError, match="the model has 3 classes; say which is the desired one: 'few', 'many', "):
            explain(model, FRAME, 0)
        return
    column = list(model.classes_).index(desired)
    table = FRAME[NUMBERS].drop(columns="age")
    scores = model.predict_proba(table)[:, column]
    i = int(np.flatnonzero(scores <= 0.5)[0])
    e = explain(model, FRAME, i, desired=desired)
    assert (e.desired, e.score) == (desired, scores[i])
    assert f'score for "{desired}"' in str(e)
    for c in e.counterfactuals:
        row = table.iloc[[i]].assign(**{change.feature: change.after for change in c.changes})
        assert c.score == model.predict_proba(row)[0, column] > 0.5


@pytest.mark.parametrize("threshold", [0.0, 0.3, 0.5, 0.8])
def test_the_desired_outcome_is_a_score_above_the_threshold(threshold: float):
    scores = TREE.predict_proba(FRAME)[:, 1]
    explainer = Explainer(TREE, FRAME, space=SPACE, threshold=threshold)
    assert explainer.refused.tolist() == np.flatnonzero(scores <= threshold).tolist()
    ties = [float(s) for s in np.unique(scores) if s < 1]
    at_tie = Explainer(TREE, FRAME, space=SPACE, threshold=ties[-1])
    assert (scores[at_tie.refused] == ties[-1]).any()
    e = explainer.explain(explainer.refused[0])
    assert e.threshold == threshold
    assert all(c.score > threshold for c in e.counterfactuals)


def test_a_pipeline_is_explained_in_the_columns_that_its_user_knows():
    frame = GERMAN.frame[["duration_months", "credit_amount", "age", "checking_account", "savings", "purpose"]]
    texts = ["checking_account", "savings", "purpose"]
    prepare = ColumnTransformer([("c", OneHotEncoder(), texts)], remainder=StandardScaler())
    model = make_pipeline(prepare, LogisticRegression(max_iter=1000)).fit(frame, GERMAN.target)
    scores = model.predict_proba(frame)[:, 1]
    rules = [
        fixed("age", "purpose"),
        cf.duration_months <= x.duration_months,
        cf.savings.isin(["below 100 DM", "none"]),
    ]
    rules[2] = cf.savings == x.savings
    explainer = Explainer(model, frame, constraints=rules)
    for i in np.flatnonzero(scores <= 0.5)[:2].tolist():
        e, row = explainer.explain(i), frame.iloc[i]
        assert e.counterfactuals
        for c in e.counterfactuals:
            changed = frame.iloc[[i]].copy()
            for change in c.changes:
                assert change.feature in ("duration_months", "credit_amount", "checking_account")
                assert change.before == row[change.feature]
                changed[change.feature] = pd.Series([change.after], dtype=frame[change.feature].dtype).to_numpy()
            changed = changed.astype(frame.dtypes.to_dict())
            assert changed["duration_months"].iloc[0] <= row["duration_months"]
            assert c.score == pytest.approx(model.predict_proba(changed)[0, 1])
            assert c.score > 0.5
        check_words(e)


def test_whoever_is_refused_whatever_they_do_is_told_so():
    e = explain(lambda frame: np.zeros(len(frame)), TINY, 0)
    assert len(e.rule) == 0
    assert e.rule.verdict.standing is Standing.PROVED
    assert e.status is Status.NONE
    assert e.counterfactuals == ()
    assert (e.support.refused, e.support.refused_in_all, e.support.accepted) == (5, 5, 0)
    assert "No change at all would flip the decision (proved by exhaustive)." in str(e)
    assert "due to" not in str(e)
    assert e.to_dict()["rule"]["components"] == []


def test_a_score_at_the_threshold_is_a_refusal():
    e = explain(lambda frame: 0.5 + 0.25 * (frame["income"] > 40), TINY, 0)
    assert e.score == 0.5
    assert str(e.rule) == "income <= 12" or e.rule.covers(FeatureSpace.infer(TINY), TINY).sum() <= 3
    assert all(c.score == 0.75 for c in e.counterfactuals)


def test_a_missing_value_is_a_condition_like_any_other():
    frame = pd.DataFrame({"income": [None, 30.0, 50.0], "job": ["clerk", None, "clerk"]})
    e = explain(lambda table: table["income"].notna() * 1.0, frame, 0)
    assert str(e.rule) == "income = missing"
    assert [str(c) for c in e.counterfactuals][:1] == ["income: missing → 30"]
    assert e.applicant == {"income": None, "job": "clerk"}
    check_words(e)
    e = explain(lambda table: table["job"].isna() * 1.0, frame, 0)
    assert str(e.rule) == "job = clerk"
    assert [str(c) for c in e.counterfactuals] == ["job: clerk → missing"]
    check_words(e)


# -- constraints ------------------------------------------------------------------------------------------------------


def test_constraints_may_be_given_in_many_ways(tmp_path: Path):
    path = tmp_path / "loan.plaf"
    path.write_text("# the bank's\ncf.age >= x.age\nfixed('savings')\n", encoding="utf-8")
    one, two = cf.age >= x.age, fixed("savings")
    answers = [
        explain(TREE, FRAME, REFUSED[0], space=SPACE, constraints=constraints)
        for constraints in (
            "cf.age >= x.age\nfixed('savings')",
            path,
            [one, two],
            (one & two,),
            [one, "fixed('savings')"],
            [[one], [two]],
            ["cf.age >= x.age", two],
            iter([one, two]),
        )
    ]
    for e in answers:
        assert e.counterfactuals == answers[0].counterfactuals
        assert e.rule == answers[0].rule
        assert e.constraints
        for c in e.counterfactuals:
            assert all(change.feature != "savings" for change in c.changes)
            assert all(change.after >= change.before for change in c.changes if change.feature == "age")
        check_words(e)
    alone = explain(TREE, FRAME, REFUSED[0], space=SPACE, constraints=cf.age >= x.age)
    assert alone.constraints == ("age may not fall",)


def test_features_that_change_together_change_to_what_occurs():
    e = explain(TREE, FRAME, REFUSED[0], space=SPACE, constraints=together("duration_months", "credit_amount", "age"))
    row = FRAME.iloc[REFUSED[0]]
    pairs = set(map(tuple, FRAME[["duration_months", "credit_amount", "age"]].to_numpy().tolist()))
    assert e.counterfactuals
    for c in e.counterfactuals:
        after = {change.feature: change.after for change in c.changes}
        assert tuple(after.get(n, row[n]) for n in ("duration_months", "credit_amount", "age")) in pairs


def test_a_row_that_breaks_a_constraint_itself_must_change_that():
    e = explain(tiny, TINY, 1, constraints="cf.debt <= 20")
    assert e.counterfactuals
    for c in e.counterfactuals:
        assert any(change.feature == "debt" and change.after <= 20 for change in c.changes)
    e = explain(tiny, TINY, 1, constraints="cf.income <= 12\ncf.debt >= 32")
    assert (e.status, len(e.rule)) == (Status.NONE, 0)


@pytest.mark.parametrize("method", ["auto", "geco", "exhaustive"])
@pytest.mark.parametrize(
    ("constraints", "reason"),
    [
        (
            "cf.income >= 50\ncf.income <= 10",
            "no applicant meets this constraint: income must be at most 10",
        ),
        ("x.income >= 1000", "and no change can mend that: the present income must be at least 1000"),
        ("cf.income > cf.debt + 1000", ""),
        ("cf.income > cf.debt\ncf.debt > cf.income", ""),
        ("fixed('income', 'debt')", ""),
    ],
)
def test_constraints_that_nobody_can_meet_are_reported_and_not_looped_on(method: str, constraints: str, reason: str):
    e = explain(tiny, TINY, 1, constraints=constraints, counterfactual_method=method)
    assert e.counterfactuals == ()
    assert len(e.rule) == 0
    assert e.status is (Status.UNKNOWN if method == "geco" and not reason else Status.NONE)
    assert reason in e.reason
    assert reason in " ".join(str(e).split())
    assert "No change that" in str(e)


def test_an_applicants_own_value_stays_possible_though_it_is_in_no_domain():
    frame = pd.DataFrame({"a": [1, 2, 3, 3], "b": [5, 6, 7, 8]})
    space = FeatureSpace.infer(frame).declare({"a": {"values": [1, 2]}})
    options = {"space": space, "constraints": "together('a', 'b')"}
    for method in ("exhaustive", "geco"):
        e = explain(lambda table: (table["b"] == 8) * 1.0, frame, 2, counterfactual_method=method, **options)
        assert [str(c) for c in e.counterfactuals] == ["b: 7 → 8"]


def test_over_a_declared_range_a_change_has_few_digits_and_says_what_they_cost():
    frame = pd.DataFrame({"rate": [0.991, 0.2, 0.767], "age": [30, 40, 30]})
    space = FeatureSpace.infer(frame).declare({"rate": {"low": 0.0, "high": 1.5}})
    tree = DecisionTreeClassifier(random_state=0).fit(frame[["rate"]].assign(age=0), [0, 1, 1])  # 0.991 or 0.767
    e = explain(tree, frame, 0, space=space)
    change = e.counterfactuals[0].changes[0]
    assert (e.status, str(change), len(e.counterfactuals)) == (Status.OPTIMAL, "rate: 0.991 → 0.879", 1)
    assert "(proved: nothing is nearer than the first by more than 1e-06)" in str(e)
    found = Explainer(tree, frame, space=space)
    exact = found.method.find(found.query(found.X[0]), k=1, nearest=True, rng=np.random.default_rng(0))
    assert 0 < e.counterfactuals[0].cost - exact.distances[0] <= 1e-6
    assert explain(tree, frame, 0).reason == ""  # every value is one of the data's


def test_explain_takes_what_an_explainer_is_asked():
    e = explain(tiny, TINY, 1, at_most=1, k=1, rng=2)
    expected = Explainer(tiny, TINY).explain(1, at_most=1, k=1, rng=2)
    assert e.short == expected.short is not None
    assert e.to_dict() | {"seconds": 0} == expected.to_dict() | {"seconds": 0}
    assert explain(tiny, TINY, 1).short is None


def test_a_search_that_finds_nothing_does_not_speak_of_proof():
    e = explain(lambda frame: np.zeros(len(frame)), TINY, 0, counterfactual_method="geco")
    assert e.status is Status.UNKNOWN
    assert e.rule.verdict.standing is Standing.UNREFUTED
    assert "proved by" not in str(e)
    assert "which proves nothing" in str(e)


def test_what_is_done_to_the_dictionary_does_not_reach_the_explanation():
    e = explain(tiny, TINY, 1)
    before = e.to_json()
    found = e.to_dict()
    found["applicant"]["income"] = 0
    found["support"]["rows"] = 0
    found["rule"]["components"][0]["value"] = 0
    found["counterfactuals"][0]["changes"][0]["after"] = 0
    assert e.to_json() == before


def test_everything_that_is_promised_can_be_had_from_the_package():
    for name in dueto.__all__:
        assert getattr(dueto, name) is not None
    assert set(dueto.__all__) <= set(dir(dueto))
