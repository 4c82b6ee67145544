"""What leaves a method: no change that could be undone, nearest first, each kind of move once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dueto.domain import NEAR, distinct_rows, shortest

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dueto.counterfactuals.base import Query

__all__ = ["best_moves", "irredundant", "neat", "ranked"]

MOST = 200  # kinds of move kept, the nearest


def ranked(query: Query, X: NDArray[np.float64], k: int) -> NDArray[np.float64]:
    """The `k` nearest of the accepted rows, without redundant changes, the nearest for each kind of move.

    Rows that change the same features in the same directions are the same advice: only the nearest of them is kept.
    """
    X = irredundant(query, best_moves(query, X))
    return best_moves(query, X)[:k]


def best_moves(query: Query, X: NDArray[np.float64]) -> NDArray[np.float64]:
    """Of rows that change the same features in the same directions, the nearest; nearest first, at most `MOST`."""
    X = X[np.argsort(query.distances(X), kind="stable")]
    up_or_down = query.space.ordered & ~np.isnan(X) & ~np.isnan(query.x)
    moves = np.where(query.changed(X), np.where(up_or_down, np.sign(X - query.x), 2.0), 0.0)
    return X[np.sort(distinct_rows(moves)[0])[:MOST]] if len(X) else X


def irredundant(query: Query, X: NDArray[np.float64]) -> NDArray[np.float64]:
    """The rows that the query accepts, with every redundant change undone, distinct, nearest first.

    A change is redundant when setting the feature back to x's value (or a whole group back) leaves an accepted row. All
    single ones are tried at once; then, for each row, those that can be undone are undone together, as many as can be,
    the one that brings it nearest first; until none is left. So the model is called a few times, whatever the rows.
    """
    undone, owner = _undoings(query, X)
    ok = query.accepts(np.vstack([X, _reset(query, X[owner], undone)]))
    accepted, ok = ok[: len(X)], ok[len(X) :] & ok[owner]
    X = X.copy()
    while ok.any():
        undone, owner = undone[ok], owner[ok]
        order = np.lexsort((query.distances(_reset(query, X[owner], undone)), owner))
        undone, owner = undone[order], owner[order]
        active, first = np.unique(owner, return_index=True)
        for start, end in zip(first, np.append(first, len(owner))[1:], strict=True):
            np.logical_or.accumulate(undone[start:end], axis=0, out=undone[start:end])
        ok = np.zeros(len(owner), dtype=bool)
        ok[first] = True  # known already
        ok[~ok] = query.accepts(_reset(query, X[owner[~ok]], undone[~ok]))
        last = np.flatnonzero(ok)[np.searchsorted(owner[ok], active, side="right") - 1]
        X[active] = _reset(query, X[active], undone[last])
        undone, owner = _undoings(query, X[active])
        owner = active[owner]
        ok = query.accepts(_reset(query, X[owner], undone))
    X = X[accepted]
    X = X[distinct_rows(X)[0]] if len(X) else X
    return X[np.argsort(query.distances(X), kind="stable")]


def neat(query: Query, X: NDArray[np.float64]) -> NDArray[np.float64]:
    """The rows, each change over a declared range of real numbers written with as few digits as a little more allows.

    A value may move on, away from x, by `NEAR` of its range, as long as the row is accepted and none of its changes
    could be undone; else it stays as it is. So a distance grows by at most `NEAR` times the sum of its weights.

    Parameters
    ----------
    query : Query
    X : (k, n) float64
        Accepted rows without redundant changes.
    """
    X = X.copy()
    changed = query.changed(X)
    for j, feature in enumerate(query.space.features):
        domain = feature.domain
        if domain.interval is None or domain.integer or np.isnan(query.x[j]):
            continue
        (low, high), slack = domain.interval, NEAR * domain.range
        for i in np.flatnonzero(changed[:, j] & ~np.isnan(X[:, j])):
            y = float(X[i, j])
            ends = (y, min(y + slack, high)) if y > query.x[j] else (max(y - slack, low), y)
            trial = X[i : i + 1].copy()
            trial[0, j] = shortest(*ends, near=y)
            if trial[0, j] != y and np.array_equal(irredundant(query, trial), trial, equal_nan=True):
                X[i] = trial
    return X


def _reset(query: Query, X: NDArray[np.float64], undone: NDArray[np.bool_]) -> NDArray[np.float64]:
    return np.where(undone, query.x, X)


def _undoings(query: Query, X: NDArray[np.float64]) -> tuple[NDArray[np.bool_], NDArray[np.intp]]:
    """(T, n) every way to undo one change, as the features it resets, or a whole group's; and the row it is for."""
    changed = query.changed(X)
    owner, feature = np.nonzero(changed)
    undone = feature[:, None] == np.arange(len(query.x))
    for group in query.space.groups:
        inside = np.isin(np.arange(len(query.x)), group.members)
        rows = np.flatnonzero((changed & inside).sum(axis=1) > 1)
        undone, owner = np.vstack([undone, changed[rows] & inside]), np.append(owner, rows)
    return undone, owner
