"""The method that suits the query: exact where that is possible, else the search."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from dueto.counterfactuals.exhaustive import Exhaustive
from dueto.counterfactuals.geco import GeCo
from dueto.counterfactuals.leaf_boxes import LeafBoxes

if TYPE_CHECKING:
    import numpy as np

    from dueto.counterfactuals.base import Answer, Method, Query

__all__ = ["Auto"]


@dataclass(frozen=True)
class Auto:
    """Ask the first method that does not refuse: leaf boxes for a tree, every instance where few are left, else GeCo.

    The answer's `by` says which it was. A rule shrinks the space, so the methods may differ from call to call.
    """

    methods: tuple[Method, ...] = field(default_factory=lambda: (LeafBoxes(), Exhaustive(), GeCo()))
    name: str = "auto"

    def refuses(self, query: Query) -> str:
        """Why no method can answer, or empty."""
        reasons = [method.refuses(query) for method in self.methods]
        return "" if "" in reasons else "; ".join(reasons)

    def find(self, query: Query, *, k: int, nearest: bool, rng: np.random.Generator) -> Answer:
        """The answer of the first method that can."""
        chosen = next(method for method in self.methods if not method.refuses(query))
        return chosen.find(query, k=k, nearest=nearest, rng=rng)
