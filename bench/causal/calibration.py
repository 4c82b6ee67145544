"""Levels and power of the tests of independence: how often is what is independent rejected, and what is not?

Level: x and y independent, a normal, uniform, exponential or three-valued law each, drawn anew every run. Power: the
residual of LSIR against its input, in the wrong direction of the cubic model. Resumable: OUT/calibration.jsonl.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from bench.causal.runs import resumed
from bench.tables import machine, options, write

from dueto.datasets import simulate
from dueto.dependence import SMI
from dueto.inference import independence_test
from dueto.regression import LSIR

LEVELS = (0.01, 0.05, 0.10)
RESIDUAL = {"smi-x": SMI(scores="x")}  # what `direction` tests residuals by
LAWS = ("normal", "uniform", "exponential", "three-valued")


def draw(law: str, n: int, rng: np.random.Generator) -> np.ndarray:
    """n values of a law."""
    return {
        "normal": lambda: rng.normal(size=n),
        "uniform": lambda: rng.uniform(size=n),
        "exponential": lambda: rng.exponential(size=n),
        "three-valued": lambda: rng.integers(3, size=n).astype(float),
    }[law]()


def level(measure: str, n: int, seed: int, n_permutations: int) -> dict[str, Any]:
    """One test of independent samples."""
    rng = np.random.default_rng(seed)
    x, y = (draw(LAWS[rng.integers(len(LAWS))], n, rng) for _ in range(2))
    start = time.process_time()
    p = independence_test(x, y, measure=RESIDUAL.get(measure, measure), n_permutations=n_permutations, rng=rng).pvalue
    return {"p": p, "seconds": time.process_time() - start}


def power(measure: str, n: int, seed: int, n_permutations: int) -> dict[str, Any]:
    """One test either way, of residuals of the cubic model."""
    pair = simulate("cubic", n, rng=seed)
    found = {}
    for way, cause, effect in (("forward", pair.x, pair.y), ("backward", pair.y, pair.x)):
        residual = effect - LSIR(random_state=seed).fit(cause[:, None], effect).predict(cause[:, None])
        test = independence_test(
            cause, residual, measure=RESIDUAL.get(measure, measure), n_permutations=n_permutations, rng=seed
        )
        found[way] = test.pvalue
    return found


def main() -> None:
    """Run, and write the tables."""
    parser = options(__doc__ or "")
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--power-runs", type=int, default=200)
    parser.add_argument("--permutations", type=int, default=199)
    parser.add_argument("--measures", nargs="+", default=["smi", "smi-x", "hsic", "dcor", "lsmi"])
    parser.add_argument("--sizes", nargs="+", type=int, default=[100, 300])
    parser.add_argument("--n-jobs", type=int, default=2)
    given = parser.parse_args()
    levels, powers = [], []
    for measure in given.measures:
        common = {"measure": measure, "n_permutations": given.permutations}
        for n in given.sizes:
            tasks = [common | {"n": n, "seed": seed} for seed in range(given.runs)]
            records = resumed(given.out / "calibration.jsonl", tasks, level, n_jobs=given.n_jobs)
            p = np.array([r["p"] for r in records])
            row: dict[str, Any] = {"measure": measure, "n": n, "runs": len(p), "permutations": given.permutations}
            for a in LEVELS:
                row[f"rejected at {a:.0%}"] = f"{np.mean(p <= a):.1%} ± {np.sqrt(a * (1 - a) / len(p)):.1%}"
            levels.append(row | {"CPU s a test": float(np.median([r["seconds"] for r in records]))})
        if given.power_runs:
            tasks = [common | {"n": 300, "seed": seed} for seed in range(given.power_runs)]
            records = resumed(given.out / "calibration_power.jsonl", tasks, power, n_jobs=given.n_jobs)
            p = np.array([(r["forward"], r["backward"]) for r in records])
            right = (p[:, 0] > 0.05) & (p[:, 1] <= 0.05)
            powers.append(
                {
                    "measure": measure,
                    "runs": len(p),
                    "wrong way rejected at 5%": float(np.mean(p[:, 1] <= 0.05)),
                    "mean p, wrong way": float(p[:, 1].mean()),
                    "right way accepted": float(np.mean(p[:, 0] > 0.05)),
                    "mean p, right way": float(p[:, 0].mean()),
                    "decided, and right": float(right.mean()),
                }
            )
    write(
        given.out,
        "calibration",
        command=f"python -m bench.causal.calibration --runs {given.runs} --permutations {given.permutations}",
        about=machine(),
        tables={"Level, under independence": levels, "Power, cubic model, n = 300, residuals of LSIR": powers},
    )


if __name__ == "__main__":
    main()
