"""Rows with some units redrawn: where they lie, and how often each value comes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from dueto.counterfactuals import Exhaustive, Query, build_query
from dueto.domain import distinct_rows, same
from dueto.models import as_model
from dueto.plaf import Expr, cf, fixed, together, x
from dueto.rule import Components
from dueto.rules import Oracle
from dueto.rules.draws import Perturbed, Rows
from dueto.rules.flags import unpacked
from dueto.space import FeatureSpace
from dueto.testing import worlds
from trials import trials

seeds = st.integers(0, 2**32 - 1)


def rows_of(X: np.ndarray) -> Rows:
    first, _, counts = distinct_rows(X)
    return Rows(X[first], counts, np.zeros(len(first), dtype=bool))


def a_table(declared: dict | None = None, constraints: tuple[Expr, ...] = ()) -> tuple[Query, Rows]:
    """90 rows of three features, some of them equal; the applicant is the first."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"a": rng.integers(0, 4, 90) * 1.5, "b": rng.integers(0, 3, 90), "c": rng.choice([*"xyz"], 90)}
    )
    space = FeatureSpace.infer(frame).declare(declared or {})
    X = space.encode(frame)
    model = as_model(lambda table: np.zeros(len(table)), space)
    return build_query(model, space, X[0], constraints=constraints, X=X), rows_of(X)


def drawn(query: Query, rows: Rows, size: int, *, rule: int = 0, seed: int = 1) -> np.ndarray:
    """So many rows under a rule of the applicant's components."""
    has = unpacked([rule], 2 * len(query.space))
    return Perturbed(query, rows).satisfying(has, size, np.random.default_rng(seed))[0]


def even(column: np.ndarray, values: list[float]) -> bool:
    """Whether each value is as frequent as the others, and there are no others."""
    found = [int(same(column, v).sum()) for v in values]
    return sum(found) == len(column) and stats.chisquare(found).pvalue > 0.001


@pytest.mark.parametrize("declared", [False, True])
@given(seed=seeds)
@trials(50)
def test_every_row_drawn_is_in_the_box_and_the_space_and_meets_what_concerns_one_unit(seed: int, declared: bool):
    found = list(worlds([seed]))
    assume(found)
    w, rng = found[0], np.random.default_rng(seed)
    space = (
        w.space.declare({"f0": {"low": 0.5, "high": 2.5}, "f1": {"values": [0.0, 1.0, 7.0]}}) if declared else w.space
    )
    query = build_query(w.model, space, w.x, constraints=w.constraints, X=w.X)
    alone = replace(query, constraints=tuple(c for c in query.constraints if len(c.features) == 1))
    components, perturbed = Components(space, w.x), Perturbed(query, rows_of(w.X))
    rules = [components.all & int(rng.integers(1 << 62)) for _ in range(5)]
    X, owner = perturbed.satisfying(unpacked(rules, 2 * len(space)), 20, rng)
    assert (np.diff(owner) >= 0).all()
    assert np.array_equal(perturbed.feasible(X), query.plausible(X))
    for i, box in enumerate(map(components.box, rules)):
        inside = X[owner == i]
        assert alone.under(box).plausible(inside).all()
        possible = all(unit.size for unit in query.under(box).units(rng))
        assert len(inside) == (20 if possible else 0)


def test_unbounded_every_other_row_is_one_of_the_data_by_its_count_and_the_rest_any_applicant():
    query, rows = a_table()
    X = drawn(query, rows, 60_000)
    which = distinct_rows(np.vstack([rows.X, X[::2]]))[1]
    assert len(np.unique(which)) == len(rows.X)
    found = np.bincount(which[len(rows.X) :])[which[: len(rows.X)]]
    assert stats.chisquare(found, rows.counts / rows.counts.sum() * 30_000).pvalue > 0.001
    every, counts = np.unique(X[1::2], axis=0, return_counts=True)
    assert len(every) == 4 * 3 * 3
    assert stats.chisquare(counts).pvalue > 0.001


def test_what_a_rule_bounds_is_drawn_evenly_among_the_values_that_meet_the_bound_and_the_rest_is_left():
    query, rows = a_table()
    X = drawn(replace(query, x=np.array([1.5, *query.x[1:]])), rows, 40_000, rule=0b10)
    for half in (X[::2], X[1::2]):
        assert even(half[:, 0], [1.5, 3.0, 4.5])
    which = distinct_rows(np.vstack([rows.X[:, 1:], X[::2, 1:]]))[1]
    expected = np.bincount(which[: len(rows.X)], weights=rows.counts) / rows.counts.sum() * 20_000
    assert stats.chisquare(np.bincount(which[len(rows.X) :]), expected).pvalue > 0.001


