"""What two or three features have to do with each other as wholes: equal, tied, ordered, summed."""

from __future__ import annotations

from collections import defaultdict
from itertools import combinations, permutations
from typing import TYPE_CHECKING

import numpy as np

from dueto.domain import same
from dueto.plaf import cf, together
from dueto.suggest.parts import TRIPLES, Bools, Candidate, Cut, Floats, Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dueto.plaf import Expr, Term

SCREEN = 2_000  # rows that a candidate must keep before it is held against all
LEAST = 5  # rows that must lie on an edge
EDGE = 0.01  # share of the rows that must lie on the edge that an order, a sum or a range draws
APART = 0.05  # share of independent draws that an order or a sum must rule out
REPEATS = 20  # rows that each value of a feature has on the average, if another is tied to it
POINTS = 1_000  # quantiles that stand for a column when two are compared


# -- equal and tied ---------------------------------------------------------------------------------------------------


def copies(cut: Cut) -> tuple[list[Candidate], list[int]]:
    """Features that equal an earlier one in every row; and the others."""
    found, alive = [], list[int]()
    for j in cut.use:
        for i in alive:
            mine, other = cut.space.features[i], cut.space.features[j]
            if mine.ordered != other.ordered or _keys(mine.labels) != _keys(other.labels):
                continue
            if not all(same(cut.X[rows, i], cut.X[rows, j]).all() for rows in (slice(SCREEN), slice(None))):
                continue
            shares = np.bincount(cut.ranks[:, j]) / len(cut.X)
            expected = len(cut.X) * (1 - float(shares @ shares))
            if expected >= cut.sure:
                found.append(Candidate(_feature(cut, i) == _feature(cut, j), "equality", expected))
                break
        else:
            alive.append(j)
    return found, alive


def ties(cut: Cut, alive: list[int], known: Bools) -> tuple[list[Candidate], list[int]]:
    """Features that have a single value for each value of another; and those not tied both ways to an earlier one.

    `known` (n, n) marks pairs of features that need no tie; those found are marked too.
    """
    pairs = {(i, j): e for i, j in permutations(alive, 2) if not known[i, j] and (e := _tied(cut, i, j)) >= cut.sure}
    left, found = list[int](), []
    bundles = dict[int, list[int]]()
    for j in alive:
        first = next((i for i in left if (i, j) in pairs and (j, i) in pairs), None)
        if first is None:
            left.append(j)
        else:
            bundles.setdefault(first, [first]).append(j)
    for members in bundles.values():
        expected = min(pairs[members[0], j] for j in members[1:])
        found.append(Candidate(together(*(cut.space.names[j] for j in members)), "tie", expected))
    one_way = {(i, j): e for (i, j), e in pairs.items() if i in left and j in left}
    for (i, j), expected in one_way.items():
        known[i, j] = known[j, i] = True
        if not any((i, k) in one_way and (k, j) in one_way for k in left):
            found.append(Candidate(together(cut.space.names[i], cut.space.names[j]), "tie", expected))
    return found, left


def _tied(cut: Cut, i: int, j: int) -> float:
    """How many rows would be expected to break that i has one value of j each; 0 if one does, or there is no telling.

    The first row of each value of i breaks nothing, so only repeated values count.
    """
    k, m = len(cut.values[i]), len(cut.X)
    if k < 3 or len(cut.values[j]) < 3 or len(cut.values[j]) > k or k * REPEATS > m:
        return 0.0
    a, b = cut.ranks[:, i], cut.ranks[:, j]
    for rows in (slice(SCREEN), slice(None)):
        of = np.full(k, -1)
        of[a[rows]] = b[rows]
        if (of[a[rows]] != b[rows]).any():
            return 0.0
    return (m - k) * (1 - float(np.bincount(b).max()) / m)


# -- ordered ----------------------------------------------------------------------------------------------------------


def orders(cut: Cut, alive: list[int]) -> tuple[dict[tuple[int, int], Candidate], Bools, Bools]:
    """Orders between features, without those that follow from others; all of them; and all that no row breaks.

    Both tables, (n, n), speak of ordinary values: neither missing nor codes.
    """
    n = cut.X.shape[1]
    W, seen = cut.W, ~np.isnan(cut.W)
    held, proposed = np.zeros((n, n), dtype=bool), dict[tuple[int, int], float]()
    points = {j: _quantiles(W[seen[:, j], j]) for j in alive}
    for kin in _comparable(cut, alive):
        V = W[:SCREEN, kin]
        for a, i in enumerate(kin):
            broken = np.any(V[:, [a]] > V, axis=0)
            for j in (kin[b] for b in np.flatnonzero(~broken) if b != a):
                if (W[:, i] > W[:, j]).any():
                    continue
                both = seen[:, i] & seen[:, j]
                held[i, j] = both.sum() >= cut.few
                if not held[i, j]:
                    continue
                apart = _above(points[i], points[j])
                if (
                    apart >= APART
                    and both.sum() * apart >= cut.sure
                    and edge(W[both, j] - W[both, i], cut.near[[i, j]].mean())
                ):
                    proposed[i, j] = float(both.sum() * apart)
    every = np.zeros((n, n), dtype=bool)
    for pair in proposed:
        every[pair] = True
    kept = every.copy()
    for i, j in sorted(proposed, key=lambda pair: proposed[pair]):
        through = np.flatnonzero(kept[i] & kept[:, j])
        kept[i, j] = not any(seen[seen[:, i] & seen[:, j], k].all() for k in through)
    found = {(i, j): _order(cut, i, j, proposed[i, j]) for i, j in proposed if kept[i, j]}
    return found, every, held


