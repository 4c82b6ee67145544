"""The best rule of a few conditions, against all such rules and all instances of small random worlds."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace
from typing import TYPE_CHECKING

import joblib
import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeClassifier

import dueto
from dueto.cli import main
from dueto.counterfactuals import Auto, BranchAndBound, Exhaustive, GeCo
from dueto.domain import distinct_rows
from dueto.errors import InputError
from dueto.rule import Components, Scope, Standing, bits, wilson
from dueto.rules import Oracle, ShortRule
from dueto.rules import short as module
from dueto.rules.draws import Draws, Rows
from dueto.rules.short import Fewest
from dueto.testing import check_finder, worlds
from trials import trials

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dueto.counterfactuals import Method
    from dueto.rule import Rule
    from dueto.testing import World

seeds = st.integers(0, 2**32 - 1)
KINDS = ("scores", "tree", "forest", "boosting")
FEW = 300  # draws


def a_world(seed: int, kind: str) -> World:
    found = list(worlds([seed], kind=kind))
    assume(found)
    return found[0]


def rows_of(w: World) -> Rows:
    first, _, counts = distinct_rows(w.X)
    return Rows(w.X[first], counts, w.model.good(w.X[first]))


def oracle_of(w: World, method: Method | None = None, rows: Rows | None = None) -> Oracle:
    return Oracle(w.query, method or Auto(), np.random.default_rng(0), rows=rows)


def short(w: World, method: Method | None = None, **options) -> Rule:
    return ShortRule(**{"draws": FEW, "first": "rows"} | options).find(oracle_of(w, method, rows_of(w)))


def count(rule: int, counted: str) -> int:
    return len(set(bits(rule))) if counted == "components" else len({b // 2 for b in bits(rule)})


def rules(w: World, k: int, counted: str) -> list[int]:
    """All rules of at most k conditions that somebody allowed may satisfy."""
    every = list(bits(Components(w.space, w.x).all & ~oracle_of(w).must))
    subsets = (sum(1 << b for b in some) for r in range(len(every) + 1) for some in itertools.combinations(every, r))
    return [rule for rule in subsets if count(rule, counted) <= k]


def weight(w: World, y: NDArray[np.float64]) -> float:
    """How likely an instance is drawn, up to a factor: the product of its values' counts, of tied ones' joint count."""

    def found(members: tuple[int, ...]) -> int:
        return sum(all(r[j] == y[j] or (r[j] != r[j] and y[j] != y[j]) for j in members) for r in w.X)

    tied = [g.members for g in w.query.space.groups]
    alone = [(j,) for j in range(len(w.x)) if not any(j in g for g in tied)]
    return float(np.prod([found(members) for members in [*tied, *alone]]))


def share_of(w: World, rule: Rule) -> float:
    """The share of refused among all feasible instances under a rule, each as often as it is drawn."""
    inside = [y for y in w.instances[rule.box(w.space).contains(w.instances)] if w.feasible(y)]
    weights = np.array([weight(w, y) for y in inside])
    return float(weights[~w.model.good(np.array(inside))].sum() / weights.sum())


@pytest.mark.parametrize("counted", ["conditions", "components"])
@pytest.mark.parametrize("kind", KINDS)
@given(seed=seeds, k=st.integers(1, 4))
@trials(15)
def test_no_rule_of_so_many_conditions_is_met_by_fewer_accepted_rows(kind: str, counted: str, seed: int, k: int):
    w = a_world(seed, kind)
    rule = short(w, k=k, counted=counted)
    good = w.X[w.model.good(w.X) & np.array([w.feasible(y) for y in w.X])]
    boxes = (Components(w.space, w.x).box(chosen) for chosen in rules(w, k, counted))
    assert rule.box(w.space).contains(good).sum() == min(box.contains(good).sum() for box in boxes)
    assert rule.scope is not None
    assert rule.scope.fewest
    assert (len(rule) if counted == "components" else len({c.feature for c in rule})) <= k
    assert rule.box(w.space).contains(w.x[None]).all()


@pytest.mark.parametrize("kind", KINDS)
@given(seed=seeds, k=st.integers(1, 4), first=st.sampled_from(["rows", "share"]))
@trials(15)
def test_the_figures_are_those_of_a_recount_and_the_exception_is_one(kind: str, seed: int, k: int, first: str):
    w = a_world(seed, kind)
    rule = short(w, k=k, first=first)
    scope, verdict = rule.scope, rule.verdict
    assert scope is not None
    assert verdict is not None
    met, good = rule.box(w.space).contains(w.X), w.model.good(w.X)
    reach = np.array([w.feasible(y) for y in w.X])
    assert (scope.rows, scope.refused, scope.accepted) == (len(w.X), (met & ~good).sum(), (met & good).sum())
    assert scope.barred == (met & good & ~reach).sum()
    assert scope.feasible_refused <= scope.feasible <= scope.drawn
    escaped = w.counterfactuals[rule.box(w.space).contains(w.counterfactuals)]
    assert verdict.standing is (Standing.REFUTED if len(escaped) else Standing.PROVED)  # all of these worlds are small
    assert (scope.exception is None) == (scope.distance is None) == (not len(escaped))
    if scope.exception is not None:
        y = np.array([f.code(scope.exception[f.name]) for f in w.space.features])
        assert w.has(y)
        assert rule.box(w.space).contains(y[None]).all()
        assert scope.distance == pytest.approx(w.query.distances(y[None])[0])
        assert verdict.counterexample == scope.exception
        if scope.nearest:
            assert scope.distance == pytest.approx(w.query.distances(escaped).min())


@pytest.mark.parametrize("kind", KINDS)
def test_the_share_is_within_its_interval_about_as_often_as_is_said(kind: str):
    inside = []
    for w in worlds(range(12), kind=kind):
        draws, components = Draws(w.query), Components(w.space, w.x)
        for chosen in np.random.default_rng(0).permutation(rules(w, 2, "components"))[:4].tolist():
            box, rng = components.box(chosen), np.random.default_rng(1)
            if (
                draws.judged([box], 100, rng).feasible[0]
                and 0.02 < (true := share_of(w, components.rule(chosen))) < 0.98
            ):
                for _ in range(20):
                    told = draws.judged([box], 3000, rng)
                    low, high = wilson(int(told.refused[0]), int(told.feasible[0]))
                    inside.append(low <= true <= high)
    assert len(inside) > 100
    assert np.mean(inside) > 0.9


@pytest.mark.parametrize("kind", KINDS)
@given(seed=seeds)
@trials(15)
def test_no_rule_that_ties_has_a_share_that_is_clearly_larger(kind: str, seed: int):
    w = a_world(seed, kind)
    rule, components, data = short(w, k=2, draws=4000), Components(w.space, w.x), rows_of(w)
    good = data.X[data.good & w.query.plausible(data.X)]
    least = rule.box(w.space).contains(good).sum()
    tied = [r for r in rules(w, 2, "conditions") if components.box(r).contains(good).sum() == least]
    possible = [components.rule(r) for r in tied]
    feasible = [r for r in possible if any(w.feasible(y) for y in w.instances[r.box(w.space).contains(w.instances)])]
    if feasible:
        assert share_of(w, rule) > max(share_of(w, r) for r in feasible) - 0.06


@given(seed=seeds)
@trials(15)
def test_a_search_alone_proves_nothing_and_never_calls_a_rule_proved_that_is_not(seed: int):
    w = a_world(seed, "scores")
    rule = short(w, GeCo())
    assert rule.verdict is not None
    assert rule.verdict.standing is not Standing.PROVED or rule.verdict.by == "the constraints"
    check_finder(ShortRule(draws=50), Exhaustive(), [w])


@pytest.mark.parametrize("kind", ["tree", "forest"])
def test_a_proved_rule_needs_each_of_its_conditions(kind: str):
    check_finder(ShortRule(k=5, draws=50), Auto(), worlds(range(20), kind=kind))


@given(seed=seeds, k=st.integers(1, 5), poor=st.booleans())
@trials(60)
def test_the_exact_search_and_the_greedy_one_keep_what_they_say(seed: int, k: int, poor: bool):
    rng = np.random.default_rng(seed)
    q, n = int(rng.integers(1, 10)), int(rng.integers(0, 200))
    meets = rng.random((q, 64 * 4)) < rng.uniform(0.4, 0.6, (q, 1))
    meets[:, n:] = False
    everybody = np.arange(64 * 4) < n
    packed = [np.packbits(row, bitorder="little").view("<u8") for row in (*meets, everybody)]
    search = Fewest(packed[:-1], packed[-1], k)
    greedy = search.fewest
    if poor:  # as if the greedy choice had found nothing
        search.fewest, search.found = n, [()]
    assert search.run()
    subsets = [c for r in range(min(k, q) + 1) for c in itertools.combinations(range(q), r)]
    left = {c: int((everybody & meets[list(c)].all(axis=0)).sum()) for c in subsets}
    assert search.fewest == min(left.values()) <= greedy
    assert {left[c] for c in search.found} == {search.fewest}


def test_without_time_it_is_not_said_that_no_rule_is_met_by_fewer(monkeypatch):
    monkeypatch.setattr(module, "WORDS", 0)
    found = [short(w, k=1, counted="components").scope for w in worlds(range(30), kind="scores")]
    assert all(scope.fewest == (scope.accepted == scope.barred) for scope in found)
    assert not all(scope.fewest for scope in found)


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_seed_gives_the_same_rule_and_figures(kind: str):
    for w in worlds(range(5), kind=kind):
        one, two = short(w), short(w)
        assert (one, one.scope, one.verdict) == (two, two.scope, two.verdict)


def test_without_the_data_the_accepted_rows_of_the_query_are_enough():
    for w in worlds(range(10), kind="forest"):
        rule = ShortRule(draws=FEW).find(oracle_of(w, BranchAndBound()))
        assert rule.scope is not None
        assert rule.scope.rows == 0
        assert "rows of the data" not in str(rule.scope)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"k": 0}, "k, the most conditions, must be at least 1, got 0"),
        ({"draws": 0}, "draws must be at least 1"),
        ({"counted": "letters"}, "'components' or 'conditions'"),
        ({"first": "luck"}, "'rows' or 'share'"),
        ({"seconds": -1.0}, "must not be negative"),
    ],
)
def test_an_option_that_makes_no_sense_is_refused(options, told):
    with pytest.raises(InputError, match=told):
        ShortRule(**options)


@pytest.mark.parametrize("k", [2.5, True, "3"])
def test_a_length_that_is_no_whole_number_is_refused(k):
    with pytest.raises(TypeError, match="k must be a whole number"):
        ShortRule(k=k)


def test_the_scope_is_told_in_sentences():
    scope = Scope(900, 40, 3, 1, 1000, 800, 799, {"a": 1}, 0.25, nearest=True, fewest=True)
    assert str(scope) == (
        "Of the 900 rows of the data, 43 meet it: 40 refused and 3 accepted, the fewest possible (1 of them out of this"
        " applicant's reach). Of 1,000 applicants drawn at random under it, the constraints allow 800, and of these"
        " 99.9% are refused (95% interval 99.3% to 99.98%); the nearest exception is at distance 0.25."
    )
    known = str(replace(scope, nearest=False, accepted=0, barred=0, feasible=1000, feasible_refused=1000))
    assert "43" not in known
    assert "40 meet it, all of them refused." in known
    assert "under it, 100.0% are refused (95% interval 99.6% to 100.0%); the nearest exception known is" in known
    assert "drawn at random under it, the constraints allow none." in str(
        replace(scope, feasible=0, feasible_refused=0, distance=None)
    )
    assert "the data, none meets it. Of 1,000" in str(replace(scope, refused=0, accepted=0, barred=0))
    assert scope.to_dict()["share"] == pytest.approx(799 / 800)


@given(st.integers(0, 50), st.integers(1, 50))
def test_wilsons_interval_solves_its_equation(k: int, n: int):
    k = min(k, n)
    for end in wilson(k, n):
        assert 0 <= end <= 1
        if 0 < end < 1:
            assert (k / n - end) ** 2 * n == pytest.approx(1.959963984540054**2 * end * (1 - end))


DATA = pd.DataFrame({"income": [12, 22, 35, 41, 50], "debt": [40, 32, 32, 10, 5]})


def model(table):
    return ((table["income"] > 22) | (table["debt"] < 32)) * 1.0


def test_the_front_door_gives_the_rule_and_the_page_and_the_data_tell_it():
    explainer = dueto.Explainer(model, DATA)
    rule = explainer.short_rule(1, k=1, rng=3)
    found = explainer.explain(1, at_most=1, rng=3)
    assert found.short == rule
    assert found.short.scope == rule.scope
    paragraph = " ".join(str(found).split("\n\n")[3].split())
    assert paragraph.startswith(f"In 1 condition: {rule}. Of the 5 rows of the data, ")
    told = found.to_dict()["short_rule"]
    assert told["text"] == str(rule)
    assert told["scope"]["rows"] == 5
    assert told["scope"]["exception"] == dict(rule.verdict.counterexample)
    assert "short_rule" not in explainer.explain(1).to_dict()
    assert explainer.explain(1, rng=3).rule == found.rule


def test_the_command_line_tells_it_too(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    data = pd.concat([DATA] * 20, ignore_index=True)
    tree = DecisionTreeClassifier(random_state=0).fit(data, model(data))
    joblib.dump(tree, "tree.pkl")
    data.to_csv("data.csv", index=False)
    asked = ["explain", "tree.pkl", "data.csv", "--row", "1", "--trust-pickle", "--seed", "3"]
    expected = dueto.Explainer(tree, data).explain(1, at_most=1, rng=3)
    text, told = (CliRunner().invoke(main, [*asked, "--at-most", "1", *more]) for more in ([], ["--json"]))
    assert text.exit_code == told.exit_code == 0
    assert f"{expected}\n" == text.stdout
    assert json.loads(told.stdout)["short_rule"] == json.loads(expected.to_json())["short_rule"]
    assert "In 1 condition" not in CliRunner().invoke(main, asked).stdout
    assert CliRunner().invoke(main, [*asked, "--at-most", "0"]).exit_code == 2


def test_the_front_door_refuses_what_it_cannot_answer():
    explainer = dueto.Explainer(model, DATA)
    with pytest.raises(InputError, match="is not refused"):
        explainer.short_rule(2)
    with pytest.raises(InputError, match="must be at least 1"):
        explainer.explain(1, at_most=0)
