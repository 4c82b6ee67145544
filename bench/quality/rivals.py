"""Beside three other exact tools, in one run: PyXAI's reasons, and the nearest counterfactuals of treecf and OCEAN.

    python -m bench.quality.rivals --data FOLDER --peers FOLDER --rows 20

scikit-learn forests of 100 trees on credit and HELOC; every column is shifted to begin at 0, and may take every whole
number up to its largest in the table, for all tools alike. A counterfactual costs the sum of its changes, each in units
of its column's range. A reason is held against the forest's own predictions by the exact judge. Each peer runs in an
environment of its own (see bench/quality/peers), in turns of some rows; rivals.jsonl keeps what is done, row by row.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from bench.quality.cases import HELOC_RISING
from bench.quality.first_answer import ONE_THREAD, Records, fingerprint
from bench.quality.models import TABLES, WARMING, TimeIsUp, codes, exact, limited, share, spread, timed
from bench.quality.proofs import least
from bench.tables import machine, options, write
from threadpoolctl import threadpool_limits

from dueto import Distance, Explainer, FeatureSpace
from dueto.box import Box
from dueto.counterfactuals import Status

if TYPE_CHECKING:
    from argparse import Namespace

    import pandas as pd

PEERS = Path(__file__).parent / "peers"
LIMITS = {  # what may not change, and what may not fall
    "credit": (("isMale", "isMarried"), ("AgeGroup",)),
    "heloc": (("ExternalRiskEstimate",), HELOC_RISING),
}
REASONS = {f"pyxai, {kind}": kind for kind in ("sufficient", "minimal-majoritary", "minimal-sufficient")}
NEAREST = {"treecf": "treecf_nearest.py", "oceanpy": "oceanpy_nearest.py"}
UNCONSTRAINED = ("oceanpy",)  # know no constraints
SAME = 1 + 1e-5  # costs are the same up to rounding: OCEAN's are whole numbers
WITHIN = (1, 10, 60)


class RivalRecords(Records):
    @staticmethod
    def key(record: dict[str, Any]) -> tuple[Any, ...]:
        return tuple(record[name] for name in ("table", "model", "method", "constrained", "row"))


@dataclass
class Match:
    """A forest over whole numbers, and rows that it refuses."""

    table: str
    depth: int
    frame: pd.DataFrame
    forest: Any
    rows: list[int]

    @property
    def head(self) -> dict[str, Any]:
        return {"table": self.table, "model": f"forest-{self.depth}"}

    def limits(self, constrained: bool) -> tuple[tuple[str, ...], tuple[str, ...]]:
        return LIMITS[self.table] if constrained else ((), ())

    def explainer(self, asked: Namespace, *, constrained: bool) -> Explainer:
        """dueto's, of the same space, distance and constraints as the peers'."""
        fixed, rising = self.limits(constrained)
        most = self.frame.max()
        space = FeatureSpace.infer(self.frame).declare(
            {name: {"low": 0, "high": int(most[name])} for name in self.frame if most[name] > 0}
        )
        lines = [f'fixed("{name}")' for name in fixed] + [f"cf.{name} >= x.{name}" for name in rising]
        return Explainer(
            self.forest,
            self.frame,
            space=space,
            constraints="\n".join(lines),
            distance=Distance((0, 1, 0, 0)),
            counterfactual_method=exact(asked.seconds),
        )

    def judged(self, row: int, y: list[float], *, constrained: bool) -> dict[str, Any]:
        """What the forest itself and plain arithmetic say of a counterfactual."""
        fixed, rising = self.limits(constrained)
        x, most = self.frame.iloc[row].to_numpy(float), self.frame.max().to_numpy(float)
        new = np.array(y)
        at = {name: j for j, name in enumerate(self.frame)}
        possible = (new >= 0).all() and (new <= most).all() and (new == np.round(new)).all()
        possible &= all(new[at[f]] == x[at[f]] for f in fixed) and all(new[at[f]] >= x[at[f]] for f in rising)
        given = self.frame.iloc[[row]].astype(float)
        given.iloc[0] = new
        return {
            "valid": bool(self.forest.predict(given)[0] == 1),
            "possible": bool(possible),
            "distance": float((np.abs(new - x) / np.where(most > 0, most, 1)).sum()),
        }


def match(table: str, depth: int, asked: Namespace) -> Match:
    """The forest of a table, fitted on its columns from 0 on, and the rows asked about."""
    from sklearn.ensemble import RandomForestClassifier

    data = TABLES[table](folder=asked.data)
    frame = data.frame - data.frame.min()
    forest = RandomForestClassifier(100, max_depth=depth, random_state=0).fit(frame, data.target.astype(int))
    refused = np.flatnonzero(forest.predict(frame) == 0)
    rows = np.random.default_rng(asked.seed).permutation(refused)[: asked.rows].tolist()
    return Match(table, depth, frame, forest, rows)


def asked_of_peer(game: Match, rows: list[int], method: str, asked: Namespace, *, constrained: bool) -> Any:
    """A peer's answers about some rows; it writes each when it has it, so that what was done stays if it dies."""
    import joblib

    fixed, rising = game.limits(constrained)
    job = {"names": list(game.frame), "seconds": asked.seconds, "seed": asked.seed}
    job |= {"fixed": fixed, "rising": rising, "reasons": REASONS.get(method)}
    script = NEAREST.get(method, "reasons.py")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        table = game.frame.to_numpy(np.float64)
        np.save(folder / "X.npy", table)
        np.save(folder / "rows.npy", table[rows])
        joblib.dump(game.forest, folder / "forest.joblib")
        (folder / "job.json").write_text(json.dumps(job), encoding="utf-8")
        command = [str(python_of(method, asked)), str(PEERS / script), name]
        environment = os.environ | ONE_THREAD | {"PYTHONPATH": ""}
        subprocess.run(command, check=True, env=environment, stdout=subprocess.DEVNULL, cwd=name)
        for line in (folder / "answers.jsonl").read_text(encoding="utf-8").splitlines():
            yield json.loads(line)


