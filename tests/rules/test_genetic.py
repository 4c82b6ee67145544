"""The genetic searches for rules, against small random worlds, planted rules and counts by hand."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from dueto import datasets
from dueto.counterfactuals import Auto, Exhaustive, GeCo, Method, build_query
from dueto.domain import distinct_rows
from dueto.errors import InputError
from dueto.models import Model
from dueto.rule import Standing, bits
from dueto.rules import Oracle
from dueto.rules.draws import Rows
from dueto.rules.flags import packed, unpacked
from dueto.rules.genetic import GeneticRule, GeneticRuleCF
from dueto.rules.population import Population, Trial, crossed, fitness, mutated
from dueto.testing import World, check_finder, worlds
from trials import trials

seeds = st.integers(0, 2**32 - 1)
SMALL = {"q": 10, "s": 60, "look": 20}


class Unasked:
    """A counterfactual method that counts its questions."""

    name = "unasked"

    def __init__(self):
        self.asked = 0

    def refuses(self, query):  # noqa: ARG002
        return ""

    def find(self, query, *, k, nearest, rng):
        self.asked += 1
        return Exhaustive().find(query, k=k, nearest=nearest, rng=rng)


def a_world(seed: int, kind: str = "scores") -> World:
    found = list(worlds([seed], kind=kind))
    assume(found)
    return found[0]


def rows_of(w: World) -> Rows:
    first, _, counts = distinct_rows(w.X)
    return Rows(w.X[first], counts, w.model.good(w.X[first]))


def oracle_of(w: World, method: Method | None = None, seed: int = 0) -> Oracle:
    return Oracle(w.query, method or Exhaustive(), np.random.default_rng(seed), rows=rows_of(w))


def a_rule(w: World, rng: np.random.Generator) -> int:
    return Oracle(w.query, Exhaustive(), rng).components.all & int(rng.integers(1 << 62))


def planted(dataset: datasets.Dataset, size: int, seed: int) -> tuple[Oracle, int]:
    """The oracle of a row of a table, and the rule of so many components that decides: bad are those who satisfy it."""
    space = dataset.space
    X = space.encode(dataset.frame)
    rng = np.random.default_rng(seed)
    x = X[rng.integers(len(X))]
    nobody = Model(lambda X: np.zeros(len(X)), space, table=lambda X: X)
    components = Oracle(build_query(nobody, space, x), GeCo(), rng).components
    some = [bit for bit in bits(components.all) if not components.box(1 << bit).contains(X).all()]
    rule = sum(1 << int(bit) for bit in rng.choice(some, size, replace=False))
    box = components.box(rule)
    model = Model(lambda X: ~box.contains(X), space, table=lambda X: X)
    first, _, counts = distinct_rows(X)
    good = model.good(X[first])
    query = build_query(model, space, x, X=X, donors=X[first][good])
    return Oracle(query, GeCo(last_look=2_000), rng, rows=Rows(X[first], counts, good)), rule


def test_fitness_is_that_of_the_formulas():
    assert fitness([40, 1, 100], 100, [0.0, 0.9, 0.0], [1, 2, 3], 5).tolist() == pytest.approx([0.15, 0.2475, 0.0])
    assert fitness([0, 0], 100, [0.001, 1.0], [1, 2], 5).tolist() == pytest.approx([0.7495, 0.25])
    assert fitness([0, 0, 0], 100, [0.0, 0.0, 0.0], [0, 3, 10], 5).tolist() == pytest.approx([1.0, 0.925, 0.75])


@given(vd=st.integers(0, 50), vs=st.integers(0, 30), other=st.tuples(st.integers(0, 50), st.integers(0, 30)))
def test_a_rule_of_a_higher_level_is_never_less_fit(vd: int, vs: int, other: tuple[int, int]):
    def level(vd: int, vs: int) -> int:
        return 0 if vd else 1 if vs else 2

    one, two = (float(fitness(a, 50, b / 30, 4, 2)) for a, b in ((vd, vs), other))
    assert level(vd, vs) <= level(*other) or one >= two


@given(seed=seeds)
@trials(50)
def test_good_rows_of_the_data_are_counted_as_often_as_they_occur_and_only_allowed_ones(seed: int):
    w, rng = a_world(seed), np.random.default_rng(seed)
    trial = Trial(oracle_of(w), 10, 10)
    rules = [a_rule(w, rng) for _ in range(20)]
    good = np.array([y for y in w.X[w.model.good(w.X)] if w.feasible(y)]).reshape(-1, len(w.x))
    expected = [int(trial.oracle.components.box(rule).contains(good).sum()) for rule in rules]
    assert trial.violations(unpacked(rules, 2 * len(w.x))).tolist() == expected
    assert trial.m == len(w.X)


@given(seed=seeds)
@trials(50)
def test_draws_refute_only_rules_that_a_counterfactual_satisfies_and_what_they_show_is_learned(seed: int):
    w, rng = a_world(seed, "tree"), np.random.default_rng(seed)
    oracle = oracle_of(w)
    rules = [a_rule(w, rng) & ~oracle.must for _ in range(20)]
    shares = Trial(oracle, 40, 10).shares(unpacked(rules, 2 * len(w.x)))
    for rule, share in zip(rules, shares, strict=True):
        assert not share or oracle.components.box(rule).contains(w.counterfactuals).any()
    assert all(w.has(y) for y in oracle.exceptions.values())
    assert bool(oracle.duals) == bool(shares.any())


@given(seed=seeds, has=st.lists(st.integers(0, 2**9 - 1), min_size=1, max_size=6, unique=True))
def test_a_mutation_adds_one_usable_component_and_no_two_of_a_rule_are_alike(seed: int, has: list[int]):
    usable, m = 0b011101111, 3
    children = mutated(unpacked(has, 9), unpacked([usable], 9), m, np.random.default_rng(seed))
    found = packed(children)
    at = 0
    for rule in has:
        free = usable & ~rule
        mine = found[at : at + min(m, free.bit_count())]
        at += len(mine)
        assert len(set(mine)) == len(mine)
        assert all(child & rule == rule and (child ^ rule).bit_count() == 1 and (child ^ rule) & free for child in mine)
    assert at == len(found)


@given(seed=seeds, has=st.lists(st.integers(0, 2**9 - 1), min_size=1, max_size=6, unique=True))
def test_a_crossover_draws_one_more_component_than_the_larger_parent_has_from_both(seed: int, has: list[int]):
    found = packed(crossed(unpacked(has, 9), 2, np.random.default_rng(seed)))
    pairs = [(a, b) for i, a in enumerate(has) for b in has[i + 1 :] for _ in range(2)]
    assert len(found) == len(pairs)
    for child, (a, b) in zip(found, pairs, strict=True):
        assert child & ~(a | b) == 0
        assert child.bit_count() == min((a | b).bit_count(), max(a.bit_count(), b.bit_count()) + 1)


@given(seed=seeds)
@trials(30)
def test_the_population_is_in_order_and_a_rule_is_tried_once(seed: int):
    w, rng = a_world(seed), np.random.default_rng(seed)
    population = Population(Trial(oracle_of(w), 20, 5), 5)
    for generation in range(4):
        some = population.new(unpacked([a_rule(w, rng) for _ in range(30)], 2 * len(w.x)))
        assert not set(packed(some)) & population.seen
        population.admit(some, generation)
    order = list(zip(-population.fit, population.size, population.born, strict=True))
    assert order == sorted(order)
    assert len(set(population.rules(1000))) == len(population.has)
    refuted = population.trial.known(population.has) > 0
    assert (population.fit[refuted] < 0.75).all()


@pytest.mark.parametrize("kind", ["scores", "tree"])
@pytest.mark.parametrize("method", [Auto(), Exhaustive(), GeCo()], ids=lambda method: method.name)
@given(seed=seeds)
@trials(10)
def test_a_rule_called_proved_is_consistent_and_irredundant(kind: str, method: Method, seed: int):
    check_finder(GeneticRuleCF(**SMALL), method, worlds([seed], kind=kind), seed=seed % 1000)


@pytest.mark.parametrize("kind", ["scores", "tree"])
@given(seed=seeds)
@trials(40)
def test_with_an_exact_method_the_rule_is_always_consistent(kind: str, seed: int):
    w = a_world(seed, kind)
    rule = GeneticRuleCF(**SMALL).find(oracle_of(w, seed=seed))
    assert rule.verdict is not None
    assert rule.verdict.standing is Standing.PROVED
    assert not rule.box(w.space).contains(w.counterfactuals).any()
    assert rule.run is not None
    assert rule.run.finished


@pytest.mark.parametrize("kind", ["scores", "tree"])
@given(seed=seeds)
@trials(40)
def test_without_counterfactuals_a_rule_is_called_what_it_is(kind: str, seed: int):
    w, method = a_world(seed, kind), Unasked()
    rule = GeneticRule(**SMALL).find(oracle_of(w, method, seed))
    assert rule.box(w.space).contains(w.x[None]).all()
    escaped = rule.box(w.space).contains(w.counterfactuals).any()
    assert rule.verdict is not None
    assert rule.verdict.standing is (Standing.REFUTED if escaped else Standing.PROVED)
    assert method.asked <= 1
    assert rule.run is not None
    assert rule.run.figures["counterfactual calls"] == method.asked


@pytest.mark.parametrize("size", [2, 4, 6, 8])
def test_a_planted_rule_is_found(size: int):
    data = datasets.load_german_credit()
    for seed in range(10):
        oracle, rule = planted(data, size, seed)
        assert GeneticRuleCF().find(oracle).components == oracle.components.rule(rule).components


@pytest.mark.parametrize("finder", [GeneticRule(), GeneticRuleCF()], ids=lambda finder: finder.name)
def test_where_everybody_is_refused_the_rule_has_no_component(finder: GeneticRule):
    data = datasets.load_german_credit()
    X = data.space.encode(data.frame)
    model = Model(lambda X: np.zeros(len(X)), data.space, table=lambda X: X)
    rows = Rows(X, np.ones(len(X), dtype=np.intp), np.zeros(len(X), dtype=bool))
    rule = finder.find(Oracle(build_query(model, data.space, X[0], X=X), GeCo(), np.random.default_rng(0), rows=rows))
    assert len(rule) == 0


@pytest.mark.parametrize("finder", [GeneticRule(**SMALL), GeneticRuleCF(**SMALL)], ids=lambda finder: finder.name)
def test_the_same_seed_gives_the_same_rule_and_the_same_figures(finder: GeneticRule):
    for w in worlds(range(8), kind="tree"):
        one, two = (finder.find(oracle_of(w)) for _ in range(2))
        assert one == two
        assert one.run == two.run


def test_others_are_further_rules_that_passed_and_history_tells_of_each_generation():
    oracle, planted_rule = planted(datasets.load_german_credit(), 3, 0)
    rule = GeneticRuleCF().find(oracle)
    assert rule.run is not None
    assert rule.run.finished
    assert len(rule.run.others) == 4
    assert rule not in rule.run.others
    wanted = oracle.components.rule(planted_rule).components
    assert all(set(wanted) <= set(other) for other in rule.run.others)
    assert [h["generation"] for h in rule.run.history] == list(range(int(rule.run.figures["generations"]) + 1))
    assert all(h["FDC"] + h["FGC"] + h["GC"] <= 50 for h in rule.run.history)
    assert rule.run.history[-1]["best"] >= 0.75
    assert rule.run.figures["rows scored"] > 0


@pytest.mark.parametrize("seconds", [0.0, 0.3])
@pytest.mark.parametrize("kind", [GeneticRule, GeneticRuleCF])
def test_when_time_is_up_the_best_rule_so_far_is_given_and_said_to_be_no_more(kind: type[GeneticRule], seconds: float):
    oracle, _ = planted(datasets.load_german_credit(), 8, 0)
    model = oracle.query.model
    slow = replace(oracle.query, model=Model(_slowed(model.predict), model.space, table=lambda X: X))
    rule = kind(seconds=seconds).find(Oracle(slow, Unrefuting(), oracle.rng, rows=oracle.rows))
    assert rule.run is not None
    assert not rule.run.finished
    assert rule.box(oracle.query.space).contains(oracle.query.x[None]).all()


class Unrefuting(GeCo):
    """Finds nothing, at once."""

    def find(self, query, *, k, nearest, rng):  # noqa: ARG002
        from dueto.counterfactuals import Answer, Status

        return Answer(Status.UNKNOWN, np.empty((0, len(query.x))), np.empty(0), self.name, 0)


def _slowed(predict):
    def slow(X):
        time.sleep(0.2)
        return predict(X)

    return slow


@pytest.mark.parametrize("option", ["q", "k", "s", "m", "c", "look", "generations", "counterfactuals", "covers"])
@pytest.mark.parametrize("value", [0, -3])
def test_a_size_below_one_is_refused_by_name(option: str, value: int):
    with pytest.raises(InputError, match=f"^{option} must be at least 1"):
        GeneticRuleCF(**{option: value})


def test_other_senseless_options_are_refused():
    with pytest.raises(InputError, match="seconds"):
        GeneticRule(seconds=-1.0)
    with pytest.raises(InputError, match="k=5, q=4"):
        GeneticRule(q=4)
    with pytest.raises(TypeError, match="whole number"):
        GeneticRule(s=0.5)  # type: ignore[arg-type]
