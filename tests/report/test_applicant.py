"""The page of an applicant says what the explanation says, in any browser, to anybody, about any data."""

from __future__ import annotations

import pickle
import re
from dataclasses import replace
from html import unescape
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from markdown_it import MarkdownIt
from sklearn.tree import DecisionTreeClassifier

import dueto
from dueto import InputError, Rule, Standing, Verdict
from dueto.report.words import directed
from report.kinds import DATA, KINDS, NASTY, model

ROWS = "[...document.querySelectorAll('main tr')].map(r => [...r.querySelectorAll('th, td')].map(c => c.innerText))"
FEW = ["proved", "constrained", "refuted", "unknown", "short", "missing", "ordinal", "nasty", "wide"]


def words(text: str) -> str:
    return " ".join(text.split())


def as_text(value) -> str:
    return "missing" if value is None else str(value)


def bare(text: str) -> str:
    """Without what is only a place to break a line."""
    return words(text.replace("\u200b", ""))


@pytest.mark.parametrize("kind", FEW)
def test_the_page_says_what_print_says(kind, opened):
    e = KINDS[kind]()
    page = opened(e.to_html())
    shown = bare(page.inner_text("body"))
    for name, sentence in e.sentences().items():
        assert words(sentence.removesuffix(":")) in shown, name
    rows = page.evaluate(ROWS)
    tables = [[bare(cell) for cell in row] for row in rows]
    for component in e.rule:
        row = next(row for row in tables if row[:1] == [words(component.feature)] and len(row) == 3)
        assert words(as_text(component.value)) in row[1]
        assert row[2] == words(as_text(e.applicant[component.feature]))
    for c in e.counterfactuals:
        for change in c.changes:
            before, after = (words(as_text(v)) for v in (change.before, change.after))
            cells = "\t".join([words(change.feature), before, f"→ {after}"])
            assert any(cells in "\t".join(row) for row in tables), change
        assert f"{c.cost:.3g}" in shown
        assert e.shown(c.score) in shown
    assert all(words(c) in shown for c in e.constraints)
    assert shown.count("✗ broken") == len(e.broken)


@pytest.mark.parametrize(
    ("kind", "dark"), [("constrained", False), ("missing", True), ("refuted", False), ("short", True), ("nasty", False)]
)
def test_a_page_is_accessible_in_light_and_dark_and_asks_the_network_for_nothing(kind, dark, opened, accessible):
    page = opened(KINDS[kind]().to_html(), dark=dark)
    page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
    accessible(page)


@pytest.mark.parametrize("kind", ["short", "nasty", "wide"])
def test_a_page_fits_a_telephone_and_paper(kind, opened):
    page = opened(KINDS[kind]().to_html(), width=360)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    table = page.get_by_role("region", name="Constraints on what may change")
    assert not table.count() or table.evaluate("one => one.scrollWidth") <= 500  # a name of 200 letters is broken
    page.emulate_media(media="print")
    assert not any(one.is_visible() for one in page.locator("details.screen").all())
    assert page.locator("details.paper td").first.is_visible()  # what is filed says who it is about
    assert page.locator("h1").is_visible()
    assert page.pdf()[:5] == b"%PDF-"


def test_a_page_is_read_by_keyboard(opened):
    page = opened(KINDS["proved"]().to_html())
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
    page.keyboard.press("Enter")
    assert page.url.endswith("#main")


def test_no_text_of_the_user_s_is_html(opened):
    e = KINDS["nasty"]()
    html = e.to_html()
    assert "<script>alert" not in html
    assert "onerror=alert(1)>" not in html
    assert "49" not in html.partition("<body>")[2].partition("{{ 7")[0][-200:]
    page = opened(html)
    assert page.evaluate("document.querySelectorAll('main b, main i, main img, main a').length") == 0
    shown = bare(page.inner_text("body"))
    assert words("<i>Zoë</i> | 'O”Neil' is refused") in shown
    for name, label in list(NASTY.items())[:4]:
        assert words(name) in shown
        assert words(label) in shown
    isolated = [bare(text) for text in page.locator("bdi").all_inner_texts()]
    assert "الدخل الشهري" in isolated


SALARY, CITY, PLACES = "שכר חודשי", "עיר", ["חיפה", "תל אביב", "ירושלים"]  # in Hebrew
PLACE = """([text, k]) => {
  const walker = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT), nodes = [];
  while (walker.nextNode()) nodes.push(walker.currentNode);
  const all = nodes.map(node => node.data).join(""), start = all.indexOf(text) + k, range = document.createRange();
  let before = 0;
  for (const node of nodes) {
    if (before <= start && start < before + node.length) {
      range.setStart(node, start - before), range.setEnd(node, start - before + 1);
      const box = range.getBoundingClientRect();
      return [box.left, box.top];
    }
    before += node.length;
  }
}"""  # where a letter of a text stands that is cut into several elements


