"""Domains: what belongs to one, what is drawn from it, and what a declaration makes of it."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dueto import InputError
from dueto.domain import LISTED, Domain, distinct_rows

NAN = float("nan")
values = st.lists(st.sampled_from([0.0, 1.0, 1.5, 2.0, 7.0, NAN]), min_size=1, max_size=12)


@given(column=values)
def test_the_active_domain_is_what_occurs_with_its_counts(column: list[float]):
    domain = Domain.active(np.array(column))
    present = [v for v in column if not np.isnan(v)]
    assert domain.values.tolist() == sorted(set(present))
    assert domain.counts.tolist() == [present.count(v) for v in sorted(set(present))]
    assert domain.missing == len(column) - len(present)
    assert domain.size == len(set(present)) + (domain.missing > 0)
    assert domain.range == ((max(present) - min(present)) or 1.0 if present else 1.0)


@given(column=values, v=st.sampled_from([-1.0, 0.0, 1.0, 1.2, 1.5, 9.0, NAN]))
def test_a_value_belongs_if_it_occurs(column: list[float], v: float):
    belongs = any(v == c or (np.isnan(v) and np.isnan(c)) for c in column)
    domain = Domain.active(np.array(column))
    assert domain.contains(v) == belongs
    assert domain.contains([[v, v]]).tolist() == [[belongs, belongs]]


def test_a_short_range_of_whole_numbers_is_listed():
    domain = Domain.active(np.array([3.0, 3.0, 7.0, NAN])).widened(1.2, 5.9, integer=True)
    assert domain.values.tolist() == [2.0, 3.0, 4.0, 5.0]
    assert domain.counts.tolist() == [0.0, 2.0, 0.0, 0.0]
    assert domain.missing == 1.0
    assert domain.interval is None


def test_a_long_range_of_whole_numbers_holds_all_of_them_and_nothing_else():
    domain = Domain.active(np.array([2.5, 3.0])).widened(-0.5, 10.0 * LISTED, integer=True)
    assert domain.size == 10 * LISTED + 1
    assert domain.range == 10 * LISTED
    assert domain.contains([0.0, -1.0, 2.5, 3.0, 999_999.0, 1e6 + 1, NAN]).tolist() == [
        True, False, False, True, True, False, False,
    ]  # fmt: skip
    assert domain.values.tolist() == [3.0]


def test_a_range_of_real_numbers_is_infinite_and_keeps_the_counts_of_what_was_seen():
    domain = Domain.active(np.array([2.5, 2.5, 30.0])).widened(0.0, 10.0, integer=False)
    assert domain.size == np.inf
    assert domain.contains([0.0, 10.0, 10.1, 0.1234, 30.0]).tolist() == [True, True, False, True, False]
    assert (domain.values.tolist(), domain.counts.tolist()) == ([2.5], [2.0])
    assert domain.range == 10.0


@pytest.mark.parametrize(
    ("low", "high", "integer", "message"),
    [
        (3.0, 1.0, False, "from 3 to 1 holds no numbers"),
        (NAN, 1.0, False, "from nan to 1 holds no numbers"),
        (0.0, np.inf, True, "both finite"),
        (1.2, 1.8, True, "from 1.2 to 1.8 holds no whole number"),
    ],
)
def test_a_range_without_numbers_is_refused(low: float, high: float, integer: bool, message: str):
    with pytest.raises(InputError, match=message):
        Domain.active(np.array([1.0])).widened(low, high, integer=integer)


def test_listed_values_are_the_domain_exactly():
    domain = Domain.active(np.array([1.0, 1.0, 2.0])).listed(np.array([5.0, 1.0, 5.0]))
    assert (domain.values.tolist(), domain.counts.tolist()) == ([1.0, 5.0], [2.0, 0.0])


RANGES = {
    "listed": Domain.active(np.array([1.0, 2.0, 2.0, 5.0, NAN])),
    "real range": Domain.active(np.array([1.0, 2.0, 2.0, 9.0])).widened(0.5, 6.0, integer=False),
    "long range": Domain.active(np.array([1.0, 2.0, 2.0, NAN])).widened(-1e6, 1e6, integer=True),
    "nothing seen": Domain.active(np.array([NAN])).widened(0.0, 1.0, integer=False),
}


@pytest.mark.parametrize("domain", RANGES.values(), ids=RANGES)
@pytest.mark.parametrize(("low", "high"), [(-np.inf, np.inf), (1.0, 2.0), (1.5, 100.0), (2.0, 2.0), (3.1, 3.2), (7, 8)])
def test_candidates_lie_in_the_domain_between_the_bounds_with_positive_weights(domain: Domain, low: float, high: float):
    found, weights = domain.candidates(np.random.default_rng(0), low, high)
    numbers = found[~np.isnan(found)]
    assert domain.contains(found).all()
    assert ((numbers >= low) & (numbers <= high)).all()
    assert (np.diff(numbers) > 0).all()
    assert len(weights) == len(found)
    assert (weights > 0).all()
    assert np.isnan(found).sum() == (domain.missing > 0)
    seen = domain.values[(domain.values >= low) & (domain.values <= high)]
    assert np.isin(seen, numbers).all()
    if domain.interval is not None and max(low, domain.interval[0]) <= min(high, domain.interval[1]):
        assert len(numbers) or domain.integer  # a range that has some is not passed over
    if domain.interval is None:
        assert numbers.tolist() == seen.tolist()


def test_values_never_seen_can_be_drawn_too():
    domain = Domain.active(np.array([1.0, 1.0])).listed(np.array([1.0, 2.0]))
    assert domain.candidates(np.random.default_rng(0))[1].tolist() == [3.0, 1.0]


@pytest.mark.parametrize("domain", RANGES.values(), ids=RANGES)
def test_a_domain_comes_back_from_json(domain: Domain):
    found = Domain.from_dict(json.loads(json.dumps(domain.to_dict(), allow_nan=False)))
    assert vars(found).keys() == vars(domain).keys()
    for name, value in vars(domain).items():
        assert np.array_equal(getattr(found, name), value)


matrices = st.integers(0, 3).flatmap(
    lambda n: st.lists(
        st.lists(st.sampled_from([0.0, -0.0, 1.0, 2.5, NAN, -NAN, 1e-300]), min_size=n, max_size=n),
        min_size=1,
        max_size=12,
    )
)


@given(rows=matrices, seed=st.integers(0, 99))
def test_distinct_rows_are_told_apart_by_value_whatever_their_order(rows: list[list[float]], seed: int):
    X = np.array(rows).reshape(len(rows), -1)

    def key(row: np.ndarray) -> tuple[str, ...]:
        return tuple("missing" if np.isnan(v) else repr(float(v) + 0.0) for v in row)

    first, which, counts = distinct_rows(X)
    assert [key(X[first[w]]) for w in which] == [key(row) for row in X]
    assert len({key(X[i]) for i in first}) == len(first)
    assert counts.tolist() == [sum(key(row) == key(X[i]) for row in X) for i in first]
    shuffled = X[np.random.default_rng(seed).permutation(len(X))]
    assert [key(row) for row in shuffled[distinct_rows(shuffled)[0]]] == [key(row) for row in X[first]]


def test_rows_that_share_a_hash_are_told_apart(monkeypatch: pytest.MonkeyPatch):
    class Zeros:
        def integers(self, *_: object, size: int, **__: object) -> np.ndarray:
            return np.zeros(size, dtype=np.uint64)

    monkeypatch.setattr(np.random, "default_rng", lambda _: Zeros())
    X = np.arange(10.0).reshape(5, 2)
    X = np.vstack([X, X, X[:, ::-1], X[:, ::-1]])  # with equal factors, the columns' order does not count
    first, which, counts = distinct_rows(X)
    assert len(first) == 10
    assert np.array_equal(X[first[which]], X)
    assert (counts == 2).all()
