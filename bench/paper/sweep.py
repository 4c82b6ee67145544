"""The rule paper's hyperparameter sweep: rules kept in a generation, q, and applicants drawn under a rule, s.

    python -m bench.paper.sweep --data FOLDER --rows 50

GeneticRule and GeneticRuleCF (with GeCo) on the paper's trees; every rule is judged exactly. Done tasks are kept in
sweep.jsonl.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from bench.paper.figures import lines
from bench.paper.real import subject
from bench.paper.runs import cells, done, mean, median, percent, task_options
from bench.paper.systems import Unasked, solved
from bench.tables import machine, options, write

from dueto.audit import Category, audited
from dueto.counterfactuals import GeCo
from dueto.rules import GeneticRule, GeneticRuleCF

if TYPE_CHECKING:
    from pathlib import Path

CASES = ("credit", "adult")
FINDERS: dict[str, Any] = {"GeneticRule": (GeneticRule, Unasked), "GeneticRuleCF": (GeneticRuleCF, GeCo)}
TRIED = [(q, 1000) for q in (10, 20, 50, 100)] + [(50, s) for s in (100, 300, 3000)]
JUDGE = 10.0  # seconds for one question


def work(case: str, row: int, system: str, q: int, s: int, seed: int, folder: str | None, out: Path) -> dict[str, Any]:
    """What one setting says of one row."""
    asked = subject(case, folder, out, JUDGE)
    finder, method = FINDERS[system]
    query = asked.explainer.query(asked.explainer.X[row])
    rule, record = solved(query, asked.rows, finder(q=q, s=s), method(), seed)
    judged = audited(asked.explainer, [rule], row=row, seconds=JUDGE)[0]
    return record | {"category": judged.category.value, "consistent": judged.consistent}


def table(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """One line for each case, system and setting."""
    return [
        cell
        | {"rows": len(part)}
        | {"not consistent %": percent(part, "consistent", value=False)}
        | {"minimal %": percent(part, "category", Category.MINIMAL)}
        | {"length, mean": mean(part, "length"), "CPU s, median": median(part, "cpu_seconds")}
        for cell, part in cells(records, "case", "system", "q", "s")
    ]


def main() -> None:
    parser = options(__doc__ or "")
    task_options(parser)
    parser.add_argument("--rows", type=int, default=50, help="refused rows of each case (default: 50)")
    asked = parser.parse_args()
    begun, tasks = machine(), []
    for case in CASES:
        refused = subject(case, asked.data, asked.out, JUDGE).explainer.refused
        rows = np.random.default_rng(asked.seed + 1).permutation(refused)[: asked.rows].tolist()
        tasks += [
            (case, row, system, q, s, asked.seed, asked.data, asked.out)
            for system in FINDERS
            for q, s in TRIED
            for row in rows
        ]
    told = table(done(asked.out / "sweep.jsonl", asked, tasks, work, key="case row system q s"))
    command = f"python -m bench.paper.sweep --rows {asked.rows}"
    write(asked.out, "sweep", command=command, about=begun, tables={"Settings": told})
    for axis, other, fixed in (("q", "s", 1000), ("s", "q", 50)):
        part = [
            row | {"which": f"{row['system']}, {row['case']}"}
            for row in sorted(told, key=lambda row: row[axis])
            if row[other] == fixed
        ]
        lines(asked.out / f"sweep-{axis}.png", part, axis, "which", "not consistent %", "rules not consistent, %")


if __name__ == "__main__":
    main()
