"""A structure that was read wrongly, however little, is refused with the row that shows it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.compose import make_column_transformer
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from dueto import FeatureSpace
from dueto.models import Model, as_model
from dueto.models.agreement import ROWS, agreeing
from dueto.models.lookup import NotUnderstood
from dueto.models.probes import probes
from models.tables import CATEGORIES, FAIR, GOOD, MISSING, NUMBERS, TEXT
from models.test_importers import LIBRARIES, hist, lgb, xgb
from trials import trials

MAKERS = {
    "tree": (lambda: DecisionTreeClassifier(random_state=0), MISSING, GOOD),
    "forest": (lambda: RandomForestClassifier(10, random_state=0), MISSING, GOOD),
    "boosting": (lambda: GradientBoostingClassifier(n_estimators=10), NUMBERS, GOOD),
    "histogram": (hist, CATEGORIES, FAIR),
    "xgboost": (xgb, CATEGORIES, FAIR),
    "lightgbm": (lgb, CATEGORIES, FAIR),
    "pipeline": (
        lambda: make_pipeline(
            make_column_transformer((OneHotEncoder(), ["job", "home"]), (MinMaxScaler(), ["a", "c"])),
            RandomForestClassifier(10, random_state=0),
        ),
        TEXT,
        FAIR,
    ),
}
FITTED: dict[str, Model] = {}


@pytest.fixture(scope="module", autouse=True)
def _forget():
    yield
    FITTED.clear()  # a booster that lives until Python ends is freed too late


def model_of(name):
    """Fitted once, read once."""
    if not LIBRARIES.get(name, True):
        pytest.skip(f"{name} is not installed")
    if name not in FITTED:
        make, table, target = MAKERS[name]
        model = as_model(make().fit(table, target.astype(int)), FeatureSpace.infer(table))
        assert model.structure is not None, model.unstructured
        FITTED[name] = model
    return FITTED[name]


def refused(model, structure):
    with pytest.raises(NotUnderstood, match=r"disagrees with the model on the row \(\w+=.*\): the score .* against "):
        agreeing(model, structure)


def changed(form, **parts):
    return replace(form, **{name: np.asarray(value) for name, value in parts.items()})


@pytest.mark.parametrize("name", MAKERS)
@trials(8)
@given(which=st.integers(0, 10**6), by=st.sampled_from([1e-3, -0.05, 0.2]))
def test_a_leaf_with_another_value_is_refused(name, which, by):
    model = model_of(name)
    form = model.structure.form
    leaves = np.flatnonzero(form.left < 0)
    value = form.value.copy()
    value[leaves[which % len(leaves)]] += by
    refused(model, replace(model.structure, form=changed(form, value=value)))


@pytest.mark.parametrize("name", [n for n in MAKERS if n != "pipeline"])
@trials(8)
@given(which=st.integers(0, 10**6), up=st.booleans())
def test_a_threshold_one_step_away_is_refused(name, which, up):
    """By two steps of the library's comparison, between leaves that differ, on a column of real numbers."""
    model = model_of(name)
    form = model.structure.form
    splits, split = form.splits, form.split
    b = np.flatnonzero(np.array(model.space.names)[model.structure.columns.owner] == "b")[0]
    lowest = np.flatnonzero((split >= 0) & (form.left[form.left] < 0) & (form.left[form.right] < 0))
    lowest = lowest[np.abs(form.value[form.left[lowest]] - form.value[form.right[lowest]]) > 1e-5]
    size = np.abs(splits.threshold[split[lowest]])
    mine = split[lowest[(splits.column[split[lowest]] == b) & (size < 1e9) & (size > 1e-30)]]
    k = mine[which % len(mine)]
    threshold = splits.threshold.copy()
    one = np.float32 if splits.float32 else np.float64
    threshold[k] = np.nextafter(
        np.nextafter(one(threshold[k]), one(np.inf if up else -np.inf)), one(np.inf if up else -np.inf)
    )
    refused(model, replace(model.structure, form=replace(form, splits=replace(splits, threshold=threshold))))


@pytest.mark.parametrize("name", ["tree", "forest", "histogram", "xgboost", "lightgbm"])
def test_missing_values_that_go_the_other_way_are_refused(name):
    model = model_of(name)
    form = model.structure.form
    b = np.flatnonzero(np.array(model.space.names)[model.structure.columns.owner] == "b")[0]
    turned = form.splits.missing_left ^ (form.splits.column == b)
    refused(model, replace(model.structure, form=replace(form, splits=replace(form.splits, missing_left=turned))))


@pytest.mark.parametrize("name", ["histogram", "xgboost", "lightgbm"])
def test_a_set_without_one_of_its_categories_is_refused(name):
    model = model_of(name)
    splits = model.structure.form.splits
    k = next(i for i, codes in enumerate(splits.sets) if codes is not None)
    sets = tuple(s[1:] if i == k else s for i, s in enumerate(splits.sets))
    refused(model, replace(model.structure, form=replace(model.structure.form, splits=replace(splits, sets=sets))))


def test_the_comparison_of_another_library_is_refused():
    """Less than for at most, float64 for float32, zero for missing: what agrees on all rows but those at thresholds."""
    for name, wrong in (("forest", {"strict": True}), ("forest", {"float32": False}), ("histogram", {"strict": True})):
        model = model_of(name)
        form = model.structure.form
        refused(model, replace(model.structure, form=replace(form, splits=replace(form.splits, **wrong))))
    if LIBRARIES["lightgbm"]:
        model = model_of("lightgbm")
        splits = model.structure.form.splits
        zero = np.where(np.array([s is None for s in splits.sets]), 1, 0).astype(np.int8)
        refused(model, replace(model.structure, form=replace(model.structure.form, splits=replace(splits, zero=zero))))


