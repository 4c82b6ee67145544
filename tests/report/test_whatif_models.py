"""The model in the page decides as the model itself does, on every family that it is evaluated for."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer, OneHotEncoder, StandardScaler

from dueto import FeatureSpace, fixed
from dueto.domain import same
from dueto.models import Tree, as_model
from dueto.report.whatif import offline
from models.tables import GOOD, NUMBERS, TEXT
from models.test_importers import CASES, skip_without
from report.offline import encoded, everything, page_of, said, settings

ROWS = 400
MOST = 80  # values around thresholds that a feature is given
KINDS = {"Ensemble": "trees", "Additive": "sum", "Network": "network"}
FAMILIES = """tree|tree, missing|forest, missing|bag|gradient boosting|exponential|histogram, categories
modified huber|network, float32|xgboost, missing|xgboost, sets of categories|xgboost, dart
lightgbm, missing is zero|lightgbm, zero is missing|lightgbm, categories|interpret, names
interpret, pairs of categories""".replace("\n", "|").split("|")


def around(model):
    """The model's space with numbers at, below and above its thresholds declared as the values of each feature."""
    rng = np.random.default_rng(0)
    space, structure = model.space, model.structure
    splits = getattr(structure.form, "splits", None)
    words = {}
    for j, feature in enumerate(space.features):
        if feature.labels or splits is None:
            continue
        t = splits.threshold[structure.columns.owner[splits.column] == j]
        t = t[np.abs(t) < 1e30]
        near = t.astype(np.float32)
        up, down = (np.nextafter(near, np.float32(s * np.inf)).astype(float) for s in (1, -1))
        sides = [np.nextafter(v, s * np.inf) for v in (t, (near + up) / 2, (near + down) / 2) for s in (1, -1)]
        found = np.concatenate([feature.domain.values, t, near.astype(float), up, down, *sides, [0.0, 1e-35, -1e-35]])
        if feature.kind == "integer":
            found = np.concatenate([feature.domain.values, np.floor(t), np.floor(t) + 1])
        found = np.unique(found)
        words[feature.name] = {"values": rng.choice(found, min(MOST, len(found)), replace=False).tolist()}
    return space.declare(words)


def tried(opened, model, x, *, kind, doubtful=0.01):
    """The page agrees with the model on random settings: by its decisions, wherever it makes one, and by its scores."""
    found = offline(model, model.space, [everything(model.space)], x)
    assert found["model"]["kind"] == kind
    at = settings(found, rows=ROWS)
    X = encoded(found, x, at)
    for j, feature in enumerate(model.space.features):
        assert (feature.domain.contains(X[:, j]) | same(X[:, j], x[j])).all()
    told = said(opened(page_of(found)), at)
    score, good = model.score(X), model.good(X)
    decided = np.array([row["good"] is not None for row in told])
    assert (~decided).mean() <= doubtful
    assert [row["good"] for row, d in zip(told, decided, strict=True) if d] == good[decided].tolist()
    off = np.abs(np.array([row["score"] for row in told]) - score)
    structure = model.structure
    assert (off <= structure.slack + structure.precision + 1e-15).all()
    if structure.slack < 1e-9:  # float64 throughout
        assert (off <= 1e-9 * score + 1e-15).all()
    return found, at, good


@pytest.mark.parametrize("case", FAMILIES)
def test_the_page_decides_as_the_model_does_beside_every_threshold(case, opened):
    skip_without(case)
    make, (table, target), form = CASES[case]
    fitted = make().fit(table, target.astype(int))
    model = as_model(fitted, FeatureSpace.infer(table))
    assert model.structure is not None, model.unstructured
    model = as_model(fitted, around(model))
    _, _, good = tried(opened, model, model.space.encode(table)[3], kind=KINDS[form.__name__])
    assert 0 < good.sum() < len(good)


def prepared(numbers):
    texts = ["job", "home"]
    return make_column_transformer((OneHotEncoder(), texts), (numbers, [c for c in TEXT.columns if c not in texts]))


