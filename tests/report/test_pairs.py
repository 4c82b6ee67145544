"""Pages about directions: what was found and no more; whole in themselves, readable, and the same each time."""

from __future__ import annotations

import dataclasses
import re
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import dueto
from dueto.datasets import simulate
from dueto.direction.decide import WHY, Bounds, Evidence, decide
from dueto.errors import InputError
from dueto.report.pairs import SIGNS, pair_page

ODD = ("<b>dose</b>", '$ e"ff_{ 😀 שלום')
QUICK = {"n_permutations": 39, "regressor": dueto.LSIR(widths=(1.0,))}
SCREEN = {"fast": True, "regressor": LinearRegression()}


@pytest.fixture(scope="module")
def pair():
    found = simulate("cubic", 200, rng=0, noise=0.3)
    return dueto.direction(found.x, found.y, names=("dose", "effect"), reject=0.04, rng=7, **QUICK)


@pytest.fixture(scope="module")
def table():
    rng, found = np.random.default_rng(0), simulate("cubic", 200, rng=0, noise=0.3)
    columns = {"dose": found.x, "effect": found.y, ODD[0]: rng.normal(size=200), "constant": 1.0, ODD[1]: "word"}
    return pd.DataFrame(columns)


@pytest.fixture(scope="module")
def many(table):
    return dueto.directions(table, correction="bh", **QUICK | {"n_permutations": 199})


def plain(page: str) -> str:
    """What can be read on a page."""
    text = re.sub(r"<(style|script).*?</\1>", " ", page, flags=re.DOTALL)
    return " ".join(re.sub(r"<[^>]*>", " ", text).split())


def test_the_page_of_a_pair_has_all_that_was_found(pair):
    page = pair.to_html()
    read = plain(page)
    assert pair.arrow == "->"
    assert "<title>dose → effect</title>" in page
    assert "If the assumptions below hold, effect is due to dose." in read
    assert f"Why: {pair.reason.replace('>', '&gt;')}." in read
    for test in (pair.forward, pair.backward):
        assert f"{test.pvalue:.3g} ± {test.stderr:.1g}" in read
        assert f"{test.statistic:.4g}" in read
    assert f"{pair.smi[0]:.4f} {pair.smi[1]:.4f}" in read
    assert "accepted (p &gt; 0.05) rejected (p ≤ 0.04)" in read
    assert "standard deviations of the input 1 1" in read
    assert f"independent of each other to begin with? p = {pair.related.pvalue:.3g}" in read
    assert "39 permutations" in read
    assert "Seed 7" in read
    assert f"dueto {dueto.__version__}" in read
    assert page.count("<svg") == 5


def test_a_pair_that_does_not_tell_says_so_and_why():
    found = dueto.direction(*np.random.default_rng(0).normal(size=(2, 60)), **QUICK)
    assert found.arrow == "?"
    read = plain(found.to_html())
    assert "x ? y" in read
    assert "Which of x and y is due to the other, these data do not tell." in read
    assert found.reason in read


def test_without_tests_the_page_claims_none(pair):
    found = dueto.direction(pair.x, pair.y, names=("dose", "effect"), **SCREEN)
    page = found.to_html()
    read = plain(page)
    assert "By the smaller SMI alone, which is no test," in read
    assert "no tests: the smaller SMI wins" in read
    assert page.count("<svg") == 3
    assert "p-value" not in read
    assert "Bandwidth" not in read  # a straight line has none


def test_what_is_assumed_is_said_on_every_page(pair, many):
    known = dueto.direction(pair.x, pair.y, known_related=True, **QUICK)
    assert "If one of the two causes the other and the assumptions below hold" in plain(known.to_html())
    for one in (pair, many, known):
        assert "if no hidden third variable drives both" in plain(one.to_html())


def test_rows_that_were_drawn_are_told_of(pair):
    found = dueto.direction(pair.x, pair.y, max_rows=60, **SCREEN)
    assert "Pairs 60 of 200, drawn by chance" in plain(found.to_html())


def test_a_pipeline_without_a_bandwidth_has_a_page(pair):
    regressor = make_pipeline(StandardScaler(), LinearRegression())
    assert "Pipeline(steps=" in dueto.direction(pair.x, pair.y, fast=True, regressor=regressor).to_html()


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("tested", [False, True])
def test_the_page_of_a_pair_opens_and_can_be_used_by_everybody(pair, opened, accessible, dark, tested):
    options = QUICK if tested else SCREEN
    found = dueto.direction(pair.x, pair.y, names=ODD, **options)
    page = opened(found.to_html(), dark=dark)
    accessible(page)
    assert page.locator("h1").inner_text() == f"{ODD[0]} {SIGNS[found.arrow]} {ODD[1]}"
    assert page.locator("main b").count() == 0  # a name is no markup


def test_pictures_take_the_colours_of_the_page(pair, opened):
    ink = "getComputedStyle(document.querySelector('#fits-axes_1 text')).fill"
    assert [opened(pair.to_html(), dark=dark).evaluate(ink) for dark in (False, True)] == [
        "rgb(27, 31, 36)",
        "rgb(232, 235, 239)",
    ]


def test_no_two_parts_of_a_page_have_one_name(pair, many):
    for one in (pair, many):
        names = re.findall(r'\bid="([^"]*)"', one.to_html())
        assert len(names) == len(set(names)) > 0


