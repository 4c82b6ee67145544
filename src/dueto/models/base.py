"""A model as the rest of the library sees it: encoded rows in, one score of the desired outcome a row out."""

from __future__ import annotations

from functools import cache, cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from dueto.errors import InputError
from dueto.models.agreement import agreeing
from dueto.models.lookup import NotUnderstood
from dueto.packed import Matrix

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike, NDArray

    from dueto.models.boxes import Boxes
    from dueto.models.structure import Structure
    from dueto.models.tree import Tree
    from dueto.space import FeatureSpace

__all__ = ["Model"]

BATCH = 65_536  # rows decoded and scored at once
ROUNDING = 1e-6  # how far a score may stray from [0, 1] before it is refused: float32 probabilities do
DECIDED = 2_000  # rows on which a model is held to its own decision
SMALL = 16_384  # rows that are not worth a second thread
SHOWN = 8  # features shown of a row that a model cannot score


class Model:
    """Somebody's predict function over a feature space, checked and counted.

    Most models are made by `as_model`; build one directly to say exactly what is called.

    Parameters
    ----------
    predict : callable
        Takes a table of the space's kind (its columns, order and types) and gives the score of the desired outcome: N
        numbers in [0, 1], or N booleans.
    space : FeatureSpace
        What the rows mean.
    threshold : float in [0, 1), default .5
        The outcome is the desired one if the score is greater; a tie is undesired.
    name : str
        What reports call the model.
    desired : optional
        The class whose probability the score is, for reports.
    tree : Tree, optional
        The model's structure, if it is one decision tree over the raw columns.
    table : callable, optional
        Makes the table that `predict` takes from encoded rows; `space.decode` unless given.
    reader : callable, optional
        Reads the model's `Structure`, given the model; it raises `NotUnderstood` where there is none.
    classes : sequence
        All classes, where the model names them.
    decides : callable, optional
        From the table to the model's own decision: N booleans, or None where it makes none. See `good`.

    Attributes
    ----------
    rows_scored : int
        Rows scored since the model was made.
    rows_checked : int
        Rows scored besides, to check that the structure read agrees with the model, and the model with itself.

    Examples
    --------
    >>> import pandas as pd
    >>> from dueto import FeatureSpace
    >>> from dueto.models import Model
    >>> frame = pd.DataFrame({"age": [25, 40, 61], "job": ["clerk", "smith", "clerk"]})
    >>> space = FeatureSpace.infer(frame)
    >>> model = Model(lambda table: table["age"] / 100, space, threshold=0.4)
    >>> model.score(space.encode(frame))
    array([0.25, 0.4 , 0.61])
    >>> model.good(space.encode(frame))
    array([False, False,  True])
    >>> model.rows_scored
    6
    """

    def __init__(
        self,
        predict: Callable[[Any], Any],
        space: FeatureSpace,
        *,
        threshold: float = 0.5,
        name: str = "model",
        desired: Any = None,
        tree: Tree | None = None,
        table: Callable[[NDArray[np.float64]], Any] | None = None,
        reader: Callable[[Model], Structure] | None = None,
        classes: Sequence[Any] = (),
        decides: Callable[[Any], NDArray[np.bool_] | None] | None = None,
    ) -> None:
        self.predict = predict
        self.space = space
        self.threshold = _checked_threshold(threshold)
        self.name = name
        self.desired = desired
        self.tree = tree
        self.table = space.decode if table is None else table
        self.reader = reader
        self.classes = tuple(classes)
        self.decides = decides
        self._parted: NDArray[np.float64] | None = None
        self.rows_scored = 0
        self.rows_checked = 0

    @property
    def structure(self) -> Structure | None:
        """The model as a margin that proofs can rest on; None if it is a black box, and `unstructured` says why."""
        return self._read[0]

    @property
    def unstructured(self) -> str:
        """Why there is no structure, as a clause; empty if there is one."""
        return self._read[1]

    @property
    def black_box(self) -> str:
        """The same where the structure was asked for already; else empty."""
        return self._read[1] if "_read" in vars(self) else ""

    @cached_property
    def _read(self) -> tuple[Structure | None, str]:
        if self.reader is None:
            return None, f"dueto does not know the inside of {self.name}"
        try:
            return agreeing(self, self.reader(self)), ""
        except NotUnderstood as reason:
            return None, str(reason)
        except Exception as problem:  # a model that proofs cannot use is still a model
            return None, f"reading it failed with {_sentence(problem)}"

    @cached_property
    def boxes(self) -> Boxes:
        """The leaves of the model's tree as boxes of encoded rows.

        Raises
        ------
        InputError
            If the model is not a tree.
        """
        if self.tree is None:
            raise InputError(f"the model {self.name!r} is not a decision tree over the raw columns, so it has no boxes")
        return self.tree.boxes(self.space)

    def __repr__(self) -> str:
        return f"Model({self.name!r}, desired={self.desired!r}, threshold={self.threshold!r})"

    def score(self, X: ArrayLike) -> NDArray[np.float64]:
        """Score of the desired outcome, shape (N,), in [0, 1], of encoded rows, shape (N, n).

        Raises
        ------
        InputError
            If the model raises, or gives anything but N numbers in [0, 1]: naming the first row at fault where it can
            be found (with at most 17 more calls). What the model raised is the cause of the error.
        """
        scores = self._scores(X)
        self.rows_scored += len(scores)
        return scores

    def check(self, X: ArrayLike) -> NDArray[np.float64]:
        """What `score` gives, for a check of the model's structure: counted apart, in `rows_checked`."""
        scores = self._scores(X)
        self.rows_checked += len(scores)
        return scores

    def good(self, X: ArrayLike) -> NDArray[np.bool_]:
        """Whether each encoded row gets the desired outcome, shape (N,): its score is greater than the threshold.

        The first time that it is asked about several rows (those of the data, by an `Explainer`), up to 2,000 of them
        are compared with what the model itself decides, if it does; rows whose score is the threshold do not count.

        Raises
        ------
        InputError
            As `score` does; and if the model decides otherwise on a row, which is named.
        """
        X = X if isinstance(X, Matrix) else np.asarray(X, dtype=np.float64)
        scores = self.score(X)
        if self.decides is not None and len(X) > 1:
            self._hold_to_its_word(X, scores)
            self.decides = None
        return scores > self.threshold

    def _hold_to_its_word(self, X: Any, scores: NDArray[np.float64]) -> None:
        """Refuse a model whose own decision is another one than that its score exceeds the threshold."""
        assert self.decides is not None
        rows = np.linspace(0, len(X) - 1, min(len(X), DECIDED)).astype(np.intp)
        if self._parted is not None:  # asked again with the same rows in another order: name the same one
            rows = np.union1d(rows[1:], np.flatnonzero((self._parted == X).all(axis=1))[:1])
        said = self.decides(self.table(X[rows]))
        self.rows_checked += len(rows)
        if said is None:
            return
        scores = scores[rows]
        parted = (said != (scores > self.threshold)) & (np.abs(scores - self.threshold) > ROUNDING)
        if not parted.any():
            return
        i = int(np.argmax(parted))
        self._parted = X[rows[i]]
        low, high = scores[~said].max(initial=0.0), scores[said].min(initial=1.0)
        where = f" (between {low:.4g} and {high:.4g}, it seems)" if low < high else ""
        give = f"give its own threshold{where}, or" if where else "no threshold makes the two agree, so"
        raise InputError(
            f"the model {self.name!r} itself decides {'for' if said[i] else 'against'} {self.desired!r} on "
            f"{self.describe(X[rows[i]], int(rows[i]))}, whose score {scores[i]:.4g} is "
            f"{'not ' if said[i] else ''}above the threshold {self.threshold:g}; {give} wrap "
            f"it in a function: lambda table: model.predict(table) == {self.desired!r}"
        )

    def _scores(self, X: ArrayLike) -> NDArray[np.float64]:
        X = X if isinstance(X, Matrix) else np.asarray(X, dtype=np.float64)
        if X.ndim != 2 or X.shape[1] != len(self.space):
            raise InputError(f"expected encoded rows of shape (N, {len(self.space)}), got shape {X.shape}")
        scores = np.empty(len(X))
        for start in range(0, len(X), BATCH):
            scores[start : start + BATCH] = self._score(np.asarray(X[start : start + BATCH]), start)
        return scores

    def _score(self, X: NDArray[np.float64], start: int) -> NDArray[np.float64]:
        table = self.table(X)
        try:
            given = self._predicted(table, len(X))
        except InputError:
            raise
        except Exception as problem:
            row = self._first_failing(X)
            where = f"a batch of {len(X)} rows" if row is None else self.describe(X[row], start + row)
            raise InputError(
                f"the model {self.name!r} failed on {where} with {_sentence(problem)}; {_remedy(problem)}"
            ) from problem
        return self._checked(given, X, start)

    def _predicted(self, table: Any, n: int) -> Any:
        """What the model gives; one OpenMP thread for a small batch, which several would only make slower."""
        if n >= SMALL:
            return self.predict(table)
        with _openmp().limit(limits=1, user_api="openmp"):
            return self.predict(table)

    def _first_failing(self, X: NDArray[np.float64]) -> int | None:
        """The first row that the model cannot score, by halving; None if no single row is to blame."""
        first, last = 0, len(X)
        while last - first > 1:
            middle = (first + last) // 2
            if self._fails(X[first:middle]):
                last = middle
            else:
                first = middle
        return first if len(X) == 1 or self._fails(X[first : first + 1]) else None

    def _fails(self, X: NDArray[np.float64]) -> bool:
        try:
            self.predict(self.table(X))
        except Exception:
            return True
        return False

    def _checked(self, given: Any, X: NDArray[np.float64], start: int) -> NDArray[np.float64]:
        n = len(X)
        if (text := _text(given)) is not None:
            raise InputError(
                f"the model {self.name!r} gave text, such as {text!r}, not numbers; give the fitted classifier itself, "
                "its predict_proba, or a function that gives one number a row"
            )
        try:
            scores = np.asarray(given)
            scores = scores.astype(np.float64) if scores.dtype.kind == "O" else scores
        except (ValueError, TypeError):
            raise InputError(
                f"the model {self.name!r} gave something other than one number a row; give {n} scores"
            ) from None
        if scores.dtype.kind not in "biuf":
            raise InputError(
                f"the model {self.name!r} gave values of type {scores.dtype}, not numbers; give a score for each row"
            )
        if scores.shape == (n, 1):
            scores = scores[:, 0]
        if scores.shape != (n,):
            raise InputError(
                f"the model {self.name!r} gave an array of shape {scores.shape} for {n} rows; "
                "give one score a row, that of the desired outcome"
            )
        scores = scores.astype(np.float64)
        wrong = ~((scores >= -ROUNDING) & (scores <= 1 + ROUNDING))
        if wrong.any():
            i = int(np.argmax(wrong))
            raise InputError(
                f"the model {self.name!r} gave the score {scores[i]:g} to {self.describe(X[i], start + i)}; "
                "give a number in [0, 1] to every row, such as a probability"
            )
        return np.asarray(np.clip(scores, 0.0, 1.0))

    def describe(self, x: NDArray[np.float64], row: int | None = None) -> str:
        """An encoded row for a reader, with its number."""
        shown = [f"{f.name}={f.text(v)}" for f, v in zip(self.space.features[:SHOWN], x, strict=False)]
        return f"row{'' if row is None else f' {row}'} ({', '.join(shown)}{', ...' if len(x) > SHOWN else ''})"


