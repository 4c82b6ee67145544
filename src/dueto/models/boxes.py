"""The leaves of a tree as boxes of encoded rows, exact to the last bit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dueto.errors import InputError
from dueto.models.raw import raw_columns
from dueto.models.tree import last_left

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from dueto.models.tree import Tree
    from dueto.space import FeatureSpace

__all__ = ["Boxes"]


@dataclass(frozen=True, eq=False)
class Boxes:
    """One box of encoded rows for each leaf of a tree: every row is in exactly one, and has that box's score.

    A feature of plain numbers is bounded; a feature with labels (category, ordinal, one-hot group) has a table of the
    codes that are allowed.

    Parameters
    ----------
    score : (L,) float64
        Score of the desired outcome in each box.
    low, high : (L, n) float64
        Inclusive bounds of each feature in float64, -inf or inf where there is none; low > high if no number is
        allowed. They are the very last numbers that the tree's float32 comparison sends there. Not for use where there
        is a table.
    missing : (L, n) bool
        Whether a missing value is allowed.
    tables : dict of int to (L, k) bool
        For each feature with labels, the codes that are allowed.

    Examples
    --------
    >>> from dueto import FeatureSpace
    >>> from dueto.models import Tree
    >>> space = FeatureSpace.infer([[0.25], [0.5], [0.75]])
    >>> tree = Tree.from_arrays([1, -1, -1], [2, -1, -1], [0, -1, -1], [0.5, 0, 0], [0.5, 0.1, 0.9])
    >>> boxes = tree.boxes(space)
    >>> boxes.high[0, 0], boxes.low[1, 0]
    (np.float64(0.5000000298023224), np.float64(0.5000000298023225))
    >>> boxes.allows(0, [0.25, 0.5, 0.75])
    array([[ True,  True, False],
           [False, False,  True]])
    """

    score: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    missing: NDArray[np.bool_]
    tables: dict[int, NDArray[np.bool_]]

    @classmethod
    def of(cls, tree: Tree, space: FeatureSpace) -> Boxes:
        """The boxes of a tree over the space's raw columns.

        Raises
        ------
        InputError
            If a raw column holds labels that are not numbers, or the tree looks at a column that there is not.
        """
        columns = raw_columns(space)
        if columns is None or tree.feature.max() >= len(columns):
            raise InputError(
                "the tree does not stand on the raw columns of this space; give it the space it was fitted on"
            )
        score, raw_low, raw_high, raw_missing = _leaves(tree, len(columns))
        shape = (len(score), len(space))
        low, high, missing = np.full(shape, -np.inf), np.full(shape, np.inf), np.ones(shape, dtype=np.bool_)
        tables: dict[int, NDArray[np.bool_]] = {}
        for k, column in enumerate(columns):
            j = column.feature
            if column.numbers is None:
                low[:, j], high[:, j], missing[:, j] = raw_low[:, k], raw_high[:, k], raw_missing[:, k]
                continue
            allowed = _inside(raw_low[:, k], raw_high[:, k], raw_missing[:, k], column.numbers)
            tables[j] = tables.get(j, True) & allowed[:, :-1]
            missing[:, j] &= allowed[:, -1]
        return cls(score, low, high, missing, tables)

    def __len__(self) -> int:
        return len(self.score)

    def allows(self, j: int, values: ArrayLike, which: Any = slice(None)) -> NDArray[np.bool_]:
        """Whether each box allows each of some encoded values (V,) of feature j, NaN included: shape (L, V).

        `which` (a slice, indices or a mask) picks boxes: all of many boxes and many values may not fit in memory.
        """
        values = np.asarray(values, dtype=np.float64)
        if j not in self.tables:
            return _inside(self.low[which, j], self.high[which, j], self.missing[which, j], values)
        table = np.column_stack([self.tables[j][which], self.missing[which, j]])
        return table[:, np.where(np.isnan(values), -1, values).astype(np.intp)]

    def contains(self, X: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Whether each box holds each encoded row: shape (L, N), True once in each column."""
        inside = np.ones((len(self), len(X)), dtype=np.bool_)
        for j in range(X.shape[1]):
            inside &= self.allows(j, X[:, j])
        return inside


def _inside(
    low: NDArray[np.float64],
    high: NDArray[np.float64],
    missing: NDArray[np.bool_],
    values: NDArray[np.float64],
) -> NDArray[np.bool_]:
    between = (values >= low[:, None]) & (values <= high[:, None])
    return between | (np.isnan(values) & missing[:, None])


def _leaves(
    tree: Tree, p: int
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], NDArray[np.bool_]]:
    """Scores of the leaves, in the order of their nodes; and (L, p) low, high and missing of each raw column."""
    last = last_left(tree.threshold)
    first = np.where(last == np.inf, np.inf, np.nextafter(last, np.inf))
    is_leaf = tree.left < 0
    leaves = np.flatnonzero(is_leaf)
    place = np.cumsum(is_leaf) - 1
    low, high = np.empty((len(leaves), p)), np.empty((len(leaves), p))
    missing = np.empty((len(leaves), p), dtype=np.bool_)
    node = np.zeros(1, dtype=np.intp)
    here = (np.full((1, p), -np.inf), np.full((1, p), np.inf), np.ones((1, p), dtype=np.bool_))
    while len(node):
        done = is_leaf[node]
        for whole, part in zip((low, high, missing), here, strict=True):
            whole[place[node[done]]] = part[done]
        node = node[~done]
        lows, highs, misses = (np.concatenate([part[~done]] * 2) for part in here)
        column = tree.feature[node]
        lefts, rights = np.arange(len(node)), np.arange(len(node), 2 * len(node))
        highs[lefts, column] = np.minimum(highs[lefts, column], last[node])
        lows[rights, column] = np.maximum(lows[rights, column], first[node])
        never = rights[last[node] == np.inf]  # no number goes right of an infinite threshold
        highs[never, column[never - len(node)]] = -np.inf
        misses[lefts, column] &= tree.missing_left[node]
        misses[rights, column] &= ~tree.missing_left[node]
        node, here = np.concatenate([tree.left[node], tree.right[node]]), (lows, highs, misses)
    return tree.value[leaves], low, high, missing
