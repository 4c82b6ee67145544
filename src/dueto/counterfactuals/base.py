"""The question every counterfactual method is asked, and the answer it gives.

`Query.accepts` is the one judge of validity and feasibility: whatever a method finds passes it before it leaves.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np

from dueto.box import Box
from dueto.counterfactuals.units import Unit, units_of
from dueto.distance import Distance
from dueto.domain import same
from dueto.errors import InputError
from dueto.plaf import Together
from dueto.plaf.expr import conjuncts

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from dueto.models import Model
    from dueto.models.structure import Structure
    from dueto.plaf import Bound, Expr
    from dueto.space import FeatureSpace

__all__ = ["Answer", "Finds", "Judge", "Method", "Query", "Status", "build_query"]


class Status(StrEnum):
    """What an answer is worth.

    FOUND: these pass, nearer ones may exist. OPTIMAL: the first is the nearest there is. NONE: proved that there is
    none. UNKNOWN: the budget is spent and nothing was found, which proves nothing.
    """

    FOUND = "found"
    OPTIMAL = "optimal"
    NONE = "none"
    UNKNOWN = "unknown"


@dataclass(frozen=True, eq=False)
class Query:
    """Is there a feasible instance with the desired outcome, and which is nearest to x?

    Parameters
    ----------
    model : Model
        Scores encoded rows; the desired outcome is a score above its threshold.
    space : FeatureSpace
        What can be. x's own values are always in, whether or not they occur in the data.
    x : (n,) float64
        The encoded applicant.
    constraints : tuple of Bound
        Plausibility and feasibility constraints.
    distance : Distance
        What "near" means.
    box : Box
        The part of the space asked about: a rule, or everything.
    donors : (d, n) float64
        Encoded rows known to get the desired outcome; a search may start from them. May be empty.
    plausibility : Structure, optional
        How ordinary a row is, as a margin: what is proposed must exceed its cut.
    inside : (d,) bool, optional
        Which donors are known to be in the space whatever x is; the others are looked at.
    memo : dict
        What methods worked out about the query without its box, shared by all that are made of it by `under`.
    """

    model: Model
    space: FeatureSpace
    x: NDArray[np.float64]
    constraints: tuple[Bound, ...]
    distance: Distance
    box: Box
    donors: NDArray[np.float64]
    plausibility: Structure | None = None
    inside: NDArray[np.bool_] | None = None
    memo: dict[str, Any] = field(default_factory=dict, repr=False)

    def under(self, box: Box) -> Query:
        """The same question inside a box (a rule's) too."""
        return replace(self, box=self.box & box)

    def plausible(self, X: NDArray[np.float64]) -> NDArray[np.bool_]:
        """(N,) whether each row is in the space and the box and meets every constraint; the model is not asked."""
        ok = self.box.contains(X)
        if not ok.all():
            ok[ok] = self._possible(X[ok]) & self._allowed(X[ok])
            return ok
        return self._possible(X) & self._allowed(X)

    def _possible(self, X: NDArray[np.float64]) -> NDArray[np.bool_]:
        """(N,) whether each row is in the space, or has x's values where it is not."""
        ok = np.ones(len(X), dtype=np.bool_)
        for j, feature in enumerate(self.space.features):
            ok &= same(X[:, j], self.x[j]) | feature.domain.contains(X[:, j])
        for group in self.space.groups:
            ok &= same(X, self.x)[:, group.members].all(axis=1) | group.contains(X)
        return ok

    def _allowed(self, X: NDArray[np.float64]) -> NDArray[np.bool_]:
        """(N,) whether each row meets every constraint, and is as ordinary as asked."""
        ok = np.ones(len(X), dtype=np.bool_)
        for constraint in self.constraints:
            ok &= constraint(lambda j: X[:, j], self.x)
        if self.plausibility is not None:
            ok[ok] = self.plausibility.margin(X[ok]) > self.plausibility.cut
        return ok

    @property
    def within_reach(self) -> NDArray[np.float64]:
        """(., n) the donors that are plausible."""
        X = self.donors
        inside = np.zeros(len(X), dtype=np.bool_) if self.inside is None else self.inside
        if not (boxed := self.box.contains(X)).all():
            X, inside = X[boxed], inside[boxed]
        ok = inside.copy()
        ok[~inside] = self._possible(X[~inside])
        ok &= self._allowed(X)
        return X if ok.all() else X[ok]

    def knowing(self, X: NDArray[np.float64]) -> Query:
        """The same question with more donors: rows that it accepts."""
        inside = None if self.inside is None else np.append(self.inside, np.ones(len(X), dtype=np.bool_))
        return replace(self, donors=np.vstack([self.donors, X]), inside=inside)

    def accepts(self, X: NDArray[np.float64]) -> NDArray[np.bool_]:
        """(N,) whether each row is plausible and gets the desired outcome. The model scores only the plausible ones."""
        ok = self.plausible(X)
        ok[ok] = self.model.good(X[ok])
        return ok

    def distances(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """(N,) distance of each row from x."""
        return self.distance(self.space, self.x, X)

    def changed(self, X: NDArray[np.float64]) -> NDArray[np.bool_]:
        """(N, n) which features differ from x's."""
        return ~same(X, self.x)

    def units(self, rng: np.random.Generator) -> list[Unit]:
        """Features that change together, each with the values left by the box and by the constraints on it alone."""
        return units_of(self, rng)


@dataclass(frozen=True, eq=False)
class Answer:
    """What a method found: accepted instances, nearest first, and how it is known.

    Parameters
    ----------
    status : Status
        What the answer is worth.
    X : (k, n) float64
        Encoded instances that `Query.accepts`, without redundant changes, by increasing distance; may be empty.
    distances : (k,) float64
        Their distances from x.
    by : str
        The method.
    rows_scored : int
        How many rows the model was asked about.
    reason : str
        For NONE, why there is none, where the constraints alone say so; for UNKNOWN, what was spent; for OPTIMAL, how
        much nearer something could be, where fewer digits were preferred to the last bit.
    boxes : int
        How many boxes of instances were looked at, by a method that bounds boxes.
    """

    status: Status
    X: NDArray[np.float64]
    distances: NDArray[np.float64]
    by: str
    rows_scored: int
    reason: str = field(default="")
    boxes: int = 0

    def __len__(self) -> int:
        return len(self.X)


class Judge(Protocol):
    """An exact method made ready for one query, to be asked about many boxes of it."""

    def escape(self, box: Box, *, seconds: float | None = None) -> Answer:
        """Whether a feasible instance in the box gets the desired outcome: FOUND, with some; NONE; or UNKNOWN.

        Those found are desired by the model's structure, and the model itself has not been asked; their changes are
        undone as far as they stay desired. `seconds` shortens the method's own limit.
        """
        ...

    def undo(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Accepted rows with their changes undone as far as the structure says that they stay desired."""
        ...


@dataclass(frozen=True, eq=False)
class Finds:
    """A method as a judge: each question is a search of its own, and the model confirms every answer."""

    method: Method
    query: Query
    rng: np.random.Generator

    def escape(self, box: Box, *, seconds: float | None = None) -> Answer:  # noqa: ARG002
        """What the method finds in the box."""
        return self.method.find(self.query.under(box), k=100, nearest=False, rng=self.rng)

    def undo(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """The rows as they are."""
        return X


@runtime_checkable
class Method(Protocol):
    """A way to find counterfactuals. To add one, see the guide "add a method"."""

    @property
    def name(self) -> str:
        """How reports call it."""
        ...

    def refuses(self, query: Query) -> str:
        """Why this method cannot answer the query, in words; empty if it can."""
        ...

    def find(self, query: Query, *, k: int, nearest: bool, rng: np.random.Generator) -> Answer:
        """Up to `k` counterfactuals, one for each kind of move; if not `nearest`, any will do."""
        ...


def build_query(
    model: Model,
    space: FeatureSpace,
    x: NDArray[np.float64],
    *,
    constraints: Iterable[Expr] = (),
    distance: Distance | None = None,
    X: NDArray[np.float64] | None = None,
    counts: NDArray[np.int_] | None = None,
    donors: NDArray[np.float64] | None = None,
    plausibility: Structure | None = None,
    inside: NDArray[np.bool_] | None = None,
) -> Query:
    """A query over the whole space, constraints bound to it; `together` ties features to the tuples in `X`.

    `counts` says how many rows of the data each row of `X` stands for, 1 if not given.
    """
    parts = [part for constraint in constraints for part in conjuncts(constraint)]
    ties = [part.names for part in parts if isinstance(part, Together)]
    if ties:
        if X is None:
            raise InputError(
                f"together({', '.join(map(repr, ties[0]))}) needs the data that the tuples occur in: give X"
            )
        space = space.grouped(X, ties, counts)
    bound = tuple(part.bind(space) for part in parts if not isinstance(part, Together))
    nobody = np.empty((0, len(space)))
    everything = Box.everything(len(space))
    donors = nobody if donors is None else donors
    return Query(model, space, x, bound, distance or Distance(), everything, donors, plausibility, inside)
