"""LSIR and HSICR as regressors: what they find, what scaling changes, how they choose, and what they refuse."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import check_random_state
from sklearn.utils.estimator_checks import estimator_checks_generator, parametrize_with_checks

import dueto.regression.base
from dueto import HSICR, LSIR
from dueto.dependence import SMI
from dueto.dependence.kernels import gauss, standardised
from dueto.errors import InputError
from dueto.regression.base import minimise
from dueto.regression.basis import Basis
from dueto.regression.objectives import SMIObjective

QUICK_PAPER = LSIR(method="paper", n_centres=30, widths=(0.8, 1.6), penalties=(1e-3,), max_iter=4, random_state=0)
REGRESSORS = {"lsir": LSIR(random_state=0), "hsicr": HSICR(random_state=0), "paper": QUICK_PAPER}

# f and noise with mean 0: skewed, as independence needs
FAMILIES: dict[str, tuple[Any, Any]] = {
    "cubic": (lambda x: x**3, lambda rng, n: rng.exponential(size=n) - 1),
    "sine": (lambda x: np.sin(3 * x), lambda rng, n: 0.5 * (rng.gamma(0.5, size=n) - 0.5)),
    "corner": (lambda x: 2 * np.abs(x), lambda rng, n: 0.5 * (rng.lognormal(size=n) - np.exp(0.5))),
    "step": (lambda x: np.tanh(2 * x), lambda rng, n: 0.5 * (1 - rng.exponential(size=n))),
}


def additive(name: str, seed: int, n: int = 200) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """X, y and f(X)."""
    (f, noise), rng = FAMILIES[name], np.random.default_rng(seed)
    x = rng.uniform(-1, 1, n)
    return x[:, None], f(x) + noise(rng, n), f(x)


@parametrize_with_checks([LSIR(), HSICR()])
def test_scikit_learn_finds_a_regressor(estimator, check):
    check(estimator)


PAPER_CHECKS = {
    "check_estimators_dtypes",
    "check_fit2d_1feature",
    "check_fit_idempotent",
    "check_methods_subset_invariance",
    "check_n_features_in",
    "check_no_attributes_set_in_init",
    "check_regressors_int",
    "check_supervised_y_2d",
}


def test_scikit_learn_finds_a_regressor_in_the_papers_method():
    ran = set()
    for estimator, check in estimator_checks_generator(QUICK_PAPER):
        name = check.func.__name__
        if name in PAPER_CHECKS:
            check(estimator)
            ran.add(name)
    assert ran == PAPER_CHECKS


@pytest.mark.parametrize("name", FAMILIES)
def test_it_finds_f_better_than_the_ridge_regression_it_starts_from(name: str):
    errors = []
    for seed in range(4):
        X, y, f = additive(name, seed)
        fit = LSIR(random_state=0).fit(X, y)
        basis = Basis(standardised(X), fit.centres_, fit.width_)
        ridge = basis.values(basis.ridge(standardised(y[:, None])[:, 0])) * y.std()
        errors.append([np.std(fit.predict(X) - f), np.std(ridge - f)])
    ours, start = np.mean(errors, axis=0)
    assert ours < 0.85 * start


@pytest.mark.parametrize("name", ["lsir", "hsicr"])
def test_two_inputs_that_add_up_are_both_found(name: str):
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (400, 2))
    f = np.sin(3 * X[:, 0]) + X[:, 1] ** 2
    fit = clone(REGRESSORS[name]).fit(X, f + 0.3 * (rng.exponential(size=400) - 1))
    assert fit.centres_.shape[1] == 2
    new = rng.uniform(-0.9, 0.9, (200, 2))
    left = fit.predict(new) - np.sin(3 * new[:, 0]) - new[:, 1] ** 2
    assert np.std(left) < 0.25 * np.std(f)


@pytest.mark.parametrize("name", ["lsir", "paper"])
def test_a_change_of_scale_origin_or_sign_changes_the_fit_with_it(name: str):
    X, y, _ = additive("cubic", 0)
    X, model = np.column_stack([X[:, 0], np.roll(X[:, 0], 1)])[:, : 1 if name == "lsir" else 2], REGRESSORS[name]
    plain = clone(model).fit(X, y).predict(X)

    def after(a: float, b: float, c: float, d: float) -> np.ndarray:
        """From x' = ax + b and y' = cy + d back to y."""
        return (clone(model).fit(a * X + b, c * y + d).predict(a * X + b) - d) / c

    for a, b, c, d in ((1e3, -7, 1, 0), (1, 0, 1e-3, 5), (1, 0, -1, 0), (-2, 1, 1, 0), (1e300, 0, 1e300, 0)):
        np.testing.assert_allclose(after(a, b, c, d), plain, atol=1e-5 * np.std(y))
    np.testing.assert_allclose(after(1e-300, 0, 1e-300, 0), plain, atol=1e-5 * np.std(y))


def test_hsicr_ends_as_low_whatever_the_scale():
    X, y, _ = additive("cubic", 0)
    plain = clone(REGRESSORS["hsicr"]).fit(X, y)
    for a, c in ((1e3, 1.0), (-1.0, -1e-3), (1e300, 1e-300)):
        other = clone(REGRESSORS["hsicr"]).fit(a * X, c * y)
        assert other.learning_curve_[0] == pytest.approx(plain.learning_curve_[0], rel=1e-6)
        assert other.learning_curve_[-1] == pytest.approx(plain.learning_curve_[-1], rel=0.1)
        # its minimum is flat: rounding moves f along it
        assert np.std(other.predict(a * X) / c - plain.predict(X)) < 0.1 * np.std(y)


@pytest.mark.parametrize("name", REGRESSORS)
def test_the_residuals_of_the_data_have_mean_0_and_less_dependence_than_y(name: str):
    X, y, _ = additive("step", 1)
    fit = clone(REGRESSORS[name]).fit(X, y)
    residual = y - fit.predict(X)
    assert residual.mean() == pytest.approx(0, abs=1e-12)
    left, before = (SMI().estimate(X, v[:, None], rng=np.random.default_rng(0)) for v in (residual, y))
    assert left < 0.5 * before


@pytest.mark.parametrize("name", REGRESSORS)
def test_predictions_are_bumps_on_standardised_columns(name: str):
    X, y, _ = additive("sine", 1, n=60)
    fit = clone(REGRESSORS[name]).fit(X, y)
    new = np.linspace(-2, 2, 7)[:, None]
    expected = gauss((new - X.mean()) / X.std(), fit.centres_, fit.width_) @ fit.coef_ + fit.intercept_
    np.testing.assert_allclose(fit.predict(new), expected, rtol=1e-9)
    rows = {round(v, 9) for v in standardised(X)[:, 0]}
    centres = [round(v, 9) for v in fit.centres_[:, 0]]
    assert set(centres) <= rows
    assert len(set(centres)) == len(centres)  # drawn without overlap


@pytest.mark.parametrize("name", REGRESSORS)
def test_the_same_integer_gives_the_same_fit_and_another_one_other_centres(name: str):
    X, y, _ = additive("cubic", 0, n=300)
    first, again, other = (clone(REGRESSORS[name]).set_params(random_state=s).fit(X, y) for s in (3, 3, 4))
    np.testing.assert_array_equal(first.predict(X), again.predict(X))
    assert first.centres_.tolist() != other.centres_.tolist()
    state = np.random.RandomState(3)
    np.testing.assert_array_equal(clone(REGRESSORS[name]).set_params(random_state=state).fit(X, y).coef_, first.coef_)


@pytest.mark.parametrize("name", REGRESSORS)
def test_the_documented_attributes_are_there_with_their_shapes(name: str):
    X, y, _ = additive("cubic", 0, n=60)
    fit = clone(REGRESSORS[name]).set_params(widths=(0.5, 1.0), penalties=(1e-4, 1e-3, 1e-2)).fit(X, y)
    attributes = re.search(r"Attributes\n\s+-+\n(.*?)\n\n", LSIR.__doc__ or "", re.S)
    assert attributes is not None
    documented = re.findall(r"\b([a-z_]+_)(?=[, ])(?=.* : )", attributes[1])
    assert len(documented) == 10
    for attribute in documented:
        assert hasattr(fit, attribute)
    m = len(fit.coef_)
    assert fit.coef_.shape == (m,)
    assert fit.centres_.shape == (m, 1)
    assert m == (30 if name == "paper" else 60)
    assert fit.cv_scores_.shape == (2, 3)
    assert fit.learning_curve_.shape == (fit.n_iter_ + 1,)
    assert fit.n_evaluations_ >= fit.n_iter_
    assert isinstance(fit.converged_, bool)
    best = np.unravel_index(fit.cv_scores_.argmin(), (2, 3))
    assert fit.width_ == (0.5, 1.0)[best[0]]
    assert fit.penalty_ == (1e-4, 1e-3, 1e-2)[best[1]]


def test_width_and_penalty_are_those_with_the_least_dependence_of_held_out_residuals():
    X, y, _ = additive("sine", 2, n=90)
    widths, penalties, folds = (0.3, 1.0, 3.0), (1e-4, 1.0), 3
    fit = LSIR(widths=widths, penalties=penalties, folds=folds, n_centres=40, random_state=5).fit(X, y)
    rows = np.random.default_rng(check_random_state(5).randint(2**31 - 1)).permutation(90)
    Z, t = standardised(X)[rows], standardised(y[:, None])[rows, 0]
    expected = np.zeros((3, 2))
    for k in range(folds):
        rest, held = np.arange(90) % folds != k, np.arange(90) % folds == k
        for i, width in enumerate(widths):
            basis = Basis(Z[rest], Z[:40], width)
            for j, penalty in enumerate(penalties):
                objective, judge = (SMIObjective(Z[s], SMI(), rng=np.random.default_rng(0)) for s in (rest, held))
                beta = minimise(basis, t[rest], objective, penalty, 40).beta
                expected[i, j] += judge(t[held] - gauss(Z[held], Z[:40], width) @ beta)[0] / folds
    np.testing.assert_allclose(fit.cv_scores_, expected, rtol=1e-3)
    assert np.ptp(expected) > 0.01


def test_a_single_width_and_penalty_are_not_judged():
    X, y, _ = additive("cubic", 0, n=60)
    fit = LSIR(widths=(0.7,), penalties=(1e-3,)).fit(X, y)
    assert (fit.width_, fit.penalty_) == (0.7, 1e-3)
    assert fit.cv_scores_.tolist() == [[0]]


def test_of_many_rows_some_choose_and_some_fit(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(dueto.regression.base, "SELECT_ROWS", 60)
    monkeypatch.setattr(dueto.regression.base, "FIT_ROWS", 100)
    sizes: list[int] = []

    class Told(LSIR):
        def _problem(self, Z: np.ndarray, y: np.ndarray, *rest: Any) -> Any:
            sizes.append(len(y))
            return super()._problem(Z, y, *rest)

    for n, expected in ((150, [30, 30, 30, 30, 100]), (80, [30, 30, 30, 30, 80]), (50, [25, 25, 25, 25, 50])):
        X, y, _ = additive("cubic", 0, n=n)
        sizes.clear()
        fit = Told(random_state=0, n_centres=120).fit(X, y)
        assert sizes == expected
        assert len(fit.centres_) == min(n, 100)
        assert np.mean(y - fit.predict(X)) == pytest.approx(0, abs=1e-12)  # over all rows


@pytest.mark.parametrize("name", ["sine", "corner", "step"])
def test_the_papers_method_lowers_its_objective_with_every_step(name: str):
    for seed in range(2):
        X, y, f = additive(name, seed, n=150)
        fit = LSIR(method="paper", widths=(1.0,), penalties=(1e-3,), max_iter=5, random_state=0).fit(X, y)
        assert fit.learning_curve_.shape == (fit.n_iter_ + 1,)
        assert (np.diff(fit.learning_curve_) < 0).all()  # the first five steps are for one σ and λ
        assert fit.converged_ == (fit.n_iter_ < 5)
        assert np.std(fit.predict(X) - f) < 0.3 * np.std(f)


@pytest.mark.parametrize("name", REGRESSORS)
def test_constant_and_repeated_values_are_fitted_without_a_fuss(name: str):
    X, y, _ = additive("cubic", 0, n=40)
    np.testing.assert_allclose(clone(REGRESSORS[name]).fit(X, np.full(40, 0.1)).predict(X), 0.1)
    np.testing.assert_allclose(clone(REGRESSORS[name]).fit(np.full((40, 1), 0.1), y).predict([[0.1]]), y.mean())
    codes = np.arange(40)[:, None] % 2
    found = clone(REGRESSORS[name]).fit(codes, 3.0 * codes[:, 0] + np.arange(40) % 4 // 2).predict([[0], [1]])
    assert found[1] - found[0] == pytest.approx(3, abs=0.2)


def test_frames_pipelines_and_cross_validation_are_as_usual():
    X, y, f = additive("sine", 0)
    table = pd.DataFrame(X, columns=["age"])
    fit = LSIR(random_state=0).fit(table, y)
    assert fit.feature_names_in_.tolist() == ["age"]
    np.testing.assert_array_equal(fit.predict(table), LSIR(random_state=0).fit(X, y).predict(X))
    scaled = make_pipeline(StandardScaler(), LSIR(random_state=0)).fit(X, y).predict(X)
    np.testing.assert_allclose(scaled, fit.predict(table), atol=1e-5)
    assert np.std(cross_val_predict(LSIR(random_state=0), X, y, cv=2) - f) < 0.5 * np.std(f)


BAD: dict[str, tuple[dict[str, Any], type[Exception], str]] = {
    "no centres": ({"n_centres": 0}, InputError, "n_centres must be at least 1, got 0"),
    "half a centre": ({"n_centres": 1.5}, TypeError, "n_centres must be a whole number, got 1.5"),
    "true centres": ({"n_centres": True}, TypeError, "n_centres must be a whole number"),
    "no widths": ({"widths": ()}, InputError, r"widths must be one or more positive numbers in a tuple, got \(\)"),
    "a width": ({"widths": 1.0}, InputError, "widths must be"),
    "width 0": ({"widths": (0.0,)}, InputError, "widths must be"),
    "text widths": ({"widths": ("a",)}, InputError, "widths must be"),
    "negative penalty": ({"penalties": (-1.0,)}, InputError, "penalties must be"),
    "NaN penalty": ({"penalties": (np.nan,)}, InputError, "penalties must be"),
    "one fold": ({"folds": 1}, InputError, "folds must be at least 2, got 1"),
    "no steps": ({"max_iter": 0}, InputError, "max_iter must be at least 1"),
    "steps as text": ({"max_iter": "9"}, TypeError, "max_iter must be a whole number"),
}


@pytest.mark.parametrize("kind", [LSIR, HSICR])
@pytest.mark.parametrize(("given", "error", "said"), BAD.values(), ids=BAD)
def test_bad_options_are_refused_when_it_is_fitted(kind, given: dict[str, Any], error: type[Exception], said: str):
    X, y, _ = additive("cubic", 0, n=20)
    model = kind(**given)
    with pytest.raises(error, match=said):
        model.fit(X, y)


def test_an_unknown_method_is_refused():
    X, y, _ = additive("cubic", 0, n=20)
    with pytest.raises(InputError, match="one of 'multi-scale', 'paper', got 'fast'"):
        LSIR(method="fast").fit(X, y)


def test_more_folds_than_the_rows_allow_are_as_many_as_they_allow():
    x = np.random.default_rng(0).normal(size=(30, 1))
    fits = [LSIR(folds=folds, random_state=0).fit(x, x[:, 0] ** 2) for folds in (15, 101)]
    assert fits[0].cv_scores_.any()
    np.testing.assert_array_equal(*(fit.cv_scores_ for fit in fits))


def test_a_fold_far_from_every_centre_is_fitted_by_its_mean():
    x = np.random.default_rng(0).normal(size=(6, 1)) * 100
    for regressor in (LSIR, HSICR):
        found = regressor(n_centres=1, widths=(0.001, 0.002), random_state=0).fit(x, x[:, 0])
        assert np.isfinite(found.predict(x)).all()
