"""What a page lets its reader move: one control a feature, or for features that are tied, with the values allowed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from dueto.domain import same
from dueto.plaf import Const, Together, walk
from dueto.plaf.expr import conjuncts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from dueto.domain import Domain
    from dueto.feature import Feature
    from dueto.plaf import Bound, Expr
    from dueto.space import FeatureSpace

__all__ = ["Control", "controls_of"]

FINE = 10  # numbers tried of a declared range for each that is offered
ONLY = "no other value is known"


@dataclass(frozen=True, eq=False)
class Control:
    """Features that move together (most often one), and the joint values that a page offers for them.

    Parameters
    ----------
    members : tuple of int
        Positions of the features.
    values : (k, len(members)) float64
        Encoded joint values, rising, missing last: the applicant's own, those asked for, and of the others all that
        the domains and the constraints on these features alone allow, or an even choice of them.
    own : int
        Which of them the applicant has.
    kind : {"slider", "select", "fixed"}
    allowed : float
        How many there are in all; infinite for a range of real numbers.
    why : tuple of str
        For a fixed one, what keeps it: sentences.
    """

    members: tuple[int, ...]
    values: NDArray[np.float64]
    own: int
    kind: Literal["slider", "select", "fixed"]
    allowed: float
    why: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.values)

    def of(self, j: int) -> NDArray[np.float64]:
        """(k,) the values of one member."""
        return self.values[:, self.members.index(j)]

    @property
    def missing(self) -> int | None:
        """Which value of a slider is missing, the last if any: it stands beside the numbers, not past the largest."""
        return len(self) - 1 if self.kind == "slider" and np.isnan(self.values[-1, 0]) else None

    def place(self, row: NDArray[np.float64]) -> int:
        """Which of the joint values a row has."""
        return int(np.argmax(same(self.values, row[list(self.members)]).all(axis=1)))


def controls_of(
    space: FeatureSpace,
    constraints: Iterable[Expr],
    x: NDArray[np.float64],
    rows: NDArray[np.float64],
    *,
    most: int,
) -> list[Control]:
    """The controls of all features, in the order of the features; a tied one stands where its first member does.

    Parameters
    ----------
    space : FeatureSpace
    constraints : iterable of Expr
        Those on the features of one control leave out what they forbid.
    x : (n,) float64
        The encoded applicant.
    rows : (r, n) float64
        Encoded rows whose values must be among those offered: counterfactuals that were found.
    most : int
        How many values a control may offer, besides these.
    """
    parts = [part for constraint in constraints for part in conjuncts(constraint)]
    bounds = [part.bind(space) for part in parts if not isinstance(part, Together)]
    ties = {space.index(name): part for part in parts if isinstance(part, Together) for name in part.names}
    found = []
    for members in _tied(space, parts):
        mine = [b for b in bounds if b.features and b.features <= set(members)]
        values, weights, size = _joint(space, members)
        if len(members) == 1 and (domain := space.features[members[0]].domain).interval is not None:
            values = np.append(_along(domain, mine, x, members[0], most), [np.nan] * (domain.missing > 0))[:, None]
            weights, size = np.ones(len(values)), np.inf
        ok = _hold(mine, members, values, x)
        size = float(ok.sum()) if len(values) == size else size
        ordered = len(members) == 1 and space.features[members[0]].ordered
        values = _thinned(values[ok], weights[ok], most, ordered=ordered)
        values = _distinct(np.vstack([values, x[None, list(members)], rows[:, list(members)]]))
        own = int(np.argmax(same(values, x[list(members)]).all(axis=1)))
        several = np.count_nonzero(~np.isnan(values[:, 0])) > 1
        kind: Literal["slider", "select", "fixed"] = "slider" if ordered and several else "select"
        why: tuple[str, ...] = ()
        if len(values) == 1:
            kind = "fixed"
            said = [b.expr.sentence() for b in mine] + [ties[j].sentence() for j in members[:1] if j in ties]
            why = tuple(dict.fromkeys(said)) or (ONLY,)
        found.append(Control(members, values, own, kind, max(size, float(len(values))), why))
    return found


def name(control: Control, space: FeatureSpace) -> str:
    """What a control is called."""
    return " and ".join(space.names[j] for j in control.members)


def texts(control: Control, space: FeatureSpace) -> list[str]:
    """Each of a control's joint values for a reader."""
    features: list[Feature] = [space.features[j] for j in control.members]
    return [", ".join(f.text(v) for f, v in zip(features, row, strict=True)) for row in control.values]


