"""What two or three features have to do with each other as wholes: equal, tied, ordered, summed."""

from __future__ import annotations

from collections import defaultdict
from functools import reduce
from itertools import combinations, permutations
from operator import and_
from typing import TYPE_CHECKING

import numpy as np

from dueto.domain import same
from dueto.plaf import cf, together
from dueto.suggest.bins import TRIPLES, Bins, Bools, Candidate, Floats, Kind, edge, true
from dueto.suggest.phrases import ordinary

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from numpy.typing import NDArray

    from dueto.plaf import Expr, Term

SCREEN = 2_000  # rows that a candidate must keep before it is held against all
APART = 0.05  # share of independent draws that an order or a sum must rule out
REPEATS = 20  # rows that each value of a feature has on the average, if another is tied to it


# -- equal and tied ---------------------------------------------------------------------------------------------------


def equalities(bins: Bins) -> tuple[list[Candidate], list[int]]:
    """Features that equal an earlier one in every row; and the others."""
    found, alive, X = list[Candidate](), list[int](), bins.X
    for j in bins.use:
        shares = np.bincount(bins.ranks[:, j]) / len(X)
        expected = len(X) * (1 - float(shares @ shares))
        alike = [i for i in alive if _units(bins, i) == _units(bins, j)] if expected >= bins.sure else []
        first = next((i for i in alike if _always(same, X[:, i], X[:, j])), None)
        if first is None:
            alive.append(j)
        else:
            found.append(Candidate(_ref(bins, first) == _ref(bins, j), "equality", expected))
    return found, alive


def ties(bins: Bins, alive: list[int], known: Bools) -> tuple[list[Candidate], list[int]]:
    """Functional dependencies, a value for each value of another; and the features not tied both ways to an earlier.

    `known` (n, n) marks pairs of features that need no tie; those found are marked too.
    """
    pairs = {(i, j): e for i, j in permutations(alive, 2) if not known[i, j] and (e := _tied(bins, i, j)) >= bins.sure}
    names, left, found = bins.space.names, list[int](), list[Candidate]()
    bundles = defaultdict[int, list[int]](list)
    for j in alive:
        first = next((i for i in left if (i, j) in pairs and (j, i) in pairs), None)
        (left if first is None else bundles[first]).append(j)
    for i, others in bundles.items():
        expected = min(pairs[i, j] for j in others)
        found.append(Candidate(together(names[i], *(names[j] for j in others)), "tie", expected))
    one_way = {(i, j): e for (i, j), e in pairs.items() if i in left and j in left}
    for (i, j), expected in one_way.items():
        known[i, j] = known[j, i] = True
        if not any((i, k) in one_way and (k, j) in one_way for k in left):
            found.append(Candidate(together(names[i], names[j]), "tie", expected))
    return found, left


def _tied(bins: Bins, i: int, j: int) -> float:
    """How many rows would be expected to break that i has one value of j each; 0 if one does, or too few could."""
    k, m = len(bins.values[i]), len(bins.X)
    if not 3 <= len(bins.values[j]) <= k or k * REPEATS > m:
        return 0.0
    a, b = bins.ranks[:, i], bins.ranks[:, j]
    of = np.zeros(k, dtype=np.intp)
    for rows in (SCREEN, None):
        of[a[:rows]] = b[:rows]
        if (of[a[:rows]] != b[:rows]).any():
            return 0.0
    return _misses_tie(b, of)


# -- ordered ----------------------------------------------------------------------------------------------------------


def orders(bins: Bins, alive: list[int]) -> tuple[dict[tuple[int, int], Candidate], Bools, Bools]:
    """Orders between features, without those that follow from others; all of them; and all that no row breaks.

    Both tables, (n, n), speak of ordinary values: neither missing nor codes.
    """
    n, W, seen = bins.X.shape[1], bins.W, ~np.isnan(bins.W)
    held, expected = np.zeros((n, n), dtype=bool), dict[tuple[int, int], float]()
    kin = defaultdict[object, list[int]](list)  # features in the same units, as far as one can tell
    for j in alive:
        if bins.space.features[j].ordered:
            kin[_units(bins, j)].append(j)
    for i, j in (pair for members in kin.values() for pair in permutations(members, 2)):
        if _always(_at_most, W[:, i], W[:, j]):
            both = seen[:, i] & seen[:, j]
            held[i, j] = both.sum() >= bins.few
            low, high = W[both, i], W[both, j]
            misses = _misses(low, high)
            if held[i, j] and _surely(bins, misses, high - low, bins.near[[i, j]].mean()):
                expected[i, j] = misses
    proposed = np.zeros((n, n), dtype=bool)
    for pair in expected:
        proposed[pair] = True
    kept = proposed.copy()
    for i, j in sorted(expected, key=lambda pair: expected[pair]):
        through = np.flatnonzero(kept[i] & kept[:, j])
        kept[i, j] = not any(seen[seen[:, i] & seen[:, j], k].all() for k in through)
    found = {
        (i, j): _most(bins, (i, j), _ref(bins, i), _ref(bins, j), "order", e)
        for (i, j), e in expected.items()
        if kept[i, j]
    }
    return found, proposed, held