def test_words_from_right_to_left_stay_in_their_place_in_a_sentence(opened):
    data = pd.DataFrame({SALARY: [12, 22, 35, 41, 50], CITY: [PLACES[i] for i in (0, 0, 1, 2, 2)]})
    constraints = [dueto.cf[SALARY] >= 12, dueto.cf[CITY].isin(PLACES)]
    e = dueto.explain(lambda t: (t[SALARY] > 22) * 1.0, data, 0, at_most=1, constraints=constraints)
    page = opened(e.to_html(), width=1600)
    sentences = {
        f"{SALARY} <= 12.": (SALARY, "<=", "12"),
        f"{SALARY} must be at least 12": (SALARY, "must", "12"),
        e.constraints[1]: (CITY, *sorted(PLACES, key=e.constraints[1].index)),
    }
    for sentence, parts in sentences.items():
        left, top = zip(*(page.evaluate(PLACE, [sentence, sentence.index(part)]) for part in parts), strict=True)
        assert list(left) == sorted(left), sentence
        assert len(set(top)) == 1


def test_a_mark_of_direction_at_the_end_of_a_name_reaches_no_further():
    assert directed(f"{SALARY}\u200f <= 22") == ["", f"{SALARY}\u200f", " <= 22"]


def test_control_characters_are_written_out_wherever_they_are_shown(opened, tmp_path):
    name, label = "salary\u202eyralas", "\u2067a\x1b[31m\u2028b"
    data = pd.DataFrame({name: [12, 22, 35, 41, 50], "c": [label, label, "x", "x", "x"]})
    explainer = dueto.Explainer(lambda t: ((t[name] > 22) & (t["c"] == "x")) * 1.0, data)
    e = explainer.explain(0, at_most=1, label="Row \u202d0")
    e.to_letter(tmp_path / "letter.txt")
    html, letter = e.to_html(), (tmp_path / "letter.txt").read_text(encoding="utf-8")
    page = opened(html)
    page.get_by_label("c", exact=True).select_option(label="x")
    shown = [page.inner_text("body"), page.title(), page.locator("#what-if-changes").inner_text()]
    for text in (str(e), e.to_markdown(), e.to_letter(), letter, html, *shown):
        assert not re.search(r"[\x00-\x08\x0b-\x1f\u2028-\u202e\u2066-\u2069]", text)
        assert "\\u20" in text
    assert shown[2] == "c: \\u2067a\\x1b[31m\\u2028b → x"


@pytest.mark.parametrize("kind", ["proved", "searched", "refuted", "short"])
def test_the_same_seed_gives_the_same_page_byte_for_byte(kind):
    again = KINDS[kind].__wrapped__()
    first = KINDS[kind]()
    assert again.to_html() == first.to_html()
    assert again.to_markdown() == first.to_markdown()
    assert again.to_letter() == first.to_letter()


def test_the_badge_says_how_it_is_known():
    def badge(e):
        return unescape(re.search(r'class="badge \w+">([^<]*)<', e.to_html())[1])

    assert badge(KINDS["proved"]()) == "proved for every possible applicant"
    assert badge(KINDS["constrained"]()) == "proved for every possible applicant whom the constraints allow"
    assert badge(KINDS["searched"]()) == "holds on 5 of 5 rows; searched, not proved"
    assert badge(KINDS["refuted"]()) == "refuted: there is an exception"


def test_the_pictures_of_a_page_count_all_rows(opened):
    page = opened(KINDS["short"]().to_html())
    for one in page.locator(".picture details").all():
        one.locator("summary").click()
        cells = one.locator("td.number").all_inner_texts()
        assert sum(int(cell.replace(",", "")) for cell in cells) == 400
    pictures = page.locator(".picture svg[role=img]")
    assert pictures.count() == 1
    assert "The applicant: 11.18" in pictures.first.get_attribute("aria-label")


def test_where_nothing_helps_the_page_has_no_rule():
    html = KINDS["nothing_helps"]().to_html()
    assert "No change that the constraints allow would flip the decision (proved by exhaustive)." in html
    assert "badge" not in html.partition("</style>")[2]


def test_where_nobody_is_accepted_the_page_still_counts(opened):
    e = dueto.explain(lambda t: ((t["income"] == 12) & (t["debt"] == 5)) * 1.0, DATA, 1)
    assert "of the 0 accepted" in opened(e.to_html()).inner_text("main")
    assert e.to_letter()


