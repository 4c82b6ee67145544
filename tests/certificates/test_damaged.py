"""What is no certificate, or damaged, is refused in one sentence."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from certificates.made import Table, small
from dueto import FeatureSpace, InputError, verify
from dueto.certificates.read import read_certificate
from dueto.certificates.written import written_space
from trials import trials

MADE, MODEL = small()
TEXT = json.dumps(MADE)


def again():
    return json.loads(TEXT)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is not the whole of a JSON file"),
        ("rule", "is not the whole of a JSON file"),
        ("[1, 2]", "is no certificate: it holds a list"),
        ("{}", "its 'format' is None"),
        ('{"format": "dueto certificate", "version": 2}', "is of version 2, and this dueto reads version 1"),
        ('{"format": "dueto certificate", "version": 1}', "has no 'model'"),
        ("\ud800", None),
    ],
)
def test_what_is_no_certificate_is_refused_in_a_sentence(tmp_path, text, said):
    path = tmp_path / "rule.json"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    with pytest.raises(InputError, match=said or "JSON"):
        verify(path, Table(None))
    with pytest.raises(InputError, match="cannot read"):
        verify(tmp_path / "absent.json", Table(None))


def test_a_file_that_ends_too_soon_is_refused(tmp_path):
    path = tmp_path / "rule.json"
    path.write_text(TEXT)
    assert verify(path, MODEL).verified
    for length in (1, len(TEXT) // 3, len(TEXT) - 1):
        path.write_text(TEXT[:length])
        with pytest.raises(InputError, match="is not the whole of a JSON file"):
            verify(path, MODEL)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"rule": {', '"rule": {"text": "", "components": []}, "rule": {', "'rule' stands there twice"),
        ('"seconds": ', '"seconds": NaN, "more": ', "NaN is no number that it may hold"),
        ('"seconds": ', '"seconds": -Infinity, "more": ', "-Infinity is no number that it may hold"),
        ('"seconds": ', '"seconds": 1e999, "more": ', "1e999 is no number that it may hold"),
    ],
)
def test_a_key_that_stands_there_twice_and_numbers_without_end_are_refused(tmp_path, old, new, said):
    path = tmp_path / "rule.json"
    path.write_text(TEXT.replace(old, new, 1))
    with pytest.raises(InputError, match=said):
        verify(path, MODEL)


FEATURES = ("space", "features")
DAMAGED = [
    ("threshold", ("model", "threshold", "0.5"), "'threshold' must be a number"),
    ("threshold of all", ("model", "threshold", 1.0), "is not in"),
    ("constraints", ("constraints", "cf.b >= x.b"), "'constraints' must be a list"),
    ("constraint", ("constraints", ["cf.zzz >= x.b"]), "there is no feature 'zzz'"),
    ("tuples not listed", ("constraints", ['together("a", "b")']), "does not list the tuples"),
    ("claims", ("claims", []), "'claims' must be an object"),
    ("a claim", ("claims", "irredundant", None), "'irredundant' must be an object"),
    ("another claim", ("claims", "fair", {}), "the claim 'fair' is not known"),
    ("no claim", ("claims", {}), "consistent"),
    ("at least", ("claims", "least", "at_least", True), "'at_least' must be a number"),
    ("counted", ("claims", "least", "counted", "letters"), "'counted' must be"),
    ("a weight beyond numbers", ("claims", "least", "weights", {"a": 1e308}), "the weight of 'a' must be positive"),
    ("no weight", ("claims", "least", "weights", {"a": 0}), "the weight of 'a' must be positive"),
    ("a condition", ("rule", "components", 0, {"feature": "job", "op": "<=", "value": "clerk"}), "use '='"),
    ("a bound", ("rule", "components", 0, {"feature": "a", "op": "<=", "value": None}), "use '='"),
    ("more", ("rule", "components", 0, {"feature": "a", "op": "<=", "value": 1, "or": 2}), "says more than"),
    ("the applicant", ("applicant", "encoded", 0, 3.5), "the applicant is one row by its labels"),
    ("a witness", ("witnesses", 0, "labels", "a", 7), "witness 0 is one row by its labels"),
    ("a code", ("applicant", "encoded", 2, -1.0), "the applicant is one row by its labels"),
    ("no such table", ("space", "flavour", "excel"), "which is not known"),
    ("a missing share", (*FEATURES, 0, "domain", "missing", 0.3), "its space is not as dueto writes it"),
    ("a truth as text", (*FEATURES, 0, "domain", "integer", "false"), "its space is not as dueto writes it"),
    (
        "numbers as text",
        (*FEATURES, 0, "domain", "values", ["0", "1", "2", "3"]),
        "its space is not as dueto writes it",
    ),
    ("a range of three", (*FEATURES, 0, "domain", "interval", [0, 1, 2]), "its space is not as dueto writes it"),
    ("numbers that fall", (*FEATURES, 0, "domain", "values", [3.0, 2.0]), "has values that do not rise"),
    ("a table of numbers", (*FEATURES, 0, "domain", "values", [[0.0, 1.0]]), "has values that do not rise"),
    ("no numbers", (*FEATURES, 0, "domain", "values", []), "can have no value at all"),
    ("a huge range", (*FEATURES, 0, "domain", "interval", [-1e308, 1e308]), "has a value that is no number within"),
    ("a range that falls", (*FEATURES, 0, "domain", "interval", [2.0, 1.0]), "has a range that does not run upwards"),
    ("a range of labels", (*FEATURES, 2, "domain", "interval", [0.0, 9.0]), "has labels, and a range"),
    ("too few labels", (*FEATURES, 2, "labels", ["clerk"]), "has a value without a label"),
    ("one label twice", (*FEATURES, 2, "labels", ["clerk", "clerk"]), "has a label twice, or none"),
    ("labels of numbers", (*FEATURES, 0, "labels", [3, 2, 1, 0]), "holds numbers, and has labels"),
    ("tuples of numbers", (*FEATURES, 0, "tuples", [[0.0], [1.0]]), "has tuples that are not those of its labels"),
    ("another kind", (*FEATURES, 0, "kind", "colour"), "is of a kind that is not known"),
    ("a column's name", (*FEATURES, 1, "columns", ["a"]), "'b' is not called by its column, 'a'"),
    ("columns", ("space", "columns", ["a", "b", "job", "more"]), "columns of no feature, or of two"),
    ("truths as positions", ("space", "groups", 0, "members", [False, 2]), "are not positions of features"),
    ("positions from the end", ("space", "groups", 0, "members", [-3, 2]), "are not positions of features"),
    ("tuples too long", ("space", "groups", 0, "tuples", [[0.0, 0.0, 1.0, 1.0]]), "not as long as its members"),
    ("no tuples", ("space", "groups", 0, "tuples", []), "a group has no tuples"),
]


@pytest.mark.parametrize(("path", "said"), [case[1:] for case in DAMAGED], ids=[case[0] for case in DAMAGED])
def test_a_part_that_is_not_what_it_should_be_is_named(path, said):
    made = inside = again()
    *path, last, value = path
    for key in path:
        inside = inside[key]
    inside[last] = value
    with pytest.raises(InputError, match="the certificate is damaged") as refused:
        verify(made, MODEL)
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


def test_groups_that_share_a_feature_and_columns_of_two_features_are_refused():
    made = again()
    made["space"]["groups"] *= 2
    with pytest.raises(InputError, match="each in one group"):
        verify(made, MODEL)
    made = again()
    made["space"]["features"].append(made["space"]["features"][1])  # the same column under the same name
    for row in (made["applicant"], *made["witnesses"]):
        row["encoded"].append(row["encoded"][1])
    with pytest.raises(InputError, match="two features of its space have one name"):
        verify(made, MODEL)


def test_a_space_is_written_as_it_is_read():
    frame = pd.DataFrame(
        {
            "n": [1, 2, 3, 4],
            "f": [0.5, None, 2.0, 1e20],
            "t": [True, False, True, True],
            "c": pd.Categorical(["b", "a", "b", None], categories=["a", "b"], ordered=True),
            "u_x": [1, 0, 0, 0],
            "u_y": [0, 1, 0, 1],
        }
    )
    space = FeatureSpace.infer(frame, onehot={"u": ["u_x", "u_y"]}, groups=[["n", "f"]])
    space = space.declare({"f": {"low": 0, "high": 1e21}})
    saved = json.loads(json.dumps(written_space(space), allow_nan=False))
    assert saved == written_space(space)
    made = again() | {"space": saved, "constraints": [], "witnesses": []}
    made["rule"], made["claims"] = {"text": "", "components": []}, {"consistent": {}}
    row = space.encode(frame)[0]
    made["applicant"] = {
        "encoded": row.tolist(),
        "labels": {f.name: f.label(v) for f, v in zip(space.features, row, strict=True)},
    }
    read = read_certificate(made).space
    assert written_space(read) == saved
    assert read.decode(space.encode(frame)).equals(frame)
    assert np.array_equal(read.contains(space.encode(frame)), np.ones(4, dtype=bool))


JUNK = st.sampled_from([None, True, -1, 0, 2, 1e308, 0.5, "x", "", [], {}, [None], {"a": 1}, float("nan"), 10**400])


def places(made, path=()):
    """Every place of plain data."""
    inside = made.items() if isinstance(made, dict) else enumerate(made) if isinstance(made, list) else ()
    for key, value in inside:
        yield (*path, key)
        yield from places(value, (*path, key))


@given(data=st.data(), junk=JUNK, drop=st.booleans())
@trials(60)
def test_junk_anywhere_is_refused_in_a_sentence_or_judged(data, junk, drop):
    made = again()
    *path, last = data.draw(st.sampled_from(list(places(made))))
    inside = made
    for key in path:
        inside = inside[key]
    if drop:
        del inside[last]
    else:
        inside[last] = junk
    status = ""
    try:
        status = verify(made, MODEL).status
    except InputError as problem:
        said = str(problem)
    assert status in ("verified", "refuted", "not decided") or "certificate" in said or "model" in said
