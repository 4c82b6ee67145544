"""What is asked of a proposed applicant, in words; what of it the applicant breaks, and what no change can mend."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from dueto.counterfactuals import build_query, conflict
from dueto.plaf import Together
from dueto.plaf.expr import conjuncts

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from dueto.counterfactuals import Query
    from dueto.plaf import Expr
    from dueto.space import FeatureSpace

__all__ = ["Requirements"]


@dataclass(frozen=True)
class Requirements:
    """The constraints, and how ordinary a proposed applicant has to be.

    Parameters
    ----------
    space : FeatureSpace
        What they speak of.
    constraints : sequence of Expr
        What may change, and how.
    plausible : float, optional
        The share of the data that a proposed applicant must be as ordinary as.
    """

    space: FeatureSpace
    constraints: Sequence[Expr]
    plausible: float | None = None

    @property
    def ordinary(self) -> str:
        """How ordinary, as a clause; empty if that is not asked."""
        if self.plausible is None:
            return ""
        return f"the whole must be as ordinary as {self.plausible:.0%} of the data (by an isolation forest)"

    @property
    def sentences(self) -> tuple[str, ...]:
        """All of them."""
        told = tuple(constraint.sentence() for constraint in self.constraints)
        return (*told, self.ordinary) if self.ordinary else told

    @property
    def bounds(self) -> list[tuple[str, tuple[str, ...]]]:
        """Each in words, and the names of the features that it speaks of; none for how ordinary."""
        found = [(constraint.sentence(), self._names(constraint)) for constraint in self.constraints]
        return [*found, (self.ordinary, ())] if self.ordinary else found

    def broken(self, query: Query) -> tuple[str, ...]:
        """Those that the applicant breaks by staying as they are."""
        told = [constraint.sentence() for constraint in self.constraints if self.breaks(query.x, constraint)]
        if (odd := query.plausibility) is not None and float(odd.margin(query.x[None])[0]) <= odd.cut:
            told.append(self.ordinary)
        return tuple(told)

    def unmendable(self, x: NDArray[np.float64]) -> tuple[str, ...]:
        """Those of them that no change can mend: nothing that the applicant could become meets one of them alone."""
        return tuple(c.sentence() for c in self.constraints if self.breaks(x, c) and self._hopeless(x, c))

    def _hopeless(self, x: NDArray[np.float64], constraint: Expr) -> bool:
        parts = [part for part in conjuncts(constraint) if not isinstance(part, Together)]
        return conflict.hopeless(build_query(conflict.accepting(self.space), self.space, x, constraints=parts))

    def breaks(self, x: NDArray[np.float64], constraint: Expr) -> bool:
        """Whether an applicant breaks a constraint by staying as they are; to change nothing keeps every tie."""
        if isinstance(constraint, Together):
            return False
        return not bool(constraint.bind(self.space)(lambda j: x[j], x))

    def _names(self, constraint: Expr) -> tuple[str, ...]:
        if isinstance(constraint, Together):
            return constraint.names
        return tuple(self.space.names[j] for j in sorted(constraint.bind(self.space).features))
