"""One pair: the arrow, its mirror image, what must not change it, and what is refused."""

from __future__ import annotations

import datetime
import json
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from dueto import HSICR, LSIR, Direction, direction
from dueto.dependence import HSIC, SMI
from dueto.errors import InputError

TURNED = {"->": "<-", "<-": "->", "?": "?"}


@cache
def cubic(seed: int = 0, n: int = 300) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    x = rng.uniform(-1, 1, n)
    return x, x**3 + rng.exponential(size=n) - 1


def noisy(f: Any, noise: Any, seed: int, n: int = 150) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    x = rng.uniform(-1, 1, n)
    return x, f(x) + noise(rng, n)


FAMILIES: dict[str, Any] = {
    "cubic": lambda seed: cubic(seed, 150),
    "sine": lambda seed: noisy(lambda x: np.sin(3 * x), lambda rng, n: 0.3 * rng.gamma(0.5, size=n), seed),
    "parabola": lambda seed: noisy(lambda x: 2 * x**2, lambda rng, n: 0.2 * rng.normal(size=n), seed),
    "ties": lambda seed: tuple(np.round(v, 1) for v in cubic(seed, 150)),
    "counts": lambda seed: noisy(lambda x: np.round(2 * x), lambda rng, n: rng.poisson(1.0, n), seed),
}


def quick(x: Any, y: Any, **options: Any) -> Direction:
    return direction(x, y, **({"n_permutations": 99} | options))


@pytest.mark.parametrize("regressor", [None, HSICR()], ids=["lsir", "hsicr"])
def test_the_cause_of_the_cubic_model_is_found(regressor: Any):
    arrows = [quick(*cubic(seed), regressor=regressor).arrow for seed in range(6)]
    assert arrows.count("->") >= (5 if regressor is None else 3)
    assert "<-" not in arrows
    assert [quick(*cubic(seed)[::-1], fast=True, regressor=regressor).arrow for seed in range(3)] == ["<-"] * 3


def mirrored(one: Direction, other: Direction) -> None:
    assert other.arrow == TURNED[one.arrow]
    assert other.smi == one.smi[::-1]
    assert other.names == one.names[::-1]
    np.testing.assert_array_equal(one.residuals, other.residuals[::-1])
    if one.forward is None:
        assert other.forward is other.backward is other.related is one.related is None
        return
    for here, there in ((one.forward, other.backward), (one.backward, other.forward), (one.related, other.related)):
        assert here is not None
        assert there is not None
        assert here.to_dict() == there.to_dict()
        np.testing.assert_array_equal(here.null, there.null)


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"regressor": HSICR()},
        {"split": True, "regressor": HSICR()},
        {"fast": True},
        {"measure": "hsic", "regressor": LinearRegression()},
        {"measure": "lsmi", "regressor": LinearRegression(), "n_permutations": 19, "known_related": True},
        {"max_rows": 60, "regressor": RandomForestRegressor(5)},
    ],
    ids=["lsir", "hsicr", "split", "fast", "hsic", "lsmi", "max-rows"],
)
def test_exchanging_x_and_y_turns_the_answer_round_exactly(name: str, options: dict[str, Any]):
    x, y = FAMILIES[name](4)
    mirrored(quick(x, y, names=("a", "b"), rng=3, **options), quick(y, x, names=("b", "a"), rng=3, **options))


def test_columns_of_the_same_values_in_another_order_have_mirror_images_too():
    x = np.arange(80.0)
    for seed in range(4):
        y = np.random.default_rng(seed).permutation(80)
        for values, rows in ((y, 60), (x[::-1], 80), (np.roll(x, 1), 80)):
            options = {"regressor": RandomForestRegressor(3), "max_rows": rows, "n_permutations": 19}
            one = quick(x, values, names=("a", "b"), **options)
            mirrored(one, quick(values, x, names=("b", "a"), **options))
            order = np.random.default_rng(seed).permutation(80)
            assert quick(x[order], values[order], names=("a", "b"), **options).evidence == one.evidence


def test_linear_relations_with_normal_noise_have_no_direction():
    arrows = []
    for seed in range(5):
        x, noise = np.random.default_rng(seed).normal(size=(2, 200))
        found = quick(x, x + noise)
        arrows.append(found.arrow)
        if found.arrow == "?":
            assert "linear relation with normal noise" in found.reason
    assert arrows.count("?") >= 4


