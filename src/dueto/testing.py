"""Checks for a method of your own: every promise, against the enumeration of small random worlds.

>>> from dueto.counterfactuals import GeCo
>>> from dueto.testing import check_method, worlds
>>> check_method(GeCo(), worlds(range(10)))

The enumeration and the second reading of the constraints are plain Python over `itertools.product`, so that they share
nothing with what they judge.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from dueto.counterfactuals import Query, Status, build_query
from dueto.models import as_model
from dueto.plaf import Expr, Fixed, Together, cf, fixed, together, x
from dueto.rule import Components, Rule, Standing
from dueto.rules import Oracle
from dueto.space import FeatureSpace

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from dueto.counterfactuals import Method
    from dueto.models import Model
    from dueto.rules import Finder

__all__ = ["KINDS", "World", "check_finder", "check_method", "world", "worlds"]

SCORES, CHANCES = (0.0, 0.3, 0.5, 0.50001, 1.0), (0.4, 0.2, 0.2, 0.1, 0.1)


@dataclass(frozen=True, eq=False)
class World:
    """A space of at most a few hundred instances, a model over it, data, an undesired row x, and constraints."""

    space: FeatureSpace
    model: Model
    X: NDArray[np.float64]
    x: NDArray[np.float64]
    constraints: tuple[Expr, ...]

    @cached_property
    def query(self) -> Query:
        """The question that this world asks."""
        good = self.X[self.model.good(self.X)]
        return build_query(self.model, self.space, self.x, constraints=self.constraints, X=self.X, donors=good)

    @cached_property
    def instances(self) -> NDArray[np.float64]:
        """All of Inst, x's own values included."""
        choices = []
        for j, feature in enumerate(self.space.features):
            values = [*feature.domain.values.tolist(), *([math.nan] if feature.domain.missing else [])]
            choices.append(values if any(_same(v, self.x[j]) for v in values) else [*values, self.x[j]])
        return np.array(list(itertools.product(*choices)))

    @cached_property
    def counterfactuals(self) -> NDArray[np.float64]:
        """Every feasible instance with the desired outcome."""
        good = self.instances[self.model.good(self.instances)]
        return np.array([y for y in good if self.feasible(y)]).reshape(-1, len(self.x))

    def feasible(self, y: NDArray[np.float64]) -> bool:
        """Whether an instance meets the constraints, read a second time."""
        value, own = (dict(zip(self.space.names, row.tolist(), strict=True)) for row in (y, self.x))
        return all(self._holds(constraint, value, own) for constraint in self.constraints)

    def has(self, y: NDArray[np.float64]) -> bool:
        """Whether an instance is one of the counterfactuals."""
        return any(all(map(_same, y, t)) for t in self.counterfactuals.tolist())

    def _holds(self, constraint: Expr, value: dict[str, float], own: dict[str, float]) -> bool:
        if isinstance(constraint, Fixed):
            return all(_same(value[name], own[name]) for name in constraint.names)
        if isinstance(constraint, Together):
            places = [self.space.index(name) for name in constraint.names]
            rows = [dict(zip(constraint.names, row, strict=True)) for row in self.X[:, places].tolist()]
            return any(all(_same(row[n], value[n]) for n in constraint.names) for row in (own, *rows))
        return bool(SECOND_READING[str(constraint)](value, own))


SECOND_READING: dict[str, Any] = {
    "cf.f0 > x.f0 => cf.f1 >= x.f1 + 1": lambda cf, x: not cf["f0"] > x["f0"] or cf["f1"] >= x["f1"] + 1,
    "cf.f0 >= x.f0": lambda cf, x: cf["f0"] >= x["f0"],
    "cf.f0 + cf.f1 <= 4": lambda cf, x: cf["f0"] + cf["f1"] <= 4,  # noqa: ARG005
    "cf.f1 != 1": lambda cf, x: cf["f1"] != 1,  # noqa: ARG005
}


def _random_constraints(rng: np.random.Generator, n: int) -> tuple[Expr, ...]:
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


