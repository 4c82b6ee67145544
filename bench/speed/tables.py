"""Tables larger than memory would like: load, space, rows and index, from four kinds of file, and in memory.

    python -m bench.speed.tables --data FOLDER --scratch FOLDER

The flights join (3 million rows, 18 columns; two of them texts with 229 airports, and two with their states) is cut to
`--rows`, and each size is written to `--scratch` in every format. Every way has a process of its own, one after the
other, which loads a decision tree (in a pipeline with an ordinal encoder, fitted on 20,000 rows) and makes an
`Explainer`: `pandas` reads the Parquet file whole, as a user would; the others are read in parts. Seconds are those of
the wall and, in brackets, of the processor; the peaks of memory are those of the process in that phase, less what it
had before the first.

*space*: what values occur (for pandas, with reading the file); *rows*: every row encoded, distinct ones found;
*scores*: the model's answer for each distinct row; *index*: the question of one refused row and the index of its
components; *explain*: that row explained, the index and all included. All ways are checked to find the same space
and the same refused rows; the rule is printed, since a search that its time limit ends may give another on a busy
machine.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from bench.tables import machine, options, write

WAYS = {"pandas": "parquet", "Parquet": "parquet", "Arrow": "arrow", "DuckDB": "duckdb", "CSV": "csv"}
PHASES = ("space", "rows", "scores", "index", "explain")


def prepare(folder: Path, scratch: Path, sizes: list[int]) -> None:
    """Write the tables and the model, where they are not there yet."""
    import duckdb
    import joblib
    import pandas as pd
    from sklearn.compose import make_column_transformer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OrdinalEncoder
    from sklearn.tree import DecisionTreeClassifier

    from dueto.datasets import load_flights

    scratch.mkdir(parents=True, exist_ok=True)
    missing = [n for n in sizes if not (scratch / f"{n}.duckdb").exists()]
    if not missing and (scratch / "model.joblib").exists():
        return
    data = load_flights(folder=folder)
    frame = data.frame
    texts = [c for c in frame.columns if isinstance(frame[c].dtype, pd.CategoricalDtype)]
    frame = frame.astype(dict.fromkeys(texts, str))
    sample = frame.sample(20_000, random_state=0)
    gaps = {c: [float("nan")] if frame[c].isna().any() else [] for c in texts}
    encoder = OrdinalEncoder(categories=[[*sorted(frame[c].dropna().unique()), *gaps[c]] for c in texts])
    tree = DecisionTreeClassifier(max_leaf_nodes=100, random_state=0)
    model = make_pipeline(make_column_transformer((encoder, texts), remainder="passthrough"), tree)
    joblib.dump(model.fit(sample, data.target[sample.index]), scratch / "model.joblib")
    for n in missing:
        part = frame.sample(n, random_state=1).sort_index() if n < len(frame) else frame
        part.to_parquet(scratch / f"{n}.parquet", index=False)
        part.to_feather(scratch / f"{n}.arrow")
        part.to_csv(scratch / f"{n}.csv", index=False)
        with duckdb.connect(str(scratch / f"{n}.duckdb")) as connection:
            connection.execute(f"CREATE TABLE flights AS SELECT * FROM '{scratch / f'{n}.parquet'}'")


class Clock:
    """Wall and processor seconds, and the peak of memory, phase by phase."""

    def __init__(self) -> None:
        self.told: dict[str, Any] = {}
        self.start = self.now()

    @staticmethod
    def now() -> tuple[float, float]:
        used = resource.getrusage(resource.RUSAGE_SELF)
        return time.perf_counter(), used.ru_utime + used.ru_stime

    def lap(self, name: str) -> None:
        now = self.now()
        self.told[name] = [now[0] - self.start[0], now[1] - self.start[1]]
        self.told[f"{name} peak"] = peak()
        peak(anew=True)
        self.start = self.now()


def peak(*, anew: bool = False) -> float:
    """The most memory that this process had since the last time it was asked `anew`, in MB (Linux)."""
    if anew:
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    told = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines())
    return int(told["VmHWM"].split()[0]) / 1000


def one(way: str, file: Path, model_file: Path) -> dict[str, Any]:
    """One way, in this process."""
    import hashlib

    import joblib
    import pandas as pd

    from dueto import Explainer, FeatureSpace, open_table
    from dueto.rules import Oracle
    from dueto.seeds import generator

    model = joblib.load(model_file)
    tiny = pd.read_parquet(file.with_suffix(".parquet").parent / "tiny.parquet")
    small = Explainer(model, tiny)
    small.explain(int(small.refused[0]))  # everything imported and compiled
    clock, before = Clock(), peak(anew=True)
    data: Any = pd.read_parquet(file) if way == "pandas" else open_table(file)
    space = FeatureSpace.infer(data)
    clock.lap("space")
    explainer = Explainer(model, data, space=space)
    clock.lap("rows")
    refused = explainer.refused
    clock.lap("scores")
    row = int(refused[0])
    query = explainer.query(explainer.X[row])
    oracle = Oracle(query, explainer.method, generator(0), rows=explainer.rows)
    oracle.index.count(0)
    clock.lap("index")
    found = explainer.explain(row)
    clock.lap("explain")
    held = explainer.distinct.nbytes + explainer.which.nbytes + explainer.counts.nbytes
    held += explainer.X.nbytes if way == "pandas" else 0
    known = json.dumps([space.to_dict()["features"], refused.tolist()])
    return clock.told | {
        "before": before,
        "distinct": len(explainer.distinct),
        "held": held,
        "checked": hashlib.sha256(known.encode()).hexdigest(),
        "rule": str(found.rule),
    }


def main() -> None:
    parser = options(__doc__ or "")
    parser.add_argument("--data", type=Path, help="the folder of the tables that do not ship (or DUETO_DATA)")
    parser.add_argument(
        "--scratch", type=Path, required=True, help="where the tables are written, 1 GB for 3 million rows"
    )
    parser.add_argument("--rows", default="100000,1000000,3000000", help="sizes, with commas between them")
    parser.add_argument("--ways", default=",".join(WAYS), help="which ways")
    parser.add_argument("--one", nargs=2, help="one way and size, in this process")
    asked = parser.parse_args()
    if asked.one:
        way, n = asked.one
        file = asked.scratch / f"{n}.{WAYS[way]}"
        print(json.dumps(one(way, file, asked.scratch / "model.joblib")))
        return
    sizes, ways = [int(n) for n in asked.rows.split(",")], asked.ways.split(",")
    prepare(asked.data, asked.scratch, sorted({*sizes, 5000}))
    (asked.scratch / "tiny.parquet").write_bytes((asked.scratch / "5000.parquet").read_bytes())
    taken, memory = [], []
    for n in sizes:
        checks, rules = set(), set()
        for way in ways:
            command = [
                sys.executable,
                "-m",
                "bench.speed.tables",
                "--scratch",
                str(asked.scratch),
                "--one",
                way,
                str(n),
            ]
            ran = subprocess.run(command, capture_output=True, text=True, check=False)
            if ran.returncode:
                sys.exit(f"{way}, {n}: {ran.stderr}")
            told = json.loads(ran.stdout.splitlines()[-1])
            checks.add(told["checked"])
            rules.add(told["rule"])
            seconds = {p: f"{told[p][0]:.3g} ({told[p][1]:.3g})" for p in PHASES}
            ready = sum(told[p][1] for p in PHASES[:3])
            size = (asked.scratch / f"{n}.{WAYS[way]}").stat().st_size
            taken.append({"way": way, "table rows": n, **seconds, "ready, processor µs a row": 1e6 * ready / n})
            peaks = {f"peak at {p}, MB": told[f"{p} peak"] - told["before"] for p in PHASES}
            memory.append(
                {"way": way, "rows": n, "file MB": size / 1e6, "distinct rows": told["distinct"]}
                | {"held, bytes a row": told["held"] / n}
                | peaks
            )
            print(taken[-1], memory[-1], file=sys.stderr)
        assert len(checks) == 1, f"{n} rows: the ways differ in what they read"
        print(f"{n} rows: the rule is {' or, where time ran out, '.join(sorted(rules))}", file=sys.stderr)
    command = f"python -m bench.speed.tables --rows {asked.rows}"
    write(asked.out, "streamed_tables", command=command, about=machine(), tables={"Seconds": taken, "Memory": memory})


if __name__ == "__main__":
    main()
