"""Anchors of alibi, made in a virtual environment of its own: ``python anchors.py JOB_DIR``; see README.md.

Reads ``job.json``, ``X.npy``, ``rows.npy`` and ``model.npz``; writes ``anchors.json``, where each anchor is
also a conjunction of exact bounds on raw columns, so that another program can tell which points it covers.
"""

from __future__ import annotations

import argparse
import json
import logging
import tempfile
import time
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import expit
from threadpoolctl import threadpool_limits

if TYPE_CHECKING:
    from collections.abc import Callable

# The defaults of alibi 0.9.6, spelt out.
BINS = {"disc_perc": (25, 50, 75)}
SAMPLING = {"batch_size": 100, "coverage_samples": 10_000}
SEARCH = {"threshold": 0.95, "delta": 0.1, "tau": 0.15, "beam_size": 1} | SAMPLING


def tree_score(model: dict[str, np.ndarray]) -> Callable[[np.ndarray], np.ndarray]:
    """P(class 1) of a decision tree: go left iff float32(x) <= threshold; a leaf's children are negative."""
    here = np.arange(len(model["left"]))
    leaf = model["left"] < 0
    left, right = np.where(leaf, here, model["left"]), np.where(leaf, here, model["right"])
    feature, threshold = np.where(leaf, 0, model["feature"]), model["threshold"].astype(np.float64)
    p = model["value"][:, 1] / model["value"].sum(axis=1)

    def score(X: np.ndarray) -> np.ndarray:
        X, i, node = X.astype(np.float32), np.arange(len(X)), np.zeros(len(X), dtype=np.intp)
        while True:
            child = np.where(X[i, feature[node]] <= threshold[node], left[node], right[node])
            if np.array_equal(child, node):
                return p[node]
            node = child

    return score


def mlp_score(model: dict[str, np.ndarray]) -> Callable[[np.ndarray], np.ndarray]:
    """P(class 1) of a network on (x - mean) / scale: ReLU layers a @ W + b, then a logistic output."""
    layers = [(model[f"W{k}"], model[f"b{k}"]) for k in range(sum(name.startswith("W") for name in model))]

    def score(X: np.ndarray) -> np.ndarray:
        a = (X - model["mean"]) / model["scale"]
        for W, b in layers[:-1]:
            a = np.maximum(a @ W + b, 0)
        W, b = layers[-1]
        return expit((a @ W + b).reshape(len(X), -1)[:, -1])

    return score


class Table:
    """The table alibi sees: the columns outside every group, then one code per group of one-hot columns.

    A code numbers the distinct tuples that the group's columns take in the training rows.
    """

    def __init__(self, X: np.ndarray, names: list[str], groups: dict[str, list[int]]) -> None:
        grouped = {column for columns in groups.values() for column in columns}
        self.width = X.shape[1]
        self.plain = [column for column in range(self.width) if column not in grouped]
        self.groups = [(name, columns, np.unique(X[:, columns], axis=0)) for name, columns in groups.items()]
        self.names = [names[column] for column in self.plain] + list(groups)
        self.categories = {
            g: ["+".join(np.array(names)[columns][t != 0]) or "none" for t in tuples]
            for g, (_, columns, tuples) in enumerate(self.groups, start=len(self.plain))
        }

    def encode(self, X: np.ndarray) -> np.ndarray:
        if np.isnan(X).any():
            raise ValueError("a value is missing, and alibi has no bin for it")
        coded = [X[:, self.plain]]
        for name, columns, tuples in self.groups:
            same = (X[:, None, columns] == tuples).all(axis=2)
            if not same.any(axis=1).all():
                raise ValueError(f"a row has values of {name!r} that no training row has")
            coded.append(same.argmax(axis=1)[:, None])
        return np.hstack(coded)

    def decode(self, T: np.ndarray) -> np.ndarray:
        X = np.empty((len(T), self.width))
        X[:, self.plain] = T[:, : len(self.plain)]
        for g, (_, columns, tuples) in enumerate(self.groups, start=len(self.plain)):
            X[:, columns] = tuples[T[:, g].astype(np.intp)]
        return X


class Predictor:
    """Labels for alibi, 1 iff score > threshold; counts rows scored and ends a search at its deadline."""

    def __init__(self, score: Callable[[np.ndarray], np.ndarray], table: Table, threshold: float) -> None:
        self.score, self.table, self.threshold = score, table, threshold
        self.rows, self.deadline = 0, np.inf

    def __call__(self, T: np.ndarray) -> np.ndarray:
        if time.perf_counter() > self.deadline:
            raise TimeoutError("time limit reached")
        self.rows += len(T)
        return (self.score(self.table.decode(T)) > self.threshold).astype(int)


