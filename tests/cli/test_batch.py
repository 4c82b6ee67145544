"""dueto batch: what it prints, writes and says when something is wrong; with a terminal and without."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import dueto as library

ASK = ("batch", "tree.pkl", "data.csv", "--trust-pickle")


def test_it_writes_all_refused_rows_and_prints_the_summary(dueto, folder, tmp_path):
    code, out, err = dueto(*ASK, "--out", tmp_path / "out", "--by", "outcome", "--where", "score <= .5 and age > 40")
    assert code == 0, err
    found = library.read_batch(tmp_path / "out")
    data = pd.read_csv(folder / "data.csv")
    wanted = data.index[(data["outcome"] == "lost") & (data["age"] > 40)]
    assert [r["row"] for r in found] == wanted.tolist()
    assert str(found).splitlines()[0] in out
    assert {r["by"]["outcome"] for r in found} == {"lost"}  # no feature of the model
    assert f"wrote {tmp_path / 'out' / 'index.html'}" in err
    assert {p.name for p in (tmp_path / "out").iterdir()} >= {
        "rows.jsonl",
        "rows.parquet",
        "summary.json",
        "index.html",
    }
    row = found.records[0]["row"]
    alone = json.loads(dueto("explain", *ASK[1:], "--row", row, "--json")[1])
    assert found.records[0]["rule"] == alone["rule"]
    assert found.records[0]["counterfactuals"] == alone["counterfactuals"]


@pytest.mark.usefixtures("folder")
def test_json_is_the_summary_and_nothing_else_is_on_stdout(dueto, tmp_path):
    code, out, err = dueto(*ASK, "--where", "age > 60", "--out", tmp_path / "rows.jsonl", "--json")
    assert code == 0, err
    assert json.loads(out) == library.read_batch(tmp_path / "rows.jsonl").summary


@pytest.mark.usefixtures("folder")
def test_applicants_come_from_a_file_by_its_name(dueto, tmp_path):
    new = pd.DataFrame({"age": [30, 30, 30], "income": [10, 50, 20], "debt": [35, 5, 39]})
    new.to_csv(tmp_path / "new.csv", index=False)
    code, _, err = dueto(*ASK, "--applicants", tmp_path / "new.csv", "--out", tmp_path / "out.parquet")
    assert code == 0, err
    found = library.read_batch(tmp_path / "out.parquet")
    assert [r["label"] for r in found] == ["Row 0 of new.csv", "Row 2 of new.csv"]
    assert found.summary["passed_over"] == 1


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--where", "agee > 3"), "did you mean 'age'"),
        (("--where", "age > 300"), "none meet 'age > 300'"),
        (("--by", "outcom"), "did you mean 'outcome'"),
        (("--jobs", "0"), "--jobs must not be 0"),
        (("--out", "none/out"), "there is no folder"),
        (("--out", "data.parquet"), "is there already"),
        (("--out", "."), "holds other things"),
        (("--applicants", "empty.csv"), "has no rows"),
        (("--applicants", "renamed.csv"), "has no column 'age', which the data has"),
        (("--method", "gredy"), "gredy"),
    ],
)
def test_bad_input_is_one_sentence_and_exit_code_2(dueto, folder, tmp_path, options, told):
    (folder / "empty.csv").write_text("age,income,debt\n")
    (folder / "renamed.csv").write_text("Age (years),income,debt\n30,10,10\n")
    given = ("--out", tmp_path / "out") if "--out" not in options else ()
    code, out, err = dueto(*ASK, *given, *options)
    assert code == 2
    assert told in err
    assert not out
    assert "Traceback" not in err


def test_interrupted_it_ends_with_130_and_what_is_done_is_kept(folder, tmp_path):
    rng = np.random.default_rng(0)  # so many rows that it is not done before it is interrupted
    many = {"age": rng.integers(18, 70, 4000), "income": rng.integers(5, 60, 4000), "debt": rng.integers(0, 40, 4000)}
    pd.DataFrame(many).to_csv(tmp_path / "many.csv", index=False)
    command = [sys.executable, "-m", "dueto", *ASK, "--out", str(tmp_path / "out")]
    command[command.index("data.csv")] = str(tmp_path / "many.csv")
    run = subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE, stdout=subprocess.PIPE)
    journal = tmp_path / "out" / "journal.jsonl"
    while run.poll() is None and not (journal.exists() and journal.stat().st_size):
        pass
    run.send_signal(signal.SIGINT)
    out, err = run.communicate(timeout=120)
    kept = journal.read_bytes().count(b"\n")
    assert run.returncode == 130, err
    assert b"what is done is kept: run the same again to go on" in err
    assert not out
    assert kept >= 1


@pytest.mark.skipif(os.name == "nt", reason="a terminal is made by pty")
def test_on_a_terminal_progress_tells_rows_rate_and_time_left(folder, tmp_path):
    import pty

    main, side = pty.openpty()
    command = [sys.executable, "-m", "dueto", *ASK, "--out", str(tmp_path / "out")]
    run = subprocess.Popen(command, cwd=folder, stderr=side, stdout=subprocess.DEVNULL)
    os.close(side)
    said = b""
    while True:
        try:
            part = os.read(main, 4096)
        except OSError:  # its other end is closed
            break
        if not part:
            break
        said += part
    os.close(main)
    assert run.wait() == 0
    assert b"explaining the rows ..." in said or b" a second, " in said


def test_one_row_without_an_answer_is_told_in_the_singular(dueto, folder, tmp_path):
    table = pd.read_csv(folder / "data.csv").query("outcome == 'lost'").head(3).astype({"age": object})
    table.iloc[1, 0] = "old"
    table.to_csv(tmp_path / "new.csv", index=False)
    asked = ["--applicants", tmp_path / "new.csv", "--out", tmp_path / "out", "--k", "1", "--trust-pickle"]
    code, _, err = dueto("batch", "tree.pkl", "data.csv", *asked)
    assert code == 0
    assert "dueto: 1 row has no answer; the first, Row 1 of new.csv: " in err
