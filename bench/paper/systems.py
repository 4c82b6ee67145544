"""The paper's rule systems as the experiments run them, and what is noted of each run."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from bench.quality.first_answer import Watched

from dueto.counterfactuals import Answer, Auto, GeCo, Status
from dueto.rules import (
    Anchor,
    GeneticRule,
    GeneticRuleCF,
    GreedyRuleCF,
    MinimumRule,
    MinSetCover,
    Oracle,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from dueto.counterfactuals import Method, Query
    from dueto.rule import Rule
    from dueto.rules import Finder
    from dueto.rules.draws import Rows


@dataclass(frozen=True)
class Unasked:
    """No counterfactual method: for the systems that have none, so that no verdict is in their time."""

    name: str = "unasked"

    def refuses(self, query: Query) -> str:  # noqa: ARG002
        return ""

    def find(self, query: Query, *, k: int, nearest: bool, rng: np.random.Generator) -> Answer:  # noqa: ARG002
        return Answer(Status.UNKNOWN, np.empty((0, len(query.x))), np.empty(0), self.name, 0)


SYSTEMS: dict[str, tuple[Callable[[], Finder], Callable[[], Method]]] = {
    "GreedyRuleCF": (GreedyRuleCF, GeCo),
    "GeneticRuleCF": (GeneticRuleCF, GeCo),
    "GeneticRule": (GeneticRule, Unasked),
    "Anchor": (Anchor, Unasked),
    "MinSetCover": (MinSetCover, Unasked),
    "GreedyRuleCF, exact": (GreedyRuleCF, Auto),
    "MinimumRule": (MinimumRule, Auto),
}
PAPERS = ("GreedyRuleCF", "GeneticRuleCF", "GeneticRule", "Anchor", "MinSetCover")


def solved(query: Query, rows: Rows, finder: Finder, method: Method, seed: int) -> tuple[Rule, dict[str, Any]]:
    """The rule of a system, and what it took."""
    watched = Watched(method, [])
    asked: Any = watched
    if hasattr(method, "judge"):  # an exact method made ready for many rules answers without `find`
        asked = method
    before, start, cpu = query.model.rows_scored, time.perf_counter(), time.process_time()
    oracle = Oracle(query, asked, np.random.default_rng(seed), rows=rows)
    rule = finder.find(oracle)
    figures = dict(rule.run.figures) if rule.run is not None else {}
    return rule, {
        "seconds": time.perf_counter() - start,
        "cpu_seconds": time.process_time() - cpu,
        "rows_scored": query.model.rows_scored - before,
        "calls": oracle.calls if not isinstance(method, Unasked) else 0,
        "call_seconds": sum(seconds for seconds, _ in watched.calls),
        "finished": rule.run is None or rule.run.finished,
        "length": len(rule),
        "rule": str(rule),
        "figures": figures,
    }
