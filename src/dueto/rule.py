"""Rules: what a decision is due to, condition by condition, and how we know.

A *component* relevant to an applicant x is a condition that x meets: `F <= x_F` or `F >= x_F` on an ordered feature,
`F = x_F` on an unordered one (or where x's value is missing). A *rule* is a conjunction of components. The *dual* of an
instance y is the set of components that y does not meet: y satisfies a rule exactly when the rule misses its dual. A
feasible instance that satisfies a rule and gets the desired outcome is an *exception* to it.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from dueto.box import Box
from dueto.errors import InputError, in_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from dueto.space import FeatureSpace

__all__ = ["Component", "Components", "Least", "Rule", "Run", "Scope", "Standing", "Verdict"]

Op = Literal["<=", ">=", "="]
NUMBER = re.compile(r"[+-]?(\d[\d_]*(\.\d*)?|\.\d+)([eE][+-]?\d+)?")


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
        return f"{_named(self.feature)} {self.op} {in_words(self.value)}"


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
        What is counted: bounds, or conditions as a person reads them, where `a <= F <= b` is one. With weights, their
        sum.
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
        lengths = f"{self.at_least:g}" + (f" to {self.length - 1:g}" if self.at_least < self.length - 1 else "")
        return f"a shorter rule, of {lengths} {self.counted}, may hold"


@dataclass(frozen=True)
class Scope:
    """Of whom a rule speaks, and how often it is right of them: what is told of a rule that is not proved.

    Parameters
    ----------
    rows : int
        Rows of the data; 0 if they were not given.
    refused, accepted : int
        Rows that satisfy the rule, by what the model says of them.
    barred : int
        Those of the accepted that this applicant cannot become: under the constraints, or in a space declared narrower.
    drawn, feasible, feasible_refused : int
        Applicants drawn at random under the rule; those of them whom the constraints allow; and those of these whom the
        model refuses.
    exception : mapping, optional
        An applicant who satisfies the rule, whom the constraints allow, and who is accepted, feature by feature.
    distance : float, optional
        How far the exception is from the applicant whom the rule is about.
    nearest : bool
        Whether it is proved that no exception is nearer.
    fewest : bool
        Whether it is proved that no rule with so many conditions is satisfied by fewer accepted rows (`barred` ones
        aside).

    Notes
    -----
    Each feature is drawn for itself, with the frequencies of its values in the data, among the values that the rule and
    the constraints on it alone leave it; features that change together are drawn together. Whoever breaks another
    constraint is struck out. So the share speaks of possible applicants, and the rows speak of those there were.
    """

    rows: int
    refused: int
    accepted: int
    barred: int
    drawn: int
    feasible: int
    feasible_refused: int
    exception: Mapping[Any, Any] | None = None
    distance: float | None = None
    nearest: bool = False
    fewest: bool = False

    @property
    def share(self) -> float | None:
        """The share of refused among the feasible; None if none is."""
        return self.feasible_refused / self.feasible if self.feasible else None

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's 95 % interval for that share in the population that is drawn from."""
        return wilson(self.feasible_refused, self.feasible)

    def __str__(self) -> str:
        return " ".join(part for part in (self._rows(), f"{self._draws()}{self._exception()}.") if part)

    def _rows(self) -> str:
        if not self.rows:
            return ""
        covered = self.refused + self.accepted
        met = f"Of the {self.rows:,} rows of the data, {f'{covered:,}' if covered else 'none'} "
        met += "meet it" if covered > 1 else "meets it"
        if not self.accepted:
            return f"{met}{', all of them refused' if covered > 1 else ', and is refused' if covered else ''}."
        few = ", the fewest possible" if self.fewest and self.accepted > self.barred else ""
        which = "all" if self.barred == self.accepted else f"{self.barred:,}"
        barred = f" ({which} of them out of this applicant's reach)" if self.barred else ""
        return f"{met}: {self.refused:,} refused and {self.accepted:,} accepted{few}{barred}."

    def _draws(self) -> str:
        of = f"Of {self.drawn:,} applicants drawn at random under it"
        if not self.feasible:
            return f"{of}, the constraints allow none"
        share, low, high = (_percent(part, self.feasible) for part in (self.share or 0.0, *self.interval))
        told = f"{share} are refused (95% interval {low} to {high})"
        if self.feasible == self.drawn:
            return f"{of}, {told}"
        return f"{of}, the constraints allow {self.feasible:,}, and of these {told}"

    def _exception(self) -> str:
        if self.distance is None:
            return ""
        return f"; the nearest exception{'' if self.nearest else ' known'} is at distance {self.distance:.3g}"

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain data."""
        exception = None if self.exception is None else dict(self.exception)
        return vars(self) | {"exception": exception, "share": self.share, "interval": list(self.interval)}


@dataclass(frozen=True)
class Run:
    """How a finder came to its rule.

    Parameters
    ----------
    finished : bool
        False if its time ran out before it was done: the rule is then the best so far.
    figures : mapping of str to number
        What the finder counted or estimated: the generations of a genetic search, an anchor's precision and coverage.
    history : tuple of mappings
        The same by step (generation, size of the anchor), for plots.
    others : tuple of Rule
        Further rules that it would give, best first, without verdicts.
    """

    finished: bool = True
    figures: Mapping[str, float] = field(default_factory=dict)
    history: tuple[Mapping[str, Any], ...] = ()
    others: tuple[Rule, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Whether it finished, and its figures but for times; None for those that are not finite."""
        told = {k: v if math.isfinite(v) else None for k, v in self.figures.items() if not k.startswith("seconds")}
        return {"finished": self.finished, "figures": told, "others": [str(rule) for rule in self.others]}


