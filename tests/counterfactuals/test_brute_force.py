"""Every method against the enumeration of small random worlds."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from dueto.counterfactuals import Auto, Exhaustive, GeCo, LeafBoxes, Method, Status
from dueto.rule import Components
from worlds import World, same, world

METHODS: dict[str, Method] = {"auto": Auto(), "exhaustive": Exhaustive(), "geco": GeCo(), "leaf-boxes": LeafBoxes()}
PAIRS = [(name, tree) for name in METHODS for tree in (True, False) if tree or name != "leaf-boxes"]
seeds = st.integers(0, 2**32 - 1)


def some_world(seed: int, *, tree: bool) -> World:
    found = world(seed, tree=tree)
    assume(found is not None)
    assert found is not None
    return found


def nearest_of(w: World) -> float:
    found = w.counterfactuals()
    return float(w.query.distances(found).min()) if len(found) else np.inf


def answer_of(w: World, name: str, *, nearest: bool = True, k: int = 5):
    method, query = METHODS[name], w.query
    assume(not method.refuses(query))
    return method.find(query, k=k, nearest=nearest, rng=np.random.default_rng(0))


@pytest.mark.parametrize(("name", "tree"), PAIRS)
@given(seed=seeds, nearest=st.booleans())
@settings(max_examples=60)
def test_every_answer_is_valid_feasible_and_without_redundant_changes(name: str, tree: bool, seed: int, nearest: bool):
    w = some_world(seed, tree=tree)
    truth = w.counterfactuals().tolist()
    answer = answer_of(w, name, nearest=nearest)
    assert len(answer) <= 5
    assert (np.diff(answer.distances) >= 0).all()
    for y in answer.X:
        assert any(all(map(same, y, t)) for t in truth), (y, w.constraints)
        for j in np.flatnonzero(~np.array([same(a, b) for a, b in zip(y, w.x, strict=True)])):
            undone = y.copy()
            undone[j] = w.x[j]
            assert not any(all(map(same, undone, t)) for t in truth), (y, j, w.constraints)


@pytest.mark.parametrize(("name", "tree"), [("exhaustive", True), ("exhaustive", False), ("leaf-boxes", True)])
@given(seed=seeds)
@settings(max_examples=150)
def test_exact_methods_find_the_nearest_or_prove_that_there_is_none(name: str, tree: bool, seed: int):
    w = some_world(seed, tree=tree)
    answer, least = answer_of(w, name), nearest_of(w)
    assert answer.status in (Status.OPTIMAL, Status.FOUND, Status.NONE)
    assert (answer.status is Status.NONE) == (least == np.inf)
    if answer.status is Status.OPTIMAL:
        assert answer.distances[0] == pytest.approx(least)


@pytest.mark.parametrize("tree", [True, False])
@given(seed=seeds)
@settings(max_examples=100)
def test_geco_finds_a_counterfactual_wherever_these_small_worlds_have_one(tree: bool, seed: int):
    w = some_world(seed, tree=tree)
    answer = answer_of(w, "geco")
    assert (len(answer) > 0) == (nearest_of(w) < np.inf), w.constraints
    assert answer.status in (Status.FOUND, Status.UNKNOWN, Status.NONE)


@pytest.mark.parametrize("name", METHODS)
@given(seed=seeds)
@settings(max_examples=40)
def test_under_a_rule_only_instances_that_satisfy_it_are_found(name: str, seed: int):
    w = some_world(seed, tree=True)
    components = Components(w.space, w.x)
    rng = np.random.default_rng(seed)
    chosen = components.all & int(rng.integers(0, 1 << (2 * len(w.space))))
    box = components.box(chosen)
    query = w.query.under(box)
    method = METHODS[name]
    assume(not method.refuses(query))
    answer = method.find(query, k=3, nearest=False, rng=rng)
    assert box.contains(answer.X).all()
    truth = w.counterfactuals()
    inside = truth[box.contains(truth)]
    assert (len(answer) > 0) == (len(inside) > 0)


@pytest.mark.parametrize("name", METHODS)
def test_the_same_seed_gives_the_same_answer(name: str):
    for seed in range(20):
        w = world(seed, tree=True)
        if w is not None and not METHODS[name].refuses(w.query):
            one, two = (METHODS[name].find(w.query, k=5, nearest=True, rng=np.random.default_rng(7)) for _ in range(2))
            assert np.array_equal(one.X, two.X, equal_nan=True)
            assert one.status is two.status
            assert one.rows_scored == two.rows_scored
