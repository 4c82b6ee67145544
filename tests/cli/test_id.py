"""A column that names applicants: they are called by it, asked about by it, and nothing else is made of it."""

from __future__ import annotations

import json

import joblib
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier

import dueto as library

TRUST = ["--trust-pickle"]
ASK = ["tree.pkl", "named.csv", "--id", "customer", *TRUST]


@pytest.fixture
def named(folder):
    """The table with a column of names that read like numbers, in no order."""
    table = pd.read_csv(folder / "data.csv")
    table["customer"] = [f"{(37 * i) % 80:05}" for i in range(80)]
    table.to_csv(folder / "named.csv", index=False)
    return table


@pytest.fixture
def who(named, row):
    """What the refused row is called."""
    return named["customer"][int(row)]


def test_a_row_is_asked_about_by_its_name_and_called_by_it(dueto, who, row):
    code, out, err = dueto("explain", *ASK, "--row", who)
    assert code == 0, err
    assert out.startswith(f"{who} is refused")
    plain = dueto("explain", "tree.pkl", "data.csv", *TRUST, "--row", row)[1]
    assert out == plain.replace(f"Row {row} ", f"{who} ")  # the column is no feature, and not given to the model
    assert "customer" not in err
    found = json.loads(dueto("counterfactuals", *ASK, "--row", who, "--json")[1])
    assert (found["row"], found["label"]) == (int(row), who)
    assert f"{who}: why was it refused?" in dueto("rules", "compare", *ASK, "--row", who, "--methods", "greedy")[1]


