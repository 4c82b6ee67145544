"""A cluster of processes, one of which is killed in mid-run: nothing is lost, nothing repeated."""

from __future__ import annotations

import os
import signal

import joblib
import pytest

import dueto

pytestmark = [
    pytest.mark.filterwarnings("ignore"),  # of a worker's death, in many words
]


@pytest.fixture
def cluster():
    distributed = pytest.importorskip("distributed", reason="a cluster of processes needs the package distributed")
    import dask

    quick = {
        "distributed.scheduler.allowed-failures": 3,
        "distributed.worker.memory.terminate": False,
        "distributed.admin.tick.limit": "60s",
        "distributed.comm.timeouts.connect": "60s",
    }
    with (
        dask.config.set(quick),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=60
        ) as started,
        distributed.Client(started) as client,
    ):
        client.wait_for_workers(2)
        yield client


def test_with_a_worker_killed_in_mid_run_the_answers_are_those_of_one_process(explainer, whole_run, tmp_path, cluster):
    workers = sorted(set(cluster.run(os.getpid).values()))
    assert len(workers) == 2
    assert os.getpid() not in workers
    told = []

    def progress(p):
        told.append(p.done)
        if p.fresh == 4:
            os.kill(workers[0], signal.SIGKILL)

    with joblib.parallel_config(backend="dask"):
        found = dueto.batch(explainer, out=tmp_path / "out", by=["sex", "age"], progress=progress)
    assert found.answers == whole_run[0].answers
    assert told == sorted(set(told))  # one after another, none twice
    lines = (tmp_path / "out" / "journal.jsonl").read_bytes().splitlines()
    assert len(lines) == found.summary["distinct"]
