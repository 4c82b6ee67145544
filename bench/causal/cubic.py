"""The cubic experiment of the LSIR paper: Y = X³ + E, n = 300, a thousand samples, beside the paper's figures.

Resumable: what is done stands in OUT/cubic.jsonl.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from bench.causal.runs import resumed
from bench.tables import machine, options, write

from dueto.datasets import simulate
from dueto.dependence import LSMI, SMI
from dueto.inference import independence_test
from dueto.regression import HSICR, LSIR

METHODS = {
    "default": (lambda seed: LSIR(random_state=seed), SMI(scores="x"), SMI(scores="x")),  # what `direction` takes
    "paper": (lambda seed: LSIR(method="paper", random_state=seed), "lsmi", LSMI()),
    "hsicr": (lambda seed: HSICR(random_state=seed), "hsic", SMI(scores="x")),
}
PAPER = {
    "forward accepted, of 1000": 992,
    "mean p forward": 0.6114,
    "sd of it": 0.2327,
    "backward rejected, of 1000": 989,
    "mean p backward": 0.0035,
    "sd of that": 0.0094,
    "right by p, of 1000": 1000,
    "right by SMI, of 1000": 999,
}


def work(method: str, seed: int) -> dict[str, Any]:
    """One sample, both ways."""
    pair = simulate("cubic", 300, rng=seed)
    regressor, measure, score = METHODS[method]
    found: dict[str, Any] = {}
    start = time.process_time()
    for way, cause, effect in (("forward", pair.x, pair.y), ("backward", pair.y, pair.x)):
        fit = regressor(seed).fit(cause[:, None], effect)
        residual = effect - fit.predict(cause[:, None])
        found[f"p_{way}"] = independence_test(cause, residual, measure=measure, rng=seed).pvalue
        found[f"smi_{way}"] = score.estimate(cause[:, None], residual[:, None], rng=np.random.default_rng(seed))
        if way == "forward":
            found["error"] = float(np.std(residual - (effect - cause**3)))
    return found | {"seconds": time.process_time() - start}


def row(method: str, records: list[dict[str, Any]]) -> dict[str, Any]:
    """The paper's figures for one method, per thousand runs."""
    p = np.array([(r["p_forward"], r["p_backward"]) for r in records])
    smi = np.array([(r["smi_forward"], r["smi_backward"]) for r in records])
    right = p[:, 0] > p[:, 1]
    return {"method": method, "runs": len(records)} | {
        "forward accepted, of 1000": float(1000 * np.mean(p[:, 0] > 0.05)),
        "mean p forward": float(p[:, 0].mean()),
        "sd of it": float(p[:, 0].std()),
        "backward rejected, of 1000": float(1000 * np.mean(p[:, 1] <= 0.05)),
        "mean p backward": float(p[:, 1].mean()),
        "sd of that": float(p[:, 1].std()),
        "right by p, of 1000": float(1000 * right.mean()),
        "right by SMI, of 1000": float(1000 * np.mean(smi[:, 0] < smi[:, 1])),
        "error of f": float(np.mean([r["error"] for r in records])),
        "CPU s": float(np.median([r["seconds"] for r in records])),
    }


def main() -> None:
    """Run, and write the table."""
    parser = options(__doc__ or "")
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS))
    parser.add_argument("--n-jobs", type=int, default=2)
    given = parser.parse_args()
    table = [{"method": "as published", "runs": 1000} | PAPER | {"error of f": None, "CPU s": None}]
    for method in given.methods:
        tasks = [{"method": method, "seed": seed} for seed in range(given.runs)]
        table.append(row(method, resumed(given.out / "cubic.jsonl", tasks, work, n_jobs=given.n_jobs)))
    write(
        given.out,
        "cubic",
        command=f"python -m bench.causal.cubic --runs {given.runs}",
        about=machine(),
        tables={"Y = X³ + E, n = 300": table},
    )


if __name__ == "__main__":
    main()