class Anchors:
    """alibi's AnchorTabular, fitted to a job's training rows."""

    def __init__(self, X: np.ndarray, score: Callable[[np.ndarray], np.ndarray], job: dict[str, Any]) -> None:
        from alibi.explainers import AnchorTabular

        self.job, self.table = job, Table(X, job["feature_names"], job.get("groups") or {})
        self.predictor = Predictor(score, self.table, job["threshold"])
        categories = self.table.categories or None
        self.alibi = AnchorTabular(self.predictor, self.table.names, categories, seed=job["seed"])
        start = time.perf_counter()
        self.alibi.fit(self.table.encode(X), **BINS)
        self.fit_seconds = time.perf_counter() - start
        self.predicates: list[int] = []  # alibi overwrites those it chose when it names them: keep them
        add_names = self.alibi.add_names_to_exp

        def add_names_and_keep(result: dict[str, Any]) -> None:
            self.predicates = list(result["feature"])
            add_names(result)

        self.alibi.add_names_to_exp = add_names_and_keep

    def explain(self, index: int, row: np.ndarray) -> dict[str, Any]:
        """The record of one row; whatever goes wrong becomes its ``error``."""
        np.random.seed(self.job["seed"])  # noqa: NPY002 - alibi draws from it; a row's anchor owes nothing to other rows
        start, cpu, self.predictor.rows = time.perf_counter(), time.process_time(), 0
        self.predictor.deadline = start + self.job["time_limit"]
        record: dict[str, Any] = {"index": index}
        try:
            found = self.alibi.explain(self.table.encode(row[None])[0], **SEARCH)
        except Exception as error:
            record["error"] = f"{type(error).__name__}: {error}"
        record |= {"seconds": time.perf_counter() - start, "cpu_seconds": time.process_time() - cpu}
        record |= {"rows_scored": self.predictor.rows}
        if "error" not in record:
            record |= {
                "prediction": int(found.raw["prediction"][0]),
                "precision": float(np.ravel(found.precision)[0]),
                "coverage": float(found.coverage),
                "precision_met": bool(found.raw["success"]),
                "names": list(found.anchor),
                "anchor": [term for f in found.raw["feature"] for term in self.terms(int(f))],
            }
        return record

    def terms(self, f: int) -> list[dict[str, Any]]:
        """What the anchor just found says of feature f of the table, as bounds on raw columns."""
        mine = [p for p in self.predicates if self.alibi.enc2feat_idx[p] == f]
        if f >= len(self.table.plain):
            name, columns, tuples = self.table.groups[f - len(self.table.plain)]
            values = tuples[int(self.alibi.cat_lookup[mine[0]])].tolist()
            return [
                {"feature": c, "low": v, "high": v, "low_open": False, "high_open": False, "group": name}
                for c, v in zip(columns, values, strict=True)
            ]
        # Bin b of a number is cuts[b - 1] < x <= cuts[b]; each predicate allows a set of bins.
        cuts = self.alibi.samplers[0].disc.lambdas[f].keywords["qts"].tolist()
        bins = set.intersection(*(self.alibi.ord_lookup[p] for p in mine))
        low = cuts[min(bins) - 1] if min(bins) > 0 else None
        high = cuts[max(bins)] if max(bins) < len(cuts) else None
        term = {"feature": self.table.plain[f], "low": low, "high": high}
        return [term | {"low_open": low is not None, "high_open": False}]


def covers(anchor: list[dict[str, Any]], X: np.ndarray) -> np.ndarray:
    """Which raw rows satisfy every term of a translated anchor."""
    inside = np.ones(len(X), dtype=bool)
    for term in anchor:
        x, low, high = X[:, term["feature"]], term["low"], term["high"]
        inside &= True if low is None else (x > low if term["low_open"] else x >= low)
        inside &= True if high is None else (x < high if term["high_open"] else x <= high)
    return inside


