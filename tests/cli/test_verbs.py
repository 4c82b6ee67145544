"""What each verb prints: what the library says, no more, no less; and what it refuses."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from dueto import Explainer

TRUST = ["--trust-pickle"]

pytestmark = pytest.mark.usefixtures("folder")
ASK = ["tree.pkl", "data.csv", *TRUST]


@pytest.fixture(scope="session")
def explainer(made):
    data = pd.read_csv(made / "data.csv")
    explainer = Explainer(joblib.load(made / "tree.pkl"), data, constraints=made / "loan.plaf")
    assert len(explainer.refused)  # scores the data, which is no part of an explanation's count
    return explainer


# -- explain and counterfactuals --------------------------------------------------------------------------------------


@pytest.mark.parametrize("verb", ["explain", "counterfactuals"])
@pytest.mark.parametrize("data", ["data.csv", "data.parquet"])
def test_the_answer_is_the_librarys(dueto, explainer, row, verb, data):
    asked = [verb, "tree.pkl", data, "--row", row, "--plaf", "loan.plaf", *TRUST]
    expected = (explainer.explain if verb == "explain" else explainer.changes)(int(row))
    assert dueto(*asked)[:2] == (0, f"{expected}\n")
    found = json.loads(dueto(*asked, "--json")[1])
    assert found.pop("row") == int(row)
    assert found | {"seconds": 0} == json.loads(expected.to_json()) | {"seconds": 0}


@pytest.mark.parametrize("method", ["auto", "geco"])
def test_both_verbs_give_the_same_changes(dueto, row, method):
    asked = [*ASK, "--row", row, "--counterfactual-method", method, "--seed", 3, "--json"]
    one, other = (json.loads(dueto(verb, *asked)[1]) for verb in ("explain", "counterfactuals"))
    assert one["counterfactuals"] == other["counterfactuals"] != []
    assert "rule" not in other


def test_several_rows_are_answered_in_order(dueto, made):
    rows = (made / "refused.txt").read_text().split()[:3][::-1]
    asked = [*ASK, *(part for row in rows for part in ("--row", row))]
    code, out, _ = dueto("explain", *asked, "--json")
    assert (code, [str(one["row"]) for one in json.loads(out)]) == (0, rows)
    text = dueto("explain", *asked)[1]
    assert [text.index(f"Row {row} is refused") for row in rows] == sorted(
        text.index(f"Row {r} is refused") for r in rows
    )


@pytest.mark.parametrize("verb", ["explain", "counterfactuals"])
def test_exit_codes_tell_proof_from_giving_up(dueto, row, verb):
    asked = [verb, *ASK, "--row", row, "--json"]
    code, out, _ = dueto(*asked, "--plaf", "stuck.plaf")
    assert (code, json.loads(out)["status"]) == (1, "none")
    poorer = [*asked, "--plaf", "poorer.plaf"]
    code, out, _ = dueto(*poorer, "--counterfactual-method", "geco")
    assert (code, json.loads(out)["status"]) == (3, "unknown")
    code, out, _ = dueto(*poorer)
    assert (code, json.loads(out)["status"]) == (1, "none")


def test_with_several_rows_the_highest_code_counts(dueto, folder, made):
    (folder / "old.plaf").write_text("x.age > 40\n")
    ages = pd.read_csv("data.csv")["age"]
    refused = [int(row) for row in (made / "refused.txt").read_text().split()]
    old, young = (next(row for row in refused if bool(ages[row] > 40) is wanted) for wanted in (True, False))
    asked = ["counterfactuals", *ASK, "--plaf", "old.plaf", "--row"]
    assert [dueto(*asked, old)[0], dueto(*asked, young)[0]] == [0, 1]
    assert dueto(*asked, young, "--row", old)[0] == dueto(*asked, old, "--row", young)[0] == 1


def test_desired_and_threshold_choose_the_outcome(dueto, row):
    code, _, err = dueto("explain", *ASK, "--row", row, "--desired", "lost")
    assert code == 2
    assert f"Row {row} is not refused: its score 1 is above the threshold 0.5" in err
    assert '"paid"' in dueto("explain", *ASK, "--row", row, "--desired", "paid", "--threshold", "0.9")[1]


def test_without_a_row_refused_ones_are_named(dueto, made):
    refused = (made / "refused.txt").read_text().split()
    code, out, err = dueto("explain", *ASK)
    assert (code, out) == (2, "")
    assert f"say which row with --row N; {len(refused)} of the 80 rows are refused, first {refused[0]}, " in err
    code, _, err = dueto("counterfactuals", *ASK, "--threshold", "0", "--plaf", "loan.plaf", "--ignore", "outcome")
    assert code == 2


BAD = [
    (["nothing.pkl", "data.csv", *TRUST], "there is no file nothing.pkl"),
    (["data.csv", "data.csv"], "not a kind of model file"),
    (["tree.pkl", "data.csv"], "--trust-pickle"),
    ([*ASK, "--row", "80"], "there is no row 80: the data has rows 0 to 79"),
    ([*ASK, "--row", "-1"], "there is no row -1"),
    ([*ASK, "--k", "0", "--row", "{row}"], "must be at least 1, got 0"),
    ([*ASK, "--desired", "maybe"], "the model has no class 'maybe'; its classes are 'lost', 'paid'"),
    ([*ASK, "--threshold", "1"], "threshold 1.0 is not in [0, 1)"),
    ([*ASK, "--counterfactual-method", "best"], "there is no counterfactual method 'best'"),
    ([*ASK, "--plaf", "nothing.plaf"], "cannot read nothing.plaf: No such file or directory"),
    ([*ASK, "--plaf", "bad.plaf"], "bad.plaf, line 2, column 1: age alone is ambiguous"),
    (
        [*ASK, "--plaf", "unbound.plaf"],
        "unbound.plaf, line 3, column 1: there is no feature 'agee'; did you mean 'age'?",
    ),
    (
        [*ASK, "--plaf", "untied.plaf"],
        "untied.plaf, line 1, column 1: there is no feature 'dept'; did you mean 'debt'?",
    ),
    ([*ASK, "--space", "nothing.toml"], "cannot read nothing.toml: No such file or directory"),
    ([*ASK, "--space", "space.toml", "--onehot", "a=b"], "--onehot does not go with --space"),
    ([*ASK, "--onehot", "job"], "--onehot 'job' has no columns; write it as in job=job_clerk,job_smith"),
    ([*ASK, "--onehot", "job=job_*"], "no column is like 'job_*'; the columns are 'age'"),
    ([*ASK, "--ignore", "profit"], "there is no column 'profit' to ignore; data.csv has 'age'"),
    ([*ASK, "--ignore", "age"], "the model was fitted on 'age', so that it cannot be ignored; leave out --ignore"),
]


@pytest.mark.parametrize(("asked", "says"), BAD)
def test_bad_input_is_one_sentence_and_code_2(dueto, folder, row, asked, says):
    (folder / "bad.plaf").write_text("cf.age >= 18\nage <= 65\n")
    (folder / "unbound.plaf").write_text("# the law\ncf.age >= 18\ncf.agee >= x.age\n")
    (folder / "untied.plaf").write_text('together("age", "dept")\n')
    (folder / "space.toml").write_text("[features.age]\nlow = 18\nhigh = 99\n")
    code, out, err = dueto("explain", *(part.format(row=row) for part in asked))
    *notes, sentence = err.splitlines()
    assert (code, out) == (2, "")
    assert sentence.startswith("dueto: ")
    assert says in sentence
    assert all("ignored" in note or "as the desired outcome" in note for note in notes)


# -- space ------------------------------------------------------------------------------------------------------------


def test_space_shows_kinds_values_and_what_is_missing(dueto, folder):
    (folder / "few.csv").write_text("age,job,own,p_a,p_b,score\n3,x,True,1,0,\n5,y,False,0,1,0.5\n5,,True,0,1,2\n")
    code, out, err = dueto("space", "few.csv", "--onehot", "p=p_*")
    assert (code, err) == (0, "")
    assert out == (
        "3 rows, 5 features, 72 possible applicants.\n\n"
        "feature  kind      values  missing  range or labels\n"
        "age      integer        2        -  3 to 5\n"
        "job      category       2        1  x, y\n"
        "own      category       2        -  False, True\n"
        "p        category       2        -  a, b  (2 columns)\n"
        "score    float          2        1  0.5 to 2\n"
    )
    found = json.loads(dueto("space", "few.csv", "--onehot", "p=p_*", "--json")[1])
    assert found["features"][3] == {
        "name": "p", "kind": "category", "columns": ["p_a", "p_b"], "values": 2, "labels": ["a", "b"], "missing": 0
    }  # fmt: skip
    assert found["features"][4]["low"] == 0.5
    (folder / "wide.toml").write_text("groups = [['age', 'job']]\n[features.score]\nlow = 0\nhigh = 1\n")
    code, out, _ = dueto("space", "few.csv", "--space", "wide.toml")
    assert "endlessly many possible applicants" in out
    assert "Change together, to combinations in the data: age, job." in out
    found = json.loads(dueto("space", "few.csv", "--space", "wide.toml", "--json")[1])
    assert (found["log10_size"], found["features"][-1]["values"], found["groups"]) == (None, None, [["age", "job"]])


def test_space_writes_nothing_over_a_file_and_nothing_of_another_kind(dueto, folder):
    (folder / "mine.toml").write_text("# mine")
    code, out, err = dueto("space", "data.csv", "--out", "mine.toml")
    assert (code, out) == (2, "")
    assert "mine.toml is there already" in err
    assert (folder / "mine.toml").read_text() == "# mine"
    assert "must end in .toml or .json" in dueto("space", "data.csv", "--out", "mine.yaml")[2]


def test_a_written_space_explains_as_before(dueto, row):
    assert dueto("space", "data.csv", "--ignore", "outcome", "--out", "same.toml")[2] == "dueto: wrote same.toml\n"
    asked = ["explain", *ASK, "--row", row]
    assert dueto(*asked)[1] == dueto(*asked, "--space", "same.toml")[1]


def test_labels_declared_as_texts_make_a_column_of_numbers_one_of_texts(dueto, folder):
    (folder / "zips.csv").write_text("zip,age\n17,30\n99,40\n")
    (folder / "zips.toml").write_text('[features.zip]\nvalues = ["17", "99", "00001"]\n')
    found = json.loads(dueto("space", "zips.csv", "--space", "zips.toml", "--json")[1])
    assert found["features"][0]["labels"] == ["17", "99", "00001"]
    (folder / "zips.csv").write_text("zip,age\n00017,30\n00099,40\n")
    (folder / "zips.toml").write_text('[features.zip]\nkind = "integer"\n')
    code, out, err = dueto("space", "zips.csv", "--space", "zips.toml", "--json")
    assert (code, err, json.loads(out)["features"][0]["high"]) == (0, "", 99)
    found = json.loads(dueto("space", "zips.csv", "--json")[1])
    assert found["features"][0]["labels"] == ["00017", "00099"]


# -- check ------------------------------------------------------------------------------------------------------------


def test_check_says_each_constraint_and_counts_the_rows_that_break_it(dueto, folder):
    data = pd.read_csv("data.csv")
    (folder / "c.plaf").write_text('# a\ncf.debt <= 20 => cf.age > 30\n\ncf.age >= x.age\nfixed("debt")\nx.age < 1\n')
    broken = data.index[(data["debt"] <= 20) & ~(data["age"] > 30)]
    code, out, _ = dueto("check", "c.plaf", "data.csv", "--json", "--row", broken[0])
    found = json.loads(out)
    assert code == 0
    assert [one["line"] for one in found["constraints"]] == [2, 4, 5, 6]
    assert [one["broken_rows"] for one in found["constraints"]] == [len(broken), None, None, None]
    assert [one["row_keeps"] for one in found["constraints"]] == [False, True, True, False]
    assert [one["row_can_keep"] for one in found["constraints"]] == [True, True, True, False]
    assert found["constraints"][0]["first_broken"] == broken[0]
    assert found["row"]["contradiction"] == "the constraint x.age < 1 fails for this row, whatever changes"
    text = dueto("check", "c.plaf", "data.csv", "--row", broken[0])[1]
    assert "line 4: cf.age >= x.age\n  age may not fall\n" in text
    assert f"{len(broken)} of the 80 rows break it ({len(broken) / 80:.2%}), the first being row {broken[0]}" in text
    assert (
        f"Row {broken[0]} as it is breaks line 2: that must change, and breaks line 6: no change can mend that." in text
    )


def test_control_characters_in_names_are_written_out(dueto, folder):
    (folder / "odd.csv").write_text("age,a\u202eb\n30,1\n40,2\n50,3\n", encoding="utf-8")
    (folder / "odd.plaf").write_text("cf.a > 3\n", encoding="utf-8")
    for verb in (["space", "odd.csv"], ["check", "odd.plaf", "odd.csv"]):
        _, out, err = dueto(*verb)
        assert "\u202e" not in out + err
        assert "a\\u202eb" in out + err


def test_check_accepts_what_says_nothing_and_what_everybody_keeps(dueto, folder):
    (folder / "none.plaf").write_text("# nothing yet\n")
    assert dueto("check", "none.plaf", "data.csv")[:2] == (0, "none.plaf holds no constraint.\n")
    (folder / "kept.plaf").write_text('cf.age > 0\ntogether("age", "debt")\n')
    code, out, _ = dueto("check", "kept.plaf", "data.csv", "--row", "3")
    assert code == 0
    assert "none of the 80 rows breaks it" in out
    assert out.endswith("Row 3 as it is keeps them all.\n")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("cf.age >= x.age\nage < 3", "c.plaf, line 2, column 1: age alone is ambiguous"),
        ("\n\ncf.age >= 'old'", "c.plaf, line 3, column 1: age has numbers"),
        ("together('age', 'b')", "c.plaf, line 1, column 1: there is no feature 'b'"),
        ("cf.age >", "c.plaf, line 1, column 8: something is missing after >"),
    ],
)
def test_check_tells_a_mistake_with_its_place(dueto, folder, text, says):
    (folder / "c.plaf").write_text(text)
    code, out, err = dueto("check", "c.plaf", "data.csv")
    assert (code, out) == (2, "")
    assert err.startswith(f"dueto: {says}")


def test_check_names_constraints_that_contradict_each_other_whoever_asks(dueto, folder):
    (folder / "both.plaf").write_text("cf.debt > 30 => cf.age < 30\ncf.income > 6\ncf.debt > 35\ncf.age >= 30\n")
    code, out, _ = dueto("check", "both.plaf", "data.csv")
    assert code == 0
    assert out.endswith(
        "\nThese constraints contradict each other: if debt is more than 30, age must be less than 30; debt must be "
        "more than 35; age must be at least 30.\n"
    )
    (folder / "one.plaf").write_text("cf.age >= x.age\ncf.age > 99\n")
    found = json.loads(dueto("check", "one.plaf", "data.csv", "--json")[1])
    assert found["contradiction"] == "no applicant meets this constraint: age must be more than 99"
    (folder / "old.toml").write_text("[features.age]\nlow = 18\nhigh = 120\n")
    assert json.loads(dueto("check", "one.plaf", "data.csv", "--json", "--space", "old.toml")[1])["contradiction"] == ""
    (folder / "fine.plaf").write_text("cf.age >= x.age + 5\ncf.age <= x.age + 3\ncf.debt < 30\n")  # x is not known
    assert json.loads(dueto("check", "fine.plaf", "data.csv", "--json")[1])["contradiction"] == ""


def test_check_refuses_a_row_that_is_not_there(dueto):
    code, _, err = dueto("check", "loan.plaf", "data.csv", "--row", "80")
    assert (code, err) == (2, "dueto: there is no row 80: the data has rows 0 to 79\n")


# -- demo -------------------------------------------------------------------------------------------------------------


def test_the_demos_answer_is_short_and_proved_and_its_files_give_it_again(dueto, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, text, err = dueto("demo", "--save", "a folder")
    assert (code, err) == (0, "")
    again = shlex.split(text.splitlines()[-1])
    assert again[:2] == ["dueto", "explain"]
    code, answer, err = dueto(*again[1:])
    assert code == 0
    assert err.startswith("dueto: taking 'pays' as the desired outcome (the other is 'defaults')")
    assert answer.strip() in text
    found = json.loads(dueto(*again[1:], "--json")[1])
    assert 2 <= found["rule"]["cardinality"] <= 5
    assert found["rule"]["verdict"]["standing"] == "proved"
    assert found["status"] == "optimal"
    whole = json.loads(dueto("demo", "--json")[1])
    assert whole["model"]["accuracy"] > whole["model"]["accuracy_of_all_pay"]
    assert whole["explanation"]["rule"] == found["rule"]
    code, out, err = dueto("demo", "--save", "a folder")
    assert (code, out) == (2, "")
    assert "model.skops is there already" in err


def test_the_demo_needs_the_core_dependencies_only():
    code = """
