"""What a summary counts is what the records say."""

from __future__ import annotations

import html

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
        ({"op": "<=", "least": 5, "median": 5, "most": 5}, ("debt at most", ">5<")),
        ({"op": "=", "least": None, "median": None, "most": None}, ("debt exactly", ">missing<")),
        (
            {"op": "=", "least": "missing", "median": "missing", "most": "missing"},
            ("debt exactly", ">'missing'<"),
        ),
    ],
)
def test_the_page_says_of_a_condition_where_rules_put_it(whole_run, bound, told):
    found, _ = whole_run
    page = html.unescape(
        portfolio_page(found.summary | {"bounds": [{"feature": "debt", "rows": 3} | bound]}, found.question)
    )
    assert all(text in page for text in told)


def test_records_are_a_sequence_that_is_read_from_lines(whole_run):
    records = whole_run[0].records
    assert records[:3] == list(records)[:3] != records[1:4]
    assert records[-1] == list(records)[-1]
    assert records[0] is not records[0]  # nothing that was read is held


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
