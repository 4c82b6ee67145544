"""One-hot groups: one feature each, with the labels that the encoder's columns mean."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, OrdinalEncoder, StandardScaler

from dueto import FeatureSpace, InputError

M = 80


def table() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    jobs = ["clerk", "clerk_of works", "smith", "tailor", "baker"]
    frame = pd.DataFrame(
        {
            "age": rng.integers(20, 60, M),
            "job": rng.choice(jobs, M, p=[0.4, 0.3, 0.2, 0.06, 0.04]),
            "sex": rng.choice(["f", "m"], M),
            "income": rng.random(M).round(2),
        }
    )
    frame.loc[[3, 5], "job"] = np.nan
    return frame


FRAME = table()
FULL = FRAME.fillna("none").astype({"job": object, "sex": object})
TEXTS = ["job", "sex"]


def encoder(**options: Any) -> OneHotEncoder:
    return OneHotEncoder(sparse_output=False, **options)


def imputed(**options: Any) -> Pipeline:
    return make_pipeline(SimpleImputer(strategy="most_frequent", **options), encoder())


def labels_by_row(space: FeatureSpace, out: Any, name: str) -> list[Any]:
    return [space[name].label(v) for v in space.encode(out)[:, space.index(name)]]


ENCODERS = {
    "plain": {},
    "drop first": {"drop": "first"},
    "drop if binary": {"drop": "if_binary"},
    "drop chosen": {"drop": ["smith", "m"]},
    "infrequent": {"min_frequency": 8, "handle_unknown": "infrequent_if_exist"},
    "infrequent, drop first": {"min_frequency": 8, "drop": "first"},
    "infrequent, drop if binary": {"max_categories": 2, "drop": "if_binary"},
    "at most two": {"max_categories": 2},
}


@pytest.mark.parametrize("named", [True, False], ids=["named", "bare"])
@pytest.mark.parametrize("options", ENCODERS.values(), ids=ENCODERS)
def test_each_row_has_the_label_that_the_encoder_reads_back(options: dict[str, Any], named: bool):
    fitted = encoder(**options).fit(FULL[TEXTS] if named else FULL[TEXTS].to_numpy())
    out = (
        fitted.set_output(transform="pandas").transform(FULL[TEXTS])
        if named
        else fitted.transform(FULL[TEXTS].to_numpy())
    )
    space = FeatureSpace.infer(out, onehot=fitted)
    assert space.names == (("job", "sex") if named else ("x0", "x1"))
    back = fitted.inverse_transform(np.asarray(out))
    for i, name in enumerate(space.names):
        assert space[name].kind == "category"
        assert labels_by_row(space, out, name) == back[:, i].tolist()
    found = space.decode(space.encode(out))
    assert np.array_equal(np.asarray(found), np.asarray(out))


def test_a_dropped_category_is_known_though_no_row_has_it():
    fitted = encoder(drop="first").set_output(transform="pandas").fit(FULL[["sex"]])
    men = fitted.transform(FULL[["sex"]][FULL["sex"] == "m"])
    space = FeatureSpace.infer(men, onehot=fitted)
    assert space["sex"].labels == ("m", "f")
    assert space["sex"].domain.values.tolist() == [0.0]
    assert labels_by_row(space, fitted.transform(pd.DataFrame({"sex": ["f"]})), "sex") == ["f"]


def test_an_unknown_category_is_none_of_them():
    fitted = encoder(handle_unknown="ignore").set_output(transform="pandas").fit(FULL[["sex"]])
    out = fitted.transform(pd.DataFrame({"sex": ["f", "m", "x"]}, dtype=object))
    assert labels_by_row(FeatureSpace.infer(out, onehot=fitted), out, "sex") == ["f", "m", "(none)"]


NUMPY = FULL.to_numpy()
TRANSFORMERS = {
    "passthrough": (ColumnTransformer([("n", "passthrough", ["age"]), ("c", encoder(), TEXTS)]), FULL, TEXTS),
    "remainder": (ColumnTransformer([("c", encoder(), TEXTS)], remainder="passthrough"), FULL, TEXTS),
    "short names": (
        ColumnTransformer([("c", encoder(), TEXTS)], remainder="passthrough", verbose_feature_names_out=False),
        FULL,
        TEXTS,
    ),
    "imputed": (ColumnTransformer([("c", imputed(), TEXTS), ("n", StandardScaler(), ["age"])]), FRAME, TEXTS),
    "imputed, indicator": (
        ColumnTransformer([("n", "passthrough", ["age"]), ("c", imputed(add_indicator=True), ["job"])]),
        FRAME,
        ["job", "missingindicator_job"],
    ),
    "by selector": (
        ColumnTransformer([("c", encoder(), make_column_selector(dtype_include=object))], remainder="passthrough"),
        FULL,
        TEXTS,
    ),
    "by slice": (ColumnTransformer([("c", encoder(), slice("job", "sex"))]), FULL, TEXTS),
    "by position": (ColumnTransformer([("c", encoder(), [2, 1])]), NUMPY, ["2", "1"]),
    "by mask": (ColumnTransformer([("c", encoder(), [False, True, True, False])]), NUMPY, ["1", "2"]),
    "by slices": (
        ColumnTransformer([("a", encoder(), slice(1, 2)), ("n", "passthrough", [0]), ("b", encoder(), slice(2, 3))]),
        NUMPY,
        ["1", "2"],
    ),
    "twice the same": (
        ColumnTransformer([("a", encoder(), ["sex"]), ("b", encoder(), ["sex"])]),
        FULL,
        ["sex", "b__sex"],
    ),
    "dropped and functions": (
        ColumnTransformer(
            [
                ("d", "drop", ["income"]),
                ("f", FunctionTransformer(feature_names_out="one-to-one"), ["age"]),
                ("c", encoder(drop="first"), TEXTS),
            ]
        ),
        FULL,
        TEXTS,
    ),
    "nested": (
        ColumnTransformer(
            [("o", ColumnTransformer([("c", encoder(), ["sex"])], remainder="passthrough"), ["age", "sex"])]
        ),
        FULL,
        ["sex"],
    ),
    "pipeline": (imputed(), FRAME[TEXTS], TEXTS),
    "pipeline of arrays": (imputed(), FULL[TEXTS].to_numpy(), ["x0", "x1"]),
    "passthrough last": (
        Pipeline([("c", ColumnTransformer([("e", encoder(), TEXTS)])), ("nothing", "passthrough"), ("no", None)]),
        FULL,
        TEXTS,
    ),
    "no encoder": (make_pipeline(SimpleImputer(), StandardScaler()), FULL[["age"]], []),
    "another encoder": (OrdinalEncoder(), FULL[TEXTS], []),
}


@pytest.mark.parametrize("bare", [False, True], ids=["named", "bare"])
@pytest.mark.parametrize(("transformer", "data", "groups"), TRANSFORMERS.values(), ids=TRANSFORMERS)
def test_the_groups_of_a_transformer_are_the_columns_that_its_encoders_make(
    transformer: Any, data: Any, groups: list[str], bare: bool
):
    if not bare and isinstance(data, np.ndarray):
        return
    fitted = transformer.set_output(transform="default" if bare else "pandas").fit(data)
    out = fitted.transform(data)
    space = FeatureSpace.infer(out, onehot=fitted)
    if bare and "missingindicator_job" in groups:  # which column is which is not known then
        groups = ["onehotencoder__x0", "onehotencoder__x1"]
    assert [f.name for f in space.features if f.tuples is not None] == groups
    at = {column: name for name, column in enumerate(space.columns)}
    for name in groups:
        feature = space[name]
        places = [at[column] for column in feature.columns]
        assert places == list(range(places[0], places[0] + len(places)))
        block = np.asarray(out)[:, places].astype(float)
        assert (block.sum(axis=1) <= 1).all()
        assert np.isin(block, (0, 1)).all()
        raw = name.split("__")[-1]
        source = data[raw] if raw in TEXTS else data[:, int(raw)] if raw.isdecimal() else None
        if source is not None:
            filled = pd.Series(source).fillna(pd.Series(source).mode()[0]).tolist()
            assert labels_by_row(space, out, name) == filled
    found = np.asarray(space.decode(space.encode(out)), dtype=object)
    assert (found == np.asarray(out, dtype=object)).all()


def test_declared_groups_are_labelled_by_what_their_columns_do_not_share():
    names = {
        "job": ["job_clerk_a", "job_clerk_b"],
        "employment": ["emp_1 to 4 years", "emp_1 to 7 years"],
        "plan": ["plan=a", "plan=b"],
        "other": ["red", "green"],
        "sure": ["sure_yes"],
        "lone": ["alone"],
    }
    columns = [c for group in names.values() for c in group]
    frame = pd.DataFrame([[1, 0, 0, 1, 1, 0, 0, 0, 1, 0]], columns=columns)
    space = FeatureSpace.infer(frame, onehot=names)
    assert {f.name: f.labels for f in space.features} == {
        "job": ("clerk_a", "clerk_b"),
        "employment": ("1 to 4 years", "1 to 7 years"),
        "plan": ("a", "b"),
        "other": ("red", "green", "(none)"),
        "sure": ("yes",),
        "lone": ("alone", "(none)"),
    }


def test_a_category_called_none_is_not_mixed_up_with_no_category():
    frame = pd.DataFrame({"job_none": [1, 0, 0], "job_clerk": [0, 1, 0]})
    space = FeatureSpace.infer(frame, onehot={"job": list(frame)})
    assert space["job"].labels == ("none", "clerk", "(none)")
    assert [space["job"].code(label) for label in space["job"].labels] == [0.0, 1.0, 2.0]


def test_rows_that_are_no_unit_keep_labels_of_their_own():
    frame = pd.DataFrame(
        {"j_a": [1, 1, 0.1234567, 0.12345671, np.nan, np.nan], "j_b": [0, 1, 0, 0, np.nan, 2]}, dtype=float
    )
    space = FeatureSpace.infer(frame, onehot={"j": list(frame)})
    labels = labels_by_row(space, frame, "j")
    assert labels == ["a", "(a + b)", "(0.1234567, 0)", "(0.12345671, 0)", "(missing)", "(nan, 2)"]
    assert space.decode(space.encode(frame)).equals(frame)


def test_a_group_of_a_thousand_columns_is_one_feature():
    frame = pd.DataFrame(np.eye(1000, dtype=np.int8)).add_prefix("town_")
    space = FeatureSpace.infer(frame, onehot={"town": list(frame)})
    assert len(space["town"].labels) == 1000
    assert space.encode(frame)[:, 0].tolist() == list(range(1000))


@pytest.mark.parametrize(
    "frame",
    [
        pd.get_dummies(FULL[TEXTS]),
        pd.get_dummies(FULL[TEXTS], dtype="boolean"),
        pd.get_dummies(FULL[TEXTS], dtype="Int8"),
        pd.get_dummies(FULL[TEXTS]).astype("category"),
        pl.from_pandas(FULL[TEXTS]).to_dummies(),
        pl.from_pandas(FULL[TEXTS]).to_dummies().cast(pl.Boolean),
    ],
    ids=["bool", "boolean", "Int8", "category", "polars", "polars Boolean"],
)
def test_dummies_of_any_type_are_one_feature_and_come_back(frame: Any):
    groups = {name: [c for c in frame.columns if c.startswith(name)] for name in TEXTS}
    space = FeatureSpace.infer(frame, onehot=groups)
    assert space.names == ("job", "sex")
    assert labels_by_row(space, frame, "job") == FULL["job"].tolist()
    found = space.decode(space.encode(frame))
    assert found.equals(frame)
    assert list(found.dtypes) == list(frame.dtypes)


def test_a_group_stands_where_its_first_column_stood():
    frame = pd.DataFrame({"a": [1, 2], "g_1": [1, 0], "b": [3, 4], "g_2": [0, 1]})
    space = FeatureSpace.infer(frame, onehot={"g": ["g_2", "g_1"]})
    assert space.names == ("a", "g", "b")
    assert labels_by_row(space, frame, "g") == ["1", "2"]
    assert list(space.decode(space.encode(frame)).columns) == list(frame.columns)


@pytest.mark.parametrize(
    ("onehot", "error", "message"),
    [
        ({"sex": ["sex_f", "sex_x"]}, InputError, "'sex' names column 'sex_x', which the data does not have"),
        ({"sex": "sex_f"}, InputError, "'sex' must be a list of column names"),
        ({"sex": []}, InputError, "'sex' must be a list of column names"),
        ({"sex": 5}, InputError, "'sex' must be a list of column names"),
        ({"sex": ["sex_f", "sex_f"]}, InputError, "'sex_f' is named twice"),
        ({"sex": ["sex_f"], "b": ["sex_f"]}, InputError, "in the one-hot groups 'sex' and 'b'"),
        ({"age": ["sex_f", "sex_m"]}, InputError, "two features would be named 'age'"),
        (encoder(), InputError, "OneHotEncoder does not say which columns it makes .*not fitted"),
        (encoder().fit(FULL[TEXTS]), InputError, "the encoder gives 8 columns but the data has 3"),
        (
            make_pipeline(encoder(), LogisticRegression()).fit(FULL[TEXTS], FULL["age"] > 40),
            InputError,
            "give the fitted transformer that made the table",
        ),
        (
            make_pipeline(encoder(), StandardScaler()).fit(FULL[["sex"]].assign(job="a")),
            InputError,
            "StandardScaler follows the one-hot encoder and may change its columns",
        ),
        (FeatureUnion([("a", encoder())]).fit(FULL[["sex"]].assign(job="a")), InputError, "off a FeatureUnion"),
        ("sex", TypeError, "got a str"),
        (["sex_f", "sex_m"], TypeError, "got a list"),
        (OneHotEncoder, TypeError, "got a type"),
    ],
    ids=lambda v: type(v).__name__ if not isinstance(v, str) else v[:20],
)
def test_groups_that_make_no_sense_are_refused(onehot: Any, error: type[Exception], message: str):
    frame = pd.DataFrame({"age": [1, 2], "sex_f": [1, 0], "sex_m": [0, 1]})
    with pytest.raises(error, match=message):
        FeatureSpace.infer(frame, onehot=onehot)


def test_a_row_that_is_no_label_of_the_group_is_refused():
    frame = pd.DataFrame({"g_1": [1, 0], "g_2": [0, 1]})
    space = FeatureSpace.infer(frame, onehot={"g": ["g_1", "g_2"]})
    with pytest.raises(InputError, match=r"one-hot group 'g', row 1: the values \[1.0, 1.0\] do not occur"):
        space.encode(pd.DataFrame({"g_1": [1, 1], "g_2": [0, 1]}))
