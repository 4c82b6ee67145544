"""The page of a batch: whole, quiet, escaped, readable by everybody."""

from __future__ import annotations

import re
from itertools import pairwise

import pandas as pd
import pytest

import dueto
from dueto.report.portfolio import portfolio_page

pytest.importorskip("playwright", reason="pages are opened by playwright")


@pytest.mark.parametrize("dark", [False, True])
def test_the_page_is_accessible_and_asks_the_network_for_nothing(whole_run, opened, accessible, dark):
    found, folder = whole_run
    page = opened(folder / "index.html", dark=dark)
    accessible(page)
    assert page.locator("h1").inner_text().startswith(f"{len(found)} refused rows")
    narrow = opened(folder / "index.html", width=360)
    assert narrow.evaluate("document.documentElement.scrollWidth") <= 360


def test_names_of_every_script_are_shown_as_they_are_and_none_is_markup(whole_run, opened):
    page = opened(whole_run[1] / "index.html")
    text = page.locator("main").inner_text()
    assert "job's" in text
    assert page.locator("main b").count() == 0
    conditions = [c for r in whole_run[0].summary["cover"]["rules"] for c in r["conditions"]]
    for condition in conditions:
        assert condition in text


def test_shares_and_counts_of_the_page_are_those_of_the_records(whole_run):
    found, folder = whole_run
    text = (folder / "index.html").read_text(encoding="utf-8")
    proved = sum(r["rule"]["verdict"]["standing"] == "proved" for r in found)
    assert re.search(rf"a proved rule</th><td class=\"number\">{proved}</td>", text)
    (by, ages) = found.summary["by"]
    assert sum(g["rows"] for g in by["groups"]) == len(found)
    assert sum(g["all"] for g in by["groups"]) == sum(g["all"] for g in ages["groups"]) == found.summary["rows"]
    for g in by["groups"]:
        mine = [r for r in found if r["by"]["sex"] == g["group"]]
        assert g["rows"] == len(mine)
        assert g["changeable"] == sum(bool(r["counterfactuals"]) for r in mine)


def test_numbers_of_many_values_are_cut_at_quartiles_in_their_order(whole_run):
    ages = whole_run[0].summary["by"][1]["groups"]
    ends = [tuple(map(float, g["group"].split(" to "))) for g in ages]
    assert len(ends) == 4
    assert ends == sorted(ends)
    assert all(before[1] < after[0] for before, after in pairwise(ends))


def test_a_hostile_summary_is_escaped_everywhere(whole_run):
    evil = "<script>alert(1)</script>"

    def poisoned(thing):
        if isinstance(thing, str):
            return thing + evil
        if isinstance(thing, dict):
            return {key: poisoned(value) for key, value in thing.items()}
        return [poisoned(part) for part in thing] if isinstance(thing, list) else thing

    found, _ = whole_run
    text = portfolio_page(poisoned(found.summary) | {"errors": [{"what": evil, "rows": 1}]}, poisoned(found.question))
    assert evil not in text
    assert "&lt;script&gt;" in text


def test_small_groups_are_marked(whole_run, tmp_path):
    text = whole_run[0].to_html()
    assert "fewer than 30 rows are marked" in text
    data = pd.DataFrame({"a": [0] * 60 + [1] * 60, "b": list(range(60)) * 2})
    explainer = dueto.Explainer(lambda t: t["a"].astype(float), data)
    found = dueto.batch(explainer, out=tmp_path / "out", by={"g": ["x"] * 120}, k=1)
    assert "fewer than 30 rows are marked" not in found.to_html()
