"""What a certificate says that is false is found, whatever is changed in it."""

from __future__ import annotations

import copy
import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

from certificates.made import Table, by_hand, said, seeds, told
from dueto import Explainer, FeatureSpace, Rule, as_model, verify
from dueto.certificates import consistent
from dueto.certificates.read import read_certificate
from dueto.certificates.written import written_row
from dueto.models import Model
from dueto.rule import Component, Components, bits, to_sets
from dueto.rules import MinimumRule
from dueto.testing import World, worlds
from trials import trials


@pytest.fixture(scope="module", params=["tree", "forest", "black box"])
def case(request):
    """A model, its data, constraints, and the certificate of a rule of several conditions."""
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(rng.integers(0, 4, (200, 4)).astype(float), columns=["f0", "f1", "f2", "f3"])
    frame["job"] = rng.choice(["clerk", "smith", "nurse"], 200)
    frame.loc[rng.random(200) < 0.1, "f3"] = np.nan
    table = frame.assign(job=frame["job"].map({"clerk": 0, "smith": 1, "nurse": 2}))
    y = table["f0"] + table["f1"] - table["f2"] + table["job"] + rng.normal(0, 1, 200) > 3.5

    def fitted(k):
        kind = DecisionTreeClassifier(max_depth=6, random_state=k)
        if request.param == "forest":
            kind = RandomForestClassifier(5, max_depth=5, random_state=k)
        model = kind.fit(table, y if k < 2 else y[::-1].to_numpy())
        return Table(model) if request.param == "black box" else model

    if request.param != "black box":
        table["job"] = table["job"].astype(float)
    model = fitted(1)
    constraints = 'fixed("job")\ncf.f0 + cf.f1 <= 6'
    method = MinimumRule() if request.param != "black box" else "greedy"
    explainer = Explainer(model, table, constraints=constraints, method=method)
    rules = [explainer.explain(int(row), k=1).rule for row in explainer.refused[:12]]
    rule = max((r for r in rules if r.certificate is not None), key=len)
    assert len(rule) >= 2
    return model, fitted(2), table, rule, json.loads(rule.certificate.to_json())


def after(case, change=None, *, model=None):
    """What becomes of the certificate after a change."""
    made = copy.deepcopy(case[4])
    if change:
        change(made)
    return verify(made, model or case[0])


def test_the_case_verifies_before_it_is_tampered_with(case):
    assert after(case).status == "verified"


def test_a_rule_that_lost_a_condition_is_refuted_with_a_row_that_the_model_accepts(case):
    def drop(made):
        del made["rule"]["components"][0]

    found = after(case, drop)
    row = told(found, "Every").row
    assert found.status == "refuted"
    space = read_certificate(case[4]).space
    y = np.array([[f.code(row[f.name]) for f in space.features]])
    assert as_model(case[0], space).good(y)[0]
    assert Rule(case[3].components[1:]).box(space).contains(y)[0]
    assert "is accepted" in said(found)


def bound(made):
    """Some bound of the rule."""
    return next(c for c in made["rule"]["components"] if c["op"] != "=")


def move(made, low, high):
    part = bound(made)
    part["value"] = high if part["op"] == "<=" else low


def put(made, *path_and_value):
    """Another value in some place."""
    *path, last, value = path_and_value
    for key in path:
        made = made[key]
    made[last] = value


def forbid(made):
    made["constraints"] += [f"cf.{name} == x.{name}" for name in ("f0", "f1", "f2")]


def unshown(made):
    made["claims"].pop("least", None)
    made["witnesses"] = []


def unknown_number(made):
    for row in made["witnesses"]:
        row["encoded"][0] = row["labels"]["f0"] = 1e300


FORGED = {
    "a bound that lets everybody in": (lambda made: move(made, 0, 3), "is accepted"),
    "a bound that the applicant does not meet": (lambda made: move(made, 4, -1), "does not meet"),
    "the text of another rule": (lambda made: put(made, "rule", "text", "f0 <= 0"), "It says 'f0 <= 0', and they say"),
    "a refused witness": (lambda made: put(made, "witnesses", 0, made["applicant"]), "Witness 0 is refused"),
    "a witness whom no constraint allows": (forbid, "is not in the space, or breaks a constraint"),
    "a witness of numbers that no model takes": (unknown_number, "Witness 0 is not in the space"),
    "a condition that no witness needs": (unshown, "No witness meets all but"),
    "an applicant who is accepted": (lambda made: put(made, "applicant", made["witnesses"][0]), "above the threshold"),
    "another threshold": (lambda made: put(made, "model", "threshold", 0.4), "was made with the threshold 0.5"),
    "a hash": (lambda made: put(made, "model", "fingerprint", "sha256", 64 * "0"), "are others than those that were"),
    "half a fingerprint": (
        lambda made: put(made, "model", "fingerprint", {"of": "tree", "threshold": 0.5, "sha256": ""}),
        "tree",
    ),
}


