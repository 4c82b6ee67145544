"""A model is given the very table that it was fitted on: kind, names, order, types, marks of missing values."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import validate_data

from dueto import FeatureSpace, InputError
from dueto.models import as_model

MIXED = pd.DataFrame(
    {
        "age": [20, 30, 40],
        "income": [1.5, np.nan, 2.5],
        "rank": pd.array([1, None, 3], dtype="Int64"),
        "small": np.array([0.1, 0.2, 0.3], dtype=np.float32),
        "job": ["clerk", None, "smith"],
        "town": pd.Series(["a", np.nan, "b"], dtype=object),
        "club": pd.Series(["a", None, "b"], dtype=object),
        "size": pd.Categorical(["L", "S", None], categories=["S", "M", "L"], ordered=True),
        "owner": [True, False, True],
        "smoker": pd.array([True, None, False], dtype="boolean"),
    }
)


class Recorder(ClassifierMixin, BaseEstimator):
    """Keeps the tables it is given; with `checks`, checks names as scikit-learn's own estimators do."""

    def __init__(self, checks=False):
        self.checks = checks

    def fit(self, X, y):
        if self.checks:
            validate_data(self, X, dtype=None, ensure_all_finite=False)
        self.classes_ = np.unique(y)
        self.given_ = []
        return self

    def predict_proba(self, X):
        if self.checks:
            validate_data(self, X, dtype=None, ensure_all_finite=False, reset=False)
        self.given_.append(X)
        return np.full((len(X), 2), 0.5)


def given_to(estimator, space, X):
    as_model(estimator, space).score(X)
    return estimator.given_[-1]


def fit(table, *, checks=True):
    return Recorder(checks).fit(table, np.arange(len(table)) % 2)


@pytest.mark.parametrize("checks", [False, True])
def test_a_pandas_frame_comes_back_equal(checks):
    space = FeatureSpace.infer(MIXED)
    pd.testing.assert_frame_equal(given_to(fit(MIXED, checks=checks), space, space.encode(MIXED)), MIXED)


@pytest.mark.parametrize("checks", [False, True])
def test_a_polars_frame_comes_back_equal(checks):
    frame = pl.from_pandas(MIXED.drop(columns=["town", "club", "size"])).with_columns(
        size=pl.Series(["L", "S", None], dtype=pl.Enum(["S", "M", "L"])),
        kind=pl.Series(["u", None, "v"], dtype=pl.Categorical),
    )
    space = FeatureSpace.infer(frame)
    given = given_to(fit(frame, checks=checks), space, space.encode(frame))
    assert given.equals(frame)
    assert given.schema == frame.schema


@pytest.mark.parametrize("missing", [None, np.nan])
def test_an_array_of_objects_comes_back_with_its_mark_of_missing_values(missing):
    table = np.array([["clerk", 1.5], [missing, 2.5], ["smith", 3.5]], dtype=object)
    space = FeatureSpace.infer(table)
    given = given_to(fit(table), FeatureSpace.from_dict(space.to_dict()), space.encode(table))
    assert given.dtype == object
    assert [repr(v) for v in given.ravel()] == [repr(v) for v in table.ravel()]


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, np.uint8])
def test_an_array_of_numbers_comes_back_in_its_type(dtype):
    table = np.array([[1, 2], [3, 4]], dtype=dtype)
    space = FeatureSpace.infer(table)
    given = given_to(fit(table), space, space.encode(table))
    assert given.dtype == dtype
    assert np.array_equal(given, table)


def test_an_estimator_fitted_on_an_array_gets_an_array():
    numbers = MIXED[["age", "income"]]
    space = FeatureSpace.infer(numbers)
    assert np.array_equal(
        given_to(fit(numbers.to_numpy()), space, space.encode(numbers)), numbers.to_numpy(), equal_nan=True
    )
    mixed = MIXED[["age", "job", "owner"]]
    space = FeatureSpace.infer(mixed)
    given = given_to(fit(mixed.to_numpy()), space, space.encode(mixed))
    assert isinstance(given, np.ndarray)
    assert [str(v) for v in given.ravel()] == [str(v) for v in mixed.to_numpy().ravel()]
    frame = pl.from_pandas(numbers)
    space = FeatureSpace.infer(frame)
    assert isinstance(given_to(fit(numbers.to_numpy()), space, space.encode(frame)), np.ndarray)


def test_an_estimator_fitted_on_a_frame_gets_its_columns_in_its_order():
    fitted = fit(MIXED[["owner", "age"]])
    space = FeatureSpace.infer(MIXED)
    pd.testing.assert_frame_equal(given_to(fitted, space, space.encode(MIXED)), MIXED[["owner", "age"]])
    frame = pl.from_pandas(MIXED[["age", "job", "owner"]])
    space = FeatureSpace.infer(frame)
    assert given_to(fitted, space, space.encode(frame)).columns == ["owner", "age"]


