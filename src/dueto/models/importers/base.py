"""What an importer is given and gives: a fitted estimator in, a `Structure` out, or a clause that says why not."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from dueto.models.lookup import NotUnderstood
from dueto.models.structure import Structure

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dueto.models.additive import Additive
    from dueto.models.columns import Columns
    from dueto.models.ensemble import Ensemble
    from dueto.models.inputs import Inputs
    from dueto.models.network import Network

__all__ = ["EPS", "EPS32", "Task", "bounds", "logistic", "precision", "rounding_in_order", "rounding_of_sum"]

EPS = float(np.finfo(np.float64).eps)
EPS32 = float(np.finfo(np.float32).eps)


@dataclass(frozen=True, eq=False)
class Task:
    """A fitted classifier, what stands before it, and when its outcome is the desired one.

    Parameters
    ----------
    estimator : classifier
        The innermost one, without the pipeline around it.
    inputs : Inputs
        What it is given.
    column : int
        The place of the desired class among its classes.
    classes : int
        How many classes there are.
    threshold : float
        What the score must exceed.
    method : {"predict_proba", "decision_function", "predict"}
        What the score comes from.
    """

    estimator: Any
    inputs: Inputs
    column: int
    classes: int
    threshold: float
    method: str

    @property
    def name(self) -> str:
        return type(self.estimator).__name__

    def binary(self) -> None:
        """Refuse more than two classes, or one."""
        if self.classes != 2:
            raise NotUnderstood(f"a {self.name} is understood for two classes, not {self.classes}")

    @property
    def sign(self) -> float:
        """1 if the desired class is the second, whose margin a model of two classes gives; else -1."""
        return 1.0 if self.column == 1 else -1.0

    @property
    def cut(self) -> float:
        """The number whose logistic function is the threshold."""
        if self.threshold == 0.0:
            raise NotUnderstood("every score of a logistic function exceeds the threshold 0")
        return float(np.log(self.threshold / (1.0 - self.threshold)))

    def logistic(
        self,
        columns: Columns,
        form: Ensemble | Additive | Network,
        slack: float,
        *,
        scale: float = 1.0,
        eps: float = EPS,
    ) -> Structure:
        """The structure of a score 1 / (1 + exp(-scale · margin)), computed with relative rounding `eps`.

        A probability p near the threshold t, or 1 minus that of the other class, is off by a few eps at most; that is
        as if the margin were off by as much over the slope t (1 - t). The logarithm's own rounding is smaller.
        """
        t, cut = self.threshold, self.cut
        slack += (8.0 * eps / (t * (1.0 - t)) + 4.0 * EPS * abs(cut)) / scale
        return Structure(columns, form, cut / scale, slack, partial(logistic, scale), 8.0 * eps)


def logistic(scale: float, margin: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(1.0 / (1.0 + np.exp(-np.clip(scale * margin, -700.0, 700.0))))


def precision(weights: NDArray[Any]) -> float:
    """The ε of a model's sums: of float32 if its weights are, whatever the columns, else of float64."""
    return EPS32 if weights.dtype == np.float32 else EPS


def bounds(columns: Columns) -> NDArray[np.float64]:
    """(p,) the largest absolute value of each column over the space's domains.

    A range of real numbers is bounded by its ends, which needs a column that never turns.
    """
    found = np.zeros(len(columns))
    for j, places in enumerate(columns.places):
        if not len(places):
            continue
        feature = columns.space.features[j]
        values = feature.domain.values
        if feature.domain.interval is not None:
            if not columns.monotone[places].all():
                raise NotUnderstood(f"what becomes of {feature.name!r} is not bounded by the ends of its range")
            values = np.union1d(values, feature.domain.interval)
        if feature.domain.missing:
            values = np.append(values, np.nan)
        Z = columns.of(j, values)
        if np.isnan(Z).any():
            raise NotUnderstood(f"a missing value of {feature.name!r} reaches it")
        found[places] = np.abs(Z).max(axis=0, initial=0.0)
    return found


def rounding_of_sum(form: Ensemble, *, eps: float = EPS) -> float:
    """How far two sums of one leaf of each of T trees, in any order, may be apart: T ε Σ max |leaf|, and a bit more."""
    low, high = _extremes(form)
    return float((len(form.root) + 2) * eps * (np.maximum(np.abs(low), np.abs(high)).sum() + abs(form.base)))


def rounding_in_order(form: Ensemble, cut: float) -> float:
    """How far a sum in float32, one tree after the other, may be from one in float64, where that is about `cut`.

    Each addition adds at most half an ε of what has been summed up so far. That lies between the sums of the least and
    of the largest leaves so far; and it is the whole sum less what is still to come, where the whole sum is `cut`, but
    for the rounding itself. The base may come first or last.
    """
    low, high = _extremes(form)
    so_far = np.maximum(np.abs(np.cumsum(low)), np.abs(np.cumsum(high)))
    largest = np.maximum(np.abs(low), np.abs(high))
    to_come = largest.sum() - np.cumsum(largest)
    half = 0.51 * EPS32  # the rest for terms of ε²
    most = half * (so_far + abs(form.base)).sum()
    return float(half * (np.minimum(so_far, abs(cut) + most + to_come + abs(form.base)) + abs(form.base)).sum())


def _extremes(form: Ensemble) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """(T,) the least and the largest leaf of each tree."""
    leaf = form.left < 0
    low = np.minimum.reduceat(np.where(leaf, form.value, np.inf), form.root)
    return low, np.maximum.reduceat(np.where(leaf, form.value, -np.inf), form.root)
