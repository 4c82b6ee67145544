"""A tree answers as scikit-learn does, to the last bit; other arrays are refused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier

from dueto import InputError
from dueto.models import Tree

STUMP = {
    "left": [1, -1, -1],
    "right": [2, -1, -1],
    "feature": [0, -1, -1],
    "threshold": [0.5, 0.0, 0.0],
    "value": [[6, 4], [5, 0], [1, 4]],
}


def fitted(rng, *, missing, kind=DecisionTreeClassifier, classes=2):
    """A tree on numbers of many sizes, some of them missing."""
    m, p = 150, 4
    X = rng.normal(size=(m, p)) * 10.0 ** rng.integers(-6, 7, p)
    X[:, 0] = rng.integers(0, 4, m)
    if missing:
        X[rng.random((m, p)) < 0.2] = np.nan
    return kind(random_state=int(rng.integers(1000))).fit(X, rng.integers(0, classes, m)), X


def around_thresholds(estimator, X, rng):
    """Rows of X, each with one value put on a threshold or on one of its neighbours in float64 and in float32."""
    inner = estimator.tree_.children_left >= 0
    feature, threshold = estimator.tree_.feature[inner], estimator.tree_.threshold[inner]
    near = threshold.astype(np.float32)
    ends = np.float32(np.inf)
    steps = [threshold, np.nextafter(threshold, np.inf), np.nextafter(threshold, -np.inf)]
    steps += [near, np.nextafter(near, ends), np.nextafter(near, -ends)]
    steps += [np.nextafter(s.astype(float), sign * np.inf) for s in steps[3:] for sign in (1, -1)]
    rows = X[rng.integers(0, len(X), len(steps) * len(feature))]
    values, columns = np.concatenate(steps).astype(float), np.tile(feature, len(steps))
    fits = np.abs(values) < np.finfo(np.float32).max
    rows[np.flatnonzero(fits), columns[fits]] = values[fits]
    return rows


@pytest.mark.parametrize("missing", [False, True], ids=["complete", "missing"])
@pytest.mark.parametrize("kind", [DecisionTreeClassifier, ExtraTreeClassifier])
@given(seed=st.integers(0, 10**6))
def test_scores_are_scikit_learns_at_every_threshold(missing, kind, seed):
    rng = np.random.default_rng(seed)
    estimator, X = fitted(rng, missing=missing, kind=kind)
    rows = np.vstack([X, around_thresholds(estimator, X, rng)])
    assert np.array_equal(Tree.from_sklearn(estimator).score(rows), estimator.predict_proba(rows)[:, 1])


@given(seed=st.integers(0, 10**6))
def test_scores_are_scikit_learns_where_thresholds_are_no_midpoints(seed):
    rng = np.random.default_rng(seed)
    estimator, X = fitted(rng, missing=False)
    inner = np.flatnonzero(estimator.tree_.children_left >= 0)
    estimator.tree_.threshold[inner] = X[rng.integers(0, len(X), len(inner)), estimator.tree_.feature[inner]]
    estimator.tree_.threshold[inner[::3]] = estimator.tree_.threshold[inner[::3]].astype(np.float32)
    rows = np.vstack([X, around_thresholds(estimator, X, rng)])
    assert np.array_equal(Tree.from_sklearn(estimator).score(rows), estimator.predict_proba(rows)[:, 1])


def test_missing_values_go_where_the_tree_sends_them_even_if_it_saw_none():
    rng = np.random.default_rng(0)
    estimator, X = fitted(rng, missing=False)
    X[rng.random(X.shape) < 0.3] = np.nan
    assert np.array_equal(Tree.from_sklearn(estimator).score(X), estimator.predict_proba(X)[:, 1])


def test_any_class_of_several_may_be_desired():
    estimator, X = fitted(np.random.default_rng(1), missing=True, classes=3)
    for k in range(3):
        assert np.array_equal(Tree.from_sklearn(estimator, k).score(X), estimator.predict_proba(X)[:, k])


def test_a_tree_that_saw_one_class_scores_one_for_it_and_zero_for_another():
    estimator = DecisionTreeClassifier().fit([[1.0], [2.0]], ["no", "no"])
    assert Tree.from_sklearn(estimator, "no").score([[1.0], [9.0]]).tolist() == [1.0, 1.0]
    assert Tree.from_sklearn(estimator, "yes").score([[1.0], [9.0]]).tolist() == [0.0, 0.0]


def test_more_rows_than_a_block_and_none_are_scored():
    estimator, X = fitted(np.random.default_rng(2), missing=True)
    many = np.tile(X, (500, 1))
    tree = Tree.from_sklearn(estimator)
    assert np.array_equal(tree.score(many), np.tile(tree.score(X), 500))
    assert tree.score(np.empty((0, 4))).shape == (0,)


def test_published_tree_of_the_credit_data_scores_as_its_notes_say(data_folder):
    table = np.loadtxt(data_folder / "paper_credit" / "credit_processed.csv.gz", delimiter=",", skiprows=1)
    score = Tree.load(data_folder / "paper_credit" / "credit_model_tree.npz").score(table[:, 1:])
    assert (int((score <= 0.5).sum()), int((score == 0.5).sum())) == (13_253, 111)


def test_counts_shares_and_plain_probabilities_mean_the_same():
    rows = [[0.0], [1.0]]
    for value in (
        [[6, 4], [5, 0], [1, 4]],
        [[0.6, 0.4], [1.0, 0.0], [0.2, 0.8]],
        [0.4, 0.0, 0.8],
        [[[6, 4]], [[5, 0]], [[1, 4]]],
    ):
        assert Tree.from_arrays(**{**STUMP, "value": value}).score(rows).tolist() == [0.0, 0.8]
    assert Tree.from_arrays(**STUMP, desired=0).score(rows).tolist() == [1.0, 0.2]


def test_equal_children_mark_a_leaf_too():
    tree = Tree.from_arrays(**{**STUMP, "left": [1, 0, 0], "right": [2, 0, 0]})
    assert tree.score([[0.0], [1.0]]).tolist() == [0.0, 0.8]


def test_columns_may_be_renumbered():
    tree = Tree.from_arrays(**STUMP).on_columns([2])
    assert tree.score([[1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]).tolist() == [0.0, 0.8]


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"right": [2, -1]}, "'right' must hold one number a node"),
        ({"feature": ["a", "b", "c"]}, "'feature' must hold one number a node"),
        ({"left": [], "right": [], "feature": [], "threshold": [], "value": []}, "from node 0 exactly once"),
        ({"left": [1, 2, -1], "right": [2, 0, -1], "feature": [0, 0, -1]}, "from node 0 exactly once"),
        ({"left": [0, -1, -1]}, "from node 0 exactly once"),
        ({"left": [7, -1, -1]}, "from node 0 exactly once"),
        ({"feature": [-2, -1, -1]}, "need a column"),
        ({"threshold": [np.nan, 0, 0]}, "need a column .* and a threshold"),
        ({"value": [1, 2]}, "'value' must hold a probability"),
        ({"value": ["a", "b", "c"]}, "'value' must hold a probability"),
        ({"value": [0, 0, 7]}, r"probabilities in \[0, 1\]"),
        ({"value": [0, 0, np.nan]}, r"probabilities in \[0, 1\]"),
        ({"value": [[1, 1], [-1, 2], [1, 1]]}, "not negative"),
        ({"value": [[1, 1], [0, 0], [1, 1]]}, "not all zero"),
        ({"value": [[1], [1], [1]]}, "there is no class 1"),
    ],
)
def test_arrays_that_are_no_tree_are_refused(changed, says):
    with pytest.raises(InputError, match=says):
        Tree.from_arrays(**{**STUMP, **changed})


def test_a_circle_beside_the_root_is_refused():
    with pytest.raises(InputError, match="from node 0 exactly once"):
        Tree.from_arrays([-1, 2, 1, -1, -1], [-1, 3, 4, -1, -1], [-1, 0, 0, -1, -1], np.zeros(5), np.zeros(5))


def test_too_few_columns_are_refused():
    with pytest.raises(InputError, match="at least 3 columns"):
        Tree.from_arrays(**STUMP).on_columns([2]).score([[1.0, 2.0]])


def test_a_tree_of_several_outputs_is_refused():
    estimator = DecisionTreeClassifier().fit([[1.0], [2.0]], [[0, 1], [1, 0]])
    with pytest.raises(InputError, match="2 outputs"):
        Tree.from_sklearn(estimator)
