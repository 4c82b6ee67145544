"""A `Tree`, given as arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dueto.models.columns import Columns
from dueto.models.ensemble import Ensemble
from dueto.models.lookup import NotUnderstood
from dueto.models.structure import Structure

if TYPE_CHECKING:
    from dueto.models.base import Model

__all__ = ["own_tree"]


def own_tree(model: Model) -> Structure:
    """The margin is the leaf's probability."""
    tree, columns = model.tree, Columns.raw(model.space)
    if tree is None or columns is None:
        raise NotUnderstood("it is no tree over raw columns of numbers")
    arrays = {
        "left": tree.left,
        "right": tree.right,
        "column": np.maximum(tree.feature, 0),
        "threshold": tree.threshold,
        "value": tree.value,
        "missing_left": tree.missing_left,
    }
    return Structure(columns, Ensemble.from_trees([arrays], float32=True), model.threshold, 0.0, np.asarray)
