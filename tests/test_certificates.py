"""Certificates: every one that is written verifies, and nothing that is false does."""

from __future__ import annotations

import copy
import itertools
import json
import pickle
import subprocess
import sys
import time
from dataclasses import replace

import joblib
import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import GradientBoostingClassifier, HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from dueto import Explainer, FeatureSpace, InputError, Rule, as_model, cf, fixed, together, verify, x
from dueto.certificates import certify, consistent, search
from dueto.certificates.fingerprint import fingerprint, known_again
from dueto.certificates.read import read_certificate
from dueto.counterfactuals import Auto, Exhaustive, Status
from dueto.rule import Components, Standing, Verdict
from dueto.rules import GreedyRuleCF, MinimumRule, Oracle
from dueto.testing import World, worlds

seeds = st.integers(0, 2**32 - 1)
FINDERS = {
    "greedy": GreedyRuleCF(),
    "minimum": MinimumRule(),
    "irredundant": MinimumRule(least=False),
    "conditions": MinimumRule(counted="conditions"),
    "weights": MinimumRule(weights={"f0": 0.25, "f1": 1.5}),
}


@pytest.fixture(autouse=True)
def _short_search(monkeypatch):
    monkeypatch.setattr(search, "DRAWS", 2_000)
    monkeypatch.setattr(search, "BATCH", 500)


def told(verification, claim):
    """The check of the claim that begins so."""
    return next(check for check in verification.checks if check.claim.startswith(claim))


def said(verification):
    """The text in one line."""
    return " ".join(str(verification).split())


def explained(w: World, finder, **options):
    explainer = Explainer(
        w.model, w.space.decode(w.X), space=w.space, constraints=w.constraints, method=finder, **options
    )
    return explainer.explain(w.space.decode(w.x[None]), k=1)


def by_hand(w: World, rule: Rule):
    """A certificate that says of any rule that it is consistent, and no more."""
    rule = replace(rule, verdict=Verdict(Standing.PROVED, "nobody", 0))
    oracle = Oracle(w.query, Exhaustive(), np.random.default_rng(0))
    made = certify(oracle, rule, constraints=w.constraints)
    made["claims"] = {"consistent": {"by": "nobody"}}
    return json.loads(json.dumps(made, allow_nan=False))


def any_rule(w: World, seed: int) -> Rule:
    components, rng = Components(w.space, w.x), np.random.default_rng(seed)
    return components.rule(components.all & int(rng.integers(0, 1 << (2 * len(w.space)))))


# -- what is true verifies --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("finder", FINDERS)
@pytest.mark.parametrize("kind", ["tree", "scores"])
@given(seed=seeds)
@settings(max_examples=25)
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
@settings(max_examples=60)
def test_a_rule_is_said_to_be_consistent_exactly_if_it_is(seed: int):
    for w in worlds([seed]):
        rule = any_rule(w, seed)
        truth = not rule.box(w.space).contains(w.counterfactuals).any()
        check = told(verify(by_hand(w, rule), w.model), "Every")
        assert check.ok is truth, f"{rule}: {check}"
        if not truth:
            assert w.has(np.array([f.code(check.row[f.name]) for f in w.space.features]))


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


@pytest.mark.filterwarnings("ignore:Stochastic Optimizer")
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


@pytest.mark.filterwarnings("ignore:Stochastic Optimizer")
@pytest.mark.parametrize("kind", MODELS)
@given(seed=seeds)
@settings(max_examples=25)
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
@settings(max_examples=30)
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
@settings(max_examples=20)
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


# -- what is false is found -------------------------------------------------------------------------------------------


class Table:
    """A black box."""

    def __init__(self, model):
        self.model = model

    def __call__(self, frame):
        return self.model.predict_proba(frame)[:, 1]


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


def test_a_bound_that_lets_everybody_in_is_refuted(case):
    def move(made):
        part = next(c for c in made["rule"]["components"] if c["op"] != "=")
        part["value"] = 3 if part["op"] == "<=" else 0

    assert told(after(case, move), "Every").ok is False


def test_a_bound_that_the_applicant_does_not_meet_is_refuted(case):
    def move(made):
        part = next(c for c in made["rule"]["components"] if c["op"] != "=")
        part["value"] = -1 if part["op"] == "<=" else 4

    assert told(after(case, move), "The applicant").ok is False
    assert "does not meet" in said(after(case, move))


def test_a_refused_witness_is_found(case):
    def replace_one(made):
        made["witnesses"][0] = made["applicant"]

    found = after(case, replace_one)
    assert found.status == "refuted"
    assert "Witness 0 is refused: the model's score is" in said(found)


