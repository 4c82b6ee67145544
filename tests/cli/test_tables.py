"""Tables are read whole, or refused with a sentence that names the file and the line."""

from __future__ import annotations

import bz2
import gzip
import lzma
import sys

import numpy as np
import pandas as pd
import pytest

from dueto import FeatureSpace, InputError
from dueto.cli.tables import Kinds, kinds_declared, kinds_in, large_table, read_table

GOOD = b'name,age\n"Ann, the first",31\n\n"Bo\nthe second",\n'
KINDS = {
    "t.csv": GOOD,
    "t.CSV": GOOD,
    "t.tsv": b'name\tage\n"Ann, the first"\t31\n"Bo\nthe second"\t\n',
    "bom.csv": b"\xef\xbb\xbf" + GOOD,
    "crlf.csv": b'name,age\r\n"Ann, the first",31\r\n"Bo\nthe second",\r\n',
    "t.csv.gz": gzip.compress(GOOD),
    "t.csv.bz2": bz2.compress(GOOD),
    "my.t.csv.xz": lzma.compress(GOOD),
}


@pytest.mark.parametrize("name", KINDS)
def test_every_kind_of_text_gives_the_same_table(tmp_path, name):
    (tmp_path / name).write_bytes(KINDS[name])
    found = read_table(tmp_path / name)
    assert found.to_dict("list") == {
        "name": ["Ann, the first", "Bo\nthe second"],
        "age": [31.0, pytest.approx(np.nan, nan_ok=True)],
    }


def test_a_parquet_file_keeps_its_types(tmp_path):
    table = pd.DataFrame({"age": [1, 2], "job": pd.Categorical(["b", "a"], ["b", "a"], ordered=True)})
    table.to_parquet(tmp_path / "t.parquet")
    pd.testing.assert_frame_equal(read_table(tmp_path / "t.parquet"), table)


NUMBERS = b"  31   1.5\n\n# a note\n 17\tNA \n"
SPACED = {
    "t.txt": NUMBERS,
    "t.DAT": NUMBERS,
    "t.txt.gz": gzip.compress(NUMBERS),
    "bom.txt": b"\xef\xbb\xbf" + NUMBERS,
    "crlf.dat": NUMBERS.replace(b"\n", b"\r\n"),
    "named.txt": b"# from a ship\nage depth#\n" + NUMBERS,
    "years.txt": b"2019 x\n" + NUMBERS,
}


@pytest.mark.parametrize("name", SPACED)
def test_numbers_between_blanks_are_a_table_with_names_or_without(tmp_path, name):
    (tmp_path / name).write_bytes(SPACED[name])
    found = read_table(tmp_path / name)
    names = {"named.txt": ["age", "depth#"], "years.txt": ["2019", "x"]}.get(name, ["column 0", "column 1"])
    assert found.to_dict("list") == {names[0]: [31, 17], names[1]: [1.5, pytest.approx(np.nan, nan_ok=True)]}
    assert found.dtypes.tolist() == [np.int64, np.float64]


ZIPS = "zip,n,when,half,word,empty\n00017,1,01/02/2020,0.5,007,\n01234,0,03/04/2020,0,x,\n99999,10,05/06/2021,1,y,\n"


def test_a_column_of_numbers_with_zeros_before_them_stays_text(tmp_path, capsys):
    (tmp_path / "t.csv").write_text(ZIPS)
    found = read_table(tmp_path / "t.csv")
    assert found["zip"].tolist() == ["00017", "01234", "99999"]
    assert found.drop(columns="zip").equals(pd.read_csv(tmp_path / "t.csv").drop(columns="zip"))
    assert "'zip' of t.csv has values that begin with 0" in capsys.readouterr().err
    for kinds in (Kinds(numbers=frozenset(["zip"])), Kinds(padded=False)):
        assert read_table(tmp_path / "t.csv", kinds).equals(pd.read_csv(tmp_path / "t.csv"))
        assert capsys.readouterr().err == ""


