"""Other processes give the same answers; where one dies, nothing is lost."""

from __future__ import annotations

import os
import pickle
import signal

import joblib
import numpy as np
import pandas as pd
import pytest
from joblib._parallel_backends import LokyBackend

import dueto
from dueto.batch.workers import Parcel, Task, answer, answer_parcel
from dueto.errors import InputError


class Rounds(LokyBackend):
    """A backend that gives nothing before all is done, as Ray's."""

    supports_return_generator = False
    rounds = 0

    def start_call(self):
        type(self).rounds += 1
        super().start_call()


joblib.register_parallel_backend("rounds", Rounds)


def data(a=range(12)):
    return pd.DataFrame({"a": list(a), "b": [i * 7 % 12 for i in a]})


def test_a_backend_that_gives_nothing_before_all_is_done_is_asked_in_rounds(explainer, whole_run, tmp_path):
    told, before = [], Rounds.rounds
    with joblib.parallel_config(backend="rounds", n_jobs=2):
        found = dueto.batch(explainer, out=tmp_path / "out", by=["sex", "age"], progress=lambda p: told.append(p.done))
    assert found.answers == whole_run[0].answers
    assert Rounds.rounds - before > 2  # one of them opens the pool
    assert told == sorted(set(told))


@pytest.mark.parametrize("backend", ["loky", "rounds"])
def test_a_row_that_kills_its_process_is_one_record_and_the_others_are_answered(tmp_path, backend):
    home = os.getpid()

    def deadly(frame):
        if len(frame) == 1 and (frame["a"] == 3).any() and os.getpid() != home:
            os.kill(os.getpid(), signal.SIGKILL)
        return ((frame["a"] > 6) & (frame["b"] > 5)).astype(float)

    with joblib.parallel_config(backend=backend):
        found = dueto.batch(dueto.Explainer(deadly, data()), out=tmp_path / "out", n_jobs=2)
    assert [r["row"] for r in found.failed] == [3]
    assert "the process that explained Row 3 died, twice" in found.records[3]["error"]
    assert len(found) == len(found.failed) + sum(r["error"] is None for r in found)


def test_an_explainer_is_unpacked_once_and_answers_as_the_one_that_was_packed(explainer, monkeypatch):
    parcel = Parcel.of(explainer)
    task = Task(0, int(explainer.refused[0]), "Row", 5, 0)
    unpacked = []
    real = pickle.loads
    monkeypatch.setattr(pickle, "loads", lambda *a, **k: unpacked.append(1) or real(*a, **k))
    told = [answer_parcel(task, parcel.key, parcel.head, *parcel.arrays)[1] for _ in range(3)]
    assert unpacked == [1]
    alone = answer(explainer, task)
    assert [t | {"seconds": 0} for t in told] == [alone | {"seconds": 0}] * 3


def test_large_arrays_travel_apart_and_are_not_copied_by_the_worker():
    big = pd.DataFrame(np.random.default_rng(0).integers(0, 1000, (60_000, 3)), columns=["a", "b", "c"])
    explainer = dueto.Explainer(lambda t: t["a"] / 1000, big)
    parcel = Parcel.of(explainer)  # a function made on the spot goes, too
    assert sum(a.nbytes for a in parcel.arrays) >= explainer.X.nbytes
    assert parcel.head.nbytes < 1 << 20
    back = pickle.loads(parcel.head.data, buffers=parcel.arrays)
    assert any(np.shares_memory(back.X, array) for array in parcel.arrays)


def test_where_workers_fail_on_every_row_the_run_stops_with_a_sentence(tmp_path):
    def unpickled():
        raise ImportError("not here")

    class Absent:
        def __reduce__(self):
            return unpickled, ()

        def __call__(self, frame):
            return (frame["a"] > 6).astype(float)

    with pytest.raises(InputError, match=r"the workers cannot explain a row: .*not here"):
        dueto.batch(dueto.Explainer(Absent(), data()), out=tmp_path / "out", n_jobs=2)


def test_a_model_that_cannot_be_sent_is_refused_in_a_sentence(tmp_path):
    with (tmp_path / "open.txt").open("w") as file:
        explainer = dueto.Explainer(lambda t: (t["a"] > 6).astype(float) + 0 * file.fileno(), data())
        with pytest.raises(InputError, match="cannot be sent to other processes"):
            dueto.batch(explainer, out=tmp_path / "out", n_jobs=2)
        assert len(dueto.batch(explainer, out=tmp_path / "out", n_jobs=1)) == 7


def test_threads_give_the_same_answers(explainer, whole_run, tmp_path):
    rows = explainer.refused[:8]
    with joblib.parallel_config(backend="threading", n_jobs=2):
        found = dueto.batch(explainer, rows, out=tmp_path / "out", by=["sex", "age"])
    assert found.answers == whole_run[0].answers[:8]
