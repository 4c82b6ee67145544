"""Every counterfactual method against the enumeration of small random worlds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dueto.counterfactuals import Auto, Exhaustive, GeCo, LeafBoxes, Status
from dueto.testing import check_method, worlds

if TYPE_CHECKING:
    from dueto.counterfactuals import Method

METHODS: dict[str, Method] = {"auto": Auto(), "exhaustive": Exhaustive(), "geco": GeCo(), "leaf-boxes": LeafBoxes()}
EXACT = ["exhaustive", "leaf-boxes"]
PAIRS = [(name, tree) for name in METHODS for tree in (True, False) if tree or name != "leaf-boxes"]
seeds = st.integers(0, 2**32 - 1)


@pytest.mark.parametrize(("name", "tree"), PAIRS)
@given(seed=seeds)
@settings(max_examples=60)
def test_answers_are_valid_feasible_irredundant_ranked_and_honest(name: str, tree: bool, seed: int):
    check_method(METHODS[name], worlds([seed], tree=tree), seed=seed % 1000)


@pytest.mark.parametrize(("name", "tree"), [pair for pair in PAIRS if pair[0] in EXACT])
@given(seed=seeds)
@settings(max_examples=60)
def test_exact_methods_always_decide(name: str, tree: bool, seed: int):
    for w in worlds([seed], tree=tree):
        assert METHODS[name].refuses(w.query) == ""
        answer = METHODS[name].find(w.query, k=1, nearest=True, rng=np.random.default_rng(0))
        assert answer.status is (Status.OPTIMAL if len(w.counterfactuals) else Status.NONE)


@pytest.mark.parametrize("tree", [True, False])
@given(seed=seeds)
@settings(max_examples=60)
def test_geco_finds_a_counterfactual_wherever_these_small_worlds_have_one(tree: bool, seed: int):
    for w in worlds([seed], tree=tree):
        answer = GeCo().find(w.query, k=1, nearest=True, rng=np.random.default_rng(0))
        assert (len(answer) > 0) == (len(w.counterfactuals) > 0)
