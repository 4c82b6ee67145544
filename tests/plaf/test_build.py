"""Constraints built in Python: what the operators make, and what they refuse."""

# ruff: noqa: SIM300

from __future__ import annotations

import copy
import dataclasses
import pickle
from functools import reduce

import numpy as np
import pandas as pd
import pytest

from dueto import InputError
from dueto.plaf import And, Compare, Const, Expr, Neg, Or, Ref, cf, fixed, parse, together, walk, x


def test_features_are_named_by_attribute_or_in_brackets():
    assert cf.age.same(cf["age"])
    assert cf["capital-gain"].name == "capital-gain"
    assert cf[3].same(cf["3"])
    assert cf[np.int64(3)].same(cf["3"])
    assert x.age.side == "x"
    assert not x.age.same(cf.age)
    assert isinstance(cf.missing, Ref)


def test_a_constant_on_the_left_moves_to_the_right():
    for left, right in [
        (18 <= cf.age, cf.age >= 18),
        (18 < cf.age, cf.age > 18),
        (65 >= cf.age, cf.age <= 65),
        (65 > cf.age, cf.age < 65),
        (3 == cf.age, cf.age == 3),
        (3 != cf.age, cf.age != 3),
        (np.float64(18) <= cf.age, cf.age >= 18.0),
    ]:
        assert isinstance(left, Compare)
        assert left.same(right)


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (np.float64(32.0), float),
        (np.float32(0.5), float),
        (np.int8(3), int),
        (np.bool_(True), bool),
        (np.str_("a"), str),
    ],
)
def test_numpy_scalars_become_plain_python(value, kind):
    for constraint in (cf.age == value, cf.age.isin([value])):
        constants = [node.value for node in walk(constraint) if isinstance(node, Const)]
        constants += getattr(constraint, "values", ())
        assert [type(constant) for constant in constants] == [kind]
    assert "np." not in str(cf.age == value)


def test_arithmetic_with_numpy_scalars_on_either_side():
    assert str(np.float64(2) * cf.age + np.int64(1) <= np.float32(8)) == "2.0 * cf.age + 1 <= 8.0"
    assert str(1 - cf.age / 2) == "1 - cf.age / 2"


def test_none_asks_for_a_missing_value():
    assert (cf.a == None).same(cf.a.missing())  # noqa: E711
    assert (cf.a != None).same(~cf.a.missing())  # noqa: E711
    assert cf.a.isin([None, "b"]).values == (None, "b")


def test_conjunctions_and_disjunctions_are_flat_however_bracketed():
    a, b, c, d = (cf.a > 1), (cf.b > 1), (cf.c > 1), (cf.d > 1)
    assert (a & b & c).same(a & (b & c))
    assert ((a & b) & (c & d)).same(And((a, b, c, d)))
    assert (a | b | c).same(a | (b | c))
    assert isinstance(a & (b | c), And)
    assert isinstance((a | (b & c)), Or)
    assert len((a & (b | c)).parts) == 2


def test_same_looks_at_every_part():
    assert (cf.a - (x.b - 1) > 0).same(cf.a - (x.b - 1) > 0)
    different = [
        (cf.a - (x.b - 1), (cf.a - x.b) - 1),
        (cf.a > 1, cf.a >= 1),
        (cf.a > 1, cf.a > 1.0),
        (cf.a == 1, cf.a == True),  # noqa: E712
        (cf.a > 1, x.a > 1),
        (cf.a.isin([1, 2]), cf.a.isin([2, 1])),
        (cf.a.isin([1]), cf.a.isin([1, 2])),
        (fixed("a"), fixed("b")),
        ((cf.a > 1).implies(cf.b > 1), (cf.b > 1).implies(cf.a > 1)),
        (fixed("a", "b"), together("a", "b")),
    ]
    for a, b in different:
        assert not a.same(b)
    assert not (cf.a > 1).same("cf.a > 1")


def test_between_holds_both_ends_and_takes_terms():
    assert cf.age.between(18, 65).same((cf.age >= 18) & (cf.age <= 65))
    assert cf.age.between(x.age, x.age + 5).same((cf.age >= x.age) & (cf.age <= x.age + 5))
    with pytest.raises(InputError, match="lower value first"):
        cf.age.between(65, 18)


def test_lists_of_values_come_from_any_collection():
    expected = cf.job.isin(["a", "b"])
    for values in (("a", "b"), {"b", "a"}, np.array(["a", "b"]), pd.Series(["a", "b"]), iter(["a", "b"])):
        assert cf.job.isin(values).same(expected)


def test_minus_a_number_is_a_number():
    assert (-Const(5)).same(Const(-5))
    assert Neg(-cf.a).same(parse("--cf.a"))
    assert (+cf.a).same(cf.a)


