"""A table read in batches gives what the same table gives in memory, whatever it is read from."""

from __future__ import annotations

import shutil
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

import dueto
from dueto import Explainer, FeatureSpace, InputError, open_table, packed
from dueto.packed import Packed, Repeated
from dueto.sources import BATCH, Source, as_source
from dueto.stream import encoded
from trials import trials

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pa = pytest.importorskip("pyarrow")
duckdb = pytest.importorskip("duckdb")
NAN = float("nan")


def table(rng: np.random.Generator, m: int) -> pd.DataFrame:
    """Numbers, texts and truth values, some missing, a one-hot group, and rows that occur more than once."""
    kind = rng.integers(3, size=m)
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 23, size=m),
            "income": np.where(rng.random(m) < 0.3, NAN, rng.integers(4, size=m) / 2),
            "whole, some missing": np.where(rng.random(m) < 0.2, NAN, rng.integers(3, size=m)),
            "job 👷": rng.choice(np.array(["clerk", "smith", "שלום", None], dtype=object), size=m),
            "sure": rng.random(m) < 0.5,
            "plan_a": (kind == 0).astype(int),
            "plan_b": (kind == 1).astype(int),
        }
    )
    return frame.iloc[np.sort(rng.integers(m, size=m))].reset_index(drop=True)


def csv(frame: pd.DataFrame, folder: Path) -> Any:
    frame.to_csv(folder / "t.csv", index=False)
    return folder / "t.csv"


def parquet(frame: pd.DataFrame, folder: Path) -> Any:
    frame.to_parquet(folder / "t.parquet", row_group_size=7)
    return folder / "t.parquet"


def parts(frame: pd.DataFrame, folder: Path) -> Any:
    shutil.rmtree(folder / "parts", ignore_errors=True)
    (folder / "parts").mkdir()
    for i, start in enumerate(range(0, len(frame), 11)):
        frame.iloc[start : start + 11].to_parquet(folder / "parts" / f"{i:03}.parquet", index=False)
    return folder / "parts"


def feather(frame: pd.DataFrame, folder: Path) -> Any:
    frame.to_feather(folder / "t.feather")
    return folder / "t.feather"


def database(frame: pd.DataFrame, folder: Path) -> Any:
    (folder / "t.duckdb").unlink(missing_ok=True)
    with duckdb.connect(folder / "t.duckdb") as connection:
        connection.register("frame", frame)
        connection.execute("CREATE TABLE loans AS SELECT * FROM frame")
    return folder / "t.duckdb"


def arrow(frame: pd.DataFrame, folder: Path) -> Any:  # noqa: ARG001
    return pa.Table.from_pandas(frame, preserve_index=False)


def reader(frame: pd.DataFrame, folder: Path) -> Any:
    return arrow(frame, folder).to_reader(max_chunksize=9)


def relation(frame: pd.DataFrame, folder: Path) -> Any:  # noqa: ARG001
    connection = duckdb.connect()
    connection.register("frame", frame)
    return connection.sql("SELECT * FROM frame")


MADE: dict[str, Callable[[pd.DataFrame, Path], Any]] = {
    made.__name__: made for made in (csv, parquet, parts, feather, database, arrow, reader, relation)
}


def streamed(made: str, frame: pd.DataFrame, folder: Path, batch: int) -> Source:
    source = as_source(MADE[made](frame, folder))
    source.batch = batch
    return source


