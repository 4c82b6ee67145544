"""Figures 2, 4, 5, 6 and 7 of the rule paper: quality, time and effort on the classifiers of real tables.

    python -m bench.paper.real --data FOLDER --rows 200 --jobs 2 --alibi-python .venv-alibi/bin/python

The paper's trees on credit and Adult, a network of two layers of 32 on HELOC, one of ten of 16 on a million flights.
For each refused row every system finds its rule; then `dueto.audit` places all of them in the paper's categories, by an
exact method within `--judge-seconds` a question. alibi's own anchors explain the first `--alibi-rows` of the same rows.
Done rows are kept in real.jsonl.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from bench.paper.figures import bars
from bench.paper.runs import TaskRecords, cells, done, mean, median, percent, task_options
from bench.paper.systems import SYSTEMS, solved
from bench.quality.cases import CASES
from bench.quality.first_answer import anchors
from bench.quality.judge import Judge
from bench.quality.models import exact
from bench.tables import machine, options, write

from dueto import Explainer, datasets
from dueto.audit import Category, audited
from dueto.rules.draws import Rows

if TYPE_CHECKING:
    from argparse import Namespace

    from dueto.rule import Rule

CONSISTENT = (Category.MINIMAL, Category.NOT_MINIMAL, Category.REDUNDANT, Category.CONSISTENT, Category.UNREFUTED)
SHOWN = (*CONSISTENT, Category.FGC, Category.FDC)
FLIGHTS = 1_000_000  # rows
TRAINED = 200_000  # of them, those that the network is fitted to


class Subject(NamedTuple):
    """What is asked about: an explainer whose method judges, and the rows of its data."""

    explainer: Explainer
    rows: Rows


def flights(folder: str | None, out: Path) -> Explainer:
    """A million flights, their 14 numbers, and a network of ten layers of 16 that says whether one was late."""
    import joblib
    from sklearn.neural_network import MLPClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    data = datasets.load_flights(folder=folder)
    frame = data.frame.select_dtypes("number").iloc[:FLIGHTS]
    target = data.target.iloc[:FLIGHTS]
    kept = out / "flights-16x10.joblib"
    if not kept.exists():
        network = MLPClassifier([16] * 10, early_stopping=True, max_iter=60, random_state=0)
        model = make_pipeline(StandardScaler(), network).fit(frame.iloc[:TRAINED], target.iloc[:TRAINED])
        joblib.dump(model, kept)
    model = joblib.load(kept)
    return Explainer(model, frame, desired=model.classes_[-1])


@lru_cache(maxsize=1)
def subject(case: str, folder: str | None, out: Path, seconds: float) -> Subject:
    """The case of a name, made once a process."""
    if case == "flights":
        explainer = flights(folder, out)
        explainer.method = exact(seconds)
    else:
        found = CASES[case](folder)
        space = found.dataset.space
        explainer = Explainer(found.model, found.dataset.frame, space=space, counterfactual_method=exact(seconds))
    return Subject(explainer, Rows(explainer.distinct, explainer.counts, explainer.good))


def work(
    case: str, row: int, systems: tuple[str, ...], seed: int, folder: str | None, out: Path, seconds: float
) -> dict[str, Any]:
    """What every system says of a row, and what the rules are worth."""
    s = subject(case, folder, out, seconds)
    found: dict[str, Any] = {}
    rules: list[Rule] = []
    for system in systems:
        finder, method = SYSTEMS[system]
        if case != "flights" or system != "MinimumRule":
            rule, found[system] = solved(s.explainer.query(s.explainer.X[row]), s.rows, finder(), method(), seed)
            rules.append(rule)
    audit = audited(s.explainer, rules, row=row, seconds=seconds, rng=seed)
    for record, judgement in zip(found.values(), audit, strict=True):
        record |= {"category": judgement.category.value, "by": judgement.by, "proved": judgement.proved}
    return {"systems": found}


def quality(rules: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """One line for each case and system: the share of each category."""
    found = []
    for cell, part in cells(rules, "case", "system"):
        shares = {f"{c.value} %": percent(part, "category", c.value) for c in SHOWN}
        told = {"not consistent %": shares["FDC %"] + shares["FGC %"], "length, mean": mean(part, "length")}
        found.append(cell | {"rows": len(part)} | shares | told)
    return found


def effort(rules: list[dict[str, Any]], alibi: dict[str, float]) -> list[dict[str, Any]]:
    """One line for each case and system: time, alone and relative to others, and what it was spent on."""
    found = []
    cpu = {(case, "alibi"): s for case, s in alibi.items()}
    cpu |= {tuple(cell.values()): median(part, "cpu_seconds") for cell, part in cells(rules, "case", "system")}
    for cell, part in cells(rules, "case", "system"):
        own = median(part, "cpu_seconds")
        explored = [r["figures"]["rules"] for r in part if "rules" in r["figures"]]
        others = {other: cpu.get((cell["case"], other)) for other in ("Anchor", "MinSetCover", "alibi")}
        found.append(
            cell
            | {"rows": len(part), "CPU s, median": own}
            | {"CPU s, p95": float(np.percentile([r["cpu_seconds"] for r in part], 95))}
            | {f"{other} takes, times": seconds / own if seconds else None for other, seconds in others.items()}
            | {"in counterfactual calls %": 100 * mean(part, "call_seconds") / mean(part, "seconds")}
            | {"rules explored, median": float(np.median(explored)) if explored else None}
            | {"counterfactual calls, median": median(part, "calls")}
            | {"rows scored, median": int(median(part, "rows_scored"))}
            | {"ended in time %": percent(part, "finished", value=True)}
        )
    return found


def peers(asked: Namespace, case: str, rows: list[int]) -> list[dict[str, Any]]:
    """alibi's anchors of rows that it has not explained in an earlier run, and what is known of the others."""
    records = TaskRecords(asked.out / "real-anchors.jsonl", {"seed": asked.seed}, fresh=False)
    todo = [row for row in rows if (case, row) not in records.found]
    if todo and asked.alibi_python:
        judge = Judge(CASES[case](asked.data))
        for row, record in zip(todo, anchors(asked.alibi_python, judge, todo, asked.seed), strict=True):
            records.add({"task": [case, row]} | record)
    return [records.found[case, row] for row in rows if (case, row) in records.found]


