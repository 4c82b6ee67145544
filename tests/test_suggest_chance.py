"""What chance made is not proposed: the bound on false proposals, and the rate of them on data without constraints."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from dueto import FeatureSpace, suggest_constraints
from dueto.suggest import base
from dueto.suggest.bins import SURE, Bins
from dueto.suggest.relations import _misses, _misses_sum, _misses_tie
from trials import trials

M = 3000


def texts(frame):
    return [str(one.constraint) for one in suggest_constraints(frame)]


def draw(seed=0):
    return np.random.default_rng(seed)


# -- the bound: e^-λ for a relation, T e^-λ for a table ---------------------------------------------------------------

columns = st.lists(st.integers(0, 3), min_size=6, max_size=6).map(np.array)
pairings = np.array(list(itertools.permutations(range(6))))


@trials(60)
@given(a=columns, b=columns, c=columns)
def test_columns_paired_at_random_keep_an_order_or_a_sum_no_more_often_than_the_bound_says(a, b, c):
    assert (a <= b[pairings]).all(axis=1).mean() <= np.exp(-_misses(a, b)) + 1e-9
    c = a + b + c // 3  # so that they can be paired to keep it
    assert (a + b[pairings] <= c).all(axis=1).mean() <= np.exp(-_misses_sum(a, b, c)) + 1e-9


@trials(60)
@given(inside=st.lists(st.booleans(), min_size=6, max_size=6), other=st.lists(st.booleans(), min_size=6, max_size=6))
def test_bins_paired_at_random_avoid_each_other_no_more_often_than_the_bound_says(inside, other):
    u, v = np.array(inside), np.array(other)
    empty = ~(u & v[pairings]).any(axis=1)
    assert empty.mean() <= np.exp(-u.sum() * v.sum() / 6) + 1e-9


@trials(30)
@given(shares=st.tuples(*[st.floats(0.1, 1)] * 3), sizes=st.lists(st.integers(1, 4), min_size=2, max_size=3))
def test_independent_rows_are_tied_no_more_often_than_the_bound_says(shares, sizes):
    """Over all columns b of 3 values: that each value of a has one b, and λ is at least s, has a chance of e^-s."""
    p, m = np.array(shares) / sum(shares), sum(sizes)
    found = []
    for of in itertools.product(range(3), repeat=len(sizes)):
        b = np.repeat(of, sizes)
        found.append((_misses_tie(b, np.array(of)), p[b].prod()))
    for least, _ in found:
        assert 0 <= least <= m - len(sizes)
        assert sum(chance for misses, chance in found if misses >= least) <= np.exp(-least) + 1e-9


# -- the rate of false proposals --------------------------------------------------------------------------------------


def proposals(frame, sure):
    """What is proposed of the rows of a table if `sure(bins)` of them should break it."""
    space = FeatureSpace.infer(frame)
    X = space.encode(frame)
    bins = Bins(space, X, [j for j in range(len(space)) if len(np.unique(X[:, j])) > 1], 2)
    bins.sure = sure(bins)
    return base._mined(bins)


def no_more_often(hits, tables, bound):
    """Whether so many hits are no evidence that a table is hit with a chance above the bound."""
    return binomtest(hits, tables, bound, alternative="greater").pvalue > 1e-3


def test_two_independent_features_are_related_no_more_often_than_the_bound_says():
    """Of the four pairs of values only yes with yes counts: the others hold so many rows that e^-λ is nothing."""
    hits = 0
    for seed in range(300):
        rng = draw(seed)
        frame = pd.DataFrame({name: rng.random(80) < rng.uniform(0.1, 0.2) for name in "uv"})
        hits += bool(proposals(frame, lambda _: 1.5))
    assert hits > 0
    assert no_more_often(hits, 300, np.exp(-1.5))


def test_something_is_proposed_of_a_table_of_independent_features_no_more_often_than_the_bound_says():
    hits, labels = 0, np.array(list("abcdef"))
    for seed in range(60):
        rng = draw(seed)
        frame = pd.DataFrame(
            {f"label {k}": labels[rng.choice(k, 150, p=rng.dirichlet(np.ones(k)))] for k in (3, 6)}
            | {f"count {k}": rng.poisson(k, 150) for k in (1, 2, 9)}
            | {"real": rng.normal(size=150), "yes": rng.random(150) < 0.2}
            | {"hole": pd.Series(rng.integers(0, 5, 150)).where(rng.random(150) < 0.8)}
        )
        hits += bool(proposals(frame, lambda bins: bins.sure - SURE + np.log(10)))
    assert no_more_often(hits, 60, 0.1)


def test_relations_that_a_few_rows_break_are_proposed_as_often_as_none_of_these_is_among_the_rows():
    """One in 200 rows that an implication speaks of breaks it, one in 800 an order: (1 - ε)ⁿ of the tables keep it."""
    tables, m, implied, ordered = 150, 1000, 0, 0
    for seed in range(tables):
        rng = draw(seed)
        u, a = np.arange(m) < 250, rng.poisson(4, m)
        v = np.where(u, rng.random(m) >= 0.005, rng.random(m) < 0.5)
        b = np.where(rng.random(m) < 0.00125, a - 1, a + rng.poisson(1, m))
        implied += "cf.u == True => cf.v == True" in texts(pd.DataFrame({"u": u, "v": v}))
        ordered += "cf.a <= cf.b" in texts(pd.DataFrame({"a": a, "b": b}))
    for found, kept in ((implied, 0.995**250), (ordered, 0.99875**m)):
        assert no_more_often(found, tables, kept)
        assert no_more_often(tables - found, tables, 1 - kept)


# -- nothing by chance -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(12))
def test_nothing_is_proposed_of_independent_columns(seed):
    rng = draw(seed)
    m = int(rng.integers(200, 4000))
    labels = np.array(list("abcdefghij"))
    frame = pd.DataFrame(
        {f"label {k}": labels[rng.choice(k, m, p=rng.dirichlet(np.ones(k)))] for k in (2, 4, 10)}
        | {f"count {k}": rng.poisson(k, m) for k in (1, 5, 30)}
        | {f"coded {k}": np.where(rng.random(m) < 0.2, -9, rng.poisson(8, m)) for k in (0, 1)}
        | {"real": rng.normal(size=m), "yes": rng.random(m) < 0.1, "number": np.arange(m)}
    )
    frame["hole"] = pd.Series(rng.integers(0, 9, m)).where(rng.random(m) < 0.7)
    assert texts(frame) == []


def test_one_exception_is_enough_and_a_few_rows_are_not():
    rng = draw()
    low = rng.poisson(4, M)
    frame = pd.DataFrame({"a": low, "b": low + rng.poisson(1, M)})
    assert texts(frame[:20]) == []
    frame.loc[M - 1, "b"] = frame.loc[M - 1, "a"] - 1
    assert not any("cf.a <= cf.b" in text for text in texts(frame))
    cat = rng.random(M) < 0.2
    frame = pd.DataFrame({"cat": cat, "mammal": cat | (rng.random(M) < 0.3)})
    assert len(texts(frame)) == 1
    frame.loc[M] = [True, False]
    assert texts(frame) == []


def test_what_one_full_pair_of_bins_explains_is_not_proposed():
    """Of 600 rows with -9 in one column 588 have it in the other: that says nothing of the other twelve."""
    rng = draw()
    a, b = rng.integers(0, 60, 10_000), np.array(list("abcdefgh"))[rng.integers(0, 8, 10_000)]
    a[:600] = -9
    b[:588] = "n"
    b[588:600] = "a"  # by chance none of the few has b, say
    assert texts(pd.DataFrame({"a": a, "b": b})) == ['cf.b == "n" => cf.a == -9']