def test_a_value_that_the_space_or_a_constraint_on_it_alone_rules_out_is_redrawn():
    query, rows = a_table({"a": {"values": [0.0, 1.5]}}, (cf.b >= 1, fixed("c")))
    query = replace(query, x=np.array([1.5, 0.0, 2.0]))
    X = drawn(query, rows, 10_000)
    assert set(X[:, 0]) == {0.0, 1.5}
    assert set(X[:, 1]) == {1.0, 2.0}
    assert set(X[:, 2]) == {2.0}
    left = rows.X[:, 1] == 1
    share = (rows.counts[left].sum() + rows.counts[rows.X[:, 1] == 0].sum() / 2) / rows.counts.sum()
    assert stats.binomtest(int((X[::2, 1] == 1).sum()), 5_000, share).pvalue > 0.001


def test_features_that_change_together_are_redrawn_together_each_tuple_as_likely():
    query, rows = a_table(constraints=(together("a", "b"),))
    query = replace(query, x=rows.X[rows.X[:, 0] == 1.5][0])
    X = drawn(query, rows, 20_000, rule=0b01)
    tuples, counts = np.unique(X[:, :2], axis=0, return_counts=True)
    expected = np.unique(rows.X[rows.X[:, 0] <= 1.5, :2], axis=0)
    assert np.array_equal(tuples, expected)
    assert stats.chisquare(counts).pvalue > 0.001


def test_a_range_is_drawn_from_evenly_as_far_as_bound_and_constraint_leave_it():
    query, rows = a_table({"a": {"low": -1.0, "high": 9.0}, "b": {"low": 0, "high": 12}}, (cf.a <= x.a + 4,))
    X = drawn(replace(query, x=np.array([3.0, 10.0, 0.0])), rows, 20_000, rule=0b1010)
    assert stats.kstest(X[:, 0], "uniform", (3.0, 4.0)).pvalue > 0.001
    assert even(X[:, 1], [10.0, 11.0, 12.0])


@pytest.mark.parametrize("value", [np.nan, 1.25])
def test_a_missing_value_comes_as_often_as_in_the_data_where_the_rule_allows_it_and_alone_where_it_asks_for_it(value):
    frame = pd.DataFrame({"a": [0.5, 1.25, np.nan, np.nan], "b": [0, 1, 0, 1]})
    space = FeatureSpace.infer(frame).declare({"a": {"low": 0.0, "high": 2.0}})
    X = space.encode(frame)
    at = np.array([value, 0.0])
    query = build_query(as_model(lambda table: np.zeros(len(table)), space), space, at, X=X)
    free = drawn(query, rows_of(X), 20_000)[1::2, 0]
    assert stats.binomtest(int(np.isnan(free).sum()), 10_000, 0.5).pvalue > 0.001
    bound = drawn(query, rows_of(X), 1000, rule=1)[:, 0]
    assert np.isnan(bound).all() if np.isnan(value) else (bound <= 1.25).all()


@pytest.mark.parametrize("n", [2, 31, 32, 40])
def test_what_changes_together_meets_the_rule_however_many_features_it_is(n: int):
    names = [f"f{j}" for j in range(n)]
    frame = pd.DataFrame(np.random.default_rng(0).integers(0, 2, (60, n)), columns=names)
    space = FeatureSpace.infer(frame)
    X, model = space.encode(frame), as_model(lambda table: np.zeros(len(table)), space)
    query = build_query(model, space, X[0], constraints=(together(*names),), X=X)
    for bit in (0, 1, 2 * n - 2, 2 * n - 1):
        found = drawn(query, rows_of(X), 200, rule=1 << bit)
        inside = Components(space, X[0]).box(1 << bit).contains(X)
        assert set(map(tuple, found)) <= set(map(tuple, X[inside]))
        assert len(found) == 200


def test_without_the_data_the_donors_are_perturbed_and_without_donors_the_applicant():
    query, rows = a_table()
    some = replace(query, donors=rows.X[:3])
    for known, expected in ((some, rows.X[:3]), (query, query.x[None])):
        given = Rows.of(Oracle(known, Exhaustive(), np.random.default_rng(0)))
        X = drawn(known, given, 200)[::2]
        assert len(distinct_rows(np.vstack([X, expected]))[0]) == len(expected)


def test_the_same_generator_draws_the_same_rows():
    query, rows = a_table()
    assert np.array_equal(drawn(query, rows, 50), drawn(query, rows, 50))
