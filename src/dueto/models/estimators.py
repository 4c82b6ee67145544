"""Whatever the user has fitted, as a `Model`: estimators, whole pipelines, trees, plain functions."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from dueto.errors import InputError, some
from dueto.models.base import Model
from dueto.models.categories import given_table
from dueto.models.decisions import decided, own_threshold
from dueto.models.labels import match, plain
from dueto.models.lookup import attribute, known
from dueto.models.raw import raw_columns, raw_matrix
from dueto.models.tables import columns_behind, fitted_names
from dueto.models.torch import TorchModel
from dueto.models.tree import Tree

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from dueto.models.structure import Structure
    from dueto.space import FeatureSpace

__all__ = ["as_model"]

HALF = np.nextafter(0.5, 1.0)
USUAL = 0.5  # the threshold of a model that has none of its own


def as_model(obj: Any, space: FeatureSpace, *, desired: Any = None, threshold: float | None = None) -> Model:
    """Wrap a fitted classifier, a pipeline, a tree or a function as a model over a space.

    Parameters
    ----------
    obj : Model, Tree, classifier or callable
        - A `Model` of this very space is passed through.
        - A `Tree` over the raw columns.
        - A fitted scikit-learn classifier, or a whole pipeline that takes the raw columns; or anything with its methods
          (XGBoost, LightGBM, CatBoost). The score is the first of these that it has: the desired class's
          `predict_proba`; the logistic function of its margin in `decision_function`, so that a margin of 0 is exactly
          .5 (for several classes, its margin over the best of the others); 1 if `predict` gives that class, else 0.
        - A `TorchModel`; or a `torch.nn.Sequential`, as one over all columns.
        - A function of a table like the one the space was inferred from (same columns, order and types), giving N
          scores of the desired outcome in [0, 1], or the probabilities of k classes, shape (N, k).
    space : FeatureSpace
        What can be.
    desired : optional
        The desired class: a label ("1", 1 and True all find the class 1), or a column number where the model has no
        labels. By default the second of two classes.
    threshold : float in [0, 1), optional
        The outcome is the desired one if the score is greater. By default, or if .5 is given: the model's own threshold
        (of scikit-learn's `FixedThresholdClassifier` and `TunedThresholdClassifierCV`), and else .5. Then a classifier
        of two classes is held to its own `predict`: see `Model.good`.

    Returns
    -------
    Model
        Its `structure` is read, where there is one that is understood, when it is first asked for.

    Raises
    ------
    InputError
        If the model is not fitted, is a regressor, was fitted on one class only, has no such class, compares a margin
        with a threshold of its own, or does not stand on the space's columns.
    TypeError
        If `obj` is none of those.

    Examples
    --------
    >>> import pandas as pd
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from dueto import FeatureSpace
    >>> from dueto.models import as_model
    >>> frame = pd.DataFrame({"age": [25, 40, 61]})
    >>> tree = DecisionTreeClassifier().fit(frame, ["no", "no", "yes"])
    >>> space = FeatureSpace.infer(frame)
    >>> as_model(tree, space, desired="yes").score(space.encode(frame))
    array([0., 0., 1.])
    """
    if isinstance(obj, Model):
        return _passed(obj, space, desired, threshold)
    if isinstance(obj, Tree):
        return _tree_model(obj, space, desired, threshold)
    if isinstance(obj, type):
        raise TypeError(f"a model must be an object that predicts, but {obj.__name__} is a class; fit one and pass it")
    if known(obj, {"torch.Sequential": True}, ("forward",)):
        obj = TorchModel(obj)
    classes = _classes(obj)
    if classes is not None:
        return _classifier(obj, classes, space, desired, threshold)
    _refuse_if_unfit(obj)
    for method in ("predict_proba", "predict", "__call__"):
        if callable(getattr(obj, method, None)):
            predict, name = obj if method == "__call__" else getattr(obj, method), _name(obj)
            number = _column_number(desired)
            score, table = partial(_column_score, predict, number), given_table(obj, space, name)
            reader = partial(_read_classifier, obj, 1 if number is None else number, 2, method)
            usual = USUAL if threshold is None else threshold
            return Model(score, space, threshold=usual, name=name, desired=desired, table=table, reader=reader)
    hint = "; read a file with load_model" if isinstance(obj, str) or hasattr(obj, "__fspath__") else ""
    raise TypeError(
        f"a model must be a fitted classifier or a function that scores a table, got {type(obj).__name__}{hint}"
    )


def _passed(model: Model, space: FeatureSpace, desired: Any, threshold: float | None) -> Model:
    if model.space is not space:
        raise InputError(
            f"the model {model.name!r} was made for another feature space; wrap the original model in this one"
        )
    other_class = desired is not None and str(plain(desired)) != str(model.desired)
    if other_class or threshold not in (None, model.threshold):
        raise InputError(
            f"the model {model.name!r} already has its desired class, {model.desired!r}, and its threshold, "
            f"{model.threshold}; choose them where it is made"
        )
    return model


def _tree_model(tree: Tree, space: FeatureSpace, desired: Any, threshold: float | None) -> Model:
    columns = raw_columns(space)
    if columns is None:
        text = [f.name for f in space.features if any(isinstance(v, str) for v in f.labels) and f.tuples is None]
        raise InputError(
            f"the tree compares numbers, but {some(text)} holds labels; give the table the tree was fitted on"
        )
    if tree.feature.max() >= len(columns):
        raise InputError(
            f"the tree looks at column {tree.feature.max()} (from 0), but the data has {len(columns)} columns"
        )
    chosen = match(desired, (0, 1))
    tree = tree if chosen == 1 else tree.reversed()
    table, usual = partial(raw_matrix, columns), USUAL if threshold is None else threshold
    return Model(
        tree.score, space, threshold=usual, name="Tree", desired=chosen, tree=tree, table=table, reader=_read_tree
    )


def _read_tree(model: Model) -> Structure:
    from dueto.models.importers.own import own_tree

    return own_tree(model)


def _read_classifier(obj: Any, column: int, classes: int, method: str, model: Model) -> Structure:
    from dueto.models.importers import read_classifier

    return read_classifier(obj, column, classes, method, model)


def _classifier(obj: Any, classes: list[Any], space: FeatureSpace, desired: Any, threshold: float | None) -> Model:
    name = _name(obj)
    if len(classes) == 1:
        raise InputError(
            f"{name} was fitted on one class only, {classes[0]!r}, so it has nothing to decide; "
            "fit it on rows of both outcomes"
        )
    column = match(desired, classes)
    assert column is not None  # of several classes
    # Margins of pairs of classes, not of classes:
    pairwise = len(classes) > 2 and attribute(obj, "decision_function_shape") == "ovo"
    method, two = "predict", len(classes) == 2
    if hasattr(obj, "predict_proba"):
        method, score = "predict_proba", partial(_probability, obj, column, len(classes))
    elif hasattr(obj, "decision_function") and not pairwise:
        method, score = "decision_function", partial(_logistic_margin, obj, column)
    else:
        score = partial(_predicted, obj, classes[column])
    decides = None
    if threshold is None:
        own = own_threshold(obj, classes, column) if two else None
        threshold = USUAL if own is None else own
        checked = two and method != "predict" and hasattr(obj, "predict")
        decides = partial(_decided, obj, classes, column) if checked else None
    return Model(
        score,
        space,
        threshold=threshold,
        name=name,
        desired=classes[column],
        classes=classes,
        tree=_tree(obj, space, desired),
        table=given_table(obj, space, name),
        reader=partial(_read_classifier, obj, column, len(classes), method),
        decides=decides,
    )


# -- scores: functions of a table, which can be pickled ---------------------------------------------------------------


def _probability(obj: Any, column: int, k: int, table: Any) -> NDArray[Any]:
    probabilities = np.asarray(obj.predict_proba(table))
    if probabilities.shape != (len(table), k):
        raise InputError(
            f"the model's predict_proba gave an array of shape {probabilities.shape} for {len(table)} rows and {k} "
            "classes; wrap it in a function that gives the desired outcome's score"
        )
    return probabilities[:, column]


def _logistic_margin(obj: Any, column: int, table: Any) -> NDArray[np.float64]:
    margins = np.asarray(obj.decision_function(table), dtype=np.float64)
    if margins.ndim == 2 and margins.shape[1] > 1:
        margin = margins[:, column] - np.delete(margins, column, axis=1).max(axis=1)
    else:
        margin = margins.ravel() * (1.0 if column == 1 else -1.0)
    score = 1.0 / (1.0 + np.exp(-np.clip(margin, -700.0, 700.0)))
    return np.asarray(np.where(margin > 0, np.maximum(score, HALF), score))  # any positive margin counts


def _decided(obj: Any, classes: list[Any], column: int, table: Any) -> NDArray[np.bool_] | None:
    found = decided(obj, classes, table)
    return None if found is None else found == column


def _predicted(obj: Any, label: Any, table: Any) -> NDArray[np.bool_]:
    return np.asarray([plain(given) == label for given in np.asarray(obj.predict(table)).ravel()], dtype=np.bool_)


def _column_score(predict: Callable[[Any], Any], column: int | None, table: Any) -> Any:
    given = np.asarray(predict(table))
    if given.ndim != 2 or given.shape[1] < 2:
        if column is not None:
            raise InputError(
                "the model gives one score a row, taken as the desired outcome's, so leave the desired class out"
            )
        return given
    k = given.shape[1]
    if column is None and k > 2:
        raise InputError(
            f"the model gives {k} columns; say which is the desired one by its number: {some(range(k), k)}"
        )
    chosen = 1 if column is None else column
    if chosen >= k:
        raise InputError(
            f"the model gives {k} columns, so there is no column {chosen}; choose one of {some(range(k), k)}"
        )
    return given[:, chosen]


def _column_number(desired: Any) -> int | None:
    if desired is None:
        return None
    number = plain(desired)
    if isinstance(number, str) and number.isdecimal():
        number = int(number)
    if isinstance(number, bool) or not isinstance(number, int) or number < 0:
        raise InputError(
            f"the model does not name its classes, so {desired!r} cannot be found; give the column's number"
        )
    return number


# -- what an estimator says of itself ---------------------------------------------------------------------------------


def _classes(obj: Any) -> list[Any] | None:
    classes = attribute(obj, "classes_")
    if classes is None or len(classes) == 0:
        return None
    if any(np.ndim(c) for c in classes):
        raise InputError(
            f"{_name(obj)} predicts several outputs at once; fit one classifier for the outcome to explain"
        )
    return [plain(c) for c in classes]


def _refuse_if_unfit(obj: Any) -> None:
    """Refuse a scikit-learn object without classes that is not fitted, or is no classifier."""
    if not hasattr(obj, "fit") or not hasattr(obj, "get_params"):
        return
    from sklearn.base import BaseEstimator, is_regressor
    from sklearn.exceptions import NotFittedError
    from sklearn.utils.validation import check_is_fitted

    if not isinstance(obj, BaseEstimator):
        return
    if is_regressor(obj):
        raise InputError(
            f"{_name(obj)} is a regressor, and its values are no scores in [0, 1]; wrap it in a function that "
            "gives the desired outcome's score"
        )
    try:
        check_is_fitted(obj)
    except NotFittedError:
        raise InputError(f"{_name(obj)} is not fitted; call its fit method with the training data first") from None
    if not hasattr(obj, "predict_proba"):
        raise InputError(
            f"{_name(obj)} is no classifier, having no classes_; wrap it in a function that gives a score in [0, 1]"
        )


def _name(obj: Any) -> str:
    steps = attribute(obj, "steps")
    if isinstance(steps, list) and steps:
        return _name(steps[-1][1])
    return str(getattr(obj, "__name__", None) or type(obj).__name__)


def _tree(obj: Any, space: FeatureSpace, desired: Any) -> Tree | None:
    """The tree behind a scikit-learn decision tree over raw columns of numbers."""
    plain_tree = type(obj).__module__.startswith("sklearn.tree.") and hasattr(obj, "tree_")
    if not plain_tree or raw_columns(space) is None or not all(map(_exact, space.dtypes)):
        return None
    names = fitted_names(obj, space)
    columns = space.columns if names is None else columns_behind(names, space, _name(obj))
    return Tree.from_sklearn(obj, desired).on_columns([space.columns.index(c) for c in columns])


def _exact(dtype: Any) -> bool:
    """Whether a column of this type gives the tree the very numbers that are encoded (a decimal or a half rounds)."""
    name = str(dtype).lower()
    return "float16" not in name and "decimal" not in name
