"""The tables and models of the exact benchmarks, the rows asked about, and records that a stopped run goes on from."""

from __future__ import annotations

import signal
import sys
import time
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from bench.quality.first_answer import Records, fingerprint

from dueto import Explainer, datasets
from dueto.counterfactuals import Auto
from dueto.models import Tree

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Callable, Iterator

    from dueto.counterfactuals import Query
    from dueto.datasets import Dataset

TABLES = {
    "credit": datasets.load_paper_credit,
    "adult": datasets.load_paper_adult,
    "heloc": datasets.load_heloc,
}
WARMING = 20.0  # seconds that the row before the first may take, which compiles what is compiled


class TimeIsUp(BaseException):
    """No error, so that nothing but `limited` catches it."""


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Raise TimeIsUp in the body after so many seconds, when Python has the word again."""

    def stop(*_: Any) -> None:
        raise TimeIsUp

    signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


@contextmanager
def timed(record: dict[str, Any], prefix: str = "") -> Iterator[None]:
    """Put wall-clock and CPU seconds of the body into a record."""
    start = time.perf_counter(), time.process_time()
    try:
        yield
    finally:
        record[f"{prefix}seconds"] = time.perf_counter() - start[0]
        record[f"{prefix}cpu_seconds"] = time.process_time() - start[1]


def _tree(data: Dataset) -> Any:
    from sklearn.tree import DecisionTreeClassifier

    if data.tree is not None:
        return Tree.from_arrays(**{name: np.asarray(array) for name, array in data.tree.items()})
    return DecisionTreeClassifier(random_state=0).fit(data.frame, data.target)


def _forest(depth: int | None) -> Callable[[Dataset], Any]:
    def fit(data: Dataset) -> Any:
        from sklearn.ensemble import RandomForestClassifier

        return RandomForestClassifier(100, max_depth=depth, random_state=0).fit(data.frame, data.target)

    return fit


def _xgboost(n_trees: int, depth: int) -> Callable[[Dataset], Any]:
    def fit(data: Dataset) -> Any:
        from xgboost import XGBClassifier

        model = XGBClassifier(n_estimators=n_trees, max_depth=depth, n_jobs=1, random_state=0)
        return model.fit(data.frame, data.target)

    return fit


def _lightgbm(n_trees: int, depth: int) -> Callable[[Dataset], Any]:
    def fit(data: Dataset) -> Any:
        from lightgbm import LGBMClassifier

        options = {"num_leaves": 2**depth, "n_jobs": 1, "random_state": 0, "verbose": -1}
        return LGBMClassifier(n_estimators=n_trees, max_depth=depth, **options).fit(data.frame, data.target)

    return fit


def _histgb(n_trees: int, depth: int) -> Callable[[Dataset], Any]:
    def fit(data: Dataset) -> Any:
        from sklearn.ensemble import HistGradientBoostingClassifier

        options = {"max_leaf_nodes": None, "early_stopping": False, "random_state": 0}
        return HistGradientBoostingClassifier(max_iter=n_trees, max_depth=depth, **options).fit(data.frame, data.target)

    return fit


def _logistic(data: Dataset) -> Any:
    from sklearn.linear_model import LogisticRegression

    return _scaled(LogisticRegression(max_iter=1000)).fit(data.frame, data.target)


def _mlp(*layers: int) -> Callable[[Dataset], Any]:
    def fit(data: Dataset) -> Any:
        from sklearn.neural_network import MLPClassifier

        network = MLPClassifier(layers, early_stopping=True, max_iter=300, random_state=0)
        return _scaled(network).fit(data.frame, data.target)

    return fit


def _scaled(estimator: Any) -> Any:
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(StandardScaler(), estimator)


MODELS: dict[str, Callable[[Dataset], Any]] = {
    "tree": _tree,
    "logistic": _logistic,
    "xgboost-100x4": _xgboost(100, 4),
    "xgboost-300x6": _xgboost(300, 6),
    "lightgbm-300x6": _lightgbm(300, 6),
    "histgb-100x4": _histgb(100, 4),
    "histgb-300x6": _histgb(300, 6),
    "forest-6": _forest(6),
    "forest-10": _forest(10),
    "forest-unlimited": _forest(None),
    "mlp-16x2": _mlp(16, 16),
    "mlp-32x2": _mlp(32, 32),
    "mlp-64x2": _mlp(64, 64),
    "mlp-16x10": _mlp(*[16] * 10),
}


class CellRecords(Records):
    """Records of rows, and one of each cell (a table and a model), whose row is None."""

    @staticmethod
    def key(record: dict[str, Any]) -> tuple[Any, ...]:
        return record["table"], record["model"], record["row"]

    def cell(self, table: str, model: str) -> list[dict[str, Any]]:
        """What is known of the rows of a cell, in the order they were drawn."""
        return [r for key, r in self.found.items() if key[:2] == (table, model) and r["row"] is not None]


def exact(seconds: float) -> Auto:
    """The default counterfactual method, with so many seconds a question."""
    limit = [replace(m, seconds=seconds) if hasattr(m, "seconds") else m for m in Auto().structured]  # type: ignore[type-var]
    return Auto(structured=tuple(limit))


def cell_options(parser: ArgumentParser, rows: int, models: dict[str, Any] | list[str] = MODELS) -> None:
    """The options of a benchmark over tables and models."""
    parser.add_argument("--data", help="folder of the benchmark data (default: what DUETO_DATA names)")
    parser.add_argument("--rows", type=int, default=rows, help=f"refused rows of each cell (default: {rows})")
    parser.add_argument("--seed", type=int, default=0, help="chooses the rows, and is the methods' seed (default: 0)")
    parser.add_argument("--seconds", type=float, default=60.0, help="the most that one answer may take (default: 60)")
    parser.add_argument(
        "--cell-seconds", type=float, default=600.0, help="the most for a table and model (default: 600)"
    )
    parser.add_argument("--tables", type=_names, default=list(TABLES), help=f"some of {','.join(TABLES)}")
    parser.add_argument("--models", type=_names, default=list(models), help=f"some of {','.join(models)}")
    parser.add_argument("--fresh", action="store_true", help="forget what an earlier run found")


def _names(text: str) -> list[str]:
    return text.split(",")


def run_cells(asked: Namespace, records: CellRecords, work: Callable[[Explainer, Query, int], dict[str, Any]]) -> None:
    """`work` on the rows of every cell, until there are enough or its seconds are spent, an earlier run's too."""
    for table in asked.tables:
        data = TABLES[table](folder=asked.data)
        for name in asked.models:
            if not _left(asked, records.cell(table, name)):
                continue
            head: dict[str, Any] = {"table": table, "model": name}
            about: dict[str, Any] = head | {"row": None}
            with timed(about, "fit_"):
                model = MODELS[name](data)
            explainer = Explainer(model, data.frame, space=data.space, counterfactual_method=exact(asked.seconds))
            with timed(about, "structure_"):
                structure = explainer.model.structure
            *rows, spare = np.random.default_rng(asked.seed).permutation(explainer.refused).tolist()
            about |= {"refused": len(rows) + 1, "skipped": skipped(explainer, spare)}
            about["leaves"] = getattr(getattr(structure, "form", None), "n_leaves", None)
            records.add(about)
            if about["skipped"]:
                print(f"{table}, {name}: left out, {about['skipped']}", file=sys.stderr)
                continue
            with suppress(TimeIsUp), limited(WARMING):
                work(explainer, explainer.query(explainer.X[spare]), spare)
            for row in rows[: asked.rows]:
                key = head | {"row": row}
                if CellRecords.key(key) not in records.found and _left(asked, records.cell(table, name)):
                    start = time.perf_counter()
                    found = work(explainer, explainer.query(explainer.X[row]), row)
                    found |= {"spent": time.perf_counter() - start, "code": fingerprint()}
                    records.add(key | found)
            print(f"{table}, {name}: {len(records.cell(table, name))} rows", file=sys.stderr)


