"""The feasible instances that satisfy a rule: read again from the certificate, and counted, listed and drawn anew."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from dueto.domain import distinct_rows, same
from dueto.plaf import Compare, Fixed, Ref, Together, walk
from dueto.plaf.expr import conjuncts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from dueto.plaf import Bound, Expr
    from dueto.rule import Component
    from dueto.space import FeatureSpace

__all__ = ["Part", "Region", "meets"]

JOINT = 1_000_000  # joint values listed of features that constraints tie
CHUNK = 1 << 16  # instances listed at once


@dataclass(frozen=True, eq=False)
class Part:
    """Features that are chosen together, most often one, and what is left to them.

    Parameters
    ----------
    members : tuple of int
        Positions of the features.
    values : (k, len(members)) float64
        Joint values; of a range, only those that are not in it.
    span : (low, high), optional
        All numbers from low to high besides: whole ones, if `integer`.
    """

    members: tuple[int, ...]
    values: NDArray[np.float64]
    span: tuple[float, float] | None = None
    integer: bool = False

    @property
    def size(self) -> float:
        """How many joint values there are."""
        if self.span is None:
            return len(self.values)
        return len(self.values) + (self.span[1] - self.span[0] + 1 if self.integer else np.inf)

    def listed(self) -> NDArray[np.float64]:
        """(size, len(members)) all joint values."""
        if self.span is None:
            return self.values
        return np.vstack([self.values, np.arange(self.span[0], self.span[1] + 1)[:, None]])

    def drawn(self, rng: np.random.Generator, N: int) -> NDArray[np.float64]:
        """(N, len(members)) values by chance; the ends of a range, and what is not in it, more often."""
        some = self.values
        if self.span is not None:
            low, high = self.span
            inside = np.append(rng.uniform(low, high, N), [low, high])
            inside = (np.clip(np.round(inside), low, high) if self.integer else inside)[:, None]
            if rng.random() < 0.5 or not len(some):
                return inside[rng.integers(len(inside), size=N)]
            some = np.vstack([inside[-2:], some])
        return some[rng.integers(len(some), size=N)]


class Region:
    """The feasible instances of a space that an applicant can become while some components hold.

    Parameters
    ----------
    space : FeatureSpace
    x : (n,) float64
        The encoded applicant, whose own values are always in the space.
    constraints : sequence of Expr
    components : sequence of Component
        The rule; without any, all feasible instances.

    Notes
    -----
    `parts`, `joined` and `crossing` leave out what they cannot list: constraints on a range and another feature, and on
    too many joint values. So they may let through too many: a proof about them holds, and what is found among them must
    pass `contains`.
    """

    def __init__(
        self,
        space: FeatureSpace,
        x: NDArray[np.float64],
        constraints: Iterable[Expr],
        components: Sequence[Component] = (),
    ) -> None:
        self.space, self.x, self.components = space, x, components
        single = [part for constraint in constraints for part in conjuncts(constraint)]
        self.constraints = [part.bind(space) for part in single if not isinstance(part, Together)]
        self.parts = self._parts()

    def contains(self, Y: NDArray[np.float64]) -> NDArray[np.bool_]:
        """(N,) whether each encoded row is in the space, meets the constraints and satisfies the rule."""
        ok = meets(self.space, self.components, Y)
        own = same(Y, self.x)
        for j, feature in enumerate(self.space.features):
            ok &= own[:, j] | feature.domain.contains(Y[:, j])
        for group in self.space.groups:
            ok &= own[:, group.members].all(axis=1) | group.contains(Y)
        for constraint in self.constraints:
            ok &= constraint(lambda j: Y[:, j], self.x)
        return ok

    @cached_property
    def size(self) -> float:
        """How many instances there are, or more."""
        x_breaks = any(not c.features and not c(lambda j: self.x[j], self.x).all() for c in self.constraints)
        sizes = [part.size for part in self.joined]
        return 0.0 if x_breaks or 0 in sizes else math.prod(sizes)

    @cached_property
    def crossing(self) -> list[Bound]:
        """The constraints on features of more than one part, none of them a range."""
        owner = {j: i for i, part in enumerate(self.parts) for j in part.members}
        ranged = {part.members[0] for part in self.parts if part.span is not None}
        return [c for c in self.constraints if len({owner[j] for j in c.features}) > 1 and not c.features & ranged]

    @cached_property
    def joined(self) -> list[Part]:
        """Parts again, those that constraints tie joined into one as long as its joint values can be listed."""
        parts = list(self.parts)
        for constraint in self.crossing:
            tied = [p for p in parts if constraint.features & set(p.members)]
            if math.prod(len(p.values) for p in tied) <= JOINT:
                both = _product(tied)
                columns = dict(zip(both.members, both.values.T, strict=True))
                ok = constraint(columns.__getitem__, self.x)
                parts = [p for p in parts if p not in tied] + [replace(both, values=both.values[ok])]
        return parts

    def with_values(self, part: Part, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """(k, n) the applicant with some joint values of a part."""
        Y = np.tile(self.x, (len(values), 1))
        Y[:, part.members] = values
        return Y

    def instances(self) -> Iterator[NDArray[np.float64]]:
        """All instances, in chunks of encoded rows; only where `size` is finite."""
        choices = [part.listed() for part in self.joined]
        total = math.prod(len(c) for c in choices)
        for start in range(0, total, CHUNK):
            code = np.arange(start, min(start + CHUNK, total))
            Y = np.tile(self.x, (len(code), 1))
            for part, values in zip(self.joined, choices, strict=True):
                code, pick = np.divmod(code, len(values))
                Y[:, part.members] = values[pick]
            yield Y[self.contains(Y)]

    def drawn(self, rng: np.random.Generator, N: int) -> NDArray[np.float64]:
        """Up to N instances by chance: those of N draws that are feasible."""
        Y = np.tile(self.x, (N, 1))
        for part in self.joined:
            Y[:, part.members] = part.drawn(rng, N)
        return Y[self.contains(Y)]

    # -- what is left to each part ------------------------------------------------------------------------------------

    def _parts(self) -> list[Part]:
        tied = {j for group in self.space.groups for j in group.members}
        single = [self._single(j) for j in range(len(self.space)) if j not in tied]
        groups = self.space.groups
        return single + [self._allowed(g.members, np.vstack([g.tuples, self.x[None, g.members]])) for g in groups]

    def _single(self, j: int) -> Part:
        domain = self.space.features[j].domain
        values = np.concatenate([domain.values, [np.nan] if domain.missing else [], self.x[[j]]])
        alone = [c for c in self.constraints if c.features == {j}]
        if domain.interval is None or any(isinstance(c.expr, Fixed) for c in alone):
            return self._allowed((j,), values[:, None])
        low, high = domain.interval
        for component in self.components:
            if component.feature == self.space.names[j]:
                v = self.space.features[j].code(component.value)
                low = max(low, v) if component.op != "<=" else low
                high = min(high, v) if component.op != ">=" else high
                if np.isnan(v):
                    low, high = np.inf, -np.inf
        for half in (half for constraint in alone for half in _halves(constraint.expr)):
            if _one_sided(half):
                low, high = _clipped(half.bind(self.space), self.x, low, high)
        if domain.integer and low <= high:
            low, high = np.ceil(low), np.floor(high)
        inside = (values >= domain.interval[0]) & (values <= domain.interval[1])
        inside &= (values == np.round(values)) if domain.integer else True
        rest = self._allowed((j,), values[~inside][:, None])
        return rest if low > high else replace(rest, span=(float(low), float(high)), integer=domain.integer)

    def _allowed(self, members: tuple[int, ...], values: NDArray[np.float64]) -> Part:
        """Those of some joint values that are in the domains and that rule and constraints on them alone allow."""
        part = Part(tuple(members), values)
        Y = self.with_values(part, values)
        ok = meets(self.space, [c for c in self.components if self.space.index(c.feature) in members], Y)
        for j in members:
            ok &= same(Y[:, j], self.x[j]) | self.space.features[j].domain.contains(Y[:, j])
        for constraint in self.constraints:
            if constraint.features and constraint.features <= set(members):
                ok &= constraint(lambda j: Y[:, j], self.x)
        kept = values[ok] + 0.0
        kept = kept[distinct_rows(kept)[0]]
        return replace(part, values=kept[np.lexsort(kept.T[::-1])])


def meets(space: FeatureSpace, components: Iterable[Component], Y: NDArray[np.float64]) -> NDArray[np.bool_]:
    """(N,) whether each encoded row meets all components: missing equals missing, and is not <= or >= anything."""
    ok = np.ones(len(Y), dtype=bool)
    for component in components:
        j = space.index(component.feature)
        y, v = Y[:, j], space.features[j].code(component.value)
        if np.isnan(v):
            ok &= np.isnan(y)
        else:
            ok &= y <= v if component.op == "<=" else y >= v if component.op == ">=" else y == v
    return ok


def _product(parts: Sequence[Part]) -> Part:
    """Several parts as one, with every combination of their values."""
    grid = np.meshgrid(*(np.arange(len(part.values)) for part in parts), indexing="ij")
    values = np.hstack([part.values[at.ravel()] for part, at in zip(parts, grid, strict=True)])
    return Part(tuple(j for part in parts for j in part.members), values)


def _halves(expr: Expr) -> list[Expr]:
    if isinstance(expr, Compare) and expr.op == "==":
        return [Compare("<=", expr.left, expr.right), Compare(">=", expr.left, expr.right)]
    return [expr]


def _one_sided(expr: Expr) -> bool:
    """Whether a condition on one proposed value bounds it from one side: it stands alone on a side of <, <=, >, >=."""
    if not isinstance(expr, Compare) or expr.op in ("==", "!="):
        return False
    sides = [any(isinstance(e, Ref) and e.side == "cf" for e in walk(side)) for side in (expr.left, expr.right)]
    return sides in ([True, False], [False, True]) and isinstance((expr.right, expr.left)[sides[0]], Ref)


def _clipped(constraint: Bound, x: NDArray[np.float64], low: float, high: float) -> tuple[float, float]:
    """The part of [low, high] where a one-sided constraint holds, by bisection to the last bit."""

    def holds(v: float) -> bool:
        return bool(constraint(lambda _: v, x))

    if low > high or (holds(low) and holds(high)):
        return low, high
    if not holds(low) and not holds(high):
        return np.inf, -np.inf
    good, bad = (low, high) if holds(low) else (high, low)
    while (middle := good + (bad - good) / 2) not in (good, bad):
        good, bad = (middle, bad) if holds(middle) else (good, middle)
    return (low, good) if holds(low) else (good, high)
