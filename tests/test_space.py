"""Feature spaces: inferred, declared, loaded from files, saved and found again; groups of correlated features."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dueto import FeatureSpace, InputError
from trials import trials

if TYPE_CHECKING:
    from pathlib import Path

NAN = float("nan")
FRAME = pd.DataFrame(
    {
        "age": [25, 40, 61, 40],
        "rate": [0.5, 1.5, None, 0.5],
        "job": ["clerk", "smith", None, "clerk"],
        "edu": pd.Categorical(["low", "high", "low", "mid"], categories=["low", "mid", "high"], ordered=True),
        "g_a": [1, 0, 0, 0],
        "g_b": [0, 1, 1, 0],
    }
)
SPACE = FeatureSpace.infer(FRAME, onehot={"g": ["g_a", "g_b"]})


def same_space(one: FeatureSpace, two: FeatureSpace) -> bool:
    return json.dumps(one.to_dict(), sort_keys=True) == json.dumps(two.to_dict(), sort_keys=True)


# -- inferred ---------------------------------------------------------------------------------------------------------


def test_each_feature_has_the_kind_columns_and_domain_of_the_data():
    assert SPACE.names == ("age", "rate", "job", "edu", "g")
    assert [f.kind for f in SPACE.features] == ["integer", "float", "category", "ordinal", "category"]
    assert SPACE.ordered.tolist() == [True, True, False, True, False]
    assert SPACE["g"].columns == ("g_a", "g_b")
    assert SPACE["age"].domain.values.tolist() == [25, 40, 61]
    assert SPACE["age"].domain.counts.tolist() == [1, 2, 1]
    assert [f.domain.missing for f in SPACE.features] == [0, 1, 1, 0, 0]
    assert SPACE.ranges.tolist() == [36, 1, 1, 2, 1]
    assert SPACE.size == 3 * 3 * 3 * 3 * 3
    assert SPACE.encode(FRAME).tolist() == [
        pytest.approx(row, nan_ok=True)
        for row in ([25, 0.5, 0, 0, 0], [40, 1.5, 1, 2, 1], [61, NAN, NAN, 0, 1], [40, 0.5, 0, 1, 2])
    ]


def test_features_of_an_array_are_called_x0_x1():
    assert FeatureSpace.infer(np.zeros((2, 3))).names == ("x0", "x1", "x2")


def test_columns_may_be_ranked_or_only_names():
    space = FeatureSpace.infer(
        FRAME, ordinal={"job": ["smith", "judge", "clerk"], "age": [61, 40, 25]}, category=["rate"]
    )
    assert (space["job"].kind, space["job"].labels) == ("ordinal", ("smith", "judge", "clerk"))
    assert space.encode(FRAME)[:, 0].tolist() == [2, 1, 0, 1]
    assert (space["rate"].kind, space["rate"].labels) == ("category", (0.5, 1.5))
    assert space.decode(space.encode(FRAME)).equals(FRAME)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"ordinal": {"jobs": ["a"]}}, "there is no column 'jobs'"),
        ({"ordinal": {"job": "ab"}}, "the order of 'job' must be a list of names, got 'ab'"),
        ({"ordinal": {"job": ["clerk", "smith", "clerk"]}}, "the order of 'job' names a label twice"),
        ({"ordinal": {"job": ["clerk"]}}, "column 'job', row 1: 'smith' is not one of its categories, 'clerk'"),
        ({"category": ["jobs"]}, "there is no column 'jobs'"),
        ({"category": "job"}, "category must be a list of names, got 'job'"),
        ({"category": ["g_a"], "onehot": {"g": ["g_a", "g_b"]}}, "column 'g_a' belongs to the one-hot group 'g'"),
        ({"groups": [("age", "jobs")]}, "there is no feature 'jobs'; did you mean 'job'"),
        ({"groups": ["ab"]}, "a group must be a list of names, got 'ab'"),
        ({"groups": ("age", "job")}, "a group must be a list of names, got 'age'"),
        ({"groups": 5}, "groups must be a list of names, got 5"),
    ],
)
def test_what_cannot_be_inferred_is_refused(options: dict[str, Any], message: str):
    with pytest.raises(InputError, match=message):
        FeatureSpace.infer(FRAME, **options)


def test_an_unknown_feature_is_refused_with_the_nearest_names():
    assert SPACE.index("edu") == 3
    with pytest.raises(InputError, match="there is no feature 'aeg'; did you mean 'age'"):
        SPACE.index("aeg")
    with pytest.raises(InputError, match="the features are 'age', 'rate', 'job', 'edu', 'g'"):
        SPACE["zzzz"]


def test_a_feature_knows_its_labels_and_codes():
    for feature in SPACE.features:
        for value in feature.domain.values:
            assert feature.code(feature.label(value)) == value
        assert feature.label(NAN) is None
        assert np.isnan(feature.code(None))
    assert [type(SPACE["age"].label(v)) for v in (25.0, 25.5)] == [int, float]
    assert [SPACE["rate"].text(v) for v in (0.1, 1e22, NAN)] == ["0.1", "1e+22", "missing"]


@pytest.mark.parametrize(
    ("feature", "label", "message"),
    [
        ("job", "judge", "feature 'job' has no category 'judge'; it has 'clerk', 'smith'"),
        ("edu", 1, "feature 'edu' has no category 1; it has 'low', 'mid', 'high'"),
        ("age", "old", "feature 'age' holds numbers, so 'old' cannot be one of its values"),
        ("age", True, "feature 'age' holds numbers, so True cannot be one of its values"),
    ],
)
def test_a_label_that_a_feature_has_not_is_refused(feature: str, label: Any, message: str):
    with pytest.raises(InputError, match=message):
        SPACE[feature].code(label)


def test_true_is_not_one():
    space = FeatureSpace.infer(pd.DataFrame({"a": [True, False], "b": pd.Categorical([1, 0])}))
    assert space["a"].code(True) == 1.0
    for name, label in (("a", 1), ("b", True)):
        with pytest.raises(InputError, match="has no category"):
            space[name].code(label)


@pytest.mark.parametrize("shape", [(2, 4), (2, 6), (2, 5, 1)])
def test_encoded_rows_of_another_width_are_refused(shape: tuple[int, ...]):
    with pytest.raises(InputError, match=r"expected encoded rows of shape \(N, 5\)"):
        SPACE.decode(np.zeros(shape))


# -- declared ---------------------------------------------------------------------------------------------------------


def test_a_declaration_changes_what_it_names_and_nothing_else():
    space = SPACE.declare(
        {
            "age": {"low": 18, "high": 20, "missing": True},
            "rate": {"high": 9.5, "missing": False},
            "job": {"values": ["judge", "smith"]},
            "edu": {"values": ["mid", "high"]},
        }
    )
    assert space["age"].domain.values.tolist() == [18, 19, 20]
    assert space["age"].domain.missing == 1
    assert space["rate"].domain.interval == (0.5, 9.5)
    assert space["rate"].domain.missing == 0
    assert space["job"].labels == ("clerk", "smith", "judge")
    assert space["job"].domain.values.tolist() == [1, 2]
    assert space["job"].domain.missing == 1
    assert space["edu"].labels == ("low", "mid", "high")
    assert space["edu"].domain.values.tolist() == [1, 2]
    assert space.features[4] is SPACE.features[4]
    assert SPACE["age"].domain.values.tolist() == [25, 40, 61]
    assert space.size == np.inf
    assert space.contains(space.encode(FRAME)).tolist() == [False] * 4
    new = FRAME.assign(age=19, rate=3.25, job="judge", edu=FRAME["edu"].cat.categories[1])
    assert space.contains(space.encode(new.astype({"edu": FRAME["edu"].dtype}))).all()
    assert space.decode(space.encode(new))["job"].tolist() == ["judge"] * 4


def test_an_integer_feature_may_become_a_float_one():
    space = SPACE.declare({"age": {"kind": "float", "low": 18, "high": 99}})
    assert space["age"].kind == "float"
    assert space["age"].domain.contains([18.5, 17.0]).tolist() == [True, False]
    back = FeatureSpace.infer(FRAME.assign(rate=[1.0, 2.0, None, 1.0])).declare({"rate": {"kind": "integer", "low": 0}})
    assert back["rate"].domain.values.tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("name", "words", "message"),
    [
        ("ages", {}, "there is no feature 'ages'; did you mean 'age'"),
        ("age", {"lo": 1}, "feature 'age': 'lo' cannot be declared; use 'columns', 'high'"),
        ("age", {"low": 5, "high": 1}, "feature 'age': a range from 5 to 1 holds no numbers"),
        ("age", {"low": 1.2, "high": 1.8}, "feature 'age': a range from 1.2 to 1.8 holds no whole number"),
        ("age", {"low": NAN}, "feature 'age': nan cannot be declared"),
        ("age", {"high": np.inf}, "feature 'age': inf cannot be declared"),
        ("rate", {"low": -1e308}, "feature 'rate': -1e.308 cannot be declared; give a number within 1e.150"),
        ("age", {"low": True}, "feature 'age' holds numbers, so True cannot be declared for it"),
        ("age", {"low": "1"}, "feature 'age' holds numbers, so '1' cannot be declared for it"),
        ("age", {"values": []}, "feature 'age': 'values' must be a list of at least one value"),
        ("age", {"values": 5}, "feature 'age': 'values' must be a list of at least one value"),
        ("job", {"values": "clerk"}, "feature 'job': 'values' must be a list of at least one value"),
        ("age", {"values": [1, np.inf]}, "feature 'age': inf cannot be declared"),
        ("age", {"values": [1, None]}, "feature 'age': list no None; declare 'missing' instead"),
        ("job", {"values": ["clerk", None]}, "feature 'job': list no None; declare 'missing' instead"),
        (
            "job",
            {"values": ["clerk", 5]},
            "feature 'job' cannot have the label 5: its labels are 'clerk', 'smith'; change",
        ),
        ("edu", {"values": ["low", "PhD"]}, "feature 'edu' has no label 'PhD'; give the whole order"),
        ("g", {"values": ["a", "c"]}, "one-hot group 'g' has no column for 'c'; it has 'a', 'b', '.none.'"),
        ("age", {"low": 1, "values": [1]}, "feature 'age': declare its 'values', or 'low' and 'high', not both"),
        ("job", {"low": 1}, "feature 'job' is a category: declare its 'values'"),
        ("age", {"missing": "yes"}, "feature 'age': 'missing' must be true or false, got 'yes'"),
        ("g", {"missing": True}, "one-hot group 'g' cannot be missing"),
        ("rate", {"kind": "integer"}, "feature 'rate' cannot be an integer, since 0.5 is one of its values"),
        ("age", {"values": [1, 1.5]}, "feature 'age' cannot be an integer, since 1.5 is one of its values"),
        ("job", {"kind": "ordinal"}, "'job' is of kind 'category' and cannot become 'ordinal' once read"),
        ("age", {"kind": "number"}, "'age' is of kind 'integer' and cannot become 'number' once read"),
    ],
)
def test_a_declaration_that_makes_no_sense_is_refused(name: str, words: dict[str, Any], message: str):
    with pytest.raises(InputError, match=message):
        SPACE.declare({name: words})


def test_a_declaration_that_is_no_mapping_is_refused():
    with pytest.raises(TypeError, match="what is declared of feature 'age' must be a mapping, got 5"):
        SPACE.declare({"age": 5})  # type: ignore[dict-item]


def test_a_feature_that_nobody_has_can_be_declared():
    space = FeatureSpace.infer(pd.DataFrame({"a": [NAN, NAN], "b": [None, None]}))
    with pytest.raises(InputError, match="feature 'a' has no value in the data: declare both 'low' and 'high'"):
        space.declare({"a": {"low": 0}})
    space = space.declare({"a": {"low": 0, "high": 1}, "b": {"values": ["u", "v"]}})
    assert space.decode([[0.5, 1.0]]).iloc[0].tolist() == [0.5, "v"]


# -- loaded -----------------------------------------------------------------------------------------------------------

TOML = """
groups = [["age", "rate"]]