def model(frame: pd.DataFrame) -> Any:
    rich = np.nan_to_num(frame["income"].to_numpy(dtype=float), nan=0.5) > 0.7
    old = frame["age"].to_numpy(dtype=float) > 20
    return (rich & (old | (frame["plan_a"] == 1) | (frame["job 👷"] == "smith"))).to_numpy(dtype=float)


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows stay packed, and are looked at in parts, though they are few."""
    monkeypatch.setattr(packed, "FEW", 3)
    monkeypatch.setattr(packed, "BLOCK", 8)
    monkeypatch.setattr("dueto.index.SPAN", 64)
    monkeypatch.setattr("dueto.stream.LEAST", 1)


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("made", MADE)
@given(seed=st.integers(0, 999), m=st.integers(1, 70), batch=st.integers(3, 40))
@trials(4, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_is_streamed_is_what_is_read_whole(made: str, seed: int, m: int, batch: int, tmp_path: Path):
    frame = table(np.random.default_rng(seed), m)
    onehot = {"plan": ["plan_a", "plan_b"]}
    source = streamed(made, frame, tmp_path, batch)
    whole = source.frame()
    groups = [["age", "plan"], ["sure", "age"]]
    space = FeatureSpace.infer(whole, onehot=onehot, groups=groups)
    found = FeatureSpace.infer(source, onehot=onehot, groups=groups)
    assert found.to_dict() == space.to_dict()
    mine, theirs = encoded(found, source), encoded(space, whole)
    for a, b in zip(mine, theirs, strict=True):
        assert np.array_equal(np.asarray(a), np.asarray(b), equal_nan=True)
    in_memory = FeatureSpace.infer(frame, onehot=onehot)
    kinds = [(f.name, f.labels, f.domain.values.tolist(), f.domain.counts.tolist()) for f in in_memory.features]
    assert [(f.name, f.labels, f.domain.values.tolist(), f.domain.counts.tolist()) for f in found.features] == kinds


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("method", ["auto", "genetic", "anchor", "set-cover"])
def test_explanations_of_streamed_data_are_those_of_the_same_data_in_memory(method: str, tmp_path: Path):
    frame = table(np.random.default_rng(7), 60)
    source = streamed("reader" if method == "auto" else "parquet", frame, tmp_path, 16)
    onehot = {"plan": ["plan_a", "plan_b"]}
    options: dict[str, Any] = {
        "constraints": 'fixed("sure")\ntogether("age", "plan")\ncf.age >= x.age',
        "method": method,
    }
    one = Explainer(model, source, space=FeatureSpace.infer(source, onehot=onehot), **options)
    whole = source.frame()
    two = Explainer(model, whole, space=FeatureSpace.infer(whole, onehot=onehot), **options)
    assert np.array_equal(one.refused, two.refused)
    assert one.data_fingerprint == two.data_fingerprint
    for row in one.refused[:1].tolist():
        a, b = (e.explain(row, rng=3, at_most=2) for e in (one, two))
        assert str(a) == str(b)
        assert (a.rows_scored, a.support) == (b.rows_scored, b.support)


@pytest.mark.usefixtures("few")
def test_a_fitted_tree_reads_only_its_own_columns(tmp_path: Path):
    from sklearn.tree import DecisionTreeClassifier

    frame = table(np.random.default_rng(1), 300).fillna({"income": 0.0})
    columns = ["age", "income", "sure"]
    tree = DecisionTreeClassifier(random_state=0).fit(frame[columns], model(frame) > 0.5)
    source = streamed("parquet", frame.assign(when=pd.Timestamp("2020-01-01")), tmp_path, 50)
    one, two = Explainer(tree, source), Explainer(tree, frame)
    row = int(one.refused[0])
    assert one.space.names == tuple(columns)
    assert str(one.explain(row, rng=0)) == str(two.explain(row, rng=0))
    assert one.explain(row).rule.verdict.standing.value == "proved"
    plausible = [Explainer(tree, data, plausible=0.9).explain(row, rng=0) for data in (source, frame)]
    assert str(plausible[0]) == str(plausible[1])


@given(
    X=st.lists(
        st.lists(st.sampled_from([0.0, 1.0, 0.1, NAN, -3.0, 1e30, 2.0**40 + 1]), min_size=3, max_size=3), max_size=30
    ),
    seed=st.integers(0, 99),
)
def test_a_packed_matrix_is_read_as_the_array_is(X: list[list[float]], seed: int):
    array = np.array(X).reshape(-1, 3)
    rng = np.random.default_rng(seed)
    some = rng.random(len(array)) < 0.5
    at = rng.integers(max(1, len(array)), size=5 if len(array) else 0)
    held = Packed.of(array)
    which = rng.permutation(len(array))
    for matrix, plain in ((held, array), (Repeated(held, which), array[which])):
        for key in (slice(None), slice(1, 9, 2), some, at, (slice(None), 1), (slice(None), [0, 2]), (at, 2), (some, 0)):
            assert np.array_equal(np.asarray(matrix[key]), plain[key], equal_nan=True)
        assert np.array_equal(np.isnan(matrix), np.isnan(plain))
        assert np.array_equal(matrix == plain, plain == plain)
        stacked = np.vstack([plain[:1], matrix, plain])
        assert np.array_equal(np.asarray(stacked), np.vstack([plain[:1], plain, plain]), equal_nan=True)
        assert matrix.shape == plain.shape


def test_columns_of_many_values_are_kept_exactly(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(packed, "LISTED", 4)
    X = np.column_stack([np.arange(9.0), np.arange(9) / 3, np.arange(9) % 2, [NAN, *range(8)]])
    held = Packed.joined([Packed.of(X[:3]), Packed.of(X[3:])])
    assert np.array_equal(np.asarray(held), X, equal_nan=True)
    assert [c.codes.dtype.itemsize for c in held.columns] == [4, 8, 1, 4]


def test_the_types_of_a_csv_file_are_those_of_all_of_it(tmp_path: Path):
    rows = ["a,b,c,d,e,f", *["1,2,True,x,,3"] * 10, "2.5,y,,True,,", "3,True,False,,,9"]
    (tmp_path / "t.csv").write_text("\n".join(rows))
    source = open_table(tmp_path / "t.csv", batch=4)
    whole = pd.read_csv(tmp_path / "t.csv")
    assert FeatureSpace.infer(source).to_dict() == FeatureSpace.infer(whole).to_dict()
    assert np.array_equal(encoded(FeatureSpace.infer(whole), source).X[:], FeatureSpace.infer(whole).encode(whole),
                          equal_nan=True)  # fmt: skip


def test_categories_that_differ_from_part_to_part_are_joined(tmp_path: Path):
    parts = [pd.Categorical(["b", "a"], ["b", "a", "z"]), pd.Categorical(["c", "a"], ["c", "a"])]
    (tmp_path / "t").mkdir()
    for i, part in enumerate(parts):
        pd.DataFrame({"k": part}).to_parquet(tmp_path / "t" / f"{i}.parquet")
    source = open_table(tmp_path / "t")
    found = FeatureSpace.infer(source)
    assert found["k"].labels == FeatureSpace.infer(source.frame())["k"].labels
    assert encoded(found, source).X[:].tolist() == found.encode(source.frame()).tolist()


def test_a_filter_reads_only_the_row_groups_that_have_such_rows(tmp_path: Path):
    pd.DataFrame({"month": np.repeat([1, 2, 3], 5), "v": range(15)}).to_parquet(
        tmp_path / "t.parquet", row_group_size=5
    )
    source = open_table(tmp_path / "t.parquet", filters=[("month", "=", 2)])
    assert source.frame()["v"].tolist() == [5, 6, 7, 8, 9]
    assert [f["v"].tolist() for f in source[["v"]].batches()] == [[5, 6, 7, 8, 9]]
    data = bytearray((tmp_path / "t.parquet").read_bytes())
    data[4:40] = b"\xff" * 36  # the first row group is damaged, and nobody sees it
    (tmp_path / "t.parquet").write_bytes(data)
    assert open_table(tmp_path / "t.parquet", filters=[("month", "=", 2)]).frame()["v"].tolist() == [5, 6, 7, 8, 9]
    with pytest.raises(InputError, match=r"t\.parquet cannot be read as a table"):
        open_table(tmp_path / "t.parquet").frame()
    with pytest.raises(InputError, match=r"filters .* cannot be read"):
        open_table(tmp_path / "t.parquet", filters=[("month", "~", 2)])


def test_a_query_is_run_once_and_reads_a_file_as_data(tmp_path: Path):
    pd.DataFrame({"a": [1, 2, 3, 4], "b": list("wxyz")}).to_parquet(tmp_path / "t.parquet")
    source = open_table(tmp_path / "t.parquet", query="SELECT a, 1.5 * a AS half, random() AS r FROM data WHERE a > 1")
    assert source.frame().equals(source.frame())
    assert FeatureSpace.infer(source)["half"].domain.values.tolist() == [3.0, 4.5, 6.0]
    assert encoded(FeatureSpace.infer(source), source).X[0][:2].tolist() == [2.0, 3.0]
    narrow = source[["a"]]
    assert narrow.frame()["a"].tolist() == [2, 3, 4]


def test_a_row_at_fault_is_named_by_its_place_in_the_whole_table(tmp_path: Path):
    pd.DataFrame({"a": [1.0, 2.0, 3.0, 4.0, np.inf]}).to_parquet(tmp_path / "t.parquet")
    source = open_table(tmp_path / "t.parquet", batch=2)
    with pytest.raises(InputError, match="column 'a', row 4: the value is infinite"):
        encoded(FeatureSpace.infer(pd.DataFrame({"a": [1.0, 2.0]})), source)
    pd.DataFrame({"k": list("aabbc")}).to_parquet(tmp_path / "t.parquet")
    with pytest.raises(InputError, match="column 'k', row 4: 'c' is not one of its categories"):
        encoded(FeatureSpace.infer(pd.DataFrame({"k": ["a", "b"]})), open_table(tmp_path / "t.parquet", batch=2))


def test_more_distinct_rows_than_memory_holds_are_refused_with_the_figures(tmp_path: Path):
    pd.DataFrame({"a": np.arange(500) / 7, "b": 1}).to_parquet(tmp_path / "t.parquet")
    source = open_table(tmp_path / "t.parquet", batch=100)
    with pytest.raises(
        InputError, match=r"has 300 distinct rows among its first 300, .* more than the .* GB .* a sample"
    ):
        encoded(FeatureSpace.infer(source), source, memory=9_000)


def test_more_distinct_values_than_can_be_kept_are_refused_with_what_to_do(tmp_path: Path, monkeypatch):
    monkeypatch.setattr("dueto.condense.MOST", 1000)
    m = 1 << 19
    pd.DataFrame({"id": np.arange(m), "a": 1}).to_parquet(tmp_path / "t.parquet")
    with pytest.raises(InputError, match=r"column 'id' has 524,288 distinct values among the first 524,288 rows"):
        FeatureSpace.infer(open_table(tmp_path / "t.parquet"))


def test_very_many_categories_in_a_column_are_read(tmp_path: Path):
    m = 200_000
    ids = np.char.add("id", np.arange(m).astype(str))
    pa.parquet.write_table(pa.table({"id": ids, "a": np.arange(m) % 5}), tmp_path / "t.parquet")
    source = open_table(tmp_path / "t.parquet")
    space = FeatureSpace.infer(source)
    assert len(space["id"].labels) == m
    rows = encoded(space, source)
    assert len(rows.distinct) == m
    assert space["id"].label(rows.X[123_456][0]) == "id123456"


def test_a_reader_a_reader_gave_up_is_told_in_a_sentence():
    def broken() -> Any:
        yield pa.record_batch({"a": [1]})
        raise RuntimeError("the line is dead")

    reader = pa.RecordBatchReader.from_batches(pa.schema({"a": pa.int64()}), broken())
    with pytest.raises(InputError, match=r"the reader cannot be read as a table: .*the line is dead"):
        as_source(reader)


def test_the_front_door_takes_a_path(tmp_path: Path):
    frame = table(np.random.default_rng(2), 50)
    frame.to_parquet(tmp_path / "t.parquet")
    row = int(Explainer(model, frame).refused[0])
    one, two = (dueto.explain(model, data, row) for data in (tmp_path / "t.parquet", frame))
    assert str(one) == str(two)
    assert BATCH > 1000


def write(path: Path, **columns: Any) -> None:
    import pyarrow.parquet as pq

    pq.write_table(pa.table(columns), path)


def no_rows(path: Path) -> None:
    write(path, a=pa.array([], pa.int64()))


def nested(path: Path) -> None:
    write(path, a=[1], b=[[1, 2]])


def dates(path: Path) -> None:
    write(path, a=[1], when=pa.array([0], pa.timestamp("us")))


def days(path: Path) -> None:
    write(path, a=[1], when=pa.array([0], pa.date32()))


def twins(path: Path) -> None:
    import pyarrow.parquet as pq

    pq.write_table(pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["a", "a"]), path)


def infinite(path: Path) -> None:
    write(path, a=[1.0, np.inf])


def truncated(path: Path) -> None:
    write(path, a=list(range(1000)))
    path.write_bytes(path.read_bytes()[:-30])


def not_one(path: Path) -> None:
    path.write_bytes(b"hello")


def differing(path: Path) -> None:
    path.mkdir()
    write(path / "1.parquet", a=[1])
    write(path / "2.parquet", a=["x"])


def no_files(path: Path) -> None:
    path.mkdir()


BAD = {
    no_rows: "has no rows",
    nested: r"column 'b' of .* holds list<.*>, several values a row",
    dates: "column 'when' holds dates or times",
    days: "column 'when' holds dates or times",
    twins: "two columns of one name",
    infinite: "column 'a', row 1: the value is infinite",
    truncated: "cannot be read as a Parquet file",
    not_one: "cannot be read as a Parquet file",
    differing: "cannot be read as a table",
    no_files: "has no files",
}


@pytest.mark.parametrize("make", BAD, ids=lambda make: make.__name__)
def test_a_file_that_cannot_be_used_is_refused_in_one_sentence(make: Callable[[Path], None], tmp_path: Path):
    make(tmp_path / "t.parquet")
    with pytest.raises(InputError, match=BAD[make]) as caught:
        FeatureSpace.infer(open_table(tmp_path / "t.parquet"))
    assert "\n" not in str(caught.value)


QUERIES = {
    "SELECT * FRO data": "the query .*cannot be answered by DuckDB: Parser Error",
    "SELECT b FROM data": "cannot be answered by DuckDB: Binder Error",
    "SELECT 1 / (a - a)::INT, CAST('x' AS INT) c FROM data": "cannot be (answered by DuckDB|read as a table): .*",
    "SELECT a, a FROM data": "two columns named 'a'|Binder Error",
    "CREATE TABLE x (a INT)": "has no rows|the query gives no table",
    "SELECT a FROM data WHERE false": "has no rows",
}


@pytest.mark.parametrize("query", QUERIES)
def test_a_query_that_fails_is_told_in_one_line(query: str, tmp_path: Path):
    write(tmp_path / "t.parquet", a=[1, 2])
    with pytest.raises(InputError, match=QUERIES[query]) as caught:
        FeatureSpace.infer(open_table(tmp_path / "t.parquet", query=query))
    assert "\n" not in str(caught.value)


def test_a_database_of_several_tables_asks_which(tmp_path: Path):
    with duckdb.connect(tmp_path / "t.duckdb") as connection:
        connection.execute("CREATE TABLE one AS SELECT 1 AS a")
        connection.execute('CREATE TABLE "t w o" AS SELECT 2 AS a')
    with pytest.raises(InputError, match=r"has several tables; .*'one'.* say which by"):
        open_table(tmp_path / "t.duckdb")
    assert open_table(tmp_path / "t.duckdb", query='FROM "t w o"').frame()["a"].tolist() == [2]
    (tmp_path / "u.duckdb").write_bytes(b"nothing of the kind" * 1000)
    with pytest.raises(InputError, match=r"u\.duckdb cannot be answered by DuckDB"):
        open_table(tmp_path / "u.duckdb")


def test_a_column_renamed_between_model_and_data_is_named(tmp_path: Path):
    from sklearn.tree import DecisionTreeClassifier

    frame = pd.DataFrame({"a": [1, 2, 3], "b": [1, 0, 1]})
    tree = DecisionTreeClassifier().fit(frame, [0, 1, 0])
    frame.rename(columns={"b": "c"}).to_parquet(tmp_path / "t.parquet")
    with pytest.raises(InputError, match="was fitted on a column 'b', which the data does not have"):
        Explainer(tree, tmp_path / "t.parquet")
    with pytest.raises(InputError, match="the data has no column 'b'"):
        Explainer(tree, tmp_path / "t.parquet", space=FeatureSpace.infer(frame))


@pytest.mark.parametrize("package", ["pyarrow", "duckdb"])
def test_a_missing_package_names_the_command_that_installs_it(package: str, tmp_path: Path, monkeypatch):
    write(tmp_path / "t.parquet", a=[1, 2])
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(InputError, match=r"needs the package .*run: pip install"):
        open_table(tmp_path / "t.parquet", query="FROM data" if package == "duckdb" else None)