@pytest.mark.parametrize("forged", FORGED)
def test_what_is_forged_is_not_verified(case, forged):
    change, text = FORGED[forged]
    found = after(case, change)
    assert not found.verified
    assert text in said(found)
    assert found.refuted or "half" in forged


CLAIMED = {
    "more than the rule has": (lambda least: least.update(at_least=least["at_least"] + 1), "itself counts only"),
    "a longer rule": (lambda least: least.update(length=least["length"] + 1), "The rule itself counts"),
    "a weight": (lambda least: least.update(weights=dict.fromkeys(["f0", "f1", "f2", "f3"], 5.0)), "itself counts"),
}


@pytest.mark.parametrize("claimed", CLAIMED)
def test_more_is_claimed_of_the_length_than_is_so(case, claimed):
    if "least" not in case[4]["claims"]:
        pytest.skip("nothing is claimed")
    change, text = CLAIMED[claimed]
    found = after(case, lambda made: change(made["claims"]["least"]))
    assert found.status == "refuted"
    assert text in said(found)


def test_a_length_without_witnesses_or_with_rules_left_out_is_not_believed(case):
    if "least" not in case[4]["claims"]:
        pytest.skip("nothing is claimed")
    found = after(case, lambda made: put(made, "witnesses", made["witnesses"][:1]))
    assert "are enough to shut out" in said(found)
    found = after(case, lambda made: put(made, "claims", "least", "left_out", made["rule"]["components"][:1]))
    assert "are left out, though the constraints allow that" in said(found)


