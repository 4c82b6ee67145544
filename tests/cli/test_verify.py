"""dueto explain --certificate, and dueto verify: what is written, what is refused, and the exit codes."""

from __future__ import annotations

import json

import joblib
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier

from dueto import Component, InputError, Rule, as_model, verify
from dueto.certificates.fingerprint import fingerprint
from dueto.certificates.read import read_certificate

TRUST = ["--trust-pickle"]
ASK = ["tree.pkl", "data.csv", *TRUST]

pytestmark = pytest.mark.usefixtures("folder")


@pytest.fixture
def certificate(dueto, row, tmp_path):
    path = tmp_path / "rule.json"
    code, _, err = dueto("explain", *ASK, "--row", row, "--plaf", "loan.plaf", "--certificate", path)
    assert code == 0
    assert err.endswith(f"dueto: wrote {path}\n")
    return path


def test_what_explain_writes_verifies_without_the_data(dueto, certificate):
    code, out, err = dueto("verify", certificate, "tree.pkl", *TRUST)
    assert (code, err) == (0, "")
    assert out.startswith("Verified: ")
    code, out, _ = dueto("verify", certificate, "tree.pkl", *TRUST, "--json", "--seconds", 20)
    found = json.loads(out)
    assert (code, found["status"]) == (0, "verified")
    assert {check["ok"] for check in found["checks"]} == {True}


def test_a_certificate_that_says_too_much_is_refuted(dueto, certificate, tmp_path):
    made = json.loads(certificate.read_text(encoding="utf-8"))
    del made["rule"]["components"][0]
    path = tmp_path / "other.json"
    path.write_text(json.dumps(made), encoding="utf-8")
    code, out, _ = dueto("verify", path, "tree.pkl", *TRUST)
    assert code == 1
    assert out.startswith("Refuted: ")
    assert "This one is accepted" in out


def test_another_model_is_refuted(dueto, certificate, tmp_path):
    data = pd.read_csv("data.csv")
    other = DecisionTreeClassifier(max_depth=1).fit(data[["age", "income", "debt"]], data["outcome"])
    joblib.dump(other, tmp_path / "other.pkl")
    code, out, _ = dueto("verify", certificate, tmp_path / "other.pkl", *TRUST)
    assert code == 1
    assert "are others than those that were certified" in " ".join(out.split())


@pytest.mark.filterwarnings("ignore:the model is old")
def test_what_cannot_be_shown_again_has_a_code_of_its_own(dueto, certificate, tmp_path):
    made = json.loads(certificate.read_text(encoding="utf-8"))
    made["space"]["features"][0]["domain"] |= {"interval": [0.0, 1e9], "integer": True}  # age, which does not matter
    x = made["applicant"]["labels"]
    bounds = [{"feature": name, "op": op, "value": x[name]} for name in ("income", "debt") for op in ("<=", ">=")]
    text = str(Rule(tuple(Component(**bound) for bound in bounds)))
    made |= {"witnesses": [], "constraints": [], "rule": {"text": text, "components": bounds}}
    made["claims"] = {"consistent": {"by": "nobody"}}
    space = read_certificate(made).space
    made["model"]["fingerprint"] = fingerprint(as_model(joblib.load("talker.pkl"), space, desired="paid"))
    path = tmp_path / "other.json"
    path.write_text(json.dumps(made), encoding="utf-8")
    code, out, _ = dueto("verify", path, "talker.pkl", *TRUST, "--json", "--seconds", 3)  # a black box
    found = json.loads(out)
    assert (code, found["status"]) == (3, "not decided")
    assert [check["ok"] for check in found["checks"]] == [True, True, True, True, None]


