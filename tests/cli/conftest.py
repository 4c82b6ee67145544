"""A folder with a table, models and constraints, and two ways to run a verb: in this process, and as a user would."""

from __future__ import annotations

import inspect
import os
import subprocess
import sys

import joblib
import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from sklearn.tree import DecisionTreeClassifier

from dueto.cli import main


@pytest.fixture(scope="session")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cli")
    rng = np.random.default_rng(0)
    data = pd.DataFrame(
        {"age": rng.integers(18, 70, 80), "income": rng.integers(5, 60, 80), "debt": rng.integers(0, 40, 80)}
    )
    outcome = np.where((data["income"] > 25) & (data["debt"] < 30), "paid", "lost")
    tree = DecisionTreeClassifier(random_state=0).fit(data, outcome)
    joblib.dump(tree, folder / "tree.pkl")
    joblib.dump(Talker(tree), folder / "talker.pkl")
    data.assign(outcome=outcome).to_csv(folder / "data.csv", index=False)
    data.assign(outcome=outcome).to_parquet(folder / "data.parquet")
    (folder / "loan.plaf").write_text('fixed("age")\ncf.debt <= x.debt\n')
    (folder / "stuck.plaf").write_text('fixed("age", "income", "debt")\n')
    (folder / "poorer.plaf").write_text('fixed("age", "debt")\ncf.income <= x.income\n')
    (folder / "refused.txt").write_text(" ".join(map(str, np.flatnonzero(outcome == "lost"))))
    return folder


class Talker:
    """A model that prints and warns when asked."""

    def __init__(self, tree):
        self.tree = tree
        self.classes_ = tree.classes_
        self.feature_names_in_ = tree.feature_names_in_

    def predict_proba(self, table):
        import warnings

        print("predicting")
        warnings.warn("the model is old\n  and tired", UserWarning, stacklevel=1)
        return self.tree.predict_proba(table)


@pytest.fixture
def folder(made, monkeypatch):
    """The folder, as the current one."""
    monkeypatch.chdir(made)
    return made


@pytest.fixture(scope="session")
def row(made):
    """A refused row."""
    return (made / "refused.txt").read_text().split()[0]


@pytest.fixture
def dueto():
    """Run in this process: the exit code, stdout and stderr."""
    separated = {"mix_stderr": False} if "mix_stderr" in inspect.signature(CliRunner).parameters else {}

    def run(*arguments, **options):
        done = CliRunner(**separated).invoke(main, list(map(str, arguments)), **options)
        if done.exception is not None and not isinstance(done.exception, SystemExit):
            raise done.exception
        return done.exit_code, done.stdout, done.stderr

    return run


@pytest.fixture
def shell(folder):
    """Run as a process of its own: the exit code, stdout and stderr."""

    def run(*arguments, **options):
        environment = {**os.environ, "PYTHONIOENCODING": "utf-8", **options.pop("env", {})}
        command = [sys.executable, "-m", "dueto", *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, cwd=folder, env=environment, check=False, **options)
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    return run
