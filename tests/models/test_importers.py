"""What is read of a model decides as the model does, at thresholds and on missing values; or it says why it is not."""

from __future__ import annotations

import importlib.util
import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.linear_model import (
    LogisticRegression,
    LogisticRegressionCV,
    Perceptron,
    RidgeClassifier,
    RidgeClassifierCV,
    SGDClassifier,
)
from sklearn.model_selection import FixedThresholdClassifier, GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier

from dueto import FeatureSpace
from dueto.models import Model, Tree, as_model
from dueto.models.additive import Additive
from dueto.models.ensemble import Ensemble
from dueto.models.network import Network
from models.tables import CATEGORIES, FAIR, GOOD, MISSING, NUMBERS, THREE, adversarial

LIBRARIES = {
    name: importlib.util.find_spec(name) is not None for name in ("xgboost", "lightgbm", "catboost", "interpret")
}


def xgb(**options):
    from xgboost import XGBClassifier

    return XGBClassifier(**{"n_estimators": 12, "max_depth": 4, "enable_categorical": True, "n_jobs": 1} | options)


def lgb(**options):
    from lightgbm import LGBMClassifier

    small = {"n_estimators": 12, "min_child_samples": 3, "cat_smooth": 1, "min_data_per_group": 1}
    return LGBMClassifier(**{"verbose": -1, "n_jobs": 1} | small | options)


def cat(**options):
    from catboost import CatBoostClassifier

    return CatBoostClassifier(**{"iterations": 12, "depth": 4, "verbose": 0, "allow_writing_files": False} | options)


class Quiet:
    """What interpret warns of, missing values and terms of three features, is meant."""

    def __init__(self, model):
        self.model = model

    def fit(self, table, target):
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Missing values detected|Interactions with 3", UserWarning)
            return self.model.fit(table, target)


def ebm(**options):
    from interpret.glassbox import ExplainableBoostingClassifier

    eager = {"outer_bags": 2, "max_rounds": 60, "learning_rate": 0.2, "early_stopping_rounds": 1000, "n_jobs": 1}
    return Quiet(ExplainableBoostingClassifier(**eager | options))


def hist(**options):
    small = {"max_iter": 12, "min_samples_leaf": 3, "categorical_features": "from_dtype"}
    return HistGradientBoostingClassifier(**small | options)


def scaled(net):
    return make_pipeline(StandardScaler(), net)