def test_independent_columns_have_no_direction_and_the_reason_says_so():
    told = 0
    for seed in range(5):
        rng = np.random.default_rng(seed)
        found = quick(rng.normal(size=100), rng.exponential(size=100), regressor=HSICR())
        told += found.arrow == "?" and "may well be independent" in found.reason
        assert found.related is not None
        assert 0 < found.related.pvalue <= 1
    assert told >= 4


@pytest.mark.parametrize("change", [lambda x: x, lambda x: 3 - 2 * x, lambda x: 1e100 * x, lambda x: 1e-100 * x])
@pytest.mark.parametrize("options", [{}, {"known_related": True}, {"fast": True}])
def test_linear_functions_without_noise_have_no_direction(change: Any, options: dict[str, Any]):
    x, _ = cubic(0, 60)
    found = quick(x, change(x), names=("a", "b"), regressor=HSICR(), **options)
    assert found.arrow == "?"
    assert found.reason == "a and b are linear functions of each other, with no noise to tell by"


def test_a_little_noise_is_no_linear_function():
    x, y = cubic(0, 60)
    assert "no noise" not in quick(x, x + 1e-3 * y, regressor=LinearRegression()).reason


def test_columns_of_codes_are_warned_of():
    rng = np.random.default_rng(0)
    x = rng.integers(0, 4, 100)
    y = x + rng.normal(size=100)
    assert "x has only 4 different values, which additive noise hardly describes" in quick(x, y).reason
    assert "y has only 2 different values" in quick(y, x > 1, fast=True).reason
    assert "different values" not in quick(np.arange(100) % 11, y, fast=True).reason


def as_(kind: str, v: np.ndarray) -> Any:
    return {
        "list": v.tolist(),
        "column": v[:, None],
        "pandas": pd.Series(v, index=np.arange(len(v))[::-1]),
        "frame": pd.DataFrame({"v": v}),
        "polars": pl.Series(v),
        "float32": v.astype(np.float32),
        "strided": np.repeat(v, 2)[::2],
        "nullable": pd.Series(v, dtype="Float64"),
        "objects": v.astype(object),
    }[kind]


@pytest.mark.parametrize(
    "kind", ["list", "column", "pandas", "frame", "polars", "float32", "strided", "nullable", "objects"]
)
def test_the_kind_of_column_does_not_matter(kind: str):
    x, y = (v.astype(np.float32).astype(float) for v in cubic(0, 150))
    plain, found = quick(x, y, fast=True), quick(as_(kind, x), as_(kind, y), fast=True)
    assert found.smi == plain.smi
    assert found.arrow == plain.arrow


def test_whole_numbers_and_truth_values_are_read_as_numbers():
    rng = np.random.default_rng(0)
    codes, y = rng.integers(0, 2, 80), rng.normal(size=80)
    plain = quick(codes.astype(float), y, fast=True)
    for same in (codes, codes.astype(bool), codes.astype(np.int8)):
        assert quick(same, y, fast=True).smi == plain.smi


def test_the_order_of_rows_does_not_matter():
    for seed in range(2):
        x, y = cubic(seed)
        plain = quick(x, y)
        order = np.random.default_rng(seed).permutation(300)
        found = quick(x[order], y[order])
        assert found.evidence == plain.evidence
        assert found.x.tolist() == x[order].tolist()
        np.testing.assert_allclose(found.residuals[0], plain.residuals[0][order])


@pytest.mark.parametrize(
    ("a", "b", "c", "d"), [(1e3, 5, 1, 0), (-1, 0, -2e-4, 7), (1e100, 0, 1e-100, 0), (0.1, 0, 3, 0)]
)
def test_scale_and_origin_do_not_change_the_answer(a: float, b: float, c: float, d: float):
    x, y = cubic(0)
    plain, found = quick(x, y), quick(a * x + b, c * y + d)
    assert found.arrow == plain.arrow == "->"
    np.testing.assert_allclose(found.smi, plain.smi, atol=1e-3 if a > 0 else 0.02)  # turned round, other rows are drawn


