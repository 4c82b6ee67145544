"""Duality, and every rule that the greedy method calls consistent, against the enumeration of Inst."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from dueto.counterfactuals import Auto, Exhaustive, GeCo, LeafBoxes, Method
from dueto.index import Index
from dueto.rule import Components, bits, minimal, to_sets
from dueto.rules import GreedyRuleCF, Oracle
from dueto.rules.cover import minimal_covers
from dueto.testing import World, check_finder, worlds
from trials import trials

seeds = st.integers(0, 2**32 - 1)
METHODS: dict[str, Method] = {"auto": Auto(), "exhaustive": Exhaustive(), "geco": GeCo(), "leaf-boxes": LeafBoxes()}
PAIRS = [(name, kind) for name in METHODS for kind in ("tree", "scores") if kind == "tree" or name != "leaf-boxes"]


def a_world(seed: int, *, kind: str) -> World:
    found = list(worlds([seed], kind=kind))
    assume(found)
    return found[0]


@given(seed=seeds)
@trials(100)
def test_a_rule_holds_of_an_instance_exactly_when_it_misses_its_dual(seed: int):
    w = a_world(seed, kind="scores")
    components, rng = Components(w.space, w.x), np.random.default_rng(seed)
    chosen = components.all & int(rng.integers(0, 1 << (2 * len(w.space))))
    instances = w.instances
    holds = components.box(chosen).contains(instances)
    duals = to_sets(components.duals(instances))
    assert holds.tolist() == [not dual & chosen for dual in duals]
    for y, inside in zip(instances, holds, strict=True):
        every = all(
            (np.isnan(y[b // 2]) and np.isnan(w.x[b // 2]))
            or (y[b // 2] >= w.x[b // 2] if b % 2 else y[b // 2] <= w.x[b // 2])
            if w.space.features[b // 2].ordered
            else y[b // 2] == w.x[b // 2]
            for b in bits(chosen)
        )
        assert every == inside


@given(seed=seeds)
@trials(60)
def test_a_rule_is_globally_consistent_exactly_when_it_meets_every_counterfactuals_dual(seed: int):
    w = a_world(seed, kind="tree")
    components, rng = Components(w.space, w.x), np.random.default_rng(seed)
    truth = w.counterfactuals
    duals = minimal(to_sets(components.duals(truth)))
    for _ in range(10):
        chosen = components.all & int(rng.integers(0, 1 << (2 * len(w.space))))
        consistent = not components.box(chosen).contains(truth).any()
        assert consistent == all(chosen & dual for dual in duals)


@pytest.mark.parametrize(("name", "kind"), PAIRS)
@given(seed=seeds)
@trials(60)
def test_a_rule_called_proved_is_consistent_and_irredundant(name: str, kind: str, seed: int):
    check_finder(GreedyRuleCF(), METHODS[name], worlds([seed], kind=kind), seed=seed % 1000)


@pytest.mark.parametrize("kind", ["tree", "scores"])
@given(seed=seeds)
@trials(60)
def test_no_counterfactual_escapes_what_the_search_calls_unrefuted_in_these_small_worlds(kind: str, seed: int):
    for w in worlds([seed], kind=kind):
        rule = GreedyRuleCF().find(Oracle(w.query, GeCo(), np.random.default_rng(seed)))
        assert not rule.box(w.space).contains(w.counterfactuals).any()


@given(duals=st.lists(st.integers(1, 2**7 - 1), max_size=8))
def test_minimal_covers_are_all_the_minimal_hitting_sets_when_there_is_room(duals: list[int]):
    hitting = [c for c in range(2**7) if all(c & d for d in duals)]
    expected = [c for c in hitting if not any(h != c and h & c == h for h in hitting)]
    assert sorted(minimal_covers(duals, 10_000)) == sorted(expected)


@given(duals=st.lists(st.integers(1, 2**12 - 1), min_size=1, max_size=20), limit=st.integers(1, 5))
def test_a_bounded_search_for_covers_gives_minimal_covers_too(duals: list[int], limit: int):
    found = minimal_covers(duals, limit)
    assert 1 <= len(found) <= limit
    for cover in found:
        assert all(cover & d for d in duals)
        assert all(not all((cover & ~(1 << b)) & d for d in duals) for b in bits(cover))


@pytest.mark.parametrize("n", [3, 20, 40])
@given(seed=seeds, weighted=st.booleans())
@trials(25)
def test_the_index_counts_what_a_mask_counts(n: int, seed: int, weighted: bool):
    import pandas as pd

    from dueto.space import FeatureSpace

    rng = np.random.default_rng(seed)
    X = rng.integers(0, 3, (int(rng.integers(1, 200)), n)).astype(float)
    X[rng.random(X.shape) < 0.1] = np.nan
    space = FeatureSpace.infer(pd.DataFrame(X, columns=[f"f{j}" for j in range(n)]))
    weights = rng.integers(1, 5, len(X)) if weighted else None
    components = Components(space, X[0])
    index = Index(components, X, weights)
    for size in (0, 1, 2, n):
        chosen = sum(1 << int(b) for b in rng.choice(list(bits(components.all)), min(size, n), replace=False))
        inside = components.box(chosen).contains(X)
        expected = int((inside * (1 if weights is None else weights)).sum())
        assert index.count(chosen) == expected
        exceptions = to_sets(components.duals(X[index.exceptions(chosen, 1000)]))
        assert exceptions == minimal(exceptions)
        assert sorted(exceptions) == sorted(minimal(to_sets(components.duals(X[inside]))))
        if weights is None:
            index.__dict__["_repeats"] = False  # the other way of counting
            assert index.count(chosen) == expected
            del index.__dict__["_repeats"]
