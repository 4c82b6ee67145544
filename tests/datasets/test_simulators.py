"""The simulators: each family is the model that it is said to be, and a seed fixes every draw."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dueto import InputError
from dueto.datasets import simulate
from dueto.datasets.simulators import FAMILIES

N = 2000
SEEDS = range(8)
BY_CHANCE = 4.5 / np.sqrt(N)  # what a correlation of N independent rows stays below, but for once in 100,000
ADDED = ["cubic", "additive", "location-scale", "linear-gaussian", "independent"]  # noise is added, to y only


def rank_correlation(a: np.ndarray, b: np.ndarray) -> float:
    return float(np.corrcoef(np.argsort(np.argsort(a)), np.argsort(np.argsort(b)))[0, 1])


def dependence(a: np.ndarray, b: np.ndarray) -> float:
    """The largest rank correlation of a and b and of their distances from their medians."""
    far_a, far_b = np.abs(a - np.median(a)), np.abs(b - np.median(b))
    return max(abs(rank_correlation(p, q)) for p in (a, far_a) for q in (b, far_b))


def noise_of(family: str, seed: int, side: str = "y") -> np.ndarray:
    """The noise in one variable: what is added to it by `noise=1` over `noise=0`."""
    loud, still = (simulate(family, N, rng=seed, noise=s) for s in (1, 0))
    return loud.y - still.y if side == "y" else loud.x - still.x


@pytest.mark.parametrize("family", FAMILIES)
def test_pair_has_n_finite_rows_and_the_name_of_its_family(family: str) -> None:
    for n in (2, 3, 300):
        pair = simulate(family, n, rng=n)
        assert (pair.name, pair.weight) == (family, 1.0)
        assert pair.x.shape == pair.y.shape == (n,)
        assert np.isfinite((pair.x, pair.y)).all()


@pytest.mark.parametrize("family", FAMILIES)
def test_truth_is_a_direction_unless_there_is_none(family: str) -> None:
    assert simulate(family, 2).truth == ("?" if family in {"confounded", "independent"} else "->")


@pytest.mark.parametrize("family", FAMILIES)
def test_same_seed_same_pair_and_another_seed_another(family: str) -> None:
    one, two, generated, other = (simulate(family, 50, rng=rng) for rng in (1, 1, np.random.default_rng(1), 2))
    for same in (two, generated):
        np.testing.assert_array_equal((one.x, one.y), (same.x, same.y))
    assert not np.isin(other.x, one.x).any()
    assert not np.isin(other.y, one.y).any()


def test_without_a_seed_every_call_differs_and_a_generator_moves_on() -> None:
    rng = np.random.default_rng(0)
    for moving in (None, rng):
        one, two = (simulate("cubic", 50, rng=moving) for _ in range(2))
        assert not np.isin(two.x, one.x).any()


def test_cubic_is_the_cube_of_a_uniform_cause_and_a_centred_exponential() -> None:
    pair = simulate("cubic", 50_000, rng=0)
    e = pair.y - pair.x**3
    assert np.abs(pair.x).max() <= 1
    np.testing.assert_allclose([pair.x.mean(), pair.x.var()], [0, 1 / 3], atol=0.01)
    assert e.min() >= -1
    np.testing.assert_allclose([e.mean(), e.var(), np.mean(e > 0)], [0, 1, np.exp(-1)], atol=0.03)
    assert abs(rank_correlation(pair.x, e)) < 4.5 / np.sqrt(50_000)


@pytest.mark.parametrize("family", ADDED)
@pytest.mark.parametrize("seed", SEEDS)
def test_noise_is_added_to_y_in_proportion_and_leaves_x_alone(family: str, seed: int) -> None:
    still, half, loud = (simulate(family, N, rng=seed, noise=s) for s in (0, 0.5, 2))
    np.testing.assert_array_equal(still.x, loud.x)
    np.testing.assert_allclose(4 * (half.y - still.y), loud.y - still.y, atol=1e-9)


@pytest.mark.parametrize("family", [*ADDED, "confounded"])
@pytest.mark.parametrize("seed", SEEDS)
def test_noise_has_mean_0_and_standard_deviation_1(family: str, seed: int) -> None:
    e = noise_of(family, seed)
    assert abs(e.mean()) < 0.15
    assert e.std() == pytest.approx(1, abs=0.2)


@pytest.mark.parametrize("family", ["cubic", "additive", "linear-gaussian", "independent"])
@pytest.mark.parametrize("seed", SEEDS)
def test_noise_is_independent_of_the_cause(family: str, seed: int) -> None:
    assert dependence(simulate(family, N, rng=seed).x, noise_of(family, seed)) < BY_CHANCE


@pytest.mark.parametrize("family", ["additive", "location-scale", "linear-gaussian", "post-nonlinear"])
@pytest.mark.parametrize("seed", SEEDS)
def test_effect_without_noise_is_a_function_of_the_cause(family: str, seed: int) -> None:
    pair = simulate(family, N, rng=seed, noise=0)
    order = np.argsort(pair.x)
    steps = np.abs(np.diff(pair.y[order])) / np.diff(pair.x[order])
    assert steps.max() < 30 * pair.y.std() / pair.x.std()


@pytest.mark.parametrize("seed", SEEDS)
def test_function_of_additive_has_mean_0_and_deviation_1_over_the_rows_and_is_no_line(seed: int) -> None:
    pair = simulate("additive", N, rng=seed, noise=0)
    assert pair.y.mean() == pytest.approx(0, abs=1e-9)
    assert pair.y.std() == pytest.approx(1)
    assert abs(np.corrcoef(pair.x, pair.y)[0, 1]) < 0.9999


@pytest.mark.parametrize("seed", SEEDS)
def test_noise_of_location_scale_is_that_of_additive_times_a_positive_function_of_the_cause(seed: int) -> None:
    x = simulate("additive", N, rng=seed).x
    scale = noise_of("location-scale", seed) / noise_of("additive", seed)
    np.testing.assert_array_equal(x, simulate("location-scale", N, rng=seed).x)
    assert scale.min() > 0
    assert np.mean(scale**2) == pytest.approx(1)
    order = np.argsort(x)
    assert np.abs(np.diff(np.log(scale[order])) / np.diff(x[order])).max() < 30 / x.std()
    assert scale.max() > 2 * scale.min()


def test_post_nonlinear_is_additive_squeezed_or_stretched_by_an_increasing_function() -> None:
    found = set()
    for seed in SEEDS:
        inner, outer = (simulate(family, N, rng=seed) for family in ("additive", "post-nonlinear"))
        np.testing.assert_array_equal(inner.x, outer.x)
        u, v = np.arcsinh(inner.y), np.arcsinh(outer.y)
        b, a = np.polyfit(u, v, 1)
        np.testing.assert_allclose(a + b * u, v, atol=1e-9)
        assert abs(a) <= 1
        found.add(round(b, 9))
    assert found == {0.5, 2}


@pytest.mark.parametrize("seed", SEEDS)
def test_linear_gaussian_fits_a_line_with_independent_noise_both_ways(seed: int) -> None:
    pair = simulate("linear-gaussian", N, rng=seed)
    assert abs(np.polyfit(pair.x, pair.y, 1)[0]) == pytest.approx(1, abs=0.1)
    for cause, effect in ((pair.x, pair.y), (pair.y, pair.x)):
        assert dependence(cause, effect - np.polyval(np.polyfit(cause, effect, 1), cause)) < BY_CHANCE


def test_linear_gaussian_rises_and_falls() -> None:
    pairs = [simulate("linear-gaussian", N, rng=seed) for seed in SEEDS]
    assert {np.sign(rank_correlation(pair.x, pair.y)) for pair in pairs} == {-1, 1}


@pytest.mark.parametrize("seed", SEEDS)
def test_confounded_variables_depend_on_each_other_and_neither_on_the_noise_of_the_other(seed: int) -> None:
    pair, still = simulate("confounded", N, rng=seed), simulate("confounded", N, rng=seed, noise=0)
    in_x, in_y = noise_of("confounded", seed, "x"), noise_of("confounded", seed, "y")
    assert dependence(still.x, still.y) > 0.1
    assert dependence(pair.x, in_y) < BY_CHANCE
    assert dependence(pair.y, in_x) < BY_CHANCE
    assert dependence(pair.x, in_x) > 0.3
    assert dependence(pair.y, in_y) > 0.3


@pytest.mark.parametrize("seed", SEEDS)
def test_cause_drives_the_effect_but_not_in_independent(seed: int) -> None:
    for family in set(FAMILIES) - {"independent", "confounded"}:
        pair = simulate(family, N, rng=seed)
        assert dependence(pair.x, pair.y) > BY_CHANCE, family
    pair = simulate("independent", N, rng=seed)
    assert dependence(pair.x, pair.y) < BY_CHANCE


def test_noise_of_every_law_occurs() -> None:
    """Uniform noise has a kurtosis of 1.8, Laplace noise 6, exponential noise 9 and a skewness of 2."""
    found = set()
    for seed in range(30):
        e = noise_of("additive", seed)
        found.add("exponential" if np.mean(e**3) > 1 else "uniform" if np.mean(e**4) < 2.5 else "Laplace")
    assert found == {"uniform", "Laplace", "exponential"}


@pytest.mark.parametrize("family", ["linear", "Cubic", "", None])
def test_unknown_family_is_refused_with_the_names_there_are(family: Any) -> None:
    with pytest.raises(InputError, match=r"no family is called .*; there are 'cubic', .*'independent'$"):
        simulate(family, 100)


@pytest.mark.parametrize("n", [1, 0, -5, np.int64(1)])
def test_fewer_than_two_rows_are_refused(n: Any) -> None:
    with pytest.raises(InputError, match=r"n, the number of rows, must be at least 2, got"):
        simulate("cubic", n)


@pytest.mark.parametrize("n", [100.0, "100", None, True])
def test_n_that_is_no_whole_number_is_a_type_error(n: Any) -> None:
    with pytest.raises(TypeError, match="n must be a whole number, got"):
        simulate("cubic", n)


@pytest.mark.parametrize("noise", [-0.1, np.inf, np.nan])
def test_noise_that_is_no_scale_is_refused(noise: float) -> None:
    with pytest.raises(InputError, match="noise must be a number from 0, got"):
        simulate("cubic", 100, noise=noise)