def world(seed: int, *, kind: str = "scores") -> World | None:
    """A random world; None where everybody in the data gets the desired outcome.

    Two or three features are numbers from 0 to 3, the third with missing values, and the last is a one-hot group of
    three columns. The model is of one of the `KINDS`: a random score for each instance, with ties at 0.5 among them, or
    a small fitted model.
    """
    import pandas as pd

    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(2, 4)), int(rng.integers(3, 30))
    frame = pd.DataFrame({f"f{j}": rng.integers(0, 4, m).astype(float) for j in range(n)})
    if n > 2:
        frame.loc[rng.random(m) < 0.3, "f2"] = np.nan
    hot = rng.integers(0, 3, m)
    for k in range(3):
        frame[f"g_{k}"] = (hot == k).astype(float)
    space = FeatureSpace.infer(frame, onehot={"f9": ["g_0", "g_1", "g_2"]})
    model = as_model(KINDS[kind](frame, rng), space)
    X = space.encode(frame)
    bad = X[~model.good(X)]
    if not len(bad):
        return None
    constraints = _random_constraints(rng, n) if rng.random() < 0.8 else ()
    return World(space, model, X, bad[rng.integers(len(bad))], constraints)


@dataclass(frozen=True)
class _Scattered:
    """A black box: a score for each instance that tells nothing of its neighbours'."""

    table: NDArray[np.float64]

    def __call__(self, frame: Any) -> NDArray[np.float64]:
        digits = np.nan_to_num(np.asarray(frame, dtype=float), nan=7.0) @ (3.0 ** np.arange(frame.shape[1]))
        return np.asarray(self.table[digits.astype(int) % len(self.table)])


def worlds(seeds: Iterable[int], *, kind: str = "scores") -> Iterator[World]:
    """The random worlds of some seeds."""
    return (found for seed in seeds if (found := world(seed, kind=kind)) is not None)


def _scores(frame: Any, rng: np.random.Generator) -> Any:  # noqa: ARG001
    return _Scattered(rng.choice(SCORES, size=997, p=CHANCES))


def _tree(frame: Any, rng: np.random.Generator) -> Any:
    from sklearn.tree import DecisionTreeClassifier

    y = _outcomes(frame, rng)
    return DecisionTreeClassifier(max_depth=int(rng.integers(1, 6)), random_state=int(rng.integers(2**31))).fit(
        frame, y
    )


def _forest(frame: Any, rng: np.random.Generator) -> Any:
    """Few trees, many of them pure: sums that are exactly half."""
    from sklearn.ensemble import RandomForestClassifier

    sizes = {"n_estimators": int(rng.integers(1, 7)), "max_depth": int(rng.integers(1, 6))}
    leaf = int(rng.integers(1, 4))
    forest = RandomForestClassifier(**sizes, min_samples_leaf=leaf, random_state=int(rng.integers(2**31)))
    return forest.fit(frame, _outcomes(frame, rng))


def _boosting(frame: Any, rng: np.random.Generator) -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier

    sizes = {"max_iter": int(rng.integers(1, 6)), "max_depth": int(rng.integers(1, 4)), "min_samples_leaf": 1}
    known = frame.where(frame.notna().any(), 0.0, axis=1)  # scikit-learn cannot fit a column without any value
    return HistGradientBoostingClassifier(**sizes, learning_rate=1.0).fit(known, _outcomes(frame, rng))


def _linear(frame: Any, rng: np.random.Generator) -> Any:
    """A logistic regression, half of them with small whole weights: margins that are exactly 0."""
    from sklearn.linear_model import LogisticRegression

    return _weighted(LogisticRegression(), frame, rng, ("coef_", "intercept_"))


def _network(frame: Any, rng: np.random.Generator) -> Any:
    """A network of ReLUs, half of them with small whole weights."""
    from sklearn.neural_network import MLPClassifier

    layers = tuple(rng.integers(2, 6, int(rng.integers(1, 3))).tolist())
    return _weighted(MLPClassifier(layers, max_iter=20, random_state=0), frame, rng, ("coefs_", "intercepts_"))


def _weighted(classifier: Any, frame: Any, rng: np.random.Generator, names: Iterable[str]) -> Any:
    import warnings

    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it need not converge
        fitted = make_pipeline(SimpleImputer(keep_empty_features=True), classifier).fit(frame, _outcomes(frame, rng))
    if rng.random() < 0.5:
        fitted[0].statistics_[:] = -1.0
        for name in names:
            old = getattr(classifier, name)
            whole = [rng.integers(-2, 3, np.shape(w)).astype(float) for w in (old if isinstance(old, list) else [old])]
            setattr(classifier, name, whole if isinstance(old, list) else whole[0])
    return fitted


def _outcomes(frame: Any, rng: np.random.Generator) -> NDArray[np.int_]:
    y = rng.integers(0, 2, len(frame))
    y[:2] = 0, 1
    return y


