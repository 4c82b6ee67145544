"""Rules: what a decision is due to, condition by condition, and how we know.

A *component* relevant to an applicant x is a condition that x meets: `F <= x_F` or `F >= x_F` on an ordered feature,
`F = x_F` on an unordered one (or where x's value is missing). A *rule* is a conjunction of components. The *dual* of an
instance y is the set of components that y does not meet: y satisfies a rule exactly when the rule misses its dual. A
feasible instance that satisfies a rule and gets the desired outcome is an *exception* to it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from dueto.box import Box
from dueto.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from dueto.space import FeatureSpace

__all__ = ["Component", "Components", "Least", "Rule", "Standing", "Verdict"]

Op = Literal["<=", ">=", "="]


@dataclass(frozen=True)
class Component:
    """One condition, `feature op value`; the value is a number or a label as the user knows it, None for missing."""

    feature: str
    op: Op
    value: Any

    def __post_init__(self) -> None:
        if self.op not in ("<=", ">=", "="):
            raise InputError(f"a condition on {self.feature!r} cannot use {self.op!r}; use '<=', '>=' or '='")

    def __str__(self) -> str:
        return f"{self.feature} {self.op} {'missing' if self.value is None else self.value}"


class Standing(StrEnum):
    """How a rule stands."""

    PROVED = "proved"
    UNREFUTED = "unrefuted"
    REFUTED = "refuted"


@dataclass(frozen=True)
class Verdict:
    """How a rule stands and what that rests on.

    Parameters
    ----------
    standing : Standing
        PROVED: an exact method showed that no feasible instance satisfies the rule and gets the desired outcome.
        UNREFUTED: a search found none, which is no proof. REFUTED: `counterexample` is one.
    by : str
        The method that said so.
    rows_scored : int
        How many rows the model was asked about by the search that the verdict rests on.
    counterexample : mapping, optional
        An exception, feature by feature.
    """

    standing: Standing
    by: str
    rows_scored: int
    counterexample: Mapping[Any, Any] | None = None

    def __str__(self) -> str:
        if self.standing is Standing.PROVED:
            return f"proved by {self.by}"
        if self.standing is Standing.UNREFUTED:
            return f"not proved: {self.by} scored {self.rows_scored:,} rows under it and found no exception"
        return f"refuted: {self.by} found an exception"


@dataclass(frozen=True)
class Least:
    """How short a rule that holds could be.

    Parameters
    ----------
    counted : {"components", "conditions"}
        What is counted: bounds, or conditions as a person reads them, where `a <= F <= b` is one. With weights, their sum.
    length : float
        The rule's own count.
    at_least : float
        Proved: no rule that holds counts less. If it equals `length`, no shorter rule holds.
    """

    counted: str
    length: float
    at_least: float

    @property
    def proved(self) -> bool:
        """Whether the rule is proved to be shortest."""
        return self.length <= self.at_least

    def __str__(self) -> str:
        if self.proved:
            return "no shorter rule holds (proved)"
        return f"a shorter rule, of {self.at_least:g} to {self.length - 1:g} {self.counted}, may hold"


@dataclass(frozen=True)
class Rule:
    """A conjunction of components, in the order of the features; iterate it for them, `len` is the cardinality.

    Examples
    --------
    >>> rule = Rule((Component("income", "<=", 22), Component("age", ">=", 30), Component("age", "<=", 39)))
    >>> print(rule)
    income <= 22 and 30 <= age <= 39
    >>> len(rule), [c.op for c in rule]
    (3, ['<=', '>=', '<='])
    """

    components: tuple[Component, ...]
    verdict: Verdict | None = field(default=None, compare=False)
    least: Least | None = field(default=None, compare=False)

    def __iter__(self) -> Iterator[Component]:
        return iter(self.components)

    def __len__(self) -> int:
        return len(self.components)

    def conditions(self) -> tuple[str, ...]:
        """The rule as a person reads it: two bounds on one feature are one interval, or one equality."""
        found: dict[str, list[Component]] = {}
        for component in dict.fromkeys(self.components):
            found.setdefault(component.feature, []).append(component)
        return tuple(text for feature, parts in found.items() for text in _conditions(feature, parts))

    def __str__(self) -> str:
        return " and ".join(self.conditions()) if self.components else "(no condition: everybody)"

    def box(self, space: FeatureSpace) -> Box:
        """The instances of a space that satisfy the rule."""
        box = Box.everything(len(space))
        for component in self.components:
            j = space.index(component.feature)
            feature, value = space.features[j], space.features[j].code(component.value)
            if component.op != "=" and not feature.ordered:
                raise InputError(f"{component} has no meaning: feature {feature.name!r} has no order; use '='")
            if np.isnan(value):
                box.low[j], box.high[j] = np.inf, -np.inf
                continue
            box.missing[j] = False
            if component.op != "<=":
                box.low[j] = max(box.low[j], value)
            if component.op != ">=":
                box.high[j] = min(box.high[j], value)
        return box

    def covers(self, space: FeatureSpace, frame: Any) -> NDArray[np.bool_]:
        """(m,) whether each row of a table satisfies the rule."""
        return self.box(space).contains(space.encode(frame))

    def to_dict(self) -> dict[str, Any]:
        """The rule as plain data."""
        return {
            "components": [{"feature": c.feature, "op": c.op, "value": c.value} for c in self.components],
            "text": str(self),
            "cardinality": len(self),
        }


def _conditions(feature: str, parts: Sequence[Component]) -> list[str]:
    value = {component.op: component.value for component in parts}
    if len(parts) != 2 or set(value) != {"<=", ">="}:
        return [str(component) for component in parts]
    if value["<="] == value[">="]:
        return [str(Component(feature, "=", value["<="]))]
    return [f"{value['>=']} <= {feature} <= {value['<=']}"]


class Components:
    """The components relevant to one applicant, numbered: feature j has `<=` (or `=`) at bit 2j and `>=` at bit 2j + 1.

    Sets of components are Python integers used as bit sets, or rows of 64-bit words for many at once.
    """

    def __init__(self, space: FeatureSpace, x: NDArray[np.float64]) -> None:
        self.space, self.x = space, x
        self.two_sided = space.ordered & ~np.isnan(x)
        self.n_words = -(-2 * len(space) // 64)

    @property
    def all(self) -> int:
        """The set of all components."""
        return sum((3 if two else 1) << (2 * j) for j, two in enumerate(self.two_sided))

    def duals(self, Y: NDArray[np.float64]) -> NDArray[np.uint64]:
        """(N, n_words) the dual of each encoded row: the components that it does not meet, 64 to a word."""
        words = np.zeros((len(Y), self.n_words), dtype=np.uint64)
        for bit, fails in self._failing(Y):
            words[:, bit // 64] |= fails.astype(np.uint64) << np.uint64(bit % 64)
        return words

    def _failing(self, Y: NDArray[np.float64]) -> Iterator[tuple[int, NDArray[np.bool_]]]:
        for j, two in enumerate(self.two_sided):
            y, x = Y[:, j], self.x[j]
            if two:
                yield 2 * j, ~(y <= x)
                yield 2 * j + 1, ~(y >= x)
            else:
                yield 2 * j, ~np.isnan(y) if np.isnan(x) else y != x

    def rule(self, chosen: int, verdict: Verdict | None = None) -> Rule:
        """The rule of a set of components."""
        found = []
        for bit in bits(chosen):
            j = bit // 2
            feature = self.space.features[j]
            op: Op = "=" if not self.two_sided[j] else (">=", "<=")[bit % 2 == 0]
            found.append(Component(feature.name, op, feature.label(self.x[j])))
        return Rule(tuple(found), verdict)

    def box(self, chosen: int) -> Box:
        """The instances that meet all of a set of components."""
        return self.rule(chosen).box(self.space)


def bits(chosen: int) -> Iterator[int]:
    """The positions of the ones, lowest first."""
    while chosen:
        low = chosen & -chosen
        yield low.bit_length() - 1
        chosen ^= low


def to_words(chosen: int, n_words: int) -> NDArray[np.uint64]:
    """A bit set as `n_words` 64-bit words."""
    return np.frombuffer(chosen.to_bytes(8 * n_words, "little"), dtype="<u8").astype(np.uint64)


def to_sets(words: NDArray[np.uint64]) -> list[int]:
    """Rows of 64-bit words as bit sets."""
    if words.shape[1] == 1:
        return [int(w) for w in words[:, 0]]
    return [int.from_bytes(row.tobytes(), "little") for row in np.ascontiguousarray(words.astype("<u8"))]


def minimal(sets: Iterable[int]) -> list[int]:
    """The inclusion-minimal ones among some bit sets, smallest first."""
    kept: list[int] = []
    for s in sorted(set(sets), key=lambda s: (s.bit_count(), s)):
        if not any(k & s == k for k in kept):
            kept.append(s)
    return kept
