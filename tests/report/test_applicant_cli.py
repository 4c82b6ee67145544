"""`dueto explain` writes pages whole, one for each row, and never over what is there."""

from __future__ import annotations

import inspect

import joblib
import numpy as np
import pytest
from click.testing import CliRunner

from dueto.cli import main
from report.kinds import many, tree


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    table = many()
    joblib.dump(tree(table, np.where(table["income"] > 20, "pays", "lost")), folder / "model.joblib")
    table.to_csv(folder / "data.csv", index=False)
    refused = np.flatnonzero(table["income"] <= 20)
    return folder, [str(i) for i in refused[:3]], str(np.flatnonzero(table["income"] > 20)[0])


@pytest.fixture
def explain(made, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    separated = {"mix_stderr": False} if "mix_stderr" in inspect.signature(CliRunner).parameters else {}

    def run(*arguments):
        ask = ["explain", str(made[0] / "model.joblib"), str(made[0] / "data.csv"), "--trust-pickle", *arguments]
        done = CliRunner(**separated).invoke(main, ask)
        if done.exception is not None and not isinstance(done.exception, SystemExit):
            raise done.exception
        return done.exit_code, done.stdout, done.stderr

    return run


def test_a_page_a_text_and_a_letter_of_one_row(explain, made, tmp_path):
    row = made[1][0]
    files = ("--html", "why.html", "--markdown", "why.md", "--letter", "letter.txt")
    code, out, err = explain("--row", row, *files)
    assert code == 0
    assert out.startswith(f"Row {row} is refused")
    for name in files[1::2]:
        assert f"wrote {name}" in err
        assert f"Row {row}" in (tmp_path / name).read_text(encoding="utf-8")
    code, out, err = explain("--row", row, "--html", "why.html")
    assert (code, out) == (2, "")
    assert "why.html is there already; give another name, or remove it first" in err


def test_several_rows_are_a_file_each(explain, made, tmp_path):
    rows = [part for row in made[1] for part in ("--row", row)]
    code, out, err = explain(*rows, "--html", "why.html")
    assert (code, out) == (2, "")
    assert "3 rows need a file each: put {row} into the name, as in why-{row}.html" in err
    assert explain(*rows, "--html", "why-{row}.html")[0] == 0
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted(f"why-{row}.html" for row in made[1])
    code, _, err = explain("--row", made[1][0], "--html", "why-{row}.html")
    assert code == 2
    assert f"why-{made[1][0]}.html is there already" in err


def test_a_row_that_is_not_refused_has_no_page_and_the_others_have(explain, made, tmp_path):
    code, _, err = explain("--row", made[2], "--row", made[1][0], "--html", "why-{row}.html")
    assert code == 2
    assert f"Row {made[2]} is not refused" in err
    assert [p.name for p in tmp_path.iterdir()] == [f"why-{made[1][0]}.html"]


@pytest.mark.parametrize(
    ("option", "name", "problem"),
    [
        ("--html", "why.pdf", "why.pdf must end in .html or .htm"),
        ("--markdown", "why.html", "why.html must end in .md or .markdown"),
        ("--letter", "why.doc", "why.doc must end in .md or .txt or .html or .htm"),
        ("--html", "nowhere/why.html", "there is no folder nowhere to write why.html into"),
    ],
)
def test_a_file_that_cannot_be_is_refused_before_the_work(explain, made, option, name, problem):
    code, out, err = explain("--row", made[1][0], option, name)
    assert (code, out) == (2, "")
    assert problem in err


def test_two_things_are_not_written_into_one_file(explain, made):
    code, _, err = explain("--row", made[1][0], "--html", "a.html", "--letter", "a.html")
    assert code == 2
    assert "a.html: give each a name of its own" in err


def test_a_disk_that_is_full_costs_the_page_and_not_the_answer(explain, made, tmp_path, monkeypatch):
    from pathlib import Path

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    code, out, err = explain("--row", made[1][0], "--html", "why.html")
    assert code == 2
    assert "cannot write why.html: No space left on device" in err
    assert out.startswith(f"Row {made[1][0]} is refused")
    assert list(tmp_path.iterdir()) == []
