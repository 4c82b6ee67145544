"""How long a proof takes: the least rule and the nearest counterfactual of refused rows, by model.

    python -m bench.quality.proofs --data FOLDER --rows 50

For each table and model, after one row to warm up: seconds to the rule of `MinimumRule(seconds=...)` with the default
(exact) counterfactual method, whether it is proved to hold and to be least; and to the nearest counterfactual. What is
done is kept row by row in proofs.jsonl: a run that was stopped, or has more rows or seconds to spend, goes on there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from bench.quality.models import (
    CellRecords,
    TimeIsUp,
    about_cell,
    cell_options,
    codes,
    each,
    left_out,
    limited,
    run_cells,
    share,
    spread,
    timed,
)
from bench.tables import machine, options, write
from threadpoolctl import threadpool_limits

from dueto.counterfactuals import Status
from dueto.rule import Standing
from dueto.rules import MinimumRule, Oracle

if TYPE_CHECKING:
    from argparse import Namespace

    from dueto import Explainer
    from dueto.counterfactuals import Query

WITHIN = (1, 10, 60)
TIMES = " / ".join(map(str, WITHIN))
CLOCKS = {"s": "seconds", "CPU s": "cpu_seconds"}
PATIENCE = 5  # times --seconds: then a row is stopped, though what is asked keeps its own time


def least(explainer: Explainer, query: Query, asked: Namespace) -> dict[str, Any]:
    """The least rule of a query, and what it took."""
    record: dict[str, Any] = {"consistent": False, "least": False, "length": None, "conditions": None, "calls": None}
    try:
        with limited(PATIENCE * asked.seconds), timed(record):
            oracle = Oracle(query, explainer.method, np.random.default_rng(asked.seed))
            rule = MinimumRule(seconds=asked.seconds).find(oracle)
    except TimeIsUp:
        return record | {"stopped": True}
    assert rule.verdict is not None
    assert rule.least is not None
    assert rule.verdict.standing is not Standing.REFUTED, rule
    holds = rule.verdict.standing is Standing.PROVED
    return record | {
        "consistent": holds,
        "least": holds and rule.least.proved,
        "length": len(rule),
        "at_least": rule.least.at_least,
        "conditions": len(rule.conditions()),
        "calls": oracle.calls,
        "duals": len(oracle.duals),
        "by": rule.verdict.by,
        "rule": str(rule),
    }


def nearest(explainer: Explainer, row: int, asked: Namespace) -> dict[str, Any]:
    """The nearest counterfactual of a row, and what it took."""
    record: dict[str, Any] = {"near_status": "stopped", "near_distance": None}
    try:
        with limited(PATIENCE * asked.seconds), timed(record, "near_"):
            answer = explainer.counterfactuals(row, k=1, rng=asked.seed)
    except TimeIsUp:
        return record
    distance = float(answer.distances[0]) if len(answer) else None
    return record | {"near_status": answer.status.value, "near_distance": distance, "near_by": answer.by}


def within(part: list[dict[str, Any]], what: str, clock: str) -> list[float | None]:
    """The shares in per cent of which something is true after so many seconds."""
    return [share(r[what] and r[clock] <= s for r in part) for s in WITHIN]


def rules(records: CellRecords, asked: Namespace) -> list[dict[str, Any]]:
    """One line for each cell."""
    found = []
    for table, model in each(records):
        part = records.cell(table, model)
        known = [r for r in part if r["length"] is not None]
        found.append(
            about_cell(records, asked, table, model)
            | {"structure, s": records.found[table, model, None]["structure_seconds"]}
            | {"seconds, median / p95": spread(part, "seconds")}
            | {"CPU s, median / p95": spread(part, "cpu_seconds")}
            | {f"least within {TIMES} {unit}, %": within(part, "least", key) for unit, key in CLOCKS.items()}
            | {"consistent %": share(r["consistent"] for r in part)}
            | {"components, median / p95": spread(known, "length") if known else None}
            | {"conditions": spread(known, "conditions")[0] if known else None}
            | {"lower bound": spread(known, "at_least")[0] if known else None}
            | {"calls, median / p95": spread(known, "calls") if known else None}
        )
    return found


def changes(records: CellRecords, asked: Namespace) -> list[dict[str, Any]]:
    """One line for each cell."""
    found = []
    for table, model in each(records):
        part = records.cell(table, model)
        settled = (Status.OPTIMAL.value, Status.NONE.value)
        told = [r | {"settled": r["near_status"] in settled} for r in part]
        found.append(
            about_cell(records, asked, table, model)
            | {"seconds, median / p95": spread(part, "near_seconds")}
            | {"CPU s, median / p95": spread(part, "near_cpu_seconds")}
            | {f"settled within {TIMES} {unit}, %": within(told, "settled", f"near_{c}") for unit, c in CLOCKS.items()}
            | {"found, not proved nearest": sum(r["near_status"] == Status.FOUND.value for r in part)}
            | {"nothing found": sum(r["near_status"] in (Status.UNKNOWN.value, "stopped") for r in part)}
        )
    return found


def main() -> None:
    parser = options(__doc__ or "")
    cell_options(parser, rows=50)
    asked = parser.parse_args()
    settings = {"seed": asked.seed, "seconds": asked.seconds}
    records = CellRecords(asked.out / "proofs.jsonl", settings, fresh=asked.fresh)
    begun = machine()

    def work(explainer: Explainer, query: Query, row: int) -> dict[str, Any]:
        return least(explainer, query, asked) | nearest(explainer, row, asked)

    with threadpool_limits(limits=1):
        run_cells(asked, records, work)
    command = f"python -m bench.quality.proofs --rows {asked.rows} --seconds {asked.seconds:g}"
    command += f" --cell-seconds {asked.cell_seconds:g}"
    tables = {
        "Least rules": rules(records, asked),
        "Nearest counterfactuals": changes(records, asked),
        "Left out": left_out(records),
    }
    write(asked.out, "proofs", command=command, about=begun | codes(records), tables=tables)


if __name__ == "__main__":
    main()
