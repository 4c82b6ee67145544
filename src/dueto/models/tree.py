"""One decision tree as arrays: scored, read and cut into boxes exactly as scikit-learn compares."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dueto.errors import InputError, some
from dueto.models.labels import match

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from dueto.models.boxes import Boxes
    from dueto.space import FeatureSpace

__all__ = ["Tree", "float32_at_most", "last_left"]

OVERFLOW = 2.0**128  # stands for an infinite float32: the number that would follow the largest
BLOCK = 32_768  # rows walked down the tree together: their values stay in the cache
ARRAYS = ("left", "right", "feature", "threshold", "value")


@dataclass(frozen=True, eq=False)
class Tree:
    """A binary decision tree that gives the probability of the desired outcome.

    A row goes left at a node if float32(x) <= threshold, the threshold in float64, as scikit-learn compares; a missing
    value goes left where `missing_left` says so.

    Parameters
    ----------
    left, right : (nodes,) intp
        Children of each node; -1 at a leaf. Node 0 is the root.
    feature : (nodes,) intp
        Position of the raw column that a node looks at.
    threshold : (nodes,) float64
    value : (nodes,) float64
        Probability of the desired outcome at a leaf.
    missing_left : (nodes,) bool
        Whether a missing value goes left.

    Examples
    --------
    >>> from dueto.models import Tree
    >>> tree = Tree.from_arrays([1, -1, -1], [2, -1, -1], [0, -1, -1], [0.5, 0, 0], [[6, 4], [5, 0], [1, 4]])
    >>> tree.score([[0.5], [0.51]])
    array([0. , 0.8])
    """

    left: NDArray[np.intp]
    right: NDArray[np.intp]
    feature: NDArray[np.intp]
    threshold: NDArray[np.float64]
    value: NDArray[np.float64]
    missing_left: NDArray[np.bool_]

    @classmethod
    def from_arrays(
        cls,
        left: ArrayLike,
        right: ArrayLike,
        feature: ArrayLike,
        threshold: ArrayLike,
        value: ArrayLike,
        *,
        missing_left: ArrayLike | None = None,
        desired: int = 1,
    ) -> Tree:
        """Check plain arrays, one entry a node, and make them a tree.

        Parameters
        ----------
        value : (nodes,) or (nodes, k)
            The probability of the desired outcome, or a column of counts or of probabilities for each class.
        missing_left : (nodes,) bool, optional
            Missing values go right unless given.
        desired : int, default 1
            Which column of `value` is the desired class's.

        Raises
        ------
        InputError
            If the arrays do not make one tree of probabilities.
        """
        shape = np.shape(left)
        missing = np.zeros(shape) if missing_left is None else missing_left
        given = {
            "left": left,
            "right": right,
            "feature": feature,
            "threshold": threshold,
            "missing_left": missing,
        }
        arrays = {name: np.asarray(array) for name, array in given.items()}
        for name, array in arrays.items():
            if array.shape != shape or array.ndim != 1 or array.dtype.kind not in "biuf":
                raise InputError(f"a tree's {name!r} must hold one number a node, like 'left', which has shape {shape}")
        left, right = arrays["left"].astype(np.intp), arrays["right"].astype(np.intp)
        leaf = (left < 0) | (left == right)
        left, right = np.where(leaf, -1, left), np.where(leaf, -1, right)
        feature = np.where(leaf, -1, arrays["feature"].astype(np.intp))
        threshold = np.where(leaf, 0.0, arrays["threshold"].astype(np.float64))
        if (feature[~leaf] < 0).any() or np.isnan(threshold).any():
            raise InputError("a tree's inner nodes each need a column (0, 1, ...) and a threshold")
        probability = _probability(np.asarray(value), leaf, desired)
        tree = cls(left, right, feature, threshold, probability, arrays["missing_left"].astype(np.bool_))
        _refuse_tangles(tree)
        return tree

    @classmethod
    def from_sklearn(cls, estimator: Any, desired: Any = None) -> Tree:
        """The tree of a fitted scikit-learn DecisionTreeClassifier or ExtraTreeClassifier, columns numbered as fitted.

        `desired` is a class label, by default the second class.
        """
        inner, classes = estimator.tree_, estimator.classes_
        if inner.n_outputs != 1:
            raise InputError(f"the tree predicts {inner.n_outputs} outputs; fit it to one")
        column = match(desired, classes)
        leaf = inner.children_left < 0
        value = np.zeros(len(leaf)) if column is None else inner.value[:, 0, column]
        left, right = np.where(leaf, -1, inner.children_left), np.where(leaf, -1, inner.children_right)
        feature, threshold = np.where(leaf, -1, inner.feature), np.where(leaf, 0.0, inner.threshold)
        return cls(left, right, feature, threshold, value, np.asarray(inner.missing_go_to_left, dtype=np.bool_))

    @classmethod
    def load(cls, path: str | Path, *, desired: int = 1) -> Tree:
        """Read a tree from an .npz file of arrays: left, right, feature, threshold, value and, if any, missing_left."""
        import zipfile

        path = Path(path)
        try:
            with path.open("rb") as stream:
                file = np.load(stream, allow_pickle=False)
                arrays = {} if isinstance(file, np.ndarray) else {name: file[name] for name in file.files}
        except (OSError, ValueError, EOFError, zipfile.BadZipFile) as problem:
            raise InputError(f"{path} is no NumPy .npz file that can be read; save it with numpy.savez") from problem
        absent = [name for name in ARRAYS if name not in arrays]
        if absent:
            raise InputError(f"{path} has no array {absent[0]!r}; a tree needs {some(ARRAYS)}, saved with numpy.savez")
        try:
            missing_left = arrays.get("missing_left")
            return cls.from_arrays(*(arrays[name] for name in ARRAYS), missing_left=missing_left, desired=desired)
        except InputError as problem:
            raise InputError(f"{path}: {problem}") from problem

    @property
    def n_leaves(self) -> int:
        """How many leaves there are."""
        return int((self.left < 0).sum())

    def score(self, X: ArrayLike) -> NDArray[np.float64]:
        """Probability of the desired outcome, shape (N,), of rows of raw numbers, shape (N, p); NaN is missing."""
        return self.value[self.leaf(X)]

    def leaf(self, X: ArrayLike) -> NDArray[np.intp]:
        """The node that each row of raw numbers ends in, shape (N,).

        All rows of a block step down one level at a time; those that have arrived drop out.
        """
        X = np.asarray(X)
        if X.ndim != 2 or X.shape[1] <= self.feature.max():
            raise InputError(f"the tree needs rows of at least {self.feature.max() + 1} columns, got shape {X.shape}")
        found = np.empty(len(X), dtype=np.intp)
        for start in range(0, len(X), BLOCK):
            with np.errstate(over="ignore"):
                block = np.ascontiguousarray(X[start : start + BLOCK], dtype=np.float32)
            found[start : start + BLOCK] = self._walk(block)
        return found

    def _walk(self, block: NDArray[np.float32]) -> NDArray[np.int32]:
        column, threshold, child, is_leaf = self._steps
        values = block.ravel()
        missing = bool(np.isnan(values).any())
        rows = np.arange(len(block), dtype=np.int32)
        base = np.arange(len(block)) * block.shape[1]
        node = np.zeros(len(block), dtype=np.int32)
        found = np.empty(len(block), dtype=np.int32)
        while len(rows):
            for _ in range(2):  # a leaf is its own child, so stepping on does no harm
                x = values.take(base + column.take(node))
                right = x > threshold.take(node)
                if missing:
                    right |= np.isnan(x) & ~self.missing_left.take(node)
                node = child.take(2 * node + right)
            arrived = is_leaf.take(node)
            found[rows[arrived]] = node[arrived]
            going = np.flatnonzero(~arrived)
            rows, base, node = rows.take(going), base.take(going), node.take(going)
        return found

    @cached_property
    def _steps(self) -> tuple[NDArray[np.int32], NDArray[np.float32], NDArray[np.int32], NDArray[np.bool_]]:
        """Columns, thresholds in float32 (which decide alike), children in pairs, and which nodes are leaves."""
        leaf = self.left < 0
        node = np.arange(len(leaf))
        child = np.column_stack([np.where(leaf, node, self.left), np.where(leaf, node, self.right)])
        column = np.where(leaf, 0, self.feature)
        return column.astype(np.int32), float32_at_most(self.threshold), child.ravel().astype(np.int32), leaf

    def reversed(self) -> Tree:
        """The tree of the other outcome: 1 - value."""
        return replace(self, value=1.0 - self.value)

    def on_columns(self, positions: Sequence[int]) -> Tree:
        """The same tree where the column it knows as j is at positions[j]."""
        feature = np.where(self.left < 0, -1, np.append(np.asarray(positions, dtype=np.intp), -1)[self.feature])
        return replace(self, feature=feature)

    def boxes(self, space: FeatureSpace) -> Boxes:
        """Every leaf as a box of encoded rows."""
        from dueto.models.boxes import Boxes

        return Boxes.of(self, space)


def float32_at_most(t: NDArray[np.float64]) -> NDArray[np.float32]:
    """The largest float32 that is not above each float64: float32(x) <= t holds just when float32(x) <= this does."""
    with np.errstate(over="ignore"):
        near = t.astype(np.float32)
        return np.where(near > t, np.nextafter(near, np.float32(-np.inf)), near)


def last_left(threshold: NDArray[np.float64]) -> NDArray[np.float64]:
    """The largest float64 v with float32(v) <= threshold.

    With f the largest float32 that is not above the threshold and g the next one, that is the middle of f and g if the
    middle rounds to f, else the number before it.
    """
    f = float32_at_most(threshold)
    with np.errstate(over="ignore"):
        g = np.nextafter(f, np.float32(np.inf))
        middle = (
            np.clip(f, -OVERFLOW, OVERFLOW, dtype=np.float64) + np.clip(g, -OVERFLOW, OVERFLOW, dtype=np.float64)
        ) / 2
        rounds_down = middle.astype(np.float32) <= f
    last = np.where(rounds_down, middle, np.nextafter(middle, -np.inf))
    return np.where(np.isposinf(f), np.inf, last)


def _probability(value: NDArray[Any], leaf: NDArray[np.bool_], desired: int) -> NDArray[np.float64]:
    if value.ndim == 3 and value.shape[1] == 1:
        value = value[:, 0, :]
    if value.dtype.kind not in "biuf" or value.ndim not in {1, 2} or len(value) != len(leaf):
        raise InputError("a tree's 'value' must hold a probability, or a count for each class, for each node")
    value = value.astype(np.float64)
    if value.ndim == 2:
        if not 0 <= desired < value.shape[1]:
            raise InputError(
                f"a tree's 'value' has {value.shape[1]} column(s), so there is no class {desired}; choose another"
            )
        total = value.sum(axis=1)
        if (value[leaf] < 0).any() or not (total[leaf] > 0).all():
            raise InputError(
                "a tree's 'value' must hold counts or probabilities: not negative, and not all zero at a leaf"
            )
        share = np.abs(total - 1.0) <= 1e-9  # probabilities already: dividing again would only round them
        value = value[:, desired] / np.where(share | (total <= 0), 1.0, total)
    if not ((value[leaf] >= 0) & (value[leaf] <= 1)).all():
        raise InputError("a tree's 'value' must hold probabilities in [0, 1], or a column of counts for each class")
    return value


def _refuse_tangles(tree: Tree) -> None:
    """Every node must be reached from the root along one path."""
    inner = tree.left >= 0
    children = np.concatenate([tree.left[inner], tree.right[inner]])
    nodes = len(tree.left)
    once = np.array_equal(np.sort(children), np.arange(1, nodes))
    level, reached = np.zeros(1 if nodes else 0, dtype=np.intp), 0
    while once and len(level):
        reached += len(level)
        level = level[inner[level]]
        level = np.concatenate([tree.left[level], tree.right[level]])
    if not once or reached != nodes or not nodes:
        raise InputError("a tree's 'left' and 'right' must reach every node from node 0 exactly once")