import sys
class Absent:
    def find_spec(self, name, *_):
        if name.partition(".")[0] in ("skops", "onnxruntime", "pyarrow", "polars", "skl2onnx"):
            raise ImportError(name)
sys.meta_path.insert(0, Absent())
from dueto.cli import main
main(["demo"])"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "It is due to this:" in done.stdout


def test_the_demo_is_saved_only_with_skops_and_only_into_a_folder(dueto, folder, monkeypatch):
    assert "data.csv is a file; give a folder" in dueto("demo", "--save", "data.csv")[2]
    monkeypatch.setitem(sys.modules, "skops", None)
    code, out, err = dueto("demo", "--save", "new")
    assert (code, out) == (2, "")
    assert err == "dueto: --save needs the package skops; run: pip install skops\n"
    assert not (folder / "new").exists()


@pytest.mark.parametrize("verb", ["explain", "counterfactuals"])
def test_new_applicants_come_from_a_file_of_their_own_and_data_says_what_is_possible(dueto, verb, row, tmp_path):
    new = tmp_path / "new.csv"
    pd.read_csv("data.csv").iloc[[int(row)]].to_csv(new, index=False)
    expected = json.loads(dueto(verb, *ASK, "--row", row, "--json")[1])
    code, out, err = dueto(verb, *ASK, "--applicants", new, "--json")
    found = json.loads(out)
    assert (code, found["row"], found["label"]) == (0, 0, "Row 0 of new.csv")
    assert found["counterfactuals"] == expected["counterfactuals"]
    assert found.get("rule") == expected.get("rule")
    assert "has only" not in err


