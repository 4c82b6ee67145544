"""The set cover over the data, against the enumeration of all rules and of all covers."""

from __future__ import annotations

import time
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.optimize
from hypothesis import assume, given
from hypothesis import strategies as st

from dueto import Explainer, verify
from dueto.counterfactuals import Exhaustive, LeafBoxes, build_query
from dueto.errors import InputError
from dueto.models import as_model
from dueto.plaf import cf
from dueto.plaf import x as own
from dueto.rule import Components, Standing, bits, to_sets, to_words
from dueto.rules import MinimumRule, Oracle, set_cover
from dueto.rules.hitting import cheapest
from dueto.rules.set_cover import MinSetCover, inclusion_minimal, least_cover
from dueto.space import FeatureSpace
from dueto.testing import World, check_finder, worlds
from trials import trials

seeds = st.integers(0, 2**32 - 1)
families = st.lists(st.integers(1, 2**9 - 1), min_size=1, max_size=15)


def a_world(seed: int, kind: str = "scores") -> World:
    found = list(worlds([seed], kind=kind))
    assume(found)
    return found[0]


def oracle_of(w: World) -> Oracle:
    return Oracle(w.query, Exhaustive(), np.random.default_rng(0))


def good_rows(w: World) -> np.ndarray:
    return np.array([y for y in w.X[w.model.good(w.X)] if w.feasible(y)]).reshape(-1, len(w.x))


