"""HSIC and distance correlation against their definitions and the package dcor."""

from __future__ import annotations

import numpy as np
import pytest

from dueto.dependence import HSIC, SMI, DistanceCorrelation
from dueto.dependence.hsic import LARGEST, RANK
from dueto.dependence.kernels import gauss, median_width, standardised
from dueto.errors import InputError


def pair(n: int, d: int = 1, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, d))
    return x, x[:, :1] ** 2 + rng.exponential(size=(n, d))


def fixed() -> np.random.Generator:
    return np.random.default_rng(0)


def by_definition(x: np.ndarray, y: np.ndarray) -> float:
    n = len(x)
    K, L = (gauss(z, z, median_width(z, rng=fixed())) for z in map(standardised, (x, y)))
    Gamma = np.eye(n) - 1 / n
    return float(np.trace(K @ Gamma @ L @ Gamma) / n**2)


@pytest.mark.parametrize("d", [1, 3])
def test_hsic_is_the_trace_of_its_definition(d: int):
    x, y = pair(60, d)
    expected = by_definition(x, y)
    assert HSIC(form="exact").estimate(x, y, rng=fixed()) == pytest.approx(expected, rel=1e-10)
    assert HSIC().estimate(x, y, rng=fixed()) == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("d", [1, 2])
@pytest.mark.parametrize("form", ["exact", "low-rank"])
def test_prepared_hsic_is_the_definition_on_the_permuted_sample(form, d: int):
    x, y = pair(40, d)
    permutations = np.array([np.random.default_rng(s).permutation(40) for s in range(5)])
    expected = [by_definition(x, y[p]) for p in permutations]
    found = HSIC(form=form).prepare(x, y, rng=fixed())(permutations)
    np.testing.assert_allclose(found[:, 0], expected, rtol=1e-4)


def test_hsic_of_discrete_columns_is_exact_at_low_rank():
    x, y = np.arange(60.0)[:, None] % 3, np.arange(60.0)[:, None] % 4 // 2
    assert HSIC().estimate(x, y, rng=fixed()) == pytest.approx(0, abs=1e-12)
    z = (x + y) % 2
    assert HSIC().estimate(x, z, rng=fixed()) == pytest.approx(by_definition(x, z), abs=1e-12)


def test_hsic_does_not_depend_on_scale_origin_or_order():
    x, y = pair(80)
    found = HSIC().estimate(x, y, rng=fixed())
    order = np.random.default_rng(1).permutation(80)
    for a, b in ((y, x), (x[order], y[order]), (5 - 1e300 * x, 1e-300 * y)):
        assert HSIC().estimate(a, b, rng=fixed()) == pytest.approx(found, rel=1e-5)


@pytest.mark.parametrize(("measure", "names"), [(HSIC(form="exact"), "low-rank"), (DistanceCorrelation(), "smi")])
def test_more_rows_than_an_n_by_n_array_takes_are_refused(measure, names):
    x, y = pair(LARGEST + 1)
    with pytest.raises(InputError, match=f"3,001.*{names}"):
        measure.prepare(x, y, rng=fixed())


@pytest.mark.parametrize("measure", [HSIC(), SMI()])
def test_no_n_by_n_array_is_kept_for_many_rows(measure):
    x, y = pair(20_000)
    for scale in measure.prepare(x, y, rng=fixed()).scales:
        assert {scale.A.shape[0], scale.C.shape[0]} == {20_000}
        assert max(scale.A.shape[1], scale.C.shape[1]) <= 60


def test_hsic_of_many_columns_has_bounded_rank():
    x, y = pair(500, 8)
    (scale,) = HSIC().prepare(x, y, rng=fixed()).scales
    assert scale.A.shape == (500, RANK)


@pytest.mark.parametrize("d", [1, 2])
def test_distance_correlation_is_dcors_own(d: int):
    dcor = pytest.importorskip("dcor")
    for seed in range(3):
        x, y = pair(50, d, seed)
        found = DistanceCorrelation().estimate(x, y, rng=fixed())
        assert found == pytest.approx(dcor.distance_correlation_sqr(x, y), rel=1e-9)
        order = np.random.default_rng(seed).permutation(50)
        permuted = DistanceCorrelation().prepare(x, y, rng=fixed())(order[None])[0, 0]
        assert permuted == pytest.approx(dcor.distance_correlation_sqr(x, y[order]), rel=1e-9)


@pytest.mark.parametrize("factor", [1.0, -2.5, 1e300, 1e-300])
def test_distance_correlation_is_1_for_a_linear_function(factor: float):
    pytest.importorskip("dcor")
    x, _ = pair(50)
    assert DistanceCorrelation().estimate(x, factor * x, rng=fixed()) == pytest.approx(1)


def test_distance_correlation_of_a_constant_is_0():
    pytest.importorskip("dcor")
    x, _ = pair(50)
    assert DistanceCorrelation().estimate(x, np.full((50, 1), 0.1), rng=fixed()) == 0