def _left(asked: Namespace, done: list[dict[str, Any]]) -> bool:
    return len(done) < asked.rows and sum(r["spent"] for r in done) < asked.cell_seconds


def skipped(explainer: Explainer, row: int) -> str:
    """Why nothing can be proved of the model, or empty."""
    if explainer.model.structure is None:
        return explainer.model.unstructured
    query = explainer.query(explainer.X[row])
    if explainer.method.judge(query) is None:  # type: ignore[attr-defined]
        return "no exact method judges rules on such a model"
    return ""


def about_cell(records: CellRecords, asked: Namespace, table: str, model: str) -> dict[str, Any]:
    """The first columns of every table: the cell, rows tried, and rows that the time did not reach."""
    done = len(records.cell(table, model))
    return {"table": table, "model": model, "rows": done, "not tried": max(0, asked.rows - done)}


def left_out(records: CellRecords) -> list[dict[str, Any]]:
    """The cells without a proof, and why."""
    cells = [r for r in records.found.values() if r["row"] is None and r["skipped"]]
    return [{"table": r["table"], "model": r["model"], "left out because": r["skipped"]} for r in cells]


def each(records: CellRecords) -> Iterator[tuple[str, str]]:
    """The cells that have rows, in the order of `TABLES` and `MODELS`."""
    return ((table, model) for table in TABLES for model in MODELS if records.cell(table, model))


def codes(records: Records) -> dict[str, Any]:
    """With which versions of the library's source how many rows were made."""
    count: dict[str, int] = {}
    for record in records.found.values():
        if "code" in record:
            count[record["code"]] = count.get(record["code"], 0) + 1
    return {"dueto": " and ".join(f"{code} ({n} rows)" for code, n in count.items())}


def spread(part: list[dict[str, Any]], key: str) -> list[float]:
    """Median and 95th percentile."""
    values = [r[key] for r in part]
    return [float(np.median(values)), float(np.percentile(values, 95))]


def share(yes: Iterator[Any]) -> float | None:
    """In per cent."""
    found = [bool(y) for y in yes]
    return round(100 * sum(found) / len(found), 1) if found else None
