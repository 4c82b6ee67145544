"""Certificates as they are kept: files, tables of all kinds, models known again, and what is not loaded."""

from __future__ import annotations

import copy
import json
import pickle
import subprocess
import sys

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from certificates.made import small
from dueto import Explainer, FeatureSpace, InputError, as_model, verify
from dueto.certificates.fingerprint import fingerprint, known_again


def test_a_certificate_survives_a_file_and_a_pickle(tmp_path):
    frame = pd.DataFrame(
        {
            "age": [25, 40, 61, 33, 52, 29],
            "income": [1200.5, None, 3000.0, 1800.0, 900.25, 2500.0],
            "job": ["clerk", "smith", "clerk", "nurse", "smith", "nurse"],
            "own": [True, False, True, True, False, False],
            "school": pd.Categorical(["b", "a", "c", "a", "b", "c"], categories=["a", "b", "c"], ordered=True),
        }
    )

    def model(table):
        return ((table["income"].fillna(0) > 1500) & (table["school"] != "a") | (table["age"] > 60)).astype(float)

    constraints = 'cf.age >= x.age\nnot cf.income.missing() => cf.job != "smith"\ntogether("own", "school")'
    explainer = Explainer(model, frame, constraints=constraints)
    for row in explainer.refused:
        found = explainer.explain(int(row))
        path = tmp_path / f"{row}.json"
        path.write_text(found.rule.certificate.to_json(indent=2), encoding="utf-8")
        verification = verify(path, model, data=frame)
        assert verification.verified, verification
        assert json.loads(verification.to_json())["status"] == "verified"
        again = pickle.loads(pickle.dumps(found.rule.certificate))
        assert again == found.rule.certificate == json.loads(path.read_text(encoding="utf-8"))
        assert verify(found.rule.certificate, explainer.model).verified


@pytest.mark.parametrize("flavour", ["numpy", "polars"])
def test_a_certificate_of_other_tables_than_pandas_verifies(flavour):
    polars = pytest.importorskip("polars")
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"a": rng.integers(0, 4, 80), "b": rng.integers(0, 3, 80), "c": rng.integers(0, 5, 80)})
    tree = DecisionTreeClassifier(random_state=0).fit(frame.to_numpy(), frame["a"] + frame["b"] * 2 > frame["c"])
    data = frame.to_numpy() if flavour == "numpy" else polars.from_pandas(frame)

    def model(table):
        return tree.predict_proba(np.asarray(table))[:, 1]

    explainer = Explainer(model, data)
    rule = explainer.explain(int(explainer.refused[0])).rule
    assert verify(json.loads(rule.certificate.to_json()), model, data=data).verified
    with pytest.raises(InputError, match="another feature space"):
        verify(rule.certificate, as_model(model, FeatureSpace.infer(data[:3])))


def test_a_model_behind_another_scaler_is_another_model():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.integers(0, 5, (50, 2)), columns=["a", "b"])
    y = frame["a"] > frame["b"]
    one = make_pipeline(StandardScaler(), LogisticRegression()).fit(frame, y)
    other = copy.deepcopy(one)
    other[0].mean_ = other[0].mean_ + 1e-12
    space = FeatureSpace.infer(frame)
    told_of_one = fingerprint(as_model(one, space))
    assert told_of_one["of"] == "structure"
    assert known_again(json.loads(json.dumps(told_of_one)), as_model(copy.deepcopy(one), space))
    assert not known_again(told_of_one, as_model(other, space))
    assert not known_again(told_of_one, as_model(one, space, threshold=0.6))
    assert not known_again(told_of_one, as_model(one, space, desired=False))
    assert not known_again(told_of_one, as_model(lambda table: one.predict_proba(table)[:, 1], space))


def test_a_black_box_is_known_again_but_for_rounding():
    space = FeatureSpace.infer(pd.DataFrame({"a": [0, 1, 2, 3]}))
    one = fingerprint(as_model(lambda table: table["a"] / 4, space))
    assert known_again(one, as_model(lambda table: table["a"] / 4 + 1e-9, space))
    assert not known_again(one, as_model(lambda table: (table["a"] / 4) ** 1.01, space))


def test_verification_uses_none_of_the_code_that_proves(tmp_path):
    certificate, model = small()
    (tmp_path / "rule.json").write_text(json.dumps(certificate))
    joblib.dump(model, tmp_path / "model.joblib")
    code = (
        "import sys, joblib; from pathlib import Path; from dueto import verify\n"
        "assert verify(Path('rule.json'), joblib.load('model.joblib')).verified\n"
        "used = [m for m in sys.modules if m.startswith(('dueto.counterfactuals', 'dueto.rules'))]\n"
        "assert not used, used"
    )
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True)
