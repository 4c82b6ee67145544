"""Try every instance: exact for any model, where few enough instances are left."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dueto.counterfactuals.base import Answer, Query, Status
from dueto.counterfactuals.ranking import ranked
from dueto.counterfactuals.units import CONSTRAINTS, contradiction

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from dueto.counterfactuals.units import Unit

__all__ = ["Exhaustive", "instances"]

CHUNK = 1 << 16


@dataclass(frozen=True)
class Exhaustive:
    """Score every plausible instance of the query's box.

    Use it when rules or constraints leave a small space, whatever the model; it proves what it says. It equals the
    definition, so every other exact method is tested against it.

    Parameters
    ----------
    limit : int
        The most instances it will enumerate.
    """

    limit: int = 100_000
    name: str = "exhaustive"

    def refuses(self, query: Query) -> str:
        """Why the space is not enumerable, or empty."""
        units = query.units(np.random.default_rng(0))
        if not all(unit.listed for unit in units):
            return "a feature is declared over a range too long to list"
        size = math.prod(unit.size for unit in units)
        shown = f"{size:,}" if size < 10**15 else "more than 10**15"
        return f"{shown} instances are above the limit of {self.limit:,}" if size > self.limit else ""

    def find(self, query: Query, *, k: int, nearest: bool, rng: np.random.Generator) -> Answer:  # noqa: ARG002
        """All accepted instances are looked at; the nearest of each kind of move is returned, at most `k`."""
        before = query.model.rows_scored
        units = query.units(rng)
        found = [X[query.accepts(X)] for X in instances(query, units)]
        X = np.vstack([np.empty((0, len(query.x))), *found])
        X = ranked(query, X, k)
        status = Status.OPTIMAL if len(X) else Status.NONE
        reason = contradiction(query, units)
        by = CONSTRAINTS if reason else self.name
        return Answer(status, X, query.distances(X), by, query.model.rows_scored - before, reason)


def instances(query: Query, units: Sequence[Unit]) -> Iterator[NDArray[np.float64]]:
    """Every combination of the units' values, and of x's own where they may keep them, in chunks of encoded rows."""
    choices = [unit.choices(query.x) for unit in units]
    total = math.prod(len(c) for c in choices)
    for start in range(0, total, CHUNK):
        code = np.arange(start, min(start + CHUNK, total))
        X = np.tile(query.x, (len(code), 1))
        for unit, values in zip(units, choices, strict=True):
            code, pick = np.divmod(code, len(values))
            X[:, unit.members] = values[pick]
        yield X
