"""A mixed-integer linear program, put together row by row and given to HiGHS."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import ArrayLike, NDArray

__all__ = ["Choice", "Outcome", "Program", "Sum"]

INFEASIBLE, OPTIMAL = 2, 0  # of scipy.optimize.milp


@dataclass(frozen=True)
class Sum:
    """constant + Σ coefficient · variable."""

    terms: dict[int, float]
    constant: float = 0.0

    def __add__(self, other: Sum) -> Sum:
        terms = dict(self.terms)
        for i, a in other.terms.items():
            terms[i] = terms.get(i, 0.0) + a
        return Sum(terms, self.constant + other.constant)

    def __mul__(self, factor: float) -> Sum:
        return Sum({i: a * factor for i, a in self.terms.items()}, self.constant * factor)

    def __sub__(self, other: Sum) -> Sum:
        return self + other * -1.0


@dataclass(frozen=True)
class Outcome:
    """What HiGHS said: that nothing is feasible, or a point; else the largest value that could still be."""

    none: bool
    point: NDArray[np.float64] | None
    bound: float


@dataclass
class Program:
    """Variables between bounds, and rows between bounds."""

    low: list[float] = field(default_factory=list)
    high: list[float] = field(default_factory=list)
    whole: list[bool] = field(default_factory=list)
    rows: list[tuple[Sum, float, float]] = field(default_factory=list)

    def variable(self, low: float = 0.0, high: float = 1.0, *, whole: bool = False) -> Sum:
        """A new variable, as a sum."""
        self.low.append(low)
        self.high.append(high)
        self.whole.append(whole)
        return Sum({len(self.low) - 1: 1.0})

    def row(self, found: Sum, low: float = -np.inf, high: float = np.inf) -> None:
        """A sum must be from low to high."""
        self.rows.append((found, low, high))

    def choice(self, K: int) -> Choice:
        """One of K things."""
        steps = [self.variable(whole=True) for _ in range(K - 1)]
        for a, b in pairwise(steps):
            self.row(b - a, low=0.0)
        return Choice(tuple(next(iter(step.terms)) for step in steps))

    def maximise(self, objective: Sum, seconds: float) -> Outcome:
        """A point of the largest value, as far as time allows."""
        from scipy.optimize import Bounds, LinearConstraint, milp
        from scipy.sparse import coo_array

        n = len(self.low)
        if not n:  # HiGHS takes no program without a variable
            ok = all(low <= found.constant <= high for found, low, high in self.rows)
            return Outcome(not ok, np.empty(0) if ok else None, objective.constant)
        cost = np.zeros(n)
        for i, a in objective.terms.items():
            cost[i] = -a
        at = [(r, i, a) for r, (found, _, _) in enumerate(self.rows) for i, a in found.terms.items() if a]
        rows, columns, values = zip(*at, strict=True) if at else ((), (), ())
        A = coo_array((values, (rows, columns)), shape=(len(self.rows), n)).tocsr()
        shift = np.array([found.constant for found, _, _ in self.rows])
        low, high = (np.array([row[k] for row in self.rows]) - shift for k in (1, 2))
        found = milp(
            cost,
            constraints=LinearConstraint(A, low, high) if len(self.rows) else None,
            integrality=np.array(self.whole, dtype=int),
            bounds=Bounds(np.array(self.low), np.array(self.high)),
            options={"time_limit": max(seconds, 0.01), "mip_rel_gap": 0.0},
        )
        bound = getattr(found, "mip_dual_bound", None)
        bound = np.inf if bound is None or not np.isfinite(bound) else objective.constant - bound
        if found.status == OPTIMAL:
            bound = min(bound, objective.constant - found.fun) if np.isinf(bound) else bound
        return Outcome(found.status == INFEASIBLE, found.x, float(bound))


@dataclass(frozen=True)
class Choice:
    """One of K things: step k is 1 if it is among the first k + 1, so that the steps rise from 0 to 1."""

    steps: tuple[int, ...]

    def share(self, weights: ArrayLike) -> Sum:
        """Σ weights[k] · [thing k is chosen]."""
        w = np.asarray(weights, dtype=np.float64)
        change = w[:-1] - w[1:]
        return Sum({i: float(a) for i, a in zip(self.steps, change, strict=True) if a}, float(w[-1]))

    def chosen(self, point: NDArray[np.float64]) -> int:
        """Which it is at a point."""
        return int(np.sum(point[list(self.steps)] < 0.5))


def total(sums: Iterable[Sum]) -> Sum:
    """The sum of sums, faster than one by one."""
    terms: dict[int, float] = {}
    constant = 0.0
    for one in sums:
        constant += one.constant
        for i, a in one.terms.items():
            terms[i] = terms.get(i, 0.0) + a
    return Sum(terms, constant)
