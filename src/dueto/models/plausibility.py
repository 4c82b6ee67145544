"""How ordinary an applicant is: an isolation forest of the data, as one more ensemble that a query is bound by."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from dueto.errors import InputError
from dueto.models.columns import Columns
from dueto.models.ensemble import Ensemble
from dueto.models.structure import Structure

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dueto.space import FeatureSpace

__all__ = ["plausibility"]

ROUNDS = 10_000  # rows that the forest is fitted on, at most


def plausibility(space: FeatureSpace, X: NDArray[np.float64], share: float) -> Structure:
    """A margin that `share` of the rows exceed: how soon random cuts isolate a row, the later the more ordinary it is.

    Parameters
    ----------
    space : FeatureSpace
    X : (m, n) float64
        Encoded rows of the data. A category is read as its code, and a missing value as a number below all others.
    share : float in (0, 1)
        The share of the rows that are ordinary enough.

    Notes
    -----
    The margin is the sum over the trees of the depth of a row's leaf plus c(k), the mean depth of a tree of the
    leaf's k rows: the path length of an isolation forest [1]_ (scikit-learn's, 100 trees of 256 rows, seed 0), before
    it is made a score.

    References
    ----------
    .. [1] Liu, Ting and Zhou, "Isolation forest", ICDM 2008.
    """
    from sklearn.ensemble import IsolationForest

    if not 0.0 < share < 1.0:
        raise InputError(f"the share of plausible rows must be between 0 and 1, got {share!r}; .95 keeps all but 5 %")
    low = np.array([np.nanmin(np.append(f.domain.values, 0.0)) - 1.0 for f in space.features])
    columns = Columns(space, np.arange(len(space)), partial(_filled, low), np.array(space.ordered, dtype=np.int8))
    Z = columns.numbers(X)
    forest = IsolationForest(random_state=0).fit(Z[:: max(1, len(Z) // ROUNDS)])
    trees = []
    for estimator in forest.estimators_:
        tree = estimator.tree_
        leaf = tree.children_left < 0
        depth = tree.compute_node_depths() - 1.0
        trees.append(
            {
                "left": tree.children_left,
                "right": tree.children_right,
                "column": np.maximum(tree.feature, 0),
                "threshold": tree.threshold,
                "value": np.where(leaf, depth + _mean_depth(tree.n_node_samples), 0.0),
            }
        )
    form = Ensemble.from_trees(trees, float32=True)
    margin = np.unique(form.margin(Z))
    return Structure(columns, form, _between(margin, form.margin(Z), share), 0.0)


def _filled(low: NDArray[np.float64], X: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.where(np.isnan(X), low, X)


def _mean_depth(n: NDArray[np.int64]) -> NDArray[np.float64]:
    """c(n): the mean depth of an unsuccessful search in a binary tree of n rows; 0 for one row, 1 for two."""
    n = n.astype(np.float64)
    more = 2.0 * (np.log(np.maximum(n - 1.0, 1.0)) + np.euler_gamma) - 2.0 * (n - 1.0) / np.maximum(n, 1.0)
    return np.where(n <= 1, 0.0, np.where(n == 2, 1.0, more))


def _between(distinct: NDArray[np.float64], margins: NDArray[np.float64], share: float) -> float:
    """A number in the middle between two neighbouring margins that about `share` of all exceed."""
    at = int(np.searchsorted(distinct, np.quantile(margins, 1.0 - share)))
    return float((distinct[at - 1] + distinct[at]) / 2 if at else distinct[0] - 1.0)
