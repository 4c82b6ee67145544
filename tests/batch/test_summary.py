"""What a summary counts is what the records say."""

from __future__ import annotations

import html
import re
from decimal import Decimal

import pandas as pd
import pytest

import dueto
from dueto.batch import results
from dueto.report.portfolio import portfolio_page


def test_conditions_are_counted_by_feature_and_side_with_the_range_and_a_median_that_occurs(whole_run):
    found, _ = whole_run
    components = pd.DataFrame([c for r in found for c in r["rule"]["components"]])
    told = found.summary["bounds"]
    assert [b["rows"] for b in told] == sorted((b["rows"] for b in told), reverse=True)
    assert {"<=", "="} <= {b["op"] for b in told}
    for b in told:
        values = components[(components["feature"] == b["feature"]) & (components["op"] == b["op"])]["value"]
        if b["op"] == "=":  # each label by itself
            assert b["rows"] == (values == b["most"]).sum()
            assert b["least"] == b["median"] == b["most"]
        else:
            middle = sorted(values)[(len(values) - 1) // 2]
            assert (b["rows"], b["least"], b["median"], b["most"]) == (len(values), min(values), middle, max(values))
    assert sum(b["rows"] for b in told) == len(components)  # 15 suffice here: none is left out


def test_bounds_of_labels_rise_in_the_order_of_the_labels(tmp_path):
    grades = ["poor", "fair", "good", "best"]
    data = pd.DataFrame({"grade": pd.Categorical(grades * 4, categories=grades, ordered=True), "n": [0, 1] * 8})
    explainer = dueto.Explainer(lambda t: (t["grade"].cat.codes >= 2).astype(float), data)
    found = dueto.batch(explainer, out=tmp_path / "out", k=1)
    assert found.summary["bounds"] == [
        {"feature": "grade", "op": "<=", "rows": 8, "least": "poor", "median": "poor", "most": "fair"}
    ]
    assert "poor (poor to fair)" in found.to_html()


@pytest.mark.parametrize(
    ("bound", "told"),
    [
        ({"op": ">=", "least": 28, "median": 32, "most": 41}, ("debt at least", "32 (28 to 41)")),
        ({"op": "<=", "least": 5, "median": 5, "most": 5}, ("debt at most", "5")),
        ({"op": "=", "least": None, "median": None, "most": None}, ("debt exactly", "missing")),
        (
            {"op": "=", "least": "missing", "median": "missing", "most": "missing"},
            ("debt exactly", "'missing'"),
        ),
    ],
)
def test_the_page_says_of_a_condition_where_rules_put_it(whole_run, bound, told):
    found, _ = whole_run
    page = html.unescape(
        portfolio_page(found.summary | {"bounds": [{"feature": "debt", "rows": 3} | bound]}, found.question)
    )
    condition, where = told
    assert re.search(rf">{re.escape(condition)}</th>\s*<td>{re.escape(where)}</td>", page)


def test_records_are_a_sequence_that_is_read_from_lines(whole_run):
    records = whole_run[0].records
    assert records[:3] == list(records)[:3] != records[1:4]
    assert records[-1] == list(records)[-1]
    assert records[0] is not records[0]  # nothing that was read is held
    assert (repr(records), repr(records[:1])) == (f"<{len(records)} records>", "<1 record>")


def test_a_large_parquet_file_is_written_in_parts(explainer, tmp_path, monkeypatch):
    import pyarrow.parquet as pq

    monkeypatch.setattr(results, "GROUP", 4)
    rows = explainer.refused[:10]
    found = dueto.batch(explainer, rows, out=tmp_path / "rows.parquet", k=1)
    assert pq.ParquetFile(tmp_path / "rows.parquet").num_row_groups == 3
    assert dueto.read_batch(tmp_path / "rows.parquet").records == found.records


def test_a_record_that_cannot_be_read_is_told_where_the_batch_is_read(explainer, tmp_path):
    dueto.batch(explainer, explainer.refused[:3], out=tmp_path / "rows.jsonl", k=1)
    lines = (tmp_path / "rows.jsonl").read_bytes().splitlines(keepends=True)
    (tmp_path / "rows.jsonl").write_bytes(b"".join([*lines[:2], lines[2][:-9], *lines[3:]]))
    with pytest.raises(dueto.InputError, match="not a batch of dueto, or damaged"):
        dueto.read_batch(tmp_path / "rows.jsonl")


def by_each(explainer, out, values):
    """Shares by a column that has each of the values in turn; how many rows of the data are in each group."""
    given = [values[i * len(values) // len(explainer.X)] for i in range(len(explainer.X))]
    found = dueto.batch(explainer, out=out, by={"c": given}, k=1)
    assert list(dueto.read_batch(out)) == list(found)
    return found, {g["group"]: g["all"] for g in found.summary["by"][0]["groups"]}


def test_texts_that_read_like_names_of_groups_are_groups_of_their_own(explainer, tmp_path):
    values = ["missing", None, "up to 5", "1 to 9", *(f"branch {i}" for i in range(12))]
    found, groups = by_each(explainer, tmp_path / "out", values)
    assert set(groups) == {"'missing'", "missing", *values[2:]}
    assert set(groups.values()) <= {3, 4}  # of 50 rows
    assert {r["by"]["c"] for r in found} <= set(values)


def test_truths_and_numbers_that_equal_them_are_groups_of_their_own_and_lists_are_taken(explainer, tmp_path):
    mixed = [1, True, 1.0, "x", 0, False, -0.0]
    assert set(by_each(explainer, tmp_path / "mixed", mixed)[1]) == {"1", "True", "x", "0", "False"}
    assert set(by_each(explainer, tmp_path / "lists", [[1], [2], {"a": 1}])[1]) == {"[1]", "[2]", "{'a': 1}"}
    written_apart = [Decimal("1"), Decimal("1.0"), 1]  # equal, too
    assert set(by_each(explainer, tmp_path / "decimals", written_apart)[1]) == {"1", "1.0"}


def test_large_numbers_are_not_spelt_out_and_days_have_no_time_in_any_zone(explainer, tmp_path):
    assert set(by_each(explainer, tmp_path / "floats", [1e308, 2.0, 1e22])[1]) == {"1e+308", "2", "1e+22"}
    zoned = list(pd.date_range("2024-01-01", periods=2, tz="Asia/Tokyo"))
    assert set(by_each(explainer, tmp_path / "days", zoned)[1]) == {"2024-01-01", "2024-01-02"}


@pytest.mark.parametrize("kind", ["pandas", "numpy", "python", "decimal"])
def test_many_durations_and_decimals_are_cut_at_quartiles(explainer, tmp_path, kind):
    days = pd.timedelta_range("1D", periods=24)
    held = {
        "pandas": list(days),
        "numpy": days.to_numpy(),
        "python": list(days.to_pytimedelta()),
        "decimal": [Decimal(i) for i in range(24)],
    }[kind]
    assert len(by_each(explainer, tmp_path / "out", held)[1]) == 4


def test_texts_that_read_like_dates_are_groups_as_they_stand(explainer, tmp_path):
    values = ["2024-01-01", "2024-01-01 00:00:00"]
    assert set(by_each(explainer, tmp_path / "out", values)[1]) == set(values)


@pytest.mark.parametrize("kind", ["dates", "timestamps", "datetime64"])
def test_many_dates_are_cut_at_quartiles_whatever_holds_them(explainer, tmp_path, kind):
    stamps = pd.date_range("2024-01-01", periods=24, freq="D")
    held = {"dates": stamps.date, "timestamps": list(stamps), "datetime64": stamps.to_numpy()}[kind]
    _, groups = by_each(explainer, tmp_path / "out", [*held, pd.NaT])
    assert set(groups) == {
        "2024-01-01 to 2024-01-06",
        "2024-01-07 to 2024-01-12",
        "2024-01-13 to 2024-01-18",
        "2024-01-19 to 2024-01-24",
        "missing",
    }


def test_numbers_that_agree_in_many_digits_and_missing_ones_fall_into_their_groups(explainer, tmp_path):
    numbers = [1_600_000_000 + i for i in range(20)]
    _, groups = by_each(explainer, tmp_path / "out", [*numbers, pd.NA, float("nan")])
    assert len(groups) == 5
    assert sum(name.startswith("16000000") for name in groups) == 4
    found, groups = by_each(explainer, tmp_path / "endless", [*range(20), float("inf")])
    assert any(name.endswith(" to inf") for name in groups)
    assert {type(r["by"]["c"]) for r in found} <= {int, str}
