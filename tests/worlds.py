"""Small random worlds, where everything can be enumerated: a table, a model, an applicant and constraints.

The enumeration here is plain Python over `itertools.product`, so that it shares nothing with what it judges.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from sklearn.tree import DecisionTreeClassifier

from dueto.counterfactuals import Query, build_query
from dueto.models import Model, as_model
from dueto.plaf import Expr, cf, fixed, together, x
from dueto.space import FeatureSpace

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass
class World:
    """A space, a model over it, the data, and an undesired applicant with constraints on what may change."""

    space: FeatureSpace
    model: Model
    X: NDArray[np.float64]
    x: NDArray[np.float64]
    constraints: tuple[Expr, ...]

    @property
    def query(self) -> Query:
        good = self.X[self.model.good(self.X)]
        return build_query(self.model, self.space, self.x, constraints=self.constraints, X=self.X, donors=good)

    def instances(self) -> NDArray[np.float64]:
        """All of Inst, x's own values included."""
        choices = []
        for j, feature in enumerate(self.space.features):
            values = [*feature.domain.values.tolist()]
            values += [math.nan] if feature.domain.missing else []
            values += [] if any(same(v, self.x[j]) for v in values) else [self.x[j]]
            choices.append(values)
        return np.array(list(itertools.product(*choices)))

    def feasible(self, y: NDArray[np.float64]) -> bool:
        """The constraints of `random_constraints`, written out by hand."""
        names = self.space.names
        value = dict(zip(names, y.tolist(), strict=True))
        own = dict(zip(names, self.x.tolist(), strict=True))
        return all(holds(constraint, value, own, self) for constraint in self.constraints)

    def counterfactuals(self) -> NDArray[np.float64]:
        """Every feasible instance with the desired outcome."""
        everything = self.instances()
        good = everything[self.model.good(everything)]
        return np.array([y for y in good if self.feasible(y)]).reshape(-1, len(self.x))


def same(a: float, b: float) -> bool:
    return a == b or (math.isnan(a) and math.isnan(b))


def holds(constraint: Expr, value: dict[str, float], own: dict[str, float], world: World) -> bool:
    """A second reading of the few forms of constraint used here, by their text."""
    text = str(constraint)
    if text.startswith("fixed"):
        (name,) = constraint.names  # type: ignore[attr-defined]
        return same(value[name], own[name])
    if text.startswith("together"):
        a, b = constraint.names  # type: ignore[attr-defined]
        if same(value[a], own[a]) and same(value[b], own[b]):
            return True
        i, j = world.space.index(a), world.space.index(b)
        return any(same(row[i], value[a]) and same(row[j], value[b]) for row in world.X)
    if "=>" in text:  # cf.f0 > x.f0 => cf.f1 >= x.f1 + 1
        return not value["f0"] > own["f0"] or value["f1"] >= own["f1"] + 1
    if text == "cf.f0 >= x.f0":
        return value["f0"] >= own["f0"] or (math.isnan(value["f0"]) and math.isnan(own["f0"]))
    if text == "cf.f0 + cf.f1 <= 4":
        return value["f0"] + value["f1"] <= 4
    if text == "cf.f1 != 1":
        return value["f1"] != 1
    raise AssertionError(text)


def random_constraints(rng: np.random.Generator, n: int) -> tuple[Expr, ...]:
    a, b = rng.choice(n, 2, replace=False)
    pool: list[Expr] = [
        fixed(f"f{rng.integers(n)}"),
        together(f"f{a}", f"f{b}"),
        (cf.f0 > x.f0).implies(cf.f1 >= x.f1 + 1),
        cf.f0 >= x.f0,
        cf.f0 + cf.f1 <= 4,
        cf.f1 != 1,
    ]
    return tuple(pool[i] for i in rng.permutation(len(pool))[: rng.integers(0, 4)])


def world(seed: int, *, tree: bool) -> World | None:
    """A random world; None where the model gives everybody the desired outcome.

    The first two features are numbers 0 to 3; others are numbers with missing values, and a one-hot group. The model is
    an unpruned tree, or a random score for each instance, ties at 0.5 among them.
    """
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(2, 4)), int(rng.integers(3, 30))
    frame = pd.DataFrame({f"f{j}": rng.integers(0, 4, m).astype(float) for j in range(n)})
    if n > 2:
        frame.loc[rng.random(m) < 0.3, "f2"] = np.nan
    which = rng.integers(0, 3, m)
    for k in range(3):
        frame[f"g_{k}"] = (which == k).astype(float)
    space = FeatureSpace.infer(frame, onehot={"f9": ["g_0", "g_1", "g_2"]})
    X = space.encode(frame)
    if tree:
        y = rng.integers(0, 2, m)
        y[:2] = 0, 1
        fitted = DecisionTreeClassifier(max_depth=int(rng.integers(1, 6)), random_state=seed).fit(frame, y)
        model = as_model(fitted, space)
    else:
        table = rng.choice([0.0, 0.3, 0.5, 0.50001, 1.0], size=997, p=[0.4, 0.2, 0.2, 0.1, 0.1])

        def predict(frame: Any) -> NDArray[np.float64]:
            digits = np.nan_to_num(np.asarray(frame, dtype=float), nan=7.0) @ (3.0 ** np.arange(frame.shape[1]))
            scores: NDArray[np.float64] = table[digits.astype(int) % 997]
            return scores

        model = as_model(predict, space)
    bad = X[~model.good(X)]
    if not len(bad):
        return None
    constraints = random_constraints(rng, n) if rng.random() < 0.8 else ()
    return World(space, model, X, bad[rng.integers(len(bad))], constraints)