def test_a_witness_that_no_constraint_allows_is_found(case):
    def forbid(made):
        made["constraints"].append("cf.f0 == x.f0")
        made["constraints"].append("cf.f1 == x.f1")
        made["constraints"].append("cf.f2 == x.f2")

    assert "is not in the space, or breaks a constraint" in said(after(case, forbid))


def test_more_is_claimed_of_the_length_than_is_so(case):
    if "least" not in case[4]["claims"]:
        return

    def raised(made):
        made["claims"]["least"]["at_least"] += 1

    def longer(made):
        made["claims"]["least"]["at_least"] += 1
        made["claims"]["least"]["length"] += 1

    def unshown(made):
        made["witnesses"] = made["witnesses"][:1]

    def weighed(made):
        made["claims"]["least"]["weights"] = dict.fromkeys(case[3].to_dict()["text"].split()[:1], 5.0)

    def left_out(made):
        made["claims"]["least"]["left_out"] = made["rule"]["components"][:1]

    for change, text in [
        (raised, "The rule itself counts only"),
        (longer, "The rule itself counts"),
        (unshown, "are enough to shut out"),
        (weighed, "The rule itself counts"),
        (left_out, "are left out, though the constraints allow that"),
    ]:
        found = after(case, change)
        assert found.status == "refuted"
        assert text in said(found)


def test_a_condition_that_no_witness_needs_is_found(case):
    def unshown(made):
        made["claims"].pop("least", None)
        made["witnesses"] = []

    assert "No witness meets all but" in said(after(case, unshown))


def test_another_model_or_threshold_is_found(case):
    found = after(case, model=case[1])
    assert told(found, "The model").ok is False
    assert "are others than those that were certified" in said(found)
    assert found.status == "refuted"

    def lower(made):
        made["model"]["threshold"] = 0.4

    assert "was made with the threshold 0.5" in said(after(case, lower))

    def both(made):
        made["model"]["threshold"] = made["model"]["fingerprint"]["threshold"] = 0.4

    try:
        assert after(case, both).status == "refuted"
    except InputError as problem:  # of a black box, the scores are told, and hashed with the threshold
        assert "hash" in str(problem)  # noqa: PT017


def test_an_applicant_who_is_accepted_is_found(case):
    def swap(made):
        made["applicant"] = made["witnesses"][0]

    assert "above the threshold" in said(after(case, swap))


def test_other_data_is_found(case):
    table = case[2]
    assert verify(case[4], case[0], data=table).verified
    assert "Its rows are others" in said(verify(case[4], case[0], data=table.iloc[1:]))
    assert "does not fit" in said(verify(case[4], case[0], data=table.drop(columns="f0")))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is not the whole of a JSON file"),
        ("rule", "is not the whole of a JSON file"),
        ("[1, 2]", "is no certificate: it holds a list"),
        ("{}", "its 'format' is None"),
        ('{"format": "dueto certificate", "version": 2}', "is of version 2, and this dueto reads version 1"),
        ('{"format": "dueto certificate", "version": 1}', "has no 'model'"),
        ("\ud800", None),
    ],
)
def test_what_is_no_certificate_is_refused_in_a_sentence(tmp_path, text, said):
    path = tmp_path / "rule.json"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    with pytest.raises(InputError, match=said or "JSON"):
        verify(path, Table(None))
    with pytest.raises(InputError, match="cannot read"):
        verify(tmp_path / "absent.json", Table(None))


