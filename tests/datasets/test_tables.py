"""The tables: right rows, right outcomes, and a feature space that gives every row back as it came."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

from dueto import InputError, datasets

if TYPE_CHECKING:
    from pathlib import Path

SHIPPED = {  # loader: rows, columns, rows with the desired outcome
    datasets.load_adult: (48_842, 14, 11_687),
    datasets.load_taiwan_credit: (30_000, 23, 30_000 - 6_636),
    datasets.load_german_credit: (1_000, 20, 700),
}
OUTSIDE = {
    datasets.load_heloc: (10_459, 23, 5_000),
    datasets.load_paper_credit: (29_623, 14, 23_076),
    datasets.load_paper_adult: (45_222, 42, 11_208),
    datasets.load_paper_fico: (9_871, 23, 4_695),
    datasets.load_kdd_census: (299_285, 40, 12_382 + 6_186),
    datasets.load_flights: (3_000_000, 18, 2_400_945),
}


def assert_whole(data: datasets.Dataset, rows: int, columns: int, desired: int) -> None:
    assert data.frame.shape == (rows, columns)
    assert data.target.dtype == bool
    assert data.target.index.equals(data.frame.index)
    assert int(data.target.sum()) == desired
    assert data.target.name not in data.frame
    assert data.space.columns == tuple(data.frame.columns)


def assert_returned_whole(data: datasets.Dataset) -> None:
    X = data.space.encode(data.frame)
    assert data.space.contains(X).all()
    decoded = data.space.decode(X)
    assert decoded.equals(data.frame)
    assert decoded.dtypes.equals(data.frame.dtypes)


@pytest.mark.parametrize("load", SHIPPED)
def test_shipped_table_has_the_rows_and_outcomes_of_its_source(load: Any) -> None:
    assert_whole(load(), *SHIPPED[load])


@pytest.mark.parametrize("load", SHIPPED)
def test_encoding_loses_nothing_of_a_shipped_table(load: Any) -> None:
    assert_returned_whole(load())


@pytest.mark.parametrize("load", SHIPPED)
def test_every_call_returns_a_table_of_its_own(load: Any) -> None:
    first, second = load(), load()
    assert first.frame.equals(second.frame)
    first.frame.iloc[0, 0] = first.frame.iloc[1, 0]
    first.target.iloc[0] = not first.target.iloc[0]
    assert not first.frame.equals(second.frame)
    assert not first.target.equals(second.target)


@pytest.mark.parametrize("load", SHIPPED)
def test_description_and_source_travel_with_a_shipped_table(load: Any) -> None:
    data = load()
    assert "CC BY 4.0" in data.source
    assert data.description.endswith(".")
    assert data.desired in repr(data)


def test_adult_education_is_ordered_as_its_rank_and_tied_to_it() -> None:
    adult = datasets.load_adult()
    education = adult.space["education"]
    assert education.kind == "ordinal"
    np.testing.assert_array_equal(adult.frame["education"].cat.codes + 1, adult.frame["education-num"])
    (group,) = adult.space.groups
    assert {adult.space.names[j] for j in group.members} == {"education", "education-num"}
    assert len(group.tuples) == 16


def test_question_marks_of_adult_are_missing_values() -> None:
    adult = datasets.load_adult()
    assert int(adult.frame.isna().any(axis=1).sum()) == 3_620
    assert set(adult.frame.columns[adult.frame.isna().any()]) == {"workclass", "occupation", "native-country"}
    assert not any("?" in feature.labels for feature in adult.space.features)


def test_german_credit_orders_employment_and_job_only() -> None:
    german = datasets.load_german_credit()
    assert {f.name for f in german.space.features if f.kind == "ordinal"} == {"employment", "job"}
    assert german.space["employment"].labels[::4] == ("unemployed", "7 years or more")


def test_adult_equals_the_repository_files_cell_by_cell(data_folder: Path) -> None:
    raw = pd.read_parquet(data_folder / "adult" / "adult_all.parquet").drop(columns="split")
    adult = datasets.load_adult()
    income = raw.pop("income")
    np.testing.assert_array_equal(adult.target, income == ">50K")
    for column in raw:
        known = raw[column].mask(raw[column] == "?", None)
        assert known.astype(object).equals(adult.frame[column].astype(known.dtype).astype(object)), column


def test_taiwan_credit_equals_the_repository_file_under_its_code_book(data_folder: Path) -> None:
    raw = pd.read_csv(data_folder / "credit_default_taiwan" / "UCI_Credit_Card.csv.gz").drop(columns="ID")
    taiwan = datasets.load_taiwan_credit()
    np.testing.assert_array_equal(taiwan.target, raw.pop("default.payment.next.month") == 0)
    book = {
        "sex": {1: "male", 2: "female"},
        "education": {1: "graduate school", 2: "university", 3: "high school", 4: "other"}
        | {k: f"code {k}" for k in (0, 5, 6)},
        "marriage": {1: "married", 2: "single", 3: "other", 0: "code 0"},
    }
    for old, new in zip(raw, taiwan.frame, strict=True):
        expected = raw[old].map(book[new]) if new in book else raw[old]
        np.testing.assert_array_equal(taiwan.frame[new], expected, err_msg=new)


def test_german_credit_gives_each_code_of_the_repository_one_label(data_folder: Path) -> None:
    raw = pd.read_csv(data_folder / "german_credit" / "german.data", sep=" ", header=None)
    german = datasets.load_german_credit()
    np.testing.assert_array_equal(german.target, raw.pop(20) == 1)
    for old, new in zip(raw, german.frame, strict=True):
        label = german.frame[new]
        if pd.api.types.is_numeric_dtype(label):
            np.testing.assert_array_equal(label, raw[old], err_msg=new)
        else:
            pairs = pd.DataFrame({"code": raw[old], "label": label.astype(str)}).drop_duplicates()
            assert pairs["code"].is_unique, new
            assert pairs["label"].is_unique, new


@pytest.mark.parametrize("load", OUTSIDE)
def test_outside_table_has_the_rows_and_outcomes_of_its_source(load: Any, data_folder: Path) -> None:
    assert_whole(load(folder=data_folder), *OUTSIDE[load])


@pytest.mark.parametrize("load", [f for f in OUTSIDE if f is not datasets.load_flights])
def test_encoding_loses_nothing_of_an_outside_table(load: Any, data_folder: Path) -> None:
    assert_returned_whole(load(folder=data_folder))


def test_one_hot_columns_of_the_paper_are_one_feature_each(data_folder: Path) -> None:
    space = datasets.load_paper_adult(folder=data_folder).space
    widths = {feature.name: len(feature.columns) for feature in space.features if len(feature.columns) > 1}
    assert widths == {"WorkClass": 7, "MaritalStatus": 7, "Occupation": 14, "Relationship": 6}
    assert len(space) == 12


@pytest.mark.parametrize(
    ("load", "nodes", "ties"),
    [(datasets.load_paper_credit, 4_937, 111), (datasets.load_paper_adult, 6_639, 889)],
)
def test_published_tree_reads_the_columns_of_its_table(load: Any, nodes: int, ties: int, data_folder: Path) -> None:
    data = load(folder=data_folder)
    tree, X = data.tree, data.frame.to_numpy(dtype=np.float32)
    assert len(tree["left"]) == nodes
    at = np.zeros(len(X), dtype=np.intp)
    rows = np.arange(len(X))
    while (inner := tree["left"][at] >= 0).any():
        left = X[rows, tree["feature"][at]] <= tree["threshold"][at]
        at = np.where(inner, np.where(left, tree["left"][at], tree["right"][at]), at)
    score = tree["value"][at, 1] / tree["value"][at].sum(axis=1)
    assert int((score == 0.5).sum()) == ties
    good = score > 0.5
    assert good[data.target].mean() > 0.65
    assert good[~data.target].mean() < 0.2


@pytest.mark.parametrize("load", OUTSIDE)
def test_outside_table_without_a_folder_says_what_to_set(load: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DUETO_DATA", raising=False)
    with pytest.raises(InputError, match="not part of dueto; set DUETO_DATA to the folder"):
        load()


@pytest.mark.parametrize("load", OUTSIDE)
def test_outside_table_absent_from_its_folder_names_file_and_folder(
    load: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DUETO_DATA", str(tmp_path))
    with pytest.raises(InputError, match=f"{tmp_path} has no file .+; set DUETO_DATA"):
        load()