def test_of_more_rows_than_allowed_some_are_drawn():
    x, y = cubic(0)
    found = quick(x, y, max_rows=50, fast=True)
    assert found.n == len(found.x) == 50
    assert {*zip(found.x, found.y, strict=True)} <= {*zip(x, y, strict=True)}
    assert len(set(found.x)) == 50
    assert quick(x, y, max_rows=50, fast=True, rng=1).x.tolist() != found.x.tolist()
    assert quick(x, y, max_rows=300, fast=True).x.tolist() == x.tolist()


class Remembers(RegressorMixin, BaseEstimator):
    """A line, and the rows it was fitted to and asked for."""

    fitted: list[np.ndarray] = []  # noqa: RUF012
    asked: list[np.ndarray] = []  # noqa: RUF012

    def fit(self, X: np.ndarray, y: np.ndarray) -> Remembers:
        self.fitted.append(np.column_stack([X, y]))
        self.line_ = np.polyfit(X[:, 0], y, 1)
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        self.asked.append(X)
        return np.polyval(self.line_, X[:, 0])


@pytest.mark.parametrize("split", [False, True])
def test_splitting_tests_on_rows_that_were_not_fitted(split: bool):
    x, y = cubic(0, 101)
    Remembers.fitted.clear()
    Remembers.asked.clear()
    found = quick(x, y, split=split, regressor=Remembers())
    assert found.n == 101
    assert found.forward is not None
    (one, two), (left, right) = Remembers.fitted, Remembers.asked
    assert {*map(tuple, one)} <= {*zip(x, y, strict=True)}
    assert {*map(tuple, two)} <= {*zip(y, x, strict=True)}
    if split:
        assert (len(one), len(left), found.forward.n) == (50, 51, 51)
        assert {*one[:, 0]} | {*left[:, 0]} == {*x}
        assert {*two[:, 0]} | {*right[:, 0]} == {*y}
    else:
        assert (len(one), len(left), found.forward.n) == (101, 101, 101)


def test_the_residuals_are_those_of_the_fits_and_the_smi_is_theirs():
    x, y = cubic(0, 100)
    found = quick(x, y, regressor=LinearRegression(), n_permutations=19)
    forward = y - np.polyval(np.polyfit(x, y, 1), x)
    backward = x - np.polyval(np.polyfit(y, x, 1), y)
    np.testing.assert_allclose(found.residuals, [forward, backward], atol=1e-12)
    for smi, cause, left in zip(found.smi, (x, y), (forward, backward), strict=True):
        assert smi == pytest.approx(
            SMI(scores="x").estimate(cause[:, None], left[:, None], rng=np.random.default_rng(0))
        )


@pytest.mark.parametrize(
    "regressor",
    [
        LinearRegression(),
        KNeighborsRegressor(10),
        RandomForestRegressor(5),
        make_pipeline(StandardScaler(), RandomForestRegressor(5)),
        make_pipeline(StandardScaler(), LSIR(max_iter=3)),
        HSICR(random_state=3),
    ],
    ids=["line", "neighbours", "forest", "forest in a pipeline", "lsir in a pipeline", "hsicr"],
)
def test_any_regressor_serves_and_the_same_seed_gives_the_same_answer(regressor: Any):
    x, y = cubic(0, 100)
    before = str(regressor.get_params())
    found, again = (quick(x, y, regressor=regressor, n_permutations=19) for _ in range(2))
    assert found.forward is not None
    assert again.forward is not None
    np.testing.assert_array_equal(found.residuals, again.residuals)
    assert found.forward.to_dict() == again.forward.to_dict()
    assert str(regressor.get_params()) == before  # a copy of it was fitted
    assert not hasattr(regressor, "coef_")


def test_a_regressor_that_repeats_what_it_saw_leaves_nothing_to_tell_by():
    x, y = cubic(0, 60)
    for measure in ("smi", "hsic", "lsmi"):
        found = quick(x, y, regressor=KNeighborsRegressor(1), measure=measure, n_permutations=19)
        assert found.arrow == "?"
        assert found.forward is not None
        assert found.forward.pvalue == 1