@pytest.mark.parametrize("name", MAKERS)
def test_a_wrong_constant_or_cut_is_refused(name):
    model = model_of(name)
    refused(model, replace(model.structure, form=replace(model.structure.form, base=model.structure.form.base + 0.01)))
    far = 2 * len(model.structure.form.root)
    with pytest.raises(NotUnderstood, match="disagrees"):
        agreeing(model, replace(model.structure, cut=model.structure.cut + far))


@pytest.mark.parametrize(
    ("make", "part"),
    [
        (lambda: make_pipeline(StandardScaler(), LogisticRegression()), "weights"),
        (lambda: make_pipeline(StandardScaler(), MLPClassifier((5, 4), max_iter=3000, random_state=0)), "weights"),
    ],
)
def test_a_weight_that_is_a_little_off_is_refused(make, part):
    model = as_model(make().fit(NUMBERS, GOOD), FeatureSpace.infer(NUMBERS))
    weights = getattr(model.structure.form, part)
    off = 1 + 1e-9
    wrong = (weights[0] * off, *weights[1:]) if isinstance(weights, tuple) else weights * off
    refused(model, replace(model.structure, form=replace(model.structure.form, **{part: wrong})))


def test_a_column_that_depends_on_another_feature_is_refused():
    model = model_of("forest")
    columns = model.structure.columns
    swapped = columns.owner.copy()
    swapped[:2] = swapped[1::-1]
    with pytest.raises(NotUnderstood, match=r"what it is given of 'a' depends on other features, as on the row \(a="):
        agreeing(model, replace(model.structure, columns=replace(columns, owner=swapped)))
    with pytest.raises(NotUnderstood, match="it is given 5 columns where 4 were expected"):
        agreeing(model, replace(model.structure, columns=replace(columns, owner=columns.owner[:4])))


def test_a_models_own_answer_wins_over_what_was_read(monkeypatch):
    fitted = LogisticRegression(max_iter=1000).fit(NUMBERS, GOOD)
    plain = LogisticRegression.predict_proba

    def odd(self, X):
        p = plain(self, X)
        return np.where(np.asarray(X["a"] == 7)[:, None], p[:, ::-1], p)

    monkeypatch.setattr(LogisticRegression, "predict_proba", odd)
    model = as_model(fitted, FeatureSpace.infer(NUMBERS))
    assert model.structure is None
    assert "the importer disagrees with the model on the row (a=7, " in model.unstructured
    assert " against 0." in model.unstructured
    assert (model.rows_checked, model.rows_scored) == (ROWS, 0)


@pytest.mark.parametrize("name", MAKERS)
def test_probes_hold_every_label_and_missing_and_come_to_every_node(name):
    model = model_of(name)
    structure = model.structure
    X = probes(structure, ROWS)
    assert X.shape == (ROWS, len(model.space))
    for j, feature in enumerate(model.space.features):
        if feature.labels:
            assert np.isin(feature.domain.values, X[:, j]).all()
        if feature.domain.missing:
            assert np.isnan(X[:, j]).any()
    form, Z = structure.form, structure.columns.numbers(X)
    left = np.empty((len(form.splits), len(X)), dtype=bool)
    for column, which in form.by_column.items():
        left[which] = form.splits.left(which, Z[:, column])
    came = [np.ones(len(X), dtype=bool) if i in set(form.root.tolist()) else None for i in range(len(form.left))]
    for i in range(len(form.left)):
        if form.split[i] >= 0:
            came[form.left[i]] = came[i] & left[form.split[i]]
            came[form.right[i]] = came[i] & ~left[form.split[i]]
    reached = np.array([c.any() for c in came])
    assert reached.mean() > (0.8 if name in ("pipeline", "tree", "forest") else 0.95)


def test_probes_find_where_a_scaled_range_crosses_a_threshold():
    """A threshold behind a scaler, moved by two steps of float32, on a declared range of real numbers."""
    table = NUMBERS[["b", "c"]]
    space = FeatureSpace.infer(table).declare({"b": {"low": -7.3, "high": 9.1}})
    fitted = make_pipeline(StandardScaler(), DecisionTreeClassifier(max_leaf_nodes=12, random_state=0)).fit(table, GOOD)
    model = as_model(fitted, space)
    assert model.structure is not None, model.unstructured
    splits = model.structure.form.splits
    for k in np.flatnonzero(splits.column == 0):
        threshold = splits.threshold.copy()
        threshold[k] = np.nextafter(np.nextafter(np.float32(threshold[k]), np.float32(9)), np.float32(9))
        refused(model, replace(model.structure, form=changed_splits(model.structure.form, threshold)))


def changed_splits(form, threshold):
    return replace(form, splits=replace(form.splits, threshold=threshold))


def test_probes_are_bounded_whatever_the_model_and_the_labels():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"u": rng.normal(size=3000), "shop": [f"s{i}" for i in range(3000)]})
    fold = make_column_transformer((OneHotEncoder(), ["shop"]), ("passthrough", ["u"]))
    fitted = make_pipeline(fold, LogisticRegression(C=1e-3)).fit(table, table["u"] > 0)
    model = as_model(fitted, FeatureSpace.infer(table))
    X = probes(model.structure, 500)
    assert np.isin(np.arange(3000), X[:, 1]).all()
    assert len(X) < 4000
    assert len(probes(model.structure, 5000)) == 5000
