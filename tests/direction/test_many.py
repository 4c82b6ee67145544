"""Many pairs: each as if alone, corrected together; what is left out, what fails, and what is told."""

from __future__ import annotations

import itertools
import json
import re
import sys
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.linear_model import LinearRegression

from dueto import LSIR, Directions, direction, directions
from dueto.errors import InputError
from dueto.inference import adjusted

QUICK: dict[str, Any] = {"n_permutations": 99, "regressor": LSIR(widths=(1.0,))}  # no cross-validation


def table(n: int = 200, seed: int = 0) -> pd.DataFrame:
    """a causes b, c stands alone, d is a copy of c in other units."""
    rng = np.random.default_rng(seed)
    a = rng.uniform(-1, 1, n)
    c = rng.normal(size=n)
    return pd.DataFrame({"a": a, "b": 2 * a**2 + rng.normal(size=n) / 5, "c": c, "d": 5 - 2 * c})


SCREEN: dict[str, Any] = {"fast": True, "regressor": LinearRegression()}


def same(one: Directions, other: Directions) -> None:
    pd.testing.assert_frame_equal(one.table, other.table)
    assert (one.names, one.left_out) == (other.names, other.left_out)


def test_every_pair_has_the_answer_it_has_alone():
    frame = table()
    found = directions(frame, rng=3, correction="none", **QUICK)
    pairs = list(itertools.combinations("abcd", 2))
    assert list(zip(found.table["x"], found.table["y"], strict=True)) == pairs
    assert len(found) == 6
    for (x, y), row in zip(pairs, found.table.to_dict("records"), strict=True):
        alone = direction(frame[x], frame[y], names=(x, y), rng=3, **QUICK)
        assert (row["arrow"], row["reason"]) == (alone.arrow, alone.reason)
        assert (row["p_forward"], row["p_backward"]) == (row["q_forward"], row["q_backward"])
        assert row["p_forward"] == alone.forward.pvalue
        assert row["p_backward"] == alone.backward.pvalue
        assert row["p_related"] == alone.related.pvalue
        assert (row["smi_forward"], row["smi_backward"]) == alone.smi
        assert row["n"] == 200
    assert found.table["arrow"].tolist() == ["->", *"?????"]
    assert "linear functions of each other" in found.table["reason"].iloc[5]


def test_the_number_of_jobs_does_not_change_the_result():
    frame = table(60)
    options = QUICK | {"n_permutations": 19}
    same(directions(frame, n_jobs=1, **options), directions(frame, n_jobs=2, **options))
    assert directions(frame, rng=1, **options).table["p_related"].tolist() != (
        directions(frame, rng=2, **options).table["p_related"].tolist()
    )


@pytest.mark.parametrize("correction", ["holm", "bh"])
def test_p_values_are_corrected_over_all_tests_to_reject_and_accept_as_they_are(correction):
    frame = table()
    plain = directions(frame, correction="none", **QUICK).table
    found = directions(frame, correction=correction, **QUICK).table
    both = ["p_forward", "p_backward"]
    pd.testing.assert_frame_equal(found[both], plain[both])
    np.testing.assert_allclose(
        found[["q_forward", "q_backward"]].to_numpy().ravel(),
        adjusted(plain[both].to_numpy().ravel(), method=correction),
    )
    assert plain["arrow"].iloc[0] == "->"
    q = found["q_backward"].iloc[0]
    assert (q > 0.05) == (correction == "holm")  # the least p-value of 99 permutations is .01; Holm's rule needs .05/12
    assert found["arrow"].iloc[0] == ("?" if correction == "holm" else "->")
    assert ("inconclusive" in found["reason"].iloc[0]) == (correction == "holm")


def test_with_permutations_enough_the_corrected_tests_reject():
    found = directions(table()[["a", "b", "c"]], **QUICK | {"n_permutations": 999})
    assert found.table["q_backward"].iloc[0] <= 0.05
    assert found.table["arrow"].tolist() == ["->", "?", "?"]


def test_a_column_that_cannot_be_tried_has_its_reason_and_the_others_go_on():
    frame = table()[["a", "b"]].assign(k=1.0, h=np.nan)
    found = directions(frame, correction="none", **QUICK)
    rows = {(row["x"], row["y"]): row for row in found.table.to_dict("records")}
    assert rows["a", "b"]["arrow"] == "->"
    assert rows["a", "k"]["reason"] == "k is constant, so nothing can depend on it; choose a column that varies"
    assert "h is missing" in rows["a", "h"]["reason"]
    for pair in (("a", "k"), ("a", "h"), ("b", "k"), ("k", "h")):
        row = rows[pair]
        assert (row["arrow"], row["n"]) == ("?", 0)
        assert all(np.isnan(row[name]) for name in ("p_forward", "q_backward", "p_related", "smi_forward"))
    assert rows["a", "b"]["q_forward"] == rows["a", "b"]["p_forward"]


