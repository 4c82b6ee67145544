"""Linear bounds of ReLU networks against enumeration and against a mixed-integer program."""

from __future__ import annotations

import itertools
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import Bounds as Ranges
from scipy.optimize import LinearConstraint, milp
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from dueto import FeatureSpace, as_model
from dueto.counterfactuals import Exhaustive, Query, Status, build_query, networks
from dueto.counterfactuals.network_grid import NetworkGrid
from dueto.counterfactuals.networks import LinearBounds
from dueto.counterfactuals.relu_bounds import Bounds
from dueto.rule import Components
from dueto.testing import check_method, worlds
from trials import trials

seeds = st.integers(0, 2**32 - 1)
METHOD = LinearBounds()


@pytest.fixture(params=["as it is", "proofs alone"])
def how(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without climbs, and without looking at small regions point by point, everything rests on the bounds."""
    if request.param == "proofs alone":
        monkeypatch.setattr(networks, "FEW", 1)
        monkeypatch.setattr(NetworkGrid, "climbed", lambda self, *_args, **_options: self.none)


def small_net(seed: int, layers: tuple[int, ...] = (6, 5), n: int = 5) -> tuple[Any, FeatureSpace, pd.DataFrame]:
    """A scaled network with random weights, its features small whole numbers."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.integers(0, 6, (40, n)), columns=[f"f{j}" for j in range(n)])
    net = MLPClassifier(layers, max_iter=1, random_state=0)
    with pytest.warns(match="iterations"):
        pipe = make_pipeline(StandardScaler(), net).fit(frame, np.arange(40) % 2)
    net.coefs_ = [rng.normal(size=W.shape) for W in net.coefs_]
    net.intercepts_ = [rng.normal(size=b.shape) for b in net.intercepts_]
    net.intercepts_[-1] -= 1.5
    return pipe, FeatureSpace.infer(frame), frame


def small_query(seed: int, layers: tuple[int, ...] = (6, 5)) -> Query | None:
    pipe, space, frame = small_net(seed, layers)
    model, X = as_model(pipe, space), space.encode(frame)
    assert model.structure is not None, model.unstructured
    good = model.good(X)
    return None if good.all() else build_query(model, space, X[~good][0], X=X, donors=X[good])


def some_rule(query: Query, seed: int) -> tuple[Components, int]:
    components = Components(query.space, query.x)
    return components, components.all & int(np.random.default_rng(seed).integers(0, 1 << 2 * len(query.space)))


@pytest.mark.usefixtures("how")
@trials(60, suppress_health_check=[])
@given(seed=seeds)
def test_every_promise_is_kept_in_random_worlds(seed: int):
    check_method(METHOD, worlds([seed], kind="network"), seed=seed % 1000)


@pytest.mark.usefixtures("how")
@trials(60)
@given(seed=seeds)
def test_every_small_world_is_settled(seed: int):
    for w in worlds([seed], kind="network"):
        if METHOD.refuses(w.query):
            assert w.query.model.structure is None or "missing" in METHOD.refuses(w.query)
            continue
        for nearest, good in ((True, Status.OPTIMAL), (False, Status.FOUND)):
            answer = METHOD.find(w.query, k=1, nearest=nearest, rng=np.random.default_rng(0))
            assert answer.status is (good if len(w.counterfactuals) else Status.NONE)


@trials(25)
@given(seed=seeds)
def test_a_judge_says_what_enumeration_says_and_undoes_changes(seed: int):
    if (query := small_query(seed)) is None:
        return
    judge = METHOD.judge(query)
    for i in range(4):
        components, rule = some_rule(query, seed + i)
        box = components.box(rule)
        truth = Exhaustive().find(query.under(box), k=5, nearest=True, rng=np.random.default_rng(0))
        answer = judge.escape(box, seconds=60.0)
        assert answer.status is (Status.FOUND if len(truth) else Status.NONE)
        assert query.under(box).accepts(answer.X).all()
        for y, j in itertools.product(answer.X, range(len(query.x))):
            undone = np.where(np.arange(len(y)) == j, query.x, y)
            assert y[j] == query.x[j] or not query.accepts(undone[None])[0]


@trials(15)
@given(seed=seeds)
def test_a_mixed_integer_program_agrees(seed: int):
    if (query := small_query(seed, (5, 4))) is None:
        return
    components, rule = some_rule(query, seed)
    query = query.under(components.box(rule))
    most = greatest_margin(query)
    structure = query.model.structure
    assert structure is not None
    if abs(most - structure.cut) > 1e-4:
        answer = METHOD.find(query, k=1, nearest=False, rng=np.random.default_rng(0))
        assert answer.status is (Status.FOUND if most > structure.cut else Status.NONE)


def greatest_margin(query: Query) -> float:
    """The greatest margin in the box: one binary variable a value, one a ReLU, big-M from interval arithmetic."""
    structure = query.model.structure
    assert structure is not None
    form, p = structure.form, len(query.x)
    choices = [unit.choices(query.x)[:, 0] for unit in query.units(np.random.default_rng(0))]
    tables = [structure.columns.of(j, v)[:, 0] for j, v in enumerate(choices)]
    widths = [len(b) for b in form.biases[:-1]]
    picks, reals = sum(map(len, choices)), p + 2 * sum(widths)
    n = picks + reals + sum(widths)  # binaries, then inputs, sums and outputs of ReLUs, then binaries of ReLUs
    rows: list[tuple[dict[int, float], float, float]] = []
    at = 0
    for j, z in enumerate(tables):
        rows.append(({at + k: 1.0 for k in range(len(z))}, 1.0, 1.0))
        rows.append(({picks + j: -1.0, **{at + k: z[k] for k in range(len(z))}}, 0.0, 0.0))
        at += len(z)
    low, high = np.array([z.min() for z in tables]), np.array([z.max() for z in tables])
    inputs, here, relu = list(range(picks, picks + p)), picks + p, picks + reals
    for W, b in zip(form.weights[:-1], form.biases[:-1], strict=True):
        least, most = np.minimum(W.T * low, W.T * high).sum(1) + b, np.maximum(W.T * low, W.T * high).sum(1) + b
        outputs = []
        for i in range(len(b)):
            s, h, d = here, here + 1, relu
            here, relu = here + 2, relu + 1
            rows.append(({s: -1.0, **{v: W[k, i] for k, v in enumerate(inputs)}}, -b[i], -b[i]))
            rows.append(({h: 1.0, s: -1.0}, 0.0, np.inf))
            rows.append(({h: 1.0, s: -1.0, d: max(-least[i], 0.0)}, -np.inf, max(-least[i], 0.0)))
            rows.append(({h: 1.0, d: -max(most[i], 0.0)}, -np.inf, 0.0))
            outputs.append(h)
        inputs, low, high = outputs, np.maximum(least, 0.0), np.maximum(most, 0.0)
    A = np.zeros((len(rows), n))
    for r, (terms, _, _) in enumerate(rows):
        for v, c in terms.items():
            A[r, v] = c
    c, whole, least, most = np.zeros(n), np.ones(n), np.zeros(n), np.ones(n)
    c[inputs] = -form.weights[-1][:, 0]
    whole[picks : picks + reals] = 0
    least[picks : picks + reals], most[picks : picks + reals] = -np.inf, np.inf
    for h in range(picks + p + 1, picks + reals, 2):
        least[h] = 0.0
    found = milp(
        c,
        constraints=LinearConstraint(A, [r[1] for r in rows], [r[2] for r in rows]),
        integrality=whole,
        bounds=Ranges(least, most),
    )
    assert found.success
    return float(-found.fun + form.biases[-1][0])


@trials(25)
@given(seed=seeds)
def test_no_margin_is_above_its_bound_whatever_relus_are_fixed(seed: int):
    if (query := small_query(seed, (5, 4, 3))) is None:
        return
    rng = np.random.default_rng(seed)
    grid = NetworkGrid(query)
    points = rng.integers(0, grid.sizes, (300, len(grid.sizes)))
    margins = grid.margins(points)
    bounds = Bounds(grid, np.zeros_like(grid.sizes), grid.sizes - 1)
    root = bounds.root(np.zeros_like(grid.sizes), grid.sizes - 1)
    ends = bounds.inputs.ends(root.lo, root.hi)
    bounds.narrow(root, ends)
    sums = arguments(grid, points)
    for _ in range(10):
        nodes = root.take(slice(None))
        for i in rng.choice(bounds.n, 4, replace=False):
            nodes.sign[0, i] = sign = rng.choice([-1, 1])
            (nodes.low if sign > 0 else nodes.high)[0, i] = 0.0
        nodes.beta[:] = rng.random(nodes.beta.shape) * (nodes.sign != 0)
        inside = (sums * nodes.sign >= 0).all(axis=1)
        if not bounds.narrow(nodes, ends)[0]:
            assert not inside.any()
            continue
        bounds.improve(nodes, ends, steps=5, enough=False)
        assert (sums[inside] >= nodes.low[0] - 1e-9).all()
        assert (sums[inside] <= nodes.high[0] + 1e-9).all()
        assert (margins[inside] <= nodes.bound[0]).all()


def arguments(grid: NetworkGrid, points: np.ndarray) -> np.ndarray:
    """What every ReLU is given at some points."""
    sums = [grid.sums(points)]
    for W, b in zip(grid.form.weights[1:-1], grid.form.biases[1:-1], strict=True):
        sums.append(np.maximum(sums[-1], 0.0) @ W + b)
    return np.hstack(sums)


def test_without_a_budget_nothing_is_claimed(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(NetworkGrid, "climbed", lambda self, *_args, **_options: self.none)
    query = next(q for s in range(20) if (q := small_query(s)) is not None)
    for method in (LinearBounds(seconds=0.0), LinearBounds(nodes=0)):
        for nearest in (True, False):
            answer = method.find(query, k=1, nearest=nearest, rng=np.random.default_rng(0))
            assert answer.status is Status.UNKNOWN
            assert "the budget is spent" in answer.reason


def test_the_same_questions_get_the_same_answers():
    query = next(q for s in range(20) if (q := small_query(s)) is not None)
    one, two = (
        [judge.escape(Components(query.space, query.x).box(r)) for r in range(8)]
        for judge in map(METHOD.judge, (query, query))
    )
    for a, b in zip(one, two, strict=True):
        assert a.status is b.status
        assert np.array_equal(a.X, b.X)


@pytest.mark.parametrize(("low", "high"), [(-0.5, 5.5), (0, 200_000)])
@trials(15)
@given(seed=seeds)
def test_what_is_said_of_a_range_is_true(low: float, high: float, seed: int):
    pipe, _, frame = small_net(seed, (4,), 3)
    frame = frame.astype({"f0": type(low)})
    space = FeatureSpace.infer(frame).declare({"f0": {"low": low, "high": high}})
    model, X = as_model(pipe, space), space.encode(frame)
    good = model.good(X)
    if good.all():
        return
    query = build_query(model, space, X[~good][0], X=X, donors=X[good])
    components, rule = some_rule(query, seed)
    query = query.under(components.box(rule))
    assert METHOD.refuses(query) == ""
    axes = [np.linspace(low, high, 201), *(f.domain.values for f in space.features[1:])]
    everybody = np.array(list(itertools.product(*axes)))
    for nearest in (True, False):
        answer = LinearBounds(seconds=5.0).find(query, k=3, nearest=nearest, rng=np.random.default_rng(0))
        assert query.accepts(answer.X).all()
        assert answer.status is not Status.NONE or not query.accepts(everybody).any()
        assert answer.status is not Status.OPTIMAL


def test_what_is_not_such_a_network_is_refused():
    for w in worlds(range(5), kind="tree"):
        assert METHOD.refuses(w.query) == "the model is not a network of ReLUs"
    for w in worlds(range(5), kind="scores"):
        assert METHOD.refuses(w.query) == w.query.model.unstructured


def test_over_a_range_undone_changes_leave_accepted_rows_accepted():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"debt": rng.normal(size=300), "income": rng.normal(size=300)})
    ends = {"low": -1e4, "high": 1e4}
    space = FeatureSpace.infer(frame).declare({"debt": ends, "income": ends})
    network = MLPClassifier((6,), max_iter=300, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it need not converge
        network.fit(frame, frame["income"] - 2 * frame["debt"] > 0)
    model = as_model(network, space)
    X = space.encode(frame)
    good = X[model.good(X)]
    query = build_query(model, space, X[~model.good(X)][0], X=X, donors=good)
    assert query.accepts(LinearBounds().judge(query).undo(good)).all()
