"""What an estimator's columns of numbers are: each a function of one feature, exact to the last bit."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING

import numpy as np

from dueto.models.raw import raw_columns, raw_matrix

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from dueto.space import FeatureSpace

__all__ = ["Columns", "base_row"]

CELLS = 1 << 24  # numbers held at once


@dataclass(frozen=True, eq=False)
class Columns:
    """The p columns that the innermost estimator sees, whatever encoders, imputers and scalers stand before it.

    Parameters
    ----------
    space : FeatureSpace
        What the rows mean.
    owner : (p,) intp
        The feature that each column is a function of.
    numbers : callable
        From encoded rows (N, n) to columns (N, p), float64, NaN where missing: computed as the model computes them.
    monotone : (p,) int8
        1 where a column never falls as its feature's number rises, -1 where it never rises, 0 where that is not known.
    """

    space: FeatureSpace
    owner: NDArray[np.intp]
    numbers: Callable[[NDArray[np.float64]], NDArray[np.float64]]
    monotone: NDArray[np.int8]

    @classmethod
    def raw(cls, space: FeatureSpace) -> Columns | None:
        """The space's raw columns of numbers; None if one of them holds labels that are no numbers."""
        columns = raw_columns(space)
        if columns is None:
            return None
        owner = np.array([column.feature for column in columns], dtype=np.intp)
        rising = np.array([column.numbers is None for column in columns], dtype=np.int8)
        return cls(space, owner, partial(raw_matrix, columns), rising)

    def picked(self, positions: NDArray[np.intp]) -> Columns:
        """Only the columns at these positions, in this order."""
        return Columns(self.space, self.owner[positions], partial(_pick, self, positions), self.monotone[positions])

    def __len__(self) -> int:
        return len(self.owner)

    @cached_property
    def places(self) -> tuple[NDArray[np.intp], ...]:
        """For each feature, the positions of the columns that depend on it."""
        return tuple(np.flatnonzero(self.owner == j) for j in range(len(self.space)))

    def of(self, j: int, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """(K, len(places[j])) the columns of feature j for some encoded values (K,) of it."""
        domain = self.space.features[j].domain
        if not len(self.places[j]):
            return np.empty((len(values), 0))
        at = np.searchsorted(domain.values, values)
        at = np.where(np.isnan(values), len(domain.values), np.minimum(at, len(domain.values)))
        known = np.append(domain.values, np.nan)[at]
        if bool(((known == values) | np.isnan(values)).all()):
            return self._tables[j][at]
        return self._asked(j, values)

    @cached_property
    def _tables(self) -> list[NDArray[np.float64]]:
        """For each feature, its columns for every listed value and last for missing: all asked in few calls."""
        features = self.space.features
        choices = [np.append(f.domain.values, np.nan) for f in features]
        X = np.repeat(self.base[None], sum(map(len, choices)), axis=0)
        starts = np.cumsum([0, *map(len, choices)])
        for j, values in enumerate(choices):
            X[starts[j] : starts[j + 1], j] = values
        able = np.ones(len(X), dtype=bool)
        for j, feature in enumerate(features):  # a model may refuse a missing value where none can be
            if not feature.domain.missing:
                able[starts[j + 1] - 1] = False
        found = [
            np.full((len(values), len(places)), np.nan) for values, places in zip(choices, self.places, strict=True)
        ]
        rows = np.flatnonzero(able)
        owner = np.searchsorted(starts, rows, side="right") - 1
        for part, Z in self.blocks(X[rows]):
            for j in np.unique(owner[part]):
                mine = owner[part] == j
                found[j][rows[part][mine] - starts[j]] = Z[np.ix_(mine, self.places[j])]
        return found

    def blocks(self, X: NDArray[np.float64]) -> Iterator[tuple[slice, NDArray[np.float64]]]:
        """The columns of encoded rows, so many rows at once that they fit in memory: (rows, their columns)."""
        step = max(1, CELLS // max(1, len(self)))
        for start in range(0, len(X), step):
            part = slice(start, start + step)
            yield part, self.numbers(X[part])

    def _asked(self, j: int, values: NDArray[np.float64]) -> NDArray[np.float64]:
        X = np.repeat(self.base[None], len(values), axis=0)
        X[:, j] = values
        return self.numbers(X)[:, self.places[j]]

    @cached_property
    def base(self) -> NDArray[np.float64]:
        """(n,) an encoded row of the space, to vary one feature of."""
        return base_row(self.space)


def base_row(space: FeatureSpace) -> NDArray[np.float64]:
    """(n,) some encoded row of a space."""
    domains = (feature.domain for feature in space.features)
    return np.array([d.values[0] if len(d.values) else (d.interval or (np.nan,))[0] for d in domains])


def _pick(columns: Columns, positions: NDArray[np.intp], X: NDArray[np.float64]) -> NDArray[np.float64]:
    return columns.numbers(X)[:, positions]
