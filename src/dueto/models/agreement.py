"""A structure is used only if it agrees with the model's own predictions where they are most likely to part."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dueto.models.lookup import NotUnderstood
from dueto.models.probes import probes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dueto.models.base import Model
    from dueto.models.structure import Structure

__all__ = ["ROWS", "agreeing"]

ROWS = 20_000  # rows scored to check a structure; more only if a domain has more labels


def agreeing(model: Model, structure: Structure, *, rows: int = ROWS) -> Structure:
    """The structure, if on all probes it says what the model does.

    Raises
    ------
    NotUnderstood
        With the first row on which they part: a column is not a function of its feature alone, the score is not what
        the margin makes it within the rounding that is allowed for, or the decision is another one.
    """
    given = structure.columns.numbers(structure.columns.base[None]).shape[1]
    if given != len(structure.columns):
        raise NotUnderstood(f"it is given {given} columns where {len(structure.columns)} were expected")
    X = probes(structure, rows)
    margin = np.empty(len(X))
    for part, Z in structure.columns.blocks(X):
        _refuse_mixed_columns(model, structure, X[part], Z)
        margin[part] = structure.form.margin(Z)
    score = model.check(X)
    side = structure.side(margin)
    parted = (side != 0) & ((side > 0) != (score > model.threshold))
    expected = margin
    if structure.link is not None:
        expected = structure.link(margin)
        low, high = structure.link(margin - structure.slack), structure.link(margin + structure.slack)
        parted |= (score < low - structure.precision) | (score > high + structure.precision)
    if parted.any():
        i = int(np.argmax(parted))
        what = "the score" if structure.link is not None else "the margin"
        raise NotUnderstood(
            f"the importer disagrees with the model on the {model.describe(X[i])}: {what} would be {expected[i]:.9g} "
            f"against {score[i]:.9g}"
        )
    return structure


def _refuse_mixed_columns(model: Model, structure: Structure, X: NDArray[np.float64], Z: NDArray[np.float64]) -> None:
    """Each column must be the same function of its feature whatever the other features are."""
    columns = structure.columns
    for j, places in enumerate(columns.places):
        alone = columns.of(j, X[:, j])
        wrong = ~((alone == Z[:, places]) | (np.isnan(alone) & np.isnan(Z[:, places]))).all(axis=1)
        if wrong.any():
            raise NotUnderstood(
                f"what it is given of {model.space.names[j]!r} depends on other features, as on the "
                f"{model.describe(X[int(np.argmax(wrong))])}"
            )
