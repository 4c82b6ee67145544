"""dueto audit: rules from the command line, from a file, and from dueto explain."""

from __future__ import annotations

import json

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.neighbors import KNeighborsClassifier

pytestmark = pytest.mark.usefixtures("folder")

MODEL = ["tree.pkl", "data.csv"]
TRUST = "--trust-pickle"
HOLDS = "income <= 25"


@pytest.mark.parametrize(
    ("rules", "code", "category"),
    [
        ([HOLDS], 0, "GC minimal"),
        ([f"{HOLDS} and age >= 1"], 0, "GC redundant"),
        (["age >= 18"], 1, "FDC"),
        ([HOLDS, "age >= 18"], 1, "FDC"),
    ],
)
def test_the_exit_code_tells_whether_every_rule_holds(dueto, rules, code, category):
    found, out, _ = dueto("audit", *MODEL, *rules, TRUST)
    assert found == code
    assert f"{category}: " in out
    found, out, _ = dueto("audit", *MODEL, *rules, TRUST, "--json")
    assert found == code
    assert [one["category"] for one in json.loads(out)["judgements"]][-1] == category


def test_what_explain_writes_can_be_audited_for_the_rows_that_it_is_about(dueto, row, tmp_path):
    _, out, _ = dueto("explain", *MODEL, "--row", row, TRUST, "--json")
    (tmp_path / "rule.json").write_text(out)
    code, out, _ = dueto("audit", *MODEL, "--rules", tmp_path / "rule.json", TRUST)
    assert code == 0
    assert f"no rule that Row {row} meets has fewer components" in " ".join(out.split())


def test_the_row_may_be_of_the_data_or_a_new_applicant(dueto, row, tmp_path):
    pd.DataFrame({"age": [30], "income": [50], "debt": [3]}).to_csv(tmp_path / "new.csv", index=False)
    code, out, _ = dueto("audit", *MODEL, HOLDS, "--row", row, TRUST, "--json")
    (one,) = json.loads(out)["judgements"]
    assert (one["label"], one["applicant"] is not None) == (f"Row {row}", True)
    code, out, _ = dueto("audit", *MODEL, HOLDS, "--row", 0, "--applicants", tmp_path / "new.csv", TRUST)
    assert code == 1
    assert "not relevant: Row 0 of new.csv does not meet income <= 25" in out


def test_what_only_a_search_says_has_a_code_of_its_own(dueto, tmp_path):
    data = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 5)).round(2), columns=list("abcde"))
    black_box = KNeighborsClassifier(3).fit(data, np.arange(60) == 0)  # one neighbour of three is never enough
    joblib.dump(black_box, tmp_path / "neighbours.pkl")
    data.to_csv(tmp_path / "data.csv", index=False)
    code, out, _ = dueto("audit", tmp_path / "neighbours.pkl", tmp_path / "data.csv", "a <= 0", TRUST)
    assert code == 3
    assert "not refuted: geco scored" in out


def test_what_cannot_be_audited_is_said_in_a_sentence(dueto, tmp_path):
    (tmp_path / "rules.txt").write_text("age <= 40\nagee <= 40\n")
    for arguments, message in [
        ([], "give either rules, each in quotes, or a file of them by --rules FILE"),
        ([HOLDS, "--rules", tmp_path / "rules.txt"], "give either rules"),
        (["--rules", tmp_path / "rules.txt"], "rules.txt, line 2: "),
        ([HOLDS, "--applicants", "data.csv"], "give --row N"),
        ([HOLDS, "--row", 999], "there is no row 999"),
    ]:
        code, _, err = dueto("audit", *MODEL, *arguments, TRUST)
        assert code == 2
        assert message in err
