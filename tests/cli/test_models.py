"""What the command line says of models, and makes of tables whose types they do not take."""

from __future__ import annotations

import json

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import FixedThresholdClassifier
from sklearn.svm import SVC

RNG = np.random.default_rng(5)
M = 120
DATA = pd.DataFrame({"age": RNG.integers(18, 70, M), "income": RNG.integers(5, 60, M)})
GOOD = (DATA["income"] + RNG.integers(0, 20, M) > 35).to_numpy()
TRUST = "--trust-pickle"


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Write a model and its data, as the current folder's model.joblib and data.csv."""
    monkeypatch.chdir(tmp_path)

    def write(fitted, data=DATA, **more):
        joblib.dump(fitted, "model.joblib")
        data.assign(granted=GOOD, **more).to_csv("data.csv", index=False)

    return write


@pytest.mark.parametrize(
    ("classes", "note"),
    [
        (("no", "yes"), "dueto: taking 'yes' as the desired outcome (the other is 'no'); --desired names another\n"),
        ((1, 2), "dueto: taking 2 as the desired outcome (the other is 1); --desired names another\n"),
        ((0, 1), "dueto: taking 1 as the desired outcome (the other is 0); --desired names another\n"),
        ((False, True), "dueto: taking True as the desired outcome (the other is False); --desired names another\n"),
        (("0", "1"), "dueto: taking '1' as the desired outcome (the other is '0'); --desired names another\n"),
    ],
)
@pytest.mark.parametrize("verb", ["explain", "counterfactuals"])
def test_the_class_that_is_taken_for_the_desired_one_is_told_unless_it_was_named(dueto, files, verb, classes, note):
    fitted = RandomForestClassifier(5, random_state=0).fit(DATA, np.array(classes)[GOOD.astype(int)])
    files(fitted)
    row = int(np.flatnonzero(fitted.predict(DATA) == classes[0])[0])
    code, _, err = dueto(verb, "model.joblib", "data.csv", "--row", row, TRUST)
    ignored = "dueto: the model was not fitted on 'granted' of data.csv: ignored\n"
    assert (code, err) == (0, ignored + note)
    code, _, err = dueto(verb, "model.joblib", "data.csv", "--row", row, TRUST, "--desired", str(classes[1]))
    assert (code, err) == (0, ignored)


def test_a_models_own_threshold_is_used_unless_another_is_given(dueto, files):
    fitted = FixedThresholdClassifier(RandomForestClassifier(9, max_depth=3, random_state=0), threshold=0.7)
    files(fitted.fit(DATA, GOOD))
    row = int(np.flatnonzero(~fitted.predict(DATA))[0])
    code, out, _ = dueto("explain", "model.joblib", "data.csv", "--row", row, TRUST, "--json")
    assert (code, json.loads(out)["threshold"]) == (0, 0.7)
    code, out, _ = dueto("explain", "model.joblib", "data.csv", "--row", row, TRUST, "--json", "--threshold", 0.8)
    assert (code, json.loads(out)["threshold"]) == (0, 0.8)


def test_why_an_answer_is_searched_and_not_proved_is_in_it(dueto, files):
    data = DATA.assign(**{c: RNG.normal(size=M) for c in "abcd"})
    fitted = SVC().fit(data, GOOD)
    files(fitted, data)
    row = int(np.flatnonzero(~fitted.predict(data))[0])
    question = ("counterfactuals", "model.joblib", "data.csv", "--row", row, TRUST)
    assert "could not be read: dueto does not know the inside of SVC." in " ".join(dueto(*question)[1].split())
    assert json.loads(dueto(*question, "--json")[1])["black_box"] == "dueto does not know the inside of SVC"


@pytest.mark.parametrize("library", ["lightgbm", "xgboost"])
def test_a_csv_file_does_for_a_model_that_was_fitted_on_categories_and_blanks_in_names(dueto, files, library):
    package = pytest.importorskip(library)
    data = DATA.assign(**{"home region": RNG.choice(["Süd", "Nord", "Île-de-France 🏖"], M)})
    fitted_on = data.astype({"home region": "category"})
    options = {"n_jobs": 1, "n_estimators": 5}
    if library == "lightgbm":
        fitted = package.LGBMClassifier(verbose=-1, min_child_samples=3, **options).fit(fitted_on, GOOD.astype(int))
    else:
        fitted = package.XGBClassifier(enable_categorical=True, **options).fit(fitted_on, GOOD.astype(int))
    files(fitted, data)
    row = int(np.flatnonzero(fitted.predict(fitted_on) == 0)[0])
    code, out, err = dueto("explain", "model.joblib", "data.csv", "--row", row, TRUST, "--json")
    assert (code, err.splitlines()[0]) == (0, "dueto: the model was not fitted on 'granted' of data.csv: ignored")
    found = json.loads(out)
    assert set(found["applicant"]) == set(data)
    assert found["rule"]["verdict"]["standing"] == "proved"
    assert found["score"] == pytest.approx(fitted.predict_proba(fitted_on.iloc[[row]])[0, 1])
