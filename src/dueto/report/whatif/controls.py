"""What a page lets its reader move: one control a feature, or for features that are tied, with the values allowed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from dueto.domain import same
from dueto.plaf import And, Fixed, Together, fixed

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

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
    parts = [part for constraint in constraints for part in _conjuncts(constraint)]
    bounds = [part.bind(space) for part in parts if not isinstance(part, Together)]
    ties = {space.index(name): part for part in parts if isinstance(part, Together) for name in part.names}
    found = []
    for members in _tied(space, parts):
        mine = [b for b in bounds if b.features and b.features <= set(members)]
        values, weights, size = _joint(space, members, most)
        ok = _hold(mine, members, values, x)
        size = float(ok.sum()) if len(values) == size else size
        ordered = len(members) == 1 and space.features[members[0]].ordered
        values = _thinned(values[ok], weights[ok], most, ordered=ordered)
        values = _distinct(np.vstack([values, x[None, list(members)], rows[:, list(members)]]))
        own = int(np.argmax(same(values, x[list(members)]).all(axis=1)))
        kind: Literal["slider", "select", "fixed"] = "slider" if ordered else "select"
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


def _conjuncts(expr: Expr) -> list[Expr]:
    """What must hold, one by one."""
    if isinstance(expr, And):
        return [part for inner in expr.parts for part in _conjuncts(inner)]
    return [fixed(name) for name in expr.names] if isinstance(expr, Fixed) else [expr]


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


def _joint(
    space: FeatureSpace, members: tuple[int, ...], most: int
) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
    """(k, len(members)) joint values of some features, how often each occurs, and how many there are in all.

    None at all where features are tied to what occurs together in data that is not here.
    """
    if len(members) == 1:
        domain = space.features[members[0]].domain
        return *_candidates(domain, most), np.inf if domain.interval is not None else domain.size
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


def _candidates(domain: Domain, most: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """(k, 1) the values of a domain, and how often each occurs; of a range, numbers of few digits all along it."""
    values, counts = domain.values, domain.counts
    if domain.interval is not None:
        low, high = domain.interval
        digits = -int(np.floor(np.log10((high - low) / most))) if high > low else 0
        grid = np.round(np.linspace(low, high, FINE * most), min(digits, 0) if domain.integer else digits)
        grid = np.unique(np.append(np.clip(grid, low, high), (low, high)))
        values = grid[domain.contains(grid)]
        counts = np.ones(len(values))
    if domain.missing:
        values, counts = np.append(values, np.nan), np.append(counts, domain.missing)
    return values[:, None], counts


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
