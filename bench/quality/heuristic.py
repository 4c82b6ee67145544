"""What a heuristic loses: rules of GreedyRuleCF with GeCo, which sees only the model's answers, before an exact judge.

    python -m bench.quality.heuristic --data FOLDER --rows 20

The tables, models and rows are those of `proofs`. Each rule that the search gives is put to the exact method: refuted
(the model itself confirms the exception), proved, or undecided when --seconds are over; and it is set beside the least
rule. What is done is kept row by row in heuristic.jsonl: a run that was stopped goes on there.
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
from bench.quality.proofs import least
from bench.tables import machine, options, write
from threadpoolctl import threadpool_limits

from dueto.counterfactuals import GeCo, Status
from dueto.rules import GreedyRuleCF, Oracle

if TYPE_CHECKING:
    from argparse import Namespace

    from dueto import Explainer
    from dueto.counterfactuals import Query
    from dueto.rule import Rule

SAYS = {Status.FOUND: "refuted", Status.NONE: "proved", Status.UNKNOWN: "undecided"}


def searched(query: Query, record: dict[str, Any], asked: Namespace) -> Rule | None:
    """The rule that the search gives, and what it took; None if time was up first."""
    before = query.model.rows_scored
    try:
        with limited(asked.seconds), timed(record, "search_"):
            oracle = Oracle(query, GeCo(), np.random.default_rng(asked.seed))
            rule = GreedyRuleCF().find(oracle)
    except TimeIsUp:
        return None
    assert rule.verdict is not None
    record |= {"searches": oracle.calls, "rows_scored": query.model.rows_scored - before}
    record |= {"searched": len(rule), "standing": rule.verdict.standing.value, "search_rule": str(rule)}
    return rule


def judged(explainer: Explainer, query: Query, row: int, asked: Namespace) -> dict[str, Any]:
    """The search's rule, what the exact judge says of it, and the least rule."""
    record: dict[str, Any] = {"says": "no rule"}
    rule = searched(query, record, asked)
    if rule is not None:
        judge = explainer.method.judge(query)  # type: ignore[attr-defined]
        with timed(record, "judge_"):
            answer = judge.escape(rule.box(query.space), seconds=asked.seconds)
        record["says"] = SAYS[answer.status]
        if answer.status is Status.FOUND:
            assert query.under(rule.box(query.space)).accepts(answer.X).all(), rule
    return record | least(explainer, explainer.query(explainer.X[row]), asked)


def table(records: CellRecords, asked: Namespace) -> list[dict[str, Any]]:
    """One line for each cell."""
    found = []
    for name, model in each(records):
        part = records.cell(name, model)
        made = [r for r in part if r["says"] != "no rule"]
        both = [r for r in made if r["least"]]
        true = [r["searched"] - r["length"] for r in both if r["says"] == "proved"]
        found.append(
            about_cell(records, asked, name, model)
            | {"no rule in time": len(part) - len(made)}
            | {f"{says} %": share(r["says"] == says for r in made) for says in SAYS.values()}
            | {"components": spread(made, "searched")[0] if made else None}
            | {"least": spread(both, "length")[0] if both else None}
            | {"true ones longer by, mean / most": [float(np.mean(true)), max(true)] if true else None}
            | {"false ones shorter than the least %": share(r["searched"] < r["length"] for r in _false(both))}
            | {"seconds, median / p95": spread(part, "search_seconds")}
            | {"rows scored": spread(made, "rows_scored")[0] if made else None}
            | {"seconds to the least, median / p95": spread(part, "seconds")}
        )
    return found


def _false(part: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [r for r in part if r["says"] == "refuted"]


def main() -> None:
    parser = options(__doc__ or "")
    cell_options(parser, rows=20)
    asked = parser.parse_args()
    settings = {"seed": asked.seed, "seconds": asked.seconds}
    records = CellRecords(asked.out / "heuristic.jsonl", settings, fresh=asked.fresh)
    begun = machine()
    with threadpool_limits(limits=1):
        run_cells(asked, records, lambda explainer, query, row: judged(explainer, query, row, asked))
    command = f"python -m bench.quality.heuristic --rows {asked.rows} --seconds {asked.seconds:g}"
    command += f" --cell-seconds {asked.cell_seconds:g}"
    tables = {"Rules of a search before the exact judge": table(records, asked), "Left out": left_out(records)}
    write(asked.out, "heuristic", command=command, about=begun | codes(records), tables=tables)


if __name__ == "__main__":
    main()
