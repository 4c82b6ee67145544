"""Distances: the formula by hand, and what it must not depend on."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dueto import Distance, FeatureSpace, InputError
from dueto.distance import joined, parts, steps

NAN = float("nan")
FRAME = pd.DataFrame(
    {
        "age": [20, 40, 60],
        "rate": [0.0, None, 0.5],
        "edu": pd.Categorical(["low", "mid", "high"], categories=["low", "mid", "high"], ordered=True),
        "g_a": [1, 0, 0],
        "g_b": [0, 1, 0],
        "same": [7, 7, 7],
    }
)
SPACE = FeatureSpace.infer(FRAME, onehot={"g": ["g_a", "g_b"]})


def test_the_formula_by_hand():
    x, y = SPACE.encode(FRAME)[[0, 2]]  # steps 1, 1, 1, 1 and 0
    assert steps(SPACE, x, y[None]).tolist() == [[1.0, 1.0, 1.0, 1.0, 0.0]]
    d = [
        0.5,
        1.0,
        0.5,
        1.0,
        0.0,
    ]  # age by half its range, a rate gone missing, one of two grades, another group's label
    y = SPACE.encode(FRAME)[1]
    assert steps(SPACE, x, y[None]).tolist() == [d]
    expected = 0.25 * 4 / 5 + 0.25 * sum(d) / 5 + 0.25 * math.sqrt(sum(v * v for v in d) / 5) + 0.25 * 1.0
    assert Distance()(SPACE, x, y[None]) == pytest.approx([expected])
    alone = [Distance(tuple(np.eye(4)[i]))(SPACE, x, y[None])[0] for i in range(4)]
    assert alone == pytest.approx([4 / 5, 3 / 5, math.sqrt(2.5 / 5), 1.0])
    assert Distance((1, 2, 0, 3))(SPACE, x, y[None])[0] == pytest.approx(4 / 5 + 2 * 3 / 5 + 3)


@pytest.mark.parametrize(("x", "y", "step"), [(NAN, NAN, 0.0), (NAN, 0.25, 1.0), (0.25, NAN, 1.0), (0.25, 0.5, 0.5)])
def test_a_value_gone_missing_or_filled_is_one_whole_step(x: float, y: float, step: float):
    row = np.array([20.0, x, 0.0, 0.0, 7.0])
    other = np.array([[20.0, y, 0.0, 0.0, 7.0]])
    assert steps(SPACE, row, other)[0, 1] == step
    assert steps(SPACE, row, other[:, [1]], [1]).tolist() == [[step]]


def test_a_constant_feature_has_a_range_of_one():
    row = np.array([20.0, 0.0, 0.0, 0.0, 7.0])
    assert steps(SPACE, row, row[None] + [[0, 0, 0, 0, 0.5]])[0].tolist() == [0, 0, 0, 0, 0.5]


def test_no_change_is_too_small_to_be_one():
    space = FeatureSpace.infer(pd.DataFrame({"a": [0.0, 1e-300, 1e150]}))
    found = steps(space, np.zeros(1), np.array([[0.0], [1e-300], [1e150]]))[:, 0]
    assert (found > 0).tolist() == [False, True, True]


cells = st.tuples(
    st.sampled_from([20.0, 30.0, 60.0]),
    st.sampled_from([0.0, 0.25, 0.5, NAN]),
    st.sampled_from([0.0, 1.0, 2.0]),
    st.sampled_from([0.0, 1.0, 2.0]),
    st.just(7.0),
)
weights = st.tuples(*[st.floats(0, 10) for _ in range(4)]).filter(any)


@given(x=cells, y=cells, weights=weights)
def test_it_is_symmetric_zero_only_for_x_itself_and_at_most_the_sum_of_the_weights(x: Any, y: Any, weights: Any):
    distance = Distance(weights)
    a, b = np.array(x), np.array(y)
    there, back = distance(SPACE, a, b[None])[0], distance(SPACE, b, a[None])[0]
    assert there == pytest.approx(back)
    assert 0 <= there <= sum(weights) * (1 + 1e-12)
    assert distance(SPACE, a, a[None])[0] == 0
    if not np.array_equal(a, b, equal_nan=True) and min(weights) > 1e-6:
        assert there > 0


@given(x=cells, y=cells)
def test_neither_the_units_nor_the_order_of_the_features_count(x: Any, y: Any):
    frame = FRAME.assign(age=FRAME["age"] * 1000, rate=FRAME["rate"] / 7 + 3)[
        ["g_b", "same", "edu", "rate", "g_a", "age"]
    ]
    other = FeatureSpace.infer(frame, onehot={"g": ["g_a", "g_b"]})
    scale, shift = np.array([1000, 1 / 7, 1, 1, 1]), np.array([0, 3, 0, 0, 0])
    order = [other.names.index(name) for name in SPACE.names]
    moved = np.empty((2, 5))
    moved[:, order] = np.array([x, y]) * scale + shift
    expected = Distance()(SPACE, np.array(x), np.array([y]))
    assert Distance()(other, moved[0], moved[1:]) == pytest.approx(expected)


@given(x=cells, rows=st.lists(cells, min_size=1, max_size=4), cut=st.integers(0, 5))
def test_steps_on_some_features_and_on_the_others_join_to_steps_on_all(x: Any, rows: Any, cut: int):
    x, X = np.array(x), np.array(rows)
    left, right = list(range(cut)), list(range(cut, 5))
    whole = parts(steps(SPACE, x, X))
    pieces = [parts(steps(SPACE, x, X[:, members], members)) for members in (left, right)]
    assert joined(*pieces) == pytest.approx(whole)
    assert Distance().combine(whole, 5) == pytest.approx(Distance()(SPACE, x, X))


@pytest.mark.parametrize("bad", [(1, 1, 1), (0, 0, 0, 0), (1, -1, 1, 1), (1, NAN, 1, 1), (1, np.inf, 1, 1)])
def test_weights_that_make_no_sense_are_refused(bad: Any):
    with pytest.raises(InputError, match="a distance needs four non-negative weights, not all 0"):
        Distance(bad)
