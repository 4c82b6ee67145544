"""What a reader does with the controls, and what the page answers."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

from dueto import Distance, FeatureSpace, cf, fixed, together, x
from dueto.models import as_model
from dueto.models.plausibility import plausibility
from dueto.report.whatif import offline
from report.offline import encoded, everything, page_of, said, settings

ODD = '<script>alert("x")</script>'
RNG = np.random.default_rng(3)
N = 120
FRAME = pd.DataFrame(
    {
        "age": RNG.integers(18, 70, N),
        "income": RNG.integers(10, 90, N).astype(float),
        ODD: RNG.choice(["a & b", "</script>", "'q\"", "שלום"], N),
        "level": pd.Categorical(RNG.choice(["low", "mid", "high"], N), ["low", "mid", "high"], ordered=True),
        "debt": np.where(RNG.random(N) > 0.2, RNG.integers(0, 9, N), np.nan),
        "city": RNG.choice([1, 2, 3], N),
    }
)
FRAME["zip"] = FRAME["city"] * 10 + RNG.integers(0, 2, N)
SPACE = FeatureSpace.infer(FRAME, groups=[["city", "zip"]])
CODES = SPACE.encode(FRAME)
GOOD = (FRAME["income"] + FRAME["age"] / 2 + 9 * (FRAME["level"] == "high") > 75).to_numpy()
TREE = DecisionTreeClassifier(random_state=0, max_depth=6).fit(CODES, GOOD)
ROW = int(np.flatnonzero(~GOOD & (FRAME["level"] == "mid") & (FRAME["age"] > 25) & FRAME["debt"].notna())[0])
NOW = CODES[ROW]
RULES = [
    cf.age >= x.age,
    fixed("debt"),
    (cf.level > x.level).implies(cf.age >= x.age + 4),
    cf.income <= 80,
]


class Coded:
    """A classifier over encoded rows."""

    def __init__(self, inner):
        self.inner = inner

    def __call__(self, table):
        return self.inner.predict_proba(SPACE.encode(table))[:, 1]


def numeric(trees=12):
    """A forest over the columns of numbers, whose structure is read."""
    columns = ["age", "income", "debt", "city", "zip"]
    space = FeatureSpace.infer(FRAME[columns], groups=[["city", "zip"]])
    fitted = RandomForestClassifier(trees, random_state=0).fit(FRAME[columns], GOOD)
    return as_model(fitted, space), space.encode(FRAME[columns])


BLACK = as_model(Coded(TREE), SPACE)
PROPOSALS = [{"income": 77.0}, {"age": int(NOW[0]) + 9, "level": "high", "income": 60.0}]


@pytest.fixture(scope="module")
def grid():
    return offline(BLACK, SPACE, RULES, NOW, Distance(), proposals=PROPOSALS)


@pytest.fixture(scope="module")
def live():
    model, X = numeric()
    now = X[ROW]
    rules = [cf.age >= x.age, fixed("debt"), (cf.income > x.income).implies(cf.age > x.age)]
    proposals = [{"income": float(FRAME["income"].max()), "age": int(now[0]) + 9}]
    found = offline(model, model.space, [*rules, everything(model.space)], now, Distance(), proposals=proposals)
    return model, now, found


def control(found, name):
    return next((u, c) for u, c in enumerate(found["controls"]) if c["name"] == name)


SEEN = """u => {
  const part = name => document.getElementById("what-if-" + name);
  return [part("word").innerText, part(u).getAttribute("aria-valuetext"), part(u + "-text").innerText];
}"""


def word(page):
    return page.locator("#what-if-word").inner_text()


def test_moving_a_slider_by_keyboard_changes_the_verdict_as_the_model_does(live, opened):
    model, now, found = live
    page = opened(page_of(found))
    u, income = control(found, "income")
    slider = page.get_by_label("income", exact=True)
    slider.focus()
    seen = set()
    steps = np.arange(income["own"] + 1, len(income["texts"]))
    at = settings(found, rows=1).repeat(len(steps), axis=0)
    at[:, u] = steps
    for k, good in zip(steps, model.good(encoded(found, now, at)), strict=True):
        page.keyboard.press("ArrowRight")
        told, spoken, text = page.evaluate(SEEN, u)
        assert told.startswith("Accepted" if good else "Refused")
        assert spoken.startswith(f"{income['texts'][k]}, now ")
        assert text == income["texts"][k]
        seen.add(bool(good))
    assert seen == {False, True}
    slider.press("Home")
    assert page.locator("#what-if-changes li").inner_text().endswith(f"→ {income['texts'][0]}")
    assert (page.locator("#what-if-changes li").count(), word(page)) == (1, "Refused")


def test_a_dragged_slider_and_a_chosen_label_are_moves_too(live, opened):
    _, _, found = live
    page = opened(page_of(found))
    slider = page.get_by_label("income", exact=True)
    box = slider.bounding_box()
    page.mouse.click(box["x"] + box["width"] - 3, box["y"] + box["height"] / 2)
    assert f"→ {control(found, 'income')[1]['texts'][-1]}" in page.locator("#what-if-changes").inner_text()
    page.get_by_label("city and zip").select_option(index=3)
    assert page.locator("#what-if-changes li").count() == 2
    page.get_by_role("button", name="Reset").click()
    assert page.evaluate("window.dueto.at()") == [c["own"] for c in found["controls"]]
    assert page.locator("#what-if-unchanged").is_visible()
    assert page.get_by_role("button", name="Reset").is_disabled()


def test_constraints_bound_the_sliders_and_are_told_as_they_break(live, opened):
    _, now, found = live
    page = opened(page_of(found))
    age = control(found, "age")[1]
    assert (age["own"], age["texts"][0]) == (0, str(int(now[0])))
    assert page.locator("#what-if-breaks").is_hidden()
    page.get_by_label("income", exact=True).press("ArrowRight")
    told = "if income rises, age must rise"
    assert page.locator("#what-if-broken li").all_inner_texts() == [told]
    page.get_by_role("status").get_by_text("Not allowed: " + told).wait_for(state="attached")
    page.get_by_label("age", exact=True).press("ArrowRight")
    assert page.locator("#what-if-breaks").is_hidden()
    assert "debt must stay the same" in page.get_by_role("listitem").filter(has_text="debt").inner_text()


def test_proposals_are_one_press_away_and_cost_what_they_cost(live, opened):
    model, now, found = live
    page = opened(page_of(found))
    page.get_by_role("button", name="Try change 1").click()
    at = np.array([page.evaluate("window.dueto.at()")])
    row = encoded(found, now, at)
    assert row[0, [0, 1]].tolist() == [now[0] + 9, FRAME["income"].max()]
    assert word(page) == ("Accepted" if model.good(row)[0] else "Refused")
    cost = Distance()(model.space, now, row)[0]
    assert page.locator("#what-if-cost").inner_text() == f"Cost of these changes: {cost:.3g}"
    many = settings(found, rows=50)
    costs = page.evaluate("rows => rows.map(row => window.dueto.cost(row))", many.tolist())
    assert np.allclose(costs, Distance()(model.space, now, encoded(found, now, many)), rtol=1e-6)


def test_tied_features_move_together_to_what_occurs_together(live):
    model, now, found = live
    _, tied = control(found, "city and zip")
    pairs = FRAME[["city", "zip"]].drop_duplicates().sort_values(["city", "zip"])
    assert tied["texts"] == [f"{c}, {z}" for c, z in pairs.itertuples(index=False)]
    ungrouped = FeatureSpace(model.space.features, model.space.columns, model.space.dtypes)
    black = as_model(lambda table: np.zeros(len(table)), ungrouped)
    found = offline(black, ungrouped, [together("city", "zip")], now, proposals=[{"city": 1, "zip": 10}])
    _, tied = control(found, "city and zip")
    assert set(tied["texts"]) == {"1, 10", ", ".join(str(int(v)) for v in now[-2:])}
    found = offline(black, ungrouped, [together("city", "zip")], now)
    assert "only to combinations seen in the data" in control(found, "city and zip")[1]["why"][0]


def test_a_black_box_answers_for_what_was_worked_out_and_for_nothing_else(grid, opened):
    assert grid["model"]["kind"] == "grid"
    at = settings(grid, rows=1)
    rows, expected = [], []
    for u, one in enumerate(grid["controls"]):
        for k in range(len(one["texts"])):
            rows.append(at[0].copy())
            rows[-1][u] = k
    (u, w) = grid["model"]["pairs"][-1]["of"]
    for k in range(len(grid["controls"][u]["texts"])):
        rows.append(at[0].copy())
        rows[-1][[u, w]] = k, (k * 7) % len(grid["controls"][w]["texts"])
    whole = offline(BLACK, SPACE, [*RULES, everything(SPACE)], NOW, Distance(), proposals=PROPOSALS)
    X = encoded(whole, NOW, np.array(rows))
    expected = BLACK.score(X)
    page = opened(page_of(grid))
    told = said(page, np.array(rows))
    assert np.abs(np.array([row["score"] for row in told]) - expected).max() < 1e-6
    assert [row["good"] for row in told] == (expected > BLACK.threshold).tolist()
    three = at[0].copy()
    three[:3] = [(k + 1) % len(one["texts"]) for k, one in zip(three[:3], grid["controls"], strict=False)]
    assert said(page, np.array([three]))[0] == {"told": False, "good": None, "score": None}


def test_what_cannot_be_answered_cannot_be_moved(grid, opened):
    page = opened(page_of(grid))
    page.get_by_role("button", name="Try change 2").click()  # moves three
    assert word(page) in ("Accepted", "Refused")
    assert page.locator(".control :is(input, select):enabled").count() == 0
    page.get_by_role("button", name="Reset").click()
    assert page.locator(".control :is(input, select):disabled").count() == 0
    pairs = [set(pair["of"]) for pair in grid["model"]["pairs"]]
    for u, one in enumerate(grid["controls"]):
        if one["kind"] == "fixed":
            continue
        page.evaluate(
            "k => { const at = window.dueto.at(); at[k[0]] = k[1]; window.dueto.go(at); }", [u, 1 - min(one["own"], 1)]
        )
        able = {
            w
            for w, c in enumerate(grid["controls"])
            if c["kind"] != "fixed" and page.locator(f"#what-if-{w}").is_enabled()
        }
        assert able == {u} | {w for pair in pairs if u in pair for w in pair}
        page.evaluate("window.dueto.go(window.dueto.at())")
        page.get_by_role("button", name="Reset").click()


def test_names_and_labels_of_any_kind_are_text(grid, opened):
    page = opened(page_of(grid))
    select = page.get_by_label(ODD)
    assert set(select.locator("option").all_inner_texts()) >= {"</script>", "שלום"} - {
        text for text in [FRAME[ODD][ROW]]
    }
    select.select_option(label="</script>" if FRAME[ODD][ROW] != "</script>" else "a & b")
    assert page.locator("#what-if-changes li").inner_text().startswith(ODD + ": ")


@pytest.mark.parametrize(("kind", "dark", "width"), [("grid", False, 1000), ("trees", True, 360)])
def test_the_controls_are_accessible(kind, dark, width, grid, live, opened, accessible):
    page = opened(page_of(grid if kind == "grid" else live[2]), dark=dark, width=width)
    for name in ("Try change 1", "Reset"):
        page.get_by_role("button", name=name).click()
        accessible(page)
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def test_without_scripts_and_on_paper_there_are_no_dead_controls(grid, browser, tmp_path):
    path = tmp_path / "page.html"
    path.write_text(page_of(grid), encoding="utf-8")
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(path.as_uri())
    assert page.get_by_text("needs JavaScript").is_visible()
    assert page.locator("#what-if-live").is_hidden()
    page.emulate_media(media="print")
    assert page.locator(".what-if").is_hidden()
    context.close()


def test_an_applicant_who_breaks_a_constraint_is_told_so_and_other_values_are_allowed(opened):
    model, X = numeric()
    low = X[ROW][1] + 5
    found = offline(model, model.space, [cf.income >= low], X[ROW])
    _, income = control(found, "income")
    assert income["own"] == 0
    assert float(income["texts"][1]) >= low
    page = opened(page_of(found))
    assert page.locator("#what-if-broken li").count() == 1
    page.get_by_label("income", exact=True).press("ArrowRight")
    assert page.locator("#what-if-breaks").is_hidden()


def test_how_ordinary_a_row_must_be_is_one_more_constraint(opened):
    model, X = numeric()
    structure = plausibility(model.space, X, 0.8)
    rules, sentence = [everything(model.space)], "the whole must be as ordinary as 80% of the data"
    found = offline(model, model.space, rules, X[ROW], ordinary=(sentence, structure))
    at = settings(found, rows=300)
    told = opened(page_of(found)).evaluate("rows => rows.map(row => window.dueto.broken(row))", at.tolist())
    expected = structure.margin(encoded(found, X[ROW], at)) > structure.cut
    assert [not broken for broken in told] == expected.tolist()
    assert 0 < expected.sum() < len(expected)


def test_ranges_are_cut_into_values_of_few_digits_that_the_constraints_allow():
    frame = pd.DataFrame({"rate": [0.1, 0.25, 0.9], "years": [1, 3, 900_000]})
    space = FeatureSpace.infer(frame).declare(
        {"rate": {"low": 0.05, "high": 1.0}, "years": {"low": 0, "high": 900_000}}
    )
    model = as_model(lambda table: table["rate"].to_numpy(), space)
    now = np.array([0.1 + 0.2, 7.0])
    found = offline(model, space, [cf.rate >= x.rate, cf.years < 1000, everything(space)], now)
    (_, rate), (_, years) = control(found, "rate"), control(found, "years")
    values = np.array([float(text) for text in rate["texts"]])
    assert values[0] == now[0]
    assert values[-1] == 1.0
    assert space["rate"].domain.contains(values).all()
    assert max(map(len, rate["texts"][1:])) <= 6
    assert all(0 <= float(text) < 1000 for text in years["texts"])
    assert (rate["allowed"], len(rate["texts"])) == (None, len(values))


def test_a_million_labels_are_the_most_frequent_ones_and_those_asked_for():
    labels = [f"n{i}" for i in range(2_000)] + ["often"] * 50
    space = FeatureSpace.infer(pd.DataFrame({"name": labels}))
    model = as_model(lambda table: (table["name"] == "often").to_numpy(), space)
    found = offline(model, space, [], space.encode_row({"name": "n1999"}), proposals=[{"name": "n1234"}])
    (only,) = found["controls"]
    assert {"often", "n1999", "n1234"} <= set(only["texts"])
    assert (len(only["texts"]), only["allowed"]) == (62, 2001.0)


def test_a_page_is_small_enough_or_there_is_none():
    X = RNG.random((600, 3))
    fitted = RandomForestClassifier(60, random_state=0).fit(X, RNG.random(600) > 0.5)
    model = as_model(fitted, FeatureSpace.infer(X))
    sizes = {}
    for limit in (2_000_000, 80_000, 10_000, 500):
        found = offline(model, model.space, [], X[0], limit=limit)
        sizes[limit] = found if isinstance(found, str) else found["model"]["kind"]
        assert isinstance(found, str) or len(json.dumps(found)) <= limit
    too_large = "There is no what-if: it would take more than 500 characters."
    assert list(sizes.values()) == ["trees", "grid", "grid", too_large]


def test_where_nothing_may_move_or_the_model_fails_the_page_says_why_there_is_no_what_if(opened):
    def picky(table):
        if (table["income"] > 80).any():
            raise ValueError("too <rich>")
        return np.zeros(len(table))

    def shown(model, rules):
        page = opened(page_of(offline(model, SPACE, rules, NOW)))
        return page.get_by_role("region", name="What if?").inner_text().partition("There is no what-if: ")[2]

    assert shown(BLACK, [fixed(*SPACE.names)]).startswith("the constraints and the data leave every feature the value")
    why = shown(as_model(picky, SPACE), [])
    assert why.startswith("not everybody that it would show can be scored (the model 'picky' failed on")
    assert "ValueError: too <rich>" in why
    model, X = numeric()
    others = [name for name in model.space.names if name != "debt"]
    tree = DecisionTreeClassifier(max_depth=1).fit(FRAME[list(model.space.names)], FRAME["income"] > 40)
    model = as_model(tree, model.space)
    page = opened(page_of(offline(model, model.space, [fixed(*others)], X[ROW])))
    told = page.get_by_role("region", name="What if?").inner_text()
    assert "the model decides the same whatever the constraints let change." in told
    assert "What stays" in told
    assert "income must stay the same" in told
    poor = FRAME.loc[FRAME["income"] <= 40, list(model.space.names)]
    space = FeatureSpace.infer(poor)
    found = offline(as_model(tree, space), space, [], space.encode(poor)[0])
    assert found["none"].endswith("decides the same whatever is changed.")


def test_features_that_make_no_difference_are_named_apart_unless_a_constraint_speaks_of_them(opened, accessible):
    frame = FRAME[["age", "income", "debt", "city"]]
    space = FeatureSpace.infer(frame)
    tree = DecisionTreeClassifier(random_state=0, max_depth=1).fit(frame, FRAME["income"] > 40)
    model, now = as_model(tree, space), space.encode(frame)[ROW]
    rule = (cf.debt < x.debt).implies(x.age >= 18)
    page = opened(page_of(offline(model, space, [rule], now)))
    assert page.locator(".control label[for]").all_inner_texts() == ["income", "debt"]
    idle = "Makes no difference to the model, as far as the constraints let anything change."
    assert page.locator(".control", has_text="debt").get_by_text(idle).is_visible()
    page.get_by_text("Features that make no difference (2)").click()
    assert "there is nothing to move: age, city." in page.locator(".what-if details").inner_text()
    accessible(page)
    found = offline(model, space, [rule, everything(space)], now)
    assert all(control["shown"] for control in found["controls"])
    structure = plausibility(space, space.encode(frame), 0.8)
    found = offline(model, space, [], now, ordinary=("as ordinary as most", structure))
    assert all(control["shown"] for control in found["controls"])


def test_missing_is_a_box_beside_the_slider_that_switches_it_off(opened, accessible):
    frame = FRAME[["age", "debt"]]
    space = FeatureSpace.infer(frame)
    frame = frame.assign(late=frame["debt"].isna())
    tree = DecisionTreeClassifier(random_state=0).fit(frame[["age", "debt"]], (frame["debt"] > 3) | frame["late"])
    model = as_model(tree, space)
    for gap in (False, True):
        now = space.encode(frame)[int(np.flatnonzero(frame["late"] == gap)[0])]
        found = offline(model, space, [everything(space)], now)
        u, debt = control(found, "debt")
        assert debt["texts"][debt["missing"]] == "missing"
        page = opened(page_of(found))
        slider, box = page.get_by_label("debt", exact=True), page.get_by_role("checkbox", name="missing: debt")
        assert slider.get_attribute("max") == str(len(debt["texts"]) - 2)
        assert (box.is_checked(), slider.is_disabled()) == (gap, gap)
        before = slider.input_value()
        box.press("Space")
        assert (box.is_checked(), slider.is_disabled(), slider.input_value()) == (not gap, not gap, before)
        assert page.evaluate("window.dueto.at()")[u] == (int(before) if gap else debt["missing"])
        assert page.locator("#what-if-changes li").inner_text() == f"debt: {debt['texts'][debt['own']]} → " + (
            debt["texts"][int(before)] if gap else "missing"
        )
        at = np.array([page.evaluate("window.dueto.at()")])
        assert word(page) == ("Accepted" if model.good(encoded(found, now, at))[0] else "Refused")
        accessible(page)
        page.get_by_role("button", name="Reset").click()
        assert (box.is_checked(), slider.is_disabled()) == (gap, gap)
    assert page.get_by_role("checkbox").count() == 1


def test_one_number_or_none_is_chosen_from_a_list(opened):
    space = FeatureSpace.infer(pd.DataFrame({"debt": [np.nan, 5.0, 5.0]}))
    found = offline(as_model(lambda t: t["debt"].isna().to_numpy(), space), space, [], np.array([5.0]))
    page = opened(page_of(found))
    page.get_by_label("debt").select_option(label="missing")
    assert word(page) == "Accepted"


def test_the_same_question_makes_the_same_page(grid):
    again = offline(BLACK, SPACE, RULES, NOW, Distance(), proposals=PROPOSALS)
    assert page_of(again) == page_of(grid)
    assert json.loads(json.dumps(grid)) == grid
