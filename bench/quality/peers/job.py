"""What the peers that explain a scikit-learn forest share: a job's files, and a process for a row, which can be ended.

A folder holds `job.json` (`names`; `seconds` a row; `seed`; `fixed` and `rising`, columns that may not change, or not
fall; `reasons`, for PyXAI), `X.npy` and `rows.npy` (whole numbers from 0 on), `forest.joblib`. A line a row is written
to `answers.jsonl`, as soon as it is there.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import sys
import time
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import joblib
import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    Answer = Callable[[np.ndarray], dict[str, Any]]

PATIENCE = 1.5  # times the seconds that a row may take: then it is ended, if the peer does not keep to them


def run(package: str, make: Callable[[dict[str, Any]], Answer], *, keeps_time: bool = False) -> None:
    """Answer every row of the job that the command line names; whoever keeps to the time needs no child process."""
    folder = Path(sys.argv[1])
    sys.argv = sys.argv[:1]  # PyXAI reads it
    job: dict[str, Any] = json.loads((folder / "job.json").read_text(encoding="utf-8"))
    job |= {"X": np.load(folder / "X.npy"), "forest": joblib.load(folder / "forest.joblib")}
    start = time.perf_counter()
    answer = make(job)
    head = {"version": version(package), "setup_seconds": time.perf_counter() - start}
    with (folder / "answers.jsonl").open("w", encoding="utf-8") as file:
        for x in np.load(folder / "rows.npy"):
            found = timed(answer, x) if keeps_time else in_child(answer, x, PATIENCE * job["seconds"])
            file.write(json.dumps(head | found, default=float) + "\n")
            file.flush()


def timed(answer: Answer, x: np.ndarray) -> dict[str, Any]:
    """What `answer` says of a row, with its time; or an `error`."""
    start, cpu = time.perf_counter(), sum(os.times()[:4])  # with what it starts, PyXAI's solver say
    try:
        found = answer(x)
    except Exception as problem:
        found = {"error": f"{type(problem).__name__}: {problem}"[:300]}
    return {"seconds": time.perf_counter() - start, "cpu_seconds": sum(os.times()[:4]) - cpu} | found


def in_child(answer: Answer, x: np.ndarray, seconds: float) -> dict[str, Any]:
    """The same in a process of its own, ended when the time is over."""
    fork = multiprocessing.get_context("fork")
    here, there = fork.Pipe(duplex=False)
    child = fork.Process(target=_send, args=(answer, x, there))
    start = time.perf_counter()
    child.start()
    there.close()
    try:
        found = here.recv() if here.poll(seconds) else {"error": f"ended after {seconds:g} s"}
    except EOFError:
        found = {"error": "the process died"}
    if "error" in found and child.is_alive():
        os.killpg(child.pid, signal.SIGKILL)  # with what it has started
    child.join()
    return {"seconds": time.perf_counter() - start, "cpu_seconds": None} | found


def _send(answer: Answer, x: np.ndarray, there: Any) -> None:
    os.setpgrp()
    there.send(timed(answer, x))
