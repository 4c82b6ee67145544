"""Tests by permutation: levels under exact independence, p-values by count, early stopping, and many tests at once."""

from __future__ import annotations

import itertools
import json
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from dueto import independence_test
from dueto.dependence import HSIC, LSMI, MEASURES, SMI, DistanceCorrelation, measure_named, paired
from dueto.dependence.kernels import gauss, standardised
from dueto.errors import InputError
from dueto.inference import SCALING, adjusted, permutation_test

CHEAP = {"smi": SMI(), "lsmi": LSMI(), "hsic": HSIC(), "dcor": DistanceCorrelation()}
REFIT = LSMI(refit=True, n_centres=10, widths=(0.5, 1.0), ridges=(1e-2, 1e-1))


def fixed() -> np.random.Generator:
    return np.random.default_rng(0)


@dataclass
class Toy:
    """A statistic given by a function of one permutation; remembers what it was asked."""

    value: Any
    blocks: np.ndarray | None = None
    asked: list[np.ndarray] = field(default_factory=list)

    def __call__(self, permutations: np.ndarray) -> np.ndarray:
        self.asked.append(permutations)
        return np.array([np.atleast_1d(self.value(p)) for p in permutations], dtype=float)


# ---- levels -------------------------------------------------------------------------------------------------------


def rejections(measure: Any, draw: Any, *, runs: int, B: int, n: int = 40) -> np.ndarray:
    """The p-values of `runs` independent samples."""
    found = []
    for seed in range(runs):
        x, y = draw(np.random.default_rng([seed, 11]), n)
        found.append(independence_test(x, y, measure=measure, n_permutations=B, rng=seed).pvalue)
    return np.array(found)


def spread(level: float, runs: int) -> float:
    return 3 * float(np.sqrt(level * (1 - level) / runs))


