"""GreedyRuleCF: grow the smallest rule by the counterfactuals that escape it, until none does."""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dueto.errors import InputError
from dueto.rule import bits
from dueto.rules.cover import minimal_covers

if TYPE_CHECKING:
    from dueto.rule import Rule
    from dueto.rules.base import Oracle

__all__ = ["GreedyRuleCF"]


@dataclass(frozen=True)
class GreedyRuleCF:
    """The smallest rule first: if a counterfactual satisfies it, replace it by its extensions that shut that one out.

    Use it with any counterfactual method; its rules are exactly as sure as the method's "none".

    Parameters
    ----------
    covers : int
        The most extensions made of one rule (smallest first).
    reduce : bool
        Whether to drop, at the end, each component without which the rule still has no counterfactual.

    Notes
    -----
    POP starts as CFRules(∅). The smallest rule R of POP is returned if no counterfactual is found under it; otherwise
    it is replaced by CFRules(R): R joined with every minimal cover of the duals of the counterfactuals under R.
    Cardinalities only grow, so it ends.

    References
    ----------
    .. [1] Geng, Schleich and Suciu, "Computing Rule-Based Explanations by Leveraging Counterfactuals", PVLDB 16(3),
       2022, Algorithm 4.
    """

    covers: int = 20
    reduce: bool = True
    name: str = "greedy"

    def __post_init__(self) -> None:
        if self.covers < 1:
            raise InputError(f"GreedyRuleCF needs covers >= 1, got {self.covers}")

    def find(self, oracle: Oracle) -> Rule:
        """The first rule that no known counterfactual satisfies, with its verdict."""
        population, made = [(0, 0)], {0}
        while True:
            _, rule = heapq.heappop(population)
            missed = oracle.missed(rule)
            if not missed:
                break
            for cover in minimal_covers(missed, self.covers):
                larger = rule | cover
                if larger not in made:
                    made.add(larger)
                    heapq.heappush(population, (larger.bit_count(), larger))
        if self.reduce:
            rule = self.reduced(oracle, rule)
        return oracle.components.rule(rule, oracle.verdict(rule))

    def reduced(self, oracle: Oracle, rule: int) -> int:
        """Without the components that can go one at a time; a proved rule is not given up for one that is not.

        What a rule cannot lose, none of its parts can, so once through is enough; known counterfactuals settle most.
        """
        for bit in reversed(list(bits(rule))):
            fewer = rule & ~(1 << bit)
            if not oracle.missed(fewer) and (oracle.proved(fewer) or not oracle.proved(rule)):
                rule = fewer
        return rule
