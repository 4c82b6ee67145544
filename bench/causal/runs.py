"""Many small experiments: in parallel, each kept in a file as soon as it is done, so that a stopped run goes on."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

from joblib import Parallel, delayed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path


def resumed(
    path: Path, tasks: Iterable[dict[str, Any]], work: Callable[..., dict[str, Any]], *, n_jobs: int
) -> list[dict[str, Any]]:
    """The record of each task, `task | work(**task)`, in order: those in the file are not done again."""
    path.parent.mkdir(parents=True, exist_ok=True)
    tasks = list(tasks)
    done = {}
    if path.exists():
        for line in path.read_text(encoding="utf-8").splitlines():
            record = json.loads(line)
            done[key(record, tasks[0])] = record
    left = [task for task in tasks if key(task, tasks[0]) not in done]
    with path.open("a", encoding="utf-8") as file:
        for record in Parallel(n_jobs=n_jobs, return_as="generator_unordered")(delayed(one)(work, t) for t in left):
            file.write(json.dumps(record) + "\n")
            file.flush()
            done[key(record, tasks[0])] = record
            if sys.stderr.isatty():
                print(f"\r{len(done)} done", end="", file=sys.stderr)
    return [done[key(task, tasks[0])] for task in tasks]


def one(work: Callable[..., dict[str, Any]], task: dict[str, Any]) -> dict[str, Any]:
    """A task with its result."""
    return task | work(**task)


def key(record: dict[str, Any], like: dict[str, Any]) -> str:
    """What tells a task from others."""
    return json.dumps({name: record[name] for name in like})
