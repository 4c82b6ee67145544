"""Constraints on data: a slow evaluator, one row at a time on labels, judges the fast one on codes."""

from __future__ import annotations

import operator
import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dueto import FeatureSpace, InputError
from dueto.plaf import (
    And,
    Arith,
    Compare,
    Const,
    Fixed,
    Implies,
    IsIn,
    Missing,
    Neg,
    Not,
    Or,
    Ref,
    cf,
    fixed,
    parse,
    together,
    x,
)
from trials import trials

JOBS = ("clerk", "nurse", "teacher")
PAST = ("teacher", "clerk", "smith")  # other labels in another order, some shared with JOBS
LEVELS = ("low", "middle", "high")
GRADES = (10, 20, 30)
FRAME = pd.DataFrame(
    {
        "age": [20, 40, 60, 30],
        "income": [1.5, 0.0, np.nan, -2.0],
        "debt": [0.0, 1.5, 3.0, np.nan],
        "job": pd.Categorical(["clerk", "nurse", "teacher", None], categories=JOBS),
        "past job": pd.Categorical(["teacher", "clerk", None, "smith"], categories=PAST),
        "level": pd.Categorical(["low", "high", "middle", None], categories=LEVELS, ordered=True),
        "wish": pd.Categorical(["low", "high", "middle", None], categories=LEVELS, ordered=True),
        "member": [True, False, True, False],
        "grade": pd.Categorical([10, 20, 30, None], categories=GRADES, ordered=True),
    }
)
SPACE = FeatureSpace.infer(FRAME)
LABELS = {
    "job": JOBS,
    "past job": PAST,
    "level": LEVELS,
    "wish": LEVELS,
    "member": (False, True),
    "grade": GRADES,
}
NUMBERS = ("age", "income", "debt")

ORDER = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}
SIGNS = {"+": operator.add, "-": operator.sub, "*": operator.mul}


# -- the slow evaluator: rows are dicts of labels and numbers, None is missing


def slow_value(term, proposed, present):
    match term:
        case Const(value):
            return value
        case Ref(side, name):
            return (proposed if side == "cf" else present)[name]
        case Neg(operand):
            value = slow_number(operand, proposed, present)
            return None if value is None else -value
        case Arith(op, left, right):
            a, b = slow_number(left, proposed, present), slow_number(right, proposed, present)
            if a is None or b is None or (op == "/" and b == 0):
                return None
            return a / b if op == "/" else SIGNS[op](a, b)
    raise AssertionError(term)


def slow_number(term, proposed, present):
    value = slow_value(term, proposed, present)
    return LEVELS.index(value) if isinstance(value, str) else value


def slow(expr, proposed, present):
    match expr:
        case Compare(op, left, right):
            a, b = slow_value(left, proposed, present), slow_value(right, proposed, present)
            if op == "!=":
                return not slow(Compare("==", left, right), proposed, present)
            if a is None or b is None:
                return a is None and b is None and op in ("==", "<=", ">=")
            if op == "==" and isinstance(a, str) and isinstance(b, str):
                return a == b
            a, b = (LEVELS.index(v) if isinstance(v, str) else v for v in (a, b))
            return ORDER[op](a, b)
        case IsIn(term, values):
            value = slow_value(term, proposed, present)
            return any(value is v if value is None or v is None else value == v for v in values)
        case Missing(term):
            return slow_value(term, proposed, present) is None
        case Not(part):
            return not slow(part, proposed, present)
        case And(parts):
            return all(slow(part, proposed, present) for part in parts)
        case Or(parts):
            return any(slow(part, proposed, present) for part in parts)
        case Implies(condition, consequence):
            return not slow(condition, proposed, present) or slow(consequence, proposed, present)
        case Fixed(names):
            return all(proposed[name] == present[name] for name in names)
    raise AssertionError(expr)


# -- constraints that make sense in the space, and rows

OPS = st.sampled_from(list(ORDER))
EQUALITY = st.sampled_from(["==", "!="])
SIDES = st.sampled_from([cf, x])


