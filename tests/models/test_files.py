"""A saved model answers as it did before; a file that is no model, or not to be trusted, is refused in a sentence."""

from __future__ import annotations

import pickle
import subprocess
import sys
import zipfile

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
import skops.io
from skl2onnx import to_onnx
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from dueto import FeatureSpace, InputError
from dueto.models import as_model, load_model

RNG = np.random.default_rng(0)
M = 60
FRAME = pd.DataFrame(
    {
        "capital gain": RNG.integers(0, 9, M),
        "age": RNG.normal(40, 9, M).astype(np.float32),
        "job": RNG.choice(["clerk", "smith"], M),
        "owner": RNG.random(M) < 0.5,
    }
)
Y = np.where(FRAME["age"] + 10 * FRAME["owner"] + RNG.normal(size=M) > 45, "yes", "no")
NUMBERS = FRAME[["capital gain", "age"]].to_numpy(dtype=np.float32)


@pytest.fixture(scope="module")
def pipeline():
    columns = make_column_transformer((OneHotEncoder(), ["job"]), remainder="passthrough")
    return make_pipeline(columns, LogisticRegression(max_iter=1000)).fit(FRAME, Y)


def cube(table):
    return table**3


def saved_onnx(path, model, example, **options):
    path.write_bytes(to_onnx(model, example, options={id(model): options}).SerializeToString())
    return path


def skops_dump(model, path):
    skops.io.dump(model, path)


def pickle_dump(model, path):
    path.write_bytes(pickle.dumps(model))


@pytest.mark.parametrize(
    ("name", "dump"),
    [("m.skops", skops_dump), ("m.pkl", pickle_dump), ("m.PICKLE", pickle_dump), ("m.joblib", joblib.dump)],
)
def test_a_saved_pipeline_answers_as_before(tmp_path, pipeline, name, dump):
    dump(pipeline, tmp_path / name)
    loaded = load_model(str(tmp_path / name), trust_pickle=not name.endswith("skops"))
    space = FeatureSpace.infer(FRAME)
    score = as_model(loaded, space, desired="yes").score(space.encode(FRAME))
    assert np.array_equal(score, pipeline.predict_proba(FRAME)[:, 1])


def test_arrays_of_a_tree_are_a_model(tmp_path):
    fitted = DecisionTreeClassifier().fit(NUMBERS, Y)
    t = fitted.tree_
    arrays = {"left": t.children_left, "right": t.children_right, "feature": t.feature, "threshold": t.threshold}
    np.savez(tmp_path / "m.npz", **arrays, value=t.value, missing_left=t.missing_go_to_left)
    space = FeatureSpace.infer(NUMBERS)
    for desired in (0, 1):
        model = as_model(load_model(tmp_path / "m.npz"), space, desired=desired)
        assert np.array_equal(model.score(NUMBERS), fitted.predict_proba(NUMBERS)[:, desired])


# -- ONNX -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("zipmap", [True, False])
@pytest.mark.parametrize("labels", [["no", "yes"], [1, 2], [-1, 0]])
def test_onnx_of_one_table_knows_its_classes(tmp_path, zipmap, labels):
    fitted = DecisionTreeClassifier(max_depth=4).fit(NUMBERS, np.array(labels)[(Y == "yes").astype(int)])
    loaded = load_model(saved_onnx(tmp_path / "m.onnx", fitted, NUMBERS[:1], zipmap=zipmap))
    assert list(loaded.classes_) == labels
    space = FeatureSpace.infer(FRAME[["capital gain", "age"]])
    for k in (0, 1):
        score = as_model(loaded, space, desired=str(labels[k])).score(space.encode(FRAME))
        assert score == pytest.approx(fitted.predict_proba(NUMBERS)[:, k], abs=1e-6)


@pytest.mark.parametrize("flavour", ["pandas", "polars"])
@pytest.mark.parametrize("zipmap", [True, False])
def test_onnx_of_one_input_a_column_gets_each_by_its_name(tmp_path, pipeline, flavour, zipmap):
    loaded = load_model(saved_onnx(tmp_path / "m.onnx", pipeline, FRAME[:1], zipmap=zipmap))
    frame = FRAME[["owner", "job", "age", "capital gain"]]
    table = frame if flavour == "pandas" else pl.from_pandas(frame)
    space = FeatureSpace.infer(table)
    score = as_model(loaded, space, desired="yes").score(space.encode(table))
    assert score == pytest.approx(pipeline.predict_proba(FRAME)[:, 1], abs=1e-5)