PLAIN, HOLES, NAMES = (NUMBERS, GOOD), (MISSING, GOOD), (CATEGORIES, FAIR)
ARRAY = (MISSING.to_numpy(dtype=float), GOOD)
CASES = {
    "tree": (lambda: DecisionTreeClassifier(random_state=0), PLAIN, Ensemble),
    "tree, missing": (lambda: DecisionTreeClassifier(random_state=0), HOLES, Ensemble),
    "extra tree": (lambda: ExtraTreeClassifier(random_state=0), PLAIN, Ensemble),
    "forest": (lambda: RandomForestClassifier(15, random_state=0), PLAIN, Ensemble),
    "forest, missing": (lambda: RandomForestClassifier(15, random_state=0), HOLES, Ensemble),
    "forest, array": (lambda: RandomForestClassifier(15, random_state=0), ARRAY, Ensemble),
    "forest of stumps": (lambda: RandomForestClassifier(8, max_depth=1, random_state=0), PLAIN, Ensemble),
    "extra trees": (lambda: ExtraTreesClassifier(15, random_state=0), HOLES, Ensemble),
    "bag": (lambda: BaggingClassifier(n_estimators=7, max_features=0.5, random_state=0), PLAIN, Ensemble),
    "gradient boosting": (lambda: GradientBoostingClassifier(n_estimators=12), PLAIN, Ensemble),
    "gradient boosting from zero": (lambda: GradientBoostingClassifier(n_estimators=12, init="zero"), PLAIN, Ensemble),
    "exponential": (lambda: GradientBoostingClassifier(n_estimators=12, loss="exponential"), PLAIN, Ensemble),
    "histogram": (hist, HOLES, Ensemble),
    "histogram, categories": (hist, NAMES, Ensemble),
    "histogram, codes": (lambda: hist(categorical_features=[0, 3]), HOLES, Ensemble),
    "logistic": (lambda: LogisticRegression(max_iter=1000), PLAIN, Additive),
    "logistic, searched": (
        lambda: GridSearchCV(LogisticRegression(max_iter=1000), {"C": [0.1, 1]}, cv=2),
        PLAIN,
        Additive,
    ),
    "logistic, fixed": (lambda: FixedThresholdClassifier(LogisticRegression(max_iter=1000)), PLAIN, Additive),
    "discriminant": (LinearDiscriminantAnalysis, PLAIN, Additive),
    "ridge": (RidgeClassifier, PLAIN, Additive),
    "ridge, searched": (RidgeClassifierCV, PLAIN, Additive),
    "linear svm": (LinearSVC, PLAIN, Additive),
    "perceptron": (Perceptron, PLAIN, Additive),
    "hinge": (lambda: SGDClassifier(random_state=0), PLAIN, Additive),
    "log loss": (lambda: SGDClassifier(loss="log_loss", random_state=0), PLAIN, Additive),
    "modified huber": (lambda: SGDClassifier(loss="modified_huber", random_state=0), PLAIN, Additive),
    "network": (lambda: scaled(MLPClassifier((6, 5), max_iter=3000, random_state=0)), PLAIN, Network),
    "network without bends": (
        lambda: scaled(MLPClassifier((6, 5), activation="identity", max_iter=3000, random_state=0)),
        PLAIN,
        Additive,
    ),
    "network, float32": (
        lambda: MLPClassifier((6,), max_iter=3000, random_state=0),
        (NUMBERS.to_numpy(dtype=np.float32), GOOD),
        Network,
    ),
    "xgboost": (xgb, PLAIN, Ensemble),
    "xgboost, missing": (xgb, HOLES, Ensemble),
    "xgboost, array": (xgb, ARRAY, Ensemble),
    "xgboost, categories": (xgb, NAMES, Ensemble),
    "xgboost, sets of categories": (lambda: xgb(max_cat_to_onehot=1), NAMES, Ensemble),
    "xgboost, zero is missing": (lambda: xgb(missing=0.0), HOLES, Ensemble),
    "xgboost, base score": (lambda: xgb(base_score=0.9), HOLES, Ensemble),
    "xgboost, dart": (lambda: xgb(booster="dart", rate_drop=0.5), HOLES, Ensemble),
    "xgboost, several trees a round": (lambda: xgb(num_parallel_tree=3, subsample=0.5), HOLES, Ensemble),
    "lightgbm": (lgb, PLAIN, Ensemble),
    "lightgbm, missing": (lgb, HOLES, Ensemble),
    "lightgbm, array": (lgb, ARRAY, Ensemble),
    "lightgbm, categories": (lgb, NAMES, Ensemble),
    "lightgbm, zero is missing": (lambda: lgb(zero_as_missing=True), HOLES, Ensemble),
    "lightgbm, missing is zero": (lambda: lgb(use_missing=False), HOLES, Ensemble),
    "lightgbm, forest": (lambda: lgb(boosting_type="rf", bagging_freq=1, bagging_fraction=0.5), HOLES, Ensemble),
    "lightgbm, dart": (lambda: lgb(boosting_type="dart"), NAMES, Ensemble),
    "lightgbm, steep": (lambda: lgb(sigmoid=0.7), NAMES, Ensemble),
    "lightgbm, one leaf": (lambda: lgb(min_child_samples=1000), PLAIN, Ensemble),
    "catboost": (cat, HOLES, Ensemble),
    "catboost, missing is large": (lambda: cat(nan_mode="Max"), HOLES, Ensemble),
    "catboost, lopsided": (lambda: cat(grow_policy="Lossguide"), HOLES, Ensemble),
    "interpret": (lambda: ebm(interactions=0), PLAIN, Additive),
    "interpret, missing": (lambda: ebm(interactions=0), HOLES, Additive),
    "interpret, names": (lambda: ebm(interactions=0), (CATEGORIES, GOOD), Additive),
    "interpret, pairs": (lambda: ebm(interactions=4), HOLES, Ensemble),
    "interpret, pairs, array": (lambda: ebm(interactions=4), ARRAY, Ensemble),
    "interpret, pairs of categories": (lambda: ebm(interactions=8), NAMES, Ensemble),
    "interpret, coarse pairs": (lambda: ebm(interactions=6, max_interaction_bins=4), (CATEGORIES, GOOD), Ensemble),
    "interpret, numbers as labels": (
        lambda: ebm(interactions=3, feature_types=["nominal", *["continuous"] * 3, "nominal"]),
        HOLES,
        Ensemble,
    ),
}


