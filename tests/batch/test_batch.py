"""A batch loses no row, repeats none, and gives each the answer that `explain` gives it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap

import joblib
import numpy as np
import pandas as pd
import pytest

import dueto
from dueto.batch import journal as journals
from dueto.errors import InputError


class Stopped(BaseException):
    """Ends a run from within, as no error does."""


def stop_after(n):
    def progress(told):
        if told.fresh >= n:
            raise Stopped

    return progress


def test_the_answer_of_each_row_is_that_of_explain(explainer, whole_run):
    found, _ = whole_run
    assert [r["row"] for r in found] == explainer.refused.tolist()
    for r in found:
        alone = explainer.explain(r["row"]).to_dict()
        for key in ("label", "score", "rule", "support", "counterfactuals", "status", "methods", "applicant", "broken"):
            assert r[key] == json.loads(json.dumps(alone[key])), key


def test_equal_rows_are_explained_once_and_say_so(explainer, table, whole_run):
    found, _ = whole_run
    twins = [r for r in found if r["same_as"] is not None]
    assert twins
    assert (
        len(found) - len(twins) == found.summary["distinct"] == len(np.unique(explainer.X[explainer.refused], axis=0))
    )
    for r in twins:
        assert table.loc[r["row"]].equals(table.loc[r["same_as"]])
        assert r["label"] == f"Row {r['row']}"


@pytest.mark.parametrize("share", [False, True])
def test_a_run_that_is_stopped_again_and_again_ends_as_an_unbroken_one(explainer, tmp_path, share):
    unbroken = dueto.batch(explainer, out=tmp_path / "a", share=share)
    asked: list[int] = []
    for n in (1, 3, 5):
        with pytest.raises(Stopped):
            dueto.batch(explainer, out=tmp_path / "b", share=share, progress=stop_after(n))
    found = dueto.batch(explainer, out=tmp_path / "b", share=share, progress=lambda p: asked.append(p.fresh))
    assert found.answers == unbroken.answers
    assert asked[-1] < len(found)
    lines = (tmp_path / "b" / "journal.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(lines) == len({json.loads(line)["at"] for line in lines}) == found.summary["distinct"]
    again = dueto.batch(explainer, out=tmp_path / "b", share=share, progress=lambda _: pytest.fail("nothing is left"))
    assert again.records == found.records  # times too


def test_a_line_that_was_cut_off_is_dropped_and_its_row_asked_again(explainer, whole_run, tmp_path):
    with pytest.raises(Stopped):
        dueto.batch(explainer, out=tmp_path / "out", progress=stop_after(5))
    path = tmp_path / "out" / "journal.jsonl"
    path.write_bytes(path.read_bytes()[:-10])
    assert dueto.batch(explainer, out=tmp_path / "out").answers == [r | {"by": {}} for r in whole_run[0].answers]


def test_a_damaged_line_in_the_middle_is_told_by_its_number(explainer, tmp_path):
    with pytest.raises(Stopped):
        dueto.batch(explainer, out=tmp_path / "out", progress=stop_after(3))
    path = tmp_path / "out" / "journal.jsonl"
    path.write_text("{nonsense\n" + path.read_text(encoding="utf-8"), encoding="utf-8")
    with pytest.raises(InputError, match=r"line 1 is damaged"):
        dueto.batch(explainer, out=tmp_path / "out")


def test_killed_in_the_midst_it_goes_on(tmp_path, whole_run, model, table):
    joblib.dump((model, table), tmp_path / "given.joblib")
    script = textwrap.dedent(
        """
        import sys, time, joblib, dueto
        model, table = joblib.load("given.joblib")
        def slow(told):
            time.sleep(0.02)
            print(told.done, flush=True)
        dueto.batch(dueto.Explainer(model, table), out="out", progress=slow)
        """
    )
    run = subprocess.Popen([sys.executable, "-c", script], cwd=tmp_path, stdout=subprocess.PIPE)
    for _ in range(8):
        run.stdout.readline()
    run.send_signal(signal.SIGKILL)
    run.wait()
    run.stdout.close()
    lines = (tmp_path / "out" / "journal.jsonl").read_bytes().count(b"\n")
    assert 8 <= lines < len(whole_run[0])
    found = dueto.batch(dueto.Explainer(model, table), out=tmp_path / "out")
    assert found.answers == [r | {"by": {}} for r in whole_run[0].answers]


def test_more_jobs_give_the_same_in_the_same_order(bound, tmp_path):
    alone = dueto.batch(bound, out=tmp_path / "1", share=True)
    many = dueto.batch(bound, out=tmp_path / "2", share=True, n_jobs=2)
    assert many.answers == alone.answers
    assert many.summary | {"seconds": 0} == alone.summary | {"seconds": 0}


def test_another_question_is_not_gone_on_with_and_what_differs_is_said(explainer, bound, tmp_path):
    with pytest.raises(Stopped):
        dueto.batch(explainer, out=tmp_path / "out", progress=stop_after(1))
    for ask, what in (
        (lambda: dueto.batch(bound, out=tmp_path / "out"), "the constraints differ"),
        (lambda: dueto.batch(explainer, out=tmp_path / "out", rng=1), "the seed differs"),
        (lambda: dueto.batch(explainer, out=tmp_path / "out", k=2, share=True), "most counterfactuals and whether"),
        (lambda: dueto.batch(explainer, [int(explainer.refused[0])], out=tmp_path / "out"), "the rows asked about"),
    ):
        with pytest.raises(InputError, match="results of another question") as told:
            ask()
        assert what in str(told.value)


def test_two_runs_do_not_write_to_one_place(explainer, tmp_path):
    def second(_):
        with pytest.raises(InputError, match="another process writes"):
            dueto.batch(explainer, out=tmp_path / "out")
        raise Stopped

    with pytest.raises(Stopped):
        dueto.batch(explainer, out=tmp_path / "out", progress=second)


@pytest.mark.parametrize("name", ["out", "rows.parquet", "rows.jsonl"])
def test_what_is_written_is_read_back(explainer, tmp_path, name):
    rows = explainer.refused[:6]
    found = dueto.batch(explainer, rows, out=tmp_path / name, by="sex")
    assert sorted(p.name for p in tmp_path.iterdir()) == [name]  # nothing is left beside it
    read = dueto.read_batch(tmp_path / name)
    assert list(read) == list(found)
    assert (read.summary, read.question) == (found.summary, found.question)


def test_the_parquet_file_is_a_table_that_others_can_read(whole_run):
    found, folder = whole_run
    table = pd.read_parquet(folder / "rows.parquet")
    assert table["row"].tolist() == [r["row"] for r in found]
    assert table["rule"].tolist() == [r["rule"]["text"] for r in found]
    assert set(table["standing"]) == {"proved"}
    assert found.to_frame().columns.tolist() == table.columns.tolist()


def test_where_chooses_rows_and_those_not_refused_are_passed_over(explainer, table, tmp_path):
    found = dueto.batch(explainer, where='age > 30 and sex == "m"', out=tmp_path / "out")
    wanted = np.flatnonzero((table["age"] > 30) & (table["sex"] == "m"))
    assert [r["row"] for r in found] == np.intersect1d(wanted, explainer.refused).tolist()
    assert found.summary["passed_over"] == len(wanted) - len(found) > 0


def test_applicants_of_their_own_get_the_answers_of_explain_and_a_bad_one_only_an_error(explainer, table, tmp_path):
    new = table.iloc[explainer.refused[:4]].reset_index(drop=True)
    new.loc[1, "job's"] = "astronaut"
    found = dueto.batch(explainer, new, out=tmp_path / "out", source="new.csv")
    assert [r["row"] for r in found] == [0, 1, 2, 3]
    assert "astronaut" in found.records[1]["error"]
    assert found.records[3]["rule"] == explainer.explain(new.iloc[[3]]).to_dict()["rule"]
    assert found.records[3]["label"] == "Row 3 of new.csv"
    assert found.summary["shares"]["failed"] == 1
    assert dueto.read_batch(tmp_path / "out").to_frame()["error"].isna().tolist() == [True, False, True, True]


def test_labels_name_the_rows_of_the_data_or_of_the_table(explainer, table, tmp_path):
    names = [f"C-{i}" for i in range(len(table))]
    found = dueto.batch(explainer, explainer.refused[:3], out=tmp_path / "a", labels=names, k=1)
    assert [r["label"] for r in found] == [f"C-{i}" for i in explainer.refused[:3]]
    new = table.iloc[explainer.refused[:4]]
    found = dueto.batch(explainer, new, out=tmp_path / "b", labels=iter("abcd"), source="new.csv", k=1)
    assert [r["label"] for r in found] == list("abcd")


class Moody:
    """A model that fails on some rows."""

    def __init__(self, fails):
        self.fails = fails

    def __call__(self, frame):
        if self.fails(frame).any():
            raise RuntimeError("I do not know such people")
        return ((frame["a"] > 3) & (frame["b"] > 3)).astype(float)


def few(a, b):
    return pd.DataFrame({"a": a, "b": b})


def test_a_model_that_fails_on_some_rows_costs_these_rows_alone(tmp_path):
    data = few([1, 2, 3, 4, 5, 6], [5, 4, 4, 5, 1, 6])
    explainer = dueto.Explainer(Moody(lambda t: t["a"] == 9), data)
    found = dueto.batch(explainer, few([1, 9, 2], [1, 1, 2]), out=tmp_path / "out")
    assert [bool(r["error"]) for r in found] == [False, True, False]
    assert "I do not know such people" in found.records[1]["error"]


def test_where_every_row_fails_each_says_why(tmp_path):
    data = few([1, 2, 3, 4, 5, 6], [5, 4, 4, 5, 1, 6])
    explainer = dueto.Explainer(Moody(lambda t: (t["a"] == 5) & (t["b"] == 4)), data)
    found = dueto.batch(explainer, out=tmp_path / "out")
    assert len(found) == 4
    assert all("I do not know such people" in r["error"] for r in found)
    assert found.summary["cover"]["rules"] == []
    assert "4 (100%) without an answer" in str(found)
    assert "4 refused rows" in found.to_html()


def test_a_fault_of_a_row_is_its_answer_whatever_it_is(explainer, tmp_path, monkeypatch):
    real = dueto.Explainer.explain

    def faulty(self, row, **options):
        if row == int(explainer.refused[1]):
            raise ZeroDivisionError("oh")
        return real(self, row, **options)

    monkeypatch.setattr(dueto.Explainer, "explain", faulty)
    found = dueto.batch(explainer, explainer.refused[:3], out=tmp_path / "out")
    assert [r["error"] for r in found] == [None, "unexpected ZeroDivisionError: oh", None]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"where": "age > 300"}, "none meet 'age > 300'"),
        ({"rows": []}, "none are asked about"),
        ({"rows": [100_000]}, "there is no row 100000"),
        ({"where": "agee > 3"}, "did you mean 'age'"),
        ({"where": "age > 'x'"}, "text"),
        ({"where": "age >"}, "something is missing after >"),
        ({"where": "__import__('os')"}, "'__import__' is neither a feature nor score"),
        ({"by": "agee"}, "no column 'agee' to tell shares by; did you mean 'age'"),
        ({"by": {"z": [1]}}, "by gives 1 values of 'z' for 50 rows; give one a row"),
        ({"labels": ["a", "b"]}, "labels gives 2 labels for 50 rows; give one a row"),
        ({"n_jobs": 0}, "n_jobs must not be 0"),
        ({"rng": -1}, "rng"),
        ({"k": 0}, "k, the most counterfactuals"),
    ],
)
def test_bad_input_is_told_in_a_sentence(explainer, tmp_path, options, told):
    with pytest.raises(InputError) as problem:
        dueto.batch(explainer, **{"out": tmp_path / "out"} | options)
    assert told in str(problem.value)
    assert not (tmp_path / "out" / "rows.jsonl").exists()


def test_an_empty_table_of_applicants_is_refused(explainer, table, tmp_path):
    with pytest.raises(InputError, match="has no rows"):
        dueto.batch(explainer, table.iloc[:0], out=tmp_path / "out", source="new.csv")


def test_a_column_that_has_another_name_is_told(explainer, table, tmp_path):
    with pytest.raises(InputError, match="has no column 'age'"):
        dueto.batch(explainer, table.rename(columns={"age": "Age (years)"}), out=tmp_path / "out")


def test_a_place_that_cannot_be_written_is_refused_before_the_work(explainer, tmp_path):
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.txt").write_text("mine")
    (tmp_path / "file").write_text("mine")
    (tmp_path / "there.parquet").write_text("mine")
    for name, told in (
        ("full", "holds other things"),
        ("file", "is a file"),
        ("there.parquet", "is there already"),
        ("none/out", "there is no folder"),
    ):
        with pytest.raises(InputError, match=told):
            dueto.batch(explainer, out=tmp_path / name, progress=lambda _: pytest.fail("too late"))


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_without_the_right_to_write_is_refused(explainer, tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(InputError, match="Permission denied"):
        dueto.batch(explainer, out=tmp_path / "out")
    tmp_path.chmod(0o700)


def test_a_full_disk_is_told_and_what_is_done_is_kept(explainer, whole_run, tmp_path, monkeypatch):
    real, left = os.write, [6]

    def full(file, data):
        left[0] -= 1
        if left[0] < 0:
            return real(file, data[: len(data) // 2])  # as a disk does
        return real(file, data)

    monkeypatch.setattr(journals.os, "write", full)
    with pytest.raises(InputError, match=r"No space left on device; 6 answers are kept"):
        dueto.batch(explainer, out=tmp_path / "out")
    monkeypatch.undo()
    again: list[int] = []
    found = dueto.batch(explainer, out=tmp_path / "out", progress=lambda p: again.append(p.fresh))
    assert len(again) == found.summary["distinct"] - 6
    assert found.answers == [r | {"by": {}} for r in whole_run[0].answers]


def test_parquet_without_its_package_is_refused_at_once(explainer, tmp_path, monkeypatch):
    import importlib.util

    real = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *rest: None if name == "pyarrow" else real(name, *rest)
    )
    with pytest.raises(InputError, match="pip install pyarrow"):
        dueto.batch(explainer, out=tmp_path / "rows.parquet")


def test_reading_says_what_is_no_batch(tmp_path, explainer):
    (tmp_path / "x.jsonl").write_text("[1]\n")
    (tmp_path / "empty").mkdir()
    with pytest.raises(Stopped):
        dueto.batch(explainer, out=tmp_path / "begun", progress=stop_after(1))
    for name, told in (
        ("x.jsonl", "is not a batch"),
        ("empty", "holds no batch"),
        ("begun", "is not finished"),
        ("no", "there is no batch"),
    ):
        with pytest.raises(InputError, match=told):
            dueto.read_batch(tmp_path / name)


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (lambda head, _: head["question"].update(version=1), r"another version of dueto, .* \(format 1, .* reads 2\)"),
        (lambda head, _: head["question"].update(format="x"), "is not a batch of dueto, or damaged"),
        (lambda head, _: head["question"].pop("model"), "or damaged"),
        (lambda head, _: head["summary"].pop("bounds"), "or damaged"),
        (lambda head, _: head["summary"].update(shares={}), "or damaged"),
        (lambda head, _: head.update(summary={}), "or damaged"),
        (lambda head, _: head.update(summary=5), "or damaged"),
        (lambda head, _: head.update(question=None), "or damaged"),
        (lambda _, records: records.pop(), "or damaged"),
        (lambda _, records: records.append(5), "or damaged"),
        (lambda _, records: records.__setitem__(0, {"row": 1}), "or damaged"),
        (lambda _, records: records[0].pop("rule"), "or damaged"),
    ],
)
def test_a_batch_of_another_version_or_a_damaged_one_is_refused_where_it_is_read(whole_run, tmp_path, damage, says):
    path = tmp_path / "rows.jsonl"
    head, *records = map(json.loads, (whole_run[1] / "rows.jsonl").read_text(encoding="utf-8").splitlines())
    damage(head, records)
    path.write_text("\n".join(map(json.dumps, [head, *records])), encoding="utf-8")
    with pytest.raises(InputError, match=says):
        dueto.read_batch(path)


def test_deeply_nested_json_is_damaged(tmp_path):
    (tmp_path / "rows.jsonl").write_text("[" * 100_000)
    with pytest.raises(InputError, match="or damaged"):
        dueto.read_batch(tmp_path / "rows.jsonl")


def test_progress_tells_rate_and_time_left():
    told = dueto.Progress(done=30, total=100, failed=2, fresh=10, seconds=5.0)
    assert (told.rate, told.left) == (2.0, 35.0)
    assert str(told) == "30 of 100 rows, 2 failed, 2 a second, 35 s left"
    assert str(told._replace(total=20_000)) == "30 of 20,000 rows, 2 failed, 2 a second, 2 h 46 min left"
    assert str(dueto.Progress(0, 5, 0, 0, 0.0)) == "0 of 5 rows"


def test_a_generator_is_no_seed(explainer, tmp_path):
    with pytest.raises(TypeError, match="rng must be a seed"):
        dueto.batch(explainer, out=tmp_path / "out", rng=np.random.default_rng(0))


def test_time_is_not_part_of_the_answers(whole_run):
    found, _ = whole_run
    assert all("seconds" in r for r in found)
    assert not any("seconds" in r for r in found.answers)


def test_a_file_of_a_kind_that_is_not_written_is_no_folder(explainer, tmp_path):
    with pytest.raises(InputError, match=r"refused\.csv must be a folder, or a file that ends in \.parquet or \.jsonl"):
        dueto.batch(explainer, out=tmp_path / "refused.csv")
    assert list(tmp_path.iterdir()) == []
