"""`dueto batch` on refused rows of Adult: rows a second by jobs, killed twice and gone on with, memory in all.

    python -m bench.speed.batch --rows 5000

The table ships (12 columns: fnlwgt and education left out). The models are pipelines with a OneHotEncoder: an unpruned
tree, and XGBoost with 100 trees of depth 4. The refused rows are drawn by `--seed` and given as a file of applicants.
Every run is a process of its own, start-up included: with one job, with two, with two and killed (SIGKILL, workers too)
at a third and at two thirds of the rows, with one job and `--share`. All without `--share` must give the same records
but for times. CPU seconds are of all processes, those of killed ones included; memory is the largest sum of their
proportional sizes (PSS), looked at four times a second, and needs Linux.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import joblib
import numpy as np
from bench.tables import machine, options, write

import dueto

if TYPE_CHECKING:
    from collections.abc import Sequence

TICK = os.sysconf("SC_CLK_TCK")
ENV = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


def fitted(name: str, frame: Any, target: Any) -> Any:
    """A pipeline fitted on the table."""
    from sklearn.compose import make_column_transformer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder
    from sklearn.tree import DecisionTreeClassifier

    if name == "tree":
        estimator: Any = DecisionTreeClassifier(random_state=0)
    else:
        from xgboost import XGBClassifier

        estimator = XGBClassifier(n_estimators=100, max_depth=4, n_jobs=1, random_state=0)
    words = [column for column in frame if frame[column].dtype.kind not in "iuf"]
    encoded = make_column_transformer((OneHotEncoder(sparse_output=False), words), remainder="passthrough")
    return make_pipeline(encoded, estimator).fit(frame, target)


class Watch:
    """A process and all below it: CPU seconds and the peak of their memory."""

    def __init__(self, command: Sequence[str], folder: Path) -> None:
        self.start = time.perf_counter()
        with (folder / "log.txt").open("ab") as log:
            self.process = subprocess.Popen(
                command, cwd=folder, stdout=log, stderr=log, env={**os.environ, **ENV}, start_new_session=True
            )
        self.ticks: dict[int, int] = {}
        self.peak = 0.0

    def look(self) -> bool:
        """Look at all processes of the session; whether the first of them still runs."""
        memory = 0
        for stat in Path("/proc").glob("[0-9]*/stat"):
            try:
                fields = stat.read_text().rpartition(")")[2].split()
                if int(fields[3]) != self.process.pid:  # the session
                    continue
                pid = int(stat.parent.name)
                self.ticks[pid] = max(self.ticks.get(pid, 0), int(fields[11]) + int(fields[12]))
                lines = (stat.parent / "smaps_rollup").read_text().splitlines()
                memory += sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
            except (OSError, ValueError, IndexError):
                continue  # it ended meanwhile
        self.peak = max(self.peak, memory / 1024)
        return self.process.poll() is None

    def kill(self) -> None:
        """Kill all of them."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    @property
    def cpu(self) -> float:
        """CPU seconds of all."""
        return sum(self.ticks.values()) / TICK


def run(folder: Path, name: str, out: str, *more: str, kill_at: Sequence[int] = ()) -> dict[str, Any]:
    """One run of the verb, killed when so many answers are there, and gone on with."""
    command = [sys.executable, "-m", "dueto", "batch", f"{name}.joblib", "data.parquet", "--trust-pickle"]
    command += ["--applicants", "new.parquet", "--out", out, *more]
    journal, seconds, cpu, peak = folder / out / "journal.jsonl", 0.0, 0.0, 0.0
    for limit in (*kill_at, None):
        watch = Watch(command, folder)
        while watch.look():  # dear: it reads all of /proc
            if limit is not None and journal.exists() and journal.read_bytes().count(b"\n") >= limit:
                watch.kill()
                break
            time.sleep(0.25)
        seconds += time.perf_counter() - watch.start
        cpu, peak = cpu + watch.cpu, max(peak, watch.peak)
        if limit is None and watch.process.returncode:
            sys.exit(f"{out} failed: {(folder / 'log.txt').read_text(errors='replace')[-2000:]}")
    return {"seconds": seconds, "cpu seconds": cpu, "peak MB": peak}


def measured(name: str, rows: int, seed: int, folder: Path) -> list[dict[str, Any]]:
    """All runs of a model."""
    data = dueto.datasets.load_adult()
    frame = data.frame.drop(columns=["fnlwgt", "education"])
    model = fitted(name, frame, data.target)
    joblib.dump(model, folder / f"{name}.joblib")
    frame.to_parquet(folder / "data.parquet")
    refused = np.flatnonzero(model.predict_proba(frame)[:, 1] <= 0.5)
    drawn = np.sort(np.random.default_rng(seed).choice(refused, min(rows, len(refused)), replace=False))
    frame.iloc[drawn].to_parquet(folder / "new.parquet", index=False)
    runs = {
        "1 job": ("--jobs", "1"),
        "2 jobs": ("--jobs", "2"),
        "2 jobs, killed twice": ("--jobs", "2"),
        "1 job, --share": ("--jobs", "1", "--share"),
    }
    found, first = [], None
    for i, (title, more) in enumerate(runs.items()):
        kills = [len(drawn) // 3, 2 * len(drawn) // 3] if "killed" in title else []
        out = f"{name}-{i}"
        spent = run(folder, name, out, *more, kill_at=kills)
        batch = dueto.read_batch(folder / out)
        first = first or batch
        shares, cover = batch.summary["shares"], batch.summary["cover"]
        record = {"model": name, "run": title, "rows": len(batch), "distinct": batch.summary["distinct"]}
        record |= {
            "rows / s": len(batch) / spent["seconds"],
            "rows / CPU s": len(batch) / spent["cpu seconds"],
            **spent,
        }
        record |= {"as the first": "yes" if batch.answers == first.answers else "no", "proved": shares["proved"]}
        record |= {"failed": shares["failed"], "shared": shares["shared"], "rules for 90 %": cover["needed"].get("90%")}
        found.append(record)
        print({key: round(v, 3) if isinstance(v, float) else v for key, v in record.items()}, flush=True)
    return found


def main() -> None:
    parser = options(__doc__ or "")
    parser.add_argument("--rows", type=int, default=5000, help="refused rows (default: 5000)")
    parser.add_argument("--models", default="tree,xgboost-100x4", help="tree, xgboost-100x4 (default: both)")
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    about, found = machine(), []
    with tempfile.TemporaryDirectory() as folder:
        for name in asked.models.split(","):
            found += measured(name, asked.rows, asked.seed, Path(folder))
    command = f"python -m bench.speed.batch --rows {asked.rows}"
    write(asked.out, "batch", command=command, about=about, tables={"Runs": found})


if __name__ == "__main__":
    main()