def applicants(tmp_path, *changes):
    """A file of applicants, each a row of the data with some values changed."""
    data = pd.read_csv("data.csv").astype(object)
    rows = [{**data.iloc[int(row)].to_dict(), **values} for row, values in changes]
    pd.DataFrame(rows).to_csv(tmp_path / "new.csv", index=False)
    return tmp_path / "new.csv"


@pytest.fixture
def paid():
    """An accepted row."""
    return int(pd.read_csv("data.csv")["outcome"].eq("paid").argmax())


@pytest.mark.parametrize("verb", ["explain", "counterfactuals"])
def test_faults_of_applicants_are_told_by_their_file_and_row(dueto, verb, row, paid, tmp_path):
    new = applicants(tmp_path, (paid, {}), (row, {}), (row, {"debt": "much"}))
    code, out, err = dueto(verb, *ASK, "--applicants", new, "--json")
    first, second, third = json.loads(out)
    assert code == 2
    assert first["error"].startswith("Row 0 of new.csv is not refused: its score ")
    assert first["error"].endswith("; only row 1 of new.csv is refused")
    assert second["counterfactuals"]
    assert third["error"].startswith("new.csv, row 2: column 'debt': 'much' is not a number")
    assert all(one["error"] in err for one in (first, third))
    (tmp_path / "lent.csv").write_text(new.read_text().replace("debt", "dept"))
    code, out, err = dueto(verb, *ASK, "--applicants", tmp_path / "lent.csv")
    assert (code, out) == (2, "")
    assert "lent.csv has no column 'debt', which the data has; did you mean 'dept'?\n" in err


