"""The boxes of a tree's leaves part the space: every row is in one, and has its score."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeClassifier

from dueto import FeatureSpace, InputError
from dueto.models import Tree, as_model

HUGE = np.finfo(np.float32).max


def mixed_table(rng, m=120):
    """Numbers, numbers missing, a one-hot group, truth values, an order set backwards, names that are numbers."""
    color = rng.integers(0, 3, m)
    frame = pd.DataFrame({"age": rng.integers(18, 25, m), "income": rng.normal(size=m) * 1000})
    frame["debt"] = np.where(rng.random(m) < 0.3, np.nan, np.round(rng.normal(size=m), 1))
    for k, name in enumerate(["red", "green", "blue"]):
        frame[f"color_{name}"] = (color == k).astype(float)
    frame.loc[rng.random(m) < 0.1, ["color_red", "color_green", "color_blue"]] = 0.0
    frame["owner"] = rng.random(m) < 0.5
    frame["grade"] = rng.integers(1, 5, m)
    frame["post"] = rng.choice([10, 20, np.nan], m)
    return frame


def mixed_space(frame):
    colors = ["color_red", "color_green", "color_blue"]
    space = FeatureSpace.infer(frame, onehot={"color": colors}, ordinal={"grade": [4, 3, 2, 1]}, category=["post"])
    return space.declare({"income": {"low": -5000, "high": 5000}, "age": {"low": 10, "high": 99}})


def random_rows(space, rng, n):
    """Encoded rows anywhere in the space, missing values where it has them."""
    X = np.empty((n, len(space)))
    for j, feature in enumerate(space.features):
        X[:, j] = rng.choice(feature.domain.values, n)
        if feature.domain.interval is not None:
            X[:, j] = rng.uniform(*feature.domain.interval, n)
        if feature.domain.missing > 0:
            X[rng.random(n) < 0.2, j] = np.nan
    return X


@given(seed=st.integers(0, 10**6), named=st.booleans())
def test_every_row_is_in_one_box_and_has_its_score(seed, named):
    rng = np.random.default_rng(seed)
    frame = mixed_table(rng)
    space = mixed_space(frame)
    estimator = DecisionTreeClassifier(random_state=seed).fit(
        frame if named else frame.to_numpy(), rng.random(120) < 0.5
    )
    model = as_model(estimator, space)
    boxes = model.boxes
    X = random_rows(space, rng, 300)
    bounds = np.concatenate([boxes.low.ravel(), boxes.high.ravel()])
    edges = [(j, v) for j in (0, 1, 2) for v in rng.choice(bounds[np.isfinite(bounds)], 60)]
    X[: len(edges)][np.arange(len(edges)), [j for j, _ in edges]] = [v for _, v in edges]
    inside = boxes.contains(X)
    assert (inside.sum(axis=0) == 1).all()
    assert np.array_equal(boxes.score[inside.argmax(axis=0)], model.score(X))
    few = rng.integers(0, len(boxes), 3)
    for j in range(len(space)):
        assert np.array_equal(boxes.allows(j, X[:, j], few), boxes.allows(j, X[:, j])[few])


@given(
    threshold=st.floats(allow_nan=False)
    | st.floats(width=32, allow_nan=False)
    | st.sampled_from([0.0, -0.0, HUGE, -HUGE]),
    missing_left=st.booleans(),
)
@example(threshold=np.inf, missing_left=True)
def test_bounds_are_the_last_numbers_on_either_side_of_a_threshold(threshold, missing_left):
    tree = Tree.from_arrays(
        [1, -1, -1], [2, -1, -1], [0, -1, -1], [threshold, 0, 0], [0.5, 0.25, 0.75], missing_left=[missing_left] * 3
    )
    boxes = tree.boxes(FeatureSpace.infer([[0.5], [1.5]]))
    below, above = boxes.high[0, 0], boxes.low[1, 0]
    if threshold == np.inf:
        assert below == np.inf
        assert above > boxes.high[1, 0]
    else:
        assert np.nextafter(below, np.inf) == above
        assert tree.score([[below], [above]]).tolist() == [0.25, 0.75]
    assert boxes.missing[:, 0].tolist() == [missing_left, not missing_left]


@given(seed=st.integers(0, 10**6))
def test_a_tree_that_asks_twice_for_what_it_knows_has_boxes_too(seed):
    rng = np.random.default_rng(seed)
    nodes = (
        31  # a full tree of five levels: thresholds of one column in any order, so that some leaves are never reached
    )
    inner = np.arange(nodes) < nodes // 2
    left = np.where(inner, 2 * np.arange(nodes) + 1, -1)
    threshold = rng.choice([0.25, 0.5, 0.1, 0.75, np.inf], nodes)
    tree = Tree.from_arrays(
        left,
        np.where(inner, left + 1, -1),
        rng.integers(0, 2, nodes),
        threshold,
        rng.random(nodes),
        missing_left=rng.random(nodes) < 0.5,
    )
    X = rng.choice([0.1, 0.25, 0.3, 0.5, 0.6, 0.75, 0.9, np.nan], (100, 2))
    boxes = tree.boxes(FeatureSpace.infer(X))
    inside = boxes.contains(X)
    assert (inside.sum(axis=0) == 1).all()
    assert np.array_equal(boxes.score[inside.argmax(axis=0)], tree.score(X))


def test_a_leaf_for_missing_values_alone_allows_no_number():
    X = np.array([[1.0], [2.0], [np.nan]])
    space = FeatureSpace.infer(X)
    boxes = as_model(DecisionTreeClassifier().fit(X, [0, 0, 1]), space).tree.boxes(space)
    assert boxes.allows(0, [-1e300, 1.0, 1e300, np.nan]).tolist() == [
        [True, True, True, False],
        [False, False, False, True],
    ]


def test_a_code_of_a_one_hot_group_is_allowed_if_its_columns_pass_every_split():
    frame = pd.DataFrame({"c_a": [1, 0, 0, 0], "c_b": [0, 1, 0, 0], "c_c": [0, 0, 1, 0]})
    space = FeatureSpace.infer(frame, onehot={"c": list(frame)})
    tree = Tree.from_arrays(
        [1, -1, 3, -1, -1], [2, -1, 4, -1, -1], [0, -1, 2, -1, -1], [0.5, 0, 0.5, 0, 0], [0, 0.1, 0, 0.2, 0.3]
    )
    # Leaves: not a; a and not c; a and c, which no code is. The fourth code is "none".
    assert space["c"].labels == ("a", "b", "c", "(none)")
    assert tree.boxes(space).tables[0].tolist() == [
        [False, True, True, True],
        [True, False, False, False],
        [False, False, False, False],
    ]


def test_a_model_without_a_tree_has_no_boxes():
    model = as_model(lambda table: table[:, 0], FeatureSpace.infer([[0.0], [1.0]]))
    with pytest.raises(InputError, match="is not a decision tree over the raw columns"):
        _ = model.boxes


def test_boxes_need_raw_columns_of_numbers_and_enough_of_them():
    tree = Tree.from_arrays([1, -1, -1], [2, -1, -1], [1, -1, -1], [0.5, 0, 0], [0.5, 0.1, 0.9])
    with pytest.raises(InputError, match="does not stand on the raw columns"):
        tree.boxes(FeatureSpace.infer(pd.DataFrame({"a": [1, 2], "job": ["x", "y"]})))
    with pytest.raises(InputError, match="does not stand on the raw columns"):
        tree.boxes(FeatureSpace.infer([[1.0], [2.0]]))
