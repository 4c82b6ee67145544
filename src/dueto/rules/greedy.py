"""GreedyRuleCF: grow the smallest rule by the counterfactuals that escape it, until none does."""

from __future__ import annotations

import heapq
import math
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from dueto.errors import InputError
from dueto.options import time_limit
from dueto.rule import Run, bits
from dueto.rules.cover import minimal_covers

if TYPE_CHECKING:
    from dueto.rule import Rule
    from dueto.rules.base import Oracle

__all__ = ["GreedyRuleCF", "reduced"]


@dataclass(frozen=True)
class GreedyRuleCF:
    """The smallest rule first: if a counterfactual satisfies it, replace it by its extensions that shut that one out.

    Use it with any counterfactual method; its rules are exactly as sure as the method's "none".

    Parameters
    ----------
    covers : int
        The most extensions made of one rule (smallest first).
    most : int
        After so many rules, only the last is grown, by its smallest extension: no rule is far from there.
    reduce : bool
        Whether to drop, at the end, each component without which the rule still has no counterfactual.
    seconds : float
        The longest it may look; a question that is being asked is not cut short. Then it gives the smallest rule that
        shuts out the counterfactuals found so far, and `Run.finished` is false.

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
    most: int = 100
    reduce: bool = True
    seconds: float = 300.0
    name: str = "greedy"

    def __post_init__(self) -> None:
        for option in ("covers", "most"):
            if getattr(self, option) < 1:
                raise InputError(f"GreedyRuleCF's {option} must be at least 1, got {getattr(self, option)}")
        time_limit(self.seconds)

    def find(self, oracle: Oracle) -> Rule:
        """The first rule that no known counterfactual satisfies, with its verdict."""
        population, made, looked = [(0, 0)], {0}, 0
        until = time.perf_counter() + self.seconds
        while time.perf_counter() < until:
            _, rule = heapq.heappop(population)
            looked += 1
            if not oracle.missed(rule):
                rule = reduced(oracle, rule, until) if self.reduce else rule
            if not (missed := oracle.missed(rule)):  # looking for shorter rules may have found what refutes this one
                return self._told(oracle, rule, looked, finished=time.perf_counter() < until)
            if not all(missed):
                raise InputError("no rule settles a refusal here: the row itself gets the desired outcome")
            if looked < self.most:
                larger = {rule | cover for cover in minimal_covers(missed, self.covers)} - made
                made |= larger
            else:
                population, larger = [], {rule | minimal_covers(missed, 1)[0]}
            for extension in larger:
                heapq.heappush(population, (extension.bit_count(), extension))
        rule = next(iter(minimal_covers(oracle.duals, 1)), 0)
        return self._told(oracle, rule, looked, finished=False)

    def _told(self, oracle: Oracle, rule: int, looked: int, *, finished: bool) -> Rule:
        verdict = oracle.verdict(rule)
        figures = {"rules": looked, "counterfactual calls": oracle.calls}
        return replace(oracle.components.rule(rule, verdict), run=Run(finished, figures))


def reduced(oracle: Oracle, rule: int, until: float = math.inf) -> int:
    """A rule without the components that can go one at a time; a proved one is not given up for one that is not.

    What a rule cannot lose, none of its parts can, so once through is enough; known counterfactuals settle most.
    """
    for bit in reversed(list(bits(rule))):
        if time.perf_counter() > until:
            break
        fewer = rule & ~(1 << bit)
        if not oracle.missed(fewer) and (oracle.proved(fewer) or not oracle.proved(rule)):
            rule = fewer
    return rule
