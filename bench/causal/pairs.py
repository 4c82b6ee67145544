"""Cause-effect pairs: dueto's methods and its peers on the same rows of the same pairs, with times.

Sets: Tübingen (102 bivariate pairs, weighted), the LSIR paper's eight NIPS 2008 pairs and nine of E. coli, and nine
simulated sets of a hundred. Of pairs with more rows, --max-rows are drawn once, for everybody. Resumable:
OUT/pairs.jsonl for dueto, OUT/peers-ROWS.jsonl for the others, which are run where --peers names a folder with their
environments (causal-learn, lingam, cdt; see bench/causal/peers). LSIR's paper method is run on the paper's pairs alone.
"""

from __future__ import annotations

import json
import os
import subprocess
import time
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from bench.causal.runs import resumed
from bench.tables import machine, options, write

from dueto import datasets
from dueto.dependence import LSMI, SMI
from dueto.direction import direction
from dueto.regression import HSICR, LSIR

SIMULATED = ("SIM", "SIM-c", "SIM-ln", "SIM-G", "AN", "AN-s", "LS", "LS-s", "MN-U")
SETS = ("tuebingen", "nips2008", "ecoli", *SIMULATED)
OURS = {
    "lsir": (LSIR, "smi", SMI()),
    "hsicr": (HSICR, "hsic", SMI()),
    "lsir-paper": (partial(LSIR, method="paper"), "lsmi", LSMI()),
}
SLOW = {"lsir-paper": ("nips2008", "ecoli")}  # on which sets alone
PEERS = {
    "lingam-resit": "lingam",
    "cdt-anm": "cdt",
    "cdt-reci": "cdt",
    "cdt-igci": "cdt",
    "causal-learn-anm": "causal-learn",  # the slowest
}
SHARES = (0.2, 0.4, 0.6, 0.8, 1.0)


@cache
def load(kind: str, folder: str, max_rows: int) -> dict[str, datasets.Pair]:
    """The pairs of a set, cut to at most so many rows."""
    if kind in SIMULATED:
        pairs = datasets.load_simulated_pairs(kind, folder=folder)
    else:
        readers = {"tuebingen": datasets.load_tuebingen_pairs, "nips2008": datasets.load_nips2008_pairs}
        pairs = readers.get(kind, datasets.load_ecoli_pairs)(folder=folder)
    found = {}
    for k, pair in enumerate(pairs):
        rows = np.random.default_rng(k).permutation(len(pair.x))[:max_rows]
        cut = datasets.Pair(pair.name, pair.x[rows], pair.y[rows], pair.truth, pair.weight)
        found[f"{kind}:{pair.name}"] = cut
    return found


def ours(method: str, name: str, folder: str, max_rows: int) -> dict[str, Any]:
    """One pair by one of dueto's methods."""
    pair = load(name.partition(":")[0], folder, max_rows)[name]
    regressor, measure, score = OURS[method]
    start = time.process_time()
    found = direction(pair.x, pair.y, regressor=regressor(), measure=measure)
    p = found.evidence.p
    assert p is not None
    inputs, rng = (found.x[:, None], found.y[:, None]), np.random.default_rng(0)
    smi = [score.estimate(v, e[:, None], rng=rng) for v, e in zip(inputs, found.residuals, strict=True)]
    return {
        "decision": found.arrow,
        "p_forward": p[0],
        "p_backward": p[1],
        "smi_forward": smi[0],
        "smi_backward": smi[1],
        "cpu_seconds": time.process_time() - start,
        "n": found.n,
    }


def ask(lines: Path, peers: Path, pairs: dict[str, datasets.Pair]) -> None:
    """Let all peers add their records to a file."""
    arrays = {f"{name}/{v}": getattr(pair, v) for name, pair in pairs.items() for v in ("x", "y")}
    np.savez(lines.with_suffix(".npz"), **arrays)
    env = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    script = Path(__file__).parent / "peers" / "run_peer.py"
    for method, venv in PEERS.items():
        python = peers / venv / "bin" / "python"
        command = [str(python), str(script), method, str(lines.with_suffix(".npz")), str(lines)]
        subprocess.run(command, check=True, env=env, stdout=subprocess.DEVNULL)


def baseline(name: str, folder: str, max_rows: int) -> dict[str, Any]:
    """The larger variance is the cause: no method, but it says how much the units of a set give away."""
    pair = load(name.partition(":")[0], folder, max_rows)[name]
    score = float(np.log(pair.x.var() / pair.y.var()))
    return {"name": name, "score": score, "decision": None, "cpu_seconds": 0.0}