[features.age]
low = 20
high = 45
missing = true

[features.rate]
kind = "category"
values = [0.5, 1.5, 2.5]

[features.job]
kind = "ordinal"
values = ["smith", "clerk", "judge"]

[features.g]
columns = ["g_a", "g_b"]
"""
JSON = json.dumps(
    {
        "groups": [["age", "rate"]],
        "features": {
            "age": {"low": 20, "high": 45, "missing": True},
            "rate": {"kind": "category", "values": [0.5, 1.5, 2.5]},
            "job": {"kind": "ordinal", "values": ["smith", "clerk", "judge"]},
            "g": {"columns": ["g_a", "g_b"]},
        },
    }
)


@pytest.mark.parametrize(("suffix", "text"), [("toml", TOML), ("json", JSON)])
def test_a_file_of_declarations_says_what_python_would(tmp_path: Path, suffix: str, text: str):
    path = tmp_path / f"loan.{suffix}"
    path.write_text(text, encoding="utf-8")
    declared = FeatureSpace.infer(
        FRAME,
        onehot={"g": ["g_a", "g_b"]},
        ordinal={"job": ["smith", "clerk", "judge"]},
        category=["rate"],
        groups=[("age", "rate")],
    ).declare(
        {
            "age": {"low": 20, "high": 45, "missing": True},
            "rate": {"values": [0.5, 1.5, 2.5]},
            "job": {"values": ["smith", "clerk", "judge"]},
        }
    )
    for found in (FeatureSpace.load(path, FRAME), FeatureSpace.load(str(path), FRAME)):
        assert same_space(found, declared)


def test_columns_without_a_name_are_declared_by_their_features_name(tmp_path: Path):
    path = tmp_path / "space.toml"
    path.write_text('[features.x0]\nkind = "category"\n[features.x1]\nlow = 0\n', encoding="utf-8")
    space = FeatureSpace.load(path, np.array([[1, 2], [3, 4]]))
    assert [f.kind for f in space.features] == ["category", "integer"]
    assert space["x1"].domain.values.tolist() == [0, 1, 2, 3, 4]
    path.write_text("[features.7]\nlow = 0\n[features.g]\ncolumns = [8, 9]", encoding="utf-8")
    space = FeatureSpace.load(path, pd.DataFrame([[1, 0, 1]], columns=[7, 8, 9]))
    assert space["7"].domain.values.tolist() == [0, 1]
    assert space["g"].columns == (8, 9)


@pytest.mark.parametrize(
    ("suffix", "text", "message"),
    [
        ("toml", "a =", "loan.toml is not valid TOML: Invalid value"),
        ("json", "{", "loan.json is not valid JSON"),
        ("toml", b"\xff\xfe", "loan.toml is not valid TOML"),
        ("json", "[]", "loan.json must hold a table 'features' and, if wanted, a list 'groups', and nothing else"),
        ("toml", "feature = 1", "must hold a table 'features'"),
        ("toml", "features = [1]", "must hold a table 'features'"),
        ("toml", "[features]\nage = 1", "feature 'age' must be a table, such as {low = 18, high = 99}"),
        ("toml", 'groups = "ab"', "groups must be a list of lists of features"),
        ("toml", "groups = [1]", "groups must be a list of lists of features"),
        ("toml", 'groups = [["age", "x"]]', "there is no feature 'x'"),
        ("toml", "[features.aeg]\nlow = 1", "there is no feature 'aeg'; did you mean 'age'"),
        ("toml", '[features.aeg]\nkind = "category"', "loan.toml declares 'aeg', but the data has no such column"),
        ("toml", '[features.g]\ncolumns = ["g_a", "g_c"]', "loan.toml declares 'g_c', but the data has no such column"),
        ("toml", '[features.g]\ncolumns = "g_a"', "the columns of 'g' must be a list of names, got 'g_a'"),
        ("toml", '[features.job]\nkind = "ordinal"', "give an ordinal its 'values'"),
        ("toml", '[features.job]\nkind = "ordinal"\nvalues = "ab"', "the order of 'job' must be a list of names"),
        ("toml", '[features.job]\nkind = "ordinal"\nvalues = ["clerk"]', "'smith' is not one of its categories"),
        ("toml", "[features.age]\nlow = inf", "feature 'age': inf cannot be declared"),
        ("json", '{"features": {"job": {"values": ["clerk", null]}}}', "feature 'job': list no None"),
    ],
)
def test_a_file_that_makes_no_sense_is_refused(tmp_path: Path, suffix: str, text: str | bytes, message: str):
    path = tmp_path / f"loan.{suffix}"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(InputError, match=message):
        FeatureSpace.load(path, FRAME)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path):
    with pytest.raises(InputError, match=r"cannot read .*none\.toml: No such file"):
        FeatureSpace.load(tmp_path / "none.toml", FRAME)
    with pytest.raises(InputError, match=r"cannot read .*: Is a directory"):
        FeatureSpace.load(tmp_path, FRAME)


# -- saved ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "space",
    [
        SPACE,
        FeatureSpace.infer(FRAME, groups=[("rate", "job")]),
        FeatureSpace.infer(FRAME).declare({"age": {"low": -1e6, "high": 1e6}, "rate": {"low": 0}}),
        FeatureSpace.infer(FRAME.assign(g_a=[1, 0, NAN, 0.5]), onehot={"g": ["g_a", "g_b"]}),
        FeatureSpace.infer(np.array([[1.5, NAN], [2, 3]])),
        FeatureSpace.infer(pd.DataFrame([[1, 2]], columns=[3, ("a", "b")])),
    ],
    ids=["plain", "group with missing", "ranges", "one-hot with missing", "array", "names"],
)
def test_a_saved_space_is_the_same_space(space: FeatureSpace):
    text = json.dumps(space.to_dict(), allow_nan=False)
    found = FeatureSpace.from_dict(json.loads(text))
    assert same_space(found, space)
    assert found.columns == space.columns
    assert found.dtypes == space.dtypes
    rows = np.array([[f.domain.values[0] for f in space.features], [NAN] * len(space)])
    assert str(found.decode(rows)) == str(space.decode(rows))
    assert np.array_equal(found.contains(rows), space.contains(rows))


# -- groups -----------------------------------------------------------------------------------------------------------

cells = st.sampled_from([0.0, 1.0, NAN])


@given(rows=st.lists(st.tuples(cells, cells, cells, cells), min_size=1, max_size=6), row=st.tuples(cells, cells, cells))
@trials(50)
def test_a_group_holds_the_tuples_that_occur_and_no_other(rows: list[tuple[float, ...]], row: tuple[float, ...]):
    frame = pd.DataFrame(rows, columns=list("abcd"))
    space = FeatureSpace.infer(frame, groups=[("c", "a"), ("b", "c")])
    assert [g.members for g in space.groups] == [(0, 1, 2)]
    key = [tuple(map(str, r[:3])) for r in rows]
    assert space.groups[0].counts.sum() == len(rows)
    assert len(space.groups[0].tuples) == len(set(key))
    assert space.groups[0].contains(np.array([[*row, 5.0]])).tolist() == [tuple(map(str, row)) in key]
    d = set(map(str, (r[3] for r in rows)))
    assert space.size == len(set(key)) * len(d)


def test_groups_that_share_a_feature_are_one_group():
    frame = pd.DataFrame([[0] * 6, [1] * 6], columns=list("abcdef"))
    space = FeatureSpace.infer(frame, groups=[("a", "b"), ("c", "d"), ("e",), ("d", "b")])
    assert [g.members for g in space.groups] == [(0, 1, 2, 3)]
    assert [g.members for g in space.grouped(space.encode(frame), [("f", "e")]).groups] == [(0, 1, 2, 3), (4, 5)]
    assert [g.members for g in space.grouped(space.encode(frame), [("f", "a")]).groups] == [(0, 1, 2, 3, 5)]
    assert [g.members for g in space.groups] == [(0, 1, 2, 3)]


def test_an_instance_has_the_tuples_of_its_groups_that_its_domains_hold():
    frame = pd.DataFrame({"a": [1, 2, 3], "b": [4, 5, 6], "c": [0, 0, 1]})
    space = FeatureSpace.infer(frame, groups=[("a", "b")]).declare({"a": {"values": [1, 3]}})
    assert space.contains(space.encode(frame)).tolist() == [True, False, True]
    assert space.size == 4
    late = FeatureSpace.infer(frame).declare({"a": {"values": [1, 3]}}).grouped(space.encode(frame), [("a", "b")])
    assert same_space(late, space)


def test_one_row_of_a_group_alone_is_not_enough():
    space = FeatureSpace.infer(pd.DataFrame({"a": [1, 2], "b": [1, 2]}), groups=[("a", "b")])
    assert space.contains(np.array([[1.0, 1.0], [1.0, 2.0], [2.0, 2.0]])).tolist() == [True, False, True]


# -- tables that do not fit -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda f: f.drop(columns="rate"), "the data has no column 'rate'; it has 'age', 'job', 'edu', 'g_a', 'g_b'"),
        (lambda f: f.assign(job="judge"), "column 'job', row 0: 'judge' is not one of its categories"),
        (lambda f: f.assign(job=17), "'clerk', 'smith'; it is a number, and they are not: change the column's type"),
        (lambda f: f.assign(edu="PhD").astype({"edu": object}), "or give the label its place in the order"),
        (lambda f: f.rename(columns={"rate": "rates"}), "the data has no column 'rate'; did you mean 'rates'"),
        (lambda f: f.assign(age="old"), "column 'age', row 0: 'old' is not a number"),
        (lambda f: f.assign(rate=[0.5, 1, -np.inf, 0]), "column 'rate', row 2: the value is infinite"),
        (lambda f: f.assign(rate=[0.5, 1, 1, 1e200]), "column 'rate', row 3: the value is beyond 1e.150"),
        (lambda f: f.assign(age=[1, 2**53, 1, 1]), "column 'age', row 1: the value is not below 2..53"),
        (lambda f: f.to_numpy()[:, :4], "the array has 4 columns but the space has 6"),
        (lambda f: f.iloc[:0], "the data has no rows"),
    ],
)
def test_a_table_that_does_not_fit_is_refused(change: Any, message: str):
    with pytest.raises(InputError, match=message):
        SPACE.encode(change(FRAME))


def test_a_table_may_have_more_columns_in_another_order():
    wide = FRAME.assign(target=1)[["target", "g_b", "edu", "age", "g_a", "job", "rate"]]
    assert np.array_equal(SPACE.encode(wide), SPACE.encode(FRAME), equal_nan=True)


def test_numbers_may_come_as_text_and_an_array_by_position():
    assert SPACE.encode(FRAME.assign(age=["25", "40.0", "61", " 40"])).tolist()[0][0] == 25
    assert np.array_equal(SPACE.encode(FRAME.to_numpy(dtype=object)), SPACE.encode(FRAME), equal_nan=True)
