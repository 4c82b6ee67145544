"""What is explained is what the model itself decides: by its own threshold, or not at all."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score, make_scorer
from sklearn.model_selection import FixedThresholdClassifier, GridSearchCV, TunedThresholdClassifierCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from dueto import Explainer, FeatureSpace, InputError
from dueto.models import as_model
from dueto.models.base import DECIDED
from models.tables import GOOD, NUMBERS, THREE

SPACE = FeatureSpace.infer(NUMBERS)
X = SPACE.encode(NUMBERS)
WORDS = np.where(GOOD, "yes", "no")


def fixed(threshold=0.3, **options):
    return FixedThresholdClassifier(
        RandomForestClassifier(9, max_depth=3, random_state=0), threshold=threshold, **options
    )


def tuned(**options):
    return TunedThresholdClassifierCV(RandomForestClassifier(9, max_depth=3, random_state=0), cv=2, **options)


WRAPPED = {
    "fixed": fixed(),
    "fixed, high": fixed(0.8),
    "fixed, auto": fixed("auto"),
    "fixed, of a named class": fixed(pos_label="no"),
    "fixed, by probability": fixed(response_method="predict_proba"),
    "tuned": tuned(),
    "tuned, of a named class": tuned(scoring=make_scorer(f1_score, pos_label="no")),
    "last in a pipeline": make_pipeline(StandardScaler(), fixed()),
    "inside a search": GridSearchCV(fixed(), {"estimator__max_depth": [2]}, cv=2),
    "around a pipeline": FixedThresholdClassifier(make_pipeline(StandardScaler(), LogisticRegression()), threshold=0.2),
}


@pytest.mark.parametrize("desired", ["yes", "no"])
@pytest.mark.parametrize("case", WRAPPED)
def test_a_model_with_a_threshold_of_its_own_is_explained_at_that(case, desired):
    model = as_model(WRAPPED[case].fit(NUMBERS, WORDS), SPACE, desired=desired)
    said = WRAPPED[case].predict(NUMBERS) == desired
    away = np.abs(model.score(X) - model.threshold) > 1e-9
    assert away.sum() > len(X) / 2
    assert 0 < said.sum() < len(X)
    assert np.array_equal(model.good(X)[away], said[away])
    assert model.structure is not None, model.unstructured


def test_a_rule_that_is_proved_of_such_a_model_is_true_of_its_predictions():
    table = NUMBERS[["a", "c", "d"]]
    fitted = fixed(0.7).fit(table, WORDS)
    explainer = Explainer(fitted, table)
    refused = explainer.refused
    assert np.array_equal(refused, np.flatnonzero(fitted.predict(table) == "no"))
    for row in refused[:3].tolist():
        found = explainer.explain(row)
        assert found.rule.verdict.standing == "proved"
        everybody = _all(table)
        covered = found.rule.covers(explainer.space, everybody)
        assert set(fitted.predict(everybody[covered])) == {"no"}


def _all(table):
    """Every combination of values."""
    mesh = np.meshgrid(*(np.arange(table[c].nunique()) for c in table), indexing="ij")
    return pd.DataFrame({c: np.sort(table[c].unique())[m.ravel()] for c, m in zip(table, mesh, strict=True)})


def test_a_threshold_that_is_given_goes_before_the_models_own():
    assert as_model(fixed().fit(NUMBERS, GOOD), SPACE, threshold=0.6).threshold == 0.6
    assert as_model(fixed().fit(NUMBERS, GOOD), SPACE).threshold == 0.3
    assert as_model(fixed().fit(NUMBERS, GOOD), SPACE, desired=False).threshold == 0.7
    assert as_model(LogisticRegression(max_iter=1000).fit(NUMBERS, GOOD), SPACE).threshold == 0.5


@pytest.mark.parametrize(
    "fitted",
    [
        fixed(-0.2, response_method="decision_function").set_params(estimator=LogisticRegression(max_iter=1000)),
        FixedThresholdClassifier(LinearSVC(), threshold=0.4),
    ],
)
def test_a_threshold_of_a_margin_is_refused(fitted):
    fitted.fit(NUMBERS, WORDS)
    with pytest.raises(InputError, match=r"compares its decision_function, .*table: model.predict\(table\) == 'yes'$"):
        as_model(fitted, SPACE)
    function = as_model(lambda table: fitted.predict(table) == "yes", SPACE)
    assert np.array_equal(function.good(X), fitted.predict(NUMBERS) == "yes")


def test_a_margin_with_the_usual_threshold_is_taken():
    fitted = FixedThresholdClassifier(LinearSVC()).fit(NUMBERS, GOOD)
    assert np.array_equal(as_model(fitted, SPACE).good(X), fitted.predict(NUMBERS))


# -- models that decide by something else -----------------------------------------------------------------------------


class Strict(LogisticRegression):
    """Says yes from a probability of .8 on."""

    asked = 0

    def predict(self, X):
        Strict.asked += 1
        return self.classes_[(self.predict_proba(X)[:, 1] > 0.8).astype(int)]


STRICT = Strict(max_iter=1000).fit(NUMBERS, WORDS)


def test_a_model_that_decides_otherwise_than_its_score_is_refused_with_a_row_and_a_remedy():
    explainer = Explainer(STRICT, NUMBERS)
    with pytest.raises(InputError, match="itself decides against 'yes' on row") as caught:
        explainer.explain(0)
    text = str(caught.value)
    row = int(text.partition("on row ")[2].partition(" ")[0])
    score = STRICT.predict_proba(NUMBERS.iloc[[row]])[0, 1]
    assert 0.5 < score <= 0.8
    assert f"whose score {score:.4g} is above the threshold 0.5; give its own threshold (between " in text
    low, high = (float(text.partition(" threshold (between ")[2].split()[k].strip(",")) for k in (0, 2))
    assert low <= 0.8 <= high
    told = Explainer(STRICT, NUMBERS, threshold=0.8)
    assert np.array_equal(told.refused, np.flatnonzero(STRICT.predict(NUMBERS) == "no"))
    with pytest.raises(InputError, match="itself decides for 'no' on row"):
        Explainer(STRICT, NUMBERS, desired="no").refused  # noqa: B018


def test_where_no_threshold_would_do_none_is_asked_for():
    fitted = Foreign(lambda table: table["b"] > 0)
    says = (
        r"; no threshold makes the two agree, so wrap it in a function: lambda table: model.predict\(table\) == True$"
    )
    with pytest.raises(InputError, match=says):
        Explainer(fitted, NUMBERS).refused  # noqa: B018
    assert Explainer(lambda table: fitted.predict(table) == True, NUMBERS).model.threshold == 0.5  # noqa: E712


def test_the_row_is_named_by_its_place_in_the_data_however_long_that_is():
    table = pd.DataFrame({"a": np.repeat([3.0, 1.0, 2.0], 3 * DECIDED)})

    class Odd(DecisionTreeClassifier):
        def predict(self, X):
            return np.where(np.asarray(X)[:, 0] == 2.0, ~super().predict(X), super().predict(X))

    fitted = Odd().fit(table, table["a"] > 1)
    with pytest.raises(InputError, match=rf"on row ({6 * DECIDED}|1[2-7]\d\d\d) \(a=2\)"):
        Explainer(fitted, table).refused  # noqa: B018


def test_it_is_asked_once_about_2000_rows_of_the_data_at_most_which_are_counted_apart():
    fitted = Strict(max_iter=1000).fit(NUMBERS, WORDS)
    fitted.predict_proba = lambda table: np.repeat(np.eye(2)[[0]], len(table), axis=0)
    table = pd.DataFrame({c: np.arange(5000.0) for c in NUMBERS})
    space = FeatureSpace.infer(table)
    model = as_model(fitted, space)
    Strict.asked = 0
    for _ in range(3):
        assert not model.good(space.encode(table)).any()
    assert (Strict.asked, model.rows_checked, model.rows_scored) == (1, DECIDED, 15_000)


def test_scores_at_the_threshold_do_not_count():
    """argmax takes the first class at .5, and some take the second."""
    for k, fitted in enumerate(2 * [DummyClassifier(strategy="prior").fit(NUMBERS, np.arange(len(X)) % 2)]):
        fitted.predict = lambda table, k=k: np.full(len(table), k)
        model = as_model(fitted, SPACE)
        assert not model.good(X).any()
        assert model.rows_checked == len(X)


class Foreign:
    """Another library's classifier, whose `predict` may be anything."""

    classes_ = (False, True)

    def __init__(self, predict):
        self.predict = predict

    def predict_proba(self, table):
        return np.column_stack([table["a"] < 15, table["a"] >= 15]).astype(float)