def test_onnx_on_doubles_and_of_unknown_width_is_read(tmp_path):
    from skl2onnx.common.data_types import DoubleTensorType

    fitted = LogisticRegression().fit(NUMBERS, Y)
    content = to_onnx(
        fitted, initial_types=[("X", DoubleTensorType([None, None]))], options={id(fitted): {"zipmap": False}}
    )
    (tmp_path / "m.onnx").write_bytes(content.SerializeToString())
    space = FeatureSpace.infer(NUMBERS)
    score = as_model(load_model(tmp_path / "m.onnx"), space, desired=0).score(space.encode(NUMBERS))
    assert score == pytest.approx(fitted.predict_proba(NUMBERS)[:, 0], abs=1e-6)


def test_onnx_of_a_regression_is_a_score(tmp_path):
    fitted = DecisionTreeRegressor().fit(NUMBERS, (Y == "yes") * 1.0)
    (tmp_path / "m.onnx").write_bytes(to_onnx(fitted, NUMBERS[:1]).SerializeToString())
    space = FeatureSpace.infer(NUMBERS)
    score = as_model(load_model(tmp_path / "m.onnx"), space).score(space.encode(NUMBERS))
    assert score == pytest.approx(fitted.predict(NUMBERS))


def test_onnx_without_names_of_classes_counts_columns_and_refuses_labels_that_count_otherwise(tmp_path, monkeypatch):
    space = FeatureSpace.infer(NUMBERS)
    monkeypatch.setattr("dueto.models.onnx._class_labels", lambda _: None)
    for labels in ([0, 1], ["no", "yes"]):
        fitted = DecisionTreeClassifier(max_depth=3).fit(NUMBERS, np.array(labels)[(Y == "yes").astype(int)])
        loaded = load_model(saved_onnx(tmp_path / "m.onnx", fitted, NUMBERS[:1], zipmap=False))
        score = as_model(loaded, space, desired=1).score(NUMBERS)
        assert score == pytest.approx(fitted.predict_proba(NUMBERS)[:, 1], abs=1e-6)
    for labels in ([1, 2], [1, 0]):
        fitted = DecisionTreeClassifier(max_depth=3).fit(NUMBERS, (Y == "yes").astype(int) + (labels == [1, 2]))
        if labels == [1, 0]:
            fitted.classes_ = np.array([1, 0])
        loaded = load_model(saved_onnx(tmp_path / "m.onnx", fitted, NUMBERS[:1], zipmap=False))
        with pytest.raises(InputError, match="labels are not the numbers of its columns"):
            as_model(loaded, space, desired=1).score(NUMBERS)


def test_onnx_refuses_missing_text_and_missing_whole_numbers(tmp_path, pipeline):
    loaded = load_model(saved_onnx(tmp_path / "m.onnx", pipeline, FRAME[:1]))
    for column, says in (
        ("job", "takes text"),
        ("capital gain", "takes whole numbers"),
        ("owner", "takes whole numbers"),
    ):
        frame = FRAME.astype({"capital gain": "Int64", "owner": "boolean"})
        frame.loc[7, column] = None
        space = FeatureSpace.infer(frame)
        with pytest.raises(InputError, match=rf"failed on row 7 .* with ValueError: .*{says}"):
            as_model(loaded, space).score(space.encode(frame))


def test_onnx_that_asks_for_a_column_that_the_data_lacks_is_refused(tmp_path, pipeline):
    loaded = load_model(saved_onnx(tmp_path / "m.onnx", pipeline, FRAME[:1]))
    with pytest.raises(InputError, match="column 'capital_gain', which the data does not have"):
        as_model(loaded, FeatureSpace.infer(FRAME[["age", "job", "owner"]]))
    numbers = load_model(saved_onnx(tmp_path / "n.onnx", DecisionTreeClassifier().fit(NUMBERS, Y), NUMBERS[:1]))
    with pytest.raises(InputError, match="fitted on 2 columns, but the data has 3"):
        as_model(numbers, FeatureSpace.infer(FRAME[["age", "job", "owner"]]))


def test_onnx_with_an_output_for_each_class_is_refused(tmp_path):
    fitted = LogisticRegression().fit(NUMBERS, Y)
    with pytest.raises(InputError, match="not clear which holds the probabilities"):
        load_model(saved_onnx(tmp_path / "m.onnx", fitted, NUMBERS[:1], zipmap="columns"))


def test_onnx_model_can_be_sent_to_another_process(tmp_path):
    fitted = LogisticRegression().fit(NUMBERS, Y)
    space = FeatureSpace.infer(NUMBERS)
    model = as_model(load_model(saved_onnx(tmp_path / "m.onnx", fitted, NUMBERS[:1])), space)
    assert np.array_equal(pickle.loads(pickle.dumps(model)).score(NUMBERS), model.score(NUMBERS))


