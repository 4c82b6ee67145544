"""Text from a CSV file becomes the categories that a model was fitted on; where that cannot be, the refusal says so."""

from __future__ import annotations

import io

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import FixedThresholdClassifier, GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from dueto import FeatureSpace, InputError
from dueto.models import as_model
from dueto.models.tables import features_of
from models.tables import adversarial
from trials import trials

RNG = np.random.default_rng(3)
M = 300
REGIONS = ["Nord", "São Paulo 🏖", "Süd", "Île-de-France", "a", "ü"]
FITTED = pd.DataFrame(
    {
        "age": RNG.integers(18, 80, M),
        "region name": pd.Categorical(RNG.choice(REGIONS, M)),
        "income": RNG.normal(2000, 500, M).round(2),
        "job": pd.Categorical(RNG.choice(["clerk", "nurse", "smith"], M), categories=["smith", "clerk", "nurse"]),
    }
)
FITTED.loc[::9, "job"] = None
GOOD = ((FITTED["age"] > 45) ^ FITTED["region name"].isin(["Süd", "a"]) ^ (FITTED["job"] == "nurse")).to_numpy()
CSV = pd.read_csv(io.StringIO(FITTED.to_csv(index=False)))
PLAIN = FITTED.assign(**{"region name": pd.Categorical(RNG.choice(["north", "south", "west"], M))})


def xgb(**options):
    pytest.importorskip("xgboost")
    from xgboost import XGBClassifier

    return XGBClassifier(**{"n_estimators": 8, "max_depth": 4, "enable_categorical": True, "n_jobs": 1} | options)


def lgb():
    pytest.importorskip("lightgbm")
    from lightgbm import LGBMClassifier

    return LGBMClassifier(n_estimators=8, min_child_samples=3, cat_smooth=1, min_data_per_group=1, verbose=-1, n_jobs=1)


def hist():
    return HistGradientBoostingClassifier(max_iter=8, min_samples_leaf=3, categorical_features="from_dtype")


MAKERS = {
    "xgboost": xgb,
    "xgboost, sets": lambda: xgb(max_cat_to_onehot=1),
    "lightgbm": lgb,
    "histogram": hist,
    "in a pipeline": lambda: make_pipeline("passthrough", lgb()),
    "in a search": lambda: GridSearchCV(xgb(), {"max_depth": [3]}, cv=2),
    "in a wrapper": lambda: FixedThresholdClassifier(lgb(), threshold=0.4),
}


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize("kind", ["text", "objects", "first as text"])
@pytest.mark.parametrize("case", MAKERS)
def test_text_is_read_as_the_categories_of_the_fitting(case, kind, order):
    fitted = MAKERS[case]().fit(FITTED if "xgb" not in case else WORDS_IN_ORDER, GOOD)
    table = CSV[list(CSV)[::order]]
    if kind == "objects":
        table = table.astype({"region name": object, "job": object})
    elif kind == "first as text":
        table = table.assign(job=FITTED["job"])
    space = FeatureSpace.infer(table)
    model = as_model(fitted, space)
    expected = fitted.predict_proba(FITTED)[:, 1]
    assert np.array_equal(model.score(space.encode(table)), expected)
    assert model.structure is not None, model.unstructured
    X = adversarial(model.structure, 500)
    side = model.structure.side(model.structure.margin(X))
    assert np.array_equal(side[side != 0] > 0, model.good(X)[side != 0])


WORDS_IN_ORDER = FITTED.assign(job=FITTED["job"].cat.set_categories(["clerk", "nurse", "smith"]))


@pytest.mark.parametrize("case", ["xgboost", "lightgbm"])
def test_a_table_that_holds_some_of_the_labels_only_is_read_too(case):
    fitted = MAKERS[case]().fit(PLAIN, GOOD)
    some = (PLAIN["region name"] != "north").to_numpy()
    table = PLAIN[some].astype({"region name": str, "job": object}).reset_index(drop=True)
    space = FeatureSpace.infer(table)
    model = as_model(fitted, space)
    assert np.array_equal(model.score(space.encode(table)), fitted.predict_proba(PLAIN[some])[:, 1])


