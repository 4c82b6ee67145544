"""A written file of declarations is read back as the same space."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dueto import FeatureSpace, InputError
from dueto.cli.declarations import write_declarations
from trials import trials

FRAME = pd.DataFrame(
    {
        "age": [20, 40, 40, 61],
        "income": [1.5, 2.0, np.nan, 1e22],
        "job": ["clerk", None, "smith", "clerk"],
        "post code": [1010, 1020, 1010, 1030],
        "grade": ["low", "high", "mid", "low"],
        "owner": [True, False, True, True],
        "home_rent": [1, 0, 0, 0],
        "home_own": [0, 1, 1, 0],
        'a "quoted.name"\\': ["é\n", "\x7f", "#", "x = 1"],
    }
)
HOME = {"home": ["home_rent", "home_own"]}
GRADES = {"grade": ["low", "mid", "high"]}
SORTED = FRAME.assign(grade=pd.Categorical(FRAME["grade"], ["none", "low", "mid", "high"], ordered=True))
SPACES = {
    "as inferred": (FRAME, {}, {}),
    "one-hot": (FRAME, {"onehot": HOME}, {}),
    "ordinal": (FRAME, {"ordinal": GRADES}, {}),
    "ordinal with a grade that nobody has": (SORTED, {}, {}),
    "numbers that are names": (FRAME, {"category": ["post code"]}, {}),
    "groups": (FRAME, {"onehot": HOME, "groups": [["age", "home"], ["job", "grade"]]}, {}),
    "whole numbers in a range": (FRAME, {}, {"age": {"low": 18, "high": 99}}),
    "whole numbers without a gap, and none at all": (
        pd.DataFrame({"a": [3, 2, 4], "b": pd.array([None] * 3, "Int64")}),
        {},
        {},
    ),
    "numbers like codes that are names": (pd.DataFrame({"a": [0, 2, 1]}), {"category": ["a"]}, {}),
    "many whole numbers": (FRAME, {}, {"age": {"low": 0, "high": 1_000_000}}),
    "whole numbers, listed": (FRAME, {}, {"age": {"values": [20, 30, 99]}}),
    "narrowed": (FRAME, {}, {"age": {"values": [20, 61]}, "job": {"values": ["smith"]}}),
    "real numbers": (FRAME, {}, {"income": {"low": 0, "high": 2.5}}),
    "whole numbers made real": (FRAME, {}, {"age": {"kind": "float", "low": 0.5, "high": 99}}),
    "new labels": (FRAME, {}, {"job": {"values": ["smith", "clerk", "baker", "a"]}}),
    "missing allowed": (FRAME, {}, {"age": {"missing": True}, "owner": {"missing": True}}),
    "missing forbidden": (FRAME, {}, {"job": {"missing": False}, "income": {"missing": False}}),
}


def saved(space):
    return json.dumps(space.to_dict())  # as text, since NaN is not NaN


@pytest.mark.parametrize("suffix", [".toml", ".json"])
@pytest.mark.parametrize("name", SPACES)
def test_a_written_space_is_read_back_as_it_was(tmp_path, name, suffix):
    frame, how, more = SPACES[name]
    space = FeatureSpace.infer(frame, **how).declare(more)
    path = tmp_path / f"space{suffix}"
    write_declarations(path, space, frame, data="data.csv")
    assert saved(FeatureSpace.load(path, frame)) == saved(space)


TEXT = st.text(st.characters(codec="utf-8"), max_size=6)


@trials(50)
@given(st.dictionaries(TEXT, st.lists(TEXT, min_size=3, max_size=3), min_size=1, max_size=3))
def test_names_and_labels_may_be_any_text(tmp_path_factory, columns):
    frame = pd.DataFrame(columns)
    space = FeatureSpace.infer(frame)
    for suffix in (".toml", ".json"):
        path = tmp_path_factory.mktemp("odd") / f"space{suffix}"
        write_declarations(path, space, frame, data="data.csv")
        assert saved(FeatureSpace.load(path, frame)) == saved(space)


def test_a_file_that_is_there_is_left_alone(tmp_path):
    path = tmp_path / "space.json"
    path.write_text("mine")
    with pytest.raises(InputError, match="is there already"):
        write_declarations(path, FeatureSpace.infer(FRAME), FRAME, data="data.csv")
    assert path.read_text() == "mine"


def test_json_is_a_file_of_declarations_too(tmp_path):
    write_declarations(tmp_path / "s.json", FeatureSpace.infer(FRAME), FRAME, data="data.csv")
    found = json.loads((tmp_path / "s.json").read_text(encoding="utf-8"))
    assert found["features"]["age"] == {"kind": "integer"}
    assert found["features"]["owner"] == {"kind": "category", "values": [False, True]}
