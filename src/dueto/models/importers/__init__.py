"""Importers: one intermediate form a family of models, a file each; which reads what goes by the name of a class."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from dueto.models.folding import folded
from dueto.models.importers.base import Task
from dueto.models.inputs import Inputs
from dueto.models.lookup import NotUnderstood, known

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dueto.models.base import Model
    from dueto.models.structure import Structure

__all__ = ["IMPORTERS", "read_classifier"]

# Package and class: file and function. The package is the first part of the module that defines the class.
IMPORTERS: Mapping[str, str] = {
    "sklearn.DecisionTreeClassifier": "sklearn_trees.tree",
    "sklearn.ExtraTreeClassifier": "sklearn_trees.tree",
    "sklearn.RandomForestClassifier": "sklearn_trees.forest",
    "sklearn.ExtraTreesClassifier": "sklearn_trees.forest",
    "sklearn.BaggingClassifier": "sklearn_trees.bag",
    "sklearn.GradientBoostingClassifier": "sklearn_boosting.exact",
    "sklearn.HistGradientBoostingClassifier": "sklearn_boosting.histogram",
    "sklearn.LogisticRegression": "sklearn_linear.linear",
    "sklearn.LogisticRegressionCV": "sklearn_linear.linear",
    "sklearn.LinearSVC": "sklearn_linear.linear",
    "sklearn.RidgeClassifier": "sklearn_linear.linear",
    "sklearn.RidgeClassifierCV": "sklearn_linear.linear",
    "sklearn.Perceptron": "sklearn_linear.linear",
    "sklearn.PassiveAggressiveClassifier": "sklearn_linear.linear",
    "sklearn.LinearDiscriminantAnalysis": "sklearn_linear.linear",
    "sklearn.SGDClassifier": "sklearn_linear.sgd",
    "sklearn.MLPClassifier": "sklearn_networks.perceptron",
    "xgboost.XGBClassifier": "xgboost.classifier",
    "lightgbm.LGBMClassifier": "lightgbm.classifier",
    "dueto.OnnxModel": "onnx.graph",
    "dueto.TorchModel": "torch.sequence",
    "catboost.CatBoostClassifier": "catboost.classifier",
    "interpret.ExplainableBoostingClassifier": "interpret.classifier",
    "interpret.DPExplainableBoostingClassifier": "interpret.classifier",
}


def read_classifier(obj: Any, column: int, classes: int, method: str, model: Model) -> Structure:
    """The structure of a fitted classifier, or of a pipeline that ends in one.

    Raises
    ------
    NotUnderstood
        If there is none, or none that is known.
    """
    if method == "predict":
        raise NotUnderstood(f"{model.name} gives labels only, neither probabilities nor a margin")
    estimator, inputs = folded(obj, Inputs.of(obj, model))
    where = known(estimator, IMPORTERS)
    if where is None:
        raise NotUnderstood(f"dueto does not know the inside of {model.name}")
    file, function = where.split(".")
    importer = getattr(import_module(f"{__name__}.{file}"), function)
    found: Structure = importer(Task(estimator, inputs, column, classes, model.threshold, method))
    return found
