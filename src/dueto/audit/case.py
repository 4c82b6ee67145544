"""One applicant, or nobody in particular: what each rule about them is worth, and how that is known."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from dueto.audit.found import Category, Judgement
from dueto.counterfactuals.base import Answer, Status
from dueto.counterfactuals.branch_and_bound import BranchAndBound
from dueto.counterfactuals.conflict import SECONDS, accepting
from dueto.counterfactuals.exhaustive import Exhaustive, instances
from dueto.counterfactuals.units import contradiction, crossing
from dueto.errors import InputError
from dueto.plaf import Fixed, Ref, walk
from dueto.rule import Rule, Standing
from dueto.rules import MinimumRule, Oracle
from dueto.rules.hitting import cheapest
from dueto.rules.scope import within

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dueto.box import Box
    from dueto.counterfactuals.base import Method, Query
    from dueto.explain import Explainer
    from dueto.explanation import Support
    from dueto.rule import Component

__all__ = ["Case"]

FEW = 10  # counterexamples asked for at once: they answer for other rules
FIRST = 200  # of a black box too large to enumerate, the duals that tell how short a rule could be
NO_ROW, NOBODY = "no row of the data meets it", "no possible applicant whom the constraints allow meets it"
DATA, EARLIER = "a look at the data", "an example found before"


@dataclass(eq=False)
class Case:
    """One applicant, or nobody in particular, and what was found out so far, for all rules about them."""

    explainer: Explainer
    x: NDArray[np.float64] | None
    seconds: float
    rng: np.random.Generator
    found: list[NDArray[np.float64]] = field(default_factory=list)

    @cached_property
    def query(self) -> Query:
        """The question without a rule."""
        query = self.explainer.query(_anybody(self.explainer) if self.x is None else self.x)
        self.explainer.check(query)
        return query

    @cached_property
    def method(self) -> Method:
        """The counterfactual method, within the time."""
        return within(self.explainer.method, self.seconds)

    @cached_property
    def data(self) -> NDArray[np.intp]:
        """Positions, among the distinct rows, of those that are accepted and feasible, the nearest first."""
        good = np.flatnonzero(self.explainer.good)
        good = good[self.query.plausible(self.explainer.distinct[good])]
        away = np.zeros(len(good)) if self.x is None else self.query.distances(self.explainer.distinct[good])
        return good[np.lexsort((self.first[good], away))]

    @cached_property
    def examples(self) -> NDArray[np.float64]:
        """Those rows, encoded."""
        return self.explainer.distinct[self.data]

    @cached_property
    def first(self) -> NDArray[np.intp]:
        """Where each distinct row first stands in the data."""
        return np.unique(self.explainer.which, return_index=True)[1]

    def judge(self, rule: Rule, label: str, notes: list[str]) -> Judgement:
        """The category of a rule."""
        explainer = self.explainer
        box, support = rule.box(explainer.space), explainer.support(rule)
        inside = np.flatnonzero(box.contains(self.examples))
        told = Judgement(
            rule=rule,
            category=Category.UNREFUTED,
            proved=True,
            by=DATA,
            rows_scored=0,
            support=support,
            barred=support.accepted - int(explainer.counts[self.data[inside]].sum()),
            label=label,
            applicant=None if self.x is None else self._named(self.x),
            warnings=(*notes, *self._warnings(box, support, label)),
        )
        if self.x is not None and not box.contains(self.x[None])[0]:
            broken = (c for c in rule if not Rule((c,)).box(explainer.space).contains(self.x[None])[0])
            return replace(told, category=Category.NOT_RELEVANT, by="its conditions", broken=tuple(broken))
        if len(inside):
            row = int(self.data[inside[0]])
            example = self._named(explainer.distinct[row])
            return replace(told, category=Category.FDC, counterexample=example, data_row=int(self.first[row]))
        before = explainer.model.rows_scored
        answer = self._ask(box)
        told = replace(told, by=answer.by, rows_scored=explainer.model.rows_scored - before)
        if len(answer):
            return replace(told, category=Category.FGC, counterexample=self._named(answer.X[0]))
        if answer.status is not Status.NONE:
            return replace(told, proved=False)
        if NOBODY not in told.warnings and self._meets_nobody(box):
            told = replace(told, warnings=(NOBODY, *(warning for warning in told.warnings if warning != NO_ROW)))
        told = self._shortened(told)
        return replace(told, rows_scored=explainer.model.rows_scored - before)

    def _warnings(self, box: Box, support: Support, label: str) -> list[str]:
        found = []
        if contradiction(self.query, self.query.under(box).units(np.random.default_rng(0))):
            found.append(NOBODY)
        elif not support.refused + support.accepted:
            found.append(NO_ROW)
        if self.x is not None and self._accepted:
            found.append(f"{label or 'the row'} is accepted as it is; to audit rules about that, name the other class")
        return found

    @cached_property
    def _free(self) -> Query:
        """The question whether the constraints allow anybody, whatever the model says."""
        model = accepting(self.explainer.space)
        return replace(self.query, model=model, donors=self.query.x[None], inside=None, memo={})

    def _meets_nobody(self, box: Box) -> bool:
        """Whether it is proved that the constraints between features leave nobody in the box."""
        query = self._free.under(box)
        if query.plausible(np.vstack([query.x, self.explainer.distinct])).any():
            return False
        method = BranchAndBound(seconds=min(self.seconds, SECONDS))
        if method.refuses(self._free) or not crossing(query, query.units(np.random.default_rng(0))):
            return False
        return method.judge(self._free).escape(box).status is Status.NONE

    @cached_property
    def _accepted(self) -> bool:
        return self.x is not None and bool(self.explainer.model.good(self.x[None])[0])

    @cached_property
    def _own(self) -> NDArray[np.float64]:
        """The row itself, if it is accepted and feasible."""
        if self.x is None or not self._accepted:
            return self.examples[:0]
        return self.x[None][self.query.plausible(self.x[None])]

    def _shortened(self, told: Judgement) -> Judgement:
        """What a consistent rule says too much."""
        parts, undecided = self._tightest(told.rule), False
        for i in sorted(parts, key=lambda i: self._shut_out(Rule((told.rule.components[i],)))):
            fewer = Rule(tuple(part for at, part in parts.items() if at != i))
            status = self._ask(fewer.box(self.explainer.space)).status
            if status is Status.NONE:
                del parts[i]
            undecided |= status is Status.UNKNOWN
        if len(parts) < len(told.rule):
            redundant = tuple(part for i, part in enumerate(told.rule) if i not in parts)
            more = ("whether more of it could go is not known",) if undecided else ()
            return replace(told, category=Category.REDUNDANT, redundant=redundant, warnings=told.warnings + more)
        if undecided:
            return replace(told, category=Category.CONSISTENT, proved=False)
        if self.x is None:
            return replace(told, category=Category.MINIMAL)
        at_least, shorter = self._least
        told = replace(told, at_least=min(at_least, len(told.rule)))
        if shorter is not None and len(shorter) < len(told.rule):
            return replace(told, category=Category.NOT_MINIMAL, shorter=shorter)
        if at_least >= len(told.rule):
            return replace(told, category=Category.MINIMAL)
        return replace(told, category=Category.CONSISTENT, proved=False)

    def _tightest(self, rule: Rule) -> dict[int, Component]:
        """The components, by position, without those that another one implies: of `a <= 1` and `a <= 2` the first."""
        kept: dict[Any, tuple[float, int]] = {}
        for i, c in enumerate(rule):
            code = 0.0 if c.op == "=" else self.explainer.space[c.feature].code(c.value)
            key, tight = (c.feature, c.op, c.value if c.op == "=" else 0), (-code if c.op == "<=" else code, i)
            kept[key] = max(kept.get(key, tight), tight)
        return {i: rule.components[i] for _, i in kept.values()}

    def _shut_out(self, rule: Rule) -> int:
        """How many accepted rows do not meet a rule."""
        return int((~rule.box(self.explainer.space).contains(self.examples)).sum())

    def _ask(self, box: Box) -> Answer:
        """Whether a feasible accepted applicant is in the box: what is known answers first, then the method."""
        for X, by in ((self._own, "the row itself"), (self.examples, DATA), *((X, EARLIER) for X in self.found)):
            inside = X[box.contains(X)]
            if len(inside):
                return Answer(Status.FOUND, inside, self.query.distances(inside), by, 0)
        answer = self.method.find(self.query.under(box), k=FEW, nearest=False, rng=self.rng)
        self.found.append(answer.X)
        return answer

    @cached_property
    def _least(self) -> tuple[int, Rule | None]:
        """How few components a consistent rule over the row's own values has, at least; and a proved one, short."""
        small = getattr(self.method, "exhaustive", self.method)
        query = self.query.knowing(np.vstack([self.examples[:0], *self.found]))
        oracle = Oracle(query, self.method, self.rng)
        if oracle.judge is None:
            if not isinstance(small, Exhaustive) or small.refuses(query):
                duals = oracle.first(FIRST)
                chosen = cheapest(np.ones(2 * len(query.x), dtype=np.int64), duals) if all(duals) else None
                return 0 if chosen is None else chosen.bit_count(), None
            everybody = instances(query, query.units(self.rng))
            every = np.vstack([self.examples[:0], *(X[query.accepts(X)] for X in everybody)])
            oracle = Oracle(query.knowing(every), small, self.rng)
        rule = MinimumRule(seconds=self.seconds).find(oracle)
        proved = rule.verdict is not None and rule.verdict.standing is Standing.PROVED
        return int(np.ceil(rule.least.at_least)) if rule.least else 0, rule if proved else None

    def _named(self, y: NDArray[np.float64]) -> dict[str, Any]:
        return {f.name: f.label(value) for f, value in zip(self.explainer.space.features, y, strict=True)}


def _anybody(explainer: Explainer) -> NDArray[np.float64]:
    """A row of the data to ask from, where the rules are about nobody in particular: a refused one, if there is.

    What it is does not matter: it is in the space, and no constraint speaks of it.
    """
    for constraint in explainer.constraints:
        if any(isinstance(e, Fixed) or (isinstance(e, Ref) and e.side == "x") for e in walk(constraint)):
            raise InputError(f"the constraint {constraint} speaks of the present applicant; give the row")
    inside = explainer.space.contains(explainer.distinct)
    if not inside.any():
        raise InputError("no row of the data lies in the space that was declared; give the row, or widen the space")
    refused = inside & ~explainer.good
    x: NDArray[np.float64] = explainer.distinct[np.argmax(refused if refused.any() else inside)]
    return x
