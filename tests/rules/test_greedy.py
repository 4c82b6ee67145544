"""GreedyRuleCF: what it tells of its run, and what it gives when its time is up."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from dueto.counterfactuals import Exhaustive, GeCo
from dueto.errors import InputError
from dueto.rule import Components, Standing
from dueto.rules import GreedyRuleCF, Oracle
from dueto.testing import worlds
from trials import trials

seeds = st.integers(0, 2**32 - 1)


@given(seed=seeds, seconds=st.sampled_from([0.0, 60.0]))
@trials(40)
def test_a_rule_is_never_called_proved_when_it_is_not_whether_or_not_the_time_sufficed(seed: int, seconds: float):
    found = list(worlds([seed]))
    assume(found)
    w = found[0]
    oracle = Oracle(w.query, Exhaustive(), np.random.default_rng(0))
    rule = GreedyRuleCF(seconds=seconds).find(oracle)
    assert rule.run is not None
    assert rule.verdict is not None
    assert rule.run.finished is (seconds > 0)
    escaped = rule.box(w.space).contains(w.counterfactuals)
    assert (rule.verdict.standing is Standing.PROVED) == (not escaped.any())
    if rule.run.finished:
        assert rule.verdict.standing is Standing.PROVED
        assert rule.run.figures["counterfactual calls"] == oracle.calls
        assert rule.run.figures["rules"] >= 1


@given(seed=seeds)
@trials(30)
def test_what_is_narrower_than_a_rule_without_counterfactual_is_not_searched(seed: int):
    found = list(worlds([seed]))
    assume(found)
    w = found[0]
    oracle = Oracle(w.query, GeCo(), np.random.default_rng(0))
    every = Components(w.space, w.x).all
    narrow = every
    for bit in range(every.bit_length()):  # some rule without a counterfactual that is found
        if not oracle.missed(fewer := narrow & ~(1 << bit)):
            narrow = fewer
    assume(not oracle.missed(narrow))
    calls = oracle.calls
    for more in np.random.default_rng(seed).integers(0, every, 5, endpoint=True):
        assert oracle.missed(narrow | int(more) & every) == []
    assert oracle.calls == calls


def test_seconds_that_are_no_number_or_below_nothing_are_refused():
    with pytest.raises(InputError, match="must not be negative"):
        GreedyRuleCF(seconds=-1)
    with pytest.raises(InputError, match="seconds must be a number, got 'x'"):
        GreedyRuleCF(seconds="x")  # type: ignore[arg-type]
