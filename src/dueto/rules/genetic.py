"""GeneticRule and GeneticRuleCF: rules that grow by mutation and crossover, the fittest of which survive."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from dueto.errors import InputError
from dueto.options import time_limit, whole
from dueto.rule import Run, bits
from dueto.rules.cover import minimal_covers
from dueto.rules.flags import unpacked
from dueto.rules.greedy import reduced
from dueto.rules.population import CONSISTENT, Late, Population, Trial, crossed, mutated

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from dueto.rule import Rule
    from dueto.rules.base import Oracle

__all__ = ["GeneticRule", "GeneticRuleCF"]

PATIENCE = 20  # generations in which the first k become no fitter, after which no better ones are expected
EVERY = 3  # generations between two in which all rules are grown by counterfactuals


@dataclass(frozen=True)
class GeneticRule:
    """A genetic search that asks no counterfactual method: rules are tried on the data and on random applicants.

    Use it where counterfactuals are dear. Only `s` applicants are looked at, so that the rule may well be false; its
    verdict is asked of the counterfactual method at the end.

    Parameters
    ----------
    q : int
        Rules kept in each generation.
    k : int
        Rules that must stand before the search is over: the first is the rule, the rest are `Run.others`.
    s : int
        Applicants drawn under each rule that the data does not refute.
    m, c : int
        Children of each rule by mutation, and of each pair of rules by crossover.
    look : int
        Of the s applicants, how many come first. Only where none of them is good are the others drawn: a rule that is
        false is then known by the share of good ones among the first. The paper draws all s: look = s.
    generations : int
        The most.
    seconds : float
        The longest; then it gives the best rule so far, and `Run.finished` is false.

    Notes
    -----
    POP = the rules of no and of one component. Repeat: CAND = mutations and crossovers of POP, POP = the q fittest of
    POP and CAND; until the first k of POP have passed all trials (`fitness` at least .75) and none of them is new. A
    rule of no component, which is right where everybody is refused, is not in the paper's first POP. A rule that a
    known counterfactual satisfies counts as one with a good applicant among those drawn.

    References
    ----------
    .. [1] Geng, Schleich and Suciu, "Computing Rule-Based Explanations by Leveraging Counterfactuals", PVLDB 16(3),
       2022, Algorithms 1 to 3.
    """

    q: int = 50
    k: int = 5
    s: int = 1000
    m: int = 3
    c: int = 2
    look: int = 100
    generations: int = 1000
    seconds: float = 60.0
    name: str = "genetic"

    def __post_init__(self) -> None:
        for option in ("q", "k", "s", "m", "c", "look", "generations"):
            whole(option, getattr(self, option))
        if self.k > self.q:
            raise InputError(f"k, the rules that must stand, is at most q, the rules kept; got k={self.k}, q={self.q}")
        time_limit(self.seconds)

    def find(self, oracle: Oracle) -> Rule:
        """The fittest rule, with its verdict and how the search went."""
        return _Search(self, oracle).run()

    def cf_rules(self, oracle: Oracle, rules: Iterable[int]) -> set[int]:  # noqa: ARG002
        """Rules grown of others by the counterfactuals under them: none."""
        return set()

    def consistent(self, oracle: Oracle, rules: Iterable[int]) -> bool:  # noqa: ARG002
        """Whether none of some rules that passed all trials has a counterfactual: not asked."""
        return True

    def reduced(self, oracle: Oracle, rule: int) -> int:  # noqa: ARG002
        """The best rule without what it can lose: as it is."""
        return rule


@dataclass(frozen=True)
class GeneticRuleCF(GeneticRule):
    """GeneticRule that grows its rules by the counterfactuals that escape them, too.

    Use it with any counterfactual method; its rules are exactly as sure as the method's "none".

    Parameters
    ----------
    counterfactuals, covers : int
        The most duals of counterfactuals that one rule is made to meet at a time, and the most extensions made of it.
    reduce : bool
        Whether to drop, at the end, each component without which the rule still has no counterfactual.

    Notes
    -----
    For the other parameters see `GeneticRule`. CFRules(R) is R joined with each minimal cover of the duals of the
    counterfactuals under R. The first POP holds CFRules of the rules of one component, and CAND those of POP in every
    third generation and whenever no good row of the data satisfies one of the first k. They must have no
    counterfactual either before the search is over.
    """

    counterfactuals: int = 10
    covers: int = 20
    reduce: bool = True
    name: str = "genetic-cf"

    def __post_init__(self) -> None:
        super().__post_init__()
        whole("counterfactuals", self.counterfactuals)
        whole("covers", self.covers)

    def cf_rules(self, oracle: Oracle, rules: Iterable[int]) -> set[int]:
        """CFRules of some rules."""
        found = set()
        for rule in rules:
            missed = sorted(oracle.missed(rule), key=int.bit_count)[: self.counterfactuals]
            found |= {rule | cover for cover in minimal_covers(missed, self.covers)} if missed else set()
        return found

    def consistent(self, oracle: Oracle, rules: Iterable[int]) -> bool:
        """Whether none of some rules has a counterfactual."""
        return not any(oracle.missed(rule) for rule in rules)

    def reduced(self, oracle: Oracle, rule: int) -> int:
        """The best rule without the components that can go one at a time."""
        return reduced(oracle, rule) if self.reduce else rule


class _Search:
    """One run."""

    def __init__(self, options: GeneticRule, oracle: Oracle) -> None:
        self.options, self.oracle, self.n_bits = options, oracle, 2 * len(oracle.query.x)
        self.before, self.until = oracle.query.model.rows_scored, time.perf_counter() + options.seconds
        self.history: list[dict[str, Any]] = []
        self.trial = Trial(oracle, options.s, options.look, self.until)
        self.population = Population(self.trial, options.q)
        self.usable = oracle.components.all & ~oracle.must

    def run(self) -> Rule:
        """The best rule when the first k stand, when no more rules can be made, or when time is up."""
        oracle, k = self.oracle, self.options.k
        try:
            best = self.evolved()
        except Late:
            best = None
        finished = best is not None
        if best is None:
            best = [*self.population.rules(1), self.usable][0]
        verdict = oracle.verdict(best)
        figures = {
            "generations": len(self.history) - 1,
            "rules": self.population.explored,
            "counterfactual calls": oracle.calls,
            "rows scored": oracle.query.model.rows_scored - self.before,
        }
        others = [oracle.components.rule(rule) for rule in self.population.rules(k) if rule != best][: k - 1]
        run = Run(finished, figures, tuple(self.history), tuple(others))
        return replace(oracle.components.rule(best, verdict), run=run)

    def evolved(self) -> int | None:
        """Generations until the first k stand; None if there are too many."""
        population, k = self.population, self.options.k
        if self.oracle.must and self.escaped(self.usable):
            self.usable = self.oracle.components.all
        single = [1 << bit for bit in bits(self.usable)]
        self.admit(unpacked([0, *single, *self.cf_rules(single)], self.n_bits), 0)
        stale, fittest = 0, 0.0
        for generation in range(1, self.options.generations + 1):
            self.admit(population.new(self.varied(generation)), generation)
            if self.passed() and (population.born[:k] < generation).all():
                best = self.standing(population.rules(k))
                if best is not None:
                    return best
            fit = float(population.fit[:k].sum())
            stale, fittest = (0, fit) if fit > fittest else (stale + 1, fittest)
            if stale == PATIENCE:
                return self.remaining()
        return None

    def passed(self) -> bool:
        """Whether the first k passed all trials."""
        top = self.population.fit[: self.options.k]
        return len(top) == self.options.k and bool((top >= CONSISTENT).all())

    def varied(self, generation: int) -> NDArray[np.bool_]:
        """The children of the q fittest."""
        population, options, rng = self.population, self.options, self.oracle.rng
        parents, usable = population.has[: options.q], unpacked([self.usable], self.n_bits)
        grow = generation % EVERY == 0 or (population.vd[: options.k] == 0).all()
        grown = self.cf_rules(population.rules(options.q)) if grow else []
        children = mutated(parents, usable, options.m, rng), crossed(parents, options.c, rng)
        return np.vstack([*children, unpacked(grown, self.n_bits)])

    def cf_rules(self, rules: list[int]) -> list[int]:
        """What the counterfactual method makes of some rules."""
        return sorted(self.options.cf_rules(self.oracle, self.in_time(rules)))

    def in_time(self, rules: list[int]) -> Iterator[int]:
        """One rule after the other, as long as there is time."""
        for rule in rules:
            if time.perf_counter() > self.until:
                raise Late
            yield rule

    def admit(self, children: NDArray[np.bool_], generation: int) -> None:
        """Try the children, but for those that change nothing; and note how the generation looks."""
        population, k = self.population, self.options.k
        population.rank()
        if not self.passed() or (population.bound(children) > population.fit[k - 1]).any():
            population.admit(children, generation)
        fit = population.fit[: self.options.q]
        levels = {"FDC": fit < 0.25, "FGC": (fit >= 0.25) & (fit < CONSISTENT), "GC": fit >= CONSISTENT}
        told = {"generation": generation, "best": float(fit[0]), "median": float(np.median(fit))}
        told |= {level: int(which.sum()) for level, which in levels.items()}
        self.history.append(told | {"size": int(population.size[0]), "rules": population.explored})

    def standing(self, rules: list[int]) -> int | None:
        """The first of some rules that passed all trials, reduced; None if one of them has a counterfactual."""
        if self.options.consistent(self.oracle, self.in_time(rules)):
            best = self.options.reduced(self.oracle, rules[0])
            if self.options.consistent(self.oracle, [best]):  # looking for shorter rules may have refuted it
                return best
        return None

    def remaining(self) -> int | None:
        """When the population leads nowhere: the first rule that stands; the last resort has all components."""
        self.population.rank()
        passed = int((self.population.fit >= CONSISTENT).sum())
        every = [*self.population.rules(passed), self.usable]
        return next((best for rule in every if (best := self.standing([rule])) is not None), None)

    def escaped(self, rule: int) -> bool:
        """Whether the data, draws or counterfactuals show that a rule does not hold."""
        has = unpacked([rule], self.n_bits)
        refuted = self.trial.violations(has)[0] or self.trial.shares(has)[0]
        return bool(refuted) or not self.options.consistent(self.oracle, [rule])