def test_known_relations_are_decided_by_the_larger_p_value():
    decided = 0
    for seed in range(4):
        x, noise = np.random.default_rng(seed).normal(size=(2, 100))
        found = quick(x, x + noise, known_related=True, regressor=LinearRegression())
        assert found.forward is not None
        assert found.backward is not None
        p, q = found.forward.pvalue, found.backward.pvalue
        if p != q:
            assert found.arrow == ("->" if p > q else "<-")
            decided += 1
    assert decided > 0


def test_measure_and_permutations_are_those_asked_for():
    x, y = cubic(0, 60)
    found = quick(x, y, regressor=LinearRegression(), measure=HSIC(form="exact"), n_permutations=29)
    for test in (found.forward, found.backward, found.related):
        assert test is not None
        assert (test.measure, test.n_permutations, test.n) == ("hsic", 29, 60)
    stopped = quick(x, np.random.default_rng(0).normal(size=60), regressor=LinearRegression(), stop_after=3)
    assert stopped.related is not None
    assert stopped.related.n_permutations < 99


def test_levels_are_those_asked_for():
    x, y = cubic(0)
    found = quick(x, y, regressor=HSICR())
    assert found.backward is not None
    assert found.arrow == "->"
    assert quick(x, y, regressor=HSICR(), reject=0.01, accept=0.99).arrow == "?"


def test_the_same_seed_gives_the_same_answer_and_a_generator_serves_too():
    x, y = cubic(0, 100)
    found, again, third = (quick(x, y, rng=rng, fast=True) for rng in (7, np.random.default_rng(7), 8))
    assert found.smi == again.smi
    assert found.smi != third.smi


def test_missing_pairs_are_dropped_if_so_asked():
    x, y = cubic(0, 100)
    holes = np.where(np.arange(100) == 3, np.nan, x)
    assert quick(holes, y, fast=True, missing="drop").smi == quick(np.delete(x, 3), np.delete(y, 3), fast=True).smi


def test_the_result_is_text_and_plain_data():
    x, y = cubic(0)
    found = quick(x, y, names=("age", "wage"))
    told = json.loads(json.dumps(found.to_dict()))
    assert told["names"] == ["age", "wage"]
    assert told["arrow"] == "->"
    assert told["forward"]["pvalue"] == found.forward.pvalue
    assert told["smi"] == {"forward": found.smi[0], "backward": found.smi[1]}
    assert str(found).startswith("age -> wage\n")
    assert found.reason in str(found)
    assert found.reason in repr(found)
    fast = quick(x, y, fast=True, regressor=LinearRegression())
    assert json.loads(json.dumps(fast.to_dict()))["forward"] is None
    assert "p =" not in str(fast)


GOOD = cubic(0, 40)
BAD: dict[str, tuple[dict[str, Any], type[Exception], str]] = {
    "lengths": ({"x": GOOD[0][:-1]}, InputError, "x has 39 values and y 40"),
    "few": ({"x": GOOD[0][:19], "y": GOOD[1][:19]}, InputError, "19 pairs of x and y are too few"),
    "constant": ({"names": ("a", "b"), "y": np.ones(40)}, InputError, "b is constant"),
    "all tied": ({"x": [7] * 40}, InputError, "x is constant"),
    "NaN": ({"x": [np.nan, *GOOD[0][1:]]}, InputError, "x is missing or infinite in 1 of 40 rows"),
    "infinite": ({"y": [*GOOD[0][1:], -np.inf]}, InputError, "y is missing or infinite in 1 of 40 rows"),
    "dropped to few": ({"x": np.where(GOOD[0] > 2, 1, np.nan), "missing": "drop"}, InputError, "0 pairs"),
    "text": ({"names": ("job", "b"), "x": ["clerk"] * 40}, InputError, "job is not numeric.*'clerk'"),
    "dates": ({"y": [datetime.date(2020, 1, 1)] * 40}, InputError, "y is not numeric"),
    "complex": ({"y": GOOD[1] * 1j}, InputError, "y is not numeric"),
    "empty": ({"x": [], "y": []}, InputError, "0 pairs"),
    "three dimensions": ({"x": np.zeros((40, 1, 2))}, InputError, "x must be a column"),
    "two columns": ({"x": np.column_stack(GOOD)}, InputError, "x has 2 columns"),
    "true permutations": ({"n_permutations": True}, TypeError, "n_permutations must be a whole number"),
    "no permutations": ({"n_permutations": 0}, InputError, "n_permutations must be at least 1"),
    "no stop": ({"stop_after": 0}, InputError, "stop_after must be at least 1"),
    "a negative seed": ({"rng": -3}, InputError, "rng must be"),
    "text as seed": ({"rng": "a"}, TypeError, "rng must be"),
    "unknown measure": ({"measure": "mi"}, InputError, "no measure 'mi'"),
    "a measure's class": ({"measure": SMI}, TypeError, "a name or a Measure"),
    "a regressor's class": ({"regressor": LSIR}, TypeError, "must be a scikit-learn regressor"),
    "no regressor": ({"regressor": "lsir"}, TypeError, "must be a scikit-learn regressor"),
    "levels": ({"reject": 0.1}, InputError, "0 < reject <= accept < 1"),
    "few rows allowed": ({"max_rows": 19}, InputError, "max_rows must be at least 20, got 19"),
    "true rows": ({"max_rows": True}, TypeError, "max_rows must be a whole number"),
    "unknown rule": ({"missing": "mean"}, InputError, "missing must be"),
    "an option of the regressor": ({"regressor": LSIR(folds=1)}, InputError, "folds must be at least 2"),
}


