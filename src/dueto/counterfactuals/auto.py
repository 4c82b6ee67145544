"""The method that suits the query: exact where the model's structure or the size allows, else the search."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from dueto.counterfactuals.base import Status
from dueto.counterfactuals.branch_and_bound import BranchAndBound
from dueto.counterfactuals.exhaustive import Exhaustive
from dueto.counterfactuals.geco import GeCo
from dueto.counterfactuals.leaf_boxes import LeafBoxes
from dueto.counterfactuals.networks import LinearBounds

if TYPE_CHECKING:
    import numpy as np

    from dueto.counterfactuals.base import Answer, Judge, Method, Query

__all__ = ["Auto"]


@dataclass(frozen=True)
class Auto:
    """Leaf boxes for a tree, branch and bound for an ensemble, linear bounds for a network; for others GeCo finds, and
    every instance is tried where few are left.

    The answer's `by` says which it was. A rule shrinks the space, so the methods may differ from call to call: a search
    that finds nothing under a rule is followed by a proof wherever the rule leaves few enough instances.

    Parameters
    ----------
    structured : tuple of Method
        Exact methods for models whose structure is known, tried in this order; where their time does not suffice, the
        search goes on.
    search : Method
        For all others.
    exhaustive : Exhaustive
        Proves what the search could not find, or finds the nearest.
    """

    structured: tuple[Method, ...] = (LeafBoxes(), BranchAndBound(seconds=20.0), LinearBounds(seconds=10.0))
    search: Method = field(default_factory=GeCo)
    exhaustive: Exhaustive = field(default_factory=Exhaustive)
    name: str = "auto"

    def refuses(self, query: Query) -> str:  # noqa: ARG002
        """Never: the search answers what no exact method can."""
        return ""

    def judge(self, query: Query) -> Judge | None:
        """The first exact method that can be asked about many rules of the query, made ready; None if there is none."""
        for method in self.structured:
            if hasattr(method, "judge") and not method.refuses(query):
                found: Judge = method.judge(query)
                return found
        return None

    def find(self, query: Query, *, k: int, nearest: bool, rng: np.random.Generator) -> Answer:
        """The answer of the method that suits the query."""
        for method in self.structured:
            if not method.refuses(query):
                answer = method.find(query, k=k, nearest=nearest, rng=rng)
                if answer.status is not Status.UNKNOWN:
                    return answer
        few = not self.exhaustive.refuses(query)
        if few and nearest:
            return self.exhaustive.find(query, k=k, nearest=nearest, rng=rng)
        answer = self.search.find(query, k=k, nearest=nearest, rng=rng)
        if few and answer.status is Status.UNKNOWN:
            proof = self.exhaustive.find(query, k=k, nearest=nearest, rng=rng)
            return replace(proof, rows_scored=proof.rows_scored + answer.rows_scored)
        return answer