def python_of(method: str, asked: Namespace) -> Path:
    """The interpreter of a peer's environment."""
    return (asked.peers or Path("peers")).absolute() / method.partition(",")[0] / "bin" / "python"


def ours(explainer: Explainer, row: int, asked: Namespace) -> dict[str, Any]:
    """dueto's nearest counterfactual."""
    record: dict[str, Any] = {"y": None, "proved": False}
    with timed(record):
        answer = explainer.counterfactuals(row, k=1, rng=asked.seed)
    y = answer.X[0].tolist() if len(answer) else None
    return record | {"y": y, "proved": answer.status in (Status.OPTIMAL, Status.NONE), "code": fingerprint()}


def audited(explainer: Explainer, row: int, terms: list[dict[str, Any]], asked: Namespace) -> dict[str, Any]:
    """Whether the forest accepts anybody under a conjunction of bounds."""
    query = explainer.query(explainer.X[row])
    box = Box.everything(len(query.x))
    box.missing[:] = False
    for term in terms:
        j = term["feature"]
        if term["low"] is not None:
            low = np.nextafter(term["low"], np.inf) if term["low_open"] else term["low"]
            box.low[j] = max(box.low[j], low)
        if term["high"] is not None:
            high = np.nextafter(term["high"], -np.inf) if term["high_open"] else term["high"]
            box.high[j] = min(box.high[j], high)
    assert box.contains(query.x[None])[0], f"the reason does not hold of row {row}"
    answer = explainer.method.judge(query).escape(box, seconds=asked.seconds)  # type: ignore[attr-defined]
    if answer.status is Status.FOUND:
        assert query.under(box).accepts(answer.X).all()
    says = {Status.FOUND: "false", Status.NONE: "true", Status.UNKNOWN: "undecided"}[answer.status]
    return {"says": says, "bounds": len(terms), "features": len({term["feature"] for term in terms})}