def skip_without(case):
    library = case.partition(",")[0]
    if not LIBRARIES.get(library, True):
        pytest.skip(f"{library} is not installed")


def read(fitted, table, **options):
    space = FeatureSpace.infer(table)
    model = as_model(fitted, space, **options)
    assert model.structure is not None, model.unstructured
    assert model.unstructured == ""
    return model


def check(model, X):
    """The structure's side is the model's, and where both are given, its score is the model's too."""
    structure = model.structure
    margin, score = structure.margin(X), model.score(X)
    side = structure.side(margin)
    assert np.array_equal(side[side != 0] > 0, (score > model.threshold)[side != 0])
    assert np.abs(structure.link(margin) - score).max() <= structure.slack + structure.precision
    return side


@pytest.mark.parametrize(("desired", "threshold"), [(1, 0.5), (0, 0.3)])
@pytest.mark.parametrize("case", CASES)
def test_the_side_of_a_margin_is_the_models_decision(case, desired, threshold):
    skip_without(case)
    make, (table, target), form = CASES[case]
    model = read(make().fit(table, target.astype(int)), table, desired=desired, threshold=threshold)
    assert isinstance(model.structure.form, form)
    checked = model.rows_checked
    side = check(model, adversarial(model.structure))
    assert (model.rows_checked, model.rows_scored) == (checked, 4000)
    if case != "lightgbm, one leaf":
        assert {-1, 1} <= set(side.tolist())


@pytest.mark.parametrize("make", [DecisionTreeClassifier, lambda: RandomForestClassifier(15, random_state=0)])
@pytest.mark.parametrize("desired", [0, 1, 2])
def test_trees_of_several_classes_are_read_for_each_of_them(make, desired):
    model = read(make().fit(MISSING, THREE), MISSING, desired=desired, threshold=1 / 3)
    check(model, adversarial(model.structure))


def test_a_margin_at_the_cut_is_left_to_the_model():
    fitted = RandomForestClassifier(4, max_depth=2, random_state=0).fit([[0.0], [1.0]] * 20, [0, 1] * 20)
    model = read(fitted, [[0.0], [1.0]], threshold=0.0)
    assert model.structure.side(np.array([model.structure.cut])).tolist() == [0]
    assert model.structure.side(np.array([1.0, -1.0])).tolist() == [1, -1]


@pytest.mark.parametrize("threshold", [0.5, 0.25, 0.1])
def test_scores_that_tie_with_the_threshold_are_not_called_desired(threshold):
    """Leaves with shares that are the threshold exactly, and rows exactly at float64 thresholds of a float32 tree."""
    X = np.repeat([0.1, 0.2, 0.3, 0.4], 20)[:, None]
    y = np.concatenate([np.arange(20) < k for k in (10, 5, 2, 0)]).astype(int)
    for fitted in (DecisionTreeClassifier(), ExtraTreesClassifier(9, random_state=0)):
        model = read(fitted.fit(X, y), X, threshold=threshold)
        rows = np.vstack([X[::20], adversarial(model.structure)])
        side = check(model, rows)
        assert not (side[model.score(rows) <= threshold] > 0).any()


def test_a_bare_tree_has_a_structure_too():
    tree = Tree.from_arrays([1, -1, -1], [2, -1, -1], [0, -1, -1], [0.3, 0, 0], [[1, 1], [3, 1], [1, 3]])
    for desired in (0, 1):
        model = read(tree, NUMBERS[["c", "b"]], desired=desired)
        assert (model.structure.cut, model.structure.slack) == (0.5, 0.0)
        check(model, adversarial(model.structure))


def test_columns_are_found_whatever_their_order():
    for make in (lambda: RandomForestClassifier(5, random_state=0), lambda: scaled(LogisticRegression())):
        fitted = make().fit(NUMBERS[["c", "a", "b"]], GOOD)
        model = read(fitted, NUMBERS)
        assert [model.space.names[j] for j in model.structure.columns.owner] == ["c", "a", "b"]
        check(model, adversarial(model.structure))


