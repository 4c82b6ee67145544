"""Figures 1 and 3 of the rule paper: classifiers that are themselves rules of 2, 4, 6 or 8 components.

    python -m bench.paper.synthetic --data FOLDER --count 1000 --jobs 2

Each classifier refuses exactly those who meet a rule over the credit table, made of components that a random row meets
and that not everybody does. Each system is asked why that row is refused, the classifier being a black box. A rule is
*exact* if it is that rule, *redundant* if it has all its components and more, *inconsistent* if it lacks one: then an
applicant who differs from the row in that alone meets it and is accepted. Done tasks are kept in synthetic.jsonl.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from bench.paper.figures import bars, lines
from bench.paper.runs import cells, done, mean, median, percent, task_options
from bench.paper.systems import PAPERS, SYSTEMS, solved
from bench.tables import machine, options, write

from dueto import datasets
from dueto.counterfactuals import build_query
from dueto.domain import distinct_rows
from dueto.models import Model
from dueto.rule import Components, Rule, bits
from dueto.rules.draws import Rows

if TYPE_CHECKING:
    from dueto.space import FeatureSpace

SIZES = (2, 4, 6, 8)
OUTCOMES = ("exact", "redundant", "inconsistent")


@lru_cache(maxsize=1)
def table(folder: str | None) -> tuple[FeatureSpace, np.ndarray, np.ndarray]:
    """The credit table: its space, its distinct rows, encoded, and how often each occurs."""
    data = datasets.load_paper_credit(folder=folder)
    assert data.space is not None
    X = data.space.encode(data.frame)
    first, _, counts = distinct_rows(X)
    return data.space, X[first], counts


def classifier(space: FeatureSpace, X: np.ndarray, size: int, number: int, seed: int) -> tuple[np.ndarray, int]:
    """A row, and as many of the components that it meets and not everybody does."""
    rng = np.random.default_rng([seed, size, number])
    while True:
        x = X[rng.integers(len(X))]
        components = Components(space, x)
        telling = [bit for bit in bits(components.all) if not components.box(1 << bit).contains(X).all()]
        if len(telling) >= size:
            return x, sum(1 << int(bit) for bit in rng.choice(telling, size, replace=False))


def work(size: int, number: int, system: str, seed: int, folder: str | None) -> dict[str, Any]:
    """What a system says of one classifier."""
    space, X, counts = table(folder)
    x, truth = classifier(space, X, size, number, seed)
    box = Components(space, x).box(truth)
    model = Model(lambda Z: ~box.contains(Z), space, table=lambda Z: Z)
    good = ~box.contains(X)
    query = build_query(model, space, x, X=X, counts=counts, donors=X[good], inside=np.ones(good.sum(), dtype=bool))
    finder, method = SYSTEMS[system]
    rule, record = solved(query, Rows(X, counts, good), finder(), method(), seed)
    return record | {"outcome": outcome(rule, Components(space, x).rule(truth))}


def outcome(found: Rule, truth: Rule) -> str:
    """Whether the rule found is the true one, says more, or is false."""
    if not set(truth) <= set(found):
        return "inconsistent"
    return "exact" if len(set(found)) == len(truth) else "redundant"


def summary(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """One line for each size and system."""
    return [
        cell
        | {"classifiers": len(part)}
        | {f"{o} %": round(percent(part, "outcome", o), 1) for o in OUTCOMES}
        | {"length, mean": mean(part, "length")}
        | {"CPU s, median": median(part, "cpu_seconds"), "CPU s, mean": mean(part, "cpu_seconds")}
        | {"rows scored, median": int(median(part, "rows_scored"))}
        for cell, part in cells(records, "components", "system")
    ]


def times(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """For each size, each system's mean time relative to that of GreedyRuleCF."""
    found = []
    for cell, part in cells(rows, "components"):
        mean = {r["system"]: r["CPU s, mean"] for r in part}
        if "GreedyRuleCF" in mean:
            found.append(cell | {system: s / mean["GreedyRuleCF"] for system, s in mean.items()})
    return found


def main() -> None:
    parser = options(__doc__ or "")
    task_options(parser)
    parser.add_argument("--count", type=int, default=1000, help="classifiers of each size (default: 1000)")
    parser.add_argument("--systems", type=lambda s: s.split(","), default=list(PAPERS), help="some of the systems")
    asked = parser.parse_args()
    begun = machine()
    tasks = [
        (size, number, system, asked.seed, asked.data)
        for number in range(asked.count)
        for size in SIZES
        for system in asked.systems
    ]
    records = done(asked.out / "synthetic.jsonl", asked, tasks, work, key="components number system")
    rows = sorted(summary(records), key=lambda row: row["components"])
    command = f"python -m bench.paper.synthetic --count {asked.count}"
    tables = {"Quality and time": rows, "Time relative to GreedyRuleCF": times(rows)}
    write(asked.out, "synthetic", command=command, about=begun, tables=tables)
    bars(asked.out / "figure1.png", rows, "components", "system", [f"{o} %" for o in OUTCOMES], "% of classifiers")
    lines(asked.out / "figure3.png", rows, "components", "system", "CPU s, mean", "CPU seconds a rule, mean")


if __name__ == "__main__":
    main()