def play(game: Match, records: RivalRecords, asked: Namespace) -> None:
    """All rows, in turns: dueto, then every peer on the same rows."""
    explainers = {constrained: game.explainer(asked, constrained=constrained) for constrained in (False, True)}
    spare = int(explainers[False].refused[-1])
    for explainer in explainers.values():  # once to warm up
        with suppress(TimeIsUp), limited(WARMING):
            ours(explainer, spare, asked)
    peers = [method for method in asked.methods if python_of(method, asked).exists()]
    for start in range(0, len(game.rows), asked.turn):
        turn = game.rows[start : start + asked.turn]
        for constrained, explainer in explainers.items():
            for row in left(game, turn, "dueto", records, constrained=constrained):
                record = ours(explainer, row, asked)
                record |= game.judged(row, record["y"], constrained=constrained) if record["y"] else {}
                records.add(game.head | {"method": "dueto", "constrained": constrained, "row": row} | record)
        for row in left(game, turn, "dueto, least rule", records):
            found = least(explainers[False], explainers[False].query(explainers[False].X[row]), asked)
            found |= {"says": "true" if found["consistent"] else "undecided", "bounds": found["length"]}
            found |= {"features": found["conditions"], "code": fingerprint()}
            head = game.head | {"method": "dueto, least rule", "constrained": False, "row": row}
            records.add(head | found)
        for method in peers:
            for constrained in (False, True) if method in NEAREST and method not in UNCONSTRAINED else (False,):
                rows = left(game, turn, method, records, constrained=constrained)
                answers = asked_of_peer(game, rows, method, asked, constrained=constrained) if rows else ()
                for row, record in zip(rows, answers, strict=True):
                    if record.get("terms"):
                        record |= audited(explainers[False], row, record["terms"], asked)
                    elif record.get("y"):
                        record |= game.judged(row, record["y"], constrained=constrained)
                    records.add(game.head | {"method": method, "constrained": constrained, "row": row} | record)
        done = min(start + asked.turn, len(game.rows))
        print(f"{game.table}, forest-{game.depth}: {done} of {len(game.rows)} rows", file=sys.stderr)


def left(game: Match, rows: list[int], method: str, records: Any, *, constrained: bool = False) -> list[int]:
    """The rows that a method has not been asked about."""
    head = game.head | {"method": method, "constrained": constrained}
    return [row for row in rows if RivalRecords.key(head | {"row": row}) not in records.found]


def parts(records: RivalRecords, methods: list[str]) -> Any:
    """The records of each table, model, constraints and method, with the first columns of their line."""
    cells = list(dict.fromkeys((r["table"], r["model"]) for r in records.found.values()))
    for table, model in cells:
        for constrained in (False, True):
            for method in methods:
                same = (table, model, method, constrained)
                part = [r for key, r in records.found.items() if key[:4] == same]
                if part:
                    head = {"table": table, "model": model, "method": method}
                    head |= {"version": part[0].get("version", "this one")}
                    yield head | {"constraints": "yes" if constrained else "no", "rows": len(part)}, part


def nearest_table(records: RivalRecords) -> list[dict[str, Any]]:
    """One line for each method, beside the distance that somebody proved, and the least that anybody found."""
    best: dict[Any, float] = {}
    least_found: dict[Any, float] = {}
    for r in records.found.values():
        if r.get("y") and r["valid"] and r["possible"]:
            least_found[_place(r)] = min(least_found.get(_place(r), np.inf), r["distance"])
            if r["proved"]:
                best[_place(r)] = min(best.get(_place(r), np.inf), r["distance"])
    found = []
    for head, part in parts(records, ["dueto", *NEAREST]):
        given = [r for r in part if r.get("y")]
        good = [r for r in given if r["valid"] and r["possible"]]
        over = [r["distance"] / best[_place(r)] for r in good if _place(r) in best]
        found.append(
            head
            | {"answered": len(given)}
            | {"valid %": share(r["valid"] for r in given), "possible %": share(r["possible"] for r in given)}
            | {f"proved within {s} s, %": share(r.get("proved") and r["seconds"] <= s for r in part) for s in WITHIN}
            | {"at the proved optimum %": share(o < SAME for o in over)}
            | {"as near as anybody's %": share(r["distance"] < least_found[_place(r)] * SAME for r in good)}
            | {"distance / optimum, mean / worst": [float(np.mean(over)), max(over)] if over else None}
            | {"proved, yet not the optimum": sum(_wrong(r, best) for r in part)}
            | {"seconds, median / p95": spread(part, "seconds"), "CPU s, median / p95": _cpu(part)}
            | {"set up, s": part[0].get("setup_seconds")}
        )
    return found


