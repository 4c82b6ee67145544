"""The index where it has nothing to count, more than a block, and more rows than it looks through twice."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import dueto.index
from dueto import FeatureSpace
from dueto.index import Index, count_ones
from dueto.rule import Components, bits


def components_of(X: np.ndarray) -> Components:
    return Components(FeatureSpace.infer(pd.DataFrame(X).add_prefix("f")), X[0])


@pytest.mark.parametrize("n", [1, 32, 33, 70])
def test_no_rows_are_none(n: int):
    components = components_of(np.zeros((1, n)))
    index = Index(components, np.empty((0, n)))
    for chosen in (0, 1, components.all):
        assert index.count(chosen) == 0
        assert len(index.exceptions(chosen, 10)) == 0


@pytest.mark.parametrize("m", [1, 63, 64, 65, 127, 128, 129, 1000])
def test_rows_are_counted_block_by_block_to_the_last_one(m: int, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(dueto.index, "BLOCK", 2)
    rng = np.random.default_rng(m)
    X = rng.integers(0, 2, (m, 3)).astype(float)
    components = components_of(X)
    bitmaps = Index(components, X).bitmaps
    for chosen in (0, 1, 0b101, components.all):
        expected = components.box(chosen).contains(X).sum()
        assert count_ones([bitmaps[bit] for bit in bits(chosen)], m) == expected


@pytest.mark.parametrize("n", [3, 14])
def test_many_rows_are_counted_rightly_whether_or_not_their_duals_repeat(n: int):
    X = np.random.default_rng(0).random((70_000, n))
    components = components_of(X[:200])
    index = Index(components, X)
    assert index._repeats == (n == 3)
    for chosen in (1, 0b10, 0b1001, components.all & 0b010101):
        assert index.count(chosen) == components.box(chosen).contains(X).sum()
