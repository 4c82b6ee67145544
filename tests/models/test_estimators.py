"""Whatever was fitted becomes a model of the right class, by its best method, or is refused in a sentence."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.cluster import KMeans
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import HistGradientBoostingClassifier, IsolationForest, RandomForestClassifier, VotingClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression, Perceptron
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from dueto import FeatureSpace, InputError
from dueto.models import Tree, as_model
from dueto.models.labels import match

RNG = np.random.default_rng(0)
M = 80
FRAME = pd.DataFrame(
    {"age": RNG.integers(18, 60, M), "income": RNG.normal(size=M), "job": RNG.choice(["clerk", "smith", "tailor"], M)}
)
SPACE = FeatureSpace.infer(FRAME)
X = SPACE.encode(FRAME)
GOOD = (FRAME["age"] / 60 + (FRAME["job"] == "clerk") + RNG.normal(size=M) / 4 > 1).to_numpy()
NUMBERS = FRAME[["age", "income"]]
PLANE = FeatureSpace.infer(NUMBERS)
XY = PLANE.encode(NUMBERS)
THREE = np.array(["low", "mid", "top"])[np.digitize(NUMBERS["age"], [30, 45])]


def encoder():
    return make_column_transformer((OneHotEncoder(), ["job"]), remainder=StandardScaler())


# -- which class ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("desired", "classes", "place"),
    [
        (None, [0, 1], 1),
        (None, [-1, 1], 1),
        (None, ["a", "b"], 1),
        (None, [True], 0),
        (0, [0, 1], 0),
        ("1", [0, 1], 1),
        ("0", np.array([0, 1]), 0),
        (1, np.array(["0", "1"]), 1),
        (np.str_("b"), np.array(["a", "b"]), 1),
        (np.int64(2), [1, 2], 1),
        (2.0, [1, 2], 1),
        ("2", [1.0, 2.0], 1),
        ("True", [False, True], 1),
        ("false", [False, True], 0),
        (True, ["False", "True"], 1),
        (np.True_, np.array([False, True]), 1),
        (1, [False, True], 1),
        (True, [0, 1], 1),
        ("1", [1, "1"], 1),
        ("-1", [-1, 1], 0),
        ("yes", ["no"], None),
        (1, [0], None),
        ("no", ["no"], 0),
    ],
)
def test_a_label_is_found_however_it_is_typed(desired, classes, place):
    assert match(desired, classes) == place


@pytest.mark.parametrize(
    ("desired", "classes", "says"),
    [
        (None, ["a", "b", "c"], "3 classes; say which is the desired one: 'a', 'b', 'c'"),
        ("d", ["a", "b"], "no class 'd'; its classes are 'a', 'b'"),
        (2, np.array([0, 1]), "no class 2; its classes are 0, 1"),
        ("A", ["a", "b"], "no class 'A'"),
        (1.0, ["1", "1.00"], "no class 1.0; its classes are '1', '1.00'"),
    ],
)
def test_a_label_that_names_no_single_class_is_refused(desired, classes, says):
    with pytest.raises(InputError, match=says):
        match(desired, classes)


# -- which method -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("desired", ["no", "yes"])
def test_probability_of_the_desired_class_comes_first(desired):
    fitted = LogisticRegression().fit(NUMBERS, np.where(GOOD, "yes", "no"))
    model = as_model(fitted, PLANE, desired=desired, threshold=0.3)
    expected = fitted.predict_proba(NUMBERS)[:, ["no", "yes"].index(desired)]
    assert np.array_equal(model.score(XY), expected)
    assert (model.name, model.desired, model.threshold) == ("LogisticRegression", desired, 0.3)


@pytest.mark.parametrize("desired", [0, 1])
def test_a_margin_becomes_a_score_that_agrees_with_predict(desired):
    fitted = LinearSVC().fit(NUMBERS, GOOD.astype(int))
    model = as_model(fitted, PLANE, desired=desired)
    assert np.array_equal(model.good(XY), fitted.predict(NUMBERS) == desired)
    order = np.argsort(fitted.decision_function(NUMBERS))
    assert (np.diff(model.score(XY)[order]) * (1 if desired else -1) >= 0).all()


class Margins:
    """A classifier of nothing but margins, those of its first column."""

    def __init__(self, *classes):
        self.classes_ = np.array(classes)

    def decision_function(self, table):
        return np.asarray(table)[:, 0]


def test_a_margin_of_zero_is_half_and_the_least_positive_one_is_more():
    line = FeatureSpace.infer([[0.0]])
    margins = [[0.0], [5e-324], [1e-17], [-1e-17], [800.0], [-800.0], [1e308]]
    up, down = (as_model(Margins("no", "yes"), line, desired=d) for d in ("yes", "no"))
    assert up.score(margins)[0] == down.score(margins)[0] == 0.5
    assert up.good(margins).tolist() == [False, True, True, False, True, False, True]
    assert down.good(margins).tolist() == [False, False, False, True, False, True, False]
    assert up.score(margins)[4:].tolist() == pytest.approx([1.0, 0.0, 1.0])


@pytest.mark.parametrize(
    "fitted", [LinearSVC(), Perceptron(), SVC(decision_function_shape="ovo"), SVC(break_ties=True)]
)
def test_margins_of_several_classes_agree_with_predict(fitted):
    fitted.fit(StandardScaler().fit_transform(NUMBERS), THREE)
    scaled = StandardScaler().fit_transform(NUMBERS)
    space = FeatureSpace.infer(scaled)
    for label in ("low", "mid", "top"):
        assert np.array_equal(as_model(fitted, space, desired=label).good(scaled), fitted.predict(scaled) == label)


def test_predicted_labels_are_scores_of_zero_and_one():
    fitted = VotingClassifier([("tree", DecisionTreeClassifier()), ("line", LogisticRegression())]).fit(NUMBERS, THREE)
    model = as_model(fitted, PLANE, desired="mid")
    assert np.array_equal(model.score(XY), (fitted.predict(NUMBERS) == "mid").astype(float))


@pytest.mark.parametrize("desired", [None, "no", "yes"])
@pytest.mark.parametrize(
    "fitted", [DummyClassifier(), DecisionTreeClassifier(), make_pipeline(StandardScaler(), RandomForestClassifier(2))]
)
def test_a_model_of_one_class_is_refused_whatever_is_desired(fitted, desired):
    with pytest.raises(InputError, match="was fitted on one class only, 'no', so it has nothing to decide; fit it on"):
        as_model(fitted.fit(NUMBERS, ["no"] * M), PLANE, desired=desired)
    with pytest.raises(InputError, match="Margins was fitted on one class only, 'no'"):
        as_model(Margins("no"), PLANE, desired=desired)


# -- whole pipelines --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("flavour", ["pandas", "polars", "objects"])
def test_a_pipeline_takes_the_raw_columns(flavour):
    table = {"pandas": FRAME, "polars": pl.from_pandas(FRAME), "objects": FRAME.astype({"job": object}).to_numpy()}[
        flavour
    ]
    columns = ["job"] if flavour != "objects" else [2]
    pipeline = make_pipeline(
        make_column_transformer((OneHotEncoder(), columns), remainder=StandardScaler()), LogisticRegression()
    ).fit(table, GOOD)
    space = FeatureSpace.infer(table)
    model = as_model(pipeline, space)
    assert np.array_equal(model.score(space.encode(table)), pipeline.predict_proba(table)[:, 1])
    assert model.name == "LogisticRegression"
    assert model.desired is True
    assert model.tree is None


def test_boosting_on_pandas_categories_takes_them():
    frame = FRAME.astype({"job": "category"})
    frame.loc[::7, "job"] = None
    fitted = HistGradientBoostingClassifier(categorical_features="from_dtype", max_iter=5, min_samples_leaf=3).fit(
        frame, GOOD
    )
    space = FeatureSpace.infer(frame)
    assert np.array_equal(as_model(fitted, space).score(space.encode(frame)), fitted.predict_proba(frame)[:, 1])


@pytest.mark.parametrize("marker", [None, np.nan])
def test_missing_text_is_the_category_that_the_encoder_learned(marker):
    frame = FRAME.astype({"job": object})
    frame.loc[::5, "job"] = marker
    pipeline = make_pipeline(encoder(), LogisticRegression()).fit(frame, GOOD)
    space = FeatureSpace.infer(frame)
    assert np.array_equal(as_model(pipeline, space).score(space.encode(frame)), pipeline.predict_proba(frame)[:, 1])


def test_a_category_that_the_pipeline_never_saw_is_named_with_its_row():
    pipeline = make_pipeline(encoder(), LogisticRegression()).fit(FRAME, GOOD)
    space = SPACE.declare({"job": {"values": ["clerk", "smith", "tailor", "pilot"]}})
    rows = np.vstack([X, [30, 0.5, 3]])
    with pytest.raises(
        InputError, match=rf"failed on row {M} \(age=30, income=0.5, job=pilot\) with ValueError: Found unk"
    ):
        as_model(pipeline, space).score(rows)


def test_a_search_over_pipelines_is_a_classifier_too():
    pipeline = make_pipeline(
        make_column_transformer(
            (StandardScaler(), make_column_selector(dtype_include="number")), (OneHotEncoder(), ["job"])
        ),
        RandomForestClassifier(n_estimators=3),
    )
    search = GridSearchCV(pipeline, {"randomforestclassifier__max_depth": [2, 3]}, cv=2).fit(FRAME, GOOD)
    assert np.array_equal(as_model(search, SPACE).score(X), search.predict_proba(FRAME)[:, 1])


# -- structure --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("named", [False, True])
def test_the_tree_of_a_decision_tree_is_on_the_columns_of_the_space(named):
    table = FRAME[["income", "age"]]
    fitted = DecisionTreeClassifier().fit(table if named else NUMBERS.to_numpy(), GOOD)
    model = as_model(fitted, PLANE, desired=False)
    assert np.array_equal(model.tree.score(NUMBERS.to_numpy()), model.score(XY))
    assert set(model.score(XY)) == {0.0, 1.0}


def test_there_is_no_tree_where_text_or_half_precision_stands_between():
    numbers = make_column_transformer((OneHotEncoder(), ["job"]), remainder="passthrough")
    assert as_model(make_pipeline(numbers, DecisionTreeClassifier()).fit(FRAME, GOOD), SPACE).tree is None
    digits = pd.DataFrame({"digit": ["1", "2", "3", "4"]}, dtype=object)
    fitted = DecisionTreeClassifier().fit(digits, [0, 0, 1, 1])
    space = FeatureSpace.infer(digits)
    assert as_model(fitted, space).tree is None
    assert as_model(fitted, space).score(space.encode(digits)).tolist() == [0.0, 0.0, 1.0, 1.0]
    half = np.array([[0.1], [0.2]], dtype=np.float16)
    assert as_model(DecisionTreeClassifier().fit(half, [0, 1]), FeatureSpace.infer(half)).tree is None


def test_a_bare_tree_is_a_model_of_class_one_or_zero():
    tree = Tree.from_arrays([1, -1, -1], [2, -1, -1], [0, -1, -1], [40, 0, 0], [[1, 1], [3, 1], [1, 3]])
    model = as_model(tree, PLANE)
    assert model.score([[40.0, 0.0], [41.0, 0.0]]).tolist() == [0.25, 0.75]
    assert as_model(tree, PLANE, desired="0").score([[40.0, 0.0], [41.0, 0.0]]).tolist() == [0.75, 0.25]
    assert as_model(tree, PLANE, desired="0").tree.score([[40.0, 0.0]]).tolist() == [0.75]
    with pytest.raises(InputError, match="compares numbers, but 'job' holds labels"):
        as_model(tree, SPACE)
    with pytest.raises(InputError, match=r"looks at column 2 .* but the data has 2 columns"):
        as_model(tree.on_columns([2]), PLANE)
    with pytest.raises(InputError, match="no class 2; its classes are 0, 1"):
        as_model(tree, PLANE, desired=2)


# -- functions and look-alikes ----------------------------------------------------------------------------------------


def shares(table):
    """Probabilities of three classes."""
    top = table["age"].to_numpy() / 100
    return np.column_stack([1 - top, top / 4, top * 3 / 4])


def test_a_function_may_give_scores_or_columns():
    age = NUMBERS["age"].to_numpy() / 100
    assert np.array_equal(as_model(lambda t: t["age"] / 100, PLANE).score(XY), age)
    assert np.array_equal(as_model(lambda t: shares(t)[:, :1], PLANE).score(XY), 1 - age)
    assert np.array_equal(
        as_model(lambda t: np.column_stack([1 - t["age"] / 100, t["age"] / 100]), PLANE).score(XY), age
    )
    for desired in (0, "0", np.int64(0)):
        assert np.array_equal(as_model(shares, PLANE, desired=desired).score(XY), 1 - age)
    assert np.array_equal(as_model(shares, PLANE, desired=2).score(XY), age * 3 / 4)
    assert as_model(shares, PLANE, desired=2).name == "shares"


def test_a_function_of_columns_without_a_choice_or_with_a_wrong_one_is_refused():
    with pytest.raises(InputError, match="gives 3 columns; say which is the desired one by its number: 0, 1, 2"):
        as_model(shares, PLANE).score(XY)
    with pytest.raises(InputError, match="no column 3; choose one of 0, 1, 2"):
        as_model(shares, PLANE, desired=3).score(XY)
    with pytest.raises(InputError, match=r"one score a row, .* leave the desired class out"):
        as_model(lambda t: t["age"] / 100, PLANE, desired=1).score(XY)
    for desired in ("yes", -1, True, 0.5):
        with pytest.raises(InputError, match="does not name its classes"):
            as_model(shares, PLANE, desired=desired)


class Foreign:
    """Another library's classifier: scikit-learn's method, none of its ancestry."""

    classes_ = ("bad", "good")

    def predict_proba(self, table):
        return np.column_stack([1 - table["age"] / 100, table["age"] / 100]).astype(np.float32)


class Nameless:
    def predict(self, table):
        return (table["age"] / 100).to_numpy()[:, None]


def test_look_alikes_are_taken_by_their_methods():
    age = NUMBERS["age"].to_numpy() / 100
    assert as_model(Foreign(), PLANE).score(XY) == pytest.approx(age)
    assert as_model(Foreign(), PLANE, desired="bad").score(XY) == pytest.approx(1 - age)
    assert np.array_equal(as_model(Nameless(), PLANE).score(XY), age)


def test_a_model_is_passed_through_unless_it_would_change():
    model = as_model(shares, PLANE, desired=2, threshold=0.4)
    assert as_model(model, PLANE) is model
    assert as_model(model, PLANE, desired="2", threshold=0.4) is model
    with pytest.raises(InputError, match="made for another feature space"):
        as_model(model, SPACE)
    with pytest.raises(InputError, match=r"already has its desired class, 2, and its threshold, 0\.4"):
        as_model(model, PLANE, desired=1)
    with pytest.raises(InputError, match="already has"):
        as_model(model, PLANE, threshold=0.6)


@pytest.mark.parametrize(
    "obj",
    [
        LogisticRegression().fit(NUMBERS, GOOD),
        LinearSVC().fit(NUMBERS, GOOD),
        DecisionTreeClassifier().fit(NUMBERS.to_numpy(), GOOD),
        make_pipeline(StandardScaler(), LogisticRegression()).fit(NUMBERS, GOOD),
        Foreign(),
        Nameless(),
        Tree.from_arrays([1, -1, -1], [2, -1, -1], [0, -1, -1], [40, 0, 0], [[1, 1], [3, 1], [1, 3]]),
    ],
    ids=lambda obj: type(obj).__name__,
)
def test_every_kind_of_model_can_be_sent_to_another_process(obj):
    model = as_model(obj, PLANE)
    expected = model.score(XY)
    assert np.array_equal(pickle.loads(pickle.dumps(model)).score(XY), expected)


# -- refusals ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("obj", "says"),
    [
        (LogisticRegression(), "LogisticRegression is not fitted; call its fit"),
        (DecisionTreeClassifier(), "DecisionTreeClassifier is not fitted"),
        (make_pipeline(StandardScaler(), LogisticRegression()), "LogisticRegression is not fitted"),
        (GridSearchCV(LogisticRegression(), {}), "GridSearchCV is not fitted"),
        (LinearRegression().fit(NUMBERS, GOOD), r"LinearRegression is a regressor, .* no scores in \[0, 1\]"),
        (DecisionTreeRegressor(), "DecisionTreeRegressor is a regressor"),
        (IsolationForest(n_estimators=2).fit(NUMBERS), "IsolationForest is no classifier"),
        (KMeans(2, n_init=1).fit(NUMBERS.to_numpy()), "KMeans is no classifier"),
        (DecisionTreeClassifier().fit(NUMBERS, np.column_stack([GOOD, GOOD])), "several outputs at once"),
        (DecisionTreeClassifier().fit(NUMBERS, THREE), "3 classes; say which is the desired one: 'low', 'mid', 'top'"),
    ],
)
def test_what_cannot_be_a_model_is_refused(obj, says):
    with pytest.raises(InputError, match=says):
        as_model(obj, PLANE)


def test_probabilities_of_another_shape_are_refused():
    odd = Foreign()
    odd.classes_ = ("a", "b", "c")
    with pytest.raises(InputError, match=r"shape \(80, 2\) for 80 rows and 3 classes"):
        as_model(odd, PLANE, desired="a").score(XY)


@pytest.mark.parametrize(
    ("obj", "says"), [(LogisticRegression, "is a class"), (3, "got int"), ("m.onnx", "load_model")]
)
def test_what_does_not_predict_is_a_type_error(obj, says):
    with pytest.raises(TypeError, match=says):
        as_model(obj, PLANE)