def _wrong(r: dict[str, Any], best: dict[Any, float]) -> bool:
    """Whether a claim to be optimal is refuted: by the forest, by the space, or by a nearer one."""
    if not (r.get("y") and r["proved"]):
        return False
    return not (r["valid"] and r["possible"]) or r["distance"] > best[_place(r)] * SAME


def _place(r: dict[str, Any]) -> tuple[Any, ...]:
    """The question that a record answers."""
    return r["table"], r["model"], r["constrained"], r["row"]


def _cpu(part: list[dict[str, Any]]) -> list[float] | None:
    known = [r for r in part if r["cpu_seconds"] is not None]
    return spread(known, "cpu_seconds") if known else None


def reason_table(records: RivalRecords) -> list[dict[str, Any]]:
    """One line for each kind of reason."""
    found = []
    for head, part in parts(records, ["dueto, least rule", *REASONS]):
        given = [r for r in part if r.get("says")]
        found.append(
            head
            | {"given": len(given), "cut short by the time": sum(bool(r.get("time_over")) for r in given)}
            | {f"{says} %": share(r["says"] == says for r in given) for says in ("true", "false", "undecided")}
            | {"bounds": spread(given, "bounds")[0] if given else None}
            | {"features": spread(given, "features")[0] if given else None}
            | {"seconds, median / p95": spread(part, "seconds"), "CPU s, median / p95": _cpu(part)}
        )
    return found


def missing(records: RivalRecords, asked: Namespace) -> list[dict[str, Any]]:
    """Peers that were not there, and rows that they had no answer to."""
    found = [
        {"method": method, "rows": None, "why": f"no environment {python_of(method, asked).parents[1].name} in --peers"}
        for method in asked.methods
        if not python_of(method, asked).exists()
    ]
    errors = [(r["method"], r["error"]) for r in records.found.values() if r.get("error")]
    return found + [{"method": m, "rows": errors.count((m, e)), "why": e} for m, e in dict.fromkeys(errors)]


def main() -> None:
    parser = options(__doc__ or "")
    parser.add_argument("--data", help="folder of the benchmark data (default: what DUETO_DATA names)")
    parser.add_argument("--peers", type=Path, help="folder of the environments pyxai, treecf and oceanpy")
    parser.add_argument("--rows", type=int, default=20, help="refused rows of each forest (default: 20)")
    parser.add_argument("--seed", type=int, default=0, help="chooses the rows, and is everybody's seed (default: 0)")
    parser.add_argument("--seconds", type=float, default=60.0, help="the most that an answer may take (default: 60)")
    parser.add_argument("--tables", type=lambda s: s.split(","), default=list(LIMITS), help="some of credit,heloc")
    parser.add_argument("--depths", type=lambda s: [int(d) for d in s.split(",")], default=[6], help="of the forests")
    parser.add_argument("--methods", type=lambda s: s.split(";"), default=[*NEAREST, *REASONS], help="peers, with ;")
    parser.add_argument("--turn", type=int, default=5, help="rows before the next tool's turn comes (default: 5)")
    parser.add_argument("--fresh", action="store_true", help="forget what an earlier run found")
    asked = parser.parse_args()
    records = RivalRecords(
        asked.out / "rivals.jsonl", {"seed": asked.seed, "seconds": asked.seconds}, fresh=asked.fresh
    )
    begun = machine()
    with threadpool_limits(limits=1):
        for table in asked.tables:
            for depth in asked.depths:
                play(match(table, depth, asked), records, asked)
    command = f"python -m bench.quality.rivals --rows {asked.rows} --seconds {asked.seconds:g} --peers FOLDER"
    tables = {
        "Nearest counterfactuals": nearest_table(records),
        "Reasons before the exact judge": reason_table(records),
        "Without an answer": missing(records, asked),
    }
    write(asked.out, "rivals", command=command, about=begun | codes(records), tables=tables)


if __name__ == "__main__":
    main()
