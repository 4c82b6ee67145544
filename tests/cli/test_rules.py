"""dueto rules compare: every method on one row."""

from __future__ import annotations

import json

import pytest

pytestmark = pytest.mark.usefixtures("folder")

MODEL = ["tree.pkl", "data.csv"]
TRUST = "--trust-pickle"


def test_every_method_has_a_line_and_its_rule(dueto, row):
    code, out, _ = dueto("rules", "compare", *MODEL, "--row", row, TRUST)
    assert code == 0
    for method in ("greedy", "genetic", "genetic-cf", "anchor", "set-cover", "minimum"):
        assert f"\n{method} " in out
        assert f"\n{method}:\n  - " in out


def test_several_rows_are_a_list_and_a_bad_one_does_not_stop_the_others(dueto, row):
    code, out, err = dueto(
        "rules", "compare", *MODEL, "--row", row, "--row", 10_000, TRUST, "--json", "--methods", "minimum"
    )
    assert code == 2
    assert "there is no row 10000" in err
    good, bad = json.loads(out)
    assert good["found"][0]["judgement"]["category"] == "GC minimal"
    assert bad["row"] == 10_000


def test_an_unknown_method_is_named_with_those_that_there_are(dueto, row):
    code, _, err = dueto("rules", "compare", *MODEL, "--row", row, TRUST, "--methods", "minimum,magic")
    assert code == 2
    assert "there is no rule finder 'magic'" in err
    assert "set-cover" in err