# -- refusals ---------------------------------------------------------------------------------------------------------


def test_a_skops_file_with_foreign_types_is_read_only_when_they_are_trusted(tmp_path):
    foreign = make_pipeline(FunctionTransformer(cube), LogisticRegression()).fit(NUMBERS, Y)
    skops.io.dump(foreign, tmp_path / "m.skops")
    unknown = skops.io.get_untrusted_types(file=tmp_path / "m.skops")
    with pytest.raises(InputError, match=rf"not trusted: '{unknown[0]}'.*--trust-type"):
        load_model(tmp_path / "m.skops")
    assert load_model(tmp_path / "m.skops", trusted_types=unknown).predict_proba(NUMBERS).shape == (M, 2)


@pytest.mark.parametrize("name", ["m.pkl", "m.pickle", "m.joblib"])
def test_a_pickle_is_not_opened_without_trust(tmp_path, name):
    class Trap:
        def __reduce__(self):
            return (pytest.fail, ("the pickle was opened",))

    (tmp_path / name).write_bytes(pickle.dumps(Trap()))
    with pytest.raises(InputError, match=r"can run any code .* --trust-pickle, or trust_pickle=True"):
        load_model(tmp_path / name)


KINDS = ["m.skops", "m.onnx", "m.npz", "m.pkl", "m.joblib"]


def refused(path):
    with pytest.raises(InputError) as caught:
        load_model(path, trust_pickle=True)
    message = str(caught.value)
    assert message.startswith((str(path), "there is no file"))
    assert "\n" not in message
    return message


@pytest.mark.parametrize("name", KINDS)
def test_files_that_are_no_model_are_refused(tmp_path, name):
    path = tmp_path / name
    assert "there is no file" in refused(path)
    path.touch()
    assert "is empty" in refused(path)
    path.write_bytes(b"age,job\n1,2\n" * 50)
    refused(path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("note.txt", "hello")
    refused(path)
    path.unlink()
    path.mkdir()
    assert "is a folder" in refused(path)


@pytest.mark.parametrize("name", KINDS)
def test_files_cut_short_are_refused(tmp_path, name):
    fitted, path = DecisionTreeClassifier().fit(NUMBERS, Y), tmp_path / name
    if name == "m.onnx":
        saved_onnx(path, fitted, NUMBERS[:1])
    elif name == "m.npz":
        np.savez(path, **{k: np.arange(99) for k in ("left", "right", "feature", "threshold", "value")})
    else:
        {"m.skops": skops_dump, "m.pkl": pickle_dump, "m.joblib": joblib.dump}[name](fitted, path)
    whole = path.read_bytes()
    for share in (0.1, 0.5, 0.9):
        path.write_bytes(whole[: int(share * len(whole))])
        refused(path)


def test_arrays_that_are_no_tree_are_refused_with_their_name(tmp_path):
    np.savez(tmp_path / "m.npz", left=[-1], right=[-1], feature=[0], threshold=[0.0])
    assert "has no array 'value'" in refused(tmp_path / "m.npz")
    np.save(tmp_path / "one.npy", np.zeros(3))
    (tmp_path / "one.npy").rename(tmp_path / "one.npz")
    assert "has no array 'left'" in refused(tmp_path / "one.npz")
    np.savez(tmp_path / "m.npz", left=[9], right=[8], feature=[0], threshold=[0.0], value=[1.0])
    assert "from node 0 exactly once" in refused(tmp_path / "m.npz")


def test_an_unknown_kind_of_file_is_refused_with_the_known_ones(tmp_path):
    (tmp_path / "m.h5").write_bytes(b"x")
    assert "give .skops, .onnx, .npz, .pkl, .pickle or .joblib" in refused(tmp_path / "m.h5")


@pytest.mark.parametrize(("name", "package"), [("m.skops", "skops"), ("m.onnx", "onnxruntime onnx")])
def test_a_missing_package_is_named_with_the_command_that_installs_it(tmp_path, monkeypatch, name, package):
    (tmp_path / name).write_bytes(b"x")
    missing = package.split()[0]
    for module in [m for m in sys.modules if m == missing or m.startswith(missing + ".")] + [missing]:
        monkeypatch.setitem(sys.modules, module, None)
    assert f"needs the package {missing}; run: pip install {package}" in refused(tmp_path / name)


def test_loading_the_package_loads_no_library_that_a_file_kind_needs():
    heavy = ("sklearn", "skops", "onnxruntime", "joblib")
    code = f"import sys, dueto.models; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