def test_an_estimator_fitted_on_a_frame_gets_named_columns_from_an_array():
    numbers = MIXED[["age", "small"]].astype(float)
    space = FeatureSpace.infer(numbers.to_numpy())
    pd.testing.assert_frame_equal(given_to(fit(numbers), space, space.encode(numbers.to_numpy())), numbers)


def test_integer_column_names_are_no_hindrance():
    numbers = pd.DataFrame({7: [1.0, 2.0], 3: [3.0, 4.0]})
    space = FeatureSpace.infer(numbers)
    assert np.array_equal(given_to(fit(numbers), space, space.encode(numbers)), numbers.to_numpy())
    named = numbers.rename(columns=str)[["3", "7"]]
    pd.testing.assert_frame_equal(given_to(fit(named), space, space.encode(numbers)), named)


def test_columns_that_do_not_fit_are_refused():
    with pytest.raises(
        InputError, match="fitted on a column 'owner', which the data does not have; besides the others, it has 'job'"
    ):
        as_model(fit(MIXED[["age", "owner"]]), FeatureSpace.infer(MIXED[["age", "job"]]))
    with pytest.raises(InputError, match="fitted on 2 columns, but the data has 3"):
        as_model(fit(np.zeros((2, 2))), FeatureSpace.infer(np.zeros((2, 3))))


def test_names_of_other_libraries_are_used_if_the_data_has_them():
    fitted = fit(MIXED, checks=False)
    fitted.n_features_in_, fitted.feature_name_ = 2, ["owner", "age"]
    space = FeatureSpace.infer(MIXED[["age", "owner"]])
    assert list(given_to(fitted, space, space.encode(MIXED)).columns) == ["owner", "age"]
    fitted.feature_name_ = ["Column_0", "Column_1"]
    assert isinstance(given_to(fitted, space, space.encode(MIXED)), np.ndarray)


def test_a_declared_label_that_the_type_does_not_list_reaches_the_model():
    frame = pd.DataFrame({"a": pd.Categorical(["u", "v"])})
    space = FeatureSpace.infer(frame).declare({"a": {"values": ["u", "v", "w"]}})
    assert space.decode([[2.0]])["a"].tolist() == ["w"]
    table = pl.DataFrame({"a": pl.Series(["u", "v"], dtype=pl.Enum(["u", "v"]))})
    space = FeatureSpace.infer(table).declare({"a": {"values": ["u", "v", "w"]}})
    assert space.decode([[2.0]])["a"].to_list() == ["w"]


@pytest.mark.parametrize("table", [MIXED[["age", "rank"]], pl.DataFrame({"age": [1, 2], "rank": [1, None]})])
def test_a_fraction_in_a_column_of_whole_numbers_is_not_lost(table):
    wide = {"kind": "float", "low": 0, "high": 99}
    space = FeatureSpace.infer(table).declare({"age": wide, "rank": wide})
    assert np.asarray(space.decode([[1.5, 2.5]])).tolist() == [[1.5, 2.5]]


def test_a_number_beyond_a_small_type_is_kept():
    space = FeatureSpace.infer(np.array([[1], [2]], dtype=np.uint8)).declare({"x0": {"low": -5, "high": 300}})
    assert space.decode([[-5.0], [300.0]]).tolist() == [[-5.0], [300.0]]


def test_a_one_hot_group_cannot_be_declared_missing():
    frame = pd.DataFrame({"c_a": [1, 0], "c_b": [0, 1]})
    with pytest.raises(InputError, match="'c' cannot be missing"):
        FeatureSpace.infer(frame, onehot={"c": list(frame)}).declare({"c": {"missing": True}})


@pytest.mark.parametrize(
    ("there", "told"),
    [
        ("HOURS_per-Week", "did you mean 'HOURS_per-Week'?"),
        ("hourss per week", "did you mean 'hourss per week'?"),
        ("town", "besides the others, it has 'town'"),
        (None, "it has 'hours per day'"),  # which the model was fitted on, too
    ],
)
def test_of_a_column_that_is_not_there_it_is_told_which_other_may_be_meant(there, told):
    table = pd.DataFrame({"hours per week": [40, 20, 10], "hours per day": [8, 4, 2]})
    changed = table.drop(columns="hours per week") if there is None else table.rename(columns={"hours per week": there})
    with pytest.raises(InputError) as problem:
        as_model(fit(table), FeatureSpace.infer(changed))
    assert str(problem.value).endswith(f"fitted on a column 'hours per week', which the data does not have; {told}")
