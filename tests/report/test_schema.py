"""The published schema takes what is printed, and nothing that is damaged."""

from __future__ import annotations

import copy
import json

import joblib
import jsonschema
import pytest
from click.testing import CliRunner

from dueto import InputError
from dueto.cli import main
from dueto.report import schema
from report.kinds import DATA, KINDS, many, tree

CHECK = jsonschema.Draft202012Validator(schema("explanation"))


def test_the_schema_is_one():
    jsonschema.Draft202012Validator.check_schema(schema("explanation"))
    with pytest.raises(InputError, match="no schema 'explanations'; did you mean 'explanation'"):
        schema("explanations")


@pytest.mark.parametrize("kind", KINDS)
def test_what_an_explanation_gives_is_valid(kind):
    CHECK.validate(json.loads(KINDS[kind]().to_json()))


def test_the_kinds_are_of_every_kind():
    found = [make() for make in KINDS.values()]
    assert {e.status for e in found} == {"optimal", "found", "none", "unknown"}
    assert {e.rule.verdict.standing for e in found} == {"proved", "unrefuted", "refuted"}
    assert {type(e.desired) for e in found} >= {str, int, type(None)}
    values = [v for e in found for v in e.applicant.values()]
    assert {type(v) for v in values} >= {str, int, float, bool, type(None)}
    assert any(e.short for e in found)
    assert any(e.broken for e in found)


@pytest.mark.parametrize("kind", ["short", "refuted"])
def test_what_is_damaged_is_not_valid(kind):
    good = KINDS[kind]().to_dict()
    paths = [["score"], ["rule", "verdict", "standing"], ["support", "rows"], ["counterfactuals", 0, "changes"]]
    for *path, last in paths:
        for damage in ("left out", "put wrong"):
            bad = copy.deepcopy(good)
            part = bad
            for step in path:
                part = part[step]
            if damage == "left out":
                del part[last]
            else:
                part[last] = ["?"]
            assert not CHECK.is_valid(json.loads(json.dumps(bad))), (path, last, damage)
    assert not CHECK.is_valid({**json.loads(json.dumps(good)), "surprise": 1})


def test_what_the_command_line_prints_is_valid(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table = many()
    joblib.dump(tree(table, table["income"] > 20), "model.joblib")
    table.to_csv("data.csv", index=False)
    ask = ["explain", "model.joblib", "data.csv", "--trust-pickle", "--desired", "true", "--json"]
    refused = [str(i) for i in range(400) if table["income"][i] <= 20][:2]
    accepted = str(next(i for i in range(400) if table["income"][i] > 20))
    for rows, shape in ((refused[:1], dict), (refused, list), ([refused[0], accepted], list)):
        done = CliRunner().invoke(main, [*ask, "--at-most", "1", *(part for r in rows for part in ("--row", r))])
        told = json.loads(done.stdout)
        assert isinstance(told, shape)
        CHECK.validate(told)


def test_provenance_tells_data_model_and_seed_from_others():
    mine = KINDS["proved"]().to_dict()["provenance"]
    assert mine["seed"] == 0
    assert mine["data"]["rows"] == len(DATA)
    assert KINDS["truths"]().to_dict()["provenance"]["seed"] is None
    other = KINDS["missing"]().to_dict()["provenance"]
    assert mine["data"]["sha256"] != other["data"]["sha256"]
    assert mine["model"]["sha256"] != other["model"]["sha256"]
    assert mine["versions"] == other["versions"]
