"""Anchors: their bounds against root finding and enumeration, their guarantee over many seeds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.stats import binom, entropy

from dueto.counterfactuals import Exhaustive, Query, build_query
from dueto.errors import InputError
from dueto.models import as_model
from dueto.plaf import cf, fixed
from dueto.rule import Components, Rule, Standing, bits
from dueto.rules import Oracle
from dueto.rules.anchor import Anchor, Arms
from dueto.rules.draws import Perturbed, Rows
from dueto.rules.kl_lucb import best_arms, exploration, kl, lower, upper
from dueto.space import FeatureSpace
from dueto.testing import World, worlds
from trials import trials

shares = st.floats(0.0, 1.0)
levels = st.floats(1e-4, 20.0)


def oracle_of(w: World, seed: int = 0) -> Oracle:
    good = w.model.good(w.X)
    return Oracle(w.query, Exhaustive(), np.random.default_rng(seed), rows=Rows(w.X, np.ones(len(good), int), good))


def a_query(scores: dict[str, list[float]], accepted: object, **more: object) -> Query:
    """A query about the first row of a table, by a model in words of the table."""
    frame = pd.DataFrame(scores)
    space = FeatureSpace.infer(frame)
    model = as_model(accepted, space)
    X = space.encode(frame)
    return build_query(model, space, X[0], X=X, donors=X[model.good(X)], **more)


def precision(w: World, rule: Rule, size: int = 20_000) -> float:
    """The share of refused among many feasible draws under a rule."""
    samples, components = Perturbed(w.query, Rows.of(oracle_of(w))), Components(w.space, w.x)
    has = np.zeros((1, 2 * len(w.x)), dtype=bool)
    has[0, [bit for bit in bits(components.all) if components.rule(1 << bit).components[0] in rule]] = True
    X, _ = samples.satisfying(has, size, np.random.default_rng(99))
    return 1 - float(w.model.good(X[w.query.plausible(X)]).mean())


@given(p=shares, q=shares)
def test_the_divergence_is_that_of_two_coins(p: float, q: float):
    assert kl(p, q) == pytest.approx(entropy([p, 1 - p], [q, 1 - q]), rel=1e-6, abs=1e-9)


@given(p=shares, level=levels)
def test_bounds_are_where_the_divergence_reaches_the_level(p: float, level: float):
    def excess(q: float) -> float:
        return float(entropy([p, 1 - p], [q, 1 - q])) - level

    above, below = 1 - 1e-15, 1e-15
    high = brentq(excess, p, above) if p < above and excess(above) > 0 else 1.0
    low = brentq(excess, below, p) if p > below and excess(below) > 0 else 0.0
    assert upper([p], [level])[0] == pytest.approx(high, abs=2e-5)
    assert lower([p], [level])[0] == pytest.approx(low, abs=2e-5)
    assert lower(p, level) <= p <= upper(p, level)


def test_bounds_hold_as_often_as_they_promise():
    level = np.log(1 / 0.1)
    for n, true in [(50, 0.9), (100, 0.95), (300, 0.7)]:
        hits = np.arange(n + 1)
        low = lower(hits / n, np.full(n + 1, level / n))
        high = upper(hits / n, np.full(n + 1, level / n))
        chance = binom.pmf(hits, n, true)
        assert chance[low > true].sum() <= 0.1
        assert chance[high < true].sum() <= 0.1


def test_the_exploration_rate_grows_with_arms_rounds_and_caution():
    rate = exploration(10, 5, 0.1)
    assert rate < min(exploration(20, 5, 0.1), exploration(10, 6, 0.1), exploration(10, 5, 0.05))
    assert rate == pytest.approx(np.log(405.5 * 10 * 5**1.1 / 0.1) + np.log(np.log(405.5 * 10 * 5**1.1 / 0.1)))


@pytest.mark.parametrize("top", [1, 3])
def test_the_best_arms_are_within_the_tolerance_as_often_as_promised(top: int):
    wrong, spent = 0, 0.0
    for seed in range(100):
        rng = np.random.default_rng(seed)
        true = rng.random(8)

        def pull(at: np.ndarray, rng: np.random.Generator = rng, true: np.ndarray = true) -> tuple[object, object]:
            return rng.binomial(50, true[at]), np.full(len(at), 50)

        hits, draws = (np.asarray(told, dtype=float) for told in pull(np.arange(8)))
        found = best_arms(pull, hits, draws, top, tolerance=0.1, delta=0.1)
        assert len(set(found.tolist())) == top
        wrong += true[found].min() < np.sort(true)[-top] - 0.1
        spent += draws.mean() / draws.max()
    assert wrong <= 10
    assert spent / 100 < 0.75  # poor arms are left alone


def test_arms_out_of_time_are_those_that_look_best():
    hits, draws = np.array([3.0, 9.0, 5.0]), np.full(3, 10.0)
    assert best_arms(lambda _: pytest.fail("drawn"), hits, draws, 2, tolerance=0.1, delta=0.1, until=-1).tolist() == [
        1,
        2,
    ]
    assert best_arms(lambda _: pytest.fail("drawn"), hits, draws, 3, tolerance=0.1, delta=0.1).tolist() == [1, 2, 0]


@pytest.mark.parametrize("beam", [1, 3])
def test_anchors_are_seldom_less_precise_than_their_bound_and_the_margin(beam: int):
    options = Anchor(threshold=0.9, beam=beam, coverage_samples=500)
    told, short, under = 0, 0, 0
    for seed in range(12):
        for w in worlds(range(12)):
            rule = options.find(oracle_of(w, seed))
            figures = rule.run.figures
            if figures["draws"] and figures["meets threshold"]:
                true = precision(w, rule, 4000)
                told += 1
                short += true < options.threshold - options.margin - 0.02
                under += true < figures["precision_low"] - 0.02
                assert figures["precision"] >= options.threshold
                assert figures["precision_low"] > options.threshold - options.margin
    assert told > 60
    assert short <= options.delta * told
    assert under <= options.delta * told


def test_among_anchors_none_found_covers_more():
    for w in worlds(range(20)):
        oracle = oracle_of(w)
        rule = Anchor(beam=4, threshold=0.8).find(oracle)
        box = rule.box(w.space)
        assert box.contains(w.x[None]).all()
        covered = [other.box(w.space).contains(w.X).sum() for other in (rule, *rule.run.others)]
        assert all(covered[0] >= c - 0.05 * len(w.X) for c in covered)
        assert rule.run.figures["coverage"] == pytest.approx(box.contains(w.X).mean(), abs=0.03)


@pytest.mark.parametrize("kind", ["scores", "tree"])
def test_what_is_called_proved_is_consistent_and_what_is_refuted_has_an_exception(kind: str):
    standings = set()
    for w in worlds(range(40), kind=kind):
        rule = Anchor(coverage_samples=200).find(oracle_of(w))
        escaped = rule.box(w.space).contains(w.counterfactuals).any()
        standings.add(rule.verdict.standing)
        assert rule.verdict.standing is (Standing.REFUTED if escaped else Standing.PROVED)
        assert rule.box(w.space).contains(w.x[None]).all()
    assert len(standings) == 2


@given(seed=st.integers(0, 1000), beam=st.integers(1, 3))
@trials(15)
def test_the_same_seed_gives_the_same_anchor_and_figures(seed: int, beam: int):
    for w in worlds([seed]):
        one, two = (Anchor(beam=beam, coverage_samples=100).find(oracle_of(w, seed)) for _ in range(2))
        assert one == two
        assert str(one.run) == str(two.run)  # as text, for NaN is not equal to itself


def test_draws_under_a_rule_satisfy_it_and_are_counted_by_what_the_model_says():
    for w in worlds(range(10)):
        arms = Arms(oracle_of(w), Anchor(batch=40, coverage_samples=10))
        rules = [0, *(1 << bit for bit in arms.bits), sum(1 << bit for bit in arms.bits)]
        arms._stock_up(rules)
        for rule in rules:
            assert arms.components.box(rule).contains(arms.stock[rule]).all()
        X = arms.stock[0][:40].copy()
        before = w.model.rows_scored
        refused, drawn = arms.pull(rules)
        assert w.model.rows_scored - before == drawn.sum()
        feasible = X[w.query.plausible(X)]
        assert (refused[0], drawn[0]) == ((~w.model.good(feasible)).sum(), len(feasible))
        for rule, told in zip(rules, zip(refused, drawn, strict=True), strict=True):
            assert arms.tried[rule].tolist() == list(told)


def test_a_model_that_refuses_everybody_gives_the_rule_without_a_condition():
    query = a_query({"a": [0, 1, 2, 3], "b": [1, 0, 1, 0]}, lambda table: np.zeros(len(table)))
    rule = Anchor().find(Oracle(query, Exhaustive(), np.random.default_rng(0)))
    assert (len(rule), rule.verdict.standing) == (0, Standing.PROVED)
    assert rule.run.figures["precision"] == rule.run.figures["coverage"] == rule.run.figures["meets threshold"] == 1.0
    assert rule.run.figures["rows scored"] == 100


@pytest.mark.parametrize("batch", [10, 100])
def test_one_feature_gives_its_one_condition_drawn_from_until_the_bound_tells(batch: int):
    query = a_query({"a": [0, 1, 2, 3, 4, 5]}, lambda table: (table["a"] >= 1).astype(float))
    rule = Anchor(batch=batch).find(Oracle(query, Exhaustive(), np.random.default_rng(0)))
    assert str(rule) == "a <= 0"
    assert rule.verdict.standing is Standing.PROVED
    assert rule.run.figures["meets threshold"] == 1
    assert rule.run.figures["precision_low"] > 0.9


def test_a_condition_that_the_outcome_needs_is_found_among_many():
    rng = np.random.default_rng(0)
    table = {f"f{j}": [2, *rng.integers(0, 5, 300)] for j in range(8)}
    query = a_query(table, lambda found: (found["f5"] > 2).astype(float))
    for seed in range(5):
        rule = Anchor().find(Oracle(query, Exhaustive(), np.random.default_rng(seed)))
        assert str(rule) == "f5 <= 2"


def test_components_that_tell_nothing_are_left_out():
    query = a_query(
        {"a": [0, 1, 2], "b": [0, 1, 2], "c": [1, 1, 1], "d": [0, 1, 2], "e": [1, 0, 2]},
        lambda table: (table["d"] > 1).astype(float),
        constraints=(cf.a > 0, fixed("b")),
    )
    arms = Arms(Oracle(query, Exhaustive(), np.random.default_rng(0)), Anchor(batch=10, coverage_samples=10))
    components = Components(query.space, query.x)
    told = {str(components.rule(1 << bit)) for bit in arms.bits}
    assert told == {"d <= 0", "e <= 1", "e >= 1"}  # a has to rise, b cannot change, nobody is below d


def test_where_the_constraints_allow_nobody_the_rule_is_empty_and_nothing_is_estimated():
    query = a_query(
        {"a": [0, 1, 2], "b": [0, 1, 2]},
        lambda table: (table["a"] > 0).astype(float),
        constraints=(cf.a + cf.b > 10,),
    )
    rule = Anchor().find(Oracle(query, Exhaustive(), np.random.default_rng(0)))
    assert (len(rule), rule.run.figures["draws"], rule.run.figures["meets threshold"]) == (0, 0, 0)
    assert np.isnan(rule.run.figures["precision"])
    assert (rule.run.figures["precision_low"], rule.run.figures["precision_high"]) == (0, 1)


def test_without_an_anchor_the_most_precise_rule_is_given():
    """Whoever has a = 0 and b = 0 is refused in three of four cases, by c and d, which cannot be bounded."""
    query = a_query(
        {"a": [0, 1, 0, 1], "b": [0, 0, 1, 1], "c": [0, 1, 0, 1], "d": [0, 0, 1, 1]},
        lambda table: ((table["a"] + table["b"] > 0) | (table["c"] * table["d"] > 0)).astype(float),
    )
    oracle = Oracle(query, Exhaustive(), np.random.default_rng(0))
    full = Anchor().find(oracle)
    assert full.run.figures["meets threshold"] == 1
    arms = Arms(oracle, Anchor(coverage_samples=10))
    arms.bits = [bit for bit in arms.bits if bit < 4]
    anchors, _ = Anchor()._beams(arms, 2.3)
    assert anchors == []
    (best,) = arms.best(arms.beams, 1)
    assert str(oracle.components.rule(best)) == "a <= 0 and b <= 0"


def test_without_time_the_best_so_far_is_given_and_it_says_so():
    for w in worlds(range(5)):
        rule = Anchor(seconds=0.0).find(oracle_of(w))
        assert not rule.run.finished
        assert rule.box(w.space).contains(w.x[None]).all()
        assert rule.verdict is not None


def test_the_history_tells_each_size_and_each_was_drawn_from_until_the_bounds_tell():
    options = Anchor(batch=10)
    for w in worlds(range(10)):
        run = options.find(oracle_of(w)).run
        assert [step["size"] for step in run.history] == list(range(1, len(run.history) + 1))
        scored = [step["rows scored"] for step in run.history]
        assert scored == sorted(scored)
        for step in run.history:
            assert step["precision_low"] <= step["precision"] <= step["precision_high"]
            if step["precision"] >= options.threshold:
                assert step["precision_low"] >= options.threshold - options.margin
            else:
                assert step["precision_high"] < options.threshold + options.margin


@pytest.mark.parametrize(
    "options",
    [
        {"threshold": 0},
        {"threshold": 1.5},
        {"delta": 0},
        {"delta": 1},
        {"tolerance": 0},
        {"margin": -0.1},
        {"batch": 0},
        {"beam": 0},
        {"seconds": -1},
        {"coverage_samples": 0},
    ],
)
def test_bad_options_are_refused(options: dict):
    with pytest.raises(InputError, match=next(iter(options))):
        Anchor(**options)


def test_an_option_of_another_type_is_a_type_error():
    with pytest.raises(TypeError, match="beam"):
        replace(Anchor(), beam=1.5)
