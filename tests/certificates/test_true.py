"""Every certificate that is written verifies; and a rule is said to be consistent only if it is."""

from __future__ import annotations

import itertools
import json
import time

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

from certificates.made import MODELS, any_rule, by_hand, learned, said, seeds, told
from dueto import Explainer, FeatureSpace, InputError, Rule, as_model, cf, fixed, verify, x
from dueto.certificates import consistent
from dueto.certificates.read import read_certificate
from dueto.counterfactuals import Auto, Status
from dueto.rule import Components, Standing
from dueto.rules import GreedyRuleCF, MinimumRule
from dueto.testing import World, worlds
from trials import trials

FINDERS = {
    "greedy": GreedyRuleCF(),
    "minimum": MinimumRule(),
    "irredundant": MinimumRule(least=False),
    "conditions": MinimumRule(counted="conditions"),
    "weights": MinimumRule(weights={"f0": 0.25, "f1": 1.5}),
}


def explained(w: World, finder, **options):
    explainer = Explainer(
        w.model, w.space.decode(w.X), space=w.space, constraints=w.constraints, method=finder, **options
    )
    return explainer.explain(w.space.decode(w.x[None]), k=1)


@pytest.mark.parametrize("finder", FINDERS)
@pytest.mark.parametrize("kind", ["tree", "scores"])
@given(seed=seeds)
@trials(25)
def test_the_certificate_of_a_proved_rule_verifies(finder: str, kind: str, seed: int):
    for w in worlds([seed], kind=kind):
        found = explained(w, FINDERS[finder])
        if found.rule.verdict.standing is not Standing.PROVED:
            assert found.rule.certificate is None
            continue
        certificate = json.loads(found.rule.certificate.to_json())
        verification = verify(certificate, w.model, data=w.space.decode(w.X))
        assert verification.verified, f"{verification}\n{[str(c) for c in w.constraints]}"
        assert ("least" in certificate["claims"]) == (found.rule.least is not None)
        if found.rule.least is not None and found.rule.least.proved and finder == "minimum":
            assert "irredundant" in certificate["claims"]


@given(seed=seeds)
@trials(60)
def test_a_rule_is_said_to_be_consistent_exactly_if_it_is(seed: int):
    for w in worlds([seed]):
        rule = any_rule(w, seed)
        truth = not rule.box(w.space).contains(w.counterfactuals).any()
        check = told(verify(by_hand(w, rule), w.model), "Every")
        assert check.ok is truth, f"{rule}: {check}"
        if not truth:
            assert w.has(np.array([f.code(check.row[f.name]) for f in w.space.features]))


@pytest.mark.filterwarnings("ignore:Stochastic Optimizer")
@pytest.mark.parametrize("kind", MODELS)
@given(seed=seeds)
@trials(25)
def test_each_proof_by_structure_says_what_the_enumeration_says(kind: str, seed: int):
    w = learned(kind, seed)
    assert w.model.structure is not None, w.model.unstructured
    rules = [any_rule(w, seed), Components(w.space, w.x).rule(Components(w.space, w.x).all)]
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(consistent, "FEW", 0)
        patched.setattr(consistent, "MANY", 0)
        patched.setattr(consistent, "searched", lambda *_: (None, 0))
        for rule in rules:
            truth = not rule.box(w.space).contains(w.counterfactuals).any()
            check = consistent.consistent(read_certificate(by_hand(w, rule)), w.model, time.perf_counter() + 60)
            assert check.ok is truth, f"{rule} under {[str(c) for c in w.constraints]}: {check}"


RANGED = {
    "tree": lambda k: DecisionTreeClassifier(max_depth=4, random_state=k),
    "forest": lambda k: RandomForestClassifier(4, max_depth=3, random_state=k),
    "histograms": lambda k: HistGradientBoostingClassifier(max_iter=6, min_samples_leaf=2, random_state=k),
}
ONE_SIDED = [cf.f0 >= x.f0, cf.f1 <= x.f1 + 0.7, fixed("f2"), cf.f2 == x.f2, 2 * cf.f1 <= 5]  # the last is looser


