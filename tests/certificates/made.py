"""What the tests of certificates share: worlds whose models are fitted, and certificates of any rule at all."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume
from hypothesis import strategies as st
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import GradientBoostingClassifier, HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from dueto import Explainer, FeatureSpace, Rule, as_model, cf, fixed, together, x
from dueto.certificates.written import deferred
from dueto.counterfactuals import Exhaustive
from dueto.rule import Components, Standing, Verdict
from dueto.rules import Oracle
from dueto.testing import World

seeds = st.integers(0, 2**32 - 1)


def told(verification, claim):
    """The check of the claim that begins so."""
    return next(check for check in verification.checks if check.claim.startswith(claim))


def said(verification):
    """The text in one line."""
    return " ".join(str(verification).split())


def by_hand(w: World, rule: Rule):
    """A certificate that says of any rule that it is consistent, and no more."""
    rule = replace(rule, verdict=Verdict(Standing.PROVED, "nobody", 0))
    oracle = Oracle(w.query, Exhaustive(), np.random.default_rng(0))
    made = deferred(oracle, rule, constraints=w.constraints, data_fingerprint=lambda: None).to_dict()
    made["claims"] = {"consistent": {"by": "nobody"}}
    return json.loads(json.dumps(made, allow_nan=False))


def any_rule(w: World, seed: int) -> Rule:
    components, rng = Components(w.space, w.x), np.random.default_rng(seed)
    return components.rule(components.all & int(rng.integers(0, 1 << (2 * len(w.space)))))


def _lightgbm(**options):
    return pytest.importorskip("lightgbm").LGBMClassifier(verbose=-1, n_jobs=1, **options)


def _xgboost(**options):
    return pytest.importorskip("xgboost").XGBClassifier(n_jobs=1, **options)


MODELS = {
    "tree": lambda k: DecisionTreeClassifier(random_state=k),
    "forest": lambda k: RandomForestClassifier(4, random_state=k),
    "shallow forest": lambda k: RandomForestClassifier(5, max_depth=2, random_state=k),
    "boosting": lambda k: GradientBoostingClassifier(n_estimators=6, random_state=k),
    "histograms": lambda k: HistGradientBoostingClassifier(max_iter=6, min_samples_leaf=2, random_state=k),
    "lightgbm": lambda k: _lightgbm(n_estimators=5, min_child_samples=2, zero_as_missing=k % 2 == 0, random_state=k),
    "xgboost": lambda k: _xgboost(n_estimators=5, max_depth=3, random_state=k),
    "logistic": lambda k: make_pipeline(StandardScaler(), LogisticRegression(C=0.1 + k % 7)),
    "network": lambda k: make_pipeline(StandardScaler(), MLPClassifier((4, 3), max_iter=30, random_state=k)),
}
POOL = [
    fixed("f0"),
    together("f0", "f1"),
    (cf.f0 > x.f0).implies(cf.f1 >= x.f1 + 1),
    cf.f0 >= x.f0,
    cf.f0 + cf.f1 <= 4,
    cf.f1 != 1,
]


def learned(kind: str, seed: int) -> World:
    """A world whose model is fitted: four numbers, one missing at times if the model allows, and a one-hot group."""
    rng = np.random.default_rng(seed)
    m = 60
    frame = pd.DataFrame({f"f{j}": rng.integers(0, 4, m).astype(float) for j in range(4)})
    if kind in ("tree", "forest", "shallow forest", "histograms", "lightgbm", "xgboost"):
        frame.loc[rng.random(m) < 0.2, "f2"] = np.nan
    hot = rng.integers(0, 3, m)
    for k in range(3):
        frame[f"g_{k}"] = (hot == k).astype(float)
    y = frame["f0"] + frame["f1"] - frame["f3"] + frame["f2"].fillna(2) * (hot - 1) + rng.normal(0, 1, m) > 3
    assume(y.any() and not y.all())
    space = FeatureSpace.infer(frame, onehot={"f9": ["g_0", "g_1", "g_2"]})
    model = as_model(MODELS[kind](seed % 1000).fit(frame, y), space)
    X = space.encode(frame)
    bad = X[~model.good(X)]
    assume(len(bad))
    constraints = tuple(POOL[i] for i in rng.permutation(len(POOL))[: rng.integers(0, 3)])
    return World(space, model, X, bad[rng.integers(len(bad))], constraints)


class Table:
    """A black box."""

    def __init__(self, model):
        self.model = model

    def __call__(self, frame):
        return self.model.predict_proba(frame)[:, 1]


def small():
    """The certificate of a rule of several conditions, and its model: numbers, categories, a group, a constraint."""
    rng = np.random.default_rng(5)
    frame = pd.DataFrame({"a": rng.integers(0, 4, 60), "b": rng.random(60).round(1)})
    frame["job"] = rng.choice(["clerk", "smith"], 60)
    model = make_pipeline(
        ColumnTransformer([("job", OneHotEncoder(), ["job"])], remainder="passthrough"),
        DecisionTreeClassifier(max_depth=4, random_state=0),
    ).fit(frame, frame["a"] + (frame["job"] == "clerk") + frame["b"] > 2)
    explainer = Explainer(model, frame, constraints='together("a", "job")\ncf.b >= x.b')
    rules = [explainer.explain(int(row), k=1).rule for row in explainer.refused[:8]]
    return max(
        (json.loads(r.certificate.to_json()) for r in rules), key=lambda made: len(made["rule"]["components"])
    ), model
