"""A table, a tree and an explainer: some rows are equal, and names are of every script."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

import dueto

WORDS = ['cl"erk', "נהג", "<b>cook</b>", "🦊 smith"]


def frame(m: int = 45, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    found = pd.DataFrame(
        {
            "age": rng.integers(18, 40, m),
            "in come": rng.integers(5, 20, m),
            "job's": rng.choice(WORDS, m),
            "sex": rng.choice(["f", "m"], m, p=[0.2, 0.8]),
        }
    )
    return pd.concat([found, found.iloc[: m // 9]], ignore_index=True)


@pytest.fixture(scope="session")
def table():
    return frame()


@pytest.fixture(scope="session")
def model(table):
    good = (table["in come"] > 10) & (table["age"] > 25) | (table["job's"] == WORDS[1]) & (table["in come"] > 7)
    words = make_column_transformer((OneHotEncoder(sparse_output=False), ["job's", "sex"]), remainder="passthrough")
    return make_pipeline(words, DecisionTreeClassifier(random_state=0)).fit(table, good)


@pytest.fixture(scope="session")
def explainer(model, table):
    return dueto.Explainer(model, table)


@pytest.fixture(scope="session")
def bound(model, table):
    """The same under constraints that compare with the row at hand."""
    allowed = ['fixed("sex")', "cf.age >= x.age", 'cf["in come"] > 8 => cf.age >= x.age + 1']
    return dueto.Explainer(model, table, constraints=allowed)


@pytest.fixture(scope="session")
def whole_run(explainer, tmp_path_factory):
    """An unbroken run over all refused rows."""
    folder = tmp_path_factory.mktemp("batch") / "out"
    return dueto.batch(explainer, out=folder, by=["sex", "age"]), folder
