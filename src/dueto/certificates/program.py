"""A mixed-integer linear program, put together row by row and given to HiGHS."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from dueto.certificates.grid import Undecided

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import ArrayLike, NDArray

__all__ = ["Choice", "Program", "Sum", "total"]

INFEASIBLE = 2  # of scipy.optimize.milp


@dataclass(frozen=True)
class Sum:
    """constant + Σ coefficient · variable."""

    terms: dict[int, float]
    constant: float = 0.0

    def __add__(self, other: Sum) -> Sum:
        return total((self, other))

    def __mul__(self, factor: float) -> Sum:
        return Sum({i: a * factor for i, a in self.terms.items()}, self.constant * factor)

    def __sub__(self, other: Sum) -> Sum:
        return self + other * -1.0


def total(sums: Iterable[Sum]) -> Sum:
    """The sum of sums."""
    terms: dict[int, float] = {}
    constant = 0.0
    for one in sums:
        constant += one.constant
        for i, a in one.terms.items():
            terms[i] = terms.get(i, 0.0) + a
    return Sum(terms, constant)


@dataclass
class Program:
    """Variables between bounds, and rows between bounds."""

    low: list[float] = field(default_factory=list)
    high: list[float] = field(default_factory=list)
    whole: list[bool] = field(default_factory=list)
    rows: list[tuple[Sum, float, float]] = field(default_factory=list)

    def __str__(self) -> str:
        return f"{len(self.low):,} variables, {len(self.rows):,} rows"

    def variable(self, low: float = 0.0, high: float = 1.0, *, whole: bool = False) -> int:
        """The number of a new variable."""
        self.low.append(low)
        self.high.append(high)
        self.whole.append(whole)
        return len(self.low) - 1

    def row(self, found: Sum, low: float = -np.inf, high: float = np.inf) -> None:
        """A sum must be from low to high."""
        self.rows.append((found, low, high))

    def choice(self, things: NDArray[np.intp]) -> Choice:
        """One of some things, taken in rising order."""
        steps = [self.variable(whole=True) for _ in range(len(things) - 1)]
        for a, b in pairwise(steps):
            self.row(Sum({b: 1.0, a: -1.0}), low=0.0)
        return Choice(np.sort(things).tolist(), steps)

    def maximise(self, objective: Sum, seconds: float) -> NDArray[np.float64] | None:
        """A point of a large value, the largest if time allows; None if no point is feasible.

        Raises
        ------
        Undecided
            If HiGHS came to neither within the time.
        """
        from scipy.optimize import Bounds, LinearConstraint, milp
        from scipy.sparse import coo_array

        if not self.low:  # HiGHS takes no program without a variable
            return np.empty(0) if all(low <= found.constant <= high for found, low, high in self.rows) else None
        cost = np.zeros(len(self.low))
        cost[list(objective.terms)] = [-a for a in objective.terms.values()]
        at = [(r, i, a) for r, (found, _, _) in enumerate(self.rows) for i, a in found.terms.items()]
        rows, columns, values = zip(*at, strict=True) if at else ((), (), ())
        A = coo_array((values, (rows, columns)), shape=(len(self.rows), len(cost))).tocsr()
        low, high = np.array([(low - found.constant, high - found.constant) for found, low, high in self.rows]).T
        found = milp(
            cost,
            constraints=LinearConstraint(A, low, high),
            integrality=np.array(self.whole, dtype=int),
            bounds=Bounds(np.array(self.low), np.array(self.high)),
            options={"time_limit": max(seconds, 0.01), "mip_rel_gap": 0.0},
        )
        if found.x is None and found.status != INFEASIBLE:
            raise Undecided(f"HiGHS did not come to an end within the time ({self})")
        point: NDArray[np.float64] | None = found.x
        return point


@dataclass(frozen=True)
class Choice:
    """One of some things: step k is 1 if it is among the first k + 1, so that the steps rise from 0 to 1."""

    things: list[int]
    steps: list[int]

    def share(self, weights: ArrayLike) -> Sum:
        """Σ weights[k] · [thing k is chosen]."""
        w = np.asarray(weights, dtype=np.float64)
        change = zip(self.steps, (w[:-1] - w[1:]).tolist(), strict=True)
        return Sum({i: a for i, a in change if a}, float(w[-1]))

    def chosen(self, point: NDArray[np.float64]) -> int:
        """Which it is at a point."""
        return self.things[int(np.sum(point[self.steps] < 0.5))]
