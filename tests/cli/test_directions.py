"""Directions on the command line: what the library says; files whole or not at all; bad input in a sentence."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from contextlib import nullcontext

import click
import networkx as nx
import numpy as np
import pandas as pd
import pytest

import dueto as package
from dueto.cli import main
from dueto.datasets import simulate
from dueto.dependence import MEASURES
from dueto.outputs import whole

pytestmark = pytest.mark.usefixtures("files")
QUICK = ["--permutations", 39]


@pytest.fixture(scope="module")
def table():
    pair, rng = simulate("cubic", 200, rng=0, noise=0.3), np.random.default_rng(0)
    return pd.DataFrame({"dose": pair.x, "effect": pair.y, "noise": rng.normal(size=200), "town": "a"})


@pytest.fixture
def files(table, tmp_path, monkeypatch):
    """A folder of tables, as the current one."""
    monkeypatch.chdir(tmp_path)
    table.to_csv("t.csv", index=False)
    table.to_csv("t.tsv", index=False, sep="\t")
    table.to_parquet("t.parquet")
    np.savetxt("t.txt", table[["dose", "effect"]])
    np.savetxt("named.dat", table[["dose", "effect"]], header="dose effect", comments="")
    return tmp_path


def same(found, expected):
    """Equal, but for the seconds it took."""
    return found | {"seconds": 0} == json.loads(json.dumps(expected)) | {"seconds": 0}


# -- one pair ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("data", ["t.csv", "t.tsv", "t.parquet", "named.dat"])
def test_the_direction_is_the_librarys(dueto, table, data):
    expected = package.direction(table["dose"], table["effect"], names=("dose", "effect"), n_permutations=39)
    assert expected.arrow == "->"
    code, out, err = dueto("direction", data, "dose", "effect", *QUICK, "--json")
    assert (code, err) == (0, "")
    assert same(json.loads(out), expected.to_dict())
    if data == "t.csv":
        out = dueto("direction", data, "dose", "effect", *QUICK)[1]
        assert out.splitlines()[:-1] == str(expected).splitlines()[:-1]  # the last line tells the time


def test_exchanged_columns_give_the_arrow_the_other_way_round(dueto):
    code, out, _ = dueto("direction", "t.csv", "effect", "dose", *QUICK)
    assert code == 0
    assert out.startswith("effect <- dose\n")


@pytest.mark.parametrize("data", ["t.txt", "named.dat", "t.csv"])
def test_columns_are_found_by_position_from_0(dueto, data):
    code, out, _ = dueto("direction", data, 0, 1, *QUICK)
    assert code == 0
    assert out.startswith("column 0 -> column 1\n" if data == "t.txt" else "dose -> effect\n")


def test_a_name_goes_before_a_position(dueto, table):
    table[["dose", "effect", "noise"]].set_axis(["a", "2", "b"], axis=1).to_csv("years.csv", index=False)
    assert json.loads(dueto("direction", "years.csv", "a", "2", *QUICK, "--json")[1])["names"] == ["a", "2"]


OPTIONS = [
    (["--known-related"], {"known_related": True}),
    (["--fast"], {"fast": True}),
    (["--split"], {"split": True}),
    (["--measure", "hsic"], {"measure": "hsic"}),
    (["--permutations", "19"], {"n_permutations": 19}),
    (["--reject", "0.03", "--accept", "0.9"], {"reject": 0.03, "accept": 0.9}),
    (["--max-rows", "60"], {"max_rows": 60}),
    (["--seed", "7"], {"rng": 7}),
]


@pytest.mark.parametrize(("options", "means"), OPTIONS, ids=[options[0] for options, _ in OPTIONS])
def test_each_option_does_what_the_librarys_does(dueto, table, options, means):
    expected = package.direction(
        table["dose"], table["effect"], **{"n_permutations": 39, "names": ("dose", "effect")} | means
    ).to_dict()
    plain = package.direction(table["dose"], table["effect"], names=("dose", "effect"), n_permutations=39).to_dict()
    assert not same(plain, expected)
    assert same(json.loads(dueto("direction", "t.csv", "dose", "effect", *QUICK, *options, "--json")[1]), expected)


def test_no_answer_is_code_3_and_has_its_reason(dueto):
    code, out, err = dueto("direction", "t.csv", "dose", "noise", *QUICK)
    assert (code, err) == (3, "")
    assert out.startswith("dose ? noise\n  dose and noise may well be independent")
    assert dueto("direction", "t.csv", "dose", "noise", "--fast")[0] == 0


def test_rows_drawn_by_chance_are_told_of(dueto):
    _, out, err = dueto("direction", "t.csv", "dose", "effect", "--fast", "--max-rows", 50)
    assert err == "dueto: each pair is 50 of the 200 rows, drawn by chance (--max-rows)\n"
    assert "50 pairs" in out


def test_missing_values_are_refused_or_left_out(dueto, table):
    holes = table.copy()
    holes.loc[[3, 8], "effect"] = np.nan
    holes.to_csv("holes.csv", index=False)
    code, out, err = dueto("direction", "holes.csv", "dose", "effect", *QUICK)
    assert (code, out) == (2, "")
    assert err.startswith("dueto: effect is missing or infinite in 2 of 200 rows, first in row 3; ")
    assert "--drop-missing" in err
    assert "missing=" not in err
    code, out, _ = dueto("direction", "holes.csv", "dose", "effect", *QUICK, "--drop-missing", "--json")
    assert json.loads(out)["n"] == 198


def test_numbers_that_are_taken_for_names_are_told_of(dueto, files):
    (files / "bare.csv").write_text((files / "t.txt").read_text().replace(" ", ","))
    _, out, err = dueto("direction", "bare.csv", 0, 1, "--fast", "--json")
    assert json.loads(out)["n"] == 199
    assert err.startswith("dueto: the first line of bare.csv is taken for names (")


def test_stdout_without_unicode_gets_the_signs_in_ascii(shell, files):
    ascii_only = {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    asked = ["direction", files / "t.csv", "dose", "effect", *QUICK]
    assert "p = 0.025 +- " in shell(*asked, env=ascii_only)[1]


# -- many pairs -------------------------------------------------------------------------------------------------------


def test_the_directions_are_the_librarys(dueto, table):
    expected = package.directions(table, n_permutations=199)
    code, out, err = dueto("directions", "t.csv", "--permutations", 199)
    assert (code, out) == (0, f"{expected}\n")
    assert err == "dueto: left out, for they are no numbers: 'town'\n"
    assert json.loads(dueto("directions", "t.csv", "--permutations", 199, "--json")[1]) == expected.to_dict()


@pytest.mark.parametrize("options", [["--correction", "none"], ["--correction", "bh"], ["--jobs", "2"]])
def test_the_options_of_many_pairs_do_what_the_librarys_do(dueto, table, options):
    means = {"correction": options[1]} if options[0] == "--correction" else {}
    expected = package.directions(table, n_permutations=199, **means)
    out = dueto("directions", "t.csv", "--permutations", 199, *options, "--json")[1]
    assert json.loads(out) == expected.to_dict()


def test_columns_of_many_can_be_chosen_by_name_or_position(dueto):
    out = dueto("directions", "t.csv", "effect", 0, "--fast", "--json")[1]
    assert [(pair["x"], pair["y"]) for pair in json.loads(out)["pairs"]] == [("effect", "dose")]


def test_no_arrow_at_all_is_code_3(dueto):
    code, out, _ = dueto("directions", "t.csv", "dose", "noise", *QUICK)
    assert code == 3
    assert out.startswith("0 arrows among 1 pairs")


def test_pairs_that_cannot_be_tried_are_told_of(dueto, table):
    table.assign(one=1, noise=table["noise"].where(table.index > 0)).to_csv("holes.csv", index=False)
    code, out, err = dueto("directions", "holes.csv", "--permutations", 199, "--json")
    assert code == 0
    assert "5 of 6 pairs could not be tried; the first, dose and noise: noise is missing" in err
    assert "--drop-missing" in err
    assert [pair["n"] for pair in json.loads(out)["pairs"]].count(0) == 5
    assert json.loads(dueto("directions", "holes.csv", *QUICK, "--drop-missing", "--json")[1])["pairs"][1]["n"] == 199


def test_too_few_permutations_for_the_correction_are_told_of(dueto):
    said = "39 permutations are too few to reject anything after Holm's correction of 6 tests; give --permutations 120"
    assert said in dueto("directions", "t.csv", *QUICK)[2]
    for enough in (["--permutations", 120], [*QUICK, "--fast"]):
        assert "too few" not in dueto("directions", "t.csv", *enough)[2]


# -- files ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "begins"), [("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF"), ("PNG", b"\x89PNG")]
)
def test_a_picture_is_written(dueto, files, kind, begins):
    import matplotlib.pyplot as plt

    code, _, err = dueto("direction", "t.csv", "dose", "effect", "--fast", "--plot", f"page.{kind}")
    assert (code, err) == (0, f"dueto: wrote page.{kind}\n")
    assert (files / f"page.{kind}").read_bytes().startswith(begins)
    assert not [path for path in files.iterdir() if path.name.startswith(".")]
    plt.close("all")


def test_the_table_and_the_graph_are_written(dueto, table):
    expected = package.directions(table, n_permutations=199)
    asked = ["directions", "t.csv", "--permutations", 199, "--out", "pairs.csv", "--graph"]
    assert dueto(*asked, "arrows.graphml")[2].endswith("dueto: wrote pairs.csv\ndueto: wrote arrows.graphml\n")
    pd.testing.assert_frame_equal(pd.read_csv("pairs.csv"), expected.table)
    graph = nx.read_graphml("arrows.graphml")
    assert set(graph.nodes) == {"dose", "effect", "noise"}
    assert dict(graph.edges) == dict(expected.graph.edges)
    assert list(graph.edges) == [("dose", "effect")]


def test_graphviz_can_read_the_graph_whatever_the_names(dueto, files, table):
    table.set_axis(['say "x"', "a\\", "noise", "town"], axis=1).to_csv("odd.csv", index=False)
    assert dueto("directions", "odd.csv", "--permutations", 199, "--graph", "g.dot")[0] == 0
    assert (files / "g.dot").read_text() == (
        'digraph {\n  "say \\"x\\"";\n  "a\\\\";\n  "noise";\n  "say \\"x\\"" -> "a\\\\";\n}\n'
    )


OUTPUTS = [
    (["direction", "t.csv", "dose", "effect", "--plot"], "jpeg", "must end in .png or .svg or .pdf"),
    (["directions", "t.csv", "--out"], "xlsx", "must end in .csv"),
    (["directions", "t.csv", "--graph"], "gml", "must end in .graphml or .dot"),
    (["direction", "t.csv", "dose", "effect", "--html"], "pdf", "must end in .html"),
    (["directions", "t.csv", "--html"], "htm", "must end in .html"),
]


@pytest.mark.parametrize(("asked", "kind", "says"), OUTPUTS)
def test_what_cannot_be_written_is_refused_before_the_work(dueto, files, monkeypatch, asked, kind, says):
    def never(*_, **__):
        raise AssertionError("the work has begun")

    monkeypatch.setattr("dueto.cli.tables.read_table", never)
    good = says.split()[-1]
    (files / f"mine{good}").write_text("mine")
    for name, complaint in (
        (f"o.{kind}", says),
        ("o", says),
        (f"none/o{good}", "there is no folder none to write"),
        (f"mine{good}", f"mine{good} is there already; give another name, or remove it first"),
    ):
        code, out, err = dueto(*asked, name)
        assert (code, out) == (2, "")
        assert complaint in err
    assert (files / f"mine{good}").read_text() == "mine"


@pytest.mark.parametrize(
    ("asked", "package"),
    [
        (["direction", "t.csv", "dose", "effect", "--plot", "o.png"], "matplotlib"),
        (["directions", "t.csv", "--graph", "o.dot"], "networkx"),
        (["direction", "t.csv", "dose", "effect", "--html", "o.html"], "matplotlib"),
        (["directions", "t.csv", "--html", "o.html"], "matplotlib"),
    ],
)
def test_a_missing_package_is_told_of_before_the_work(dueto, monkeypatch, asked, package):
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == package else find(name))
    code, out, err = dueto(*asked)
    assert (code, out) == (2, "")
    assert f"needs the package {package}; run: pip install {package}\n" in err


def test_the_page_written_is_the_librarys(dueto, files, table):
    code, out, err = dueto("direction", "t.csv", "dose", "effect", "--fast", "--html", "o.html", "--json")
    assert (code, err) == (0, "dueto: wrote o.html\n")
    assert json.loads(out)["arrow"] in {"->", "<-"}
    expected = package.direction(table["dose"], table["effect"], names=("dose", "effect"), fast=True)
    assert (files / "o.html").read_text(encoding="utf-8") == expected.to_html()
    code, _, err = dueto("directions", "t.csv", "--fast", "--html", "many.html")
    assert (code, err.splitlines()[-1]) == (0, "dueto: wrote many.html")
    expected = package.directions(table, fast=True)
    assert (files / "many.html").read_text(encoding="utf-8") == expected.to_html()


def test_a_file_is_whole_or_not_there(tmp_path):
    def interrupted():
        with whole(tmp_path / "o" / "o.csv") as part:
            part.write_text("half")
            raise KeyboardInterrupt

    (tmp_path / "o").mkdir()
    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert list((tmp_path / "o").iterdir()) == []


# -- bad input --------------------------------------------------------------------------------------------------------

BAD = [
    (["direction", "none.csv", "a", "b"], "there is no file none.csv"),
    (["direction", "t.csv", "dose"], "Missing argument 'B' (see dueto direction --help)"),
    (["direction", "t.csv", "dose", "efect"], "there is no column 'efect' in t.csv; did you mean 'effect'?"),
    (
        ["direction", "t.csv", "dose", "zzz"],
        "there is no column 'zzz' in t.csv; it has 'dose', 'effect', 'noise', 'town'",
    ),
    (["direction", "t.txt", "0", "2"], "there is no column '2' in t.txt; it has 'column 0', 'column 1'"),
    (["direction", "t.csv", "dose", "-1"], "No such option"),
    (["direction", "t.csv", "dose", "dose"], "both dose and dose are column 'dose'; give two columns"),
    (["direction", "t.csv", "0", "dose"], "both 0 and dose are column 'dose'; give two columns"),
    (["direction", "t.csv", "dose", "town"], "town is not numeric (row 0 holds 'a')"),
    (["direction", "few.csv", "a", "b"], "2 pairs of a and b are too few; at least 20 are needed"),
    (["direction", "ragged.csv", "a", "b"], "ragged.csv, line 3: 1 field for 2 columns"),
    (["direction", "word.txt", "0", "1"], "word.txt, line 2: 'x' is not a number"),
    (["direction", "empty.csv", "a", "b"], "empty.csv is empty"),
    (["direction", "t.csv", "dose", "effect", "--measure", "mic"], "there is no measure 'mic'; there are 'smi'"),
    (["direction", "t.csv", "dose", "effect", "--permutations", "0"], "--permutations must be at least 1, got 0"),
    (["direction", "t.csv", "dose", "effect", "--max-rows", "5"], "--max-rows must be at least 20, got 5"),
    (["direction", "t.csv", "dose", "effect", "--reject", "0.2"], "0 < reject <= accept < 1, got 0.2 and 0.05"),
    (["direction", "t.csv", "dose", "effect", "--accept", "x"], "'x' is not a valid float"),
    (["direction", "t.csv", "dose", "effect", "--seed", "-1"], "-1 is not in the range"),
    (["directions", "none.csv"], "there is no file none.csv"),
    (["directions", "t.csv", "dose", "efect"], "there is no column 'efect' in t.csv; did you mean 'effect'?"),
    (["directions", "t.csv", "dose", "effect", "0"], "column 'dose' is given twice; give each once"),
    (["directions", "t.csv", "dose", "town"], "not numeric: 'town'"),
    (["directions", "t.csv", "dose"], "a direction needs two columns of numbers; the data has 1"),
    (["directions", "few.csv"], "2 pairs of a and b are too few"),
    (["directions", "t.csv", "--correction", "bonferroni"], "must be one of 'holm', 'bh', 'none', got 'bonferroni'"),
    (["directions", "t.csv", "--jobs", "0"], "n_jobs"),
]


@pytest.mark.parametrize(("asked", "says"), BAD)
def test_bad_input_is_one_sentence_and_code_2(dueto, files, asked, says):
    (files / "few.csv").write_text("a,b\n1,2\n2,1\n")
    (files / "ragged.csv").write_text("a,b\n1,2\n3\n")
    (files / "word.txt").write_text("1 2\n3 x\n")
    (files / "empty.csv").write_text("")
    code, out, err = dueto(*asked)
    assert (code, out) == (2, "")
    assert err.startswith("dueto: ")
    assert says in err
    assert err.count("\n") == 1


def test_every_measure_is_named_where_it_can_be_chosen():
    for verb in ("direction", "directions"):
        text = main.commands[verb].get_help(click.Context(main.commands[verb]))
        assert [measure for measure in MEASURES if measure not in text] == []


def test_progress_counts_the_pairs(dueto, monkeypatch):
    said = []
    monkeypatch.setattr("dueto.cli.console.working", lambda what: said.append(what) or nullcontext())
    dueto("directions", "t.csv", "--fast")
    assert said[-1]() == "3 of 3 pairs"


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
def test_progress_is_shown_on_a_terminal_and_nothing_of_it_stays(files):
    import pty

    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "dueto", "directions", "t.csv", "--fast", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=theirs, cwd=files) as process:
        out = process.stdout.read()
    os.close(theirs)
    shown = os.read(ours, 100_000).decode()
    os.close(ours)
    assert json.loads(out)
    assert "testing the pairs of t.csv ..." in shown
    assert "\r\033[K" in shown
    assert shown.endswith("dueto: left out, for they are no numbers: 'town'\r\n")
