"""The values that a feature can take: what makes "every possible applicant" mean something."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np

from dueto.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

__all__ = ["NEAR", "Domain", "distinct_rows", "row_keys", "same", "shortest"]

LISTED = 100_000  # a whole-number range of at most this many values is listed, value by value
NEAR = 1e-6  # of a declared range: how much of a bound or of a change is given up for fewer digits
GRID = 256  # points that stand for a longer range when candidates are drawn


@dataclass(frozen=True, eq=False)
class Domain:
    """The values of one feature, encoded, with how often each occurs in the data.

    Parameters
    ----------
    values : (k,) float64, sorted, distinct, finite
        The listed values.
    counts : (k,) float64
        How many rows of the data have each value; 0 for a value that was only declared.
    missing : float
        How many rows have no value; 0 if "missing" is not in the domain.
    interval : (low, high), optional
        Every number (every whole number if `integer`) from low to high belongs to the domain too.
    integer : bool
        Whether the interval holds whole numbers only.
    """

    values: NDArray[np.float64]
    counts: NDArray[np.float64]
    missing: float = 0.0
    interval: tuple[float, float] | None = None
    integer: bool = False

    @classmethod
    def active(cls, column: NDArray[np.float64], weights: NDArray[np.float64] | None = None) -> Domain:
        """The active domain: the distinct values of an encoded column (NaN is missing), with their counts.

        `weights` says how many rows each entry of the column stands for, 1 if not given.
        """
        there = ~np.isnan(column)
        present = column[there]
        if weights is not None:
            values, inverse = np.unique(present, return_inverse=True)
            counts = np.bincount(inverse, weights=weights[there], minlength=len(values)).astype(np.float64)
            return cls(values, counts, float(weights[~there].sum()))
        values, many = np.unique(present, return_counts=True)
        return cls(values, many.astype(np.float64), float(len(column) - len(present)))

    def widened(self, low: float, high: float, *, integer: bool) -> Domain:
        """The declared range [low, high]; a short range of whole numbers is listed."""
        if not (np.isfinite(low) and np.isfinite(high) and low <= high):
            raise InputError(f"a range from {low:g} to {high:g} holds no numbers; give low <= high, both finite")
        if integer and np.ceil(low) > np.floor(high):
            raise InputError(f"a range from {low:g} to {high:g} holds no whole number; give another")
        if integer:
            low, high = np.ceil(low), np.floor(high)
        if integer and high - low < LISTED:
            return self.listed(np.arange(low, high + 1))
        inside = (self.values >= low) & (self.values <= high) & (not integer or self.values == np.round(self.values))
        values, counts = self.values[inside], self.counts[inside]
        return Domain(values, counts, self.missing, (float(low), float(high)), integer)

    def listed(self, values: NDArray[np.float64]) -> Domain:
        """Exactly these values, each with its count in this domain (0 if it does not occur)."""
        values = np.unique(np.asarray(values, dtype=np.float64))
        counts = np.zeros(len(values))
        _, mine, theirs = np.intersect1d(self.values, values, assume_unique=True, return_indices=True)
        counts[theirs] = self.counts[mine]
        return Domain(values, counts, self.missing)

    @property
    def size(self) -> float:
        """How many values there are, missing among them; infinite for a range of real numbers."""
        n = float(len(self.values))
        if self.interval is not None:
            n = float(np.floor(self.interval[1]) - np.ceil(self.interval[0]) + 1) if self.integer else np.inf
        return n + (self.missing > 0)

    @property
    def range(self) -> float:
        """Largest value minus smallest, or 1 where that is 0: the unit of distance along this feature."""
        ends = self.interval or ((self.values[0], self.values[-1]) if len(self.values) else (0.0, 0.0))
        return float(ends[1] - ends[0]) or 1.0

    def contains(self, v: Any) -> NDArray[np.bool_]:
        """Whether each of `v` (any shape; NaN is missing) belongs to the domain."""
        v = np.asarray(v, dtype=np.float64)
        if len(self.values):
            at = np.minimum(np.searchsorted(self.values, v), len(self.values) - 1)
            found = self.values[at] == v
        else:
            found = np.zeros(v.shape, dtype=bool)
        if self.interval is not None:
            found |= (v >= self.interval[0]) & (v <= self.interval[1]) & (not self.integer or v == np.round(v))
        return np.where(np.isnan(v), self.missing > 0, found)

    def candidates(
        self, rng: np.random.Generator, low: float = -np.inf, high: float = np.inf
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Values from low to high, and missing, with weights: all that are listed; from an interval, a random grid too.

        Weights are the counts, plus one where some were never seen, so that these can be drawn as well.
        """
        inside = (self.values >= low) & (self.values <= high)
        values, counts = self.values[inside], self.counts[inside]
        if self.interval is not None and max(low, self.interval[0]) <= min(high, self.interval[1]):
            low, high = max(low, self.interval[0]), min(high, self.interval[1])
            extra = np.append(rng.uniform(low, high, GRID), (low, high))
            extra = np.round(extra) if self.integer else extra
            values = np.union1d(values, extra[self.contains(extra) & (extra >= low) & (extra <= high)])
            counts = self.listed(values).counts
        if self.missing:
            values, counts = np.append(values, np.nan), np.append(counts, self.missing)
        return values, counts + (1.0 if self.interval is not None or not counts.all() else 0.0)

    def to_dict(self) -> dict[str, Any]:
        """The domain as plain data."""
        return {
            "values": self.values.tolist(),
            "counts": self.counts.tolist(),
            "missing": self.missing,
            "interval": list(self.interval) if self.interval else None,
            "integer": self.integer,
        }

    @classmethod
    def from_dict(cls, saved: Mapping[str, Any]) -> Domain:
        """The domain that `to_dict` wrote."""
        interval = saved["interval"]
        return cls(
            np.asarray(saved["values"], dtype=np.float64),
            np.asarray(saved["counts"], dtype=np.float64),
            float(saved["missing"]),
            (float(interval[0]), float(interval[1])) if interval else None,
            bool(saved["integer"]),
        )


