"""What is read of an ONNX graph decides as onnxruntime does; graphs of other kinds say why they are not understood."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper
from skl2onnx import to_onnx
from skl2onnx.common.data_types import DoubleTensorType, FloatTensorType, StringTensorType
from sklearn.compose import make_column_transformer
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer, OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from dueto import FeatureSpace
from dueto.models import as_model
from dueto.models.additive import Additive
from dueto.models.ensemble import Ensemble
from dueto.models.network import Network
from dueto.models.onnx import OnnxModel
from models.tables import GOOD, MISSING, NUMBERS, TEXT, THREE, adversarial
from models.test_importers import check, scaled

FLAT, HOLES = NUMBERS.to_numpy(dtype=float), MISSING.to_numpy(dtype=float)
MIXED = TEXT[["a", "b", "job"]].assign(b=NUMBERS["b"])
TYPES = [("a", FloatTensorType([None, 1])), ("b", FloatTensorType([None, 1])), ("job", StringTensorType([None, 1]))]


def split(final):
    return make_pipeline(make_column_transformer((StandardScaler(), ["a", "b"]), (OneHotEncoder(), ["job"])), final)


CASES = {
    "tree": (DecisionTreeClassifier(random_state=0), FLAT, Ensemble),
    "tree, missing": (DecisionTreeClassifier(random_state=0), HOLES, Ensemble),
    "forest": (RandomForestClassifier(9, random_state=0), HOLES, Ensemble),
    "boosting": (GradientBoostingClassifier(n_estimators=9), FLAT, Ensemble),
    "logistic": (LogisticRegression(max_iter=1000), FLAT, Additive),
    "logistic, imputed": (make_pipeline(SimpleImputer(), StandardScaler(), LogisticRegression()), HOLES, Additive),
    "network": (scaled(MLPClassifier((5, 4), max_iter=3000, random_state=0)), FLAT, Network),
    "columns, logistic": (split(LogisticRegression()), MIXED, Additive),
    "columns, forest": (split(RandomForestClassifier(9, random_state=0)), MIXED, Ensemble),
    "columns, network": (split(MLPClassifier((5,), max_iter=3000, random_state=0)), MIXED, Network),
}


def exported(fitted, table, *, zipmap=True, types=None):
    types = types or (TYPES if table is MIXED else [("X", FloatTensorType([None, table.shape[1]]))])
    return OnnxModel(to_onnx(fitted, initial_types=types, options={"zipmap": zipmap}).SerializeToString())


def read(obj, table, **options):
    model = as_model(obj, FeatureSpace.infer(table), **options)
    assert model.structure is not None, model.unstructured
    return model


@pytest.mark.parametrize("zipmap", [True, False])
@pytest.mark.parametrize("case", CASES)
def test_the_side_of_a_margin_is_the_files_decision(case, zipmap):
    fitted, table, form = CASES[case]
    obj = exported(fitted.fit(table, GOOD.astype(int)), table, zipmap=zipmap)
    for desired, threshold in ((1, 0.5), (0, 0.3)):
        model = read(obj, table, desired=desired, threshold=threshold)
        assert isinstance(model.structure.form, form)
        X = adversarial(model.structure)
        assert {-1, 1} <= set(check(model, X).tolist())
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.structure.margin(X), model.structure.margin(X))


@pytest.mark.parametrize("desired", [0, 1, 2])
def test_a_forest_of_several_classes_is_read_for_each(desired):
    fitted = RandomForestClassifier(9, random_state=0).fit(HOLES, THREE)
    model = read(exported(fitted, HOLES), HOLES, desired=desired, threshold=1 / 3)
    check(model, adversarial(model.structure))


def test_a_file_in_double_precision_is_read_with_its_rounding():
    fitted = scaled(MLPClassifier((5, 4), max_iter=3000, random_state=0)).fit(FLAT, GOOD)
    double = exported(fitted, FLAT, types=[("X", DoubleTensorType([None, FLAT.shape[1]]))], zipmap=False)
    loose, tight = (read(obj, FLAT).structure.slack for obj in (exported(fitted, FLAT), double))
    assert tight < loose / 1e6


def network(final):
    """A graph as torch writes it: Gemm with transposed weights, ReLU, Gemm, and a final function."""
    rng = np.random.default_rng(0)
    width = 2 if final == "Softmax" else 1
    tensors = {
        "W": rng.normal(size=(4, 2)),
        "b": rng.normal(size=4),
        "V": rng.normal(size=(width, 4)),
        "c": rng.normal(size=width),
    }
    nodes = [
        helper.make_node("Gemm", ["X", "W", "b"], ["h"], transB=1),
        helper.make_node("Relu", ["h"], ["r"]),
        helper.make_node("Gemm", ["r", "V", "c"], ["z"], transB=1),
        helper.make_node(final, ["z"], ["probabilities"]),
    ]
    graph = helper.make_graph(
        nodes,
        "net",
        [helper.make_tensor_value_info("X", TensorProto.FLOAT, [None, 2])],
        [helper.make_tensor_value_info("probabilities", TensorProto.FLOAT, [None, width])],
        [numpy_helper.from_array(v.astype(np.float32), k) for k, v in tensors.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    return OnnxModel(model.SerializeToString())


@pytest.mark.parametrize("final", ["Sigmoid", "Softmax"])
def test_networks_as_torch_exports_them_are_read(final):
    table = FLAT[:, :2]
    model = read(network(final), table)
    assert isinstance(model.structure.form, Network)
    check(model, adversarial(model.structure))
    if final == "Softmax":
        model = read(network(final), table, desired=0)
        check(model, adversarial(model.structure))


@pytest.mark.parametrize(
    ("fitted", "table", "says"),
    [
        (make_pipeline(Normalizer(), LogisticRegression()), FLAT, "it normalises rows"),
        (LogisticRegression(max_iter=5000), "three", "no logistic function of one margin"),
        (MLPClassifier((3,), activation="tanh", max_iter=3000), FLAT, "its graph has an operator Tanh"),
    ],
)
def test_other_graphs_are_not_understood(fitted, table, says):
    several = isinstance(table, str)
    obj = exported(fitted.fit(FLAT, THREE if several else GOOD), FLAT)
    model = as_model(obj, FeatureSpace.infer(FLAT), desired=1)
    assert model.structure is None
    assert says in model.unstructured


def test_without_the_package_onnx_the_file_is_a_black_box(monkeypatch):
    import sys

    obj = exported(LogisticRegression(max_iter=1000).fit(FLAT, GOOD), FLAT)
    monkeypatch.setitem(sys.modules, "onnx", None)
    model = as_model(obj, FeatureSpace.infer(FLAT))
    assert model.structure is None
    assert "pip install onnx" in model.unstructured


@pytest.mark.parametrize("kind", [TensorProto.FLOAT, TensorProto.DOUBLE])
def test_trees_compare_numbers_as_they_come(kind):
    """A threshold is float32; of 0.1 and the float64 next above float32(0.1), only doubles fall on different sides."""
    node = helper.make_node(
        "TreeEnsembleClassifier",
        ["X"],
        ["label", "probabilities"],
        domain="ai.onnx.ml",
        nodes_treeids=[0, 0, 0],
        nodes_nodeids=[0, 1, 2],
        nodes_featureids=[0, 0, 0],
        nodes_values=[0.1, 0.0, 0.0],
        nodes_modes=["BRANCH_LEQ", "LEAF", "LEAF"],
        nodes_truenodeids=[1, 0, 0],
        nodes_falsenodeids=[2, 0, 0],
        class_treeids=[0, 0],
        class_nodeids=[1, 2],
        class_ids=[0, 0],
        class_weights=[0.2, 0.8],
        classlabels_int64s=[0, 1],
        post_transform="NONE",
    )
    given = helper.make_tensor_value_info("X", kind, [None, 1])
    label = helper.make_tensor_value_info("label", TensorProto.INT64, [None])
    scores = helper.make_tensor_value_info("probabilities", TensorProto.FLOAT, [None, 2])
    opsets = [helper.make_opsetid("", 13), helper.make_opsetid("ai.onnx.ml", 1)]
    graph = helper.make_graph([node], "tree", [given], [label, scores])
    obj = OnnxModel(helper.make_model(graph, opset_imports=opsets, ir_version=8).SerializeToString())
    model = read(obj, np.array([[0.1], [0.2]]))
    edge = np.nextafter(float(np.float32(0.1)), 1.0)
    side = check(model, np.array([[0.1], [edge], [0.2]]))
    assert side.tolist() == [-1, 1 if kind == TensorProto.DOUBLE else -1, 1]


def with_modes(obj, mode):
    """The same trees, compared otherwise."""
    import onnx

    model = onnx.load_model_from_string(obj.content)
    for node in model.graph.node:
        for attribute in node.attribute:
            if attribute.name == "nodes_modes":
                attribute.strings[:] = [b"LEAF" if m == b"LEAF" else mode for m in attribute.strings]
    return OnnxModel(model.SerializeToString())


@pytest.mark.parametrize("case", ["tree, missing", "boosting"])
def test_trees_that_compare_by_less_than_are_read_too(case):
    fitted, table, _ = CASES[case]
    obj = with_modes(exported(fitted.fit(table, GOOD.astype(int)), table), b"BRANCH_LT")
    model = read(obj, table)
    assert model.structure.form.splits.strict
    check(model, adversarial(model.structure))
    other = as_model(with_modes(obj, b"BRANCH_GT"), FeatureSpace.infer(table))
    assert "its trees compare by BRANCH_GT" in other.unstructured
