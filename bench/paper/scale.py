"""How the time of a rule grows with the rows of the data and with the features, and the memory it takes.

    python -m bench.paper.scale --data FOLDER --rows 10

Rows: the numbers of the first 10^4, 10^5, 10^6 and 3·10^6 flights, and a tree of depth 12: was it late?
Features: 10,000 rows of 10, 50, 200 and 1,000 independent whole numbers from 0 to 9, and a forest of 50 trees of depth
5 of the sum of the first ten. Each size is a process of its own, whose greatest memory is noted. Done sizes are kept in
scale.jsonl. A system whose first rule takes longer than a minute gets no second; a rule that takes longer than
`--limit` is stopped and not counted, and none follows.
"""

from __future__ import annotations

import resource
import time
from contextlib import suppress
from multiprocessing import get_context
from typing import TYPE_CHECKING, Any

import numpy as np
from bench.paper.figures import lines
from bench.paper.runs import TaskRecords, task_options
from bench.paper.systems import SYSTEMS, solved
from bench.quality.models import TimeIsUp, limited
from bench.tables import machine, options, write

from dueto import Explainer, datasets
from dueto.rules.draws import Rows

if TYPE_CHECKING:
    from argparse import Namespace

SIZES = {"rows": (10**4, 10**5, 10**6, 3 * 10**6), "features": (10, 50, 200, 1000)}
SHOWN = ("GreedyRuleCF", "GeneticRule", "GeneticRuleCF", "Anchor", "MinSetCover", "MinimumRule")
LONG = 60.0  # seconds: a system whose first rule takes longer gets no second


def flights(m: int, folder: str | None) -> tuple[Any, Any]:
    """The numbers of m flights, and a tree."""
    from sklearn.tree import DecisionTreeClassifier

    data = datasets.load_flights(folder=folder)
    frame = data.frame.select_dtypes("number").iloc[:m]
    tree = DecisionTreeClassifier(max_depth=12, min_samples_leaf=20, class_weight="balanced", random_state=0)
    return tree.fit(frame.iloc[:200_000], data.target.iloc[: min(m, 200_000)]), frame


def wide(n: int, _: str | None) -> tuple[Any, Any]:
    """10,000 rows of n numbers, and a forest."""
    import pandas as pd
    from sklearn.ensemble import RandomForestClassifier

    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.integers(0, 10, (10_000, n)), columns=[f"f{j}" for j in range(n)])
    target = frame.iloc[:, :10].sum(axis=1) > 45
    return RandomForestClassifier(50, max_depth=5, random_state=0).fit(frame, target), frame


def measured(
    axis: str, size: int, rows: int, seed: int, folder: str | None, systems: list[str], limit: float
) -> dict[str, Any]:
    """Seconds to be made ready, and each system's rules at one size."""
    from threadpoolctl import threadpool_limits

    model, frame = (flights if axis == "rows" else wide)(size, folder)
    with threadpool_limits(limits=1):
        start = time.perf_counter()
        explainer = Explainer(model, frame)
        explainer.model.structure  # noqa: B018
        data = Rows(explainer.distinct, explainer.counts, explainer.good)
        record: dict[str, Any] = {"ready": time.perf_counter() - start, "distinct": len(data.X)}
        chosen = np.random.default_rng(seed).permutation(explainer.refused)[: rows + 1].tolist()
        for system in systems:
            finder, method = SYSTEMS[system]
            times: list[float] = []
            with suppress(TimeIsUp):
                for row in chosen:  # the first warms up
                    with limited(limit):
                        _, told = solved(explainer.query(explainer.X[row]), data, finder(), method(), seed)
                    times.append(told["cpu_seconds"])
                    if times[0] > LONG:
                        break
            times = times[1:] or times  # a first rule that was the only one is counted
            record[system] = {"seconds": float(np.median(times)) if times else None, "rules": len(times)}
    return record | {"peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6}


def table(records: list[dict[str, Any]], systems: list[str]) -> list[dict[str, Any]]:
    """One line for each size and system."""
    return [
        {"axis": r["task"][0], "size": r["task"][1], "distinct rows": r["distinct"], "ready, s": r["ready"]}
        | {"system": system, "CPU s a rule, median": r[system]["seconds"], "rules": r[system]["rules"]}
        | {"peak of all, GB": r["peak"]}
        for r in records
        for system in systems
        if system in r
    ]


def found(asked: Namespace) -> list[dict[str, Any]]:
    """The records of all sizes."""
    records = TaskRecords(asked.out / "scale.jsonl", {"seed": asked.seed}, fresh=asked.fresh)
    for axis, sizes in SIZES.items():
        for size in sizes:
            if (axis, size) not in records.found:
                with get_context("spawn").Pool(1) as pool:
                    call = (axis, size, asked.rows, asked.seed, asked.data, asked.systems, asked.limit)
                    records.add({"task": [axis, size]} | pool.apply(measured, call))
    return list(records.found.values())


def main() -> None:
    parser = options(__doc__ or "")
    task_options(parser)
    parser.add_argument("--rows", type=int, default=10, help="refused rows at each size (default: 10)")
    parser.add_argument("--limit", type=float, default=600.0, help="seconds for one rule (default: 600)")
    parser.add_argument("--systems", type=lambda s: s.split(";"), default=list(SHOWN), help="some, separated by ;")
    asked = parser.parse_args()
    begun = machine()
    told = table(found(asked), asked.systems)
    command = f"python -m bench.paper.scale --rows {asked.rows}"
    write(asked.out, "scale", command=command, about=begun, tables={"Time and memory": told})
    for axis in SIZES:
        part = [row for row in told if row["axis"] == axis]
        lines(asked.out / f"scale-{axis}.png", part, "size", "system", "CPU s a rule, median", "CPU seconds a rule")


if __name__ == "__main__":
    main()