KINDS = {
    "scores": _scores,
    "tree": _tree,
    "forest": _forest,
    "boosting": _boosting,
    "linear": _linear,
    "network": _network,
}


def check_method(method: Method, worlds: Iterable[World], *, seed: int = 0) -> None:
    """Check what a counterfactual method promises, in some worlds; one that it refuses is passed over.

    At most k answers, nearest first, each valid, feasible, under the rule and without a redundant change; NONE only
    where there is none, OPTIMAL only where nothing is nearer; the same seed, the same answer.

    Raises
    ------
    AssertionError
        Naming the promise, the world's constraints and the row.
    """
    for w in worlds:
        components = Components(w.space, w.x)
        rule = components.all & int(np.random.default_rng(seed).integers(0, 1 << min(62, 2 * len(w.space))))
        for chosen, nearest in itertools.product((0, rule), (True, False)):
            _check_answer(method, w, w.query.under(components.box(chosen)), nearest=nearest, seed=seed)


def _check_answer(method: Method, w: World, query: Query, *, nearest: bool, seed: int) -> None:
    if method.refuses(query):
        return
    one, two = (method.find(query, k=5, nearest=nearest, rng=np.random.default_rng(seed)) for _ in range(2))
    told = f"in a world with the constraints {[str(c) for c in w.constraints]}, from {w.x.tolist()}"
    assert one.status is two.status, f"two answers of one seed differ {told}"
    assert np.array_equal(one.X, two.X, equal_nan=True), f"two answers of one seed differ {told}"
    inside = w.counterfactuals[query.box.contains(w.counterfactuals)]
    assert len(one) <= 5, f"more answers than asked for {told}"
    assert (np.diff(one.distances) >= 0).all(), f"not nearest first {told}"
    assert np.allclose(one.distances, query.distances(one.X)), f"wrong distances {told}"
    assert query.box.contains(one.X).all(), f"an answer outside the rule {told}"
    for y in one.X:
        assert w.has(y), f"{y.tolist()} is no counterfactual {told}"
        for j in range(len(y)):
            undone = np.where(np.arange(len(y)) == j, w.x, y)
            assert _same(y[j], w.x[j]) or not w.has(undone), f"a change of {y.tolist()} is redundant {told}"
    if len(one):
        assert one.status in (Status.FOUND, Status.OPTIMAL), f"status {one.status} with an answer {told}"
    else:
        assert one.status in (Status.NONE, Status.UNKNOWN), f"status {one.status} without an answer {told}"
    assert one.status is not Status.NONE or not len(inside), f"NONE is said, but {inside[:1].tolist()} is one {told}"
    if one.status is Status.OPTIMAL and nearest:
        least = query.distances(inside).min()
        assert np.isclose(one.distances[0], least), f"OPTIMAL at {one.distances[0]}, but {least} is possible {told}"


def check_finder(finder: Finder, method: Method, worlds: Iterable[World], *, seed: int = 0) -> None:
    """Check what a rule finder promises with a counterfactual method, in some worlds.

    The row satisfies its rule; PROVED only where no counterfactual does, and then no component can go; REFUTED only
    with a counterexample.

    Raises
    ------
    AssertionError
        Naming the promise, the rule and the world's constraints.
    """
    for w in worlds:
        if method.refuses(w.query):
            continue
        rule = finder.find(Oracle(w.query, method, np.random.default_rng(seed)))
        told = f"the rule {rule} under the constraints {[str(c) for c in w.constraints]}"
        assert rule.verdict is not None, f"{told} has no verdict"
        assert rule.box(w.space).contains(w.x[None]).all(), f"{told} does not hold of its own row"
        standing, escaped = rule.verdict.standing, _escaped(rule, w)
        assert not (standing is Standing.PROVED and escaped), f"{told} is called proved and is not consistent"
        assert (standing is Standing.REFUTED) == (rule.verdict.counterexample is not None), f"{told}: no counterexample"
        for i in range(len(rule) if standing is Standing.PROVED else 0):
            fewer = Rule(rule.components[:i] + rule.components[i + 1 :])
            assert _escaped(fewer, w), f"{told} does not need {rule.components[i]}"


def _escaped(rule: Rule, w: World) -> bool:
    return bool(rule.box(w.space).contains(w.counterfactuals).any())


def _same(a: float, b: float) -> bool:
    return a == b or (math.isnan(a) and math.isnan(b))