@pytest.mark.parametrize(
    "predict",
    [
        lambda table: (table["a"] >= 15).map(str).to_numpy()[:, None],  # as CatBoost says it
        lambda table: (table["a"] >= 15).astype(float),
        lambda table: ["good"] * len(table),
        lambda table: table["a"] / 30,
        lambda table: table["nothing"],
    ],
)
def test_what_is_no_decision_of_one_of_the_classes_is_not_held_against_a_model(predict):
    model = as_model(Foreign(predict), SPACE)
    assert np.array_equal(model.good(X), NUMBERS["a"] >= 15)


def test_of_several_classes_the_score_counts_alone():
    fitted = RandomForestClassifier(9, random_state=0).fit(NUMBERS, THREE)
    for desired in (0, 1, 2):
        model = as_model(fitted, SPACE, desired=desired)
        good = model.good(X)
        assert np.array_equal(good, fitted.predict_proba(NUMBERS)[:, desired] > 0.5)
        assert (fitted.predict(NUMBERS)[good] == desired).all()
        assert model.rows_checked == 0


def test_a_model_that_was_held_to_its_word_or_not_yet_can_be_sent_to_another_process():
    fresh = as_model(fixed().fit(NUMBERS, GOOD), SPACE)
    asked = as_model(fixed().fit(NUMBERS, GOOD), SPACE)
    expected = asked.good(X)
    for model in (fresh, asked):
        assert np.array_equal(pickle.loads(pickle.dumps(model)).good(X), expected)