@cache
def _openmp() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def _checked_threshold(threshold: Any) -> float:
    if isinstance(threshold, bool | np.bool_) or not isinstance(threshold, int | float | np.integer | np.floating):
        raise TypeError(f"threshold must be a number, got {threshold!r}")
    if not 0.0 <= threshold < 1.0:
        raise InputError(f"threshold {threshold!r} is not in [0, 1); give a score that the desired outcome must exceed")
    return float(threshold)


def _text(given: Any) -> str | None:
    """The first of the labels, where a model gives them as text; None for anything else."""
    try:
        values = np.asarray(given)
    except (ValueError, TypeError):
        return None
    first = values.flat[0] if values.size and values.dtype.kind in "OUT" else None
    return str(first) if isinstance(first, str) else None


def _remedy(problem: Exception) -> str:
    """What to do about what a model raised."""
    told = str(problem).lower()
    if "categor" in told and ("dtype" in told or "categorical_feature" in told):
        return (
            "give the columns as the categories that it was fitted on (DataFrame.astype('category'), or a Parquet "
            "file, which keeps them, as CSV does not)"
        )
    return "make it score every row that the space allows, or narrow the space"


def _sentence(problem: Exception) -> str:
    """An exception in one line."""
    text = " ".join(str(problem).split())
    return (
        f"{type(problem).__name__}: {text[:200]}{'...' if len(text) > 200 else ''}" if text else type(problem).__name__
    )