PIPELINES = {
    "logistic": (lambda: make_pipeline(SimpleImputer(), StandardScaler()), LogisticRegression(), "sum"),
    "scorecard": (
        lambda: make_pipeline(SimpleImputer(), KBinsDiscretizer(4, quantile_method="averaged_inverted_cdf")),
        LogisticRegression(max_iter=500),
        "sum",
    ),
    "network": (
        lambda: make_pipeline(SimpleImputer(), StandardScaler()),
        MLPClassifier((8, 4), learning_rate_init=0.05, tol=0.01, max_iter=1000, random_state=0),
        "network",
    ),
    "forest": (SimpleImputer, ExtraTreesClassifier(9, random_state=0), "trees"),
}


@cache
def piped(case):
    numbers, estimator, _ = PIPELINES[case]
    return make_pipeline(prepared(numbers()), estimator).fit(TEXT, GOOD.astype(int))


@pytest.mark.filterwarnings("ignore:Bins whose width")
@pytest.mark.parametrize("desired", [0, 1])
@pytest.mark.parametrize("case", PIPELINES)
def test_encoders_imputers_and_scalers_are_folded_into_the_page(case, desired, opened):
    model = as_model(piped(case), FeatureSpace.infer(TEXT), desired=desired, threshold=0.4)
    tried(opened, model, model.space.encode(TEXT)[5], kind=PIPELINES[case][2])


def test_votes_that_tie_with_the_threshold_are_refusals_and_not_doubts(opened):
    fitted = RandomForestClassifier(10, random_state=0).fit(NUMBERS, GOOD)
    model = as_model(fitted, FeatureSpace.infer(NUMBERS))
    found, at, _ = tried(opened, model, model.space.encode(NUMBERS)[0], kind="trees", doubtful=0.0)
    assert found["model"]["exact"]
    assert (model.score(encoded(found, model.space.encode(NUMBERS)[0], at)) == model.threshold).sum() > 5


def test_a_bare_tree_of_counts_is_evaluated_too(opened):
    tree = Tree.from_arrays([1, -1, -1], [2, -1, -1], [0, -1, -1], [0.3, 0, 0], [[1, 1], [3, 1], [1, 3]])
    model = as_model(tree, FeatureSpace.infer(NUMBERS[["c", "b"]]))
    found, _, _ = tried(opened, model, np.array([0.1, NUMBERS["b"][0]]), kind="trees", doubtful=0.0)
    assert [control["idle"] for control in found["controls"]] == [False, True]


def test_what_only_the_model_can_tell_is_left_open_but_for_single_moves_which_it_was_asked(opened):
    """Leaves of thirds, at a threshold that some sums are: which side rounding puts them on, only the model knows."""
    X = np.array([[i, j] for i in range(3) for j in range(3)] * 9, dtype=float)
    y = (np.arange(len(X)) * 7 % 3 > 0).astype(int)
    fitted = RandomForestClassifier(3, max_depth=1, random_state=1).fit(X, y)
    space = FeatureSpace.infer(X)
    rows = np.unique(X, axis=0)
    threshold = float(as_model(fitted, space).score(rows)[4])
    model = as_model(fitted, space, threshold=threshold)
    found = offline(model, space, [everything(space)], rows[4])
    assert not found["model"]["exact"]
    at = settings(found, rows=60)
    told = said(opened(page_of(found)), at)
    good = model.good(encoded(found, rows[4], at))
    single = (at != at[0]).sum(axis=1) <= 1
    assert told[0]["good"] is False
    for row, alone, answer in zip(told, single, good, strict=True):
        assert row["good"] == answer or (row["good"] is None and not alone)


def test_a_model_is_cut_down_to_what_the_page_can_reach():
    fitted = RandomForestClassifier(20, random_state=0).fit(NUMBERS, GOOD)
    model = as_model(fitted, FeatureSpace.infer(NUMBERS))
    x = model.space.encode(NUMBERS)[0]
    whole = offline(model, model.space, [], x)["model"]
    part = offline(model, model.space, [fixed("b", "c")], x)["model"]
    assert len(part["nodes"]) < len(whole["nodes"]) / 3
    assert len(whole["nodes"].split()) < 3 * len(model.structure.form.left)
