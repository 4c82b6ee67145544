"""Sums of decision trees, from whatever library, as arrays: one form for forests and for boosting."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from dueto.models.tree import float32_at_most

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

__all__ = ["ZERO", "ZERO_IS_MISSING", "Ensemble", "Splits"]

BLOCK = 32_768  # pairs of a row and a tree walked together: their values stay in the cache
CHUNK = 1 << 22  # numbers held at once
ZERO = float(np.float32(1e-35))  # up to here LightGBM takes a number for zero
ZERO_IS_MISSING = 2  # of `Splits.zero`


@dataclass(frozen=True, eq=False)
class Splits:
    """The distinct questions that the nodes of an ensemble ask of a row's columns.

    Parameters
    ----------
    column : (S,) intp
        The column looked at.
    threshold : (S,) float64
        A number goes left if it is `<=` the threshold, or `<` where `strict`.
    missing_left : (S,) bool
        Whether a missing value goes left.
    strict : bool
        Whether the comparison is `<`, as in XGBoost.
    float32 : bool
        Whether numbers are rounded to float32 before they are compared.
    sets : tuple of (None or array of float64), optional
        For a split by categories, the codes (whole numbers) that go left; all other numbers go right.
    zero : (S,) int8, optional
        How LightGBM reads missing: 0 as above, and for sets; 1, a missing value is the number 0; 2, 0 and missing are
        both missing.
    """

    column: NDArray[np.intp]
    threshold: NDArray[np.float64]
    missing_left: NDArray[np.bool_]
    strict: bool = False
    float32: bool = False
    sets: tuple[NDArray[np.float64] | None, ...] = ()
    zero: NDArray[np.int8] | None = None

    def __len__(self) -> int:
        return len(self.column)

    def by_codes(self, columns: NDArray[np.intp]) -> bool:
        """Whether some split takes one of these columns for the code of a category."""
        asked = (c for c, codes in zip(self.column, self.sets, strict=False) if codes is not None)
        return any(c in columns for c in asked)

    @property
    def last(self) -> NDArray[np.float64]:
        """(S,) the largest number, rounded if `float32`, that goes left by each threshold; NaN if none does."""
        if not self.strict:
            return self.threshold.copy()
        return np.where(np.isneginf(self.threshold), np.nan, np.nextafter(self.threshold, -np.inf))

    def left(self, which: NDArray[np.intp], z: NDArray[np.float64]) -> NDArray[np.bool_]:
        """(len(which), K) whether each of K numbers of a column goes left at each of some splits of that column."""
        if self.float32:
            with np.errstate(over="ignore"):
                z = z.astype(np.float32).astype(np.float64)
        threshold = self.threshold[which][:, None]
        gone = np.isnan(z)[None]
        if self.zero is not None:
            zero = self.zero[which][:, None]
            small = np.abs(z)[None] <= ZERO
            z = np.where(gone & (zero == 1), 0.0, z)
            gone = (gone & (zero != 1)) | (small & (zero == ZERO_IS_MISSING))
        below = z < threshold if self.strict else z <= threshold
        if self.sets:
            for i, s in enumerate(which):
                if (codes := self.sets[s]) is not None:
                    below[i] = np.isin(z[i] if z.ndim == 2 else z, codes)
        return np.where(gone, self.missing_left[which][:, None], below)


@dataclass(frozen=True, eq=False)
class Ensemble:
    """base + the value of the leaf that a row reaches in each tree.

    Parameters
    ----------
    root : (T,) int32
        The first node of each tree.
    left, right : (nodes,) int32
        Children; -1 at a leaf.
    split : (nodes,) int32
        Which of `splits` a node asks; -1 at a leaf.
    value : (nodes,) float64
        What a leaf adds; 0 at inner nodes.
    splits : Splits
    base : float
    """

    root: NDArray[np.int32]
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    split: NDArray[np.int32]
    value: NDArray[np.float64]
    splits: Splits
    base: float = 0.0

    @classmethod
    def from_trees(
        cls,
        trees: Sequence[Mapping[str, Any]],
        *,
        strict: bool = False,
        float32: bool = False,
        base: float = 0.0,
    ) -> Ensemble:
        """Join trees, each a mapping of arrays with one entry a node, its root first.

        `left`, `right` (negative at a leaf), `column`, `threshold`, `value`, and where there are any `missing_left`,
        `zero` and `sets` (a list with None, or the codes that go left).
        """
        sizes = [len(tree["left"]) for tree in trees]
        start = np.cumsum([0, *sizes])
        shift = np.repeat(start[:-1], sizes)

        def joined(name: str) -> NDArray[np.float64]:
            parts = [tree.get(name, np.zeros(n)) for tree, n in zip(trees, sizes, strict=True)]
            return np.concatenate([np.empty(0), *parts]).astype(np.float64)

        leaf = joined("left") < 0
        left, right = (np.where(leaf, -1, joined(side) + shift).astype(np.intp) for side in ("left", "right"))
        sets: list[NDArray[np.float64] | None] = []
        for tree, n in zip(trees, sizes, strict=True):
            sets += tree.get("sets") or [None] * n
        inner = np.flatnonzero(~leaf)
        keys = np.column_stack([joined(name)[inner] for name in ("column", "threshold", "missing_left", "zero")])
        kept = _reached(start[:-1], left, right)  # a pruned tree may hold nodes that nothing leads to
        there = kept[inner]
        inner = inner[there]
        splits, which = _distinct(keys[there], [sets[i] for i in inner], strict=strict, float32=float32)
        split = np.full(len(leaf), -1, dtype=np.int32)
        split[inner] = which
        value = np.where(leaf, joined("value"), 0.0)
        place = np.append(np.cumsum(kept) - 1, -1).astype(np.int32)  # the last for -1, no child
        return cls(
            place[start[:-1]], place[left[kept]], place[right[kept]], split[kept], value[kept], splits, float(base)
        )

    @property
    def n_leaves(self) -> int:
        """How many leaves all trees have."""
        return int((self.left < 0).sum())

    @cached_property
    def by_column(self) -> dict[int, NDArray[np.intp]]:
        """For each column that is looked at, its splits, thresholds rising."""
        order = np.lexsort((self.splits.threshold, self.splits.column))
        column = self.splits.column[order]
        cuts = np.flatnonzero(np.diff(column)) + 1
        return {int(self.splits.column[part[0]]): part for part in np.split(order, cuts) if len(part)}

    def margin(self, Z: NDArray[np.float64]) -> NDArray[np.float64]:
        """(N,) the sum, of columns (N, p) as numbers."""
        found = np.full(len(Z), self.base)
        if not len(self.splits):
            return np.asarray(found + self.value[self.root].sum())
        step = max(1, min(BLOCK, CHUNK // max(1, 3 * Z.shape[1] + len(self._looked_at[1]))))
        for start in range(0, len(Z), step):
            V = self._values(Z[start : start + step])
            trees = max(1, BLOCK // len(V))
            for first in range(0, len(self.root), trees):
                found[start : start + step] += self._walk(V, self.root[first : first + trees])
        return found

    def _walk(self, V: NDArray[np.floating[Any]], root: NDArray[np.int32]) -> NDArray[np.float64]:
        """(N,) what some trees add: every row steps down every tree, and drops out where it has arrived."""
        column, threshold, missing_left, child = self._steps
        values = V.ravel()
        missing = bool(np.isnan(values).any())
        pair = np.arange(len(V) * len(root), dtype=np.int32)
        base = np.repeat(np.arange(len(V)) * V.shape[1], len(root))
        node = np.tile(root, len(V))
        found = np.empty(len(pair), dtype=np.int32)
        while len(pair):
            for _ in range(2):  # a leaf is its own child, so stepping on does no harm
                z = values.take(base + column.take(node))
                left = z <= threshold.take(node)
                if missing:
                    left |= np.isnan(z) & missing_left.take(node)
                node = child.take(2 * node + left)
            arrived = self.left.take(node) < 0
            found[pair[arrived]] = node[arrived]
            going = np.flatnonzero(~arrived)
            pair, base, node = pair.take(going), base.take(going), node.take(going)
        return np.asarray(self.value[found].reshape(len(V), len(root)).sum(axis=1))

    def _values(self, Z: NDArray[np.float64]) -> NDArray[np.floating[Any]]:
        """What `_steps` compare: the columns looked at, also as LightGBM reads zeros; one for each split by sets."""
        splits, (used, asked) = self.splits, self._looked_at
        V = [Z[:, used]]
        if splits.zero is not None:
            V += [np.where(np.isnan(V[0]), 0.0, V[0]), np.where(np.abs(V[0]) <= ZERO, np.nan, V[0])]
        sets = np.empty((len(Z), len(asked)))
        for column, here, codes, answers in self._tables:
            z = Z[:, column]
            place = np.searchsorted(codes, z)
            known = codes[np.minimum(place, len(codes) - 1)] == z
            place = np.where(known, place, np.where(np.isnan(z), -1, -2))
            sets[:, here] = answers[place]
        stacked = np.hstack([*V, sets])
        with np.errstate(over="ignore"):
            return np.ascontiguousarray(stacked, dtype=np.float32 if splits.float32 else np.float64)

    @cached_property
    def _looked_at(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """The columns that splits look at, and the splits by sets."""
        asked = [i for i, codes in enumerate(self.splits.sets) if codes is not None]
        return np.unique(self.splits.column), np.array(asked, dtype=np.intp)

    @cached_property
    def _tables(self) -> list[tuple[int, NDArray[np.intp], NDArray[np.float64], NDArray[np.float64]]]:
        """For each column asked by sets: where these questions stand, the codes in sets, and the answers to each code.

        Answers are 0 for left and 1 for right; the last but one is that for all other numbers, the last for missing.
        """
        splits, (_, asked) = self.splits, self._looked_at
        found = []
        for column in np.unique(splits.column[asked]):
            here = np.flatnonzero(splits.column[asked] == column)
            codes = np.unique(np.concatenate([[0.0], *(splits.sets[s] for s in asked[here])]))
            values = np.append(codes, [codes[-1] + 1.0, np.nan])
            found.append((int(column), here, codes, np.where(splits.left(asked[here], values), 0.0, 1.0).T.copy()))
        return found

    @cached_property
    def _steps(self) -> tuple[NDArray[Any], ...]:
        """For each node: its column of `_values`, the last number to the left, whether missing is, and its children."""
        splits, (used, asked) = self.splits, self._looked_at
        column = np.searchsorted(used, splits.column)
        last = splits.last
        if splits.zero is not None:
            column += len(used) * splits.zero
        column[asked] = len(used) * (1 if splits.zero is None else 3) + np.arange(len(asked))
        last[asked] = 0.5
        leaf, node = self.left < 0, np.arange(len(self.left))
        child = np.column_stack([np.where(leaf, node, self.right), np.where(leaf, node, self.left)])
        limit = float32_at_most(last) if splits.float32 else last
        which = np.where(leaf, 0, self.split)
        return column.astype(np.int32)[which], limit[which], splits.missing_left[which], child.ravel().astype(np.int32)


def _reached(root: NDArray[np.intp], left: NDArray[np.intp], right: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Which nodes some root leads to."""
    found = np.zeros(len(left), dtype=np.bool_)
    level = root
    while len(level):
        found[level] = True
        level = level[left[level] >= 0]
        level = np.concatenate([left[level], right[level]])
    return found


def _distinct(
    keys: NDArray[np.float64], sets: Sequence[NDArray[np.float64] | None], *, strict: bool, float32: bool
) -> tuple[Splits, NDArray[np.intp]]:
    """The distinct questions among keys (nodes, 4): column, threshold, missing_left, zero; and which each node asks."""
    known: dict[bytes, int] = {}
    numbered = [0 if codes is None else known.setdefault(np.unique(codes).tobytes(), len(known) + 1) for codes in sets]
    key = np.column_stack([keys, numbered])
    key[key[:, 4] > 0, 1] = 0.0
    order = np.lexsort(key.T[::-1])
    new = np.ones(len(key), dtype=np.bool_)
    new[1:] = (key[order[1:]] != key[order[:-1]]).any(axis=1)  # no differences: thresholds may be infinite
    which = np.empty(len(key), dtype=np.intp)
    which[order] = np.cumsum(new) - 1
    first = order[new]
    distinct = key[first]
    splits = Splits(
        distinct[:, 0].astype(np.intp),
        distinct[:, 1],
        distinct[:, 2] > 0,
        strict,
        float32,
        tuple(sets[i] for i in first) if known else (),
        distinct[:, 3].astype(np.int8) if distinct[:, 3].any() else None,
    )
    return splits, which
