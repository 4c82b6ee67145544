"""A model gives one checked score a row, counts its rows, and says which row it cannot score."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dueto import Explainer, FeatureSpace, InputError
from dueto.models import Model
from dueto.models.base import BATCH

FRAME = pd.DataFrame({"age": [20, 30, 40, 50], "job": ["clerk", "smith", None, "clerk"]})
SPACE = FeatureSpace.infer(FRAME)
X = SPACE.encode(FRAME)
LINE = FeatureSpace.infer(np.arange(200_000.0)[:, None])


def model(predict, **options):
    return Model(predict, SPACE, **options)


def test_it_is_given_the_table_that_the_space_was_inferred_from():
    given_tables = []
    model(lambda table: given_tables.append(table) or np.zeros(len(table))).score(X)
    pd.testing.assert_frame_equal(given_tables[0], FRAME)


@pytest.mark.parametrize(
    "answer",
    [
        lambda t: t["age"] / 100,
        lambda t: (t["age"] / 100).to_numpy()[:, None],
        lambda t: (t["age"] / 100).tolist(),
        lambda t: (t["age"] / 100).astype(object),
        lambda t: (t["age"] / 100).to_numpy().astype(np.longdouble),
    ],
    ids=["series", "column", "list", "objects", "long"],
)
def test_scores_may_come_in_any_array_like_form(answer):
    score = model(answer).score(X)
    assert score.dtype == np.float64
    assert score.tolist() == [0.2, 0.3, 0.4, 0.5]


def test_truth_values_are_scores_of_zero_and_one():
    assert model(lambda t: t["age"] > 30).score(X).tolist() == [0.0, 0.0, 1.0, 1.0]


def test_a_tie_with_the_threshold_is_undesired():
    half = model(lambda t: t["age"] / 100)
    assert half.good(X).tolist() == [False, False, False, False]
    assert model(half.predict, threshold=0.3).good(X).tolist() == [False, False, True, True]
    assert model(half.predict, threshold=0).good(X).all()


def test_rounding_just_outside_the_range_is_brought_back():
    wobbly = np.array([-1e-8, 1 + 1e-7, 0.5, np.float32(1.0000001)])
    assert model(lambda _: wobbly).score(X).tolist() == [0.0, 1.0, 0.5, 1.0]


def test_rows_are_scored_in_batches_in_order_and_counted():
    sizes = []
    line = Model(lambda t: sizes.append(len(t)) or t[:, 0] / 200_000, LINE)
    rows = np.arange(2.0 * BATCH + 5)[:, None]
    assert np.array_equal(line.score(rows), rows[:, 0] / 200_000)
    assert sizes == [BATCH, BATCH, 5]
    line.good(rows[:7])
    assert line.rows_scored == 2 * BATCH + 12


def test_rows_scored_for_a_check_are_counted_apart():
    half = model(lambda t: t["age"] / 100)
    assert np.array_equal(half.check(X), [*half.score(X[:2]).tolist(), 0.4, 0.5])
    assert (half.rows_checked, half.rows_scored) == (4, 2)


def test_a_reader_is_asked_once_and_may_fail():
    calls = []

    def reader(asked):
        calls.append(asked)
        raise KeyError("nodes")

    half = model(lambda t: t["age"] / 100, reader=reader, name="half")
    assert half.structure is None
    assert half.unstructured == "reading it failed with KeyError: 'nodes'"
    assert calls == [half]
    assert half.score(X).tolist() == [0.2, 0.3, 0.4, 0.5]


def test_no_rows_need_no_call():
    def never(table):
        raise AssertionError(table)

    none = model(never)
    assert none.score(np.empty((0, 2))).shape == (0,)
    assert none.good(np.empty((0, 2))).shape == (0,)
    assert none.rows_scored == 0


def test_a_model_that_writes_on_its_table_does_not_change_the_rows():
    def greedy(table):
        table *= 0
        return table[:, 0]

    rows = np.array([[1.0], [2.0]])
    Model(greedy, LINE).score(rows)
    assert rows.tolist() == [[1.0], [2.0]]


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        ([0.1, np.nan, 0.2, 0.3], r"the score nan to row 1 \(age=30, job=smith\); give a number in \[0, 1\]"),
        ([0.1, 0.2, 1.5, -3.0], r"the score 1.5 to row 2 \(age=40, job=missing\)"),
        ([0.1, 0.2, 0.3, -0.01], r"the score -0.01 to row 3"),
        ([np.inf, 0.2, 0.3, 0.4], r"the score inf to row 0"),
        ([0.1, None, 0.2, 0.3], r"the score nan to row 1"),
        ([0.1, 0.2, 0.3], r"shape \(3,\) for 4 rows; give one score a row"),
        (0.5, r"shape \(\) for 4 rows"),
        (np.zeros((4, 2)), r"shape \(4, 2\) for 4 rows"),
        (None, r"the score nan|shape \(\)"),
        (["yes", "no", "no", "no"], "gave text, such as 'yes', not numbers; give the fitted classifier itself, its p"),
        (pd.Series(["yes", "no", "no", "no"], dtype=object), "gave text, such as 'yes', not numbers"),
        (pd.Series(["yes", "no", "no", "no"], dtype="str"), "gave text, such as 'yes', not numbers"),
        (pd.Series(["yes", "no", "no", "no"], dtype="category"), "gave text, such as 'yes', not numbers"),
        ([[0.1], [0.2, 0.3], [0.1], [0.1]], "other than one number a row"),
        (np.zeros(4, dtype=complex), "values of type complex128"),
    ],
)
def test_answers_that_are_no_scores_are_refused(answer, says):
    with pytest.raises(InputError, match=says):
        model(lambda _: answer).score(X)


def test_a_function_that_predicts_labels_is_told_what_to_give_instead():
    from sklearn.tree import DecisionTreeClassifier

    numbers = FRAME[["age"]]
    tree = DecisionTreeClassifier().fit(numbers, ["no", "no", "yes", "yes"])
    says = "the model 'predict' gave text, such as 'no', not numbers; give the fitted classifier itself, its predict_pr"
    with pytest.raises(InputError, match=says):
        Explainer(tree.predict, numbers).explain(0)
    assert Explainer(tree.predict_proba, numbers).refused.tolist() == [0, 1]


def test_a_wrong_score_in_a_later_batch_is_named_by_its_row():
    with pytest.raises(InputError, match=rf"the score 2 to row {BATCH + 3} \(x0={BATCH + 3}\)"):
        Model(lambda t: np.where(t[:, 0] == BATCH + 3, 2.0, 0.0), LINE).score(np.arange(BATCH + 9.0)[:, None])


@given(bad=st.sets(st.integers(0, BATCH - 1), min_size=1, max_size=4), start=st.sampled_from([0, BATCH]))
def test_the_first_row_that_a_model_fails_on_is_named_with_at_most_17_more_calls(bad, start):
    calls = []

    def picky(table):
        calls.append(len(table))
        if np.isin(table[:, 0], [b + start for b in bad]).any():
            raise KeyError("a row I dislike")
        return np.zeros(len(table))

    with pytest.raises(
        InputError, match=rf"'picky' failed on row {min(bad) + start} \(x0={min(bad) + start}\)"
    ) as caught:
        Model(picky, LINE, name="picky").score(np.arange(2.0 * BATCH)[:, None])
    assert isinstance(caught.value.__cause__, KeyError)
    assert "KeyError: 'a row I dislike'; make it score every row" in str(caught.value)
    assert len(calls) - start // BATCH - 1 <= 17


def test_a_model_that_fails_on_a_batch_but_on_no_row_says_so():
    def shy(table):
        if len(table) > 2:
            raise MemoryError
        return np.zeros(len(table))

    with pytest.raises(InputError, match="failed on a batch of 4 rows with MemoryError; "):
        model(shy).score(X)


def test_a_long_error_is_cut_to_one_line():
    def verbose(table):
        raise RuntimeError(f"{len(table)}\n" + "x" * 1000)

    with pytest.raises(InputError, match=r"RuntimeError: 4 x+\.\.\.; make it") as caught:
        model(verbose).score(X)
    assert len(str(caught.value)) < 500


def test_an_interrupt_is_not_caught():
    first = iter([KeyboardInterrupt])

    def stopped(table):
        for interrupt in first:
            raise interrupt
        return np.zeros(len(table))

    with pytest.raises(KeyboardInterrupt):
        model(stopped).score(X)


def test_rows_of_another_shape_are_refused():
    for rows in (X[0], np.zeros((2, 3))):
        with pytest.raises(InputError, match=r"encoded rows of shape \(N, 2\)"):
            model(lambda t: np.zeros(len(t))).score(rows)


@pytest.mark.parametrize("threshold", [-0.1, 1.0, 1.5, np.nan, np.inf])
def test_a_threshold_outside_the_range_is_refused(threshold):
    with pytest.raises(InputError, match=r"not in \[0, 1\)"):
        model(len, threshold=threshold)


@pytest.mark.parametrize("threshold", ["0.5", None, True])
def test_a_threshold_that_is_no_number_is_a_type_error(threshold):
    with pytest.raises(TypeError, match="threshold must be a number"):
        model(len, threshold=threshold)


def _zeros(table):
    return np.zeros(len(table))


def test_a_model_can_be_sent_to_another_process():
    sent = pickle.loads(pickle.dumps(model(_zeros)))
    assert sent.score(X).tolist() == [0.0] * 4