def test_a_file_that_ends_too_soon_is_refused(case, tmp_path):
    path, text = tmp_path / "rule.json", json.dumps(case[4])
    path.write_text(text)
    assert verify(path, case[0]).verified
    for length in (1, len(text) // 3, len(text) - 1):
        path.write_text(text[:length])
        with pytest.raises(InputError, match="is not the whole of a JSON file"):
            verify(path, case[0])


JUNK = st.sampled_from([None, True, -1, 0, 2, 1e308, 0.5, "x", "", [], {}, [None], {"a": 1}, float("nan"), 10**400])


def places(made, path=()):
    """Every place of plain data."""
    inside = made.items() if isinstance(made, dict) else enumerate(made) if isinstance(made, list) else ()
    for key, value in inside:
        yield (*path, key)
        yield from places(value, (*path, key))


@given(data=st.data(), junk=JUNK, drop=st.booleans())
@settings(max_examples=60)
def test_junk_anywhere_is_refused_in_a_sentence_or_judged(data, junk, drop):
    made = json.loads(json.dumps(SMALL[0]))
    *path, last = data.draw(st.sampled_from(list(places(made))))
    inside = made
    for key in path:
        inside = inside[key]
    if drop:
        del inside[last]
    else:
        inside[last] = junk
    status = ""
    try:
        status = verify(made, SMALL[1]).status
    except InputError as problem:
        said = str(problem)
    assert status in ("verified", "refuted", "not decided") or "certificate" in said or "model" in said


def _small():
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


SMALL = _small()


# -- what is kept, and what is not used -------------------------------------------------------------------------------


def test_a_certificate_survives_a_file_and_a_pickle(tmp_path):
    frame = pd.DataFrame(
        {
            "age": [25, 40, 61, 33, 52, 29],
            "income": [1200.5, None, 3000.0, 1800.0, 900.25, 2500.0],
            "job": ["clerk", "smith", "clerk", "nurse", "smith", "nurse"],
            "own": [True, False, True, True, False, False],
            "school": pd.Categorical(["b", "a", "c", "a", "b", "c"], categories=["a", "b", "c"], ordered=True),
        }
    )

    def model(table):
        return ((table["income"].fillna(0) > 1500) & (table["school"] != "a") | (table["age"] > 60)).astype(float)

    constraints = 'cf.age >= x.age\nnot cf.income.missing() => cf.job != "smith"\ntogether("own", "school")'
    explainer = Explainer(model, frame, constraints=constraints)
    for row in explainer.refused:
        found = explainer.explain(int(row))
        path = tmp_path / f"{row}.json"
        path.write_text(found.rule.certificate.to_json(indent=2), encoding="utf-8")
        verification = verify(path, model, data=frame)
        assert verification.verified, verification
        assert json.loads(verification.to_json())["status"] == "verified"
        again = pickle.loads(pickle.dumps(found.rule.certificate))
        assert again == found.rule.certificate == json.loads(path.read_text(encoding="utf-8"))
        assert verify(found.rule.certificate, explainer.model).verified


@pytest.mark.parametrize("flavour", ["numpy", "polars"])
def test_a_certificate_of_other_tables_than_pandas_verifies(flavour):
    polars = pytest.importorskip("polars")
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"a": rng.integers(0, 4, 80), "b": rng.integers(0, 3, 80), "c": rng.integers(0, 5, 80)})
    tree = DecisionTreeClassifier(random_state=0).fit(frame.to_numpy(), frame["a"] + frame["b"] * 2 > frame["c"])
    data = frame.to_numpy() if flavour == "numpy" else polars.from_pandas(frame)

    def model(table):
        return tree.predict_proba(np.asarray(table))[:, 1]

    explainer = Explainer(model, data)
    rule = explainer.explain(int(explainer.refused[0])).rule
    assert verify(json.loads(rule.certificate.to_json()), model, data=data).verified
    with pytest.raises(InputError, match="another feature space"):
        verify(rule.certificate, as_model(model, FeatureSpace.infer(data[:3])))


def test_a_model_behind_another_scaler_is_another_model():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.integers(0, 5, (50, 2)), columns=["a", "b"])
    y = frame["a"] > frame["b"]
    one = make_pipeline(StandardScaler(), LogisticRegression()).fit(frame, y)
    other = copy.deepcopy(one)
    other[0].mean_ = other[0].mean_ + 1e-12
    space = FeatureSpace.infer(frame)
    told_of_one = fingerprint(as_model(one, space))
    assert told_of_one["of"] == "structure"
    assert known_again(json.loads(json.dumps(told_of_one)), as_model(copy.deepcopy(one), space))
    assert not known_again(told_of_one, as_model(other, space))
    assert not known_again(told_of_one, as_model(one, space, threshold=0.6))
    assert not known_again(told_of_one, as_model(one, space, desired=False))
    assert not known_again(told_of_one, as_model(lambda table: one.predict_proba(table)[:, 1], space))


def test_a_black_box_is_known_again_but_for_rounding():
    space = FeatureSpace.infer(pd.DataFrame({"a": [0, 1, 2, 3]}))
    one = fingerprint(as_model(lambda table: table["a"] / 4, space))
    assert known_again(one, as_model(lambda table: table["a"] / 4 + 1e-9, space))
    assert not known_again(one, as_model(lambda table: (table["a"] / 4) ** 1.01, space))


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


def test_verification_uses_none_of_the_code_that_proves(tmp_path):
    (tmp_path / "rule.json").write_text(json.dumps(SMALL[0]))
    joblib.dump(SMALL[1], tmp_path / "model.joblib")
    code = (
        "import sys, joblib; from pathlib import Path; from dueto import verify\n"
        "assert verify(Path('rule.json'), joblib.load('model.joblib')).verified\n"
        "used = [m for m in sys.modules if m.startswith(('dueto.counterfactuals', 'dueto.rules'))]\n"
        "assert not used, used"
    )
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True)
