"""A letter gives the reasons that the rule gives, the weightiest first, and claims no more."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
from markdown_it import MarkdownIt

import dueto
from dueto import InputError
from dueto.report.letter import reasons
from report.kinds import DATA, KINDS, NASTY, model


def lines(letter: str) -> list[str]:
    return re.findall(r"^\d+\. (.*)$", letter, re.MULTILINE)


def test_reasons_are_the_rule_s_conditions_with_the_applicant_s_values(tmp_path):
    e = KINDS["proved"]()
    e.to_letter(tmp_path / "letter.txt")
    assert lines((tmp_path / "letter.txt").read_text(encoding="utf-8")) == [
        "income: yours is 22; at most 22 counts against you.",
        "debt: yours is 32; at least 32 counts against you.",
    ]


def test_reasons_that_set_the_applicant_most_apart_from_the_accepted_come_first():
    table = pd.DataFrame({"a": [1, 1, 1, 1, 2, 9], "b": [1, 2, 2, 2, 1, 9], "c": [1, 2, 2, 1, 2, 9]})

    def picky(t):
        return ((t["a"] > 1) | (t["b"] > 1) | (t["c"] > 1)) * 1.0

    e = dueto.explain(picky, table, 0)
    apart = [(one["feature"], one["apart"], one["accepted"]) for one in reasons(e)]
    assert apart == [("b", 4, 5), ("c", 4, 5), ("a", 2, 5)]  # b before c: a tie, in the rule's order
    accepted = table[picky(table) > 0]
    for name, away, of in apart:
        assert (of, away) == (len(accepted), int((accepted[name] > 1).sum()))


def test_at_most_four_reasons_are_given_and_what_is_left_out_is_told_to_the_lender():
    e = KINDS["wide"]()
    letter = e.to_letter()
    assert len(lines(letter)) == 4
    assert "The rule has 25 conditions, and only all together settle the decision; 4 are given." in letter
    assert len(lines(e.to_letter(at_most=9))) == 9
    with pytest.raises(InputError, match="at_most, the most reasons of a letter, must be at least 1, got 0"):
        e.to_letter(at_most=0)


def test_what_is_not_known_is_a_blank_to_fill_and_what_is_given_stands_there():
    e = KINDS["proved"]()
    blank = e.to_letter()
    assert [text in blank for text in (r"\[name of the lender\]", r"\[date\]", r"\[how to reach the lender\]")] == [
        True
    ] * 3
    full = e.to_letter(lender="Bank & Sons", date="1 May", contact="12 High St", names={"income": "Yearly income"})
    assert "[" not in full
    assert "Bank \\& Sons" in full
    assert "1. Yearly income: yours is 22" in full
    with pytest.raises(InputError, match="there is no feature 'incom'; did you mean 'income'"):
        e.to_letter(names={"incom": "Yearly income"})


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("proved", "That the conditions of the rule settle the decision is proved by exhaustive."),
        ("searched", "was searched, and is not proved: geco scored"),
        ("refuted", "DO NOT SEND: the rule is refuted."),
        ("nothing_helps", "There is no reason to give"),
    ],
)
def test_the_lender_is_told_how_far_the_reasons_can_be_trusted(kind, text):
    letter = KINDS[kind]().to_letter()
    assert "This is a template, and not legal advice." in letter
    assert text in letter
    assert (lines(letter) == []) == (kind == "nothing_helps")


def test_a_letter_on_a_page_is_accessible_and_prints_without_the_notes(tmp_path, opened, accessible):
    e = KINDS["nasty"]()
    e.to_letter(tmp_path / "letter.html")
    page = opened(tmp_path / "letter.html")
    accessible(page)
    shown = page.inner_text("body").replace("\u200b", "")
    assert list(NASTY.values())[1] in shown
    assert page.locator("main img, main b").count() == 0
    assert "not legal advice" in shown
    page.emulate_media(media="print")
    assert "not legal advice" not in page.inner_text("body")
    assert "Dear applicant" in page.inner_text("body")


def test_a_letter_in_markdown_shows_the_user_s_texts_as_they_are():
    html = MarkdownIt("commonmark", {"html": True}).render(KINDS["nasty"]().to_letter(lender="- *x* <b>"))
    assert not re.search(r"<(?!/?(p|ol|ul|li|hr|h2)\b)", html)


def test_a_missing_value_and_one_that_is_the_condition_are_put_plainly():
    table = pd.DataFrame({"job": ["clerk", "smith", "clerk"], "years": [np.nan, 3.0, 5.0]})
    e = dueto.explain(lambda t: ((t["job"] == "smith") | t["years"].notna()) * 1.0, table, 0)
    assert sorted(lines(e.to_letter())) == ["job: yours is clerk.", "years: yours is missing."]


def test_another_kind_of_file_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"letter.pdf: the name must end in \.md, \.txt or \.html"):
        dueto.explain(model, DATA, 1).to_letter(tmp_path / "letter.pdf")
    assert list(tmp_path.iterdir()) == []