def refs(*names):
    return st.builds(lambda side, name: side[name], SIDES, st.sampled_from(names))


def compared(left, right, ops):
    return st.builds(lambda a, b, op: ORDER[op](a, b), left, right, ops)


def labels(name):
    return st.sampled_from(LABELS[name])


SMALL = st.one_of(st.integers(-3, 3), st.sampled_from([0.0, 0.5, 1.5, 40, 60]))
TERMS = st.recursive(
    refs(*NUMBERS, "level", "wish"),
    lambda parts: st.one_of(
        parts.map(operator.neg),
        st.builds(
            lambda a, b, op, turned: op(b, a) if turned else op(a, b),
            parts,
            st.one_of(parts, SMALL),
            st.sampled_from([operator.add, operator.sub, operator.mul, operator.truediv]),
            st.booleans(),
        ),
    ),
    max_leaves=4,
)
SUMS = st.builds(lambda a, b: a + b, TERMS, st.one_of(TERMS, SMALL))
LABELLED = st.sampled_from(sorted(LABELS)).flatmap(
    lambda name: st.one_of(
        compared(refs(name), labels(name), OPS if name in ("level", "wish", "grade") else EQUALITY),
        compared(refs(name), refs(name), OPS if name in ("level", "wish", "grade") else EQUALITY),
        st.builds(
            lambda ref, values: ref.isin(values),
            refs(name),
            st.lists(st.one_of(labels(name), st.none()), min_size=1, max_size=3),
        ),
        refs(name).map(lambda ref: ref.missing()),
        st.just(fixed(name)),
    )
)
ATOMS = st.one_of(
    compared(refs(*NUMBERS), st.one_of(refs(*NUMBERS), SMALL, SUMS), OPS),
    compared(SUMS, st.one_of(refs(*NUMBERS, "level"), SMALL, SUMS), OPS),
    compared(refs("level", "wish"), st.one_of(refs("level", "wish"), SUMS), OPS),
    compared(refs("job", "past job"), refs("job", "past job"), EQUALITY),
    st.builds(
        lambda term, values: term.isin(values),
        st.one_of(refs(*NUMBERS), SUMS),
        st.lists(st.one_of(SMALL, st.none()), min_size=1),
    ),
    SUMS.map(lambda term: term.missing()),
    LABELLED,
    st.lists(st.sampled_from([*NUMBERS, *LABELS]), min_size=1, max_size=3).map(lambda names: fixed(*names)),
)
CONSTRAINTS = st.recursive(
    ATOMS,
    lambda parts: st.one_of(
        parts.map(lambda a: ~a),
        st.builds(lambda a, b: a & b, parts, parts),
        st.builds(lambda a, b: a | b, parts, parts),
        st.builds(lambda a, b: a.implies(b), parts, parts),
    ),
    max_leaves=5,
)
ROWS = st.fixed_dictionaries(
    {name: st.sampled_from([None, 0.0, 0.5, 1.5, -2.0, 3.0, 40.0]) for name in NUMBERS}
    | {name: st.sampled_from([None, *values]) for name, values in LABELS.items()}
)


def encoded(row):
    return np.array([SPACE[name].code(row[name]) for name in SPACE.names])


@trials(600)
@given(CONSTRAINTS, st.lists(ROWS, min_size=1, max_size=8), ROWS)
def test_evaluation_agrees_with_one_row_at_a_time(constraint, rows, present):
    X, now = np.array([encoded(row) for row in rows]), encoded(present)
    bound = constraint.bind(SPACE)
    assert np.broadcast_to(bound(lambda j: X[:, j], now), len(rows)).tolist() == [
        bool(slow(constraint, row, present)) for row in rows
    ]


