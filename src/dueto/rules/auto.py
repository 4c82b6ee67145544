"""The finder that suits the query: the shortest rule where it can be proved, else the search's."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from dueto.rules.greedy import GreedyRuleCF
from dueto.rules.minimum import MinimumRule

if TYPE_CHECKING:
    from dueto.rule import Rule
    from dueto.rules.base import Oracle

__all__ = ["AutoRule"]


@dataclass(frozen=True)
class AutoRule:
    """The shortest rule, proved, where the counterfactual method is exact for the model; else GreedyRuleCF.

    Parameters
    ----------
    exact : MinimumRule
        For models whose structure is known.
    search : GreedyRuleCF
        For all others: it asks few questions, each of which costs a search.
    """

    exact: MinimumRule = field(default_factory=MinimumRule)
    search: GreedyRuleCF = field(default_factory=GreedyRuleCF)
    name: str = "auto"

    def suited(self, oracle: Oracle) -> MinimumRule | GreedyRuleCF:
        """Which of the two it is."""
        return self.search if oracle.judge is None else self.exact

    def find(self, oracle: Oracle) -> Rule:
        """The rule, with its verdict."""
        return self.suited(oracle).find(oracle)
