"""MinimumRule: a rule that is proved to hold and than which no shorter one does."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from dueto.counterfactuals.base import Status
from dueto.errors import InputError
from dueto.rule import Least, bits
from dueto.rules.hitting import HittingSets, compiled

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from dueto.rule import Rule
    from dueto.rules.base import Oracle

__all__ = ["MinimumRule"]

FIRST = 200  # good rows of the data whose duals the search begins with
FEW = 20  # questions, and boxes looked at, that are no effort
UNIT = 1000  # the cost of a component of weight 1: weights are rounded to a thousandth
CALL = 1.0  # seconds for one question, once the time to look for the shortest rule is over


@dataclass(frozen=True)
class MinimumRule:
    """The shortest rule: a minimum hitting set of the duals of all counterfactuals, found without listing them all.

    Use it with an exact counterfactual method: then the rule is proved, and proved to be shortest. With a search, it
    is the shortest rule that the search could not refute.

    Parameters
    ----------
    counted : {"components", "conditions"}
        What is least: bounds, or conditions as a person reads them, where `a <= F <= b` is one.
    weights : mapping of feature to positive number, optional
        What a component (or condition) on a feature costs; 1 if not named. Features that the applicant understands, or
        should hear of first, get a small one.
    among : int
        Of so many shortest rules, the one that most refused rows of the data satisfy is given. Others than the first
        are looked for only as far as that takes no more questions, and no more boxes looked at, than it did.
    seconds : float
        The longest it may look for the shortest. Then it gives a proved rule that cannot lose a component, and how
        short one could still be.
    least : bool
        If false, that rule is given at once.
    progress : callable, optional
        Called after each question with the least that a rule can count, as proved so far, and the questions asked.

    Notes
    -----
    A rule is consistent exactly if it meets the dual of every counterfactual. So: R = a minimum hitting set of the
    duals known; ask the method for a counterfactual under R; if there is one, undo its changes as far as it stays
    one, add its dual, and go on; if there is none, R is consistent, and no consistent rule is shorter, since each
    meets the duals known.

    References
    ----------
    .. [1] Geng, Schleich and Suciu, "Computing Rule-Based Explanations by Leveraging Counterfactuals", PVLDB 16(3),
       2022, section 3 (duality).
    .. [2] Ignatiev, Morgado and Marques-Silva, "Propositional abduction with implicit hitting sets", ECAI 2016.
    """

    counted: Literal["components", "conditions"] = "components"
    weights: Mapping[str, float] = field(default_factory=dict)
    among: int = 20
    seconds: float = 30.0
    least: bool = True
    progress: Callable[[float, int], None] | None = None
    name: str = "minimum"

    def __post_init__(self) -> None:
        if self.counted not in ("components", "conditions"):
            raise InputError(f"counted must be 'components' or 'conditions', got {self.counted!r}")
        if not self.seconds >= 0:
            raise InputError(f"seconds must not be negative, got {self.seconds!r}")
        for feature, weight in self.weights.items():
            if not (np.isfinite(weight) and weight > 0):
                raise InputError(f"the weight of {feature!r} must be a positive number, got {weight!r}")

    def find(self, oracle: Oracle) -> Rule:
        """The rule, with its verdict and how far from the shortest it may be."""
        told = self._rules(oracle, among=self.among if oracle.rows is not None else 1)
        return self._told(oracle, *max(told, key=lambda rule: oracle.reach(rule[0])))

    def all(self, oracle: Oracle, *, limit: int = 100) -> list[Rule]:
        """All shortest rules, at most `limit` of them; one, if it is not proved to be shortest."""
        return [self._told(oracle, *rule) for rule in self._rules(oracle, among=limit, patience=np.inf)]

    def _rules(self, oracle: Oracle, *, among: int, patience: float = 1.0) -> Iterator[tuple[int, int]]:
        """Up to `among` shortest rules, as sets of components, each with the cost that no rule is below.

        After the first, the others are looked for only with `patience` times the effort that it took.
        """
        for feature in self.weights:
            oracle.query.space.index(feature)  # a feature that is not there is refused
        compiled()
        until = time.perf_counter() + self.seconds
        duals = oracle.first(FIRST)
        elements = self._elements(oracle)
        sets = self._sets(oracle, elements, duals)
        given, fresh, calls, boxes = 0, False, np.inf, np.inf
        while self.least and time.perf_counter() < until and oracle.calls < calls and oracle.boxes < boxes:
            chosen = sets.next(sets.bound if given else None, skip=fresh)
            if chosen is None and not given:
                raise InputError("no rule settles a refusal here: the row itself gets the desired outcome")
            if chosen is None:
                return
            rule = _union(elements, chosen)
            duals, status = oracle.escapes(rule, seconds=until - time.perf_counter())
            if self.progress is not None:
                self.progress(sets.bound / UNIT, oracle.calls)
            if any(not _over(elements, dual) for dual in duals):
                elements = self._elements(oracle, idle=True)
                sets = self._sets(oracle, elements, oracle.duals)
                continue
            for dual in duals:
                sets.add(_over(elements, dual))
            if status is Status.UNKNOWN and oracle.judge is not None:
                break  # what was found so far stands; else a rule that can be proved is better than this one
            fresh = not duals and status is not Status.FOUND
            if fresh and (status is Status.NONE or not given):
                if not given:
                    oracle.confirm(oracle.duals)
                    calls, boxes = ((1 + patience) * max(n, FEW) for n in (oracle.calls, oracle.boxes))
                given += 1
                yield rule, sets.bound
            if given >= among or (fresh and status is Status.UNKNOWN):
                return
        if not given:
            sets.next()  # to know how short a rule could be
            rule = self._irredundant(oracle)
            oracle.confirm(oracle.duals)
            yield rule, sets.bound

    def _sets(self, oracle: Oracle, elements: list[int], duals: Iterable[int]) -> HittingSets:
        sets = [_over(elements, dual) for dual in duals]
        if not all(sets):
            elements[:] = self._elements(oracle, idle=True)
            sets = [_over(elements, dual) for dual in duals]
        return HittingSets([self._cost(oracle, mask) for mask in elements], sets)

    def _elements(self, oracle: Oracle, *, idle: bool = False) -> list[int]:
        """What a rule is put together from: single components, or both of a feature.

        Those that hold of nobody whom the constraints allow say nothing: they are left out, unless nothing else is
        consistent (`idle`).
        """
        every = list(bits(oracle.components.all & ~(0 if idle else oracle.must)))
        if self.counted == "components":
            return [1 << bit for bit in every]
        return [sum(1 << b for b in every if b // 2 == j) for j in sorted({b // 2 for b in every})]

    def _cost(self, oracle: Oracle, mask: int) -> int:
        name = oracle.query.space.names[next(bits(mask)) // 2]
        return max(1, round(UNIT * float(self.weights.get(name, 1.0))))

    def _irredundant(self, oracle: Oracle) -> int:
        """A proved rule without the components that it can lose one by one, those first that few duals need.

        They are tried in blocks, each halved where it cannot go: what is left is the same, after fewer questions.
        """
        rule = oracle.components.all & ~oracle.must
        if not all(rule & dual for dual in oracle.duals):
            rule = oracle.components.all
        needed = {bit: sum(dual >> bit & 1 for dual in oracle.duals) for bit in bits(rule)}
        blocks = [sorted(needed, key=lambda b: (needed[b], b))]
        while blocks:
            block = blocks.pop()
            fewer = rule & ~sum(1 << bit for bit in block)
            if all(fewer & dual for dual in oracle.duals):
                duals, status = oracle.escapes(fewer, seconds=CALL)
                if not duals and (status is Status.NONE or not oracle.proved(rule)):
                    rule = fewer
                    continue
            if len(block) > 1:
                blocks += [block[len(block) // 2 :], block[: len(block) // 2]]
        return rule

    def _told(self, oracle: Oracle, rule: int, bound: int) -> Rule:
        if self.counted == "conditions":  # a bound that a condition does not need only narrows it
            for bit in reversed(list(bits(rule))):
                fewer = rule & ~(1 << bit)
                if rule >> (bit ^ 1) & 1 and not oracle.escapes(fewer)[0] and oracle.proved(fewer):
                    rule = fewer
        parts = [rule & mask for mask in self._elements(oracle, idle=True) if rule & mask]
        least = Least(self.counted, sum(self._cost(oracle, part) for part in parts) / UNIT, bound / UNIT)
        return replace(oracle.components.rule(rule, oracle.verdict(rule)), least=least)


def _over(elements: list[int], dual: int) -> int:
    """A dual as a set of elements."""
    return sum(1 << i for i, mask in enumerate(elements) if mask & dual)


def _union(elements: list[int], chosen: int) -> int:
    return sum(elements[i] for i in bits(chosen))