@pytest.mark.parametrize("kind", RANGED)
@given(seed=seeds)
@trials(30)
def test_over_ranges_two_ways_to_prove_agree(kind: str, seed: int):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.uniform(0, 4, (50, 3)).round(1), columns=["f0", "f1", "f2"])
    frame["f2"] = (1e6 * frame["f2"]).round().astype(int)
    frame.loc[rng.random(50) < 0.2, "f1"] = np.nan
    y = frame["f0"] - frame["f1"].fillna(1) + frame["f2"] / 1e6 + rng.normal(0, 0.5, 50) > 2
    assume(y.any() and not y.all())
    space = FeatureSpace.infer(frame).declare({"f0": {"low": -1, "high": 5}, "f2": {"low": 0, "high": 5_000_000}})
    model = as_model(RANGED[kind](seed % 1000).fit(frame, y), space)
    X = space.encode(frame)
    bad = X[~model.good(X)]
    assume(len(bad))
    constraints = tuple(ONE_SIDED[i] for i in rng.permutation(len(ONE_SIDED))[: rng.integers(0, 3)])
    w = World(space, model, X, bad[rng.integers(len(bad))], constraints)
    components = Components(space, w.x)
    for chosen in (components.all & int(rng.integers(0, 64)), components.all):
        query = w.query.under(components.box(chosen))
        truth = Auto().find(query, k=1, nearest=False, rng=rng)
        assert truth.status in (Status.NONE, Status.OPTIMAL, Status.FOUND)
        check = told(verify(by_hand(w, components.rule(chosen)), model), "Every")
        assert check.ok is (truth.status is Status.NONE), f"{[str(c) for c in constraints]}: {check}"
    explainer = Explainer(model, frame, space=space, constraints=constraints)
    rule = explainer.explain(space.decode(w.x[None]), k=1).rule
    assert verify(rule.certificate, model, data=frame).verified


@pytest.mark.filterwarnings("ignore:Stochastic Optimizer")
@pytest.mark.parametrize("kind", ["logistic", "network"])
@given(seed=seeds)
@trials(20)
def test_over_ranges_sums_and_networks_are_never_wrongly_proved(kind: str, seed: int):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.uniform(0, 4, (50, 3)), columns=["f0", "f1", "f2"])
    y = frame["f0"] - frame["f1"] + frame["f2"] + rng.normal(0, 0.5, 50) > 2
    space = FeatureSpace.infer(frame).declare({f"f{j}": {"low": 0, "high": 4} for j in range(3)})
    model = as_model(MODELS[kind](seed % 1000).fit(frame, y), space)
    X = space.encode(frame)
    bad = X[~model.good(X)]
    assume(len(bad))
    w = World(space, model, X, bad[0], ())
    components = Components(space, w.x)
    corners = np.array(list(itertools.product([0.0, 4.0], repeat=3)))
    for chosen in [components.all & int(rng.integers(0, 64)) for _ in range(3)] + [components.all]:
        rule = components.rule(chosen)
        check = told(verify(by_hand(w, rule), model), "Every")
        box = rule.box(space)
        Y = np.vstack([rng.uniform(0, 4, (300, 3)), corners]).clip(box.low, box.high)
        if check.ok:
            assert not model.good(Y).any()
        if model.good(Y).any():
            assert check.ok is False, check
        elif kind == "logistic":  # largest at a corner, which was looked at
            assert check.ok, check


def test_a_tie_of_a_forest_is_no_exception_and_what_is_just_above_is():
    frame = pd.DataFrame({"a": [0, 0, 1, 1] * 5, "b": [0, 1, 0, 1] * 5})
    forest = RandomForestClassifier(8, bootstrap=False, random_state=0).fit(frame, frame["a"] & frame["b"])
    for k, tree in enumerate(forest.estimators_):
        leaf = tree.tree_.children_left < 0
        tree.tree_.value[leaf] = [[0.0, 1.0]] if k < 4 else [[1.0, 0.0]]  # a tie everywhere
    space = FeatureSpace.infer(frame)
    w = World(space, as_model(forest, space), space.encode(frame), np.zeros(2), ())
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(consistent, "FEW", 0)
        patched.setattr(consistent, "MANY", 0)
        assert told(verify(by_hand(w, Rule(())), forest), "Every").ok
        last = forest.estimators_[-1].tree_
        last.value[last.children_left < 0] = [[1.0 - 1e-4, 1e-4]]
        assert told(verify(by_hand(w, Rule(())), forest), "Every").ok is False


def test_what_time_does_not_settle_is_not_decided():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.integers(0, 50, (300, 12)), columns=[f"f{j}" for j in range(12)])

    def model(table):
        return (table.sum(axis=1) > 12 * 49 + 0.5).astype(float)  # of nobody

    space = FeatureSpace.infer(frame)
    w = World(space, as_model(model, space), space.encode(frame), space.encode(frame)[0], ())
    found = verify(by_hand(w, Rule(())), model, seconds=5)
    assert found.status == "not decided"
    assert not found.verified
    assert "there are" in said(found)
    with pytest.raises(InputError, match="must be positive"):
        verify(by_hand(w, Rule(())), model, seconds=0)