def test_a_page_of_the_changes_alone(opened, accessible):
    changes = dueto.Explainer(model, DATA).changes(1)
    page = opened(changes.to_html())
    accessible(page)
    assert "It is due to" not in page.inner_text("main")
    assert "income" in page.inner_text("main")
    assert changes.to_markdown().startswith("# Row 1 is refused")
    assert changes.to_dict()["provenance"] == dueto.explain(model, DATA, 1).to_dict()["provenance"]


def test_a_notebook_shows_the_page_in_a_frame(opened):
    e = KINDS["proved"]()
    page = opened(f"<!DOCTYPE html><html lang=en><title>notebook</title><main>{e._repr_html_()}</main>")
    frame = page.frame_locator("iframe")
    assert frame.locator("h1").inner_text() == e.sentences()["decision"]


def test_an_explanation_that_was_pickled_gives_the_same_page_but_for_what_if():
    e = KINDS["short"]()
    copy = pickle.loads(pickle.dumps(e))
    assert copy == e
    assert "There is no what-if: this explanation was kept without its model." in copy.to_html()
    assert copy.to_dict() == e.to_dict()
    assert copy.to_markdown() == e.to_markdown()
    assert copy.background.pictures == e.background.pictures


def test_nothing_of_a_page_is_worked_out_before_it_is_asked_for():
    asked = []

    def counting(table):
        asked.append(len(table))
        return model(table)

    e = dueto.explain(counting, DATA, 1)
    before = len(asked)
    assert e.background._made == {}
    str(e)
    assert len(asked) == before
    assert e.background._made == {}


def test_a_model_that_cannot_score_everybody_still_gets_a_page():
    wide = DATA.assign(extra=range(5))
    seen = set(wide.itertuples(index=False, name=None))

    def fussy(table):
        if any(row not in seen and row[2] != 1 for row in table.itertuples(index=False, name=None)):
            raise RuntimeError("never seen")
        return model(table)

    e = dueto.explain(fussy, wide, 1, constraints="fixed('extra')")
    assert e.to_dict()["provenance"]["model"]["sha256"] is None
    assert "Row 1 is refused" in e.to_html()


def test_a_page_without_a_what_if_says_why():
    tired = []

    def failing(table):
        if tired and len(table) > 1:
            raise RuntimeError("too tired")
        return model(table)

    e = dueto.explain(failing, DATA, 1)
    tired.append(True)
    assert "There is no what-if: not everybody that it would show can be scored (the model" in e.to_html()


def test_a_black_box_that_is_down_when_the_page_is_made_leaves_all_but_the_what_if():
    down = []

    def service(table):
        if down:
            raise RuntimeError("service down")
        return model(table)

    e = dueto.explain(service, DATA, 1)
    down.append(True)
    page = e.to_html()
    assert "There is no what-if: the applicant can no longer be scored (the model" in page
    assert "RuntimeError: service down" in page


@pytest.mark.parametrize("kind", ["proved", "refuted", "nasty", "short", "missing"])
def test_markdown_shows_the_user_s_texts_as_they_are(kind):
    e = KINDS[kind]()
    html = MarkdownIt("commonmark", {"html": True}).enable("table").render(e.to_markdown())
    assert not re.search(r"<(?!/?(h1|h2|p|table|thead|tbody|tr|th|td|ul|li|strong)\b)", html)
    shown = words(unescape(re.sub(r"<[^>]*>", " ", html)))
    for component in e.rule:
        assert words(component.feature) in shown
    for c in e.counterfactuals:
        for change in c.changes:
            assert words(f"{change.feature}: ") in shown
    tables = re.findall(r"<tr>(.*?)</tr>", html, re.DOTALL)
    assert all(row.count("<t") in (3, 4) for row in tables)


@pytest.mark.parametrize(
    "text", ["- a", "1. a", "+ b", "# c", "> d", "=", "---", "*", "_x_", "a_b", "1) c", "&amp;", "$x$", "<!--"]
)
def test_no_text_starts_a_block_in_markdown(text):
    from dueto.report.words import in_markdown

    html = MarkdownIt("commonmark").render(f"- {in_markdown(text)}\n\n{in_markdown(text)}\n")
    assert words(unescape(re.sub(r"<[^>]*>", " ", html))) == f"{text} {text}"
    assert html.count("<li>") == html.count("<p>") == 1