@pytest.mark.parametrize("kind", ["polars", "integer names", "nullable", "float32", "one-hot"])
def test_tables_of_all_kinds_are_read(kind):
    options = {}
    table = MISSING.astype({"a": float}) if kind == "float32" else MISSING
    if kind == "polars":
        table = pl.from_pandas(table, nan_to_null=True)
    elif kind == "integer names":
        table = table.set_axis(range(table.shape[1]), axis=1)
    elif kind == "nullable":
        table = table.convert_dtypes()
    elif kind == "float32":
        table = table.drop(columns="d").astype(np.float32)
    else:
        dummies = pd.get_dummies(CATEGORIES["job"], prefix="job", dtype=int)
        table = pd.concat([MISSING, dummies], axis=1)
        options = {"onehot": {"job": list(dummies)}}
    for make in (hist, lambda: RandomForestClassifier(9, random_state=0)):
        fitted = make().fit(table, FAIR)
        space = FeatureSpace.infer(table, **options)
        model = as_model(fitted, space)
        assert model.structure is not None, model.unstructured
        check(model, adversarial(model.structure))


@pytest.mark.parametrize("library", ["xgboost", "lightgbm"])
def test_trees_after_the_best_iteration_do_not_count(library):
    skip_without(library)
    if library == "xgboost":
        fitted = xgb(n_estimators=200, early_stopping_rounds=3)
        fitted.fit(NUMBERS[::2], GOOD[::2], eval_set=[(NUMBERS[1::2], GOOD[1::2])], verbose=False)
        best = fitted.best_iteration + 1
    else:
        import lightgbm

        fitted = lgb(n_estimators=200)
        stop = [lightgbm.early_stopping(3, verbose=False)]
        with pytest.warns() if "eval_X" in lightgbm.LGBMClassifier.fit.__code__.co_varnames else _nothing():
            fitted.fit(NUMBERS[::2], GOOD[::2], eval_set=[(NUMBERS[1::2], GOOD[1::2])], callbacks=stop)
        best = fitted.best_iteration_
    model = read(fitted, NUMBERS)
    assert len(model.structure.form.root) == best < 200
    check(model, adversarial(model.structure))


def _nothing():
    import contextlib

    return contextlib.nullcontext()


def test_a_category_that_the_model_never_saw_is_read_as_it_reads_it():
    for make in (hist, lgb, lambda: ebm(interactions=6), lambda: ebm(interactions=0)):
        if make is not hist:
            skip_without("lightgbm" if make is lgb else "interpret")
        seen = CATEGORIES.assign(job=CATEGORIES["job"].cat.set_categories(list("wzvy")))
        fitted = make().fit(seen, FAIR)
        wide = CATEGORIES.assign(job=CATEGORIES["job"].cat.set_categories(list("xywvz")))
        model = read(fitted, wide)
        check(model, adversarial(model.structure))


class Dishonest(LogisticRegression):
    def predict_proba(self, X):
        return super().predict_proba(X) ** 2


class Renamed(LogisticRegression):
    """Nothing of its own."""


@pytest.mark.parametrize(
    ("fitted", "says"),
    [
        (lambda: SVC().fit(NUMBERS, GOOD), "dueto does not know the inside of SVC"),
        (lambda: GaussianNB().fit(NUMBERS, GOOD), "does not know the inside of GaussianNB"),
        (lambda: AdaBoostClassifier(n_estimators=2).fit(NUMBERS, GOOD), "the inside of AdaBoostClassifier"),
        (lambda: CalibratedClassifierCV(cv=2).fit(NUMBERS, GOOD), "the inside of CalibratedClassifierCV"),
        (lambda: Dishonest().fit(NUMBERS, GOOD), "does not know the inside of Dishonest"),
        (lambda: DummyClassifier().fit(NUMBERS, GOOD), "the inside of DummyClassifier"),
        (lambda: GridSearchCV(SVC(), {}, cv=2).fit(NUMBERS, GOOD), "the inside of GridSearchCV"),
        (lambda: lambda table: table["a"] / 30, "does not know the inside of <lambda>"),
        (lambda: LogisticRegression(max_iter=5000).fit(NUMBERS, THREE), "for two classes, not 3"),
        (lambda: LinearSVC().fit(NUMBERS, THREE), "for two classes, not 3"),
        (lambda: MLPClassifier((3,), max_iter=3000).fit(NUMBERS, THREE), "for two classes, not 3"),
        (lambda: hist().fit(NUMBERS, THREE), "for two classes, not 3"),
        (lambda: MLPClassifier((3,), activation="tanh", max_iter=3000).fit(NUMBERS, GOOD), "'identity', not 'tanh'"),
        (lambda: BaggingClassifier(LogisticRegression(), 2).fit(NUMBERS, GOOD), "LogisticRegression is not a sum of t"),
        (
            lambda: GradientBoostingClassifier(init=LogisticRegression(), n_estimators=2).fit(NUMBERS, GOOD),
            "starts from a constant",
        ),
    ],
)
def test_what_is_not_understood_says_why(fitted, says):
    obj = fitted()
    several = len(getattr(obj, "classes_", ())) > 2
    model = as_model(obj, FeatureSpace.infer(NUMBERS), desired=1 if several else None)
    assert model.structure is None
    assert says in model.unstructured
    assert (model.rows_checked, model.rows_scored) == (0, 0)


