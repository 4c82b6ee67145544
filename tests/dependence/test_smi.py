"""SMI on a grid against its formulas with every product written out, and against the law it estimates."""

from __future__ import annotations

import numpy as np
import pytest

from dueto.dependence import SMI, paired
from dueto.dependence.kernels import REACH, gauss, grid, normal_scores, standardised


def pair(n: int, seed: int = 0, d: int = 1) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, d))
    return x, x[:, :1] ** 2 + rng.exponential(size=(n, d))


def by_definition(x: np.ndarray, y: np.ndarray, width: float, ridge: float) -> float:
    """½ h'(H + λI)⁻¹h - ½ with H = (Kx'Kx/n) ⊗ (Ky'Ky/n), h = vec(Kx'Ky/n), on columns that are scaled already."""
    Kx, Ky = (gauss(z, grid(max(z.min(), -REACH), min(z.max(), REACH), width), width) for z in (x, y))
    n = len(x)
    H = np.kron(Kx.T @ Kx / n, Ky.T @ Ky / n)
    h = (Kx.T @ Ky / n).ravel()
    return 0.5 * h @ np.linalg.solve(H + ridge * np.eye(len(h)), h) - 0.5


def fixed() -> np.random.Generator:
    return np.random.default_rng(0)


@pytest.mark.parametrize("scores", [True, False])
@pytest.mark.parametrize(("width", "ridge"), [(0.5, 1e-2), (0.8, 1e-3), (1.2, 1e-4)])
def test_it_is_its_formula(scores: bool, width: float, ridge: float):
    x, y = pair(70)
    read = normal_scores if scores else standardised
    expected = by_definition(read(x), read(y), width, ridge)
    found = SMI(widths=(width,), ridge=ridge, scores=scores).estimate(x, y, rng=fixed())
    assert found == pytest.approx(expected, rel=3e-2)  # small directions of the kernels are left out
    assert expected > 0.2


def test_it_is_its_formula_to_rounding_where_no_direction_is_small():
    x, y = pair(70)
    expected = by_definition(normal_scores(x), normal_scores(y), 0.5, 1e-2)
    assert SMI(widths=(0.5,)).estimate(x, y, rng=fixed()) == pytest.approx(expected, rel=1e-12)


def test_h_has_every_pair_of_rows_in_it():
    x, y = pair(30)
    x, y = standardised(x), standardised(y)
    Kx, Ky = (gauss(z, grid(float(z.min()), float(z.max()), 0.7), 0.7) for z in (x, y))
    products = np.array([np.kron(a, b) for a in Kx for b in Ky])  # φ(x_i, y_j)
    np.testing.assert_allclose(products.T @ products / 900, np.kron(Kx.T @ Kx / 30, Ky.T @ Ky / 30), atol=1e-12)


def test_the_estimate_is_the_mean_of_its_scales():
    x, y = pair(50)
    several = SMI(widths=(0.3, 0.6, 1.2))
    found = several.prepare(x, y, rng=fixed())(np.arange(50)[None])
    assert found.shape == (1, 3)
    alone = [SMI(widths=(width,)).estimate(x, y, rng=fixed()) for width in several.widths]
    np.testing.assert_allclose(found[0], alone, rtol=1e-12)
    assert several.estimate(x, y, rng=fixed()) == pytest.approx(np.mean(alone))


@pytest.mark.parametrize("d", [1, 2])
def test_a_prepared_statistic_is_the_estimate_of_the_permuted_sample(d: int):
    x, y = pair(60, d=d)
    permutations = np.array([np.arange(60), *(np.random.default_rng(s).permutation(60) for s in range(5))])
    found = SMI().prepare(x, y, rng=fixed())(permutations)
    if d > 1:  # of several columns some rows are centres, and all are where there are at most 100
        fresh = [SMI().estimate(x, y[p], rng=fixed()) for p in permutations]
        np.testing.assert_allclose(found.mean(axis=1), fresh, rtol=1e-9)
    else:
        fresh = [SMI().prepare(x, y[p], rng=fixed())(np.arange(60)[None])[0] for p in permutations]
        np.testing.assert_allclose(found, fresh, rtol=1e-9)
    assert np.ptp(found[1:].mean(axis=1)) > 0


def test_permutations_beyond_a_batch_are_evaluated_as_the_first(monkeypatch: pytest.MonkeyPatch):
    x, y = pair(40)
    statistic = SMI().prepare(x, y, rng=fixed())
    permutations = np.array([np.random.default_rng(s).permutation(40) for s in range(7)])
    whole = statistic(permutations)
    monkeypatch.setattr("dueto.dependence.base.ROOM", 40 * 20 * 2)
    np.testing.assert_allclose(statistic(permutations), whole, rtol=1e-12)


