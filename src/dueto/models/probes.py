"""Rows on which a structure that is read wrongly would show it: on, just below and just above its thresholds."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import numpy as np

from dueto.models.ensemble import Ensemble, Splits
from dueto.models.tree import last_left

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dueto.models.columns import Columns
    from dueto.models.structure import Structure

__all__ = ["probes"]

T = TypeVar("T", bound=np.generic)
POOL = 1024  # values of a feature to choose from on the way to a node
HALVINGS = 80  # of a range, which then holds no number between its ends, or as good as none
CELLS = 1 << 24  # truth values held at once
LARGE = 1e30  # of larger numbers a model may refuse a table, since a sum in float32 overflows


def probes(structure: Structure, rows: int) -> NDArray[np.float64]:
    """Encoded rows: some that come to nodes of trees, every label at least once, and others drawn at random.

    As many as `rows` says, or more if there are more labels.
    """
    rng = np.random.default_rng(0)
    columns, form = structure.columns, structure.form
    pools = [_pool(columns, j, rng) for j in range(len(columns.space))]
    labels = _each(columns, rows // 4, rng)
    if isinstance(form, Ensemble) and len(form.splits):
        aimed = _aimed(form, columns, pools, max(0, rows - len(labels)) * 3 // 4, rng)
    else:
        aimed = np.empty((0, len(columns.space)))
    drawn = _drawn(columns, max(0, rows - len(labels) - len(aimed)), rng)
    return np.vstack([aimed, labels, drawn])


def _drawn(columns: Columns, n: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Rows whose features are drawn from their domains, each as often as in the data."""
    X = np.empty((n, len(columns.space)))
    for j, feature in enumerate(columns.space.features):
        values, weights = feature.domain.candidates(rng)
        X[:, j] = rng.choice(values, n, p=weights / weights.sum())
    return X