# -- summed -----------------------------------------------------------------------------------------------------------


def sums(bins: Bins, alive: list[int], held: Bools) -> Iterator[tuple[Candidate, tuple[int, ...]]]:
    """Sums of two features that never exceed a third, or the greatest value of both; with the features."""
    W = bins.W
    numbers = [j for j in alive if not bins.space.features[j].labelled and len(bins.values[j]) > 2]
    top = {j: float(np.nanmax(W[:, j])) for j in numbers}
    pairs = list(combinations([j for j in numbers if np.nanmin(W[:, j]) >= 0], 2))
    triples = [(i, j, k) for k in numbers for i, j in pairs if held[i, k] and held[j, k]]
    for i, j, *third in [*triples[:TRIPLES], *(pair for pair in pairs if top[pair[0]] == top[pair[1]])]:
        bound = W[:, third[0]] if third else np.full(len(W), top[i])
        if not _always(_at_most, W[:, i] + W[:, j], bound):
            continue
        known = ~np.isnan(W[:, [i, j]]).any(axis=1) & ~np.isnan(bound)
        a, b, c = W[known, i], W[known, j], bound[known]
        if len(a) < bins.few or ((a == 0) | (b == 0)).all():
            continue
        expected = _misses_sum(a, b, c)
        if _surely(bins, expected, c - a - b, bins.near[[i, *third][-1]]):
            most = _ref(bins, third[0]) if third else bins.space.features[i].label(top[i])
            total, equal = _ref(bins, i) + _ref(bins, j), bool((a + b == c).all())
            yield _most(bins, (i, j, *third), total, most, "sum", expected, equal=equal), (i, j, *third)


def forbidden(bins: Bins, ordered: Bools, pairs: Iterable[tuple[int, int]]) -> Bools:
    """(T, T) pairs of bins that orders forbid, and sums of two features that do not exceed the greatest of both."""
    low, owner = bins.low, bins.owner
    cells = ordered[owner][:, owner] & (low[:, None] > bins.high)
    for i, j in pairs:
        cells |= np.logical_and.outer(owner == i, owner == j) & (low[:, None] + low > np.nanmax(bins.W[:, i]))
    cells &= ~np.logical_or.outer(bins.special, bins.special)
    return np.asarray(cells | cells.T)


# -- shared -----------------------------------------------------------------------------------------------------------


def _misses(a: Floats, b: Floats) -> float:
    """How many rows would be expected to have a > b if each had its b from any row."""
    return float(np.searchsorted(np.sort(b), a).sum() / max(len(b), 1))


def _misses_tie(b: NDArray[np.intp], of: NDArray[np.intp]) -> float:
    """How many rows, beside the first of each value of a feature, have not the most frequent b among them.

    `of` is the b of each value of the feature.
    """
    return float(len(b) - len(of) - (np.bincount(b) - np.bincount(of)).max())


def _misses_sum(a: Floats, b: Floats, c: Floats) -> float:
    """How many rows would be expected to have a + b > c if each had its b from any row where that is at most its c."""
    fitting, possible = np.searchsorted(np.sort(b), [c - a, c], side="right")
    return float((1 - fitting / possible).sum())


def _surely(bins: Bins, expected: float, gap: Floats, near: float) -> bool:
    """Whether chance does not explain an order or a sum, it rules out enough, and enough rows lie on its edge."""
    return expected >= max(bins.sure, APART * len(gap)) and edge(gap, near)


def _most(
    bins: Bins,
    features: tuple[int, ...],
    left: Term,
    right: object,
    kind: Kind,
    expected: float,
    *,
    equal: bool = False,
) -> Candidate:
    """That one side is at most, or equals, the other; said only of what is no code, and not missing, if need be."""
    X = bins.X
    says: list[Expr] = [left == right] if equal else [left <= right, ~(left > right)]
    guard = ordinary(bins, *features)
    present = [~_ref(bins, j).missing() for j in features if np.isnan(X[:, j]).any()]
    where = [*([] if guard is None else [guard]), *present]
    forms = says + [guard.implies(say) for say in says if guard is not None]
    speaks = reduce(and_, where) if where else None
    last = says[0] if speaks is None else speaks.implies(says[0])
    kept = (form for form in forms if true(form, bins.space, X).all())
    return Candidate(next(kept, last), kind, expected, speaks)


def _always(test: Callable[[Floats, Floats], Bools], a: Floats, b: Floats) -> bool:
    """Whether a test holds of the first rows, which is quick, and then of all."""
    return all(test(a[:rows], b[:rows]).all() for rows in (SCREEN, None))


def _at_most(a: Floats, b: Floats) -> Bools:
    """Where a <= b, or one of them is missing."""
    return np.logical_not(a > b)


def _ref(bins: Bins, j: int) -> Term:
    return cf[bins.space.names[j]]


def _units(bins: Bins, j: int) -> tuple[bool, str]:
    """The same for two numbers, and for two features with the same labels in the same order; True is not 1."""
    feature = bins.space.features[j]
    return feature.ordered, repr(feature.labels)