def forced(record: dict[str, Any], by: str) -> tuple[float, str | None]:
    """A signed confidence (positive: x causes y), and what the method itself decides, `?` included."""
    if by == "peer":
        return record["score"] or 0.0, record["decision"]
    smaller = record["smi_backward"] - record["smi_forward"]
    if by == "SMI":
        return smaller, None
    ratio = float(np.log10(record["p_forward"] / record["p_backward"]))
    return ratio or 1e-9 * np.sign(smaller), record["decision"]


def row(
    kind: str, label: str, by: str, records: list[dict[str, Any]], pairs: dict[str, datasets.Pair]
) -> dict[str, Any]:
    """How one method did on one set."""
    weight = np.array([pairs[r["name"]].weight for r in records])
    sign = np.array([1 if pairs[r["name"]].truth == "->" else -1 for r in records])
    score = np.array([forced(r, by)[0] for r in records])
    said = [forced(r, by)[1] for r in records]
    hit = np.where(score * sign > 0, 1.0, np.where(score == 0, 0.5, 0.0))
    found: dict[str, Any] = {"set": kind, "method": label, "pairs": len(records)}
    found["right, forced"] = float(weight @ hit / weight.sum())
    draws = np.random.default_rng(0).integers(len(hit), size=(2000, len(hit)))
    means = (weight[draws] * hit[draws]).sum(axis=1) / weight[draws].sum(axis=1)
    found["95% interval"] = " to ".join(f"{q:.2f}" for q in np.quantile(means, (0.025, 0.975)))
    decided = np.array([s in ("->", "<-") for s in said])
    if any(s is not None for s in said):
        right = np.array([s == pairs[r["name"]].truth for s, r in zip(said, records, strict=True)])
        found["decided at 5%"] = float(weight @ decided / weight.sum())
        mine = weight * decided
        found["right of these"] = float(mine @ right / mine.sum()) if mine.any() else None
    else:
        found["decided at 5%"] = found["right of these"] = None
    order = np.argsort(-np.abs(score), kind="stable")
    total = np.cumsum(weight[order]) / weight.sum()
    for share in SHARES[:-1]:
        top = order[: 1 + int(np.searchsorted(total, share - 1e-9))]
        found[f"right of the surest {share:.0%}"] = float(weight[top] @ hit[top] / weight[top].sum())
    return found | {"CPU s a pair": float(np.median([r["cpu_seconds"] for r in records]))}


def main() -> None:
    """Run, and write the tables."""
    parser = options(__doc__ or "")
    parser.add_argument("--data", default=os.environ.get("DUETO_DATA"), help="the folder that has the pairs")
    parser.add_argument("--sets", nargs="+", choices=SETS, default=list(SETS))
    parser.add_argument("--max-rows", type=int, default=500)
    parser.add_argument("--methods", nargs="+", choices=OURS, default=list(OURS))
    parser.add_argument("--peers", type=Path, help="a folder with the peers' environments")
    parser.add_argument("--n-jobs", type=int, default=2)
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    sets = {kind: load(kind, given.data, given.max_rows) for kind in given.sets}
    pairs = {name: pair for found in sets.values() for name, pair in found.items()}
    records: dict[str, list[dict[str, Any]]] = {}
    for method in given.methods:
        common = {"method": method, "folder": str(given.data), "max_rows": given.max_rows}
        tasks = [common | {"name": name} for name in pairs if name.partition(":")[0] in SLOW.get(method, SETS)]
        records[method] = resumed(given.out / "pairs.jsonl", tasks, ours, n_jobs=given.n_jobs)
    lines = given.out / f"peers-{given.max_rows}.jsonl"
    if given.peers:
        ask(lines, given.peers, pairs)
    else:
        print("without --peers the other libraries are left out, but for what a former run found")
    for line in lines.read_text(encoding="utf-8").splitlines() if lines.exists() else ():
        records.setdefault(json.loads(line)["method"], []).append(json.loads(line))
    records["larger variance"] = [baseline(name, given.data, given.max_rows) for name in pairs]
    rows = []
    for kind, found in sets.items():
        for method, all_of in records.items():
            if not (mine := [r for r in all_of if r["name"] in found]):
                continue
            kinds = (("p", f"dueto {method}, by p"), ("SMI", f"dueto {method}, by SMI"))
            for by, label in kinds if method in OURS else (("peer", method),):
                rows.append(row(kind, label, by, mine, pairs))
    write(
        given.out,
        "pairs",
        command=f"python -m bench.causal.pairs --data FOLDER --peers FOLDER --max-rows {given.max_rows}",
        about=machine(),
        tables={"Cause-effect pairs": rows},
    )


if __name__ == "__main__":
    from bench.causal import pairs as importable  # a worker process cannot unpickle what `__main__` caches

    importable.main()