def _order(cut: Cut, i: int, j: int, expected: float) -> Candidate:
    a, b = _feature(cut, i), _feature(cut, j)
    return _where_ordinary(cut, (i, j), [a <= b, ~(a > b)], "order", expected)


def _comparable(cut: Cut, alive: list[int]) -> Iterator[list[int]]:
    """Features in the same units, as far as one can tell: numbers, and categories with the same order."""
    kin = defaultdict[object, list[int]](list)
    for j in alive:
        feature = cut.space.features[j]
        if feature.ordered:
            kin[_keys(feature.labels)].append(j)
    yield from (members for members in kin.values() if len(members) > 1)


# -- summed -----------------------------------------------------------------------------------------------------------


def sums(
    cut: Cut, alive: list[int], held: Bools, rng: np.random.Generator
) -> Iterator[tuple[Candidate, tuple[int, ...]]]:
    """Sums of two features that never exceed a third, or the greatest value of both; with the features."""
    W = cut.W
    numbers = [j for j in alive if not cut.space.features[j].labelled and len(cut.values[j]) > 2]
    tops = {j: float(np.nanmax(W[:, j])) for j in numbers}
    parts = [j for j in numbers if np.nanmin(W[:, j]) >= 0]
    triples = [(i, j, k) for k in numbers for i, j in combinations(parts, 2) if held[i, k] and held[j, k]]
    for i, j, k in triples[:TRIPLES]:
        if (W[:SCREEN, i] + W[:SCREEN, j] <= W[:SCREEN, k]).sum() < (
            ~np.isnan(W[:SCREEN, [i, j, k]]).any(axis=1)
        ).sum():
            continue
        a, b, c = (W[~np.isnan(W[:, [i, j, k]]).any(axis=1)][:, f] for f in (i, j, k))
        if len(a) < cut.few or (a + b > c).any() or ((a == 0) | (b == 0)).all():
            continue
        x, y, z = (rng.permutation(column) for column in (a, b, c))
        equal = bool((a + b == c).all())
        breaks = x + y != z if equal else (x + y > z) & (x <= z) & (y <= z)
        if breaks.mean() >= APART and breaks.sum() >= cut.sure and edge(c - a - b, cut.near[k]):
            total, most = _feature(cut, i) + _feature(cut, j), _feature(cut, k)
            says = [total == most] if equal else [total <= most, ~(total > most)]
            yield _where_ordinary(cut, (i, j, k), says, "sum", float(breaks.sum())), (i, j, k)
    for i, j in combinations(parts, 2):
        top = tops[i]
        if top != tops[j] or (W[:, i] + W[:, j] > top).any():
            continue
        a, b = (W[~np.isnan(W[:, [i, j]]).any(axis=1)][:, f] for f in (i, j))
        if len(a) < cut.few or ((a == 0) | (b == 0)).all():
            continue
        breaks = rng.permutation(a) + b > top
        if breaks.mean() >= APART and breaks.sum() >= cut.sure and edge(top - a - b, cut.near[i]):
            total, most = _feature(cut, i) + _feature(cut, j), cut.space.features[i].label(top)
            yield _where_ordinary(cut, (i, j), [total <= most, ~(total > most)], "sum", float(breaks.sum())), (i, j)


# -- shared -----------------------------------------------------------------------------------------------------------


def _where_ordinary(cut: Cut, features: tuple[int, ...], says: list[Expr], kind: Kind, expected: float) -> Candidate:
    """The first of some forms that all rows keep, said only of what is no code, and not missing, if need be."""
    X, space = cut.X, cut.space
    guard = cut.ordinary(*features)
    present: Expr | None = None
    for j in features:
        if np.isnan(X[:, j]).any():
            known = ~_feature(cut, j).missing()
            present = known if present is None else present & known
    speaks = guard if present is None else present if guard is None else guard & present
    for say in [*says, *([guard.implies(say) for say in says] if guard is not None else [])]:
        if say.bind(space)(lambda j: X[:, j], X[0]).all():
            return Candidate(say, kind, expected, speaks)
    says = [speaks.implies(say) for say in says[:1]] if speaks is not None else says
    return Candidate(says[-1], kind, expected, speaks)


def edge(gap: Floats, near: float = 0.0) -> bool:
    """Whether five rows or more, and one in a hundred, lie at most `near` from an edge; `gap` is how far each does."""
    return bool((gap <= near).sum() >= max(LEAST, EDGE * len(gap)))


def _quantiles(column: Floats) -> Floats:
    ordered = np.sort(column)
    return ordered if len(ordered) <= POINTS else ordered[np.linspace(0, len(ordered) - 1, POINTS).astype(np.intp)]


def _above(a: Floats, b: Floats) -> float:
    """P(a > b) of two values drawn each from its own column."""
    return float(np.searchsorted(b, a, side="left").mean() / len(b)) if len(a) and len(b) else 0.0


def _feature(cut: Cut, j: int) -> Term:
    return cf[cut.space.names[j]]


def _keys(labels: tuple[object, ...]) -> tuple[object, ...]:
    """Labels, so that True is not 1."""
    return tuple((isinstance(label, bool), label) for label in labels)
