"""Best-arm identification by KL-LUCB: which of some shares are largest, from as few draws as that takes.

References
----------
.. [1] Kaufmann and Kalyanakrishnan, "Information Complexity in Bandit Subset Selection", COLT 2013.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]
    Pull = Callable[[NDArray[np.intp]], tuple[ArrayLike, ArrayLike]]

__all__ = ["best_arms", "exploration", "kl", "lower", "upper"]

STEPS = 17  # halvings: the bounds are good to a hundred-thousandth
K, ALPHA = 405.5, 1.1  # of the exploration rate: then the wrong arms are given with a chance of at most delta


def kl(p: ArrayLike, q: ArrayLike) -> Floats:
    """The Kullback-Leibler divergence of a coin that shows heads with chance q from one with chance p, in nats."""
    from scipy.special import rel_entr

    p, q = np.asarray(p, dtype=np.float64), np.asarray(q, dtype=np.float64)
    return np.asarray(rel_entr(p, q) + rel_entr(1 - p, 1 - q))


def upper(p: ArrayLike, level: ArrayLike) -> Floats:
    """The largest q from p on with kl(p, q) <= level, from above.

    Parameters
    ----------
    p : (k,) array_like
        Observed shares.
    level : (k,) array_like
        Each the exploration rate over the number of draws.
    """
    p, level = np.asarray(p, dtype=np.float64), np.asarray(level, dtype=np.float64)
    inside, outside = p, np.minimum(p + np.sqrt(level / 2), 1.0)  # Pinsker: kl(p, q) >= 2 (p - q)^2
    for _ in range(STEPS):
        middle = (inside + outside) / 2
        far = kl(p, middle) > level
        inside, outside = np.where(far, inside, middle), np.where(far, middle, outside)
    return np.asarray(outside)


def lower(p: ArrayLike, level: ArrayLike) -> Floats:
    """The smallest q up to p with kl(p, q) <= level, from below; see `upper`."""
    return np.asarray(1.0 - upper(1.0 - np.asarray(p, dtype=np.float64), level))


def exploration(arms: int, t: int, delta: float) -> float:
    """The exploration rate in round t, from 1 on: a share is within the bounds of level rate / draws in all rounds."""
    rate = np.log(K * arms * t**ALPHA / delta)
    return float(rate + np.log(rate))


def best_arms(
    pull: Pull,
    hits: Floats,
    draws: Floats,
    top: int,
    *,
    tolerance: float,
    delta: float,
    until: float = np.inf,
) -> NDArray[np.intp]:
    """The `top` arms of the largest shares, best first: with a chance of 1 - delta none is worse by the tolerance.

    In each round, among the `top` arms that look best the one of the smallest lower bound, and among the others the one
    of the largest upper bound, are drawn from, until these bounds are no further apart than the tolerance.

    Parameters
    ----------
    pull : callable
        Draws from some arms, given by their numbers; returns how many hits, and of how many draws, each had.
    hits, draws : (k,) float64
        Those so far, at least one draw of each arm; brought up to date.
    top : int
        How many arms.
    tolerance, delta : float
        See above; delta in (0, 1).
    until : float
        When to stop in any case, by `time.perf_counter`; then the arms that look best are given.
    """
    t = 1
    while True:
        share = hits / draws
        order = np.argsort(-share, kind="stable")
        best, others = order[:top], order[top:]
        if not len(others) or time.perf_counter() >= until:
            return best
        rate = exploration(len(hits), t, delta)
        ends = upper(np.append(1 - share[best], share[others]), rate / draws[order])
        low, high = 1 - ends[:top], ends[top:]
        weak, strong = int(np.argmin(low)), int(np.argmax(high))
        if high[strong] - low[weak] <= tolerance:
            return best
        pulled = np.array([best[weak], others[strong]])
        more_hits, more_draws = pull(pulled)
        hits[pulled] += more_hits
        draws[pulled] += more_draws
        t += 1