@pytest.mark.parametrize(("given", "kind", "said"), BAD.values(), ids=BAD)
def test_bad_input_is_refused_in_one_sentence(given: dict[str, Any], kind: type[Exception], said: str):
    with pytest.raises(kind, match=said):
        quick(**({"x": GOOD[0], "y": GOOD[1]} | given))


def test_series_in_different_orders_are_not_paired_by_position():
    x, y = map(pd.Series, cubic(0))
    with pytest.raises(InputError, match="x and y have different indexes"):
        direction(x, y.sort_values())
    assert quick(*x.align(y.sort_values(), join="inner")).evidence == quick(x, y).evidence


def test_too_few_permutations_to_reject_anything_are_refused():
    with pytest.raises(InputError, match=r"nothing can be rejected at 0\.05; use n_permutations=19 or more"):
        direction(*cubic(0), n_permutations=18)


@pytest.mark.parametrize(
    "draw",
    [
        lambda rng: np.where(rng.random(300) < 0.6, 0, rng.exponential(size=300)),
        lambda rng: rng.integers(0, 2, 300),
        lambda rng: rng.integers(1, 7, 300),
    ],
    ids=["many zeros", "two values", "dice"],
)
def test_independent_columns_of_which_one_has_ties_get_no_arrow(draw: Any):
    rng = np.random.default_rng(1)
    arrows = [quick(rng.normal(size=300), draw(rng)).arrow for _ in range(6)]
    assert arrows.count("?") >= 5


def test_the_residual_of_a_discrete_effect_is_not_told_apart_by_what_is_hardly_there():
    rng = np.random.default_rng(0)
    wrong = 0
    for _ in range(8):
        x, y = rng.normal(size=300), rng.integers(0, 2, 300)
        wrong += quick(x, y).forward.pvalue <= 0.05
    assert wrong <= 3


def test_a_sentinel_in_both_columns_is_not_a_line():
    x, y = np.random.default_rng(0).normal(size=(2, 300))
    x[0] = y[0] = 1e9
    assert "linear" not in quick(x, y).reason
    assert "linear" in quick(x, 3 - 2 * x).reason


def test_columns_that_are_constant_where_they_are_drawn_are_refused():
    y = np.zeros(3000)
    y[7] = 1
    with pytest.raises(InputError, match="y is constant in the 100 rows drawn"):
        quick(np.arange(3000.0), y, max_rows=100)
    with pytest.raises(InputError, match="constant in one half"):
        quick(np.arange(3000.0), y, split=True)


class Lost(LinearRegression):
    """Predicts nothing."""

    def predict(self, X: np.ndarray) -> np.ndarray:
        return np.full(len(X), np.nan)


def test_predictions_that_are_no_numbers_and_values_too_large_are_refused():
    with pytest.raises(InputError, match="predicts what is no number"):
        quick(*cubic(0), regressor=Lost())
    x, y = cubic(0)
    with pytest.raises(InputError, match="y has values beyond 1e\\+150"):
        quick(x, y * 1e300)