def test_pages_letters_and_their_files_call_the_applicant_by_name(dueto, named, row, tmp_path):
    named.assign(customer=[f"C/{i}" for i in range(80)]).to_csv("named.csv", index=False)
    asked = ["--row", f"C/{row}", "--html", tmp_path / "why-{row}.html", "--letter", tmp_path / "{row}.txt"]
    code, _, err = dueto("explain", *ASK, *asked)
    assert code == 0, err
    assert f"C/{row}: why refused" in (tmp_path / f"why-C_{row}-{row}.html").read_text(encoding="utf-8")
    assert f"Your application: C/{row}\n" in (tmp_path / f"C_{row}-{row}.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize("of", ["data", "applicants"])
def test_batch_calls_each_row_by_its_name(dueto, named, tmp_path, of):
    named.iloc[::-1].to_csv("new.csv", index=False)
    others = {"data": [], "applicants": ["--applicants", "new.csv"]}[of]
    table = named if of == "data" else named.iloc[::-1].reset_index(drop=True)
    code, _, err = dueto("batch", *ASK, *others, "--where", "age > 40", "--out", tmp_path / "out", "--k", "1")
    assert code == 0, err
    found = library.read_batch(tmp_path / "out")
    assert len(found)
    assert [r["label"] for r in found] == [table["customer"][r["row"]] for r in found]
    assert found.to_frame()["label"].tolist() == [r["label"] for r in found]


def test_of_a_query_names_and_columns_for_shares_belong_to_its_rows(dueto, named, tmp_path):
    pytest.importorskip("duckdb")
    query = "SELECT * FROM data WHERE age > 30 ORDER BY debt, customer"
    asked = [*ASK, "--query", query, "--by", "outcome", "--out", tmp_path / "out", "--k", "1"]
    code, _, err = dueto("batch", *asked)
    assert code == 0, err
    table = named.set_index("customer")
    for record in library.read_batch(tmp_path / "out"):
        assert record["applicant"] == table.loc[record["label"], ["age", "income", "debt"]].to_dict()
        assert record["by"] == {"outcome": "lost"}


def test_applicants_of_a_file_are_named_by_its_column_and_the_data_need_not_have_it(dueto, named, who):
    named.drop(columns="outcome").to_csv("new.csv", index=False)
    asked = ["tree.pkl", "data.csv", "--id", "customer", "--applicants", "new.csv", *TRUST]
    assert dueto("explain", *asked, "--row", who)[1].startswith(f"{who} is refused")
    code, out, err = dueto("explain", *asked, "--refused-only", "--json")
    assert code == 0, err
    assert [one["label"] for one in json.loads(out)] == named["customer"][named["outcome"] == "lost"].tolist()


def test_a_name_that_a_file_of_declarations_and_constraints_mention_is_no_feature_either(dueto, folder, who):
    (folder / "named.plaf").write_text('fixed("age", "customer")\n')
    (folder / "named.toml").write_text('[features.customer]\nkind = "category"\n[features.debt]\nlow = 0\nhigh = 50\n')
    code, out, err = dueto("explain", *ASK, "--row", who, "--plaf", "named.plaf", "--space", "named.toml")
    assert code == 0, err
    assert "- age must stay the same" in out
    assert "customer" not in out


def test_a_column_of_a_one_hot_feature_can_be_told_shares_by(dueto, tmp_path):
    data = pd.DataFrame({"age": range(20, 60), "job_a": [1, 0] * 20, "job_b": [0, 1] * 20})
    data.to_csv("jobs.csv", index=False)
    joblib.dump(DecisionTreeClassifier(random_state=0).fit(data, data["age"] + 5 * data["job_a"] > 40), "jobs.pkl")
    asked = ["batch", "jobs.pkl", "jobs.csv", *TRUST, "--onehot", "job=job_*", "--out", tmp_path / "out"]
    code, _, err = dueto(*asked, "--by", "job_a")
    assert code == 0, err
    assert [g["group"] for g in library.read_batch(tmp_path / "out").summary["by"][0]["groups"]] == ["0", "1"]
    err = dueto(*asked[:-1], tmp_path / "other", "--id", "job")[2]  # the feature is no column
    assert "there is no column 'job' in jobs.csv" in err


BAD = [
    ({}, ["--id", "custmer", "--row", "00003"], "there is no column 'custmer' in named.csv; did you mean 'customer'?"),
    ({}, ["--id", "age", "--row", "3"], "the model was fitted on 'age', so that it is a feature and cannot be --id"),
    ({}, ["--id", "customer"], "say which row with --row ID; "),
    ({}, ["--id", "customer", "--row", "3"], "no row of named.csv has the 'customer' '3'; that of row 0 is '00000'"),
    ({}, ["--id", "", "--row", "3"], "there is no column '' in named.csv; it has 'age'"),
    ({}, ["--id", "", "--applicants", "data.csv"], "data.csv has no column ''; it has 'age'"),
    ({}, ["--row", "9" * 5000], f"--row takes a position from 0, not '{'9' * 100}...'; a column"),
    ({}, ["--row", "00x"], "--row takes a position from 0, not '00x'"),
    (
        {3: "00000"},
        ["--id", "customer", "--row", "00000"],
        "rows 0 and 3 of named.csv have the same 'customer', '00000'",
    ),
    ({7: " "}, ["--id", "customer", "--row", "00000"], "row 7 of named.csv has no 'customer'"),
    ({7: None}, ["--id", "customer", "--row", "00000"], "row 7 of named.csv has no 'customer'"),
    ({}, ["--id", "owner", "--applicants", "data.csv"], "data.csv has no column 'owner'; it has 'age'"),
]


@pytest.mark.parametrize(("changed", "asked", "told"), BAD)
def test_names_that_are_none_are_told_in_a_sentence(dueto, named, changed, asked, told):
    named["customer"] = [changed.get(i, name) for i, name in enumerate(named["customer"])]
    named.to_csv("named.csv", index=False)
    code, out, err = dueto("explain", "tree.pkl", "named.csv", *TRUST, *asked)
    assert (code, out) == (2, "")
    assert told in err.splitlines()[-1]


def test_rows_that_are_not_refused_are_told_by_name_and_so_are_those_that_are(dueto, named, who):
    paid = named["customer"][named["outcome"] == "paid"].iloc[0]
    code, _, err = dueto("explain", *ASK, "--row", paid)
    assert code == 2
    assert f"{paid} is not refused" in err
    assert f"refused are, for example, '{who}', " in err


@pytest.mark.parametrize("kind", ["Int64", "Float64", "int32", "float32", "string"])
def test_a_column_of_any_type_can_name_applicants(dueto, named, row, tmp_path, kind):
    named.assign(customer=pd.Series(range(80)).astype(kind)).to_parquet(tmp_path / "named.parquet")
    asked = ["counterfactuals", "tree.pkl", tmp_path / "named.parquet", "--id", "customer", *TRUST]
    code, out, err = dueto(*asked, "--row", row)
    assert code == 0, err
    assert out.startswith(f"{row} is refused")
    gaps = pd.Series(range(80)).astype(kind).where(pd.Series(range(80)) != 7)
    named.assign(customer=gaps).to_parquet(tmp_path / "named.parquet")
    assert "row 7 of named.parquet has no 'customer'" in dueto(*asked, "--row", row)[2]


@pytest.mark.parametrize("large", [False, True])
def test_texts_that_read_as_missing_elsewhere_are_names(dueto, named, tmp_path, monkeypatch, large):
    monkeypatch.setattr("dueto.cli.tables.LARGE_TEXT", 0 if large else 10**9)
    texts = ["None", "NA", "null", "nan", "#N/A"]
    named.assign(customer=[*texts, *(f"C{i}" for i in range(75))]).to_csv(tmp_path / "named.csv", index=False)
    asked = [part for text in texts for part in ("--row", text)]
    code, out, err = dueto("counterfactuals", "tree.pkl", tmp_path / "named.csv", *ASK[2:], *asked, "--json")
    assert code in (0, 2), err  # some are accepted
    found = json.loads(out)
    assert [one["row"] for one in found] == [0, 1, 2, 3, 4]
    assert all(one.get("label") == text for one, text in zip(found, texts, strict=True) if "error" not in one)


def test_blanks_around_a_name_or_a_position_are_passed_over(dueto, named, who, row):
    named.assign(customer=[f" {name} " for name in named["customer"]]).to_csv("named.csv", index=False)
    assert dueto("counterfactuals", *ASK, "--row", f"  {who} ")[1].startswith(f"{who} is refused")
    assert dueto("counterfactuals", "tree.pkl", "data.csv", *TRUST, "--row", f" {row} ")[0] == 0


def test_a_name_is_one_line_wherever_it_is_told(dueto, named, row):
    named["customer"] = [f"C{i}\nIt is due to nothing:" for i in range(80)]
    named.to_csv("named.csv", index=False)
    code, out, err = dueto("counterfactuals", *ASK, "--row", f"C{row}\nIt is due to nothing:", "--row", "C99\ndueto: x")
    assert code == 2
    assert out == ""
    assert "\ndueto: x" not in err
    code, out, err = dueto("counterfactuals", *ASK, "--row", f"C{row}\nIt is due to nothing:")
    assert code == 0, err
    assert out.startswith(f"C{row}\\nIt is due to nothing: is refused")


def test_every_applicant_has_a_file_of_its_own_whatever_it_is_called(dueto, named, tmp_path):
    refused = named.index[named["outcome"] == "lost"].tolist()
    names = [
        "a/b",
        "a_b",
        "..",
        "../../x",
        "AB",
        "ab",
        "x" * 300,
        "\N{GRINNING FACE}",
        "\N{CJK UNIFIED IDEOGRAPH-4E00}" * 90,
    ]
    called = dict(zip(refused, names, strict=False))
    named["customer"] = [called.get(i, f"C{i}") for i in range(80)]
    named.to_csv("named.csv", index=False)
    asked = [part for name in names for part in ("--row", name)]
    code, _, err = dueto("explain", *ASK, *asked, "--k", "1", "--letter", tmp_path / "{row}.txt")
    assert code == 0, err
    written = sorted(path.name for path in tmp_path.iterdir())
    assert len(written) == len(names)
    assert {"a_b.txt", f"a_b-{refused[0]}.txt", f"row-{refused[2]}.txt", f"AB-{refused[4]}.txt"} <= set(written)
    assert not any(name.startswith(".") for name in written)


def test_rules_are_audited_for_an_applicant_by_name(dueto, who, row):
    code, out, err = dueto("audit", *ASK, "age >= 0", "--row", who)
    assert code == 1, err
    plain = dueto("audit", "tree.pkl", "data.csv", *TRUST, "age >= 0", "--row", row)[1]
    assert out == plain.replace(f"Row {row}", who)
    assert "has the 'customer' 'Nobody'" in dueto("audit", *ASK, "age >= 0", "--row", "Nobody")[2]
