"""How long the shortest rule is: of all possible applicants, under mined constraints, of the ordinary only.

    python -m bench.quality.lengths --data FOLDER --rows 20

Every refused row is explained four times by `MinimumRule(seconds=...)`. What is done is kept in lengths.jsonl.
"""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np
from bench.quality.models import CellRecords, about_cell, cell_options, codes, each, left_out, run_cells, share
from bench.tables import machine, options, write
from threadpoolctl import threadpool_limits

from dueto.counterfactuals import build_query
from dueto.models.plausibility import plausibility
from dueto.rules import MinimumRule, Oracle
from dueto.suggest import suggest_constraints

if TYPE_CHECKING:
    from argparse import Namespace

    from dueto import Explainer
    from dueto.counterfactuals import Query

SHARE = 0.95
WAYS = {"free": (False, False), "mined": (True, False), "ordinary": (False, True), "both": (True, True)}


class Bounds:
    """What is worked out once a table: constraints that its data suggest, and how ordinary its rows are."""

    def __init__(self) -> None:
        self.known: dict[int, Any] = {}

    def of(self, explainer: Explainer) -> Any:
        """Suggested constraints and the bound on oddity."""
        if id(explainer) not in self.known:
            mined = [s.constraint for s in suggest_constraints(explainer.space.decode(explainer.X), explainer.space)]
            self.known = {id(explainer): (mined, plausibility(explainer.space, explainer.X, SHARE))}
        return self.known[id(explainer)]


def lengths(explainer: Explainer, query: Query, bounds: Bounds, asked: Namespace) -> dict[str, Any]:
    """For each way, the rule's length, seconds, whether it is proved least, and how many rows of the data meet it."""
    mined, ordinary = bounds.of(explainer)
    found: dict[str, Any] = {}
    for way, (with_mined, with_ordinary) in WAYS.items():
        asked_of = build_query(
            explainer.model,
            explainer.space,
            query.x,
            constraints=mined if with_mined else (),
            X=explainer.distinct,
            counts=explainer.counts,
            donors=query.donors,
            plausibility=ordinary if with_ordinary else None,
        )
        oracle = Oracle(asked_of, explainer.method, np.random.default_rng(asked.seed))
        if oracle.judge is None:
            continue
        rule = MinimumRule(seconds=asked.seconds).find(oracle)
        assert rule.least is not None
        covered = rule.box(explainer.space).contains(explainer.distinct)
        refused = int(explainer.counts[covered & ~explainer.good].sum())
        accepted = int(explainer.counts[covered & explainer.good].sum())
        found[way] = {"length": len(rule), "least": rule.least.proved, "refused": refused, "accepted": accepted}
    return found


def table(records: CellRecords, asked: Namespace) -> list[dict[str, Any]]:
    """One line for each cell and way."""
    rows = []
    for name, model in each(records):
        part = records.cell(name, model)
        for way in WAYS:
            known = [r[way] for r in part if way in r]
            if known:
                rows.append(
                    about_cell(records, asked, name, model)
                    | {"of": way, "components": median(r["length"] for r in known)}
                    | {"proved least %": share(r["least"] for r in known)}
                    | {"refused rows that meet it": median(r["refused"] for r in known)}
                    | {"accepted rows that meet it": median(r["accepted"] for r in known)}
                )
    return rows


def main() -> None:
    parser = options(__doc__ or "")
    cell_options(parser, rows=20)
    asked = parser.parse_args()
    settings = {"seed": asked.seed, "seconds": asked.seconds}
    records = CellRecords(asked.out / "lengths.jsonl", settings, fresh=asked.fresh)
    begun, bounds = machine(), Bounds()
    with threadpool_limits(limits=1):
        run_cells(asked, records, lambda explainer, query, _row: lengths(explainer, query, bounds, asked))
    command = f"python -m bench.quality.lengths --rows {asked.rows} --seconds {asked.seconds:g}"
    tables = {"How long the shortest rule is": table(records, asked), "Left out": left_out(records)}
    write(asked.out, "lengths", command=command, about=begun | codes(records), tables=tables)


if __name__ == "__main__":
    main()