def test_pairs_that_fail_are_not_counted_in_the_correction():
    frame = table()[["a", "b"]]
    alone, among = directions(frame, rng=0, **QUICK), directions(frame.assign(k=1.0), rng=0, **QUICK)
    columns = ["p_forward", "p_backward", "q_forward", "q_backward", "arrow"]
    assert among.table["n"].tolist() == [200, 0, 0]
    q, p = (among.table.iloc[0][[f"{kind}_forward", f"{kind}_backward"]].astype(float).tolist() for kind in "qp")
    np.testing.assert_allclose(q, adjusted(p))
    assert set(columns) <= set(alone.table)


def test_columns_that_are_no_numbers_are_left_out_and_named():
    frame = table(60)[["a", "b"]].assign(
        job=list("xy") * 30, day=pd.date_range("2020", periods=60), kind=pd.Categorical([1, 2] * 30), z=1j
    )
    found = directions(frame, **SCREEN)
    assert found.names == ("a", "b")
    assert found.left_out == ("job", "day", "kind", "z")
    with pytest.raises(InputError, match="not numeric: 'job'; choose columns of numbers"):
        directions(frame, columns=["a", "job"])


def test_only_the_columns_asked_for_are_tried():
    found = directions(table(60), columns=["c", "a"], **SCREEN)
    assert found.names == ("c", "a")
    assert found.table[["x", "y"]].to_numpy().tolist() == [["c", "a"]]


def test_truth_values_and_whole_numbers_are_columns_of_numbers():
    frame = pd.DataFrame({"yes": np.arange(40) % 2 == 0, "whole": np.arange(40) ** 2, "null": pd.array([*range(40)])})
    found = directions(frame.astype({"null": "Int64"}), **SCREEN)
    assert found.names == ("yes", "whole", "null")
    assert found.table["n"].tolist() == [40, 40, 40]


def test_arrays_have_whole_numbers_as_names_and_frames_may():
    frame = table(60)[["a", "b"]]
    found = directions(frame.to_numpy(), **SCREEN)
    assert found.names == (0, 1)
    assert re.search("0 -> 1|1 -> 0", found.table["reason"].iloc[0])
    again = directions(frame.set_axis([7, 3], axis=1), **SCREEN)
    assert again.names == (7, 3)
    assert set(again.graph.nodes) == {7, 3}
    assert json.loads(json.dumps(again.to_dict()))["columns"] == [7, 3]


def test_a_polars_frame_gives_what_a_pandas_frame_does():
    frame = table(60)
    same(directions(pl.from_pandas(frame), **SCREEN), directions(frame, **SCREEN))
    holes = pl.from_pandas(frame).with_columns(a=pl.when(pl.col("a") < 0.9).then(pl.col("a")))
    found = directions(holes, columns=["a", "b"], missing="drop", **SCREEN)
    assert found.table["n"].tolist() == [int((frame["a"] < 0.9).sum())]


def test_the_graph_has_the_arrows_from_cause_to_effect():
    frame = table()[["b", "a", "c"]]  # the arrow from a to b is backward here
    found = directions(frame, correction="none", **QUICK)
    row = found.table.iloc[0]
    assert row["arrow"] == "<-"
    graph = found.graph
    assert set(graph.nodes) == {"a", "b", "c"}
    assert list(graph.edges) == [("a", "b")]
    edge = graph.edges["a", "b"]
    assert edge["p"] == row["p_backward"]
    assert edge["p_reverse"] == row["p_forward"]
    assert edge["smi"] == row["smi_backward"]
    assert edge["reason"] == row["reason"]
    turned = directions(table()[["a", "b", "c"]], correction="none", **QUICK)
    assert list(turned.graph.edges) == [("a", "b")]
    assert turned.graph.edges["a", "b"]["p"] == turned.table["p_forward"].iloc[0]


