"""The three cases of the first benchmark: a table, a model of it, and what may change, said twice.

The constraints stand here as PLAF text for dueto and as plain functions for the judge, which shares no code with it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dueto import datasets
from dueto.models import Tree

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from dueto.datasets import Dataset

ADULT_TIES = (("EducationNumber", "EducationLevel"),)
HELOC_RISING = ("MSinceOldestTradeOpen", "NumTotalTrades", "NumTrades60Ever2DerogPubRec", "NumTrades90Ever2DerogPubRec")


@dataclass(frozen=True)
class Case:
    """A model over a table.

    `model` is what dueto is given; `score` is the same model over raw rows, apart from dueto; `arrays` are its numbers.
    `plaf` says what may change; `allowed(x)` says it again as alternatives, each a test for some of the columns.
    """

    name: str
    dataset: Dataset
    kind: str
    model: Any
    score: Callable[[np.ndarray], np.ndarray]
    arrays: Mapping[str, np.ndarray]
    plaf: str
    allowed: Callable[[dict[str, float]], list[dict[str, Any]]]
    ties: tuple[tuple[str, ...], ...] = ()


def credit(folder: str | None) -> Case:
    """The paper's credit table and tree."""
    plaf = 'fixed("isMale", "isMarried")\ncf.AgeGroup >= x.AgeGroup'
    return _tree_case("credit", datasets.load_paper_credit(folder=folder), plaf, _credit_allowed)


def adult(folder: str | None) -> Case:
    """The paper's Adult table and tree, one-hot groups as one feature each."""
    plaf = """
        fixed("Sex", "NativeCountry")
        cf.Age >= x.Age
        cf.EducationNumber > x.EducationNumber => cf.Age >= x.Age + 2
        together("EducationNumber", "EducationLevel")
    """
    plaf = "\n".join(line.strip() for line in plaf.strip().splitlines())
    return _tree_case("adult", datasets.load_paper_adult(folder=folder), plaf, _adult_allowed, ADULT_TIES)


def heloc(folder: str | None) -> Case:
    """HELOC with its special values as they are, and a network of two layers of 32."""
    from sklearn.neural_network import MLPClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    data = datasets.load_heloc(folder=folder)
    network = MLPClassifier((32, 32), early_stopping=True, max_iter=300, random_state=0)
    model = make_pipeline(StandardScaler(), network).fit(data.frame, data.target)
    arrays = {"mean": model[0].mean_, "scale": model[0].scale_}
    arrays |= {f"W{k}": W for k, W in enumerate(network.coefs_)}
    arrays |= {f"b{k}": b for k, b in enumerate(network.intercepts_)}

    def score(X: np.ndarray) -> np.ndarray:
        import pandas as pd

        return model.predict_proba(pd.DataFrame(X, columns=data.frame.columns))[:, 1]

    lines = ['fixed("ExternalRiskEstimate")', *(f"cf.{name} >= x.{name}" for name in HELOC_RISING)]
    lines += [f"(cf.{name} >= 0) or (cf.{name} == x.{name})" for name in data.frame]
    return Case("heloc", data, "mlp", model, score, arrays, "\n".join(lines), _heloc_allowed)


CASES = {"credit": credit, "adult": adult, "heloc": heloc}


def _credit_allowed(x: dict[str, float]) -> list[dict[str, Any]]:
    return [{"isMale": _same(x["isMale"]), "isMarried": _same(x["isMarried"]), "AgeGroup": _least(x["AgeGroup"])}]


def _adult_allowed(x: dict[str, float]) -> list[dict[str, Any]]:
    always = {"Sex": _same(x["Sex"]), "NativeCountry": _same(x["NativeCountry"])}
    level = x["EducationNumber"]
    return [
        always | {"EducationNumber": lambda v: v <= level, "Age": _least(x["Age"])},
        always | {"EducationNumber": lambda v: v > level, "Age": _least(x["Age"] + 2)},
    ]


def _heloc_allowed(x: dict[str, float]) -> list[dict[str, Any]]:
    tests = {name: _no_new_code(value, rises=name in HELOC_RISING) for name, value in x.items()}
    return [tests | {"ExternalRiskEstimate": _same(x["ExternalRiskEstimate"])}]


def _same(value: float) -> Any:
    return lambda v: v == value


def _least(value: float) -> Any:
    return lambda v: v >= value


def _no_new_code(value: float, *, rises: bool) -> Any:
    return lambda v: ((v >= 0) | (v == value)) & ((v >= value) | (not rises))


def _tree_case(name: str, data: Dataset, plaf: str, allowed: Any, ties: Any = ()) -> Case:
    assert data.tree is not None
    tree = {key: np.asarray(array) for key, array in data.tree.items()}
    return Case(name, data, "tree", Tree.from_arrays(**tree), tree_score(tree), tree, plaf, allowed, ties)


def tree_score(tree: Mapping[str, np.ndarray]) -> Callable[[np.ndarray], np.ndarray]:
    """A row at a time, a node at a time: left iff float32(x) <= threshold; the share of class 1 at the leaf."""
    left, right, feature, threshold, value = (
        tree[k].tolist() for k in ("left", "right", "feature", "threshold", "value")
    )

    def score(X: np.ndarray) -> np.ndarray:
        found = []
        for row in X.astype(np.float32).tolist():
            node = 0
            while left[node] >= 0:
                node = left[node] if row[feature[node]] <= threshold[node] else right[node]
            found.append(value[node][1] / sum(value[node]))
        return np.array(found)

    return score
