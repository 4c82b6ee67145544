"""Look for an exception to a rule, the model itself the only judge: every instance, or by chance and by climbing."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from dueto.certificates.grid import Undecided

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dueto.certificates.region import Part, Region
    from dueto.models import Model

__all__ = ["every", "searched"]

DRAWS, BATCH = 200_000, 20_000  # instances drawn by chance, and at once
STARTS, SWEEPS = 32, 4  # the best of them climb, so many times over the features
TRIED = 64  # values of a feature tried in one step


def every(region: Region, model: Model, until: float) -> tuple[NDArray[np.float64] | None, str]:
    """Score all instances: an exception, or None and how it is known that there is none.

    Raises
    ------
    Undecided
        If time is up.
    """
    scored = 0
    for Y in region.instances():
        if time.perf_counter() > until:
            raise Undecided(f"time was up before all {region.size:,.0f} instances were scored")
        good = model.score(Y) > model.threshold
        scored += len(Y)
        if good.any():
            return Y[np.argmax(good)], ""
    return None, f"The model refuses each of the {scored:,} of them"


def searched(
    region: Region, model: Model, starts: NDArray[np.float64], until: float, rng: np.random.Generator
) -> tuple[NDArray[np.float64] | None, int]:
    """An exception found by chance or by coordinate ascent from the best draws, or None; and how many rows were scored.

    `starts` are rows to climb from as well; what in them is not in the region is moved into it.
    """
    best, scores, scored = np.empty((0, len(region.x))), np.empty(0), 0
    for first in range(DRAWS // BATCH + 1):
        Y = region.drawn(rng, BATCH) if first else _moved(region, starts)
        if len(Y):
            best, scores = np.vstack([best, Y]), np.append(scores, model.score(Y))
            scored += len(Y)
            if scores.max() > model.threshold:
                return best[np.argmax(scores)], scored
            top = np.argsort(-scores, kind="stable")[:STARTS]
            best, scores = best[top], scores[top]
        if time.perf_counter() > until:
            return None, scored
    for _ in range(SWEEPS if len(best) else 0):
        before = scores.sum()
        for p in rng.permutation(len(region.joined)):
            best, scores, spent = _climbed(region, model, region.joined[p], best, scores, rng)
            scored += spent
            if scores.max() > model.threshold:
                return best[np.argmax(scores)], scored
            if time.perf_counter() > until:
                return None, scored
        if scores.sum() == before:
            break
    return None, scored


def _moved(region: Region, Y: NDArray[np.float64]) -> NDArray[np.float64]:
    """Rows whose parts are put at some value that is allowed where theirs are not, if that makes them feasible."""
    Y = Y.copy()
    for part in region.joined:
        if part.span is not None:
            y = Y[:, part.members[0]]
            Y[:, part.members[0]] = np.clip(np.round(y) if part.integer else y, *part.span)
        else:
            known = {row.tobytes() for row in part.values + 0.0}
            off = [row.tobytes() not in known for row in np.ascontiguousarray(Y[:, part.members] + 0.0)]
            Y[np.flatnonzero(off)[:, None], np.array(part.members)] = part.values[0]
    return Y[region.contains(Y)]


def _climbed(
    region: Region,
    model: Model,
    part: Part,
    best: NDArray[np.float64],
    scores: NDArray[np.float64],
    rng: np.random.Generator,
) -> tuple[NDArray[np.float64], NDArray[np.float64], int]:
    """Each row with the value of one part that the model likes best, among some."""
    values = part.values if part.span is None else part.drawn(rng, TRIED)
    if len(values) > TRIED:
        values = values[rng.choice(len(values), TRIED, replace=False)]
    Y = np.repeat(best, len(values), axis=0)
    Y[:, part.members] = np.tile(values, (len(best), 1))
    ok = region.contains(Y)
    found = np.full(len(Y), -np.inf)
    if ok.any():
        found[ok] = model.score(Y[ok])
    table = found.reshape(len(best), len(values))
    pick, rows = table.argmax(axis=1), np.arange(len(best))
    better = table[rows, pick] > scores
    best = np.where(better[:, None], Y.reshape(len(best), len(values), -1)[rows, pick], best)
    return best, np.where(better, table[rows, pick], scores), int(ok.sum())