def test_a_column_whose_declared_labels_are_texts_is_read_as_text(tmp_path, capsys):
    (tmp_path / "t.csv").write_text(ZIPS)
    space = tmp_path / "space.toml"
    space.write_text('[features.n]\nvalues = ["0", "1", "10", "2"]\n[features.zip]\nvalues = ["00017", "01234"]\n')
    found = read_table(tmp_path / "t.csv", kinds_declared(space))
    assert found["n"].tolist() == ["1", "0", "10"]
    assert found["zip"].tolist() == ["00017", "01234", "99999"]
    assert capsys.readouterr().err == ""
    space.write_text('[features.n]\nkind = "category"\nvalues = [0, 1, 10]\n[features.zip]\nkind = "integer"\n')
    assert read_table(tmp_path / "t.csv", kinds_declared(space)).equals(pd.read_csv(tmp_path / "t.csv"))
    assert kinds_declared(None) == Kinds()


def test_applicants_have_the_types_of_the_data_whatever_theirs_look_like(tmp_path):
    (tmp_path / "t.csv").write_text(ZIPS)
    space = FeatureSpace.infer(read_table(tmp_path / "t.csv").drop(columns="empty"))
    (tmp_path / "new.csv").write_text("zip,n,when,half,word\n99999,01,01/02/2020,0.5,007\n")
    new = read_table(tmp_path / "new.csv", kinds_in(space))
    assert {f.name: f.label(v) for f, v in zip(space.features, space.encode_row(new), strict=True)} == {
        "zip": "99999", "n": 1, "when": "01/02/2020", "half": 0.5, "word": "007"
    }  # fmt: skip


def test_a_table_is_the_same_from_every_kind_of_file(tmp_path):
    duckdb = pytest.importorskip("duckdb")
    table = pd.DataFrame({"age": [1, 2], "a job": ["b", "א"]})
    table.to_parquet(tmp_path / "t.parquet")
    table.to_feather(tmp_path / "t.arrow")
    (tmp_path / "parts").mkdir()
    for i in range(2):
        table.iloc[[i]].to_parquet(tmp_path / "parts" / f"{i}.parquet")
    with duckdb.connect(tmp_path / "t.duckdb") as connection:
        connection.register("frame", table)
        connection.execute("CREATE TABLE people AS SELECT * FROM frame")
    for name in ("t.arrow", "parts", "t.parquet", "t.duckdb"):
        pd.testing.assert_frame_equal(read_table(tmp_path / name).reset_index(drop=True), table)
    found = read_table(tmp_path / "t.duckdb", query='SELECT "a job" FROM people WHERE age > 1')
    assert found["a job"].tolist() == ["א"]


def test_a_large_table_is_read_in_parts_and_gives_the_same_space(tmp_path, monkeypatch, capsys):
    (tmp_path / "t.csv").write_text(ZIPS)
    pd.read_csv(tmp_path / "t.csv").to_parquet(tmp_path / "t.parquet")
    assert large_table(tmp_path / "t.csv") is large_table(tmp_path / "t.parquet") is None
    monkeypatch.setattr("dueto.cli.tables.LARGE", 1)
    monkeypatch.setattr("dueto.cli.tables.LARGE_TEXT", 1)
    for name in ("t.csv", "t.parquet"):
        mine, theirs = (FeatureSpace.infer(read(tmp_path / name)).to_dict() for read in (large_table, read_table))
        assert mine == theirs
    assert "'zip' of t.csv has values that begin with 0" in capsys.readouterr().err
    (tmp_path / "t.csv").write_text("a,b\n1,2\n3\n")
    with pytest.raises(InputError, match="line 3: 1 field for 2 columns"):
        large_table(tmp_path / "t.csv")


