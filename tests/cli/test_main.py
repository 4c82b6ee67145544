"""The frame around the verbs: what is imported, what goes where, which code is left with."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys

import pandas as pd
import pytest

import dueto as package
from dueto.cli import console, main
from dueto.cli import space as space_verb

HEAVY = [
    "numpy",
    "pandas",
    "scipy",
    "sklearn",
    "skops",
    "onnxruntime",
    "polars",
    "pyarrow",
    "joblib",
    "matplotlib",
    "networkx",
]
TRUST = ["--trust-pickle"]

pytestmark = pytest.mark.usefixtures("folder")


def python(code):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


# -- what is imported -------------------------------------------------------------------------------------------------


def test_help_imports_nothing_heavy():
    asked = [["--help"], ["--version"], [], *([verb, "--help"] for verb in main.commands)]
    code = f"""
import sys
from dueto.cli import main
for arguments in {asked}:
    try:
        main(arguments)
    except SystemExit as left:
        assert left.code == 0
print("loaded:", sorted(set(sys.modules) & set({HEAVY})))"""
    assert python(code).endswith("loaded: []")


def test_importing_the_package_imports_nothing_heavy():
    assert python(f"import sys, dueto; print(sorted(set(sys.modules) & set({HEAVY})))") == "[]"


def test_every_public_name_is_found_where_it_lives():
    assert set(package.__all__) == {*package._HOME, "__version__"} == set(dir(package))
    for name, home in package._HOME.items():
        found = getattr(package, name)
        assert found is getattr(sys.modules[f"dueto.{home}"], name)
    assert package.datasets.__name__ == "dueto.datasets"
    with pytest.raises(AttributeError, match="no attribute 'explian'"):
        _ = package.explian


@pytest.mark.parametrize(
    "first",
    ["import dueto", "import dueto.explain", "from dueto.explain import Explainer", "import dueto; dueto.Explainer"],
)
def test_dueto_explain_is_the_function_whatever_was_imported_first(first):
    assert python(f"{first}\nimport dueto\nprint(type(dueto.explain).__name__)") == "function"


# -- what goes where --------------------------------------------------------------------------------------------------


def test_results_go_to_stdout_and_notes_to_stderr(shell, row):
    code, out, err = shell("explain", "tree.pkl", "data.csv", "--row", row, "--json", *TRUST)
    assert code == 0
    assert json.loads(out)["row"] == int(row)
    assert err.splitlines() == [
        "dueto: the model was not fitted on 'outcome' of data.csv: ignored",
        "dueto: taking 'paid' as the desired outcome (the other is 'lost'); --desired names another",
    ]


@pytest.mark.filterwarnings("default")
def test_a_talkative_model_spoils_no_result_and_warns_in_one_line(dueto, row):
    code, out, err = dueto("explain", "talker.pkl", "data.csv", "--row", row, "--json", *TRUST)
    assert code == 0, err
    assert json.loads(out)["row"] == int(row)
    assert err.count("warning") == 1
    assert "dueto: warning: the model is old and tired\n" in err
    assert "predicting" in err


def test_stdout_without_unicode_gets_the_same_in_ascii(shell, row, folder):
    ascii_only = {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    code, out, _ = shell("counterfactuals", "tree.pkl", "data.csv", "--row", row, *TRUST, env=ascii_only)
    assert code == 0
    assert " -> " in out
    (folder / "towns.csv").write_text("town\nZürich\nBern\n", encoding="utf-8")
    code, out, _ = shell("space", "towns.csv", "--json", env=ascii_only)
    assert code == 0
    assert json.loads(out)["features"][0]["labels"] == ["Bern", "Zürich"]


@pytest.mark.skipif(sys.platform != "linux", reason="needs /dev/full")
@pytest.mark.parametrize("lost", ["2>&-", "2>/dev/full"])
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_notes_that_cannot_be_written_are_dropped_and_the_answer_stands(folder, row, lost, unbuffered):
    def run(*arguments):
        command = ["sh", "-c", f'exec "$@" {lost}', "sh", sys.executable, "-m", "dueto", *arguments, *TRUST]
        environment = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
        done = subprocess.run(command, stdout=subprocess.PIPE, cwd=folder, env=environment, text=True, check=False)
        return done.returncode, done.stdout

    code, out = run("counterfactuals", "tree.pkl", "data.csv", "--row", row, "--json")
    assert code == 0
    assert json.loads(out)["row"] == int(row)
    assert run("counterfactuals", "tree.pkl", "data.csv", "--row", "x") == (2, "")


def test_a_name_with_a_line_break_makes_no_line_of_its_own(dueto, tmp_path):
    data = pd.DataFrame({"age\nProved:": range(40), "job": ["a\nNote: all is well", "b"] * 20})
    data.to_csv(tmp_path / "data.csv", index=False)
    (tmp_path / "fixed.plaf").write_text(r'fixed("age\\nProved:")')
    code, out, err = dueto("space", tmp_path / "data.csv")
    assert code == 0, err
    assert r"age\nProved:" in out
    assert r"a\nNote: all is well, b" in out
    assert not any(line.startswith(("Proved", "Note")) for line in out.splitlines())
    code, out, err = dueto("check", tmp_path / "fixed.plaf", tmp_path / "data.csv")
    assert code == 0, err
    assert r"age\nProved: must stay the same" in out


def test_a_note_is_one_line(dueto, tmp_path, row):
    code, _, err = dueto("explain", "tree.pkl", "data.csv", "--row", row, *TRUST, "--letter", tmp_path / "a\nb.txt")
    assert code == 0, err
    assert all(line.startswith("dueto: ") for line in err.splitlines())


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
def test_progress_is_shown_on_a_terminal_only_and_nothing_of_it_stays(folder, row):
    import pty

    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "dueto", "explain", "tree.pkl", "data.csv", "--row", row, "--json", *TRUST]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=theirs, cwd=folder) as process:
        out = process.stdout.read()
    os.close(theirs)
    shown = os.read(ours, 100_000).decode()
    os.close(ours)
    assert process.returncode == 0
    assert json.loads(out)
    assert "scoring the data ..." in shown
    assert "searching for changes and a rule ..." in shown
    assert shown.endswith("\r\033[K")


def test_colours_only_where_they_are_wanted(dueto, row, monkeypatch):
    monkeypatch.delenv("NO_COLOR", raising=False)
    asked = ["explain", "tree.pkl", "data.csv", "--row", row, *TRUST]
    assert "\033[1mIt is due to this:\033[0m" in dueto(*asked, color=True)[1]
    assert "\033" not in "".join(dueto(*asked)[1:])
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\033" not in "".join(dueto(*asked, color=True)[1:])


# -- which code is left with ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["explian"], "No such command 'explian'"),
        (["explain"], "Missing argument 'MODEL' (see dueto explain --help)"),
        (["space", "data.csv", "--jsno"], "No such option"),
        (["explain", "a", "b", "--k", "x"], "'x' is not a valid integer"),
        (["explain", "a", "b", "--seed", "-1"], "-1 is not in the range"),
    ],
)
def test_a_slip_in_the_command_is_one_sentence_and_code_2(shell, arguments, says):
    code, out, err = shell(*arguments)
    assert (code, out) == (2, "")
    assert err.startswith("dueto: ")
    assert says in err
    assert err.count("\n") == 1
    assert "Traceback" not in err


def fail(monkeypatch, problem):
    def raising(*_, **__):
        raise problem

    monkeypatch.setattr(space_verb, "data_and_space", raising)


@pytest.mark.parametrize(
    ("problem", "code", "says"),
    [
        (ValueError("a is\n wrong"), 2, "dueto: a is wrong\n"),
        (TypeError("b is wrong"), 2, "dueto: b is wrong\n"),
        (PermissionError(13, "Permission denied", "d.csv"), 2, "dueto: cannot use d.csv: Permission denied\n"),
        (KeyError("c"), 4, "dueto: unexpected KeyError: 'c'; run `dueto --debug ...` for the traceback\n"),
        (MemoryError(), 4, "dueto: unexpected MemoryError; run `dueto --debug ...` for the traceback\n"),
        (KeyboardInterrupt(), 130, ""),
    ],
)
def test_no_exception_reaches_the_user_as_a_traceback(dueto, monkeypatch, problem, code, says):
    fail(monkeypatch, problem)
    assert dueto("space", "data.csv") == (code, "", says)


def test_debug_shows_the_traceback_and_keeps_the_sentence_and_the_exit_code(dueto, monkeypatch):
    fail(monkeypatch, ValueError("deep"))
    code, _, err = dueto("--debug", "space", "data.csv")
    assert code == 2
    assert "Traceback (most recent call last)" in err
    assert err.rstrip().endswith("dueto: deep")


@pytest.mark.skipif(sys.platform == "win32", reason="needs pipes that break")
def test_a_reader_who_leaves_ends_it_quietly(folder):
    command = [sys.executable, "-m", "dueto", "space", "data.csv", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=folder) as process:
        process.stdout.close()
        err = process.stderr.read()
    assert (process.returncode, err) == (141, b"")


def test_version(dueto):
    assert dueto("--version") == (0, f"dueto {package.__version__}\n", "")


class Terminal(io.StringIO):
    """A stderr that says of itself that somebody looks at it."""

    def isatty(self):
        return True


def told_of(monkeypatch, stderr, what, until):
    """What is said of long work until so many pieces of text have been."""
    monkeypatch.setattr(sys, "stderr", stderr)
    monkeypatch.setattr(console, "TICK", 0.001)
    with console.working(what):
        while stderr.getvalue().count("...") < until:
            pass
    return stderr.getvalue()


def test_without_a_terminal_how_far_long_work_is_stands_on_lines_of_their_own(monkeypatch):
    monkeypatch.setattr(console, "LINE", 0.001)
    said = told_of(monkeypatch, io.StringIO(), lambda: "3 of 9 rows", until=3)
    assert set(said.splitlines()) == {"dueto: 3 of 9 rows ..."}
    assert not set(said) & set("\r\033")
    assert said.endswith("\n")


@pytest.mark.parametrize("often", [True, False])
@pytest.mark.parametrize("verb", ["batch", "directions"])
@pytest.mark.usefixtures("folder")
def test_batch_and_directions_tell_a_log_how_far_they_are_but_not_if_they_are_soon_done(
    dueto, tmp_path, monkeypatch, verb, often
):
    if often:
        monkeypatch.setattr(console, "LINE", 0.0)
    asked = {"batch": ["tree.pkl", "data.csv", *TRUST, "--out", tmp_path / "out"], "directions": ["data.csv", "--fast"]}
    said = [line for line in dueto(verb, *asked[verb])[2].splitlines() if "..." in line]
    told = {"batch": r"dueto: (explaining the rows|.* of .* rows.*) \.\.\.", "directions": r"dueto: .* pairs.* \.\.\."}
    assert bool(said) is often
    assert all(re.match(told[verb], line) for line in said)


def test_on_a_terminal_one_line_is_written_over_and_nothing_of_it_stays(monkeypatch):
    said = told_of(monkeypatch, Terminal(), lambda: "3 of 9 rows", until=3)
    assert "\n" not in said
    assert said.startswith("\r\033[K3 of 9 rows ...")
    assert said.endswith("\r\033[K")