def test_the_same_result_gives_the_same_page_whatever_the_users_style(pair, many):
    import matplotlib as mpl

    before = pair.to_html(), many.to_html()
    with mpl.rc_context({"text.color": "red", "font.size": 30, "axes.facecolor": "black", "text.usetex": True}):
        assert (pair.to_html(), many.to_html()) == before


def test_a_page_is_written_whole_or_not_at_all(pair, tmp_path):
    assert pair.to_html(tmp_path / "page.html") is None
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == pair.to_html()
    with pytest.raises(InputError, match="cannot write"):
        pair.to_html(tmp_path / "none" / "page.html")


def test_a_notebook_shows_the_page_in_a_frame_or_text_without_matplotlib(pair, many, opened, monkeypatch):
    page = opened(f"<title>notebook</title>{pair._repr_html_()}")
    assert page.frame_locator("iframe").locator("h1").inner_text() == "dose → effect"
    for name in ("matplotlib", "matplotlib.figure"):
        monkeypatch.setitem(sys.modules, name, None)
    for one in (pair, many):
        assert one._repr_html_() is None
        with pytest.raises(InputError, match="need the package matplotlib"):
            one.to_html()


# -- many pairs -------------------------------------------------------------------------------------------------------


def test_the_page_of_many_pairs_has_every_pair_surest_first(many, opened, accessible):
    page = opened(many.to_html(), width=1400)
    accessible(page)
    assert page.locator("h1").inner_text() == f"1 arrow among {len(many)} pairs of 4 columns"
    rows = page.locator("#pairs tbody tr")
    assert rows.count() == len(many) == 6
    first = rows.first.locator("th, td").all_inner_texts()
    told = many.table[many.table["arrow"] != "?"].iloc[0]
    assert first[0] == "dose → effect"
    assert first[1:6] == [f"{told[c]:.3g}" for c in ("p_forward", "p_backward", "q_forward", "q_backward", "p_related")]
    assert first[-1] == told["reason"]
    assert ["constant" in text for text in rows.locator("th").all_inner_texts()] == [False] * 3 + [True] * 3
    read = plain(many.to_html())
    assert "3 pairs: could not be tried." in read
    assert "Left out, for they are no numbers: " in read
    assert "Benjamini and Hochberg&#39;s rule, of 6 tests" in read


def test_the_table_can_be_sorted_by_keyboard_with_missing_numbers_last(many, opened):
    page = opened(many.to_html(), width=1400)
    button = page.get_by_role("button", name="p other way")
    column = page.locator("#pairs tbody tr td:nth-child(3)")
    for order, sign in (("ascending", 1), ("descending", -1)):
        button.focus()
        page.keyboard.press("Enter")
        assert page.locator("th[aria-sort]").count() == 1
        assert button.locator("..").get_attribute("aria-sort") == order
        values = [v for text in column.all_inner_texts()[:3] for v in [float(text)]]
        assert values == sorted(values, key=lambda v: sign * v)
        assert column.all_inner_texts()[3:] == ["-"] * 3


def test_without_scripts_the_table_is_still_there(many):
    page = many.to_html()
    assert page.count("<tr") == 1 + len(many)
    assert "<button" not in page.split("<script")[0]


def test_an_arrow_that_points_back_is_shown_from_cause_to_effect(table):
    found = dueto.directions(table, columns=["effect", "dose"], **QUICK)
    assert found.table["arrow"].tolist() == ["<-"]
    assert found.arrows == (("dose", "effect"),)
    page = found.to_html()
    assert "<bdi>dose</bdi> → <bdi>effect</bdi>" in page
    assert 'aria-label="1 arrow: dose to effect"' in page


def test_no_arrow_no_picture(many):
    none = dataclasses.replace(many, table=many.table.assign(arrow="?"))
    page = none.to_html()
    assert "<svg" not in page
    assert "No two columns tell which of them is due to the other." in plain(page)


def test_more_columns_than_can_be_read_are_not_drawn():
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(25, 31)))
    found = dueto.directions(frame, **SCREEN)
    page = found.to_html()
    assert "<svg" not in page
    assert "31 columns are too many to draw: see the table." in plain(page)
    assert page.count('<tr class="arrow"') == len(found.arrows) == 31 * 30 / 2


def test_every_reason_for_no_arrow_is_counted_as_what_it_is(many):
    cases = {
        "linear": {"linear": True},
        "independent": {"p": (0.5, 0.5), "related": 0.5},
        "neither": {"p": (0.01, 0.01), "related": 0.01},
        "both": {"p": (0.5, 0.5), "related": 0.01},
        "inconclusive": {"p": (0.5, 0.06), "related": 0.01},
        "equal": {},
        "far": {"p": (0.001, 0.001)},
    }
    rows = []
    for name, given in cases.items():
        evidence, bounds = Evidence(("a", "b"), 30, (0.1, 0.1), **given), Bounds(0.05, 0.1)
        found = decide(evidence, bounds, known_related=name == "far")
        assert found[0] == "?"
        rows.append({"arrow": "?", "reason": found[1], "n": 30})
    counted = dataclasses.replace(many, table=pd.DataFrame(rows))._undecided()
    assert counted == dict.fromkeys(WHY.values(), 1)


def test_plain_data_make_a_page_without_the_rest_of_the_library(pair):
    told = pair.to_dict() | {
        "settings": dict(pair.settings),
        "fits": [{"width": None, "penalty": None, "converged": None}] * 2,
    }
    page = pair_page(told, dict.fromkeys(("fits", "forward", "backward", "null_forward", "null_backward"), "<svg/>"))
    assert "Bandwidth" not in page