def skewed(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    return rng.exponential(size=n), rng.standard_t(3, size=n)


def discrete(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    return np.append(rng.integers(0, 3, n - 3), [0, 1, 2]), np.append(rng.poisson(1.0, n - 3), [0, 1, 2])


@pytest.mark.parametrize("name", CHEAP)
def test_independent_samples_are_rejected_no_more_often_than_the_level_says(name: str):
    if name == "dcor":
        pytest.importorskip("dcor")
    runs = 100 if name == "dcor" else 300  # dcor takes ten times as long
    p = rejections(CHEAP[name], skewed, runs=runs, B=99)
    for level in (0.01, 0.05, 0.1):
        assert np.mean(p <= level) <= level + spread(level, runs)
    assert np.mean(p <= 0.1) >= 0.1 - 1.2 * spread(0.1, runs)
    assert 0.42 < p.mean() < 0.59


def test_the_level_holds_where_everything_is_fitted_anew_for_each_permutation():
    p = rejections(REFIT, skewed, runs=150, B=19, n=30)
    for level in (0.05, 0.1):
        assert np.mean(p <= level) <= level + spread(level, 150)
    assert np.mean(p <= 0.1) > 0.03


@pytest.mark.parametrize("name", CHEAP)
def test_the_level_holds_for_discrete_columns_with_ties(name: str):
    if name == "dcor":
        pytest.importorskip("dcor")
    p = rejections(CHEAP[name], discrete, runs=150, B=39)
    for level in (0.05, 0.1):
        assert np.mean(p <= level) <= level + spread(level, 150)
    assert np.mean(p <= 0.5) > 0.3


@dataclass(frozen=True)
class Frozen:
    """SMI with pairs of the observed sample as centres that stay: what a valid test must not do."""

    name: str = "frozen"

    def estimate(self, x: np.ndarray, y: np.ndarray, *, rng: np.random.Generator) -> float:
        raise NotImplementedError

    def prepare(self, x: np.ndarray, y: np.ndarray, *, rng: np.random.Generator) -> Toy:  # noqa: ARG002
        Kx, Ky = (gauss(z, z, 0.4) for z in map(standardised, (x, y)))
        n = len(x)
        inverse = np.linalg.inv((Kx.T @ Kx) * (Ky.T @ Ky) / n**2 + 0.1 * np.eye(n))

        def value(p: np.ndarray) -> float:
            h = (Kx * Ky[p]).mean(axis=0)
            return 0.5 * h @ inverse @ h - 0.5

        return Toy(value)


def test_a_statistic_whose_centres_are_the_observed_pairs_fails_the_level():
    p = rejections(Frozen(), skewed, runs=100, B=19)
    assert np.mean(p <= 0.05) > 0.05 + 2 * spread(0.05, 100)


@pytest.mark.parametrize("name", CHEAP)
def test_dependence_is_found(name: str):
    if name == "dcor":
        pytest.importorskip("dcor")
    for seed in range(5):
        rng = np.random.default_rng(seed)
        x, noise = rng.normal(size=(2, 120))
        for y in (x + noise, x**2 + noise / 2, np.abs(x) * noise if name in ("smi", "hsic") else x**3 + noise):
            assert independence_test(x, y, measure=CHEAP[name], n_permutations=99, rng=seed).pvalue <= 0.03


def test_the_p_value_is_uniform_over_all_pairings_of_a_tiny_sample():
    x, y = np.array([0.0, 1, 3, 7, 12]), np.array([0.0, 2, 3, 9, 31])
    p = np.array(
        [
            permutation_test(
                Toy(lambda q, order=order: x @ y[list(order)][q]), 5, measure="toy", n_permutations=19, rng=rng
            ).pvalue
            for rng in map(np.random.default_rng, range(12))
            for order in itertools.permutations(range(5))
        ]
    )
    assert len(p) == 12 * 120
    for k in range(1, 20):
        assert np.mean(p <= k / 20 + 1e-12) <= k / 20 + spread(k / 20, len(p))
        assert np.mean(p <= k / 20 + 1e-12) >= k / 20 - 1 / 120 - spread(k / 20, len(p))  # 120 values: ties


# ---- the p-value --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
def test_the_p_value_counts_the_permutations_that_reach_the_statistic(seed: int):
    y = np.random.default_rng(seed).integers(0, 4, 8).astype(float)  # ties
    toy = Toy(lambda p: np.arange(8) @ y[p])
    result = permutation_test(toy, 8, measure="toy", n_permutations=200, rng=np.random.default_rng(seed))
    observed, drawn = toy.asked[0], np.concatenate(toy.asked[1:])
    assert observed.tolist() == [list(range(8))]
    assert drawn.shape == (200, 8)
    assert (np.sort(drawn, axis=1) == np.arange(8)).all()
    values = [np.arange(8) @ y[p] for p in drawn]
    assert result.statistic == np.arange(8) @ y
    assert result.null.tolist() == values
    assert result.pvalue == (1 + sum(v >= result.statistic for v in values)) / 201
    assert result.stderr == pytest.approx(np.sqrt(result.pvalue * (1 - result.pvalue) / 201))
    assert 0 < result.pvalue <= 1


def test_statistics_that_differ_by_rounding_are_tied():
    for size in (1e6, 1.0, -1.0):
        toy = Toy(lambda p, size=size: size * (1 + 1e-14 * p[0]))
        assert permutation_test(toy, 8, measure="toy", n_permutations=50, rng=fixed()).pvalue == 1


def test_scales_that_vary_by_rounding_alone_are_tied_too():
    for seed in range(5):
        toy = Toy(lambda p: np.array([1 + 1e-15 * p[0], 2 - 1e-15 * p[1]]))
        rng = np.random.default_rng(seed)
        assert permutation_test(toy, 8, measure="toy", n_permutations=50, rng=rng).pvalue == 1


@pytest.mark.parametrize("name", CHEAP)
@pytest.mark.parametrize("n", [200, 300])
def test_columns_whose_permutations_are_all_tied_have_p_1(name: str, n: int):
    if name == "dcor":
        pytest.importorskip("dcor")
    x, y = np.zeros(n), np.zeros(n)
    x[3], y[7] = 1, 1  # all permutations that keep the two ones apart are the same sample
    for seed in range(3):
        assert independence_test(x, y, measure=CHEAP[name], n_permutations=99, rng=seed).pvalue == 1


def test_several_scales_are_studentised_by_permutations_that_do_not_count():
    z = np.random.default_rng(0).normal(size=(3, 9))

    def value(p: np.ndarray) -> np.ndarray:
        return np.array([z[0] @ z[1][p], 1e3 * (z[0] @ z[2][p]) + 5e4, 7.0])  # the last is constant

    toy = Toy(value)
    result = permutation_test(toy, 9, measure="toy", n_permutations=60, rng=fixed())
    identity, first, counted = toy.asked[0], toy.asked[1], np.concatenate(toy.asked[2:])
    assert len(first) == SCALING
    assert len(counted) == 60
    table = np.array([value(p) for p in first])
    middle, size = table.mean(axis=0), table.std(axis=0)
    size[2] = 1

    def largest(p: np.ndarray) -> float:
        return max((value(p) - middle) / size)

    assert result.statistic == pytest.approx(largest(identity[0]))
    np.testing.assert_allclose(result.null, [largest(p) for p in counted])
    assert result.pvalue == (1 + sum(largest(p) >= largest(identity[0]) for p in counted)) / 61
    assert result.estimate == pytest.approx(value(np.arange(9)).mean())


def test_one_scale_is_left_in_its_units():
    toy = Toy(lambda p: 100.0 + p[0])
    assert permutation_test(toy, 9, measure="toy", n_permutations=5, rng=fixed()).statistic == 100
    assert [len(asked) for asked in toy.asked] == [1, 5]


def test_rows_stay_in_their_blocks_and_go_everywhere_in_them():
    blocks = np.array([0, 1, 0, 1, 0, 2])
    toy = Toy(lambda p: float(p[0]), blocks=blocks)
    permutation_test(toy, 6, measure="toy", n_permutations=600, rng=fixed())
    drawn = np.concatenate(toy.asked[1:])
    assert (np.sort(drawn, axis=1) == np.arange(6)).all()
    assert (blocks[drawn] == blocks).all()
    _, counts = np.unique(drawn, axis=0, return_counts=True)
    assert len(counts) == 6 * 2  # 3! 2! 1!
    assert counts.min() > 50 - 3.5 * np.sqrt(50)
    assert counts.max() < 50 + 3.5 * np.sqrt(50)


def test_permutations_drawn_in_rounds_are_those_drawn_at_once(monkeypatch: pytest.MonkeyPatch):
    toy = Toy(lambda p: float(p[0] + p[1] / 10))
    whole = permutation_test(toy, 12, measure="toy", n_permutations=50, rng=fixed())
    monkeypatch.setattr("dueto.inference.ROUNDS", 12 * 7)
    toy.asked.clear()
    parts = permutation_test(toy, 12, measure="toy", n_permutations=50, rng=fixed())
    assert [len(a) for a in toy.asked] == [1, *[7] * 7, 1]
    np.testing.assert_array_equal(parts.null, whole.null)
    assert parts.pvalue == whole.pvalue


# ---- stopping early -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("stop_after", [1, 3, 10])
def test_it_stops_at_the_permutation_that_reaches_for_the_last_time(seed: int, stop_after: int):
    z = np.random.default_rng(seed).normal(size=50)
    toy = Toy(lambda p: z[p[0]])
    options: dict[str, Any] = {"measure": "toy", "n_permutations": 400}
    result = permutation_test(toy, 50, stop_after=stop_after, rng=np.random.default_rng(seed), **options)
    whole = permutation_test(toy, 50, rng=np.random.default_rng(seed), **options)
    np.testing.assert_array_equal(result.null, whole.null[: len(result.null)])
    reached = result.null >= z[0]
    if reached.sum() == stop_after:
        assert reached[-1]
        assert result.pvalue == stop_after / len(result.null)
    else:
        assert len(reached) == 400
        assert reached.sum() < stop_after
        assert result.pvalue == whole.pvalue == (1 + reached.sum()) / 401
    assert result.n_permutations == len(result.null)


def test_stopping_spares_permutations_where_there_is_no_dependence():
    toy = Toy(lambda p: -abs(float(p[0]) - 500))  # few permutations are below the observed
    result = permutation_test(toy, 1000, measure="toy", n_permutations=5000, stop_after=10, rng=fixed())
    assert result.n_permutations < 20
    assert sum(map(len, toy.asked)) <= 101


def test_the_stopped_p_value_holds_its_level():
    runs, h, B = 4000, 4, 39
    rng, p = np.random.default_rng(0), []
    for _ in range(runs):
        z = rng.permutation(61)
        p.append(
            permutation_test(
                Toy(lambda q, z=z: z[q[0]]), 61, measure="toy", n_permutations=B, stop_after=h, rng=rng
            ).pvalue
        )
    for level in (1 / 40, 0.05, 0.1, 0.2, 0.5):
        assert np.mean(np.array(p) <= level + 1e-12) <= level + spread(level, runs)
    assert np.mean(np.array(p) <= 3 / 40 + 1e-12) == pytest.approx(3 / 40, abs=spread(3 / 40, runs) + 0.01)


def test_a_real_measure_may_stop_early_too():
    x, y = np.random.default_rng(0).normal(size=(2, 100))
    for name in ("smi", "lsmi"):
        result = independence_test(x, y, measure=name, stop_after=5, rng=1)
        assert result.n_permutations < 500
        assert result.pvalue == 5 / result.n_permutations


# ---- the front door -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [*CHEAP, "lsmi-refit"])
def test_the_same_seed_gives_the_same_answer_and_another_seed_other_permutations(name: str):
    if name == "dcor":
        pytest.importorskip("dcor")
    x, y = np.random.default_rng(0).normal(size=(2, 25))
    measure = REFIT if name == "lsmi-refit" else name
    first, again, other = (
        independence_test(x, y, measure=measure, n_permutations=19, rng=rng) for rng in (3, np.random.default_rng(3), 4)
    )
    assert first.measure == name
    assert first.to_dict() == again.to_dict()
    assert first.null.tolist() == again.null.tolist() != other.null.tolist()


@pytest.mark.parametrize("name", ["smi", "hsic", "dcor"])
def test_the_estimate_is_the_measures_own(name: str):
    if name == "dcor":
        pytest.importorskip("dcor")
    rng = np.random.default_rng(0)
    x = rng.normal(size=(60, 2))
    y = x[:, 0] + rng.normal(size=60)
    result = independence_test(x, y, measure=name, n_permutations=9, rng=5)
    expected = measure_named(name).estimate(*paired(x, y), rng=np.random.default_rng(5))
    assert result.estimate == pytest.approx(expected, rel=1e-6)


def test_the_result_is_plain_data_and_says_what_was_done():
    x, y = np.random.default_rng(0).normal(size=(2, 30))
    x[3] = np.nan
    result = independence_test(x, y, n_permutations=19, missing="drop")
    told = json.loads(json.dumps(result.to_dict()))
    assert told == {
        "pvalue": result.pvalue,
        "stderr": result.stderr,
        "statistic": result.statistic,
        "estimate": result.estimate,
        "measure": "smi",
        "n": 29,
        "n_permutations": 19,
    }
    for word in ("pvalue=", "measure='smi'", "n=29", "n_permutations=19"):
        assert word in repr(result)


@pytest.mark.parametrize("name", CHEAP)
@pytest.mark.parametrize("factor", [1e300, 1e-300])
def test_huge_and_tiny_numbers_are_tested_as_others(name: str, factor: float):
    if name == "dcor":
        pytest.importorskip("dcor")
    x, noise = np.random.default_rng(0).normal(size=(2, 40))
    found, same = (independence_test(x * k, (x + noise) / k, measure=name, n_permutations=39) for k in (factor, 1.0))
    assert found.pvalue == same.pvalue
    assert found.statistic == pytest.approx(same.statistic, rel=1e-6)


BAD: dict[str, tuple[dict[str, Any], type[Exception], str]] = {
    "no permutations": ({"n_permutations": 0}, InputError, "n_permutations must be at least 1, got 0"),
    "true permutations": ({"n_permutations": True}, TypeError, "n_permutations must be a whole number, got True"),
    "half a permutation": ({"n_permutations": 0.5}, TypeError, "n_permutations must be a whole number"),
    "permutations as text": ({"n_permutations": "9"}, TypeError, "n_permutations must be a whole number"),
    "None permutations": ({"n_permutations": None}, TypeError, "n_permutations must be a whole number"),
    "stop at once": ({"stop_after": 0}, InputError, "stop_after must be at least 1"),
    "true stop": ({"stop_after": True}, TypeError, "stop_after must be a whole number"),
    "a negative seed": ({"rng": -1}, InputError, "rng must be"),
    "a seed as text": ({"rng": "1"}, TypeError, "rng must be"),
    "unknown measure": ({"measure": "corr"}, InputError, "no measure 'corr'"),
    "a class": ({"measure": HSIC}, TypeError, "a name or a Measure"),
    "unknown rule": ({"missing": "skip"}, InputError, "missing must be"),
    "text": ({"x": ["a"] * 30}, InputError, "x is not numeric"),
    "another length": ({"y": np.arange(29)}, InputError, "x has 30 values and y 29"),
    "all tied": ({"y": [5] * 30}, InputError, "y is constant"),
    "few": ({"x": range(19), "y": range(19)}, InputError, "19 pairs"),
}


@pytest.mark.parametrize(("given", "kind", "said"), BAD.values(), ids=BAD)
def test_bad_input_is_refused_in_one_sentence(given: dict[str, Any], kind: type[Exception], said: str):
    with pytest.raises(kind, match=said):
        independence_test(**{"x": np.arange(30.0), "y": np.arange(30.0) ** 2} | given)


def test_every_name_has_a_level_tested_here():
    assert {*CHEAP, REFIT.name} == set(MEASURES)


# ---- many tests ---------------------------------------------------------------------------------------------------


def holm_rejects(p: np.ndarray, level: float) -> np.ndarray:
    """Holm's procedure at one level: the smallest p against level/k, the next against level/(k-1), until one fails."""
    found = np.zeros(len(p), dtype=bool)
    for step, i in enumerate(np.argsort(p, kind="stable")):
        if p[i] > level / (len(p) - step):
            break
        found[i] = True
    return found


def bh_rejects(p: np.ndarray, level: float) -> np.ndarray:
    """Benjamini and Hochberg's: all up to the largest k whose p is at most k level / m."""
    ordered = np.sort(p)
    passing = [k for k in range(1, len(p) + 1) if ordered[k - 1] <= k * level / len(p)]
    return p <= ordered[passing[-1] - 1] if passing else np.zeros(len(p), dtype=bool)


@pytest.mark.parametrize(("method", "rejects"), [("holm", holm_rejects), ("bh", bh_rejects)])
def test_adjusted_p_values_reject_as_the_procedure_at_every_level(method, rejects):
    rng = np.random.default_rng(0)
    for _ in range(60):
        p = np.round(rng.beta(0.4, 2, rng.integers(1, 9)), 2)
        found = adjusted(p, method=method)
        assert ((found >= p) & (found <= 1)).all()
        for level in rng.random(20):
            np.testing.assert_array_equal(found <= level, rejects(p, level))


def test_holm_is_the_most_careful_and_none_changes_nothing():
    p = [0.01, 0.2, 0.03, 0.03]
    assert adjusted(p, method="none").tolist() == p
    assert (adjusted(p, method="holm") >= adjusted(p, method="bh")).all()
    np.testing.assert_allclose(adjusted(p), [0.04, 0.2, 0.09, 0.09])
    assert adjusted([]).shape == (0,)
    assert adjusted([0.3] * 2).tolist() == [0.6, 0.6]


@pytest.mark.parametrize("method", ["holm", "bh", "none"])
def test_holm_and_bh_bound_what_they_promise(method):
    rng, m, runs = np.random.default_rng(1), 10, 3000
    p = rng.random((runs, m))  # all true
    any_rejected = np.mean([(adjusted(row, method=method) <= 0.1).any() for row in p])
    if method == "none":
        assert any_rejected == pytest.approx(1 - 0.9**m, abs=spread(0.65, runs))
    else:  # both are exact or nearly so for independent tests
        assert any_rejected <= 0.1 + spread(0.1, runs)
        assert any_rejected >= 1 - (1 - 0.1 / m) ** m - spread(0.1, runs)


@pytest.mark.parametrize("p", [[2.0], [-0.1], [np.nan], 0.5, [[0.1]]])
def test_what_is_no_list_of_p_values_is_refused(p):
    with pytest.raises(InputError, match="p-values must be"):
        adjusted(p)


def test_an_unknown_adjustment_is_refused():
    with pytest.raises(InputError, match="'holm', 'bh', 'none', got 'sidak'"):
        adjusted([0.1], method="sidak")


@pytest.mark.parametrize("measure", ["smi", "lsmi", "hsic"])
def test_the_order_of_rows_does_not_matter(measure: str):
    rng = np.random.default_rng(0)
    x = rng.integers(0, 8, (60, 1)).astype(float)
    y = x + rng.normal(size=(60, 2)) * 4
    order = rng.permutation(60)
    plain = independence_test(x, y, measure=measure, n_permutations=49)
    found = independence_test(x[order], y[order], measure=measure, n_permutations=49)
    assert found.pvalue == plain.pvalue
    np.testing.assert_allclose(found.null, plain.null, rtol=1e-12)


COARSE = LSMI(widths=(0.3, 1.0, 3.0), ridges=(0.01, 0.1, 1.0), n_centres=30)


@pytest.mark.parametrize("seed", [2, 5])
def test_the_level_holds_for_each_seed_by_itself_where_x_is_tied(seed: int):
    runs, rejected = 150, 0
    for run in range(runs):
        rng = np.random.default_rng(run)
        x, y = rng.integers(0, 2, 40), rng.normal(size=40)
        rejected += independence_test(x, y, measure=COARSE, n_permutations=39, rng=seed).pvalue <= 0.1
    assert rejected <= runs * 0.1 + 3 * np.sqrt(runs * 0.09)


def test_hsic_holds_its_level_where_more_points_stand_alone_than_the_rank_allows():
    rejected = 0
    for run in range(12):
        rng = np.random.default_rng(run)
        x, y = (np.where(rng.random(1500) < 0.8, rng.normal(size=1500), rng.uniform(-1e6, 1e6, 1500)) for _ in "xy")
        rejected += independence_test(x, y, measure="hsic", n_permutations=39).pvalue <= 0.1
    assert rejected <= 5


def test_a_statistic_that_is_no_number_is_refused():
    with pytest.raises(InputError, match="gives no number"):
        permutation_test(Toy(lambda _: np.nan), 30, measure="toy", n_permutations=19, rng=np.random.default_rng(0))