@pytest.mark.parametrize(
    "misuse",
    [
        lambda: 18 <= cf.age <= 65,
        lambda: (cf.a > 1) and (cf.b > 1),
        lambda: not (cf.a > 1),
        lambda: cf.job in ["a", "b"],
        lambda: bool(cf.a),
    ],
)
def test_a_constraint_used_as_a_truth_value_is_refused_with_the_remedy(misuse):
    with pytest.raises(TypeError, match=r"\.between\(18, 65\).*& \| ~.*\.isin.*\.same"):
        misuse()


@pytest.mark.parametrize(
    ("misuse", "error", "message"),
    [
        (lambda: (cf.a > 3) & cf.b, TypeError, "cf.b is a value, not a condition"),
        (lambda: cf.a > 3 & cf.b < 2, TypeError, "brackets around each comparison"),
        (lambda: (cf.a > 3) | True, TypeError, "True is no condition"),
        (lambda: False | (cf.a > 3), TypeError, "False is no condition"),
        (lambda: ~cf.a, TypeError, "cf.a is a value"),
        (lambda: (cf.a > 3) == (cf.b > 3), TypeError, r"use a\.same\(b\)"),
        (lambda: (cf.a > 3) != (cf.b > 3), TypeError, r"use a\.same\(b\)"),
        (lambda: cf.a + (cf.b > 3), TypeError, "is a condition, not a value"),
        (lambda: cf.a + "b", TypeError, 'arithmetic takes numbers, not "b"'),
        (lambda: cf.a * True, TypeError, "arithmetic takes numbers, not True"),
        (lambda: cf.a > pd.Timestamp("2020-01-01"), TypeError, "of type Timestamp cannot stand in a constraint"),
        (lambda: cf.a == np.array([1, 2]), TypeError, "of type ndarray cannot stand"),
        (lambda: np.array([1.0, 2.0]) * cf.a, TypeError, "of type ndarray cannot stand"),
        (lambda: np.array([1.0, 2.0]) <= cf.a, TypeError, "of type ndarray cannot stand"),
        (lambda: cf.a.isin("abc"), TypeError, "isin takes a list"),
        (lambda: cf.a.isin([cf.b]), TypeError, "cannot stand in a constraint"),
        (lambda: cf.a.isin([]), InputError, "at least one value"),
        (lambda: cf.a > float("nan"), InputError, r"write \.missing\(\)"),
        (lambda: cf.a.isin([np.nan]), InputError, r"write \.missing\(\)"),
        (lambda: cf.a < np.inf, InputError, "finite"),
        (lambda: cf.a < 10**400, InputError, "finite"),
        (lambda: cf.a < None, InputError, "no order"),
        (lambda: fixed(), InputError, "name of a feature"),
        (lambda: fixed(cf.sex), TypeError, "a text"),
        (lambda: fixed(["sex", "race"]), TypeError, "a text"),
        (lambda: together("a", "a"), InputError, "two features"),
        (lambda: together("a", "b") & (cf.a > 1), InputError, "stands alone"),
        (lambda: ~together("a", "b"), InputError, "stands alone"),
        (lambda: (cf.a > 1).implies(together("a", "b")), InputError, "stands alone"),
        (lambda: cf[True], TypeError, "a text"),
        (lambda: list(cf), TypeError, "does not know the features"),
        (lambda: cf._private, AttributeError, r'cf\["_private"\]'),
        (lambda: hash(cf.a), TypeError, "unhashable"),
        (lambda: {cf.a > 1}, TypeError, "unhashable"),
    ],
)
def test_misuse_is_refused_with_a_sentence(misuse, error, message):
    with pytest.raises(error, match=message):
        misuse()


def test_nodes_are_frozen():
    constraint = cf.age >= 18
    with pytest.raises(dataclasses.FrozenInstanceError):
        constraint.op = "<="


def test_names_repeat_only_once():
    assert fixed("a", "b", "a").names == ("a", "b")


def test_a_constraint_survives_pickle_and_copy():
    for constraint in [
        (cf.a - (cf.b - 1) > 0) & ~cf["it's"].isin(["\n", None]),
        fixed("sex"),
        together("a", "b"),
        cf.a + 1,
    ]:
        for twin in (
            pickle.loads(pickle.dumps(constraint)),
            copy.copy(constraint),
            copy.deepcopy(constraint),
        ):
            assert twin.same(constraint)
    assert pickle.loads(pickle.dumps(cf)) is cf
    assert copy.deepcopy(x) is x


def test_nesting_too_deep_is_refused_before_anything_can_overflow():
    with pytest.raises(InputError, match="group a long sum"):
        reduce(lambda total, i: total + i, range(200), cf.a)
    with pytest.raises(InputError, match="split it into several"):
        reduce(lambda inner, _: ~inner, range(200), cf.a > 1)


def test_a_long_conjunction_is_not_deep():
    many: Expr = cf.a > 0
    for i in range(1000):
        many = many & (cf[i] > i)
    assert many.depth == 3
    assert parse(str(many)).same(many)
