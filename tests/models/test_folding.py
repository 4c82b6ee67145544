"""A folded pipeline gives the numbers of its transformers, and each column is a function of its feature alone."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.decomposition import PCA
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import SelectFromModel, SelectKBest, VarianceThreshold
from sklearn.impute import KNNImputer, MissingIndicator, SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import (
    Binarizer,
    FunctionTransformer,
    KBinsDiscretizer,
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    PowerTransformer,
    QuantileTransformer,
    RobustScaler,
    SplineTransformer,
    StandardScaler,
    TargetEncoder,
)

from dueto import FeatureSpace
from dueto.models import as_model
from models.tables import CATEGORIES, FAIR, GOOD, NUMBERS, TEXT
from models.test_importers import LIBRARIES, check, hist, lgb, xgb

NUM, CAT, HOLES = ["a", "c", "d"], ["job", "home"], ["b", "e"]
JUST = SimpleImputer()


def after(*steps, columns=HOLES):
    """Steps over imputed numbers, beside one-hot text."""
    return make_column_transformer((OneHotEncoder(), CAT), (make_pipeline(JUST, *steps), columns))


def numbers(*steps):
    return make_column_transformer((make_pipeline(*steps), NUM))


BINS = {"strategy": "uniform", "subsample": None}
CASES = {
    "StandardScaler": numbers(StandardScaler()),
    "MinMaxScaler": numbers(MinMaxScaler(clip=True)),
    "MaxAbsScaler": numbers(MaxAbsScaler()),
    "RobustScaler": numbers(RobustScaler()),
    "QuantileTransformer": numbers(QuantileTransformer(n_quantiles=20)),
    "PowerTransformer": numbers(PowerTransformer()),
    "KBinsDiscretizer": numbers(KBinsDiscretizer(3, encode="ordinal", **BINS)),
    "KBinsDiscretizer, one-hot": numbers(KBinsDiscretizer(3, encode="onehot", **BINS)),
    "Binarizer": numbers(Binarizer(threshold=0.25)),
    "OneHotEncoder": make_column_transformer((OneHotEncoder(), [*CAT, "a"])),
    "OneHotEncoder, dropping": make_column_transformer((OneHotEncoder(drop="first"), CAT), ("passthrough", ["a"])),
    "OneHotEncoder, rare": make_column_transformer((OneHotEncoder(min_frequency=0.26), ["a", *CAT])),
    "OneHotEncoder, if binary": make_column_transformer((OneHotEncoder(drop="if_binary"), ["d", *CAT])),
    "OneHotEncoder, scaled": make_pipeline(
        make_column_transformer((OneHotEncoder(), CAT), remainder="drop"), StandardScaler(with_mean=False)
    ),
    "OrdinalEncoder": make_column_transformer((OrdinalEncoder(encoded_missing_value=-1), CAT)),
    "TargetEncoder": make_column_transformer((TargetEncoder(), [*CAT, "a"])),
    "SimpleImputer": after(),
    "SimpleImputer, indicating": make_column_transformer((SimpleImputer(add_indicator=True), [*HOLES, "a"])),
    "SimpleImputer, constant": make_column_transformer((SimpleImputer(strategy="constant", fill_value=-9), HOLES)),
    "SimpleImputer, of zeros": make_column_transformer((SimpleImputer(missing_values=0.0), ["a", "c"])),
    "SimpleImputer, of text": make_column_transformer(
        (make_pipeline(SimpleImputer(strategy="most_frequent"), OneHotEncoder()), CAT)
    ),
    "MissingIndicator": make_column_transformer((MissingIndicator(), HOLES), ("passthrough", ["a"])),
    "imputed, then scaled": after(StandardScaler()),
    "SplineTransformer": after(SplineTransformer(n_knots=4)),
    "SplineTransformer, less one": after(SplineTransformer(n_knots=4, include_bias=False)),
    "VarianceThreshold": make_pipeline(after(), VarianceThreshold(0.15)),
    "SelectKBest": make_pipeline(after(), SelectKBest(k=4)),
    "SelectFromModel": make_pipeline(after(), SelectFromModel(RandomForestClassifier(5, random_state=0))),
    "a function of NumPy": numbers(FunctionTransformer(np.log1p)),
    "floor": numbers(FunctionTransformer(np.floor)),
    "no function": numbers(FunctionTransformer()),
    "a union": after(FeatureUnion([("it", "passthrough"), ("scaled", StandardScaler()), ("no", "drop")])),
    "a selector of columns": make_column_transformer(
        (OneHotEncoder(), make_column_selector(dtype_exclude="number")), (JUST, make_column_selector("^[abc]$"))
    ),
    "positions and masks": make_column_transformer(
        (OneHotEncoder(), [-2, -1]), (MinMaxScaler(), [True, False, True, False, False, False, False]), ("drop", [3])
    ),
    "a remainder": make_column_transformer((OneHotEncoder(), CAT), (JUST, HOLES), remainder=RobustScaler()),
    "frames inside": make_column_transformer(
        (OneHotEncoder(sparse_output=False), CAT), (JUST, HOLES), remainder="passthrough"
    ).set_output(transform="pandas"),
    "steps that pass": Pipeline([("nothing", "passthrough"), ("none", None), ("some", after())]),
}


def read(fitted, table):
    model = as_model(fitted, FeatureSpace.infer(table))
    assert model.structure is not None, model.unstructured
    return model


def drawn(space, n=400):
    rng = np.random.default_rng(1)
    domains = [f.domain for f in space.features]
    return np.column_stack([rng.choice(np.append(d.values, [np.nan] * (d.missing > 0)), n) for d in domains])


def equal(Z, other):
    return np.array_equal(Z, other, equal_nan=True)


@pytest.mark.parametrize("name", CASES)
def test_columns_are_the_numbers_of_the_transformers(name):
    forest = RandomForestClassifier(6, random_state=0)
    fitted = make_pipeline(CASES[name], forest).fit(TEXT, FAIR)
    model = read(fitted, TEXT)
    space, columns = model.space, model.structure.columns
    X = drawn(space)
    expected = fitted[:-1].transform(space.decode(X))
    expected = np.asarray(expected.toarray() if hasattr(expected, "toarray") else expected, dtype=float)
    assert equal(columns.numbers(X), expected)
    assert len(columns) == expected.shape[1]
    for j, places in enumerate(columns.places):
        assert equal(columns.of(j, X[:, j]), expected[:, places])
        moved = X.copy()
        moved[:, j] = np.random.default_rng(j).permutation(X[:, j])
        others = np.setdiff1d(np.arange(len(columns)), places)
        assert equal(columns.numbers(moved)[:, others], expected[:, others])
    check(model, X)


@pytest.mark.parametrize("name", CASES)
def test_a_column_that_is_said_to_rise_never_falls(name):
    fitted = make_pipeline(CASES[name], RandomForestClassifier(2, random_state=0)).fit(TEXT, FAIR)
    columns = read(fitted, TEXT).structure.columns
    for j, feature in enumerate(columns.space.features):
        values = feature.domain.values
        if not columns.monotone[columns.places[j]].any():
            continue
        Z = columns.of(j, np.union1d(values, (values[1:] + values[:-1]) / 2))
        for k, c in enumerate(columns.places[j]):
            if columns.monotone[c]:
                assert not feature.labels
                assert (np.diff(Z[:, k]) * columns.monotone[c] >= 0).all()


def test_scalers_bins_and_imputers_are_known_to_rise():
    for name in ("StandardScaler", "MinMaxScaler", "KBinsDiscretizer", "Binarizer", "floor", "no function"):
        fitted = make_pipeline(CASES[name], RandomForestClassifier(2, random_state=0)).fit(TEXT, FAIR)
        columns = read(fitted, TEXT).structure.columns
        assert columns.monotone.tolist() == [1, 1, 1]
    fitted = make_pipeline(after(StandardScaler()), RandomForestClassifier(2, random_state=0)).fit(TEXT, FAIR)
    assert read(fitted, TEXT).structure.columns.monotone[-2:].tolist() == [1, 1]


@pytest.mark.parametrize(
    ("step", "says"),
    [
        (PCA(2), "'columntransformer, pipeline, pca', PCA, is not known to work on each column for itself"),
        (KNNImputer(), "KNNImputer"),
        (Normalizer(), "Normalizer"),
        (PolynomialFeatures(2), "PolynomialFeatures"),
        (FunctionTransformer(lambda t: t * 2), "functiontransformer' calls a function that is not known"),
    ],
)
def test_steps_that_may_mix_columns_are_not_understood(step, says):
    fold = make_column_transformer((make_pipeline(SimpleImputer(), step), ["a", "b"]))
    fitted = make_pipeline(fold, StandardScaler(), LogisticRegression()).fit(TEXT, GOOD)
    model = as_model(fitted, FeatureSpace.infer(TEXT))
    assert model.structure is None
    assert says in model.unstructured


class Doubled(StandardScaler):
    def transform(self, X):
        return super().transform(X)[:, ::-1]


def test_a_transformer_with_a_method_of_its_own_is_not_understood():
    fitted = make_pipeline(Doubled(), LogisticRegression()).fit(NUMBERS[["a", "b"]], GOOD)
    model = as_model(fitted, FeatureSpace.infer(NUMBERS[["a", "b"]]))
    assert "Doubled" in model.unstructured


def test_text_that_reaches_the_estimator_is_not_understood():
    digits = pd.DataFrame({"a": NUMBERS["a"], "job": np.where(GOOD, "x", "y")})
    tail = make_pipeline(make_column_transformer(("passthrough", ["a", "job"])), LogisticRegression())
    fitted = tail.fit(digits.assign(job=GOOD.astype(int)), GOOD)
    model = as_model(fitted, FeatureSpace.infer(digits))
    assert "columns that are not numbers" in model.unstructured


@pytest.mark.parametrize("flavour", ["polars", "integer names", "array", "another order", "fewer columns"])
def test_pipelines_over_tables_of_all_kinds_are_folded(flavour):
    table, num, cat = TEXT, ["a", "b"], ["job"]
    if flavour == "polars":
        table = pl.from_pandas(TEXT)
    elif flavour == "integer names":
        table, num, cat = TEXT.set_axis([str(i) for i in range(TEXT.shape[1])], axis=1), ["0", "1"], ["5"]
    elif flavour == "array":
        table, num, cat = TEXT.to_numpy(dtype=object), [0, 1], [5]
    fold = make_column_transformer((make_pipeline(SimpleImputer(), StandardScaler()), num), (OneHotEncoder(), cat))
    for final in (LogisticRegression(), RandomForestClassifier(6, random_state=0)):
        seen = {"another order": TEXT[TEXT.columns[::-1]], "fewer columns": TEXT[["job", "b", "a"]]}.get(flavour, table)
        model = read(make_pipeline(fold, final).fit(seen, FAIR), table)
        owners = [model.space.features[j].columns[0] for j in model.structure.columns.owner]
        assert [str(c) for c in owners] == [str(c) for c in [*num, *cat * 4]]
        check(model, drawn(model.space))


@pytest.mark.parametrize("library", ["sklearn", "lightgbm", "xgboost"])
def test_boosting_at_the_end_of_a_pipeline_is_read(library):
    if not LIBRARIES.get(library, True):
        pytest.skip(f"{library} is not installed")
    make = {"sklearn": lambda: hist(categorical_features=[0, 1]), "lightgbm": lgb, "xgboost": xgb}[library]
    fold = make_column_transformer((OrdinalEncoder(encoded_missing_value=-1), CAT), (MinMaxScaler(), HOLES))
    model = read(make_pipeline(fold, make()).fit(TEXT, FAIR), TEXT)
    check(model, drawn(model.space))


def test_what_a_sparse_table_does_not_hold_is_missing_to_xgboost_and_zero_to_others():
    table = TEXT.drop(columns=HOLES).assign(a=TEXT["a"] - 7)  # a is zero now and then
    fold = make_column_transformer((OneHotEncoder(drop="first"), CAT), remainder="passthrough", sparse_threshold=1.0)
    for library, make in (("xgboost", xgb), ("lightgbm", lgb), ("sklearn", lambda: RandomForestClassifier(6))):
        if LIBRARIES.get(library, True):
            fitted = make_pipeline(fold, make()).fit(table, FAIR)
            assert hasattr(fitted[0].transform(table), "tocoo")
            model = read(fitted, table)
            check(model, drawn(model.space))


def test_pandas_categories_come_through_a_pipeline_that_passes_them():
    fold = make_column_transformer(("passthrough", ["job", "grade"]), (JUST, ["b"])).set_output(transform="pandas")
    model = read(make_pipeline(fold, hist()).fit(CATEGORIES, FAIR), CATEGORIES)
    check(model, drawn(model.space))


def test_many_values_are_asked_in_one_call():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"u": rng.normal(size=15_000), "v": rng.normal(size=15_000), "w": rng.integers(0, 2, 15_000)})
    fitted = make_pipeline(StandardScaler(), LogisticRegression()).fit(table, table["u"] > table["w"])
    model = read(fitted, table)
    columns = model.structure.columns
    values = model.space.features[0].domain.values
    assert len(values) == 15_000
    assert equal(columns.of(0, values)[:, 0], fitted[0].transform(table.sort_values("u"))[:, 0])