@trials(300)
@given(CONSTRAINTS, st.lists(ROWS, min_size=1, max_size=6), ROWS, st.sets(st.sampled_from(SPACE.names)))
def test_unchanged_columns_may_be_scalars(constraint, rows, present, changed):
    now = encoded(present)
    X = np.array([encoded({n: (row if n in changed else present)[n] for n in row}) for row in rows])
    bound = constraint.bind(SPACE)

    def delta(j):
        return X[:, j] if SPACE.names[j] in changed else float(now[j])

    full = np.broadcast_to(bound(lambda j: X[:, j], now), len(X))
    some = bound(delta, now)
    assert some.dtype == np.bool_
    assert np.broadcast_to(some, len(X)).tolist() == full.tolist()
    grid = bound(lambda j: X[:, j][:, None], now)  # and any shape that broadcasts
    assert np.broadcast_to(grid, (len(X), 1))[:, 0].tolist() == full.tolist()


@trials(150)
@given(CONSTRAINTS, ROWS)
def test_it_asks_only_for_the_features_it_names(constraint, present):
    bound = constraint.bind(SPACE)
    now = encoded(present)
    asked = set()

    def column(j):
        asked.add(j)
        return float(now[j])

    bound(column, now)
    assert asked == bound.features


def test_features_and_consequence_are_those_of_the_proposed_row():
    bound = parse('cf.job != "clerk" and x.debt > 0 => cf.age >= x.income and fixed("level")').bind(SPACE)
    assert bound.features == {SPACE.index(name) for name in ("job", "age", "level")}
    assert bound.consequence == {SPACE.index(name) for name in ("age", "level")}
    chain = parse("cf.age > 1 => cf.debt > 1 => cf.income > 1").bind(SPACE)
    assert chain.consequence == {SPACE.index("income")}
    assert parse("cf.age > 1").bind(SPACE).consequence == frozenset()


def test_a_bound_constraint_survives_pickle():
    bound = parse('cf.age >= x.age and cf.job = "nurse"').bind(SPACE)
    again = pickle.loads(pickle.dumps(bound))
    X = SPACE.encode(FRAME)
    assert again.expr.same(bound.expr)
    assert again.features == bound.features
    assert again(lambda j: X[:, j], X[0]).tolist() == [False, True, False, False]


@pytest.mark.parametrize(
    ("text", "proposed", "present", "holds"),
    [
        ("cf.income = x.income", None, None, True),
        ("cf.income <= x.income", None, None, True),
        ("cf.income >= x.income", None, None, True),
        ("cf.income < x.income", None, None, False),
        ("cf.income > x.income", None, None, False),
        ("cf.income != x.income", None, None, False),
        ("cf.income = x.income", None, 1.5, False),
        ("cf.income <= x.income", None, 1.5, False),
        ("cf.income >= x.income", 1.5, None, False),
        ("cf.income != x.income", None, 1.5, True),
        ("cf.income <= 3", None, 1.5, False),
        ("cf.income != 3", None, 1.5, True),
        ("cf.income > x.income + 1", None, 1.5, False),
        ("cf.income <= x.income + 1", None, None, True),
        ("cf.income / x.income > 0", 1.5, 0.0, False),
        ("(cf.income / x.income).missing()", 1.5, 0.0, True),
        ("(cf.income / x.income).missing()", 0.0, 0.0, True),
        ("(cf.income * 1e308 * 10).missing()", 3.0, 0.0, False),
        ("cf.income in [1, missing]", None, 0.0, True),
        ("cf.income in [1]", None, 0.0, False),
        ("cf.income in [missing]", 1.0, 0.0, False),
        ("cf.income not in [1]", None, 0.0, True),
        ('fixed("income")', None, None, True),
        ('fixed("income")', None, 0.0, False),
    ],
)
def test_missing_values_and_division_by_zero(text, proposed, present, holds):
    column, now = np.full((1, len(SPACE)), np.nan), np.full(len(SPACE), np.nan)
    column[:, SPACE.index("income")] = np.nan if proposed is None else proposed
    now[SPACE.index("income")] = np.nan if present is None else present
    assert parse(text).bind(SPACE)(lambda j: column[:, j], now).tolist() == [holds]


