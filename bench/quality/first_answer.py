"""Counterfactuals and rules for refused rows, judged by plain code that shares nothing with dueto.

    python -m bench.quality.first_answer --data FOLDER --rows 100 --alibi-python .venv-alibi/bin/python

Three models: the rule paper's trees on credit and Adult, a network on HELOC. For each row, dueto explains it with and
without constraints, by each method; alibi's anchors explain the same rows in turns of some rows, so that both
meet the same noise. What is done is kept row by row in first_answer.jsonl: a run that was stopped goes on there.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from bench.quality.cases import CASES, Case
from bench.quality.judge import Judge
from bench.quality.summary import tables
from bench.tables import machine, options, write
from threadpoolctl import threadpool_limits

import dueto
from dueto import Explainer
from dueto.counterfactuals import method_named

if TYPE_CHECKING:
    from collections.abc import Iterable

PEER = Path(__file__).parent / "peers" / "anchors.py"
ONE_THREAD = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL", "VECLIB_MAXIMUM", "NUMEXPR")}
TIME_LIMIT = 120  # seconds that an anchor may take


@dataclass
class Watched:
    """A counterfactual method, and what each of its calls took: (seconds, rows scored)."""

    method: Any
    calls: list[tuple[float, int]]

    @property
    def name(self) -> str:
        return str(self.method.name)

    def refuses(self, query: Any) -> str:
        return str(self.method.refuses(query))

    def find(self, query: Any, *, k: int, nearest: bool, rng: np.random.Generator) -> Any:
        start = time.perf_counter()
        answer = self.method.find(query, k=k, nearest=nearest, rng=rng)
        self.calls.append((time.perf_counter() - start, answer.rows_scored))
        return answer


class Records:
    """One record for each case, method, constraints and row; each is on the disk as soon as it is there."""

    def __init__(self, path: Path, settings: dict[str, Any], *, fresh: bool) -> None:
        self.path, self.found = path, {}
        path.parent.mkdir(parents=True, exist_ok=True)
        if fresh or not path.exists():
            path.write_text(json.dumps(settings) + "\n", encoding="utf-8")
        first, *lines = path.read_text(encoding="utf-8").splitlines()
        if json.loads(first) != settings:
            sys.exit(f"{path} was made with other settings or code; pass --fresh to begin anew")
        self.found = {self.key(record): record for record in map(json.loads, lines)}

    @staticmethod
    def key(record: dict[str, Any]) -> tuple[Any, ...]:
        return tuple(record[name] for name in ("case", "method", "constrained", "row"))

    def add(self, record: dict[str, Any]) -> None:
        self.found[self.key(record)] = record
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(record) + "\n")


def explained(explainer: Explainer, watched: Watched, judge: Judge, row: int, seed: int, *, constrained: bool) -> Any:
    """dueto's explanation of a row, and what the judge says of it."""
    watched.calls.clear()
    found = explainer.explain(row, rng=seed)
    (cf_seconds, cf_rows), *rule_calls = watched.calls
    x = judge.D[row]
    parts = [judge.terms(x, component) for component in found.rule]
    start = time.perf_counter()
    record = judged(judge, x, [term for part in parts for term in part], constrained=constrained)
    if judge.case.kind == "tree":
        fewer = ([term for part in parts[:i] + parts[i + 1 :] for term in part] for i in range(len(parts)))
        record["shrinks"] = any(judge.exception(x, terms, constrained=constrained) is None for terms in fewer)
    changes = [judge.counterfactual(x, cf.changes, constrained=constrained) for cf in found.counterfactuals]
    for cf, said in zip(found.counterfactuals, changes, strict=True):
        assert abs(cf.cost - said["distance"]) < 1e-9, (row, cf)
    assert found.rule.verdict is not None
    return record | {
        "seconds": found.seconds,
        "rows_scored": found.rows_scored,
        "cf_seconds": cf_seconds,
        "cf_rows": cf_rows,
        "rule_seconds": found.seconds - cf_seconds,
        "rule_rows": found.rows_scored - cf_rows,
        "calls": len(rule_calls),
        "call_seconds": sum(seconds for seconds, _ in rule_calls),
        "status": found.status.value,
        "standing": found.rule.verdict.standing.value,
        "by": found.rule.verdict.by,
        "length": len(found.rule),
        "features": len({component.feature for component in found.rule}),
        "rule": str(found.rule),
        "counterfactuals": changes,
        "judge_seconds": time.perf_counter() - start,
    }


def judged(judge: Judge, x: np.ndarray, terms: list[dict[str, Any]], *, constrained: bool) -> dict[str, Any]:
    """Whether a rule is consistent with everything that is possible, and with the table."""
    exception = judge.exception(x, terms, constrained=constrained)
    return {
        "exception": None if exception is None else exception.tolist(),
        "effort": judge.effort,
        "data_consistent": not (judge.covers(terms) & judge.good).any(),
    }


