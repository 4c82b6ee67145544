"""Every region of two p-values, and every sentence that goes with an arrow."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from dueto.direction.decide import Bounds, Evidence, decide
from dueto.errors import InputError

BASE = Evidence(names=("a", "b"), n=100, smi=(0.01, 0.2))


def decided(p: Any, *, reject: float = 0.05, accept: float = 0.05, known_related: bool = False, **more: Any):
    return decide(replace(BASE, p=p, **more), Bounds(reject, accept), known_related=known_related)


ONLY = "only {} leaves a residual that is independent of the input"
REGIONS: list[tuple[tuple[float, float], float, float, str, str]] = [
    # p(a -> b), p(b -> a), reject, accept, arrow, reason
    ((0.5, 0.01), 0.05, 0.05, "->", ONLY.format("a -> b")),
    ((0.01, 0.5), 0.05, 0.05, "<-", ONLY.format("b -> a")),
    ((0.0501, 0.05), 0.05, 0.05, "->", ONLY.format("a -> b")),  # at the level is rejected, above it accepted
    ((0.05, 0.0501), 0.05, 0.05, "<-", ONLY.format("b -> a")),
    ((0.05, 0.05), 0.05, 0.05, "?", "neither way"),
    ((0.001, 0.001), 0.05, 0.05, "?", "hidden common cause"),
    ((0.04, 0.001), 0.05, 0.05, "?", "neither way"),
    ((0.9, 0.06), 0.05, 0.05, "?", "both ways leave an independent residual"),
    ((1.0, 1.0), 0.05, 0.05, "?", "linear relation with normal noise, or too few data"),
    ((0.5, 0.05), 0.01, 0.1, "?", "inconclusive"),
    ((0.5, 0.01), 0.01, 0.1, "->", ONLY.format("a -> b")),
    ((0.1, 0.01), 0.01, 0.1, "?", "inconclusive"),  # at δ2 is not accepted
    ((0.01, 0.1), 0.01, 0.1, "?", "inconclusive"),
    ((0.01, 0.1001), 0.01, 0.1, "<-", ONLY.format("b -> a")),
    ((0.05, 0.05), 0.01, 0.1, "?", "inconclusive"),
    ((0.005, 0.05), 0.01, 0.1, "?", "inconclusive"),
    ((0.2, 0.3), 0.01, 0.1, "?", "both ways"),
    ((0.005, 0.01), 0.01, 0.1, "?", "neither way"),
]


@pytest.mark.parametrize(("p", "reject", "accept", "arrow", "said"), REGIONS)
def test_two_p_values_give_the_arrow_of_their_region(p, reject, accept, arrow, said):
    found, reason = decided(p, reject=reject, accept=accept)
    assert found == arrow
    assert said in reason
    assert f"p = {p[0]:.3g} for a -> b, {p[1]:.3g} for b -> a" in reason


@pytest.mark.parametrize("known_related", [False, True])
@pytest.mark.parametrize("reject", [0.05, 0.01])
def test_exchanging_the_variables_turns_every_arrow_round(reject: float, known_related: bool):
    levels = (0.0005, 0.005, 0.01, 0.03, 0.05, 0.08, 0.1, 0.6)
    turned, other = {"->": "<-", "<-": "->", "?": "?"}, Evidence(names=("b", "a"), n=100, smi=BASE.smi[::-1])
    bounds = Bounds(reject, 0.08)
    for p in levels:
        for q in levels:
            here = decide(replace(BASE, p=(p, q), related=0.3), bounds, known_related=known_related)
            there = decide(replace(other, p=(q, p), related=0.3), bounds, known_related=known_related)
            assert there[0] == turned[here[0]]


def test_independent_variables_are_named_as_such_where_both_ways_pass():
    arrow, reason = decided((0.5, 0.6), related=0.4)
    assert arrow == "?"
    assert reason == "a and b may well be independent (p = 0.4)"
    assert "normal noise" in decided((0.5, 0.6), related=0.05)[1]
    assert decided((0.5, 0.01), related=0.4)[0] == "?"
    assert decided((0.5, 0.01), related=0.01)[0] == "->"


KNOWN: list[tuple[tuple[float, float], tuple[float, float], str, str]] = [
    ((0.5, 0.4), (0.2, 0.1), "->", "a -> b has the larger p-value"),
    ((0.02, 0.03), (0.1, 0.2), "<-", "b -> a has the larger p-value"),
    ((0.3, 0.3), (0.1, 0.2), "->", "same p-value (0.3); a -> b leaves the residual with the smaller SMI"),
    ((0.3, 0.3), (0.2, 0.1), "<-", "b -> a leaves the residual with the smaller SMI (0.1 against 0.2)"),
    ((0.3, 0.3), (0.1, 0.1), "?", "equally dependent"),
    ((0.0009, 0.0001), (0.1, 0.2), "?", "neither can be preferred"),
    ((0.001, 0.001), (0.1, 0.2), "?", "neither can be preferred"),
    ((0.0011, 0.0001), (0.1, 0.2), "->", "larger p-value"),
]


@pytest.mark.parametrize(("p", "smi", "arrow", "said"), KNOWN)
def test_of_related_variables_the_larger_p_value_wins_then_the_smaller_smi(p, smi, arrow, said):
    found, reason = decided(p, smi=smi, known_related=True)
    assert found == arrow
    assert said in reason


@pytest.mark.parametrize(
    ("smi", "arrow", "said"),
    [
        ((0.01, 0.2), "->", "a -> b leaves the residual with the smaller SMI (0.01 against 0.2); this is no test"),
        ((0.2, -0.01), "<-", "b -> a leaves the residual with the smaller SMI (-0.01 against 0.2)"),
        ((0.1, 0.1), "?", "equally dependent"),
    ],
)
@pytest.mark.parametrize("known_related", [False, True])
def test_without_tests_the_smaller_smi_wins(smi, arrow, said, known_related):
    found, reason = decided(None, smi=smi, known_related=known_related)
    assert found == arrow
    assert said in reason


def test_corrected_p_values_reject_and_plain_ones_accept():
    assert decided((0.5, 0.01), corrected=(1.0, 0.05))[0] == "->"
    arrow, reason = decided((0.5, 0.01), corrected=(1.0, 0.06))
    assert arrow == "?"
    assert "inconclusive" in reason
    assert decided((0.04, 0.01), corrected=(0.5, 0.01))[0] == "?"  # not rejected, but not accepted either
    assert "both ways" in decided((0.5, 0.06), corrected=(1.0, 1.0))[1]
    assert "p = 0.5 for a -> b, 0.01 for b -> a" in decided((0.5, 0.01), corrected=(1.0, 0.06))[1]


@pytest.mark.parametrize("p", [None, (0.5, 0.01)])
@pytest.mark.parametrize("known_related", [False, True])
def test_linear_functions_of_each_other_have_no_direction(p, known_related):
    arrow, reason = decided(p, linear=True, known_related=known_related)
    assert arrow == "?"
    assert reason == "a and b are linear functions of each other, with no noise to tell by"


def test_few_different_values_are_told_whatever_the_arrow():
    for p in ((0.5, 0.01), (0.5, 0.5), None):
        plain = decided(p)
        arrow, reason = decided(p, few=(("b", 3),))
        assert arrow == plain[0]
        assert reason == f"{plain[1]}; b has only 3 different values, which additive noise hardly describes"
    assert "a has only 2 different values and b has only 3 different values" in decided(p, few=(("a", 2), ("b", 3)))[1]


@pytest.mark.parametrize(
    ("reject", "accept"), [(0, 0.05), (-0.1, 0.05), (0.1, 0.05), (0.05, 1), (float("nan"), 0.05), (0.05, float("nan"))]
)
def test_levels_out_of_order_are_refused(reject, accept):
    with pytest.raises(InputError, match="0 < reject <= accept < 1"):
        Bounds(reject, accept)