def _each(columns: Columns, n: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Rows that hold every value of a domain at least once, or evenly chosen ones of a long one; missing included."""
    choices = []
    share = max(2, n // max(1, len(columns.space)))
    for feature in columns.space.features:
        values, _ = feature.domain.candidates(rng)
        if not feature.labels:
            values = _evenly(values, share)
        choices.append(values)
    X = _drawn(columns, sum(map(len, choices)), rng)
    at = 0
    for j, values in enumerate(choices):
        X[at : at + len(values), j] = values
        at += len(values)
    return X


def _evenly(values: NDArray[T], n: int) -> NDArray[T]:
    """At most n of these, evenly spread, the first and the last (which may be missing) among them."""
    if len(values) <= n:
        return values
    return values[np.unique(np.linspace(0, len(values) - 1, n).astype(np.intp))]


# -- rows that come to a node -----------------------------------------------------------------------------------------


def _aimed(
    form: Ensemble, columns: Columns, pools: list[NDArray[np.float64]], n: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Rows that come to inner nodes, evenly chosen, with the node's feature on, below and above its threshold.

    On the way there each feature takes a value of its pool that all nodes above let pass; where no value does, or where
    the last step moves a feature that was needed, the row ends elsewhere, which is a probe too.
    """
    inner = np.flatnonzero(form.split >= 0)
    share = max(1, n // 4)  # few nodes are come to again and again, with other values of the other features
    inner = np.resize(inner, share) if len(inner) < share else _evenly(inner, share)
    X = _drawn(columns, len(inner), rng)
    target, split, left = _paths(form, inner)
    for j, pool in enumerate(pools):
        mine = np.flatnonzero(columns.owner[form.splits.column[split]] == j)
        if len(mine):
            _lead(form, columns, X, j, pool, target[mine], split[mine], left[mine], rng)
    return _beside(form, columns, X, form.split[inner], pools)[:n]


def _paths(form: Ensemble, nodes: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.bool_]]:
    """For each node (its place among `nodes`), the splits above it, and whether the way to it goes left there."""
    parent = np.full(len(form.left), -1, dtype=np.intp)
    inside = np.flatnonzero(form.split >= 0)
    parent[form.left[inside]], parent[form.right[inside]] = inside, inside
    targets, splits, lefts = [], [], []
    place, node = np.arange(len(nodes)), nodes
    while True:
        going = np.flatnonzero(parent[node] >= 0)
        if not len(going):
            break
        place, node, below = place[going], parent[node[going]], node[going]
        targets.append(place)
        splits.append(form.split[node].astype(np.intp))
        lefts.append(form.left[node] == below)
    if not targets:
        return np.empty(0, np.intp), np.empty(0, np.intp), np.empty(0, np.bool_)
    order = np.argsort(np.concatenate(targets), kind="stable")
    return np.concatenate(targets)[order], np.concatenate(splits)[order], np.concatenate(lefts)[order]


def _lead(
    form: Ensemble,
    columns: Columns,
    X: NDArray[np.float64],
    j: int,
    pool: NDArray[np.float64],
    target: NDArray[np.intp],
    split: NDArray[np.intp],
    left: NDArray[np.bool_],
    rng: np.random.Generator,
) -> None:
    """Give feature j of each target's row a value that goes the wanted way at all these splits, if the pool has one."""
    Z = columns.of(j, pool)
    place = {int(c): k for k, c in enumerate(columns.places[j])}
    asked, which = np.unique(split, return_inverse=True)
    goes = np.empty((len(asked), len(pool)), dtype=np.bool_)
    for column, k in place.items():
        here = np.flatnonzero(form.splits.column[asked] == column)
        goes[here] = form.splits.left(asked[here], Z[:, k])
    firsts = np.flatnonzero(np.diff(target, prepend=-1))
    step = max(1, CELLS // len(pool) // max(1, int(np.diff(np.append(firsts, len(target))).max())))
    for a in range(0, len(firsts), step):
        some = firsts[a : a + step]
        last = firsts[a + step] if a + step < len(firsts) else len(target)
        passes = goes[which[some[0] : last]] == left[some[0] : last, None]
        allowed = np.logical_and.reduceat(passes, some - some[0], axis=0)
        chosen = (allowed * rng.uniform(0.5, 1.0, allowed.shape)).argmax(axis=1)
        able = allowed.any(axis=1)
        X[target[some[able]], j] = pool[chosen[able]]


def _beside(
    form: Ensemble, columns: Columns, X: NDArray[np.float64], split: NDArray[np.int32], pools: list[NDArray[np.float64]]
) -> NDArray[np.float64]:
    """Each row as it is, and with the feature of its split on, just below and just above the threshold."""
    column = form.splits.column[split]
    owner = columns.owner[column]
    threshold = form.splits.threshold[split]
    variants = [X.copy() for _ in range(3)]
    for j, feature in enumerate(columns.space.features):
        mine = np.flatnonzero(owner == j)
        if not len(mine):
            continue
        if _is_raw(columns, j):
            around = _around(form.splits, split[mine], whole=feature.kind == "integer")
        elif feature.domain.interval is not None and columns.monotone[columns.places[j]].all():
            around = _crossing(form.splits, split[mine], columns, j)
        else:
            around = _nearest(columns, j, column[mine], threshold[mine], pools[j])
        for variant, values in zip(variants, around, strict=True):
            fits = np.abs(values) < LARGE
            variant[mine[fits], j] = values[fits]
    return np.stack([X, *variants], axis=1).reshape(-1, X.shape[1])


def _is_raw(columns: Columns, j: int) -> bool:
    """Whether a feature is a number that comes to the estimator as it is, so that any number can be asked."""
    feature = columns.space.features[j]
    if feature.labels or columns.monotone[columns.places[j]].tolist() != [1]:
        return False
    values = np.union1d(feature.domain.values, feature.domain.interval or ())
    return len(values) > 0 and bool(np.array_equal(columns.of(j, values)[:, 0], values))


def _around(splits: Splits, which: NDArray[np.int32], *, whole: bool) -> tuple[NDArray[np.float64], ...]:
    """The threshold, the last number to its left and the first to its right; whole numbers if that is what they are."""
    t, last = splits.threshold[which], splits.last[which]
    if whole:
        low = np.floor(last)
        return low, low - 1.0, low + 1.0
    with np.errstate(over="ignore"):
        if splits.float32:
            last = last_left(last)
        elif not splits.strict:
            t = np.nextafter(t, -np.inf)
        return t, last, np.nextafter(last, np.inf)


def _crossing(splits: Splits, which: NDArray[np.int32], columns: Columns, j: int) -> tuple[NDArray[np.float64], ...]:
    """Where in a range a column that never turns crosses the threshold: two neighbours, by halving, and one beside."""
    feature = columns.space.features[j]
    places, column = columns.places[j], splits.column[which]
    k = np.searchsorted(places, column)
    rises = columns.monotone[column] > 0
    low, high = (np.full(len(which), float(end)) for end in feature.domain.interval or (0.0, 0.0))
    for _ in range(HALVINGS):
        middle = low + (high - low) / 2
        z = columns.of(j, middle)[np.arange(len(which)), k]
        with np.errstate(over="ignore"):
            left = (z.astype(np.float32) if splits.float32 else z) <= splits.last[which]
        low, high = np.where(left == rises, middle, low), np.where(left == rises, high, middle)
    if feature.domain.integer:
        return np.floor(low), np.floor(low) - 1.0, np.floor(low) + 1.0
    return low, np.nextafter(low, -np.inf), high


def _nearest(
    columns: Columns, j: int, column: NDArray[np.intp], threshold: NDArray[np.float64], pool: NDArray[np.float64]
) -> tuple[NDArray[np.float64], ...]:
    """Values of the pool whose columns are nearest the thresholds, on each side; NaN where there is none."""
    Z = columns.of(j, pool)
    found = [np.full(len(threshold), np.nan) for _ in range(3)]
    for k, c in enumerate(columns.places[j]):
        here = np.flatnonzero(column == c)
        order = np.argsort(Z[:, k], kind="stable")
        order = order[~np.isnan(Z[order, k])]
        if not len(order) or not len(here):
            continue
        at = np.searchsorted(Z[order, k], threshold[here], side="right")
        for values, step in zip(found, (-1, -2, 0), strict=True):
            values[here] = pool[order[np.clip(at + step, 0, len(order) - 1)]]
    return tuple(found)


def _pool(columns: Columns, j: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Values of feature j's domain to choose from: evenly spread ones of a long one; every label."""
    values, _ = columns.space.features[j].domain.candidates(rng)
    return values if columns.space.features[j].labels else _evenly(values, POOL)
