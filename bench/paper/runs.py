"""Experiments as tasks: run side by side, noted one by one as they end, gone on with where they were stopped."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Any

import numpy as np
from bench.quality.first_answer import Records
from joblib import Parallel, delayed

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path


class TaskRecords(Records):
    """Records whose key is their task."""

    @staticmethod
    def key(record: dict[str, Any]) -> tuple[Any, ...]:
        return tuple(record["task"])


def task_options(parser: ArgumentParser) -> None:
    """The options of an experiment made of tasks."""
    parser.add_argument("--data", help="folder of the benchmark data (default: what DUETO_DATA names)")
    parser.add_argument("--seed", type=int, default=0, help="draws the tasks, and is the systems' seed (default: 0)")
    parser.add_argument("--jobs", type=int, default=1, help="processes (default: 1; times are of one thread each)")
    parser.add_argument(
        "--seconds", type=float, default=float("inf"), help="begin no task after so many (default: any)"
    )
    parser.add_argument("--fresh", action="store_true", help="forget what an earlier run found")


def done(
    path: Path, asked: Namespace, tasks: Sequence[tuple[Any, ...]], work: Callable[..., dict[str, Any]], *, key: str
) -> list[dict[str, Any]]:
    """The records of tasks: those that an earlier run left, and `work(*task)` for the others.

    `key` names the first arguments of a task, which tell it from the others; a record has them by name.
    """
    names = key.split()
    records = TaskRecords(path, {"seed": asked.seed}, fresh=asked.fresh)
    todo = [task for task in tasks if task[: len(names)] not in records.found]
    until = time.monotonic() + asked.seconds
    calls = (delayed(_noted)(work, task, len(names)) for task in todo if time.monotonic() < until)
    for n, record in enumerate(Parallel(n_jobs=asked.jobs, return_as="generator_unordered")(calls), start=1):
        records.add(record)
        if n % 50 == 0:
            print(f"{n} of {len(todo)} tasks", file=sys.stderr, flush=True)
    keys = [task[: len(names)] for task in tasks]
    return [dict(zip(names, k, strict=True)) | records.found[k] for k in keys if k in records.found]


def _noted(work: Callable[..., dict[str, Any]], task: tuple[Any, ...], key: int) -> dict[str, Any]:
    from threadpoolctl import threadpool_limits

    with threadpool_limits(limits=1):
        return {"task": list(task[:key])} | work(*task)


def cells(records: list[dict[str, Any]], *names: str) -> Iterator[tuple[dict[str, Any], list[dict[str, Any]]]]:
    """Records that agree in some fields, and these fields: the lines of a table."""
    found: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for record in records:
        found.setdefault(tuple(record[name] for name in names), []).append(record)
    for values, part in found.items():
        yield dict(zip(names, values, strict=True)), part


def mean(part: list[dict[str, Any]], name: str) -> float:
    return float(np.mean([record[name] for record in part]))


def median(part: list[dict[str, Any]], name: str) -> float:
    return float(np.median([record[name] for record in part]))


def percent(part: list[dict[str, Any]], name: str, value: Any) -> float:
    """In how many of 100 records a field has a value."""
    return 100 * float(np.mean([record[name] == value for record in part]))