def test_a_page_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    e = KINDS["proved"]()
    e.to_html(tmp_path / "why.html")
    assert (tmp_path / "why.html").read_text(encoding="utf-8") == e.to_html()
    with pytest.raises(InputError, match=r"cannot write .*nowhere.*: No such file or directory"):
        e.to_html(tmp_path / "nowhere" / "why.html")

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(InputError, match=r"cannot write .*why.md: No space left on device"):
        e.to_markdown(tmp_path / "why.md")
    assert [p.name for p in tmp_path.iterdir()] == ["why.html"]


def test_what_is_written_to_a_file_is_not_returned_too(tmp_path):
    e, changes = KINDS["proved"](), dueto.Explainer(model, DATA).changes(1)
    for write in (e.to_html, e.to_markdown, e.to_letter, changes.to_html, changes.to_markdown):
        assert write(tmp_path / "file.md") is None
        assert (tmp_path / "file.md").read_text(encoding="utf-8") == write()


def test_a_page_can_do_without_what_if_and_without_the_data(opened, accessible):
    e = KINDS["short"]()
    small = e.to_html(what_if=False)
    assert "What if?" not in small
    assert "What if?" in e.to_html()
    alone = replace(e, background=None)
    assert alone.to_dict() == {name: v for name, v in e.to_dict().items() if name != "provenance"}
    accessible(opened(alone.to_html()))
    assert "SHA-256" not in alone.to_markdown()
    assert "1. income" in alone.to_letter()


def test_a_seed_that_is_a_generator_is_told_as_none():
    rng = np.random.default_rng(3)
    assert "none: a generator was given" in dueto.explain(model, DATA, 1, rng=rng).to_html()
    assert "<dd>7</dd>" in dueto.explain(model, DATA, 1, rng=7).to_html()


def test_where_nothing_helps_a_short_rule_has_nothing_to_say():
    data = pd.DataFrame({"a": np.arange(10), "b": np.arange(10)})
    e = dueto.explain(lambda t: (t["a"] > 5).astype(float), data, 0, constraints='fixed("a")', at_most=2)
    assert "In short" not in e.to_html() + e.to_markdown()
    assert "the same whatever the applicant changes as far as the constraints allow" in e.to_letter()


def test_a_rule_without_conditions_that_is_refuted_is_not_passed_over():
    data = pd.DataFrame({"a": np.arange(100)})
    e = dueto.explain(lambda t: (t["a"] > 98).astype(float), data, 0)
    refuted = Verdict(Standing.REFUTED, "geco", 0, {"a": 99})
    e = replace(e, rule=Rule((), verdict=refuted), finder="anchor")
    for told in (str(e), e.to_html(), e.to_markdown()):
        assert "names no condition" in told
    assert "DO NOT SEND" in e.to_letter()


def test_a_constraint_that_the_applicant_breaks_is_not_called_kept(opened):
    rng = np.random.default_rng(0)
    data = pd.DataFrame({"a": np.append(rng.integers(40, 60, 300), 99), "b": np.append(rng.integers(0, 9, 300), 99)})
    model = DecisionTreeClassifier(max_depth=2, random_state=0).fit(data, data["a"] < 50)
    odd = dueto.explain(model, data, 300, plausible=0.9)
    assert odd.broken == odd.constraints
    alone = dueto.explain(model, data, 300, constraints="x.a <= 50")
    assert alone.broken == alone.constraints
    assert alone.unmendable == alone.constraints
    assert odd.unmendable == ()
    for told in (alone.to_markdown(), opened(alone.to_html()).inner_text("main")):
        assert "and no change can mend that" in told
        assert "has to change" not in told
    for told in (odd.to_markdown(), opened(odd.to_html()).inner_text("main")):
        assert "so that has to change" in told


def test_a_page_of_a_model_that_was_fitted_again_is_refused():
    data = pd.DataFrame({"a": np.arange(40), "b": np.arange(40) % 7})
    model = DecisionTreeClassifier(max_depth=3, random_state=0).fit(data, data["a"] > 20)
    e = dueto.explain(model, data, 0)
    model.fit(data, data["a"] < 20)
    with pytest.raises(dueto.InputError, match="has changed since it explained Row 0"):
        e.to_html()


def test_a_label_that_reads_like_a_missing_value_is_told_from_one():
    data = pd.DataFrame({"c": ["missing", None, "x", "y"] * 5, "v": range(20)})
    e = dueto.explain(lambda t: (t["c"].isna() | (t["v"] > 12)).astype(float), data, 0)
    assert str(e.rule) == "c = 'missing' and v <= 12" or "c = 'missing'" in str(e.rule)
    assert "&#39;missing&#39;" in e.to_html()
    assert e.applicant["c"] == "missing"