def test_x_and_y_may_change_places_and_rows_too():
    x, y = pair(80)
    found = SMI().estimate(x, y, rng=fixed())
    assert SMI().estimate(y, x, rng=fixed()) == pytest.approx(found, rel=1e-9)
    order = np.random.default_rng(1).permutation(80)
    assert SMI().estimate(x[order], y[order], rng=fixed()) == pytest.approx(found, rel=1e-9)


def test_monotone_changes_of_either_leave_it_as_it_was():
    x, y = pair(80)
    found = SMI().estimate(x, y, rng=fixed())
    assert SMI().estimate(np.exp(3 * x), -(y**3), rng=fixed()) == pytest.approx(found, rel=1e-9)
    assert SMI().estimate(1e300 * x, 1e-300 * y, rng=fixed()) == pytest.approx(found, rel=1e-9)


def test_without_scores_scale_and_origin_do_not_matter_but_shape_does():
    x, y = pair(80)
    raw = SMI(scores=False)
    found = raw.estimate(x, y, rng=fixed())
    assert raw.estimate(3 - 1e5 * x, 1e-5 * y + 7, rng=fixed()) == pytest.approx(found, rel=1e-6)
    assert raw.estimate(np.exp(3 * x), y, rng=fixed()) != pytest.approx(found, rel=1e-2)


def smi_of_normals(rho: float) -> float:
    """½ ∬ (p/(p_x p_y) - 1)² p_x p_y, summed over a fine grid."""
    z = np.linspace(-9, 9, 721)
    x, y = np.meshgrid(z, z)
    ratio = np.exp(-((x**2 + y**2) * rho**2 - 2 * rho * x * y) / (2 * (1 - rho**2))) / np.sqrt(1 - rho**2)
    weight = np.exp(-(x**2 + y**2) / 2) / (2 * np.pi) * (z[1] - z[0]) ** 2
    return float(0.5 * ((ratio - 1) ** 2 * weight).sum())


def test_it_grows_with_the_correlation_of_normals_and_nears_the_smi_of_their_law_as_the_ridge_shrinks():
    rng = np.random.default_rng(0)
    x, noise = rng.normal(size=(2, 20_000, 1))
    last = {ridge: -0.5 for ridge in (1e-2, 1e-3, 1e-5)}
    for rho in (0.0, 0.3, 0.5, 0.6, 0.8):
        law = smi_of_normals(rho)
        assert law == pytest.approx(0.5 * (1 / (1 - rho**2) - 1), rel=1e-3)
        y = rho * x + np.sqrt(1 - rho**2) * noise
        found = {ridge: SMI(widths=(1.0,), ridge=ridge).estimate(x, y, rng=fixed()) for ridge in last}
        assert all(found[ridge] > last[ridge] for ridge in last)
        assert found[1e-2] < found[1e-3] < found[1e-5] < law + 1e-3
        if rho <= 0.6:
            assert found[1e-5] == pytest.approx(law, rel=0.1, abs=1e-3)
        last = found


@pytest.mark.parametrize("d", [1, 2])
def test_it_is_near_0_for_independent_samples_and_large_for_dependent_ones(d: int):
    for seed in range(5):
        rng = np.random.default_rng(seed)
        x, y = rng.normal(size=(2, 400, d))
        assert -0.03 < SMI().estimate(x, y, rng=rng) < 0.15
        assert SMI().estimate(x, x**2 + 0.3 * y, rng=rng) > 0.4
        assert SMI().estimate(x, x, rng=rng) > 0.8


def test_widths_grow_with_the_number_of_columns_as_distances_do():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(300, 1))
    y = x**2 + rng.normal(size=(300, 1))
    two, nine = (SMI().estimate(np.repeat(x, d, axis=1), y, rng=fixed()) for d in (2, 9))
    assert two == pytest.approx(nine, rel=1e-6)  # the same column d times: √d times the distances


def test_dependence_in_any_of_several_columns_is_seen():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(400, 2)), rng.normal(size=(400, 1))
    apart = SMI().estimate(x, y, rng=fixed())
    for j in range(2):
        assert SMI().estimate(x, x[:, j : j + 1] ** 2 + 0.3 * y, rng=fixed()) > apart + 0.3


def test_binary_columns_have_a_statistic_as_any_other():
    x, y = paired(np.arange(60) % 2, np.arange(60) % 4 < 2)
    assert abs(SMI().estimate(x, y, rng=fixed())) < 0.02
    # of two equal binary columns p(x,y)/(p(x)p(y)) is 2 on the diagonal and 0 off it: SMI = ½
    assert SMI(ridge=1e-6).estimate(x, x, rng=fixed()) == pytest.approx(0.5, abs=1e-3)
