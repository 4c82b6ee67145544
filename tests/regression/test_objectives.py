"""Objectives against their definitions, and every gradient against finite differences."""

from __future__ import annotations

import numpy as np
import pytest

from dueto.dependence import SMI
from dueto.dependence.kernels import REACH, centres, gauss, grid, median_width, normal_scores, standardised
from dueto.regression.objectives import HSICObjective, SMIObjective
from dueto.regression.paper import Held


def fixed() -> np.random.Generator:
    return np.random.default_rng(0)


def problem(n: int, d: int = 1, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """An input and a residual that depends on it."""
    rng = np.random.default_rng(seed)
    Z = standardised(rng.uniform(-1, 1, (n, d)))
    return Z, 0.4 * Z[:, 0] ** 2 + rng.exponential(size=n) - 0.7


def differences(value, e: np.ndarray, step: float = 1e-5) -> np.ndarray:
    """Central differences of a function, one coordinate at a time."""
    found = np.empty(len(e))
    for i in range(len(e)):
        up, down = e.copy(), e.copy()
        up[i] += step
        down[i] -= step
        found[i] = (value(up) - value(down)) / (2 * step)
    return found


def agree(gradient: np.ndarray, expected: np.ndarray) -> None:
    assert np.linalg.norm(gradient - expected) < 1e-5 * np.linalg.norm(expected)
    assert np.linalg.norm(expected) > 1e-4


@pytest.mark.parametrize("d", [1, 2])
@pytest.mark.parametrize("widths", [(0.3, 0.6, 1.2), (0.8,)])
def test_the_gradient_of_smi_is_its_derivative(d: int, widths: tuple[float, ...]):
    Z, e = problem(40, d)
    objective = SMIObjective(Z, SMI(widths=widths), rng=fixed())
    agree(objective(e)[1], differences(lambda v: objective(v)[0], e))


@pytest.mark.parametrize("d", [1, 2])
def test_the_gradient_of_hsic_is_its_derivative(d: int):
    Z, e = problem(40, d)
    objective = HSICObjective(Z, e, rng=fixed())
    moved = e + 0.3 * np.random.default_rng(1).normal(size=40)
    agree(objective(moved)[1], differences(lambda v: objective(v)[0], moved))


@pytest.mark.parametrize("d", [1, 2])
def test_the_papers_gradient_is_the_derivative_of_regularised_smi_with_frozen_centres(d: int):
    Z, e = problem(40, d)
    rows = np.random.default_rng(1).choice(40, 12, replace=False)
    held, v = Held(Z, Z[rows], 0.7, 1e-2), e[rows].copy()
    _, alpha, Ke = held.fit(e, v)
    agree(held.gradient(e, v, alpha, Ke), differences(lambda u: held.fit(u, v)[0], e))


def test_the_papers_smi_is_its_double_sum():
    Z, e = problem(15)
    u, v, width, ridge = Z[:4], e[:4], 0.7, 1e-2
    phi = gauss(Z, u, width)[:, None] * gauss(e[:, None], v[:, None], width)[None]  # φ(x_i, e_j)
    H, h = np.einsum("ijk,ijl->kl", phi, phi) / 15**2, np.einsum("iik->k", phi) / 15
    alpha = np.linalg.solve(H + ridge * np.eye(4), h)
    S, found, _ = Held(Z, u, width, ridge).fit(e, v)
    np.testing.assert_allclose(found, alpha, rtol=1e-9)
    assert pytest.approx(0.5 * h @ alpha - 0.5) == S


@pytest.mark.parametrize("scores", [True, False])
def test_the_objective_is_smi_with_the_residual_standardised_on_a_grid_that_stays(scores: bool):
    Z, e = problem(60)
    expected = []
    for width in (0.4, 0.8):
        x, z = (normal_scores(Z) if scores else Z), standardised(e[:, None])
        Kx, Ke = gauss(x, centres(x, width, rng=fixed()), width), gauss(z, grid(-REACH, REACH, width), width)
        H, h = np.kron(Kx.T @ Kx / 60, Ke.T @ Ke / 60), (Kx.T @ Ke / 60).ravel()
        expected.append(0.5 * h @ np.linalg.solve(H + 1e-2 * np.eye(len(h)), h) - 0.5)
    found = SMIObjective(Z, SMI(widths=(0.4, 0.8), scores=scores), rng=fixed())(e)[0]
    assert found == pytest.approx(np.mean(expected), rel=1e-3)


def test_size_and_mean_of_the_residual_do_not_change_its_smi():
    Z, e = problem(60)
    objective = SMIObjective(Z, SMI(), rng=fixed())
    value, g = objective(e)
    assert objective(1e3 * e - 50)[0] == pytest.approx(value, rel=1e-9)
    np.testing.assert_allclose(objective(1e3 * e - 50)[1], g / 1e3, rtol=1e-6, atol=1e-12)
    assert g.sum() == pytest.approx(0, abs=1e-12)  # along both the objective is flat
    assert g @ e == pytest.approx(0, abs=1e-12)


def test_a_residual_of_rounding_has_no_dependence():
    Z, e = problem(60)
    objective = SMIObjective(Z, SMI(), rng=fixed())
    for flat in (np.zeros(60), np.full(60, 0.1), 1e-12 * e):
        value, g = objective(flat)
        assert value == 0
        assert not g.any()


@pytest.mark.parametrize("d", [1, 2])
@pytest.mark.parametrize("factor", [1.0, 5.0, 0.1])
def test_the_objective_is_exact_hsic_with_the_width_of_the_first_residual(d: int, factor: float):
    Z, e = problem(80, d)
    objective = HSICObjective(Z, e, rng=fixed())
    moved = factor * (e + 0.2 * np.random.default_rng(1).normal(size=80)) + 0.3
    K = gauss(Z, Z, median_width(Z, rng=fixed()))
    L = gauss(moved[:, None], moved[:, None], median_width(e[:, None], rng=fixed()))
    Gamma = np.eye(80) - 1 / 80
    expected = np.trace(K @ Gamma @ L @ Gamma) / 80**2
    assert objective(moved)[0] == pytest.approx(expected, rel=1e-3)


def test_the_order_of_rows_does_not_matter():
    Z, e = problem(60)
    order = np.random.default_rng(1).permutation(60)
    for objective, other in (
        (SMIObjective(Z, SMI(), rng=fixed()), SMIObjective(Z[order], SMI(), rng=fixed())),
        (HSICObjective(Z, e, rng=fixed()), HSICObjective(Z[order], e[order], rng=fixed())),
    ):
        (value, g), (same, permuted) = objective(e), other(e[order])
        assert same == pytest.approx(value, rel=1e-5)
        np.testing.assert_allclose(permuted, g[order], atol=1e-4 * np.abs(g).max())