@pytest.mark.parametrize("verb", ["explain", "counterfactuals"])
def test_refused_only_passes_over_the_others_and_counts_them(dueto, verb, row, paid, tmp_path):
    asked = [verb, *ASK, "--refused-only", "--json", "--applicants"]
    code, out, err = dueto(*asked, applicants(tmp_path, (paid, {}), (row, {}), (paid, {})))
    assert (code, [one["row"] for one in json.loads(out)]) == (0, [1])
    assert "dueto: 2 of 3 rows of new.csv are not refused: passed over\n" in err
    code, out, err = dueto(*asked, applicants(tmp_path, (paid, {})))
    assert (code, json.loads(out)) == (0, [])
    assert "dueto: Row 0 of new.csv is not refused: passed over\n" in err
    code, out, _ = dueto(*asked, applicants(tmp_path, (paid, {}), (row, {"debt": "much"})))
    assert (code, ["error" in one for one in json.loads(out)]) == (2, [True])
    assert [one["row"] for one in json.loads(dueto(*asked[:-1], "--row", paid, "--row", row)[1])] == [int(row)]


def test_values_outside_the_space_are_named_with_what_it_holds(dueto, row, tmp_path):
    data = pd.read_csv("data.csv")
    low, high = data["age"].min(), data["age"].max()
    between = next(v for v in range(low, high) if v not in set(data["age"]))
    new = applicants(tmp_path, (row, {"age": 91}), (row, {"age": between}))
    asked = ["explain", *ASK, "--applicants", new]
    lines = [line for line in dueto(*asked)[2].splitlines() if "outside" in line]
    assert lines == [
        f"dueto: Row 0 of new.csv lies outside the space: age is 91 (the space holds {low} to {high}); such values are "
        "possible for this row alone"
    ]
    (tmp_path / "young.toml").write_text("[features.age]\nlow = 18\nhigh = 19\n")
    old = int(data.index[(data["outcome"] == "lost") & (data["age"] > 19)][0])
    err = dueto("explain", *ASK, "--row", old, "--space", tmp_path / "young.toml")[2]
    assert f"Row {old} lies outside the space: age is {data['age'][old]} (the space holds 18 to 19)" in err


