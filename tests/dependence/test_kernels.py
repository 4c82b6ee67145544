"""Kernels, scores, widths and factors against their definitions written out."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

from dueto.dependence.kernels import centres, cholesky, gauss, grid, median_width, normal_scores, rotated, standardised


def sample(n: int, d: int = 1, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(n, d))


@pytest.mark.parametrize("d", [1, 3])
def test_gauss_is_its_formula(d: int):
    z, c = sample(7, d), sample(4, d, seed=1)
    expected = [[np.exp(-np.sum((a - b) ** 2) / (2 * 0.7**2)) for b in c] for a in z]
    np.testing.assert_allclose(gauss(z, c, 0.7), expected, rtol=1e-12)


def test_far_points_have_no_kernel_and_a_point_has_1_with_itself():
    z = sample(20, 3)
    np.testing.assert_allclose(np.diag(gauss(z, z, 0.01)), 1, rtol=1e-10)
    assert gauss(z + 1e6, z, 1.0).max() == 0


def test_normal_scores_are_quantiles_of_mid_ranks():
    z = np.array([[3.0], [1.0], [2.0], [2.0], [9.0]])
    np.testing.assert_allclose(normal_scores(z)[:, 0], norm.ppf((np.array([4, 1, 2.5, 2.5, 5]) - 0.5) / 5))


def test_normal_scores_keep_the_order_and_ties_share_one():
    z = np.random.default_rng(0).integers(0, 9, (60, 2)).astype(float)
    scores = normal_scores(z)
    for before, after in zip(z.T, scores.T, strict=True):
        np.testing.assert_array_equal(
            np.sign(np.subtract.outer(before, before)), np.sign(np.subtract.outer(after, after))
        )


@pytest.mark.parametrize("change", [np.exp, np.arctan, lambda z: z**3, lambda z: 1e300 * z])
def test_increasing_functions_leave_normal_scores_as_they_were(change):
    z = np.round(sample(80, 2), 1)
    np.testing.assert_array_equal(normal_scores(change(z)), normal_scores(z))


@pytest.mark.parametrize("factor", [1e300, 1e-300, -1.0, 1e307, 5e-324])
def test_standardised_columns_have_mean_0_and_deviation_1_whatever_their_size(factor: float):
    z = np.random.default_rng(0).integers(-9, 10, (50, 2)).astype(float)
    found = standardised(z * factor)
    np.testing.assert_allclose(found, np.sign(factor) * (z - z.mean(axis=0)) / z.std(axis=0), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("value", [0.0, 0.1, -1e300, 1e-300, 1e17 / 3])
def test_a_constant_column_is_standardised_to_0(value: float):
    assert not standardised(np.full((30, 1), value)).any()


@pytest.mark.parametrize("d", [1, 2])
def test_the_median_width_is_that_of_all_pairs_of_different_points(d: int):
    z = np.round(sample(40, d), 1)
    apart = [np.linalg.norm(z[i] - z[j]) for i in range(40) for j in range(i) if (z[i] != z[j]).any()]
    assert median_width(z, rng=np.random.default_rng(0)) == pytest.approx(np.median(apart) / np.sqrt(2))


def test_the_median_width_of_many_rows_is_near_that_of_all():
    width = median_width(sample(30_000), rng=np.random.default_rng(0))
    assert width == pytest.approx(norm.ppf(0.75), rel=0.05)  # |difference| of two normals: median √2 Φ⁻¹(¾)


def test_the_median_width_of_a_single_point_is_1():
    assert median_width(np.zeros((30, 1)), rng=np.random.default_rng(0)) == 1


@pytest.mark.parametrize("d", [1, 2])
@pytest.mark.parametrize("tol", [1e-3, 1e-8])
def test_the_factor_times_itself_is_the_kernel_up_to_the_tolerance(d: int, tol: float):
    z = sample(120, d)
    K, G = gauss(z, z, 0.8), cholesky(z, 0.8, tol=tol)
    left = K - G @ G.T
    assert np.diag(left).mean() <= tol
    assert np.linalg.eigvalsh(left).min() > -1e-10
    assert G.shape[1] < 120
    assert np.diag(K - G[:, :-1] @ G[:, :-1].T).mean() > tol  # no column too many


def test_the_factor_has_no_more_columns_than_asked():
    z = sample(100, 5)
    G = cholesky(z, 0.1, rank=40)
    assert G.shape == (100, 40)
    whole = cholesky(z, 0.1)
    np.testing.assert_allclose(whole @ whole.T, gauss(z, z, 0.1), atol=1e-6)


def test_the_factor_of_repeated_points_has_a_column_for_each():
    z = np.repeat([[0.0], [1.0], [3.0]], 20, axis=0)
    assert cholesky(z, 0.5).shape == (60, 3)


def test_the_order_of_rows_does_not_matter():
    z = np.round(sample(60), 1)
    order = np.random.default_rng(1).permutation(60)
    np.testing.assert_array_equal(normal_scores(z[order]), normal_scores(z)[order])
    np.testing.assert_allclose(standardised(z[order]), standardised(z)[order], atol=1e-14)
    widths = [median_width(part, rng=np.random.default_rng(0)) for part in (z, z[order])]
    assert widths[0] == widths[1]
    G, H = cholesky(z[order], 0.8), cholesky(z, 0.8)[order]
    np.testing.assert_allclose(G @ G.T, H @ H.T, atol=1e-6)


@pytest.mark.parametrize(("low", "high", "spacing"), [(-2.0, 2.0, 0.3), (0.0, 1.0, 5.0), (-1.0, 1.0, 0.5)])
def test_a_grid_reaches_from_end_to_end_in_steps_no_longer_than_said(low: float, high: float, spacing: float):
    c = grid(low, high, spacing)[:, 0]
    assert (c[0], c[-1]) == (low, high)
    assert np.diff(c).max() <= spacing * (1 + 1e-12)
    assert len(c) == 2 or (high - low) / (len(c) - 2) > spacing * (1 - 1e-12)  # and no more than that takes


def test_centres_of_a_column_depend_on_its_range_alone_and_of_several_are_rows():
    z = sample(300, 2)
    one = centres(z[:, :1], 0.5, rng=np.random.default_rng(0))
    assert (one[0, 0], one[-1, 0]) == (z[:, 0].min(), z[:, 0].max())
    assert centres(100 * z[:, :1], 0.5, rng=np.random.default_rng(0))[[0, -1], 0].tolist() == [-5, 5]
    drawn = centres(z, 0.5, rng=np.random.default_rng(0))
    assert drawn.shape == (100, 2)
    assert len({tuple(c) for c in drawn} & {tuple(row) for row in z}) == 100


def test_rotated_features_are_orthogonal_and_leave_out_only_small_directions():
    K = gauss(sample(200), grid(-3, 3, 0.5), 0.5)
    A, d = rotated(K)
    np.testing.assert_allclose(A.T @ A / 200, np.diag(d), atol=1e-12)
    values = np.linalg.eigvalsh(K.T @ K / 200)
    np.testing.assert_allclose(d, values[values > 1e-4 * values[-1]], rtol=1e-9)
    assert len(d) < len(values)