def wilson(k: int, n: int) -> tuple[float, float]:
    """Wilson's 95 % interval for a share of which `k` of `n` independent draws are a sample; (0, 1) if n is 0.

    >>> tuple(round(end, 3) for end in wilson(95, 100))
    (0.888, 0.978)
    """
    if not n:
        return 0.0, 1.0
    z2 = 1.959963984540054**2
    middle, half = (k + z2 / 2) / (n + z2), math.sqrt(z2 * (k * (n - k) / n + z2 / 4)) / (n + z2)
    return (0.0 if k == 0 else middle - half), (1.0 if k == n else middle + half)


def _percent(share: float, n: int) -> str:
    """A share of n as a percentage, whose digits are as many as n can tell; never 0 or 100 where it is neither."""
    digits = 0 if n < 100 else 1
    text = f"{share:.{digits}%}"
    while 0 < share < 1 and float(text[:-1]) in (0.0, 100.0):
        digits += 1
        text = f"{share:.{digits}%}"
    return text


@dataclass(frozen=True)
class Rule:
    """A conjunction of components, in the order of the features; iterate it for them, `len` is the cardinality.

    `certificate` is what was proved of it, for `dueto.verify`, where it comes from `explain` and is proved.

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
    certificate: Mapping[str, Any] | None = field(default=None, compare=False, repr=False)
    scope: Scope | None = field(default=None, compare=False)
    run: Run | None = field(default=None, compare=False, repr=False)

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
    return [f"{value['>=']} <= {_named(feature)} <= {value['<=']}"]


def _named(feature: str) -> str:
    """A feature's name, in quotes where it would be read as a number."""
    return json.dumps(feature) if NUMBER.fullmatch(feature.strip()) else feature


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
        for bit, fails in self.failing(Y):
            words[:, bit // 64] |= fails.astype(np.uint64) << np.uint64(bit % 64)
        return words

    def failing(
        self, Y: NDArray[np.float64], members: Sequence[int] | None = None
    ) -> Iterator[tuple[int, NDArray[np.bool_]]]:
        """Each component's bit, and (N,) which rows do not meet it; `members` names the features of Y's columns."""
        for at, j in enumerate(range(len(self.x)) if members is None else members):
            y, x = Y[:, at], self.x[j]
            if self.two_sided[j]:
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


def joined(kept: list[int], sets: Iterable[int]) -> list[int]:
    """The inclusion-minimal ones among some minimal bit sets and others."""
    for s in dict.fromkeys(sets):
        if not any(k & s == k for k in kept):
            kept = [k for k in kept if k & s != s] + [s]
    return kept


def minimal(sets: Iterable[int]) -> list[int]:
    """The inclusion-minimal ones among some bit sets, smallest first."""
    kept: list[int] = []
    for s in sorted(set(sets), key=lambda s: (s.bit_count(), s)):
        if not any(k & s == k for k in kept):
            kept.append(s)
    return kept