def test_a_long_rule_that_nearly_nobody_meets_comes_with_a_way_to_shorten_it(dueto, row, tmp_path):
    rng = np.random.default_rng(0)
    data = pd.DataFrame(rng.normal(size=(100, 9)).round(3), columns=list("abcdefghi"))
    data.to_csv(tmp_path / "many.csv", index=False)
    model = LogisticRegression().fit(data, data.sum(axis=1) > 0)
    joblib.dump(model, tmp_path / "many.pkl")
    far = int(np.argsort(np.where(model.predict(data), -np.inf, data.sum(axis=1)))[-1])  # the nearest to the line
    asked = ["explain", tmp_path / "many.pkl", tmp_path / "many.csv", *TRUST, "--row", far]
    code, out, err = dueto(*asked)
    assert code == 0
    assert err.splitlines()[-1].startswith(
        "dueto: too long to read? --at-most 3 gives the best rule of three conditions"
    )
    assert "--widen" in err.splitlines()[-1]
    assert "too long" not in out + dueto(*asked, "--json")[1]
    assert "--widen" not in dueto(*asked, "--widen")[2]
    assert "--at-most" not in dueto(*asked, "--at-most", 3)[2]
    assert "too long" not in dueto("explain", *ASK, "--row", row)[2]


def test_a_table_too_small_to_say_what_is_possible_is_noted(dueto, row, tmp_path):
    new = tmp_path / "new.csv"
    pd.read_csv("data.csv").iloc[[int(row)]].to_csv(new, index=False)
    assert "new.csv has only 1 row, and" in dueto("explain", "tree.pkl", new, *TRUST, "--row", 0)[2]