def run(folder: Path) -> dict[str, Any]:
    """Explain the rows of a job and write ``anchors.json``."""
    job = json.loads((folder / "job.json").read_text(encoding="utf-8"))
    with np.load(folder / "model.npz") as arrays:
        score = {"tree": tree_score, "mlp": mlp_score}[job["kind"]](dict(arrays))
    X, rows = np.load(folder / "X.npy").astype(np.float64), np.load(folder / "rows.npy").astype(np.float64)
    with threadpool_limits(limits=1):
        anchors = Anchors(X, score, job)
        records = [anchors.explain(index, row) for index, row in enumerate(rows)]
    answer = {"alibi": version("alibi"), "settings": SEARCH | BINS | {"seed": job["seed"]}}
    answer |= {"fit_seconds": anchors.fit_seconds, "rows": records}
    (folder / "anchors.json").write_text(json.dumps(answer, indent=1), encoding="utf-8")
    return answer


def self_test() -> None:
    """A small job with a tree and a one-hot group: predictors, translation, failures and repeatability."""
    from sklearn.neural_network import MLPClassifier
    from sklearn.tree import DecisionTreeClassifier

    rng = np.random.default_rng(7)
    work, flag = rng.integers(3, size=900), rng.integers(2, size=900)
    numbers = np.column_stack([rng.integers(18, 81, size=900), rng.lognormal(7, 1, size=900), flag])
    X = np.insert(numbers, [0, 2, 3], np.eye(3)[work], axis=1)  # columns 0, 3, 5 are the group
    y = (X[:, 2] > 900) & ((X[:, 1] > 40) | (work == 1)) ^ (rng.random(900) < 0.03)

    tree = DecisionTreeClassifier(random_state=0).fit(X, y)
    t = tree.tree_
    arrays = {name: getattr(t, name) for name in ("feature", "threshold")}
    arrays |= {"left": t.children_left, "right": t.children_right, "value": t.value[:, 0, :]}
    inner = np.flatnonzero(t.feature >= 0)
    at_threshold = X[rng.integers(900, size=len(inner))]
    at_threshold[np.arange(len(inner)), t.feature[inner]] = t.threshold[inner]
    for rows in (X, at_threshold):
        assert np.array_equal(tree_score(arrays)(rows), tree.predict_proba(rows)[:, 1])

    mean, scale = X.mean(axis=0), X.std(axis=0)
    mlp = MLPClassifier((8, 5), random_state=0, tol=1.0).fit((X - mean) / scale, y)
    weights = {f"W{k}": W for k, W in enumerate(mlp.coefs_)}
    weights |= {f"b{k}": b for k, b in enumerate(mlp.intercepts_)}
    proba = mlp.predict_proba((X - mean) / scale)[:, 1]
    assert np.allclose(mlp_score({"mean": mean, "scale": scale} | weights)(X), proba, rtol=0, atol=1e-12)

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        job = {"feature_names": ["work_a", "age", "income", "work_b", "flag", "work_c"], "kind": "tree"}
        job |= {"threshold": 0.5, "seed": 0, "time_limit": 60, "groups": {"work": [0, 3, 5]}}
        table = Table(X, job["feature_names"], job["groups"])
        assert np.array_equal(table.decode(table.encode(X)), X)
        rows = np.vstack([X[:12], X[0]])
        rows[12, [0, 3, 5]] = 1  # as no training row has it
        np.save(folder / "X.npy", X)
        np.save(folder / "rows.npy", rows)
        np.savez(folder / "model.npz", **arrays)
        (folder / "job.json").write_text(json.dumps(job), encoding="utf-8")
        *records, unseen = run(folder)["rows"]
        assert "no training row" in unseen["error"]
        for record in records:
            inside = covers(record["anchor"], X)
            assert inside[record["index"]], record
            assert abs(inside.mean() - record["coverage"]) < 0.03, (inside.mean(), record)
            assert record["prediction"] == tree.predict(X[[record["index"]]])[0]
        used = " ".join(name for record in records for name in record["names"])
        assert all(feature in used for feature in ("age", "income", "work"))
        np.save(folder / "rows.npy", rows[5:12])
        for again, record in zip(run(folder)["rows"], records[5:], strict=True):
            assert all(again[key] == record[key] for key in ("anchor", "precision", "rows_scored"))
        (folder / "job.json").write_text(json.dumps(job | {"time_limit": 0}), encoding="utf-8")
        assert all(r["error"].startswith("TimeoutError") for r in run(folder)["rows"])
    print("self-test passed")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("job", nargs="?", type=Path, metavar="JOB_DIR")
    parser.add_argument("--self-test", action="store_true")
    options = parser.parse_args()
    logging.getLogger("alibi").setLevel(logging.ERROR)  # "precision_met" says what it would warn of
    if options.self_test:
        self_test()
    elif options.job:
        run(options.job)
    else:
        parser.error("give JOB_DIR or --self-test")
