"""Features cut into bins: missing, special codes, values that many rows have, and what lies between them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from dueto.plaf import Expr
    from dueto.space import FeatureSpace

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

BINS = 1_000  # of all features together
LEVELS = 16  # a feature of at most so many values has a bin for each
ATOM = 0.05  # share of the rows that gives a feature's least or greatest value a bin of its own
SURE = 20.0  # minus the logarithm of the chance that independent features bring forth any proposal
TRIPLES = 2_000  # sums of two features tried against a third
LEAST = 5  # rows that must lie on an edge
EDGE = 0.01  # share of the rows that must lie on the edge that an order, a sum or a range draws
NEAR = 0.01  # what is near, as a share of the distance between the 10 % and the 90 % quantile
CODES = [*range(-9, 0), *(1 - 10**k for k in range(2, 8))]

Kind = Literal["equality", "tie", "order", "sum", "equivalence", "implication", "range"]


@dataclass(frozen=True, eq=False)
class Candidate:
    """A constraint that the rows looked at keep.

    `expected` of them would break it if its sides were independent; it says something where `where` holds (None:
    everywhere).
    """

    constraint: Expr
    kind: Kind
    expected: float
    where: Expr | None = None


class Bins:
    """The rows of a table, each feature cut into bins, which are numbered over all features.

    Attributes
    ----------
    X, W : (m, n)
        The encoded rows; and the same without special codes, which are missing there.
    P : (m, n) int
        The bin that each value belongs to.
    of : dict
        For each feature looked at, the range of its bins' numbers, missing last.
    low, high : (T,)
        The least and the greatest value of each bin of an ordered feature, the label of another's; NaN for missing.
    special, mixed : (T,) bool
        Whether a bin is a code or missing; whether it holds all labels too rare to be told apart.
    owner, count : (T,) int
        The feature of each bin, and the rows that are in it.
    values, ranks : dict of arrays, (m, n) int
        Each feature's distinct values, and which of them each row has.
    near : (n,) float
        What is near along each feature.
    few : int
        So many rows make a condition worth speaking of.
    sure : float
        The least number of rows that should break a candidate if its sides were independent: 20 + ln of the number of
        events that `suggest_constraints` counts.
    """

    def __init__(self, space: FeatureSpace, X: Floats, use: list[int], few: int) -> None:
        self.space, self.X, self.use, self.few = space, X, use, few
        self.W, self.P, self.ranks = (
            X.copy(order="F"),
            np.zeros(X.shape, dtype=np.intp),
            np.zeros(X.shape, dtype=np.intp),
        )
        self.of, self.values = dict[int, range](), dict[int, Floats]()
        self.near, self.levels = np.zeros(X.shape[1]), max(4, min(LEVELS, BINS // max(1, len(use))))
        low, high, special, mixed = list[float](), list[float](), list[bool](), list[bool]()
        for j in use:
            feature = space.features[j]
            values, rank, counts = np.unique(X[:, j], return_inverse=True, return_counts=True)
            coded = np.zeros(len(values), dtype=bool) if feature.labelled else _codes(values, counts, few)
            apart = coded | np.isnan(values)
            alone = self._alone(counts, apart, ordered=feature.ordered)
            if feature.ordered:
                which = np.cumsum(alone | np.append(True, alone[:-1])) - 1
            else:
                which = np.where(alone, np.cumsum(alone) - 1, alone.sum())
            first = np.unique(which, return_index=True)[1]
            self.values[j], self.ranks[:, j], self.P[:, j] = values, rank, len(low) + which[rank]
            self.of[j] = range(len(low), len(low) + len(first))
            self.W[coded[rank], j] = np.nan
            plain = self.W[~np.isnan(self.W[:, j]), j]
            self.near[j] = NEAR * np.ptp(np.quantile(plain, (0.1, 0.9), method="inverted_cdf"))
            low += values[first].tolist()
            high += values[np.append(first[1:], len(values)) - 1].tolist()
            special += apart[first].tolist()
            mixed += [not feature.ordered and not alone[f] for f in first]
        self.low, self.high = np.array(low), np.array(high)
        self.special, self.mixed = np.array(special, dtype=bool), np.array(mixed, dtype=bool)
        self.owner = np.repeat(np.array(use, dtype=np.intp), [len(self.of[j]) for j in use])
        self.count = np.bincount(self.P[:, use].ravel(), minlength=len(low))
        n, T = len(use), len(low)
        self.sure = SURE + float(np.log(max(1, T * T // 2 + 5 * T * n + 3 * n * n + TRIPLES)))

    def _alone(self, counts: NDArray[np.intp], apart: Bools, *, ordered: bool) -> Bools:
        """Which of a feature's distinct values have a bin of their own."""
        enough, alone, rest = counts >= self.few, apart.copy(), np.flatnonzero(~apart)
        if not ordered:
            return np.isin(np.arange(len(counts)), np.argsort(-counts, kind="stable")[: self.levels]) & enough
        if len(rest) <= self.levels:
            return alone | enough
        ends = rest[[0, -1]]
        alone[ends] = enough[ends] & (counts[ends] >= ATOM * counts.sum())
        return alone


def _codes(values: Floats, counts: NDArray[np.intp], few: int) -> Bools:
    """Which of a column's distinct values, sorted, are no quantities but say why there is none.

    Whole numbers from -9 to -1, or all of -99, -999 and so on, if the others are not negative; and a greatest value
    that lies further from the second than that from the least of at least eight others.
    """
    plain, found = values[~np.isnan(values)], np.zeros(len(values), dtype=bool)
    below = int((plain < 0).sum())
    if 0 < below <= len(plain) - 2 and np.isin(plain[:below], CODES).all():
        found[:below] = True
    rest, top = plain[~found[: len(plain)]], len(plain) - 1
    found[top] |= len(rest) >= 9 and counts[top] >= few and rest[-1] - rest[-2] > rest[-2] - rest[0]
    return found


def edge(gap: Floats, near: float = 0.0) -> bool:
    """Whether five rows or more, and one in a hundred, lie at most `near` from an edge; `gap` is how far each does."""
    return bool((gap <= near).sum() >= max(LEAST, EDGE * len(gap)))


def true(condition: Expr, space: FeatureSpace, X: Floats) -> Bools:
    """The rows in which a condition on the proposed values alone is true, as the language itself evaluates it."""
    return condition.bind(space)(lambda j: X[:, j], X[0])
