"""What a classifier itself decides, which need not be that a probability exceeds one half."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dueto.errors import InputError
from dueto.models.folding import INSIDE
from dueto.models.labels import plain
from dueto.models.lookup import attribute, known

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["decided", "own_threshold"]

WRAPPERS = {"sklearn.FixedThresholdClassifier": "threshold", "sklearn.TunedThresholdClassifierCV": "best_threshold_"}


def own_threshold(obj: Any, classes: Sequence[Any], column: int) -> float | None:
    """The score of the desired class (of two, at `column`) that a classifier asks for by itself; None if it has none.

    scikit-learn's two wrappers give their positive class to a score of at least t, so the other to one above 1 - t.

    Raises
    ------
    InputError
        If it compares a margin, not a probability, with its threshold.
    """
    wrapper = _wrapper(obj)
    if wrapper is None:
        return None
    given = attribute(wrapper, known(wrapper, WRAPPERS, ()))
    method = wrapper.response_method
    if method == "auto":
        method = "predict_proba" if hasattr(wrapper, "predict_proba") else "decision_function"
    if method == "decision_function":
        if given in ("auto", 0) and not hasattr(wrapper, "predict_proba"):
            return None  # a margin above 0 is a score above .5
        raise InputError(
            f"{type(wrapper).__name__} compares its decision_function, not a probability, with its threshold "
            f"({0 if given == 'auto' else given:.6g}); "
            "refit it with response_method='predict_proba', or give it as a function: lambda table: "
            f"model.predict(table) == {classes[column]!r}"
        )
    t = 0.5 if given == "auto" else float(given)
    return t if _positive(wrapper, classes) == column else 1.0 - t


def _wrapper(obj: Any) -> Any:
    """The outermost wrapper with a threshold whose `predict` is the whole model's; None if there is none."""
    if known(obj, WRAPPERS, ("predict",)):
        return obj
    if known(obj, {"sklearn.Pipeline": True}, ("predict",)):
        return _wrapper(obj.steps[-1][1])
    inner = known(obj, INSIDE, ("predict",))
    return None if inner is None else _wrapper(attribute(obj, inner))


def _positive(wrapper: Any, classes: Sequence[Any]) -> int:
    """The place of the class that a score from the threshold on gives."""
    label = attribute(wrapper, "pos_label")
    scorer = attribute(wrapper, "_curve_scorer")
    if scorer is not None:
        label = scorer._get_pos_label()
    return 1 if label is None else list(classes).index(plain(label))


def decided(obj: Any, classes: Sequence[Any], table: Any) -> NDArray[np.intp] | None:
    """(N,) the place of the class that `predict` gives to each row; None if it gives something else, or fails."""
    try:
        given = [plain(label) for label in np.asarray(obj.predict(table)).ravel()]
        place = {str(label): i for i, label in enumerate(classes)} | {label: i for i, label in enumerate(classes)}
        return np.array([place[label if label in place else str(label)] for label in given], dtype=np.intp)
    except Exception:  # what scores need not predict
        return None
