"""Pairs of a cause and its effect, read from a folder that the user has: the benchmarks of causal direction.

The files are found under `folder`, or under the folder that the environment variable DUETO_DATA names. The
columns stay in the order of the file, so that the cause is now the first, now the second.
"""

from __future__ import annotations

import csv
import io
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dueto.datasets.outside import outside
from dueto.errors import InputError, some

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from numpy.typing import NDArray

__all__ = ["Pair", "load_ecoli_pairs", "load_nips2008_pairs", "load_simulated_pairs", "load_tuebingen_pairs"]

MOOIJ = "Mooij et al., Journal of Machine Learning Research 17(32) (2016)"
TAGASOVSKA = "Tagasovska, Chavez-Demoulin and Vatter, International Conference on Machine Learning (2020)"
FAITH = "Faith et al., PLoS Biology 5(1):e8 (2007), Many Microbe Microarrays Database; by way of Ac3net 1.2.2"
SIMULATED = {
    "mooij2016_SIM_SIMc_SIMln_SIMG.tar.xz": ("SIM", "SIM-c", "SIM-ln", "SIM-G"),
    "tagasovska2020_AN_LS_MNU.tar.xz": ("AN", "AN-s", "LS", "LS-s", "MN-U"),
}
REGULATIONS = {"lexA": ("uvrA", "uvrB", "uvrD"), "crp": ("lacA", "lacY", "lacZ"), "lacI": ("lacA", "lacZ", "lacY")}


@dataclass(frozen=True, eq=False, repr=False)
class Pair:
    """Two variables observed together, and which is the cause.

    Parameters
    ----------
    name : str
        What the pair is called.
    x, y : (n,) float64
        The two variables, in the order and the units of the source.
    truth : {"->", "<-", "?"}
        Whether x is the cause, y is, or neither.
    weight : float
        What the pair counts in an average over its collection: pairs made of nearly the same data share 1.
    names : pair of str
        What x and y are.
    source : str
        Whom to cite.
    """

    name: str
    x: NDArray[np.float64]
    y: NDArray[np.float64]
    truth: str
    weight: float = 1.0
    names: tuple[str, str] = ("x", "y")
    source: str = ""

    def __repr__(self) -> str:
        return f"<Pair {self.name}: {self.names[0]} {self.truth} {self.names[1]}, {len(self.x):,} rows>"


def load_tuebingen_pairs(*, folder: str | Path | None = None) -> tuple[Pair, ...]:
    """The Tübingen cause-effect pairs up to 108: the 102 that have one cause and one effect.

    Left out are the six with several columns on a side: 52, 53, 54, 55, 71 (of weight 0) and 105 (of weight 0.5).
    A third column (pairs 81 to 83) is not read; a row with NaN in one of the first two is dropped. Some variables
    take two values only, or a few.

    Parameters
    ----------
    folder : path, optional
        Holds `tuebingen_pairs/tuebingen_pairs.tar.xz`; by default, the folder that DUETO_DATA names.

    Returns
    -------
    tuple of Pair
        In the order of their numbers; the weights sum to 38.498 (rounded).

    Raises
    ------
    InputError
        If the archive is not there or cannot be read.
    """
    files = _unpack(outside(folder, "tuebingen_pairs/tuebingen_pairs.tar.xz"), "tuebingen")
    names = _names(files["README"])
    return tuple(
        Pair(name, *_columns(files[f"{name}.txt"].splitlines()), truth, weight, names[name], MOOIJ)
        for name, truth, weight in _bivariate(files["pairmeta.txt"])
    )


def load_nips2008_pairs(*, folder: str | Path | None = None) -> tuple[Pair, ...]:
    """The eight pairs of the NIPS 2008 causality challenge, rebuilt: the original files were not found.

    Which Tübingen pairs they were, and in which order of columns, is from memory of Mooij and Janzing, JMLR
    Workshop and Conference Proceedings 6:147-156 (2010), and not verified: rows may be ordered or rounded otherwise.

    Parameters
    ----------
    folder : path, optional
        Holds `nips2008_cause_effect_pairs/`; by default, the folder that DUETO_DATA names.

    Returns
    -------
    tuple of Pair
        `pairs01` to `pairs08`, each of weight 1.

    Raises
    ------
    InputError
        If a file is not there.
    """
    place = "nips2008_cause_effect_pairs"
    with outside(folder, f"{place}/mapping.csv").open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    return tuple(
        Pair(
            row["nips_pair"],
            *_columns(outside(folder, f"{place}/{row['nips_pair']}.txt")),
            row["truth"],
            names=(row["x"], row["y"]),
            source=f"{row['tuebingen_pair']} of {MOOIJ}",
        )
        for row in rows
    )