def test_where_the_constraints_leave_nobody_that_is_the_headline(dueto, row, tmp_path):
    (tmp_path / "none.plaf").write_text("cf.age >= x.age + 5\ncf.age <= x.age + 3\n")
    path = tmp_path / "rule.json"
    code, _, _ = dueto("explain", *ASK, "--row", row, "--plaf", tmp_path / "none.plaf", "--certificate", path)
    assert code == 1
    code, out, _ = dueto("verify", path, "tree.pkl", *TRUST)
    assert (code, out.splitlines()[0]) == (0, "Verified: the constraints leave nobody, so no rule is needed")
    assert "a witness meets all the others" not in out
    assert json.loads(dueto("verify", path, "tree.pkl", *TRUST, "--json")[1])["nobody"] is True
    made = json.loads(path.read_text(encoding="utf-8")) | {"constraints": []}
    path.write_text(json.dumps(made), encoding="utf-8")
    code, out, _ = dueto("verify", path, "tree.pkl", *TRUST)
    assert (code, out.splitlines()[0]) == (1, "Refuted: (no condition: everybody)")


@pytest.mark.parametrize("text", ["", "age <= 3"])
def test_the_text_of_a_rule_is_always_compared_with_its_components(dueto, certificate, tmp_path, text):
    made = json.loads(certificate.read_text(encoding="utf-8"))
    made["rule"]["text"] = text
    path = tmp_path / "other.json"
    path.write_text(json.dumps(made), encoding="utf-8")
    code, out, _ = dueto("verify", path, "tree.pkl", *TRUST, "--json")
    claims = [check["claim"] for check in json.loads(out)["checks"] if check["ok"] is False]
    assert (code, claims) == (1, ["The text of the rule is that of its components"])


def test_a_certificate_is_read_from_its_text_and_no_message_repeats_it(made, certificate):
    text, tree = certificate.read_text(encoding="utf-8"), joblib.load(made / "tree.pkl")
    assert verify(text, tree).verified
    assert verify(f"\n {text}", tree).verified
    for wrong in (text[:-20], "rule " * 9000, "[1]", f"{text}{text}"):
        with pytest.raises(InputError) as caught:
            verify(wrong, tree)
        assert len(str(caught.value)) < 300


@pytest.mark.parametrize("text", ["", "{", "{}", "[]", '{"format": "dueto certificate", "version": 9}'])
def test_what_is_no_certificate_is_bad_input(dueto, tmp_path, text):
    path = tmp_path / "rule.json"
    path.write_text(text)
    code, out, err = dueto("verify", path, "tree.pkl", *TRUST)
    assert (code, out) == (2, "")
    assert err.startswith("dueto: ")
    assert err.count("\n") == 1


def test_a_pickle_is_not_opened_unasked_and_an_absent_file_is_said(dueto, certificate, tmp_path):
    assert dueto("verify", certificate, "tree.pkl")[0] == 2
    assert dueto("verify", tmp_path / "absent.json", "tree.pkl", *TRUST)[0] == 2
    assert dueto("verify", certificate, "absent.pkl", *TRUST)[0] == 2


def test_one_row_one_certificate_and_no_file_written_over(dueto, made, certificate, tmp_path):
    rows = (made / "refused.txt").read_text().split()[:2]
    path = tmp_path / "two.json"
    code, _, err = dueto("explain", *ASK, *(part for row in rows for part in ("--row", row)), "--certificate", path)
    assert (code, path.exists()) == (2, False)
    assert "takes one row, and 2 are asked about" in err
    code, _, err = dueto("explain", *ASK, "--row", rows[0], "--certificate", certificate)
    assert code == 2
    assert "is there already" in err
    assert dueto("explain", *ASK, "--row", rows[0], "--certificate", tmp_path / "rule.txt")[0] == 2


def test_a_rule_that_is_not_proved_has_no_certificate(dueto, row, tmp_path):
    path = tmp_path / "rule.json"
    asked = ["--row", row, "--counterfactual-method", "geco", "--method", "greedy", "--certificate", path]
    code, out, err = dueto("explain", *ASK, *asked)
    assert (code, path.exists()) == (3, False)
    assert "is refused: its score" in out
    assert "is not written: the rule is not proved: " in err
    assert list(tmp_path.iterdir()) == []
