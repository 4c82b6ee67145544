"""The basis: the same f in few directions, its penalty, its ridge start, and what minimisation makes of it."""

from __future__ import annotations

import numpy as np
import pytest

from dueto.dependence import SMI
from dueto.dependence.kernels import gauss, standardised
from dueto.regression.base import minimise
from dueto.regression.basis import SHRINKAGES, Basis
from dueto.regression.objectives import HSICObjective, SMIObjective


def a_basis(n: int = 80, m: int = 30, width: float = 0.8, d: int = 1, seed: int = 0) -> Basis:
    Z = standardised(np.random.default_rng(seed).uniform(-1, 1, (n, d)))
    return Basis(Z, Z[:m], width)


@pytest.mark.parametrize(("d", "width"), [(1, 0.8), (1, 0.1), (2, 0.8)])
def test_values_are_those_of_the_bumps_with_the_weights_beta(d: int, width: float):
    Z = standardised(np.random.default_rng(0).uniform(-1, 1, (80, d)))
    basis = Basis(Z, Z[:30], width)
    w = np.random.default_rng(1).normal(size=basis.U.shape[1])
    np.testing.assert_allclose(gauss(Z, Z[:30], width) @ basis.beta(w), basis.values(w), rtol=1e-6, atol=1e-8)


def test_there_are_fewer_directions_than_bumps_and_they_have_mean_square_1():
    basis = a_basis()
    r = basis.U.shape[1]
    assert r < 20
    values = np.array([basis.values(w) for w in np.eye(r)])
    np.testing.assert_allclose(values @ values.T / 80, np.eye(r), atol=1e-10)


def test_the_penalty_weighs_directions_as_the_squared_weights_do():
    basis = a_basis()
    for seed in range(3):
        w = np.random.default_rng(seed).normal(size=basis.U.shape[1])
        beta = basis.beta(w)
        assert basis.penalty @ w**2 == pytest.approx(beta @ beta, rel=1e-9)


def test_the_gradient_by_directions_is_the_chain_rule():
    basis, rng = a_basis(), np.random.default_rng(2)
    g, w, step = rng.normal(size=80), rng.normal(size=basis.U.shape[1]), rng.normal(size=basis.U.shape[1])
    assert basis.back(g) @ step == pytest.approx(g @ (basis.values(w + step) - basis.values(w)))


@pytest.mark.parametrize("noise", [0.02, 0.3, 3.0])
def test_the_start_is_the_ridge_regression_that_predicts_left_out_values_best(noise: float):
    basis, rng = a_basis(40, 15), np.random.default_rng(0)
    K = gauss(standardised(np.random.default_rng(0).uniform(-1, 1, (40, 1))), basis.centres, 0.8)
    y = np.sin(2 * K[:, 0]) + noise * rng.normal(size=40)
    t = y - y.mean()
    best = (np.inf, np.empty(0))
    for shrinkage in SHRINKAGES:
        error = 0.0
        for i in range(40):
            rest = np.arange(40) != i
            gram = K[rest].T @ K[rest] + 40 * shrinkage * np.eye(15)
            error += (t[i] - K[i] @ np.linalg.solve(gram, K[rest].T @ t[rest])) ** 2
        if error < best[0]:
            best = (error, K @ np.linalg.solve(K.T @ K + 40 * shrinkage * np.eye(15), K.T @ t))
    np.testing.assert_allclose(basis.values(basis.ridge(y)), best[1], atol=1e-4 * np.std(y))


def problems(seed: int):
    rng = np.random.default_rng(seed)
    Z = standardised(rng.uniform(-1, 1, (120, 1)))
    y = standardised(Z**3 + 3 * rng.exponential(size=(120, 1)))[:, 0]
    basis = Basis(Z, Z[:40], 1.0)
    first = y - basis.values(basis.ridge(y))
    return basis, y, {"smi": SMIObjective(Z, SMI(), rng=rng), "hsic": HSICObjective(Z, first, rng=rng)}


@pytest.mark.parametrize("penalty", [1e-6, 1e-3, 10.0])
@pytest.mark.parametrize("name", ["smi", "hsic"])
def test_minimising_goes_down_from_the_ridge_start_and_says_where_it_ended(name: str, penalty: float):
    for seed in range(3):
        basis, y, objectives = problems(seed)
        found = minimise(basis, y, objectives[name], penalty, 25)

        def value(beta: np.ndarray, basis=basis, y=y, objective=objectives[name]) -> float:
            return objective(y - basis.U @ (basis.s * (basis.Vt @ beta)))[0] + penalty / 2 * beta @ beta

        start = basis.beta(basis.ridge(y))
        assert found.curve[0] == pytest.approx(value(start), rel=1e-6)
        assert found.curve[-1] == pytest.approx(value(found.beta), rel=1e-6)
        assert (np.diff(found.curve) <= 1e-12).all()
        assert found.curve[-1] < found.curve[0]
        assert len(found.curve) <= 26
        assert found.evaluations >= len(found.curve)


def test_it_converged_only_if_the_steps_sufficed():
    basis, y, objectives = problems(0)
    assert not minimise(basis, y, objectives["smi"], 1e-3, 1).converged
    ended = minimise(basis, y, objectives["smi"], 1e-3, 10_000)
    assert ended.converged
    assert len(ended.curve) < 10_000


@pytest.mark.parametrize("name", ["smi", "hsic"])
def test_it_gets_at_least_as_low_as_gradient_descent(name: str):
    for seed in range(2):
        basis, y, objectives = problems(seed)
        objective, weight = objectives[name], 1e-4 * basis.penalty

        def value(w: np.ndarray, objective=objective, weight=weight, basis=basis, y=y):
            S, g = objective(y - basis.values(w))
            return S + 0.5 * weight @ w**2, weight * w - basis.back(g)

        w, step = basis.ridge(y), 1.0
        for _ in range(200):
            S, g = value(w)
            step *= 2
            while value(w - step * g)[0] > S - 1e-4 * step * g @ g and step > 1e-10:
                step /= 2
            w = w - step * g
        found = minimise(basis, y, objective, 1e-4, 40)
        assert found.curve[-1] <= value(w)[0] + 1e-3 * abs(value(w)[0])