def load_simulated_pairs(name: str, *, folder: str | Path | None = None) -> tuple[Pair, ...]:
    """A collection of 100 simulated pairs of 1,000 rows each.

    Parameters
    ----------
    name : str
        `SIM`, `SIM-c` (with a hidden common cause besides), `SIM-ln` (low noise) or `SIM-G` (nearly Gaussian) [1]_;
        `AN`, `AN-s` (additive noise), `LS`, `LS-s` (location and scale) or `MN-U` (multiplicative noise) [2]_.
    folder : path, optional
        Holds `simulated_pairs/`, with the archives `mooij2016_SIM_SIMc_SIMln_SIMG.tar.xz` and
        `tagasovska2020_AN_LS_MNU.tar.xz`; by default, the folder that DUETO_DATA names.

    Returns
    -------
    tuple of Pair
        In the order of their numbers, each of weight 1.

    Raises
    ------
    InputError
        If no collection is called so, or the archive is not there or cannot be read.

    References
    ----------
    .. [1] J. M. Mooij, J. Peters, D. Janzing, J. Zscheischler and B. Schölkopf, "Distinguishing Cause from Effect
       Using Observational Data", Journal of Machine Learning Research 17(32), 2016.
    .. [2] N. Tagasovska, V. Chavez-Demoulin and T. Vatter, "Distinguishing Cause from Effect Using Quantiles", ICML
       2020.
    """
    archives = {collection: archive for archive, collections in SIMULATED.items() for collection in collections}
    if name not in archives:
        raise InputError(f"no simulated pairs are called {name!r}; there are {some(archives, len(archives))}")
    files = _unpack(outside(folder, f"simulated_pairs/{archives[name]}"), name)
    if "pairmeta.txt" in files:
        return tuple(
            Pair(f"{name} {pair}", *_columns(files[f"{pair}.txt"].splitlines()), truth, weight, source=MOOIJ)
            for pair, truth, weight in _bivariate(files["pairmeta.txt"])
        )
    return tuple(
        Pair(
            f"{name} pair_{k}",
            # a header, and a first column that numbers the rows
            *_columns(files[f"pair_{k}.txt"].splitlines(), usecols=(1, 2), delimiter=",", skiprows=1),
            "->" if first == "1" else "<-",
            source=TAGASOVSKA,
        )
        for k, first in enumerate(files["pairs_gt.txt"].split(), start=1)
    )


def load_ecoli_pairs(*, folder: str | Path | None = None) -> tuple[Pair, ...]:
    """Nine known regulations between genes of E. coli: log2 expression on 524 arrays.

    lexA regulates uvrA, uvrB and uvrD; crp lacA, lacY and lacZ; lacI lacA, lacZ and lacY. The regulator comes first
    in the file, so all nine truths are "->". These are believed to be nine of the ten pairs of Yamada et al., Machine
    Learning 96 (2014): the tenth is not known, and theirs are 445 arrays of an earlier build.

    Parameters
    ----------
    folder : path, optional
        Holds `ecoli_expression/subset_35genes_x_524arrays.csv`; by default, the folder that DUETO_DATA names.

    Returns
    -------
    tuple of Pair
        `lexA-uvrA` to `lacI-lacY`, each of weight 1.

    Raises
    ------
    InputError
        If the file is not there.
    """
    path = outside(folder, "ecoli_expression/subset_35genes_x_524arrays.csv")
    with path.open(encoding="utf-8") as lines:
        column = {gene: j for j, gene in enumerate(next(lines).rstrip().split(","))}
    return tuple(
        Pair(
            f"{regulator}-{gene}",
            *_columns(path, delimiter=",", skiprows=1, usecols=(column[regulator.upper()], column[gene.upper()])),
            "->",
            names=(regulator, gene),
            source=FAITH,
        )
        for regulator, genes in REGULATIONS.items()
        for gene in genes
    )


def _unpack(path: Path, inside: str) -> dict[str, str]:
    """The files of one folder of a tar.xz archive, text by name; all is unpacked first, so that a cut is noticed."""
    import lzma
    import tarfile

    found = {}
    try:
        with lzma.open(path) as packed, tarfile.open(fileobj=io.BytesIO(packed.read())) as archive:
            for member in archive:
                *_, parent, name = ("", *member.name.split("/"))
                if parent == inside and (file := archive.extractfile(member)):
                    found[name] = file.read().decode("utf-8", errors="replace")
    except (tarfile.TarError, lzma.LZMAError, EOFError) as problem:
        raise InputError(f"{path} cannot be read as a tar.xz archive ({problem}); copy it again") from None
    if not found:
        raise InputError(f"{path} has no folder {inside}; copy it again")
    return found


def _bivariate(meta: str) -> Iterator[tuple[str, str, float]]:
    """Name, truth and weight of the pairs that have one column a side: of each line `number cause cause effect effect
    weight`, where a side is given by its first and last column."""
    for number, *columns, weight in map(str.split, meta.splitlines()):
        cause, last_cause, effect, last_effect = columns
        if cause == last_cause and effect == last_effect:
            yield f"pair{number}", "->" if cause == "1" else "<-", float(weight)


def _names(readme: str) -> dict[str, tuple[str, str]]:
    """What the two variables of each pair are, from the table in the collection's README."""
    rows = re.findall(r"^(pair\d+)(?:\t+|  +)(.+?)\s*(?:\t|  )\s*(.+?)\s*(?:\t|  )", readme, re.MULTILINE)
    return {name: (x, y) for name, x, y in rows}


def _columns(
    lines: Path | Iterable[str], *, usecols: tuple[int, int] = (0, 1), **layout: Any
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Two columns of numbers, without the rows where either is NaN."""
    table = np.loadtxt(lines, usecols=usecols, **layout)
    x, y = np.ascontiguousarray(table[~np.isnan(table).any(axis=1)].T)
    return x, y
