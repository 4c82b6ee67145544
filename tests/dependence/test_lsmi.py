"""LSMI against double sums, naive cross-validation and fresh fits."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest

from dueto.dependence import LSMI
from dueto.dependence.kernels import standardised

SMALL = LSMI(n_centres=8, widths=(0.3, 0.7, 1.5), ridges=(1e-3, 1e-1, 1.0))


def pair(n: int, seed: int = 0, d: int = 1) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, d))
    return x, np.sin(2 * x[:, :1]) + 0.5 * rng.exponential(size=(n, 1))


def phi(x: np.ndarray, y: np.ndarray, u: np.ndarray, v: np.ndarray, width: float) -> np.ndarray:
    """φ_l(x, y) for one point and every centre."""
    squares = ((x - u) ** 2).sum(axis=1) + ((y - v) ** 2).sum(axis=1)
    return np.exp(-squares / (2 * width**2))


def H_and_h(x, y, u, v, width: float, pairs=None) -> tuple[np.ndarray, np.ndarray]:
    """The double sum over all x_i and y_j, and the sum over the pairs."""
    n = len(x)
    H = np.zeros((len(u), len(u)))
    for i, j in itertools.product(range(n), range(n)):
        p = phi(x[i], y[j], u, v, width)
        H += np.outer(p, p) / n**2
    pairs = np.arange(n) if pairs is None else pairs
    h = np.mean([phi(x[i], y[pairs[i]], u, v, width) for i in range(n)], axis=0)
    return H, h


def naive(lsmi: LSMI, x, y, u, v, blocks, permutation=None):
    """(S regularised, S plug-in, σ, λ, α) of LSMI, its cross-validation written out, for y permuted."""
    x, y = standardised(x), standardised(y)
    y = y if permutation is None else y[permutation]
    best = (np.inf, 0.0, 0.0)
    for width, ridge in itertools.product(lsmi.widths, lsmi.ridges):
        score = 0.0
        for k in range(lsmi.folds):
            H, h = H_and_h(x[blocks != k], y[blocks != k], u, v, width)
            alpha = np.linalg.solve(H + ridge * np.eye(len(h)), h)
            G, g = H_and_h(x[blocks == k], y[blocks == k], u, v, width)
            score += (0.5 * alpha @ G @ alpha - g @ alpha) / lsmi.folds
        best = min(best, (score, width, ridge))
    _, width, ridge = best
    H, h = H_and_h(x, y, u, v, width)
    alpha = np.linalg.solve(H + ridge * np.eye(len(h)), h)
    return 0.5 * h @ alpha - 0.5, h @ alpha - 0.5 * alpha @ H @ alpha - 0.5, width, ridge, alpha


@pytest.mark.parametrize("centres", ["paired", "independent"])
@pytest.mark.parametrize(("d", "folds", "seed"), [(1, 2, 0), (1, 2, 1), (2, 2, 2), (1, 3, 3)])
def test_the_fit_is_its_formulas_with_width_and_ridge_of_a_naive_cross_validation(centres, d, folds, seed):
    x, y = pair(25, seed, d)
    lsmi = replace(SMALL, centres=centres, folds=folds)
    fit = lsmi.fit(x, y, rng=np.random.default_rng(seed))
    blocks = lsmi._table(x, y, paired=centres == "paired", rng=np.random.default_rng(seed)).blocks
    regularised, plug_in, width, ridge, alpha = naive(lsmi, x, y, fit.u, fit.v, blocks)
    assert (fit.width, fit.ridge) == (width, ridge)
    np.testing.assert_allclose(fit.alpha, alpha, rtol=1e-6, atol=1e-9)
    assert fit.regularised == pytest.approx(regularised, rel=1e-8)
    assert fit.plug_in == pytest.approx(plug_in, rel=1e-8)


def test_width_and_ridge_depend_on_the_data():
    chosen = set()
    for seed in range(8):
        x, y = pair(60, seed)
        for other in (y, np.random.default_rng(seed + 50).normal(size=(60, 1))):
            fit = SMALL.fit(x, other, rng=np.random.default_rng(seed))
            chosen.add((fit.width, fit.ridge))
    assert len({w for w, _ in chosen}) > 1
    assert len({r for _, r in chosen}) > 1


def test_the_two_estimates_differ_by_half_the_ridge_times_the_squared_weights():
    x, y = pair(50)
    for seed in range(4):
        fit = SMALL.fit(x, y, rng=np.random.default_rng(seed))
        assert fit.plug_in - fit.regularised == pytest.approx(fit.ridge / 2 * fit.alpha @ fit.alpha)
        for name, value in (("plug-in", fit.plug_in), ("regularised", fit.regularised)):
            assert replace(SMALL, estimate_by=name).estimate(x, y, rng=np.random.default_rng(seed)) == value


def test_paired_centres_are_pairs_of_the_sample_and_independent_ones_need_not_be():
    x, y = pair(60)
    rows = {(a, b) for a, b in np.hstack([standardised(x), standardised(y)]).tolist()}

    def drawn(kind) -> set[tuple[float, float]]:
        fit = replace(SMALL, centres=kind).fit(x, y, rng=np.random.default_rng(0))
        assert set(fit.u[:, 0]) <= {a for a, _ in rows}
        assert set(fit.v[:, 0]) <= {b for _, b in rows}
        found = set(zip(fit.u[:, 0].tolist(), fit.v[:, 0].tolist(), strict=True))
        assert len(found) == 8  # without overlap
        return found

    assert drawn("paired") <= rows
    assert len(drawn("independent") & rows) <= 1


def test_no_more_centres_than_points():
    x, y = pair(20)
    assert len(LSMI().fit(x, y, rng=np.random.default_rng(0)).u) == 20


def within(blocks: np.ndarray, seed: int) -> np.ndarray:
    rng, found = np.random.default_rng(seed), np.arange(len(blocks))
    for k in np.unique(blocks):
        rows = np.flatnonzero(blocks == k)
        found[rows] = rng.permutation(rows)
    return found


@pytest.mark.parametrize(("d", "folds"), [(1, 2), (2, 2), (1, 3)])
@pytest.mark.parametrize("estimate_by", ["regularised", "plug-in"])
def test_a_prepared_statistic_is_a_fresh_fit_with_the_same_centres_and_folds(d: int, folds: int, estimate_by):
    x, y = pair(24, d=d)
    lsmi = replace(SMALL, folds=folds, estimate_by=estimate_by)
    statistic = lsmi.prepare(x, y, rng=np.random.default_rng(5))
    assert sorted(np.bincount(statistic.blocks)) == [24 // folds] * folds
    permutations = np.array([np.arange(24), *(within(statistic.blocks, s) for s in range(4))])
    fresh = [naive(lsmi, x, y, statistic.u, statistic.v, statistic.blocks, p) for p in permutations]
    expected = [one[estimate_by == "plug-in"] for one in fresh]
    np.testing.assert_allclose(statistic(permutations)[:, 0], expected, rtol=1e-7, atol=1e-10)


def test_width_and_ridge_are_chosen_anew_for_each_permutation():
    x, y = pair(24)
    statistic = SMALL.prepare(x, y, rng=np.random.default_rng(5))
    permutations = [np.arange(24), *(within(statistic.blocks, s) for s in range(8))]
    fresh = [naive(SMALL, x, y, statistic.u, statistic.v, statistic.blocks, p) for p in permutations]
    assert len({one[2:4] for one in fresh}) > 1


def test_prepared_centres_are_never_paired():
    x, y = pair(60)
    rows = set(map(tuple, np.hstack([standardised(x), standardised(y)]).tolist()))
    statistic = replace(SMALL, n_centres=30).prepare(x, y, rng=np.random.default_rng(0))
    assert len(set(zip(statistic.u[:, 0], statistic.v[:, 0], strict=True)) & rows) <= 4


def test_a_statistic_that_refits_is_the_estimate_of_the_permuted_sample():
    x, y = pair(30)
    lsmi = replace(SMALL, refit=True)
    statistic = lsmi.prepare(x, y, rng=np.random.default_rng(0))
    assert statistic.blocks is None
    permutations = np.array([np.random.default_rng(s).permutation(30) for s in range(4)])
    fresh = [lsmi.estimate(x, y[p], rng=np.random.default_rng(statistic.seed)) for p in permutations]
    np.testing.assert_array_equal(statistic(permutations)[:, 0], fresh)
    np.testing.assert_array_equal(statistic(permutations[::-1])[::-1, 0], fresh)


def test_without_standardising_the_size_of_columns_matters():
    x, y = pair(50)
    raw = replace(SMALL, standardise=False)
    found, larger = (raw.estimate(x * k, y * k, rng=np.random.default_rng(0)) for k in (1, 40))
    assert found != pytest.approx(larger, rel=1e-3)
    found, larger = (SMALL.estimate(x * k, y * k, rng=np.random.default_rng(0)) for k in (1, 1e300))
    assert found == pytest.approx(larger, rel=1e-6)


def test_it_is_near_0_for_independent_samples_and_large_for_dependent_ones():
    for seed in range(3):
        rng = np.random.default_rng(seed)
        x, y = rng.normal(size=(2, 200, 1))
        assert abs(LSMI().estimate(x, y, rng=rng)) < 0.1
        assert LSMI().estimate(x, x**2 + 0.3 * y, rng=rng) > 0.5


def test_more_folds_than_half_the_points_are_refused():
    with pytest.raises(ValueError, match="15 folds needs at least 30 points, got 29"):
        LSMI(folds=15).estimate(*pair(29), rng=np.random.default_rng(0))