def test_the_result_is_text_and_plain_data():
    found = directions(table()[["b", "a", "c"]].assign(k=1.0, t="u"), correction="none", **QUICK)
    lines = str(found).splitlines()
    assert lines[0] == "1 arrow among 6 pairs of 4 columns"
    assert lines[1].startswith("  a -> b   only a -> b leaves")
    told = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert told["columns"] == ["b", "a", "c", "k"]
    assert told["left_out"] == ["t"]
    assert [row["arrow"] for row in told["pairs"]] == found.table["arrow"].tolist()
    assert told["pairs"][0]["p_backward"] == found.table["p_backward"].iloc[0]
    assert told["pairs"][2]["p_backward"] is None


def test_screening_has_no_p_values_and_known_relations_always_an_arrow():
    found = directions(table(60), **SCREEN)
    assert found.table[["p_forward", "p_backward", "q_forward", "q_backward", "p_related"]].isna().all(axis=None)
    assert found.table["smi_forward"].notna().all()
    json.dumps(found.to_dict(), allow_nan=False)
    related = directions(table(60)[["a", "b", "c"]], known_related=True, **QUICK).table
    for row in related.to_dict("records"):
        if row["p_forward"] != row["p_backward"]:
            assert row["arrow"] == ("->" if row["p_forward"] > row["p_backward"] else "<-")


def test_progress_is_told_pair_by_pair():
    told: list[tuple[int, int]] = []
    directions(table(40), progress=lambda *counts: told.append(counts), **SCREEN)
    assert told == [(k, 6) for k in range(1, 7)]


FRAME = table(40)
BAD: dict[str, tuple[Any, dict[str, Any], type[Exception], str]] = {
    "unknown column": (FRAME, {"columns": ["a", "q"]}, InputError, "no column 'q'; it has 'a', 'b', 'c', 'd'"),
    "one column": (FRAME[["a"]], {}, InputError, "needs two columns of numbers; the data has 1"),
    "one asked for": (FRAME, {"columns": ["a"]}, InputError, "needs two columns of numbers; the data has 1"),
    "the same twice": (FRAME, {"columns": ["a", "a"]}, InputError, "needs two columns"),
    "none asked for": (FRAME, {"columns": []}, InputError, "the data has 0"),
    "text alone": (pd.DataFrame({"t": ["u", "v"]}), {}, InputError, "the data has 0"),
    "twins": (FRAME.set_axis([*"abca"], axis=1), {}, InputError, "'a'"),
    "no rows": (FRAME[:0], {}, InputError, "no rows"),
    "few rows": (FRAME[:19], {}, InputError, "19 pairs of a and b"),
    "no table": (np.zeros(40), {}, TypeError, "two-dimensional"),
    "None": (None, {}, TypeError, "DataFrame"),
    "all constant": (FRAME * 0, {}, InputError, "a is constant"),
    "correction": (FRAME, {"correction": "sidak"}, InputError, "'sidak'"),
    "levels": (FRAME, {"reject": 0.2}, InputError, "0 < reject <= accept"),
    "a negative seed": (FRAME, {"rng": -1}, InputError, "rng must be"),
    "permutations": (FRAME, {"n_permutations": 0}, InputError, "n_permutations must be at least 1"),
    "true permutations": (FRAME, {"n_permutations": True}, TypeError, "n_permutations must be a whole number"),
    "unknown measure": (FRAME, {"measure": "mi"}, InputError, "no measure 'mi'"),
    "unknown option": (FRAME, {"speed": 3}, TypeError, "speed"),
}


@pytest.mark.parametrize(("frame", "given", "kind", "said"), BAD.values(), ids=BAD)
def test_bad_input_is_refused_in_one_sentence(frame: Any, given: dict[str, Any], kind: type[Exception], said: str):
    with pytest.raises(kind, match=said):
        directions(frame, **given | {"regressor": LinearRegression()})


def test_by_default_there_are_as_many_permutations_as_holm_needs(monkeypatch: pytest.MonkeyPatch):
    drawn = []

    def none_of_it(*_: Any, n_permutations: int, **__: Any) -> None:
        drawn.append(n_permutations)
        raise InputError("not tried")

    monkeypatch.setattr(sys.modules[directions.__module__], "direction", none_of_it)
    for columns, options in ((3, {}), (9, {}), (9, {"correction": "bh"}), (40, {}), (9, {"n_permutations": 99})):
        with pytest.raises(InputError, match="not tried"):
            directions(np.random.default_rng(0).normal(size=(30, columns)), **options)
    assert list(dict.fromkeys(drawn)) == [999, 1439, 9999, 99]
