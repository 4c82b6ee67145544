"""The judge itself, on small random trees: against an enumeration of every row, and against planted faults.

python -m bench.quality.self_test
"""

from __future__ import annotations

from itertools import product
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
from bench.quality.cases import Case, tree_score
from bench.quality.judge import Judge
from sklearn.tree import DecisionTreeClassifier

COLUMNS = ["a", "b", "w_cat_0", "w_cat_1", "w_cat_2", "c"]


def small(rng: np.random.Generator) -> tuple[Judge, Any]:
    """A case of 200 rows with a one-hot group, tied features, thirds (which float32 rounds), and its tree."""
    work = np.eye(3)[rng.integers(3, size=200)]
    ends = rng.integers(6, size=200) / 3, rng.integers(5, size=200) * 1.1
    frame = pd.DataFrame(np.column_stack([*ends, work, rng.integers(4, size=200)]), columns=COLUMNS)
    model = DecisionTreeClassifier(max_depth=7).fit(frame, rng.random(200) < 0.4)
    inner = model.tree_
    tree = {"left": inner.children_left, "right": inner.children_right, "value": inner.value[:, 0, :]}
    tree |= {"feature": inner.feature, "threshold": inner.threshold}
    data: Any = SimpleNamespace(frame=frame)
    return Judge(Case("small", data, "tree", None, tree_score(tree), tree, "", allowed, (("b", "c"),))), model


def allowed(x: dict[str, float]) -> list[dict[str, Any]]:
    """b may not fall, and rises by 1.1 at least if a rises."""
    return [
        {"a": lambda v: v <= x["a"], "b": lambda v: v >= x["b"]},
        {"a": lambda v: v > x["a"], "b": lambda v: v >= x["b"] + 1.1},
    ]


def everything(judge: Judge, x: np.ndarray, *, constrained: bool) -> np.ndarray:
    """Every possible row, listed."""
    a, b, c = (np.unique(judge.D[:, j]) for j in (0, 1, 5))
    rows = np.array([[i, j, *unit, k] for i, j, unit, k in product(a, b, np.eye(3), c)])
    if not constrained:
        return rows
    known = {(row[1], row[5]) for row in judge.D}
    tied = np.array([(row[1], row[5]) in known for row in rows])
    return rows[tied & (rows[:, 1] >= x[1] + np.where(rows[:, 0] > x[0], 1.1, 0))]


def some_terms(x: np.ndarray, rng: np.random.Generator) -> list[dict[str, Any]]:
    ends = ((1, 0), (0, 1), (1, 1))
    picks = [(int(j), *ends[rng.integers(3)]) for j in rng.permutation(6)[: rng.integers(1, 6)]]
    return [{"feature": j, "low": x[j] if low else None, "high": x[j] if high else None} for j, low, high in picks]


def same_as_listing(judge: Judge, model: Any, x: np.ndarray, rng: np.random.Generator, *, constrained: bool) -> None:
    """The walk finds an exception iff there is one; a counterfactual is judged as a listing would judge it."""
    rows = everything(judge, x, constrained=constrained)
    good = model.predict_proba(pd.DataFrame(rows, columns=COLUMNS))[:, 1] > 0.5
    terms = some_terms(x, rng)
    met = np.ones(len(rows), dtype=bool)
    for term in terms:
        value = rows[:, term["feature"]]
        met &= (term["low"] is None) | (value >= (term["low"] or 0.0))
        met &= (term["high"] is None) | (value <= (term["high"] or 0.0))
    found = judge.exception(x, terms, constrained=constrained)
    assert (found is not None) == (met & good).any()
    assert found is None or (rows[met & good] == found).all(axis=1).any()
    y = rows[rng.integers(len(rows))].copy()
    y[0] = rng.choice([y[0], 7.0])  # sometimes a value that does not occur
    groups = {"a": [0], "b": [1], "w": [2, 3, 4], "c": [5]}
    changes = [SimpleNamespace(feature=f, after=_label(y, c)) for f, c in groups.items() if (y[c] != x[c]).any()]
    said = judge.counterfactual(x, changes, constrained=constrained)
    accepted = {tuple(row) for row in rows[good]}
    assert said["feasible"] == (rows == y).all(axis=1).any()
    assert said["valid"] == (model.predict_proba(pd.DataFrame(y[None], columns=COLUMNS))[0, 1] > 0.5)
    undoings = [np.isin(np.arange(6), c) for c in [*groups.values(), *([[1, 5]] if constrained else [])]]
    backs = [np.where(back, x, y) for back in undoings if (y[back] != x[back]).any()]
    assert said["irredundant"] == (not any(tuple(back) in accepted for back in backs))


def _label(y: np.ndarray, columns: list[int]) -> Any:
    return float(y[columns[0]]) if len(columns) == 1 else str(int(y[columns].argmax()))


if __name__ == "__main__":
    rng = np.random.default_rng(0)
    for _ in range(40):
        judge, model = small(rng)
        for x in judge.D[rng.choice(np.flatnonzero(~judge.good), 30)]:
            for constrained in (False, True):
                same_as_listing(judge, model, x, rng, constrained=constrained)
    print("self-test passed")