def test_a_row_that_cannot_be_answered_does_not_keep_the_others_from_it(dueto, row):
    paid = str(pd.read_csv("data.csv")["outcome"].eq("paid").argmax())
    code, out, err = dueto("explain", *ASK, "--row", paid, "--row", row, "--json")
    failed, answered = json.loads(out)
    assert code == 2
    assert f"Row {paid} is not refused" in err
    assert failed["error"].startswith(f"Row {paid} is not refused")
    assert answered["rule"]["components"]


def test_one_file_of_constraints_and_one_of_declarations_serve_models_of_different_columns(dueto, row, tmp_path):
    plaf, space = tmp_path / "all.plaf", tmp_path / "all.toml"
    plaf.write_text('fixed("age", "branch")\nfixed("branch")\n')
    space.write_text('[features.branch]\nvalues = ["a", "b"]\n[features.income]\nlow = 0\nhigh = 80\n')
    pd.read_csv("data.csv").assign(branch="a").to_csv(tmp_path / "wide.csv", index=False)
    asked = [tmp_path / "wide.csv", *TRUST, "--row", row, "--plaf", plaf, "--space", space]
    code, out, _ = dueto("explain", "tree.pkl", *asked)
    assert code == 0
    assert "- age must stay the same" in out
    assert "branch" not in out