def main() -> None:
    parser = options(__doc__ or "")
    task_options(parser)
    parser.add_argument("--rows", type=int, default=200, help="refused rows of each case (default: 200)")
    parser.add_argument("--cases", type=lambda s: s.split(","), default=[*CASES, "flights"], help="some of the cases")
    parser.add_argument("--systems", type=lambda s: s.split(";"), default=list(SYSTEMS), help="some, separated by ;")
    parser.add_argument("--judge-seconds", type=float, default=10.0, help="the most for one question (default: 10)")
    parser.add_argument("--alibi-python", type=Path, help="Python with alibi (see bench/quality/peers/README.md)")
    parser.add_argument("--alibi-rows", type=int, default=20, help="rows of each case for alibi (default: 20)")
    asked = parser.parse_args()
    begun, records, alibi = machine(), [], {}
    for case in asked.cases:
        s = subject(case, asked.data, asked.out, asked.judge_seconds)
        rows = np.random.default_rng(asked.seed).permutation(s.explainer.refused)[: asked.rows].tolist()
        tasks = [(case, row, asked.systems, asked.seed, asked.data, asked.out, asked.judge_seconds) for row in rows]
        records += done(asked.out / "real.jsonl", asked, tasks, work, key="case row")
        asked.fresh = False
        if case in CASES:
            found = [r["cpu_seconds"] for r in peers(asked, case, rows[: asked.alibi_rows]) if not r["error"]]
            alibi |= {case: float(np.median(found))} if found else {}
    rules = [
        {"case": r["case"], "system": s} | r["systems"][s] for r in records for s in asked.systems if s in r["systems"]
    ]
    told = quality(rules)
    tables = {"Quality": told, "Time and effort": effort(rules, alibi)}
    tables["alibi's anchors"] = [{"case": case, "CPU s, median": s} for case, s in alibi.items()]
    command = f"python -m bench.paper.real --rows {asked.rows} --judge-seconds {asked.judge_seconds:g}"
    write(asked.out, "real", command=command, about=begun, tables=tables)
    bars(asked.out / "figure2.png", told, "case", "system", [f"{c.value} %" for c in SHOWN], "% of rules")


if __name__ == "__main__":
    main()
