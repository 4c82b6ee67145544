"""The shortest rule, against the enumeration of all rules and all instances of small random worlds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.ensemble import RandomForestClassifier

from dueto import Explainer
from dueto.counterfactuals import BranchAndBound, Exhaustive, LeafBoxes
from dueto.errors import InputError
from dueto.rule import Components, Standing, bits, to_sets
from dueto.rules import AutoRule, MinimumRule, Oracle
from dueto.rules.draws import Rows
from dueto.rules.hitting import HittingSets
from dueto.testing import check_finder, worlds
from trials import trials

if TYPE_CHECKING:
    from dueto.counterfactuals import Method
    from dueto.testing import World

seeds = st.integers(0, 2**32 - 1)
WAYS: dict[str, Method] = {
    "scores": Exhaustive(),
    "tree": LeafBoxes(),
    "forest": BranchAndBound(),
    "boosting": BranchAndBound(),
    "linear": BranchAndBound(),
}


def a_world(seed: int, kind: str) -> World:
    found = list(worlds([seed], kind=kind))
    assume(found)
    return found[0]


def oracle_of(w: World, method: Method) -> Oracle:
    return Oracle(w.query, method, np.random.default_rng(0))


def consistent_rules(w: World) -> list[int]:
    """All rules that meet the dual of every counterfactual; components that hold of nobody allowed only if need be."""
    components, must = Components(w.space, w.x), oracle_of(w, Exhaustive()).must
    duals = to_sets(components.duals(w.counterfactuals))
    every = list(bits(components.all & ~must if all(dual & ~must for dual in duals) else components.all))
    subsets = (sum(1 << b for i, b in enumerate(every) if pick >> i & 1) for pick in range(1 << len(every)))
    return [rule for rule in subsets if all(rule & dual for dual in duals)]


def count(rule: int, counted: str) -> int:
    return len(set(bits(rule))) if counted == "components" else len({b // 2 for b in bits(rule)})


@pytest.mark.parametrize("counted", ["components", "conditions"])
@pytest.mark.parametrize("kind", WAYS)
@given(seed=seeds)
@trials(25)
def test_no_consistent_rule_is_shorter(kind: str, counted: str, seed: int):
    w = a_world(seed, kind)
    rule = MinimumRule(counted=counted).find(oracle_of(w, WAYS[kind]))
    assert rule.verdict is not None
    assert rule.least is not None
    shortest = min(count(r, counted) for r in consistent_rules(w))
    length = len(rule) if counted == "components" else len({c.feature for c in rule})
    assert (length, rule.least.length, rule.least.at_least) == (shortest, shortest, shortest)
    assert rule.verdict.standing is Standing.PROVED
    assert rule.least.proved
    assert not rule.box(w.space).contains(w.counterfactuals).any()


@pytest.mark.parametrize("least", [True, False])
@pytest.mark.parametrize("kind", WAYS)
@given(seed=seeds)
@trials(25)
def test_a_rule_called_proved_is_consistent_and_irredundant(kind: str, least: bool, seed: int):
    check_finder(MinimumRule(least=least), WAYS[kind], worlds([seed], kind=kind))


@given(seed=seeds)
@trials(25)
def test_all_shortest_rules_are_all_of_them(seed: int):
    w = a_world(seed, "forest")
    oracle = oracle_of(w, BranchAndBound())
    found = {str(rule) for rule in MinimumRule().all(oracle, limit=1000)}
    rules = consistent_rules(w)
    shortest = min(r.bit_count() for r in rules)
    assert found == {str(oracle.components.rule(r)) for r in rules if r.bit_count() == shortest}


@given(seed=seeds)
@trials(25)
def test_of_the_shortest_rules_one_that_most_refused_rows_meet_is_given(seed: int):
    w = a_world(seed, "boosting")
    good = w.model.good(w.X)
    bad = w.X[~good]
    rows = Rows(w.X, np.ones(len(good), dtype=np.intp), good)
    oracle = Oracle(w.query, BranchAndBound(), np.random.default_rng(0), rows=rows)
    rule = MinimumRule().find(oracle)
    every = MinimumRule().all(oracle_of(w, BranchAndBound()), limit=1000)
    met = [int(r.box(w.space).contains(bad).sum()) for r in every]
    assert int(rule.box(w.space).contains(bad).sum()) == max(met[:20]) or len(every) > 20


@given(seed=seeds, heavy=st.integers(0, 3), weight=st.sampled_from([0.4, 3.0]))
@trials(25)
def test_with_weights_no_consistent_rule_is_cheaper(seed: int, heavy: int, weight: float):
    w = a_world(seed, "boosting")
    heavy %= len(w.space)
    rule = MinimumRule(weights={w.space.names[heavy]: weight}).find(oracle_of(w, BranchAndBound()))
    assert rule.least is not None
    cost = min(sum(weight if b // 2 == heavy else 1.0 for b in bits(r)) for r in consistent_rules(w))
    assert rule.least.length == pytest.approx(cost)
    assert rule.least.proved


def test_without_time_the_rule_is_still_proved_and_the_gap_is_told():
    for w in worlds(range(20), kind="forest"):
        rule = MinimumRule(seconds=0).find(oracle_of(w, BranchAndBound()))
        assert rule.verdict is not None
        assert rule.least is not None
        assert rule.verdict.standing is Standing.PROVED
        assert rule.least.at_least <= min(r.bit_count() for r in consistent_rules(w)) <= rule.least.length


def test_what_is_proved_so_far_is_told_as_it_grows():
    for w in worlds(range(10), kind="boosting"):
        told: list[tuple[float, int]] = []
        boxes: list[tuple[int, int]] = []
        method = BranchAndBound(progress=lambda *seen, boxes=boxes: boxes.append(seen))
        rule = MinimumRule(progress=lambda *seen, told=told: told.append(seen)).find(oracle_of(w, method))
        assert rule.least is not None
        assert [n for _, n in told] == sorted({n for _, n in told})
        assert [least for least, _ in told] == sorted(least for least, _ in told)
        assert told[-1][0] == rule.least.at_least
        assert all(n > 0 for n, _ in boxes)


def test_the_shortest_rule_is_looked_for_where_a_proof_is_possible_and_else_the_greedy_one():
    for kind, expected in (("forest", "minimum"), ("scores", "greedy")):
        w = next(worlds(range(20), kind=kind))
        from dueto.counterfactuals import Auto

        assert AutoRule().suited(oracle_of(w, Auto())).name == expected


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"counted": "letters"}, "'components' or 'conditions'"),
        ({"seconds": -1.0}, "must not be negative"),
        ({"weights": {"age": 0.0}}, "weight of 'age'"),
        ({"weights": {"age": float("nan")}}, "weight of 'age'"),
    ],
)
def test_an_option_that_makes_no_sense_is_refused(options, told):
    with pytest.raises(InputError, match=told):
        MinimumRule(**options)


def test_a_weight_for_a_feature_that_is_not_there_is_refused():
    w = next(worlds(range(20), kind="tree"))
    with pytest.raises(InputError, match="no feature 'height'"):
        MinimumRule(weights={"height": 2.0}).find(oracle_of(w, LeafBoxes()))


families = st.lists(st.integers(1, 2**8 - 1), min_size=1, max_size=14)


@given(sets=families, costs=st.lists(st.integers(1, 3), min_size=8, max_size=8), far=st.sampled_from([0, 60, 130]))
@trials(60)
def test_a_hitting_set_found_while_the_family_grows_is_as_cheap_as_any(sets, costs, far):
    search = HittingSets([1] * far + costs)
    while missed := [s for s in sets if not (found := search.next() >> far) & s]:
        search.add(missed[len(missed) // 2] << far)
    price = {c: sum(costs[i] for i in bits(c)) for c in range(2**8) if all(c & s for s in sets)}
    assert price[found] == search.bound == min(price.values())


@given(sets=families, costs=st.lists(st.integers(1, 3), min_size=8, max_size=8))
@trials(60)
def test_skipping_goes_through_all_cheapest_hitting_sets(sets, costs):
    search = HittingSets(costs, sets)
    found, one = set(), search.next()
    while one is not None:
        found.add(one)
        one = search.next(search.bound, skip=True)
    price = {c: sum(costs[i] for i in bits(c)) for c in range(2**8) if all(c & s for s in sets)}
    assert found == {c for c, cost in price.items() if cost == min(price.values())}


def test_a_family_with_an_empty_set_has_no_hitting_set():
    assert HittingSets([1, 1], [1, 0]).next() is None


def test_components_that_the_model_does_not_use_go_in_blocks_not_one_by_one():
    rng = np.random.default_rng(0)
    data = pd.DataFrame(rng.integers(0, 5, (200, 60)), columns=[f"f{j}" for j in range(60)])
    forest = RandomForestClassifier(10, max_depth=3, random_state=0).fit(data, data["f0"] + data["f1"] > 4)
    explainer = Explainer(forest, data)
    oracle = Oracle(explainer.query(explainer.X[explainer.refused[0]]), BranchAndBound(), rng, rows=explainer.rows)
    rule = MinimumRule(least=False).find(oracle)
    assert rule.verdict.standing is Standing.PROVED
    assert oracle.calls < len(data.columns) / 2
