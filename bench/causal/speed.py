"""How long one direction takes beside causal-learn's ANM on the same rows, n = 300 to 100,000, and where the time goes.

Cubic model. Each size runs in a process of its own, so that the peak of its memory is known; the peer is run where
--peers names a folder with its environment, up to --peer-rows rows (its time grows with the cube of n).
"""

from __future__ import annotations

import argparse
import cProfile
import json
import os
import pstats
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from bench.tables import machine, options, write

from dueto.datasets import simulate
from dueto.direction import direction

PARTS = {
    "value and gradient of SMI": ("objectives.py", "__call__"),
    "singular values of the basis": ("basis.py", "__init__"),
    "ridge start": ("basis.py", "ridge"),
    "permuted statistics": ("products.py", "__call__"),
    "features of the tests": ("smi.py", "prepare"),
    "drawing permutations": ("inference.py", "_drawn"),
}


def child(n: int, repeats: int) -> dict[str, Any]:
    """Times of a direction, and the share of its parts."""
    warm = simulate("cubic", 50, rng=0)
    direction(warm.x, warm.y, n_permutations=19)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    cpu, wall = [], []
    for seed in range(repeats):
        pair = simulate("cubic", n, rng=seed)
        start = time.process_time(), time.perf_counter()
        direction(pair.x, pair.y)
        cpu.append(time.process_time() - start[0])
        wall.append(time.perf_counter() - start[1])
    more = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    profile = cProfile.Profile()
    pair = simulate("cubic", n, rng=0)
    profile.runcall(direction, pair.x, pair.y)
    stats = pstats.Stats(profile)
    shares = dict.fromkeys(PARTS, 0.0)
    for (file, _, function), (_, _, _, cumulative, _) in stats.stats.items():  # type: ignore[attr-defined]
        for part, (name, method) in PARTS.items():
            if Path(file).name == name and function == method:
                shares[part] += cumulative / stats.total_tt  # type: ignore[attr-defined]
    return {"cpu": float(np.median(cpu)), "wall": float(np.median(wall)), "more MB": more, "shares": shares}


def peer(python: Path, out: Path, n: int, repeats: int) -> float:
    """Median CPU seconds of causal-learn's ANM on the same rows."""
    arrays = {}
    for seed in range(repeats):
        pair = simulate("cubic", n, rng=seed)
        arrays |= {f"{n}-{seed}/x": pair.x, f"{n}-{seed}/y": pair.y}
    np.savez(out / "speed.npz", **arrays)
    script, lines = Path(__file__).parent / "peers" / "run_peer.py", out / f"speed-peer-{n}.jsonl"
    lines.unlink(missing_ok=True)
    env = os.environ | dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    env.pop("PYTHONPATH", None)
    command = [str(python), str(script), "causal-learn-anm", str(out / "speed.npz"), str(lines)]
    subprocess.run(command, check=True, env=env, stdout=subprocess.DEVNULL)
    return float(np.median([json.loads(line)["cpu_seconds"] for line in lines.read_text().splitlines()]))


def main() -> None:
    """Run, and write the tables."""
    parser = options(__doc__ or "")
    parser.add_argument("--sizes", nargs="+", type=int, default=[300, 1000, 3000, 100_000])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--peers", type=Path, help="a folder with the peers' environments")
    parser.add_argument("--peer-rows", type=int, default=2000)
    parser.add_argument("--child", type=int, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        print(json.dumps(child(given.child, given.repeats)))
        return
    given.out.mkdir(parents=True, exist_ok=True)
    times, shares = [], []
    for n in given.sizes:
        repeats = given.repeats if n <= 3000 else 1
        command = [sys.executable, "-m", "bench.causal.speed", "--child", str(n), "--repeats", str(repeats)]
        found = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        row = {"n": n, "dueto CPU s": found["cpu"], "dueto wall s": found["wall"], "more MB": found["more MB"]}
        theirs = None
        if given.peers and n <= given.peer_rows:
            theirs = peer(given.peers / "causal-learn" / "bin" / "python", given.out, n, repeats)
        times.append(row | {"causal-learn ANM CPU s": theirs, "ratio": theirs and theirs / found["cpu"]})
        shares.append({"n": n} | found["shares"])
    write(
        given.out,
        "speed",
        command="python -m bench.causal.speed --peers FOLDER",
        about=machine(),
        tables={"One direction, cubic model": times, "Share of the time (profiled)": shares},
    )


if __name__ == "__main__":
    main()