def same(a: NDArray[np.float64], b: NDArray[np.float64] | float) -> NDArray[np.bool_]:
    """Where two encoded values are equal, missing equal to missing."""
    return np.asarray((a == b) | (np.isnan(a) & np.isnan(b)))


def distinct_rows(X: NDArray[np.float64]) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]:
    """Distinct rows of a float64 matrix, NaN equal to NaN: (first row of each, which of them each row is, counts).

    Their order depends on what they hold, not on the order of the rows. Rows are told apart by a 64-bit hash, and
    compared, so that two that share a hash (a chance of about N² / 2⁶⁴) are still told apart.
    """
    if X.shape[1] == 0:
        return np.zeros(1, dtype=np.intp), np.zeros(len(X), dtype=np.intp), np.full(1, len(X), dtype=np.intp)
    words = _words(X)
    keys = _mixed(words, 0)
    first, inverse, counts = _unique(keys)
    if not np.array_equal(words, words[first[inverse]]):
        first, inverse, counts = _unique(words.view(np.dtype((np.void, 8 * X.shape[1]))).ravel())
    return first, inverse, counts


def row_keys(X: NDArray[np.float64], seed: int = 0) -> NDArray[np.uint64]:
    """(N,) a hash of each row, by which `distinct_rows` tells them apart; another for another seed."""
    return _mixed(_words(X), seed)


def _words(X: NDArray[np.float64]) -> NDArray[np.uint64]:
    """The bits of a matrix, equal where the numbers are."""
    bits = X + 0.0  # -0.0 becomes 0.0
    bits[np.isnan(bits)] = np.nan  # one bit pattern for all
    return np.ascontiguousarray(bits).view(np.uint64)


def _mixed(words: NDArray[np.uint64], seed: int) -> NDArray[np.uint64]:
    factors = np.random.default_rng(seed).integers(2**63, size=words.shape[1], dtype=np.uint64) | np.uint64(1)
    mixed = (words ^ (words >> np.uint64(32))) * factors
    return np.asarray((mixed ^ (mixed >> np.uint64(29))).sum(axis=1, dtype=np.uint64))


def _unique(keys: NDArray[Any]) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]:
    _, first, inverse, counts = np.unique(keys, return_index=True, return_inverse=True, return_counts=True)
    return first, inverse, counts


def shortest(low: float, high: float, *, near: float) -> float:
    """The number with the fewest significant digits in [low, high]; of several, the one nearest to `near`.

    >>> shortest(0.30000000000000004, 0.41, near=0.30000000000000004), shortest(27.0, 31.0, near=27.0)
    (0.4, 30.0)
    """
    for digits in range(1, 18):
        found = set()
        for value in (low, high, near):
            if np.isfinite(value):
                unit = Decimal(1).scaleb(Decimal(value).adjusted() - digits + 1) if value else Decimal(1)
                middle = (Decimal(value) / unit).to_integral_value() * unit
                found |= {float(middle + step * unit) for step in (-1, 0, 1)}
        inside = [v for v in found if low <= v <= high and _digits(v) <= digits]
        if inside:
            return min(inside, key=lambda v: (abs(v - near), v))
    return near


def _digits(value: float) -> int:
    """How many significant digits a number is written with."""
    return len(Decimal(repr(value)).normalize().as_tuple().digits)
