"""Every counterfactual method against the enumeration of small random worlds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dueto.counterfactuals import Auto, BranchAndBound, Exhaustive, GeCo, LeafBoxes, LinearBounds, Status
from dueto.testing import check_method, worlds
from trials import trials

if TYPE_CHECKING:
    from dueto.counterfactuals import Method

METHODS: dict[str, Method] = {
    "auto": Auto(),
    "exhaustive": Exhaustive(),
    "geco": GeCo(),
    "leaf-boxes": LeafBoxes(),
    "branch-and-bound": BranchAndBound(),
    "linear-bounds": LinearBounds(),
}
TREES = ["tree", "forest", "boosting"]
EXACT = [
    ("exhaustive", "scores"),
    ("leaf-boxes", "tree"),
    *(("branch-and-bound", kind) for kind in (*TREES, "linear")),
    ("linear-bounds", "network"),
]
PAIRS = [*EXACT, *((name, kind) for name in ("auto", "geco") for kind in ("tree", "scores")), ("auto", "forest")]
seeds = st.integers(0, 2**32 - 1)


@pytest.mark.parametrize(("name", "kind"), PAIRS)
@given(seed=seeds)
@trials(60)
def test_answers_are_valid_feasible_irredundant_ranked_and_honest(name: str, kind: str, seed: int):
    check_method(METHODS[name], worlds([seed], kind=kind), seed=seed % 1000)


@pytest.mark.parametrize(("name", "kind"), EXACT)
@given(seed=seeds)
@trials(60)
def test_exact_methods_always_decide(name: str, kind: str, seed: int):
    for w in worlds([seed], kind=kind):
        assert METHODS[name].refuses(w.query) == ""
        answer = METHODS[name].find(w.query, k=1, nearest=True, rng=np.random.default_rng(0))
        assert answer.status is (Status.OPTIMAL if len(w.counterfactuals) else Status.NONE)


@pytest.mark.parametrize("kind", ["tree", "scores"])
@given(seed=seeds)
@trials(60)
def test_geco_finds_a_counterfactual_wherever_these_small_worlds_have_one(kind: str, seed: int):
    for w in worlds([seed], kind=kind):
        answer = GeCo().find(w.query, k=1, nearest=True, rng=np.random.default_rng(0))
        assert (len(answer) > 0) == (len(w.counterfactuals) > 0)
