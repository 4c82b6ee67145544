"""What a rule of a few conditions says: the share of refused among those who meet it, and whether it holds.

    python -m bench.quality.short --data FOLDER --rows 20

Every refused row gets the best rule of one, two, three and four conditions (`ShortRule`). What is done is kept in
short.jsonl.
"""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np
from bench.quality.models import (
    CellRecords,
    about_cell,
    cell_options,
    codes,
    each,
    left_out,
    run_cells,
    share,
    spread,
    timed,
)
from bench.tables import machine, options, write
from threadpoolctl import threadpool_limits

from dueto.rule import Standing
from dueto.rules import Oracle, ShortRule
from dueto.rules.draws import Rows

if TYPE_CHECKING:
    from argparse import Namespace

    from dueto import Explainer
    from dueto.counterfactuals import Query

SIZES = (1, 2, 3, 4)


def short(explainer: Explainer, query: Query, asked: Namespace) -> dict[str, Any]:
    """For each number of conditions, the best rule's scope and what it took."""
    found: dict[str, Any] = {}
    rows = Rows(explainer.distinct, explainer.counts, explainer.good)
    for k in SIZES:
        record: dict[str, Any] = {}
        oracle = Oracle(query, explainer.method, np.random.default_rng(asked.seed), rows=rows)
        with timed(record):
            rule = ShortRule(k=k, seconds=asked.seconds).find(oracle)
        assert rule.scope is not None
        assert rule.verdict is not None
        record |= {"proved": rule.verdict.standing is Standing.PROVED, "share": rule.scope.share, "rule": str(rule)}
        found[str(k)] = record | {"refused": rule.scope.refused, "accepted": rule.scope.accepted}
    return found


def table(records: CellRecords, asked: Namespace) -> list[dict[str, Any]]:
    """One line for each cell and number of conditions."""
    lines = []
    for name, model in each(records):
        part = records.cell(name, model)
        for k in SIZES:
            known = [r[str(k)] for r in part]
            shares = [r["share"] for r in known if r["share"] is not None]
            lines.append(
                about_cell(records, asked, name, model)
                | {"conditions": k, "refused of those drawn, median %": 100 * median(shares) if shares else None}
                | {"proved %": share(r["proved"] for r in known)}
                | {"refused rows that meet it": median(r["refused"] for r in known)}
                | {"accepted rows that meet it": median(r["accepted"] for r in known)}
                | {"CPU s, median / p95": spread(known, "cpu_seconds")}
            )
    return lines


def main() -> None:
    parser = options(__doc__ or "")
    cell_options(parser, rows=20)
    asked = parser.parse_args()
    settings = {"seed": asked.seed, "seconds": asked.seconds}
    records = CellRecords(asked.out / "short.jsonl", settings, fresh=asked.fresh)
    begun = machine()
    with threadpool_limits(limits=1):
        run_cells(asked, records, lambda explainer, query, _row: short(explainer, query, asked))
    command = f"python -m bench.quality.short --rows {asked.rows} --seconds {asked.seconds:g}"
    tables = {"Rules of a few conditions": table(records, asked), "Left out": left_out(records)}
    write(asked.out, "short", command=command, about=begun | codes(records), tables=tables)


if __name__ == "__main__":
    main()