def count(rule: int, counted: str) -> int:
    return rule.bit_count() if counted == "components" else len({b // 2 for b in bits(rule)})


def data_consistent(w: World) -> list[int]:
    """All rules that no good row meets; components that hold of nobody allowed only if need be."""
    components, must = Components(w.space, w.x), oracle_of(w).must
    duals = to_sets(components.duals(good_rows(w)))
    every = list(bits(components.all & ~must if all(dual & ~must for dual in duals) else components.all))
    subsets = (sum(1 << b for i, b in enumerate(every) if pick >> i & 1) for pick in range(1 << len(every)))
    return [rule for rule in subsets if all(rule & dual for dual in duals)]


def words(sets: list[int]) -> np.ndarray:
    return np.array([to_words(s, 1) for s in sets])


def smallest(sets: list[int]) -> int:
    return min(c.bit_count() for c in range(2**9) if all(c & s for s in sets))


@pytest.mark.parametrize("counted", ["components", "conditions"])
@given(seed=seeds)
@trials(60)
def test_no_rule_that_the_data_does_not_refute_is_shorter(counted: str, seed: int):
    w = a_world(seed)
    rule = MinSetCover(counted=counted).find(oracle_of(w))
    assert rule.least is not None
    assert rule.run is not None
    shortest = min(count(r, counted) for r in data_consistent(w))
    length = len(rule) if counted == "components" else len({c.feature for c in rule})
    assert (length, rule.least.length, rule.least.at_least) == (shortest, shortest, shortest)
    assert rule.run.finished
    assert not rule.box(w.space).contains(good_rows(w)).any()


@pytest.mark.parametrize("counted", ["components", "conditions"])
@pytest.mark.parametrize("seconds", [0.0, 60.0])
@given(seed=seeds)
@trials(40)
def test_a_rule_called_proved_is_consistent_and_irredundant(seconds: float, counted: str, seed: int):
    check_finder(MinSetCover(counted=counted, seconds=seconds), Exhaustive(), worlds([seed]))
    check_finder(MinSetCover(counted=counted, seconds=seconds), LeafBoxes(), worlds([seed], kind="tree"))


@given(seed=seeds)
@trials(40)
def test_the_bound_is_right_of_rules_that_hold_of_everybody(seed: int):
    w = a_world(seed, "tree")
    found = MinSetCover().find(oracle_of(w)).least
    least = MinimumRule().find(oracle_of(w)).least
    assert found is not None
    assert least is not None
    assert found.at_least <= least.length


@pytest.mark.parametrize("counted", ["components", "conditions"])
@given(seed=seeds)
@trials(40)
def test_without_time_the_rule_is_one_of_the_data_and_the_gap_is_honest(counted: str, seed: int):
    w = a_world(seed)
    rule = MinSetCover(counted=counted, seconds=0.0).find(oracle_of(w))
    assert rule.least is not None
    assert rule.run is not None
    shortest = min(count(r, counted) for r in data_consistent(w))
    assert rule.least.at_least <= shortest <= rule.least.length
    assert rule.run.finished == rule.least.proved
    assert not rule.box(w.space).contains(good_rows(w)).any()


@pytest.mark.parametrize("nodes", [0, 1 << 60])
@given(sets=families)
@trials(60)
def test_a_cover_by_the_solver_and_by_the_search_is_a_smallest_one(nodes: int, sets: list[int]):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(set_cover, "NODES", nodes)
        chosen, at_least = least_cover(inclusion_minimal(words(sets)), np.inf)
    assert all(chosen & s for s in sets)
    assert chosen.bit_count() == at_least == smallest(sets)


@given(sets=families)
def test_out_of_time_a_cover_covers_loses_no_element_and_is_bounded(sets: list[int]):
    chosen, at_least = least_cover(inclusion_minimal(words(sets)), -np.inf)
    assert all(chosen & s for s in sets)
    assert all(any(not chosen & ~(1 << b) & s for s in sets) for b in bits(chosen))
    assert at_least <= smallest(sets) <= chosen.bit_count()


@pytest.mark.parametrize("seconds", [1e-6, 0.02, np.inf])
def test_a_solver_that_runs_out_of_time_tells_an_honest_gap(seconds: float):
    for seed in range(3):
        rng = np.random.default_rng(seed)
        sets = [sum(1 << int(e) for e in rng.choice(40, 6, replace=False)) for _ in range(100)]
        least = cheapest(np.ones(40, dtype=np.int64), sets)
        assert least is not None
        chosen, at_least = least_cover(inclusion_minimal(words(sets)), time.perf_counter() + seconds)
        assert all(chosen & s for s in sets)
        assert at_least <= least.bit_count() <= chosen.bit_count()
        assert seconds < np.inf or at_least == chosen.bit_count()


@pytest.mark.parametrize(
    ("bound", "known", "at_least"),
    [(2.3, True, 3), (2.0000001, True, 2), (2.3, False, 3), (None, False, 2), (-np.inf, True, 2)],
)
def test_the_solvers_bound_is_rounded_up_and_its_cover_made_irredundant(bound: object, known: bool, at_least: int):
    duals = inclusion_minimal(words([0b000011, 0b001100, 0b110000, 0b000101, 0b101000]))
    answer = SimpleNamespace(status=1, x=np.ones(6) if known else None, mip_dual_bound=bound)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scipy.optimize, "milp", lambda *_, **__: answer)
        chosen, told = set_cover._solved(duals, 0b111111, 2, 1.0)
    assert told == at_least
    assert all(chosen & s for s in to_sets(duals))
    assert chosen.bit_count() < 6 or not known


@given(sets=st.lists(st.integers(0, 2**70 - 1), max_size=12), repeat=st.integers(1, 3))
def test_minimal_duals_are_the_inclusion_minimal_ones(sets: list[int], repeat: int):
    pool = [s & 0b1111 | s >> 60 << 60 for s in sets]
    found = inclusion_minimal(np.array([to_words(s, 2) for s in pool * repeat], dtype=np.uint64).reshape(-1, 2))
    assert sorted(to_sets(found)) == sorted(s for s in set(pool) if not any(t != s and t & s == t for t in pool))


@pytest.mark.parametrize("counted", ["components", "conditions"])
def test_a_condition_that_the_constraints_let_nobody_meet_is_left_out(counted: str):
    import pandas as pd

    frame = pd.DataFrame({"a": [0.0, 1.0, 2.0, 1.0, 2.0], "b": [1.0, 0.0, 2.0, 1.0, 1.0], "c": [1.0, 1, 1, 0, 2]})
    space = FeatureSpace.infer(frame)
    model = as_model(lambda table: (table["a"] > 0).astype(float), space)
    X = space.encode(frame)
    query = build_query(model, space, X[0], constraints=(cf.a > own.a,), X=X, donors=X[1:])
    oracle = Oracle(query, Exhaustive(), np.random.default_rng(0))
    assert str(oracle.components.rule(oracle.must)) == "a <= 0"
    rule = MinSetCover(counted=counted).find(oracle)
    # the last two rows differ from the applicant in c alone, one each way, and the two before in b alone
    assert {c.feature for c in rule} == {"b", "c"}
    assert (len(rule), rule.least.length) == (4, 4 if counted == "components" else 2)


def test_of_ties_the_same_rule_is_given_whatever_the_order_of_the_rows():
    for w in worlds(range(30)):
        rules = []
        for order in (np.arange(len(w.query.donors)), np.arange(len(w.query.donors))[::-1]):
            query = replace(w.query, donors=w.query.donors[order], memo={})
            rules.append(MinSetCover().find(Oracle(query, Exhaustive(), np.random.default_rng(0))))
        assert rules[0] == rules[1]


def test_without_accepted_rows_the_rule_has_no_condition():
    w = next(worlds(range(1, 2)))
    query = replace(w.query, donors=w.query.donors[:0], memo={})
    rule = MinSetCover().find(Oracle(query, Exhaustive(), np.random.default_rng(0)))
    assert (len(rule), rule.least.length, rule.least.at_least, rule.run.finished) == (0, 0, 0, True)


def test_a_rule_that_the_data_does_not_refute_is_refuted_beyond_it():
    standings = {MinSetCover().find(oracle_of(w)).verdict.standing for w in worlds(range(60))}
    assert Standing.REFUTED in standings
    assert Standing.PROVED in standings


def test_an_accepted_row_that_equals_the_applicant_is_named():
    w = next(w for w in worlds(range(50)) if not w.constraints)
    query = replace(w.query, donors=np.vstack([w.query.donors, w.x]), memo={})
    with pytest.raises(InputError, match=r"a row of the data equals the applicant \(f0 .*f9 .*desired outcome"):
        MinSetCover().find(Oracle(query, Exhaustive(), np.random.default_rng(0)))


@pytest.mark.parametrize("options", [{"counted": "bounds"}, {"seconds": -1}, {"seconds": float("nan")}])
def test_bad_options_are_refused(options: dict):
    with pytest.raises(InputError, match=next(iter(options))):
        MinSetCover(**options)


@pytest.mark.parametrize("counted", ["components", "conditions"])
def test_what_is_proved_of_the_rule_has_a_certificate_that_is_verified(counted: str):
    import pandas as pd
    from sklearn.tree import DecisionTreeClassifier

    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.integers(0, 4, (60, 4)), columns=list("abcd"))
    model = DecisionTreeClassifier(max_depth=3, random_state=0).fit(frame, frame["a"] + frame["b"] > 3)
    explainer = Explainer(model, frame, method=MinSetCover(counted=counted))
    proved = 0
    for row in explainer.refused[:10]:
        rule = explainer.explain(int(row)).rule
        if rule.verdict.standing is Standing.PROVED:
            proved += 1
            assert all(check.ok for check in verify(rule.certificate, model).checks)
    assert proved


def test_when_time_is_up_no_dual_is_lost():
    words = np.random.default_rng(0).integers(1, 1 << 12, (200, 2)).astype(np.uint64)
    minimal, rest = inclusion_minimal(words), inclusion_minimal(words, until=0.0)
    told = [set(map(tuple, found.tolist())) for found in (minimal, rest, words)]
    assert told[0] < told[1] <= told[2]