@pytest.mark.parametrize(
    ("case", "make", "says"),
    [
        ("xgboost", lambda: xgb(booster="gblinear", enable_categorical=False, max_depth=None), "not as gblinear"),
        ("xgboost", lambda: xgb(objective="binary:hinge"), "not binary:hinge"),
        ("lightgbm", lambda: lgb(linear_tree=True), "its leaves hold linear models"),
        ("lightgbm", lambda: lgb(objective="cross_entropy"), "not cross_entropy"),
        ("interpret", lambda: ebm(interactions=[(0, 1, 2)]), "terms of one or two features, not of more"),
    ],
)
def test_boosting_of_another_kind_is_not_understood(case, make, says):
    skip_without(case)
    model = as_model(make().fit(NUMBERS, GOOD.astype(int)), FeatureSpace.infer(NUMBERS))
    assert model.structure is None
    assert says in model.unstructured


def test_a_subclass_that_changes_nothing_is_read():
    read(Renamed(max_iter=1000).fit(NUMBERS, GOOD), NUMBERS)
    read(LogisticRegressionCV(Cs=2, cv=2, max_iter=1000, **_quiet()).fit(NUMBERS, GOOD), NUMBERS)


def _quiet():
    """Options whose absence newer versions of scikit-learn warn of."""
    known = LogisticRegressionCV().get_params()
    quiet = {"use_legacy_attributes": False, "scoring": "neg_log_loss", "l1_ratios": (0,)}
    return {name: value for name, value in quiet.items() if name in known}


def test_a_logistic_score_always_exceeds_a_threshold_of_zero():
    model = as_model(LogisticRegression(max_iter=1000).fit(NUMBERS, GOOD), FeatureSpace.infer(NUMBERS), threshold=0.0)
    assert model.structure is None
    assert "exceeds the threshold 0" in model.unstructured
    read(RandomForestClassifier(3).fit(NUMBERS, GOOD), NUMBERS, threshold=0.0)


def test_a_model_made_by_hand_is_a_black_box():
    model = Model(lambda table: table["a"] / 30, FeatureSpace.infer(NUMBERS), name="score card")
    assert model.structure is None
    assert model.unstructured == "dueto does not know the inside of score card"


def test_a_range_of_numbers_bounds_the_rounding_by_its_ends():
    space = FeatureSpace.infer(NUMBERS[["a", "b"]]).declare({"b": {"low": -1000.0, "high": 10.0}})
    fitted = LogisticRegression().fit(NUMBERS[["a", "b"]], GOOD)
    wide, narrow = as_model(fitted, space).structure, read(fitted, NUMBERS[["a", "b"]]).structure
    assert wide.slack > 10 * narrow.slack


@pytest.mark.parametrize(
    "case",
    ["forest", "histogram, categories", "network", "xgboost, categories", "lightgbm", "interpret, coarse pairs"],
)
def test_a_structure_can_be_sent_to_another_process(case):
    skip_without(case)
    make, (table, target), _ = CASES[case]
    model = read(make().fit(table, target), table)
    X = adversarial(model.structure, 100)
    sent = pickle.loads(pickle.dumps(model))
    assert sent.rows_checked == model.rows_checked
    assert np.array_equal(sent.structure.margin(X), model.structure.margin(X))
    assert sent.rows_checked == model.rows_checked  # not read again
