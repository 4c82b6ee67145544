"""One row after another, or many at once by joblib: whatever happens to a row is its answer."""

from __future__ import annotations

import hashlib
import pickle
import threading
from dataclasses import replace
from importlib import import_module
from importlib.util import find_spec
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dueto.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from dueto.explain import Explainer

__all__ = ["Task", "answers"]

LARGE = 1 << 20  # bytes of an array from which on it travels by itself: once a worker, or mapped from a file
MINE = threading.local()  # the explainer that this worker (or this thread of it) unpacked last


class Task(NamedTuple):
    """A row to explain.

    Parameters
    ----------
    at : int
        Which of the distinct rows it is.
    row : int or table of one row
        As `Explainer.explain` takes it.
    label : str
        What it is called.
    k, seed : int
        As `Explainer.explain` takes them.
    changes_only : bool
        Whether its rule is known already.
    """

    at: int
    row: Any
    label: str
    k: int
    seed: int
    changes_only: bool = False


class Parcel(NamedTuple):
    """An explainer packed for the way to other processes: its arrays apart, which joblib maps and Dask sends once."""

    key: str
    head: NDArray[np.uint8]
    arrays: tuple[NDArray[np.uint8], ...]

    @classmethod
    def of(cls, explainer: Explainer) -> Parcel:
        """Packed, functions that were made on the spot included."""
        arrays: list[NDArray[np.uint8]] = []

        def inside(buffer: pickle.PickleBuffer) -> bool:
            raw = buffer.raw()
            if raw.nbytes < LARGE:
                return True
            arrays.append(np.frombuffer(raw, dtype=np.uint8))
            return False

        try:
            head = _cloudpickle().dumps(explainer, protocol=5, buffer_callback=inside)
        except Exception as problem:
            raise InputError(
                f"the model {explainer.model.name!r} cannot be sent to other processes "
                f"({type(problem).__name__}: {' '.join(str(problem).split())[:200]}); use one job"
            ) from problem
        return cls(hashlib.sha256(head).hexdigest(), np.frombuffer(head, dtype=np.uint8), tuple(arrays))


def answers(explainer: Explainer, tasks: Sequence[Task], n_jobs: int | None) -> Iterator[tuple[int, dict[str, Any]]]:
    """The answer of each task, as plain data, as soon as it is there: in no particular order.

    An error is an answer, `{"error": text}`. If workers die, the tasks that they had are tried again, each alone: only
    one that takes its worker with it again is given up.

    Raises
    ------
    InputError
        If the explainer cannot be sent to other processes; if workers fail on every task.
    """
    from joblib import Parallel, delayed

    def parallel(return_as: str = "list") -> Any:
        return Parallel(n_jobs=n_jobs, return_as=return_as, batch_size=1, pre_dispatch="2*n_jobs")

    if _sequential(parallel()):
        for task in tasks:
            yield task.at, answer(explainer, task)
        return
    parcel, todo, answered = Parcel.of(explainer), {task.at: task for task in tasks}, 0
    call = delayed(answer_parcel)
    streams = parallel()._backend.supports_return_generator  # Ray's gives nothing before all is done
    under_way = (2 if streams else 8) * _jobs(n_jobs)

    def ask(some: Sequence[Task]) -> Iterator[tuple[int, dict[str, Any]]]:
        calls = (call(task, parcel.key, parcel.head, *parcel.arrays) for task in some)
        if streams:
            yield from parallel("generator_unordered")(calls)
            return
        with parallel() as pool:
            while next_ones := list(islice(calls, under_way)):
                yield from pool(next_ones)

    while todo:
        try:
            for at, record in ask(list(todo.values())):
                del todo[at]
                answered += 1
                yield at, record
        except Exception as problem:
            lost, suspects = problem, list(todo.values())[:under_way]
        else:
            return
        failed = []
        for task in suspects:
            try:
                ((at, record),) = list(ask([task]))
            except Exception as problem:
                lost = problem
                failed.append(task)
                continue
            del todo[at]
            answered += 1
            yield at, record
        text = f"{type(lost).__name__}: {' '.join(str(lost).split())[:300]}"
        if failed and not answered:
            raise InputError(f"the workers cannot explain a row: {text}") from lost
        for task in failed:
            del todo[task.at]
            yield task.at, {"error": f"the process that explained {task.label} died, twice ({text})"}


def answer_parcel(task: Task, key: str, head: NDArray[np.uint8], *arrays: NDArray[np.uint8]) -> tuple[int, Any]:
    """A task, on a worker, which unpacks the explainer once."""
    if getattr(MINE, "key", None) != key:
        MINE.explainer, MINE.key = pickle.loads(head.data, buffers=arrays), key
    return task.at, answer(MINE.explainer, task)


def answer(explainer: Explainer, task: Task) -> dict[str, Any]:
    """The explanation of a row as plain data, or why there is none."""
    ask = explainer.changes if task.changes_only else explainer.explain
    try:
        found = ask(task.row, k=task.k, rng=task.seed, label=task.label)
        return replace(found, background=None).to_dict() | {"error": None}  # what is behind it is the same for all rows
    except InputError as problem:
        return {"error": str(problem)}
    except Exception as problem:  # somebody's model, or a fault of ours: this row's alone
        text = " ".join(str(problem).split())
        return {"error": f"unexpected {type(problem).__name__}{f': {text}' if text else ''}"}


def _cloudpickle() -> Any:
    """The pickler that comes with joblib: inside it, or beside it since 1.6."""
    inside = find_spec("cloudpickle") is None
    return import_module("joblib.externals.cloudpickle" if inside else "cloudpickle")


def _jobs(n_jobs: int | None) -> int:
    from joblib import effective_n_jobs

    return max(1, int(effective_n_jobs(n_jobs)))


def _sequential(parallel: Any) -> bool:
    """Whether joblib would run one task after another in this process."""
    from joblib.parallel import SequentialBackend

    backend = parallel._backend
    local = isinstance(backend, SequentialBackend) or type(backend).__module__.startswith("joblib._parallel_backends")
    return local and (isinstance(backend, SequentialBackend) or _jobs(parallel.n_jobs) == 1)