def _tied(space: FeatureSpace, parts: Sequence[Expr]) -> list[tuple[int, ...]]:
    """The features of each control: groups, and what `together` ties, joined where they share one."""
    wanted: list[set[int]] = []
    named = [{space.index(name) for name in part.names} for part in parts if isinstance(part, Together)]
    for members in [*(set(g.members) for g in space.groups), *named, *({j} for j in range(len(space)))]:
        for other in [w for w in wanted if w & members]:
            members |= other
            wanted.remove(other)
        wanted.append(members)
    return sorted(tuple(sorted(w)) for w in wanted)


def _joint(space: FeatureSpace, members: tuple[int, ...]) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
    """(k, len(members)) joint values of some features, how often each occurs, and how many there are in all.

    Those of a range are not listed. None at all where features are tied to what occurs together elsewhere.
    """
    if len(members) == 1:
        domain = space.features[members[0]].domain
        missing = [domain.missing] if domain.missing else []
        values = np.append(domain.values, [np.nan] * len(missing))
        return values[:, None], np.append(domain.counts, missing), domain.size
    group = next((g for g in space.groups if g.members == members), None)
    if group is None:
        return np.empty((0, len(members))), np.empty(0), 0.0
    inside = [space.features[j].domain.contains(group.tuples[:, i]) for i, j in enumerate(members)]
    kept = np.all(inside, axis=0)
    return group.tuples[kept], group.counts[kept], float(kept.sum())


def _hold(
    bounds: Sequence[Bound], members: tuple[int, ...], values: NDArray[np.float64], x: NDArray[np.float64]
) -> NDArray[np.bool_]:
    """(k,) where all of some constraints on these features hold."""
    ok = np.ones(len(values), dtype=np.bool_)
    for bound in bounds:
        ok &= bound(lambda j: values[:, members.index(j)], x)
    return ok


def _along(domain: Domain, bounds: Sequence[Bound], x: NDArray[np.float64], j: int, most: int) -> NDArray[np.float64]:
    """Numbers of few digits all along the parts of a range that constraints on this feature leave, their ends included.

    The numbers that a constraint names, and those as far from the applicant's own, are tried: parts that hold none of
    them and lie between two neighbours of the first grid are missed.
    """

    def holds(values: NDArray[np.float64]) -> NDArray[np.bool_]:
        return _hold(bounds, (j,), values[:, None], x)

    low, high = domain.interval or (0.0, 0.0)
    named = np.array([e.value for b in bounds for e in walk(b.expr) if isinstance(e, Const) and _is_number(e.value)])
    grid = np.concatenate([_grid(low, high, domain, most), named, x[j] + named, x[j] - named])
    grid = np.unique(grid[(low <= grid) & (grid <= high) & domain.contains(grid)])
    ok = holds(grid)
    found = [grid[ok]]
    for start, end in np.flatnonzero(np.diff(ok, prepend=False, append=False)).reshape(-1, 2).tolist():
        first = _end(holds, grid[start], grid[start - 1], domain) if start else grid[start]
        last = _end(holds, grid[end - 1], grid[end], domain) if end < len(grid) else grid[end - 1]
        found.append(_grid(first, last, domain, most))
    values = np.unique(np.concatenate(found))
    values = values[domain.contains(values)]
    return values[holds(values)]


def _grid(low: float, high: float, domain: Domain, most: int) -> NDArray[np.float64]:
    """Numbers of few digits from low to high, both included."""
    digits = -int(np.floor(np.log10((high - low) / most))) if high > low else 0
    grid = np.round(np.linspace(low, high, FINE * most), min(digits, 0) if domain.integer else digits)
    return np.unique(np.append(np.clip(grid, low, high), (low, high)))


def _end(holds: Callable[[NDArray[np.float64]], NDArray[np.bool_]], good: float, bad: float, domain: Domain) -> float:
    """Where, from a number that is allowed towards one that is not, the last allowed one is, by bisection."""
    while (middle := good + (bad - good) / 2) not in (good, bad):
        middle = float(np.floor(middle)) if domain.integer else middle
        if middle in (good, bad):
            return good
        good, bad = (middle, bad) if holds(np.array([middle]))[0] else (good, middle)
    return good


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _thinned(
    values: NDArray[np.float64], weights: NDArray[np.float64], most: int, *, ordered: bool
) -> NDArray[np.float64]:
    """At most so many: every so-manieth of what has an order, both ends included; else the most frequent."""
    if len(values) <= most:
        return values
    if ordered:
        return values[np.round(np.linspace(0, len(values) - 1, most)).astype(np.intp)]
    return values[np.argsort(-weights, kind="stable")[:most]]


def _distinct(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Distinct rows, rising, missing last."""
    order = np.lexsort(values.T[::-1])
    values = values[order]
    new = np.ones(len(values), dtype=np.bool_)
    new[1:] = ~same(values[1:], values[:-1]).all(axis=1)
    return values[new]