def test_one_hot_groups_are_compared_by_label():
    frame = pd.DataFrame({"colour_red": [1, 0, 0], "colour_blue": [0, 1, 0], "age": [1, 2, 3]})
    space = FeatureSpace.infer(frame, onehot={"colour": ["colour_red", "colour_blue"]})
    X = space.encode(frame)
    assert parse('cf.colour = "blue"').bind(space)(lambda j: X[:, j], X[0]).tolist() == [False, True, False]
    assert parse("cf.colour = x.colour").bind(space)(lambda j: X[:, j], X[0]).tolist() == [True, False, False]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("cf.agee > 3", "did you mean 'age'"),
        ('fixed("agee")', "did you mean 'age'"),
        ("cf.age > 3 and x.agee.missing()", r"did you mean 'age'.*in the constraint cf\.age > 3 and x\.agee"),
        ('cf.job = "clark"', "job has no label 'clark': its labels are 'clerk', 'nurse', 'teacher'"),
        ('cf.job != "clark"', "has no label 'clark'"),
        ('cf.job in ["nurse", "clark"]', "has no label 'clark'"),
        ("cf.job = 1", "has no label 1"),
        ("cf.member = 1", "member has no label 1: its labels are False, True"),
        ('cf.level >= "lo"', "has no label 'lo'"),
        ("cf.level >= 1", "has no label 1"),
        ('cf.age = "040"', 'age has numbers, and "040" is a text: make the column one of texts, or compare it with 40'),
        ('cf.member = "yes"', "member has no label 'yes': its labels are False, True; make the column one of texts"),
        (
            'cf.job < "nurse"',
            r"job has no order: .* with == != or in, not <; or give it one, by --space FILE with kind",
        ),
        ("cf.job >= x.job", "job has no order"),
        ("cf.job + 1 > 2", "job has no order and no arithmetic"),
        ("-cf.job = 2", "job has no order and no arithmetic"),
        ("cf.job = cf.age + 1", "job has no order and no arithmetic"),
        ("cf.job = cf.age", "job has labels and age has numbers"),
        ("cf.age = cf.level", "level has labels and age has numbers"),
        ("cf.level < cf.grade", "level and grade have different labels"),
        ("cf.level < cf.job", "job has no order"),
        ("cf.grade > x.grade + 1", "declare it as integer or float"),
        ('cf.age = "40"', 'age has numbers, and "40" is a text: write 40 without quotes'),
        ('cf.age in [3, "old"]', 'age has numbers, and "old" is a text'),
        ('cf.age + 1 > "old"', 'arithmetic gives numbers, and "old" is a text'),
        ("1 < 2", "name a feature"),
        ("(1 + 2) in [3]", "name a feature"),
        ("(1 + 2).missing()", "name a feature"),
        ("cf.age + 1", r"cf\.age \+ 1 is a value, not a condition"),
        ('together("age", "debt")', "no condition on a row"),
    ],
)
def test_what_cannot_be_meant_is_refused(text, message):
    with pytest.raises(InputError, match=message):
        parse(text).bind(SPACE)


def test_a_truth_value_is_a_number_where_numbers_are():
    space = FeatureSpace.infer(pd.DataFrame({"flag": [0, 1]}))
    X = np.array([[0.0], [1.0]])
    assert parse("cf.flag = true").bind(space)(lambda j: X[:, j], X[0]).tolist() == [False, True]


def test_true_is_not_the_label_one():
    space = FeatureSpace.infer(pd.DataFrame({"a": [True, False], "b": pd.Categorical([1, 0], categories=[0, 1])}))
    X = space.encode(pd.DataFrame({"a": [True, False], "b": pd.Categorical([1, 0], categories=[0, 1])}))
    assert parse("cf.a = cf.b").bind(space)(lambda j: X[:, j], X[0]).tolist() == [False, False]


def test_together_is_split_off_by_its_type():
    with pytest.raises(InputError, match="group"):
        together("age", "debt").bind(SPACE)