def anchors(python: Path, judge: Judge, rows: list[int], seed: int) -> Iterable[dict[str, Any]]:
    """alibi's anchors of some rows, made by a program of its own, and what the judge says of them."""
    case = judge.case
    job = {"feature_names": judge.names, "kind": case.kind, "threshold": 0.5, "seed": seed, "time_limit": TIME_LIMIT}
    job["groups"] = {name: columns for name, columns in judge.features.items() if len(columns) > 1}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        np.save(folder / "X.npy", judge.D)
        np.save(folder / "rows.npy", judge.D[rows])
        np.savez(folder / "model.npz", **case.arrays)
        (folder / "job.json").write_text(json.dumps(job), encoding="utf-8")
        subprocess.run([str(python), str(PEER), name], check=True, env=os.environ | ONE_THREAD | {"PYTHONPATH": ""})
        answer = json.loads((folder / "anchors.json").read_text(encoding="utf-8"))
    for row, found in zip(rows, answer["rows"], strict=True):
        record = {"seconds": found["seconds"], "cpu_seconds": found["cpu_seconds"]}
        record |= {"rows_scored": found["rows_scored"], "error": found.get("error")}
        if not record["error"]:
            terms = found["anchor"]
            assert judge.covers(terms)[row]
            assert found["prediction"] == 0
            ends = [(t["low"] is not None) + (t["high"] is not None) for t in terms if "group" not in t]
            record |= judged(judge, judge.D[row], terms, constrained=False)
            record |= {"length": sum(ends) + len({t["group"] for t in terms if "group" in t})}
            record |= {"features": len(found["names"]), "precision_met": found["precision_met"]}
            record |= {"rule": " and ".join(found["names"])}
        yield record


def run(case: Case, asked: Any, records: Records) -> None:
    """All refused rows of a case, in turns: every method of dueto on some rows, then alibi on the same."""
    judge = Judge(case)
    refused = np.flatnonzero(~judge.good)
    rows = np.random.default_rng(asked.seed).permutation(refused)[: asked.rows].tolist()
    kinds = []
    for method in asked.methods:
        if method == "leaf-boxes" and case.kind != "tree":
            continue
        for constrained in (False, True):
            watched = Watched(method_named(method), [])
            explainer = Explainer(
                case.model,
                case.dataset.frame,
                space=case.dataset.space,
                constraints=case.plaf if constrained else (),
                counterfactual_method=watched,
            )
            kinds.append((method, constrained, watched, explainer))
    for start in range(0, len(rows), asked.turn):
        turn = rows[start : start + asked.turn]
        for row in turn:
            for method, constrained, watched, explainer in kinds:
                head = {"case": case.name, "method": method, "constrained": constrained, "row": row}
                if Records.key(head) not in records.found:
                    records.add(head | explained(explainer, watched, judge, row, asked.seed, constrained=constrained))
        if asked.alibi_python:
            head = {"case": case.name, "method": "anchors", "constrained": False}
            turn = [row for row in turn if Records.key(head | {"row": row}) not in records.found]
            for row, record in zip(
                turn, anchors(asked.alibi_python, judge, turn, asked.seed) if turn else (), strict=True
            ):
                records.add(head | {"row": row} | record)
        print(f"{case.name}: {min(start + asked.turn, len(rows))} of {len(rows)} rows", file=sys.stderr)


def fingerprint() -> str:
    """Of the library's source, so that a run goes on only with the code it began with."""
    digest = hashlib.sha256()
    for path in sorted(Path(dueto.__file__).parent.rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


def main() -> None:
    parser = options(__doc__ or "")
    parser.add_argument("--data", help="folder of the benchmark data (default: what DUETO_DATA names)")
    parser.add_argument("--rows", type=int, default=100, help="refused rows of each case (default: 100)")
    parser.add_argument("--seed", type=int, default=0, help="chooses the rows, and is the methods' seed (default: 0)")
    parser.add_argument("--cases", type=lambda s: s.split(","), default=list(CASES), help="some of credit,adult,heloc")
    parser.add_argument(
        "--methods", type=lambda s: s.split(","), default=["geco", "leaf-boxes"], help="dueto's methods"
    )
    parser.add_argument(
        "--alibi-python", type=Path, help="Python with alibi (see peers/README.md); without, no anchors"
    )
    parser.add_argument("--turn", type=int, default=25, help="rows before alibi's turn comes (default: 25)")
    parser.add_argument("--fresh", action="store_true", help="forget what an earlier run found")
    asked = parser.parse_args()
    if not asked.alibi_python:
        print("no --alibi-python: anchors are left out", file=sys.stderr)
    settings = {"seed": asked.seed, "dueto": fingerprint()}
    records = Records(asked.out / "first_answer.jsonl", settings, fresh=asked.fresh)
    begun = machine()
    with threadpool_limits(limits=1):
        for name in asked.cases:
            run(CASES[name](asked.data), asked, records)
    command = f"python -m bench.quality.first_answer --rows {asked.rows}"
    command += " --alibi-python PATH" if asked.alibi_python else ""
    write(asked.out, "first_answer", command=command, about=begun, tables=tables(list(records.found.values())))


if __name__ == "__main__":
    main()
