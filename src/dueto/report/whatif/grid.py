"""Scores worked out beforehand, for a model that a page cannot evaluate: one feature moved, and a few pairs of them."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from dueto.report.whatif import packed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from dueto.models import Model
    from dueto.report.whatif.controls import Control

__all__ = ["grid_of", "moved", "rounded"]

TELLING = 3  # controls of which every two are moved together
PAIRED = 8_000  # rows scored for pairs, at most
DIGITS = 6  # of a score that is kept


def grid_of(
    model: Model, controls: Sequence[Control], rows: NDArray[np.float64], *, pairs: bool = True
) -> dict[str, Any]:
    """The model's scores where one control is moved, and where two are that belong together.

    These are first the two that a change found moves, then any two of those that raise the score most by themselves.

    Parameters
    ----------
    model : Model
    controls : sequence of Control
    rows : (1 + r, n) float64
        The encoded applicant, and then what the changes found would make of them.
    pairs : bool
        Whether there are to be pairs.

    Returns
    -------
    dict
        `kind` "grid"; `singles`, a text of scores for each control; `pairs`, each with `of`, its two controls, and
        their `scores`, one line of the first control's values after the other.
    """
    x, singles = rows[0], []
    for control in controls:
        singles.append(model.score(moved(x, [control])) if len(control) > 1 else np.empty(0))
    best = [scores.max(initial=-1.0) for scores in singles]
    telling = sorted((u for u in range(len(controls)) if len(controls[u]) > 1), key=lambda u: -best[u])[:TELLING]
    found, left = [], PAIRED if pairs else 0
    for u, w in dict.fromkeys([*_twos(controls, rows), *combinations(sorted(telling), 2)]):
        size = len(controls[u]) * len(controls[w])
        if size <= left:
            left -= size
            scores = model.score(moved(x, [controls[u], controls[w]]))
            found.append({"of": [u, w], "scores": packed.floats(rounded(scores, model.threshold))})
    listed = [packed.floats(rounded(scores, model.threshold)) for scores in singles]
    return {"kind": "grid", "singles": listed, "pairs": found}


def _twos(controls: Sequence[Control], rows: NDArray[np.float64]) -> list[tuple[int, int]]:
    """The controls that are moved by each row that moves two."""
    found = []
    for row in rows[1:]:
        changed = [u for u, control in enumerate(controls) if control.place(row) != control.own]
        if len(changed) == 2:
            found.append((changed[0], changed[1]))
    return found


def moved(x: NDArray[np.float64], controls: Sequence[Control]) -> NDArray[np.float64]:
    """(k1 · k2 ..., n) the row with every combination of some controls' values, those of the last changing first."""
    places = np.indices([len(control) for control in controls]).reshape(len(controls), -1)
    rows = np.repeat(x[None], places.shape[1], axis=0)
    for control, at in zip(controls, places, strict=True):
        rows[:, list(control.members)] = control.values[at]
    return rows


def rounded(scores: NDArray[np.float64], threshold: float) -> NDArray[np.float64]:
    """Scores in a few digits, but for those that this would put on the other side of the threshold."""
    few = np.round(scores, DIGITS)
    return np.where((few > threshold) == (scores > threshold), few, scores)