def test_a_label_that_lightgbm_never_saw_is_read_as_it_reads_it():
    fitted = lgb().fit(PLAIN, GOOD)
    table = PLAIN.astype({"region name": object, "job": object})
    table.loc[:20, "region name"] = "Atlantis"
    space = FeatureSpace.infer(table)
    model = as_model(fitted, space)
    missing = PLAIN.assign(**{"region name": PLAIN["region name"].where(np.arange(M) > 20)})
    assert np.array_equal(model.score(space.encode(table)), fitted.predict_proba(missing)[:, 1])
    assert model.structure is not None


@pytest.mark.parametrize(
    ("make", "change", "says"),
    [
        (xgb, {"job": 3}, "XGBClassifier was fitted on categories in column 'job', and the data has none there that c"),
        (xgb, {"job": "pilot"}, "in column 'job'"),
        (xgb, {"region name": ["Süd", "Nord"]}, "in column 'region name'"),
        (lgb, {"job": 3}, "fitted on 2 columns of categories, and the data has 1 of text or categories; give these"),
        (lgb, {"job": "pilot"}, "in column 'job'"),
        (lgb, {"age": "old"}, "fitted on 2 columns of categories, and the data has 3 of text"),
    ],
)
def test_what_cannot_be_made_categories_is_refused_with_the_remedy(make, change, says):
    fitted = make().fit(FITTED, GOOD)
    table = CSV.assign(**{c: np.resize(v, M) for c, v in change.items()})
    with pytest.raises(InputError, match=says) as caught:
        as_model(fitted, FeatureSpace.infer(table))
    assert str(caught.value).endswith("or in a Parquet file (a CSV file keeps no categories)")


def test_a_model_deep_inside_that_wants_categories_has_the_same_remedy():
    fitted = make_pipeline(FunctionTransformer(), xgb()).fit(FITTED, GOOD)
    space = FeatureSpace.infer(CSV)
    with pytest.raises(InputError, match=r"; give the columns as the categories that it was fitted on \(DataFrame.ast"):
        as_model(fitted, space).score(space.encode(CSV))


# -- what XGBoost keeps of labels -------------------------------------------------------------------------------------

LABELS = st.lists(st.text(st.sampled_from("abüß🏖é"), min_size=1, max_size=4), min_size=2, max_size=5, unique=True)


@given(LABELS)
@trials(40)
def test_labels_beyond_ascii_are_read_of_xgboost_or_it_is_said_why_not(labels):
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"r": pd.Categorical(np.resize(labels, 90), categories=labels), "a": rng.integers(0, 50, 90)})
    good = (table["a"] > 20) ^ (table["r"] == labels[0])
    fitted = xgb(n_estimators=3, max_depth=3).fit(table, good)
    space = FeatureSpace.infer(table)
    model = as_model(fitted, space)
    if model.structure is None:
        assert "XGBoost keeps two categories under one name" in model.unstructured
        return
    X = np.array([[k, a] for k in range(len(labels)) for a in range(50)], dtype=float)
    side = model.structure.side(model.structure.margin(X))
    assert np.array_equal(side[side != 0] > 0, model.good(X)[side != 0])


# -- names ------------------------------------------------------------------------------------------------------------


def test_columns_are_found_though_lightgbm_writes_no_blanks():
    fitted = lgb().fit(FITTED, GOOD)
    assert "region_name" in fitted.feature_name_
    table = FITTED.assign(granted=GOOD)[["granted", *FITTED]]
    assert list(features_of(fitted, table)) == list(FITTED)
    assert list(features_of(hist().fit(FITTED, GOOD), table)) == list(FITTED)
    assert list(features_of(lambda t: t, table)) == list(table)
    twins = table.assign(**{"region_name": 1})
    assert list(features_of(fitted, twins)) == ["age", "region_name", "income", "job"]
    short = table.drop(columns="age")
    assert list(features_of(fitted, short)) == list(short)