@given(seed=seeds, counted=st.sampled_from(["components", "conditions"]), weighed=st.booleans())
@trials(40)
def test_a_length_is_believed_exactly_if_the_witnesses_show_it(seed, counted, weighed):
    for w in worlds([seed], kind="tree"):
        rng, components = np.random.default_rng(seed), Components(w.space, w.x)
        Y = w.counterfactuals[rng.permutation(len(w.counterfactuals))[:6]]
        weights = {f.name: float(rng.integers(1, 5)) / 2 for f in w.space.features if weighed}
        cost = [weights.get(f.name, 1.0) for f in w.space.features]
        duals = to_sets(components.duals(Y))
        assume(0 not in duals)

        def length(chosen):
            features = [bit // 2 for bit in bits(chosen)]
            return sum(cost[j] for j in (features if counted == "components" else set(features)))  # noqa: B023

        subsets = [s for s in range(components.all + 1) if s & components.all == s]
        shortest = min(length(s) for s in subsets if all(s & dual for dual in duals))
        made = by_hand(w, components.rule(components.all))
        made["witnesses"] = [written_row(w.space, y) for y in Y]
        claim = {"counted": counted, "weights": weights, "length": length(components.all), "left_out": []}
        for at_least in {shortest, shortest + 0.5, length(components.all)}:
            if at_least <= length(components.all):
                made["claims"]["least"] = claim | {"at_least": at_least}
                check = told(verify(made, w.model), "No rule that holds")
                assert check.ok is (at_least <= shortest), check


def test_another_model_is_found(case):
    found = after(case, model=case[1])
    assert told(found, "The model").ok is False
    assert "are others than those that were certified" in said(found)

    def lower(made):
        made["model"]["threshold"] = made["model"]["fingerprint"]["threshold"] = 0.4

    assert after(case, lower).status == "refuted"


def test_another_outcome_is_found_whoever_wrapped_the_model(case):
    model = as_model(case[0], read_certificate(case[4]).space)
    assert after(case, model=model).verified
    for other in ("the worst", None if model.desired is not None else 1):
        found = after(case, lambda made, other=other: put(made, "model", "desired", other), model=model)
        assert f"The certificate's outcome is {other!r}" in said(found)
        assert found.status == "refuted"


def test_other_data_is_found(case):
    table = case[2]
    assert verify(case[4], case[0], data=table).verified
    assert "Its rows are others" in said(verify(case[4], case[0], data=table.iloc[1:]))
    assert "does not fit" in said(verify(case[4], case[0], data=table.drop(columns="f0")))


# -- where a proof by structure could go wrong ------------------------------------------------------------------------


@pytest.fixture
def _by_structure(monkeypatch):
    monkeypatch.setattr(consistent, "FEW", 0)
    monkeypatch.setattr(consistent, "MANY", 0)
    monkeypatch.setattr(consistent, "searched", lambda *_: (None, 0))


def ranged(fitted, frame, low, high):
    """The model over a space whose first feature is declared over a range, and a refused applicant."""
    space = FeatureSpace.infer(frame).declare({frame.columns[0]: {"low": low, "high": high}})
    model = as_model(fitted, space)
    X = space.encode(frame)
    return World(space, model, X, X[~model.good(X)][0], ())


@pytest.mark.usefixtures("_by_structure")
@pytest.mark.parametrize("trees", [1, 3])
def test_a_zero_inside_a_range_that_the_model_takes_for_missing_is_an_exception(trees):
    lightgbm = pytest.importorskip("lightgbm")
    rng = np.random.default_rng(0)
    a = np.where(rng.random(400) < 0.3, 0.0, rng.uniform(-1, 1, 400).round(2))
    frame = pd.DataFrame({"a": a, "b": rng.integers(0, 3, 400).astype(float)})
    fitted = lightgbm.LGBMClassifier(
        verbose=-1, n_jobs=1, n_estimators=trees, zero_as_missing=True, learning_rate=1
    ).fit(frame, a == 0)
    w = ranged(fitted, frame, -1, 1)
    for low, high, truth in [
        (-0.005, 0.005, False),
        (0.001, 0.005, True),
        (-0.005, -0.001, True),
        (-0.005, 0.0, False),
    ]:
        rule = Rule((Component("a", ">=", low), Component("a", "<=", high)))
        assert bool(w.model.good(np.array([[0.0, 1.0]]))[0])
        assert told(verify(by_hand(w, rule), w.model), "Every").ok is truth


@pytest.mark.usefixtures("_by_structure")
def test_codes_of_categories_over_a_range_are_not_taken_for_numbers_that_rise():
    lightgbm = pytest.importorskip("lightgbm")
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.integers(0, 6, 400), "b": rng.integers(0, 3, 400)})
    options = {"min_data_per_group": 1, "cat_smooth": 0, "cat_l2": 0, "learning_rate": 1}
    fitted = lightgbm.LGBMClassifier(verbose=-1, n_jobs=1, n_estimators=2, **options)
    fitted.fit(frame, frame["a"].isin([2, 4]), categorical_feature=["a"])
    w = ranged(fitted, frame, 0, 200_000)
    rule = Rule((Component("a", ">=", 1), Component("a", "<=", 3)))  # refused at both ends, accepted between them
    assert w.model.good(np.array([[1.0, 0.0], [2.0, 0.0], [3.0, 0.0]])).tolist() == [False, True, False]
    assert told(verify(by_hand(w, rule), w.model), "Every").ok is not True


def test_parts_without_values_beside_a_range_leave_nobody():
    frame = pd.DataFrame(np.random.default_rng(0).integers(0, 4, (60, 3)), columns=["a", "b", "c"])
    space = FeatureSpace.infer(frame.astype({"a": float})).declare({"a": {"low": 0, "high": 3}})
    model = Model(lambda table: (table["b"] > 2).astype(float), space)
    made = by_hand(World(space, model, space.encode(frame), np.zeros(3), ()), Rule(()))
    made["constraints"] = ["cf.b + cf.c > 100"]
    assert "The constraints leave none" in told(verify(made, model, seconds=5), "Every").how


def test_time_that_is_up_is_not_decided_where_rows_at_the_cut_have_no_end(monkeypatch):
    frame = pd.DataFrame(np.random.default_rng(0).integers(0, 4, (60, 3)), columns=["a", "b", "c"])
    forest = RandomForestClassifier(6, random_state=0).fit(frame, frame.sum(axis=1) > 5)
    space = FeatureSpace.infer(frame)
    w = World(space, as_model(forest, space), space.encode(frame), np.zeros(3), ())
    monkeypatch.setattr(consistent, "FEW", 0)
    monkeypatch.setattr(consistent, "MANY", 0)
    made = read_certificate(by_hand(w, Rule((Component("a", "<=", 0), Component("b", "<=", 0)))))
    assert consistent.consistent(made, w.model, 0.0).ok is None
