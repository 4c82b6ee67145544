"""Tables in and out: what a table holds comes back as it was, and no value is changed to fit its column's type."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal as assert_polars_equal

from dueto import FeatureSpace, InputError
from dueto.frames import LARGEST
from trials import trials

NAN = float("nan")


def there_and_back(frame: Any) -> list[Any]:
    """The table decoded from its encoding: by its space, and by its space saved as JSON."""
    space = FeatureSpace.infer(frame)
    saved = json.loads(json.dumps(space.to_dict(), allow_nan=False))
    return [s.decode(s.encode(frame)) for s in (space, FeatureSpace.from_dict(saved))]


def assert_pandas_equal(found: pd.DataFrame, frame: pd.DataFrame) -> None:
    pd.testing.assert_frame_equal(found, frame, check_exact=True, check_names=True, check_column_type="equiv")
    for name in frame:
        if frame[name].dtype == object:  # None and NaN are told apart
            assert [type(v) for v in found[name][frame[name].isna()]] == [
                type(v) for v in frame[name][frame[name].isna()]
            ]


PANDAS = {
    "int64": [3, -1, 3],
    "int8": pd.Series([3, -1, 127], dtype="int8"),
    "uint64": pd.Series([3, 0, 2**53 - 1], dtype="uint64"),
    "Int64, missing": pd.array([3, None, -1], dtype="Int64"),
    "UInt8, missing": pd.array([3, None, 255], dtype="UInt8"),
    "int64 of arrow, missing": pd.array([3, None, -1], dtype="int64[pyarrow]"),
    "float64": [0.1, -2.5, 1e-300],
    "float64, missing": [0.1, NAN, 1e100],
    "float32, missing": pd.Series([0.1, NAN, 3], dtype="float32"),
    "Float64, missing": pd.array([0.1, None, 3.0], dtype="Float64"),
    "double of arrow, missing": pd.array([0.1, None, 3.0], dtype="double[pyarrow]"),
    "sparse": pd.arrays.SparseArray([0.0, 0.0, 1.5]),
    "bool": [True, False, True],
    "bool, one value": [True, True, True],
    "boolean, missing": pd.array([True, None, False], dtype="boolean"),
    "bool of arrow, missing": pd.array([True, None, False], dtype="bool[pyarrow]"),
    "bools and None": pd.Series([True, None, False], dtype=object),
    "text": ["u", "v", "u"],
    "text, missing": ["u", None, "v"],
    "string, missing": pd.array(["u", None, "v"], dtype="string"),
    "objects and None": pd.Series(["u", None, "v"], dtype=object),
    "objects and NaN": pd.Series(["u", NAN, "v"], dtype=object),
    "numbers and None": pd.Series([1.5, None, 2.0], dtype=object),
    "numbers and NaN": pd.Series([1.5, NAN, 2.0], dtype=object),
    "category, missing": pd.Categorical(["u", None, "v"], categories=["v", "w", "u"]),
    "category, ordered": pd.Categorical(["u", None, "v"], categories=["v", "w", "u"], ordered=True),
    "category of numbers": pd.Categorical([1, None, 3], categories=[3, 1]),
    "category of truth values": pd.Categorical([True, None, False]),
    "category, none present": pd.Categorical([None, None, None], categories=["u", "v"]),
    "all missing numbers": [NAN, NAN, NAN],
    "all missing objects": pd.Series([None, None, None], dtype=object),
    "all missing strings": pd.array([None, None, None], dtype="string"),
}


@pytest.mark.parametrize("column", PANDAS.values(), ids=PANDAS)
def test_a_pandas_column_comes_back_as_it_was(column: Any):
    frame = pd.DataFrame({"other": [1, 2, 3], "it": column})
    for found in there_and_back(frame):
        assert_pandas_equal(found, frame)


POLARS = {
    "Int64": pl.Series([3, -1, 3]),
    "UInt8 and null": pl.Series([3, None, 255], dtype=pl.UInt8),
    "UInt64 and null": pl.Series([3, None, 2**53 - 1], dtype=pl.UInt64),
    "Float64 and null": pl.Series([0.1, None, 2.0]),
    "Float64 and NaN": pl.Series([0.1, NAN, 2.0]),
    "Float32 and null": pl.Series([0.1, None, 2.0], dtype=pl.Float32),
    "Decimal and null": pl.Series([Decimal("1.50"), None, Decimal("2.25")], dtype=pl.Decimal(10, 2)),
    "Boolean and null": pl.Series([True, None, False]),
    "String and null": pl.Series(["u", None, "v"]),
    "Categorical and null": pl.Series(["u", None, "v"], dtype=pl.Categorical),
    "Enum and null": pl.Series(["u", None, "v"], dtype=pl.Enum(["v", "w", "u"])),
    "Null": pl.Series([None, None, None]),
}


@pytest.mark.parametrize("column", POLARS.values(), ids=POLARS)
def test_a_polars_column_comes_back_as_it_was(column: pl.Series):
    frame = pl.DataFrame({"other": [1, 2, 3], "it": column})
    for found in there_and_back(frame):
        assert_polars_equal(found, frame, check_exact=True)


ARRAYS = {
    "int64": np.array([[1, 2], [3, 4]]),
    "uint8": np.array([[1, 2], [3, 255]], dtype=np.uint8),
    "float64": np.array([[0.1, NAN], [1e100, -2]]),
    "float32": np.array([[0.1, NAN], [3, -2]], dtype=np.float32),
    "bool": np.array([[True, False], [True, True]]),
    "text": np.array([["a", "bbb"], ["cc", ""]]),
    "text of no fixed width": np.array([["a", "bbb"], ["cc", ""]], dtype=np.dtypes.StringDType()),
    "objects": np.array([["a", 1.5, True, None], [None, None, False, None]], dtype=object),
    "objects, NaN": np.array([["a", 1.5], [NAN, NAN]], dtype=object),
    "objects, numbers": np.array([[1.0, 1.5], [None, NAN]], dtype=object),
}


@pytest.mark.parametrize("array", ARRAYS.values(), ids=ARRAYS)
def test_an_array_comes_back_as_it_was(array: np.ndarray):
    for found in there_and_back(array):
        assert found.dtype == array.dtype
        assert [list(map(repr, row)) for row in found.tolist()] == [list(map(repr, row)) for row in array.tolist()]


def test_rows_in_a_list_keep_the_types_of_their_values():
    space = FeatureSpace.infer([[1, "a"], [2.5, "b"]])
    assert [f.kind for f in space.features] == ["float", "category"]
    assert space.decode(space.encode([[1, "a"]])).tolist() == [[1.0, "a"]]


def test_names_of_columns_keep_their_type_and_order():
    frame = pd.DataFrame([[1, 2, 3]], columns=[7, "b", ("two", "levels")])
    for found in there_and_back(frame):
        assert list(found.columns) == [7, "b", ("two", "levels")]


# -- any table --------------------------------------------------------------------------------------------------------

M = 5
texts = st.text("abcé_ \n", max_size=3)
whole = st.integers(-(2**53) + 1, 2**53 - 1)
numbers = st.floats(-LARGEST, LARGEST)
narrow = st.floats(width=32, allow_nan=False, allow_infinity=False)


def column_of(values: st.SearchStrategy[Any], missing: Any = "no") -> st.SearchStrategy[list[Any]]:
    one = values if isinstance(missing, str) else values | st.just(missing)
    return st.lists(one, min_size=M, max_size=M)


def category(ordered: bool) -> st.SearchStrategy[pd.Categorical]:
    labels = st.lists(texts, unique=True, min_size=1, max_size=4)
    codes = st.lists(st.integers(-1, 3), min_size=M, max_size=M)
    return st.builds(
        lambda labels, codes: pd.Categorical.from_codes([min(c, len(labels) - 1) for c in codes], labels, ordered),
        labels,
        codes,
    )


pandas_columns = st.one_of(
    column_of(whole).map(pd.Series),
    column_of(st.integers(-128, 127)).map(lambda v: pd.Series(v, dtype="int8")),
    column_of(whole, None).map(lambda v: pd.Series(v, dtype="Int64")),
    column_of(numbers, NAN).map(lambda v: pd.Series(v, dtype="float64")),
    column_of(narrow, NAN).map(lambda v: pd.Series(v, dtype="float32")),
    column_of(numbers, None).map(lambda v: pd.Series(v, dtype="Float64")),
    column_of(st.booleans()).map(lambda v: pd.Series(v, dtype="bool")),
    column_of(st.booleans(), None).map(lambda v: pd.Series(v, dtype="boolean")),
    column_of(st.booleans(), None).map(lambda v: pd.Series(v, dtype=object)),
    column_of(texts, None).map(lambda v: pd.Series(v, dtype="str")),
    column_of(texts, None).map(lambda v: pd.Series(v, dtype="string")),
    column_of(texts, None).map(lambda v: pd.Series(v, dtype=object)),
    column_of(texts, NAN).map(lambda v: pd.Series(v, dtype=object)),
    category(ordered=False).map(pd.Series),
    category(ordered=True).map(pd.Series),
)
names = st.lists(st.integers(0, 9) | texts, unique_by=str, min_size=1, max_size=5)


@given(data=st.data(), names=names)
@trials(60)
def test_any_pandas_table_comes_back_as_it_was(data: st.DataObject, names: list[Any]):
    frame = pd.DataFrame({name: data.draw(pandas_columns) for name in names})
    space = FeatureSpace.infer(frame)
    X = space.encode(frame)
    found = space.decode(X)
    assert found.equals(frame)
    assert_pandas_equal(found, frame)
    assert np.array_equal(space.encode(found), X, equal_nan=True)
    assert space.contains(X).all()
    assert np.array_equal(space.encode(frame[frame.columns[::-1]]), X, equal_nan=True)
    assert_pandas_equal(there_and_back(frame)[1], frame)


polars_columns = st.one_of(
    column_of(whole, None).map(lambda v: pl.Series(v, dtype=pl.Int64)),
    column_of(st.integers(0, 255), None).map(lambda v: pl.Series(v, dtype=pl.UInt8)),
    column_of(numbers, None).map(lambda v: pl.Series(v, dtype=pl.Float64)),
    column_of(numbers, NAN).map(lambda v: pl.Series(v, dtype=pl.Float64)),
    column_of(narrow, None).map(lambda v: pl.Series(v, dtype=pl.Float32)),
    column_of(st.booleans(), None).map(lambda v: pl.Series(v, dtype=pl.Boolean)),
    column_of(texts, None).map(lambda v: pl.Series(v, dtype=pl.String)),
    column_of(texts, None).map(lambda v: pl.Series(v, dtype=pl.Categorical)),
    column_of(st.sampled_from("uvw"), None).map(lambda v: pl.Series(v, dtype=pl.Enum("wvxu"))),
)


@given(data=st.data(), names=st.lists(texts, unique=True, min_size=1, max_size=5))
@trials(40)
def test_any_polars_table_comes_back_as_it_was(data: st.DataObject, names: list[str]):
    frame = pl.DataFrame({name: data.draw(polars_columns) for name in names})
    for found in there_and_back(frame):
        assert_polars_equal(found, frame, check_exact=True)


# -- no value is changed to fit a type --------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["int8", "uint8", "Int8", "UInt8", "int16[pyarrow]", "Int64"])
@pytest.mark.parametrize("value", [40_000.0, -300.0, 0.5, NAN])
def test_a_number_that_its_pandas_column_cannot_hold_is_not_changed(dtype: str, value: float):
    space = FeatureSpace.infer(pd.DataFrame({"a": pd.array([0, 1], dtype=dtype)}))
    found = space.decode([[value], [1.0]])["a"]
    assert found.astype("Float64").fillna(-1).tolist() == [-1 if np.isnan(value) else value, 1.0]


@pytest.mark.parametrize("dtype", [pl.Int8, pl.UInt8, pl.Int64, pl.UInt64])
@pytest.mark.parametrize("value", [40_000.0, -300.0, 0.5, NAN])
def test_a_number_that_its_polars_column_cannot_hold_is_not_changed(dtype: Any, value: float):
    space = FeatureSpace.infer(pl.DataFrame({"a": pl.Series([0, 1], dtype=dtype)}))
    found = space.decode([[value], [1.0]])["a"].cast(float).to_list()
    assert found == [None if np.isnan(value) else value, 1.0]


@pytest.mark.parametrize(
    ("array", "words", "code", "expected"),
    [
        (np.array([[True, False], [False, True]]), {"missing": True}, NAN, None),
        (np.array([[1, 2], [3, 4]]), {"missing": True}, NAN, NAN),
        (np.array([["ab", "c"], ["de", "f"]]), {"missing": True}, NAN, None),
        (np.array([["ab", "c"], ["de", "f"]]), {"values": ["ab", "longer"]}, 2.0, "longer"),
        (np.array([[1, 2], [3, 4]], dtype=np.int8), {"values": [1, 3, 300]}, 2.0, 300),
        (np.array([[1, 2], [3, 4]]), {"values": [1, 3, 0.5]}, 2.0, 0.5),
    ],
    ids=["missing truth", "missing number", "missing text", "longer text", "larger number", "fraction"],
)
def test_a_label_that_its_array_cannot_hold_is_not_changed(array: Any, words: Any, code: float, expected: Any):
    space = FeatureSpace.infer(array, category=[0]).declare({"x0": words})
    found = space.decode([[code, 0.0], [0.0, 1.0]])
    assert found[0, 0] == expected or (expected is NAN and np.isnan(found[0, 0]))
    assert found[1, 0] == min(array[:, 0].tolist())


def test_a_fraction_beside_labels_in_an_array_of_whole_numbers_is_not_cut_off():
    space = FeatureSpace.infer(np.array([[1, 2], [3, 4]]), category=[0])
    space = space.declare({"x1": {"kind": "float", "low": 0, "high": 9}})
    assert space.decode([[0.0, 2.5]]).tolist() == [[1.0, 2.5]]


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"a": [1.5, 2.5]}),
        pd.DataFrame({"a": [1, 2], "b": [0.5, 1.5]}),
        pd.DataFrame({"a": ["u", "v"], "b": [True, False]}),
        np.array([[1.0, 2.0], [3.0, 4.0]]),
        np.array([[1, 2], [3, 4]]),
    ],
    ids=["floats", "numbers", "labels", "float array", "integer array"],
)
def test_what_is_done_to_a_decoded_table_does_not_reach_the_encoded_rows(frame: Any):
    space = FeatureSpace.infer(frame)
    X = space.encode(frame)
    before = X.copy()
    table = space.decode(X)
    for j in range(table.shape[1]):
        if isinstance(table, np.ndarray):
            table[:, j] = 0
        else:
            table.isetitem(j, table.iloc[:, j])
            table.iloc[:, j] = table.iloc[::-1, j].to_numpy()
            table.loc[:, table.columns[j]] = table.iloc[0, j]
    assert np.array_equal(X, before)
    assert len(np.unique(np.asarray(space.decode(X), dtype=object).astype(str))) > 1


# -- kinds and codes --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("column", "kind", "labels"),
    [
        ([1, 2], "integer", ()),
        ([1.0, 2.0], "float", ()),
        (pd.array([1, None], dtype="Int64"), "integer", ()),
        (pd.Series([1, None], dtype=object), "float", ()),
        (pd.Series([Decimal("1.5"), Decimal(2)], dtype=object), "float", ()),
        ([True, True], "category", (False, True)),
        (["b", "a"], "category", ("a", "b")),
        (pd.Categorical(["b", "a"], categories=["b", "c", "a"]), "category", ("b", "c", "a")),
        (pd.Categorical(["b", "a"], categories=["b", "c", "a"], ordered=True), "ordinal", ("b", "c", "a")),
        ([None, None], "category", ()),
    ],
    ids=["int", "float", "Int64", "object", "Decimal", "bool", "text", "category", "ordered", "nothing"],
)
def test_the_kind_of_a_column_and_its_labels(column: Any, kind: str, labels: tuple[Any, ...]):
    feature = FeatureSpace.infer(pd.DataFrame({"a": column}))["a"]
    assert feature.kind == kind
    assert feature.ordered == (kind != "category")
    assert feature.labels == labels
    assert [type(label) for label in feature.labels] == [type(label) for label in labels]


def test_whole_numbers_of_polars_stay_whole_beside_a_null():
    space = FeatureSpace.infer(pl.DataFrame({"a": [3, None, 1]}))
    assert space["a"].kind == "integer"
    assert space.encode(pl.DataFrame({"a": [None, 3]}))[:, 0].tolist() == pytest.approx([NAN, 3.0], nan_ok=True)


def test_a_missing_value_is_nan_whatever_the_kind():
    frame = pd.DataFrame({"a": [1.0, None], "b": ["u", None], "c": pd.array([True, None], dtype="boolean")})
    X = FeatureSpace.infer(frame).encode(frame)
    assert np.isnan(X[1]).all()
    assert X[0].tolist() == [1.0, 0.0, 1.0]


def test_minus_zero_is_zero():
    space = FeatureSpace.infer(pd.DataFrame({"a": [0.0, -0.0, 1.0]}))
    assert space["a"].domain.values.tolist() == [0.0, 1.0]
    assert not np.signbit(space.encode(pd.DataFrame({"a": [-0.0]}))[0, 0])


ROW = {"age": 3, "job": "v", "sure": None}
ROWS = {
    "mapping": ROW,
    "mapping with more in it": {"name": "Ann", **ROW},
    "Series": pd.Series(ROW),
    "tuple": tuple(ROW.values()),
    "list": list(ROW.values()),
    "array": np.array(list(ROW.values()), dtype=object),
    "array of one row": np.array([list(ROW.values())], dtype=object),
    "frame of one row": pd.DataFrame([ROW]),
    "frame of one row, other order": pd.DataFrame([ROW])[["sure", "job", "age"]],
    "polars frame of one row": pl.DataFrame([ROW]),
    "polars row": pl.DataFrame([ROW]).row(0, named=True),
    "NumPy scalars": {"age": np.int8(3), "job": np.str_("v"), "sure": pd.NA},
}


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
def test_one_row_may_be_given_in_many_ways(row: Any):
    frame = pd.DataFrame({"age": [1, 2], "job": ["u", "v"], "sure": pd.array([True, None], dtype="boolean")})
    space = FeatureSpace.infer(frame)
    if isinstance(row, np.ndarray) and row.ndim == 2:
        space = FeatureSpace.infer(frame.to_numpy(dtype=object))
    assert space.encode_row(row).tolist() == pytest.approx([3.0, 1.0, NAN], nan_ok=True)


def test_one_row_means_one_row():
    space = FeatureSpace.infer(pd.DataFrame({"a": [1, 2]}))
    with pytest.raises(InputError, match="expected one row, got 2"):
        space.encode_row(pd.DataFrame({"a": [1, 2]}))
