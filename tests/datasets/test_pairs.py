"""The cause-effect pairs: as many, as heavy and as directed as their collections say."""

from __future__ import annotations

import tarfile
from functools import cache, partial
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

from dueto import InputError
from dueto.datasets import (
    Pair,
    load_ecoli_pairs,
    load_nips2008_pairs,
    load_simulated_pairs,
    load_tuebingen_pairs,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

FORWARD = {"SIM": 50, "SIM-c": 53, "SIM-ln": 50, "SIM-G": 50, "AN": 55, "AN-s": 52, "LS": 49, "LS-s": 53, "MN-U": 61}
SIMULATED = {name: partial(load_simulated_pairs, name) for name in FORWARD}
LOADERS = [load_tuebingen_pairs, load_nips2008_pairs, load_ecoli_pairs, *SIMULATED.values()]
SEVERAL_COLUMNS = {52, 53, 54, 55, 71, 105}


@cache
def loaded(load: Any, folder: Path) -> tuple[Pair, ...]:
    """What a loader finds, read once for all tests."""
    found: tuple[Pair, ...] = load(folder=folder)
    return found


def truths(pairs: Sequence[Pair]) -> list[str]:
    return [pair.truth for pair in pairs]


@pytest.mark.parametrize("load", LOADERS)
def test_every_pair_is_two_columns_of_finite_numbers_with_a_direction(load: Any, data_folder: Path) -> None:
    pairs = loaded(load, data_folder)
    assert isinstance(pairs, tuple)
    assert len({pair.name for pair in pairs}) == len(pairs)
    for pair in pairs:
        assert pair.x.shape == pair.y.shape == (len(pair.x),)
        assert pair.x.dtype == pair.y.dtype == np.float64
        assert np.isfinite(pair.x).all()
        assert np.isfinite(pair.y).all()
        assert pair.truth in {"->", "<-"}
        assert pair.source


@pytest.mark.parametrize("load", LOADERS)
def test_no_two_variables_share_their_memory(load: Any, data_folder: Path) -> None:
    arrays = [array for pair in loaded(load, data_folder) for array in (pair.x, pair.y)]
    assert not any(np.may_share_memory(one, other) for one, other in combinations(arrays, 2))


def test_tuebingen_pairs_are_the_bivariate_ones_with_the_weights_of_the_index(data_folder: Path) -> None:
    pairs = loaded(load_tuebingen_pairs, data_folder)
    index = pd.read_csv(data_folder / "tuebingen_pairs" / "index.csv").query("pair not in @SEVERAL_COLUMNS")
    assert len(pairs) == 102
    assert [pair.name for pair in pairs] == [f"pair{k:04}" for k in index["pair"]]
    assert [pair.weight for pair in pairs] == index["weight"].tolist()
    assert sum(pair.weight for pair in pairs) == pytest.approx(38.998 - 0.5, abs=1e-3)
    assert [len(pair.x) for pair in pairs] == index["n_rows"].tolist()
    assert truths(pairs) == ["->" if cause == "1-1" else "<-" for cause in index["cause_cols"]]


def test_arrows_of_tuebingen_pairs_are_those_of_the_table_in_their_readme(data_folder: Path) -> None:
    with tarfile.open(data_folder / "tuebingen_pairs" / "tuebingen_pairs.tar.xz") as archive:
        file = archive.extractfile("tuebingen/README")
        assert file is not None
        readme = file.read().decode()
    table = {line[:8]: line for line in readme.splitlines() if line.startswith("pair")}
    pairs = loaded(load_tuebingen_pairs, data_folder)
    unsaid = {"pair0093"}  # whose line has no arrow
    assert [pair.name for pair in pairs if pair.truth not in table[pair.name]] == sorted(unsaid)
    for pair in pairs:
        x, y = pair.names
        assert x in table[pair.name]
        assert y in table[pair.name].partition(x)[2]


def test_pairs_of_a_third_column_keep_every_row_whose_first_two_are_there(data_folder: Path) -> None:
    pairs = {pair.name: pair for pair in loaded(load_tuebingen_pairs, data_folder)}
    assert [len(pairs[f"pair00{k}"].x) for k in (81, 82, 83)] == [365, 365, 365]
    assert pairs["pair0081"].y[1] == 1.8066778  # where the third column has NaN


def test_row_with_nan_in_either_column_is_dropped(tmp_path: Path) -> None:
    archive_of(tmp_path, pairmeta="0001 2 2 1 1 0.5\n", pair0001="1 2 9\nNaN 3 9\n4 NaN 9\n5 6 NaN\n")
    (pair,) = load_tuebingen_pairs(folder=tmp_path)
    assert pair.x.tolist() == [1, 5]
    assert pair.y.tolist() == [2, 6]
    assert (pair.truth, pair.weight) == ("<-", 0.5)


@pytest.mark.parametrize("sides", ["1 1 2 3", "1 2 3 3"])
def test_pair_of_several_columns_on_either_side_is_left_out(sides: str, tmp_path: Path) -> None:
    archive_of(tmp_path, pairmeta=f"0001 1 1 2 2 1\n0002 {sides} 1\n", pair0001="1 2\n3 4\n", pair0002="1 2 3\n4 5 6\n")
    assert [pair.name for pair in load_tuebingen_pairs(folder=tmp_path)] == ["pair0001"]


def test_nips2008_pairs_are_the_tuebingen_pairs_that_the_mapping_names(data_folder: Path) -> None:
    pairs = loaded(load_nips2008_pairs, data_folder)
    tuebingen = {pair.name: pair for pair in loaded(load_tuebingen_pairs, data_folder)}
    mapping = pd.read_csv(data_folder / "nips2008_cause_effect_pairs" / "mapping.csv")
    assert [len(pair.x) for pair in pairs] == [349] * 4 + [4177] * 3 + [5000]
    assert [pair.weight for pair in pairs] == [1] * 8
    for pair, name, swapped in zip(
        pairs, mapping["tuebingen_pair"], mapping["columns_swapped_vs_tuebingen"], strict=True
    ):
        origin = tuebingen[name]
        columns = (origin.y, origin.x) if swapped else (origin.x, origin.y)
        np.testing.assert_array_equal((pair.x, pair.y), columns)
        assert (pair.truth == origin.truth) != swapped


@pytest.mark.parametrize("name", FORWARD)
def test_simulated_collection_is_100_pairs_of_1000_rows_with_the_arrows_of_its_source(
    name: str, data_folder: Path
) -> None:
    pairs = loaded(SIMULATED[name], data_folder)
    assert [len(pair.x) for pair in pairs] == [1000] * 100
    assert truths(pairs).count("->") == FORWARD[name]
    assert {pair.weight for pair in pairs} == {1.0}


def test_columns_of_a_simulated_pair_are_the_variables_and_not_the_numbers_of_rows(data_folder: Path) -> None:
    first = loaded(SIMULATED["AN"], data_folder)[0]
    assert (first.x[0], first.y[0]) == (-1.24334648944363, 0.954846448381946)
    first = loaded(SIMULATED["SIM"], data_folder)[0]
    assert (first.x[0], first.y[0]) == (0.28756452, -0.53235186)


def test_regulations_of_e_coli_are_nine_that_regulondb_knows(data_folder: Path) -> None:
    pairs = loaded(load_ecoli_pairs, data_folder)
    known = pd.read_csv(data_folder / "ecoli_expression" / "ac3net_regulondb9_truenet.csv")
    edges = set(zip(known["tf"], known["target"], strict=True))
    assert len({pair.names for pair in pairs}) == 9
    assert [pair.names for pair in pairs if tuple(map(str.upper, pair.names)) not in edges] == []
    assert truths(pairs) == ["->"] * 9
    assert {len(pair.x) for pair in pairs} == {524}


def test_expression_of_a_gene_is_its_own_column(data_folder: Path) -> None:
    table = pd.read_csv(data_folder / "ecoli_expression" / "subset_35genes_x_524arrays.csv")
    for pair in loaded(load_ecoli_pairs, data_folder):
        np.testing.assert_array_equal((pair.x, pair.y), table[[gene.upper() for gene in pair.names]].T)


@pytest.mark.parametrize("name", ["sim", "SIM-x", "", None])
def test_unknown_collection_is_refused_with_the_names_there_are(name: Any, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no simulated pairs are called .*'SIM', .*'MN-U'$"):
        load_simulated_pairs(name, folder=tmp_path)


@pytest.mark.parametrize("load", LOADERS)
def test_pairs_without_a_folder_say_what_to_set(load: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DUETO_DATA", raising=False)
    with pytest.raises(InputError, match="not part of dueto; set DUETO_DATA to the folder"):
        load()


@pytest.mark.parametrize("load", LOADERS)
def test_pairs_absent_from_their_folder_name_file_and_folder(
    load: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DUETO_DATA", str(tmp_path))
    with pytest.raises(InputError, match=f"{tmp_path} has no file .+; set DUETO_DATA"):
        load()


@pytest.mark.parametrize("cut", [0, 40, -40])
def test_archive_that_was_cut_short_is_refused_by_its_path(cut: int, tmp_path: Path) -> None:
    path = archive_of(tmp_path, pairmeta="0001 1 1 2 2 1\n", pair0001="1 2\n" * 5000)
    path.write_bytes(path.read_bytes()[:cut])
    with pytest.raises(InputError, match=r"tuebingen_pairs\.tar\.xz cannot be read as a tar\.xz archive"):
        load_tuebingen_pairs(folder=tmp_path)


def test_archive_of_something_else_is_refused(tmp_path: Path) -> None:
    archive_of(tmp_path, inside="other", pairmeta="")
    with pytest.raises(InputError, match="has no folder tuebingen; copy it again"):
        load_tuebingen_pairs(folder=tmp_path)


def archive_of(folder: Path, *, inside: str = "tuebingen", **texts: str) -> Path:
    """An archive of Tübingen pairs with the given files and a README that names two pairs."""
    source = folder / inside
    source.mkdir()
    (source / "README").write_text(
        "".join(f"pair000{k}\t\tCold\t\tWet\t\tnowhere\t->\n" for k in (1, 2)), encoding="utf-8"
    )
    for name, text in texts.items():
        (source / f"{name}.txt").write_text(text, encoding="utf-8")
    path = folder / "tuebingen_pairs" / "tuebingen_pairs.tar.xz"
    path.parent.mkdir()
    with tarfile.open(path, "w:xz") as archive:
        archive.add(source, inside)
    return path
