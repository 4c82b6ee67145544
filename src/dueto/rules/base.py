"""What every rule finder is given, and the oracle that all of them ask."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np

from dueto.counterfactuals.base import Status
from dueto.errors import InputError
from dueto.index import Index
from dueto.rule import Components, Standing, Verdict, joined, to_sets

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from dueto.counterfactuals.base import Answer, Judge, Method, Query
    from dueto.rule import Rule
    from dueto.rules.draws import Rows

__all__ = ["Finder", "Oracle"]


class Oracle:
    """Has this rule a counterfactual? Every answer is remembered, and known counterfactuals answer first.

    A rule is asked about in order of cost: the duals of counterfactuals already found; the feasible good rows of the
    data, by the bit-packed index; the counterfactual method, once a rule.

    Parameters
    ----------
    query : Query
        The query without a rule; its `donors` are the good rows of the data.
    method : Method
        Searches under a rule.
    rng : Generator
        For methods that draw.
    k : int
        Counterfactuals asked for in one call (10 in the paper; more cost little and spare calls).
    rows : Rows, optional
        The distinct rows of the data: finders count rules on them, and of rules that are otherwise as good may choose
        the one that speaks of most of the refused.

    Attributes
    ----------
    duals : list of int
        Inclusion-minimal duals of all counterfactuals known: a consistent rule meets each of them.
    calls : int
        How often the method was asked.
    boxes : int
        How many boxes of instances it looked at, where it bounds boxes.
    exceptions : dict of int to (n,) float64
        For each dual found, a counterfactual that has it.
    """

    def __init__(
        self,
        query: Query,
        method: Method,
        rng: np.random.Generator,
        *,
        k: int = 100,
        rows: Rows | None = None,
    ) -> None:
        self.query, self.method, self.rng, self.k, self.rows = query, method, rng, k, rows
        self.components = Components(query.space, query.x)
        self.index = Index(self.components, query.within_reach)
        self.duals: list[int] = []
        self.calls = self.boxes = 0
        self._answers: dict[int, Answer] = {}
        self._found: dict[int, list[int]] = {}
        self._settled: list[int] = []
        self.exceptions: dict[int, NDArray[np.float64]] = {}

    def reach(self, chosen: int) -> int:
        """How many refused rows of the data satisfy the rule made of a set of components; 0 if they are not known."""
        if self.rows is None:
            return 0
        met = self.components.box(chosen).contains(self.rows.X) & ~self.rows.good
        return int(self.rows.counts[met].sum())

    @cached_property
    def must(self) -> int:
        """The components that are true of nobody whom the constraints allow: some feature has to change out of them."""
        forced = 0
        for unit in self.query.units(np.random.default_rng(0)):
            if not unit.keep and unit.listed and len(unit.values):
                failing = self.components.failing(unit.values, unit.members)
                forced |= sum(1 << bit for bit, fails in failing if fails.all())
        return forced

    def missed(self, chosen: int) -> list[int]:
        """The duals of some counterfactuals under the rule, inclusion-minimal; empty if none is found.

        A rule with a component of `must` would be true of nobody allowed, and say nothing; so these components are left
        out of every dual that has others.
        """
        return [dual & ~self.must or dual for dual in self._missed(chosen)]

    def _missed(self, chosen: int) -> list[int]:
        if known := [dual for dual in self.duals if not dual & chosen]:
            return known
        self._settled = [rule for rule in self._settled if all(rule & dual for dual in self.duals)]
        if any(rule & chosen == rule for rule in self._settled):
            return []  # of a rule without a counterfactual, none of the narrower ones has one
        if len(rows := self.index.exceptions(chosen, self.k)):
            self.learn(self.index.X[rows])
        else:
            self.ask(chosen)
        found = [dual for dual in self.duals if not dual & chosen]
        if not found:
            self._settled.append(chosen)
        return found

    def first(self, limit: int) -> list[int]:
        """Inclusion-minimal duals of the feasible good rows of the data, the changes undone that can be."""
        X = self.index.X[self.index.exceptions(0, limit)]
        if len(X):
            self.learn(X if self.judge is None else self.judge.undo(X))
        return self.duals

    def escapes(self, chosen: int, *, seconds: float = np.inf) -> tuple[list[int], Status]:
        """Duals of counterfactuals under the rule, and whether there are some: FOUND, NONE (proved) or UNKNOWN."""
        if self.judge is None:
            duals = self._missed(chosen)
            return duals, Status.FOUND if duals else self.ask(chosen).status
        answer = self.ask(chosen, seconds=seconds)
        return self._found[chosen], answer.status

    @cached_property
    def judge(self) -> Judge | None:
        """The exact method made ready to be asked about many rules, if the method has or is one that can be."""
        make = getattr(self.method, "judge", None)
        found: Judge | None = None if make is None else make(self.query)
        return found

    def ask(self, chosen: int, *, seconds: float | None = None) -> Answer:
        """The method's answer under the rule, asked once; `seconds` bounds the time of a method that can be judge."""
        if chosen not in self._answers:
            self.calls += 1
            box = self.components.box(chosen)
            if self.judge is None:
                answer = self.method.find(self.query.under(box), k=self.k, nearest=False, rng=self.rng)
            else:
                answer = self.judge.escape(box, seconds=seconds)
            self.boxes += answer.boxes
            self._found[chosen] = self.learn(answer.X)
            self._answers[chosen] = answer
        return self._answers[chosen]

    def proved(self, chosen: int) -> bool:
        """Whether the method proves that no counterfactual satisfies the rule."""
        return self.ask(chosen).status is Status.NONE

    def verdict(self, chosen: int) -> Verdict:
        """How the rule stands, from what has been found."""
        for dual, y in self.exceptions.items():
            if not dual & chosen:
                return Verdict(Standing.REFUTED, self.method.name, 0, self.raw(y))
        answer = self.ask(chosen)
        if len(answer):
            return Verdict(Standing.REFUTED, answer.by, answer.rows_scored, self.raw(answer.X[0]))
        standing = Standing.PROVED if answer.status is Status.NONE else Standing.UNREFUTED
        return Verdict(standing, answer.by, answer.rows_scored)

    def confirm(self, duals: Iterable[int]) -> None:
        """See to it that the model itself accepts the counterfactuals behind some duals: a judge knows only its
        structure.

        Raises
        ------
        InputError
            If it does not: then nothing that was proved holds.
        """
        Y = np.array([self.exceptions[dual] for dual in duals]).reshape(-1, len(self.query.x))
        wrong = ~self.query.accepts(Y)
        if wrong.any():
            row = self.raw(Y[np.argmax(wrong)])
            if self.query.model.structure is None:
                raise InputError(
                    f"the model {self.query.model.name!r} gave the row {row} different scores at different times; "
                    "give a function whose score of a row depends on nothing but that row"
                )
            raise InputError(
                f"the structure read from the model {self.query.model.name!r} disagrees with its predictions on the "
                f"row {row}; wrap its predict function, so that it is taken as a black box"
            )

    def learn(self, X: NDArray[np.float64]) -> list[int]:
        """Remember counterfactuals; their duals."""
        found = to_sets(self.components.duals(X))
        self.exceptions.update(zip(found, X, strict=True))
        self.duals = joined(self.duals, found)
        return found

    def raw(self, y: NDArray[np.float64]) -> dict[Any, Any]:
        """An encoded row, feature by feature, as the user knows it."""
        features = zip(self.query.space.features, y, strict=True)
        return {feature.name: feature.label(value) for feature, value in features}


@runtime_checkable
class Finder(Protocol):
    """A way to find a rule. To add one, see the guide "add a method"."""

    @property
    def name(self) -> str:
        """How reports call it."""
        ...

    def find(self, oracle: Oracle) -> Rule:
        """The rule, with its verdict."""
        ...