BAD = {
    "empty.csv": (b"", "is empty"),
    "empty.parquet": (b"", "is empty"),
    "header.csv": (b"a,b\n", "has no rows"),
    "blank.csv": (b"\n\n", "has no rows"),
    "short.csv": (b"a,b\n1,2\n3\n", ", line 3: 1 field for 2 columns"),
    "long.csv": (b"a,b\n1,2\n\n3,4,5\n", ", line 4: 3 fields for 2 columns"),
    "all_long.csv": (b"a,b\n1,2,3\n4,5,6\n", ", line 2: 3 fields for 2 columns"),
    "twins.csv": (b"a,b,a\n1,2,3\n", "has two columns named 'a'; rename one"),
    "semicolons.csv": (b"a;b\n1;2\n", "is separated by semicolons"),
    "quote.csv": (b'a,b\n"1,2\n3,4\n', "cannot be read as a table"),
    "nul.csv": ("a,b\n1,2\n".encode("utf-16-le"), "is not text in UTF-8"),
    "latin.csv": ("café,b\n1,2\n".encode("latin-1"), "is not text in UTF-8"),
    "utf16.csv": ("a,b\n1,2\n".encode("utf-16"), "is not text in UTF-8"),
    "binary.csv": (np.random.default_rng(0).bytes(3000), "is not text in UTF-8"),
    "binary.csv.gz": (np.random.default_rng(0).bytes(3000), "cannot be read as a table"),
    "binary.csv.xz": (np.random.default_rng(0).bytes(3000), "cannot be read as a table"),
    "cut.csv.gz": (gzip.compress(GOOD * 100)[:-20], "cannot be read as a table"),
    "binary.parquet": (np.random.default_rng(0).bytes(3000), "cannot be read as a Parquet file"),
    "empty.txt": (b"", "is empty"),
    "header.txt": (b"a b\n", "has no rows"),
    "notes.dat": (b"# a b\n\n", "has no rows"),
    "short.txt": (b"# a\n1 2\n\n3\n", ", line 4: 1 field for 2 columns"),
    "long.dat": (b"a b\n1 2\n3 4 5\n", ", line 3: 3 fields for 2 columns"),
    "word.txt": (b"a b\n1 2\n3 four\n", ", line 3: 'four' is not a number; write a missing one as NaN"),
    "note.txt": (b"1 2 # here\n3 4\n", ", line 2: 2 fields for 4 columns"),
    "twins.txt": (b"a a\n1 2\n", "has two columns named 'a'; rename one"),
    "commas.txt": (GOOD, ", line 1: a .txt or .dat file has blanks between its numbers"),
    "decimal.txt": (b"1,5 2\n", "and points in them"),
    "latin.txt": ("café b\n1 2\n".encode("latin-1"), "is not text in UTF-8"),
    "nul.txt": ("a b\n1 2\n".encode("utf-16-le"), "is not text in UTF-8"),
    "binary.dat.gz": (np.random.default_rng(0).bytes(3000), "cannot be read as a table"),
    "table.doc": (GOOD, "is not a kind of table that can be read; give .csv, .tsv, .txt"),
    "table": (GOOD, "is not a kind of table that can be read"),
    "table.gz": (gzip.compress(GOOD), "is not a kind of table that can be read"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_table_that_is_wrong_is_refused_in_one_sentence(tmp_path, name):
    content, says = BAD[name]
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError) as caught:
        read_table(tmp_path / name)
    assert str(caught.value).startswith(str(tmp_path / name))
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


def test_what_is_no_file_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"there is no file .*none\.csv"):
        read_table(tmp_path / "none.csv")
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(InputError, match=r"folder\.csv is a folder; give a file"):
        read_table(tmp_path / "folder.csv")


def test_parquet_without_its_package_names_the_command_that_installs_it(tmp_path, monkeypatch):
    (tmp_path / "t.parquet").write_bytes(b"PAR1")
    for name in ("pyarrow", "fastparquet"):
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setattr("pandas.io.parquet.get_engine", lambda _: (_ for _ in ()).throw(ImportError("no engine")))
    with pytest.raises(InputError, match=r"needs the package pyarrow; run: pip install pyarrow"):
        read_table(tmp_path / "t.parquet")
