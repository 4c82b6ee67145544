"""Many pairs: every two columns of a table, corrected for their number."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np

from dueto import frames
from dueto.dependence import measure_named
from dueto.direction.decide import WHY, Bounds, Evidence, decide
from dueto.direction.one import direction, measured
from dueto.errors import InputError, some
from dueto.inference import adjusted
from dueto.options import whole
from dueto.regression import LSIR
from dueto.seeds import as_seed, generator

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping, Sequence
    from pathlib import Path

    import networkx as nx
    import pandas as pd

__all__ = ["Directions", "directions"]

MOST = 9999
COLUMNS = (
    *("arrow", "reason", "p_forward", "p_backward", "q_forward", "q_backward"),
    *("p_related", "smi_forward", "smi_backward", "n"),
)


@dataclass(frozen=True, eq=False)
class Directions:
    """The directions between every two columns of a table.

    Attributes
    ----------
    table : pandas DataFrame, one row a pair
        `x`, `y`, `arrow`, `reason`, `p_forward`, `p_backward` (as tested), `q_forward`, `q_backward` (corrected),
        `p_related`, `smi_forward`, `smi_backward`, `n`. A pair that could not be tried has its reason, and NaN.
    names : tuple of str
        The columns tried.
    left_out : tuple of str
        The columns that are no numbers.
    settings : mapping
        How it was asked: `correction`, `n_permutations`, `reject`, `accept` and the other options; `seed`, None if a
        generator was given.
    """

    table: pd.DataFrame
    names: tuple[Hashable, ...]
    left_out: tuple[Hashable, ...]
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def arrows(self) -> tuple[tuple[Hashable, Hashable], ...]:
        """The arrows found, each as (cause, effect), in the order of the table."""
        rows = self.table.loc[self.table["arrow"] != "?", ["x", "y", "arrow"]].itertuples(index=False, name=None)
        return tuple((x, y) if arrow == "->" else (y, x) for x, y, arrow in rows)

    @property
    def graph(self) -> nx.DiGraph:
        """The arrows found, from cause to effect, with p-values and SMI; every column is a node. Needs `networkx`."""
        try:
            import networkx as nx
        except ImportError:
            raise InputError("the graph needs the package networkx; run: pip install networkx") from None
        graph = nx.DiGraph()
        graph.add_nodes_from(self.names)
        for row in self.table.to_dict("records"):
            if row["arrow"] != "?":
                ends = (row["x"], row["y"]) if row["arrow"] == "->" else (row["y"], row["x"])
                way, other = ("forward", "backward")[:: 1 if row["arrow"] == "->" else -1]
                told = {"p": row[f"p_{way}"], "p_reverse": row[f"p_{other}"], "smi": row[f"smi_{way}"]}
                graph.add_edge(*ends, **told, reason=row["reason"])
        return graph

    def __len__(self) -> int:
        return len(self.table)

    def __str__(self) -> str:
        found = self.table[self.table["arrow"] != "?"]
        arrows = "1 arrow" if len(found) == 1 else f"{len(found)} arrows"
        lines = [f"{arrows} among {len(self.table)} pairs of {len(self.names)} columns"]
        for row in found.sort_values("x", kind="stable").to_dict("records"):
            cause, effect = (row["x"], row["y"]) if row["arrow"] == "->" else (row["y"], row["x"])
            lines.append(f"  {cause} -> {effect}   {row['reason']}")
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Plain data: NaN as None."""
        rows = [
            {key: None if isinstance(v, float) and np.isnan(v) else v for key, v in row.items()}
            for row in self.table.to_dict("records")
        ]
        return {"columns": list(self.names), "left_out": list(self.left_out), "pairs": rows}

    @overload
    def to_html(self, path: None = None) -> str: ...

    @overload
    def to_html(self, path: str | Path) -> None: ...

    def to_html(self, path: str | Path | None = None) -> str | None:
        """A page that needs nothing else: the arrows as a graph, every pair with its p-values and reason.

        Parameters
        ----------
        path : str or Path, optional
            Where to write it; a file that is there is replaced. Without a path, the text is returned.

        Returns
        -------
        str or None
            The page, as HTML, if no path is given. Its table can be sorted where scripts may run. More than 30 columns
            are not drawn.

        Raises
        ------
        InputError
            If matplotlib is missing, or the file cannot be written.

        Examples
        --------
        >>> import dueto, pandas as pd
        >>> pair = dueto.datasets.simulate("cubic", 100, rng=0)
        >>> page = dueto.directions(pd.DataFrame({"dose": pair.x, "effect": pair.y}), fast=True).to_html()
        >>> "1 arrow among 1 pair of 2 columns" in page
        True
        """
        from dueto.plots.pages import graph_picture
        from dueto.report.page import saved
        from dueto.report.pairs import pairs_page

        told = self.to_dict() | {"settings": dict(self.settings), "undecided": self._undecided()}
        return saved(pairs_page(told, graph_picture(self)), path)

    def _undecided(self) -> dict[str, int]:
        """How many pairs have no arrow, by why; those that could not be tried apart."""
        found = dict.fromkeys([*WHY.values(), "could not be tried"], 0)
        for row in self.table[self.table["arrow"] == "?"].to_dict("records"):
            why = next((said for phrase, said in WHY.items() if row["n"] and phrase in row["reason"]), None)
            found[why or "could not be tried"] += 1
        return {why: count for why, count in found.items() if count}

    def _repr_html_(self) -> str | None:
        """The page in a frame, for a notebook; None where matplotlib is missing."""
        from dueto.report.page import framed

        return framed(self.to_html, "Every two columns")


def directions(
    frame: Any,
    *,
    columns: Sequence[Any] | None = None,
    correction: Literal["holm", "bh", "none"] = "holm",
    n_permutations: int | None = None,
    reject: float = 0.05,
    accept: float = 0.05,
    known_related: bool = False,
    n_jobs: int | None = None,
    progress: Callable[[int, int], None] | None = None,
    rng: np.random.Generator | int | None = 0,
    **options: Any,
) -> Directions:
    """The direction between every two columns of a table.

    Parameters
    ----------
    frame : pandas or polars DataFrame, or (n, k) array
        Columns that are no numbers are left out, and named in the result.
    columns : sequence, optional
        Which columns to try; all must be numbers then.
    correction : "holm", "bh" or "none", optional
        How p-values are made larger before they reject, for the two tests of every pair are many tests: see
        `dueto.inference.adjusted`. Accepting always takes the p-value as it is.
    n_permutations : int, optional
        Of each test: by default 999, or as many more as Holm's rule needs to reject anything, 2 pairs / reject, up to
        9,999.
    reject, accept, known_related
        As for `direction`.
    n_jobs : int, optional
        Of joblib. The result is the same, whatever it is.
    progress : callable, optional
        Called with the pairs done and the pairs in all.
    rng : Generator or int, optional
        Whatever is drawn. With a seed, each pair has the p-values that `direction` with that seed gives it.
    **options
        What else `direction` takes: `fast`, `missing`, `measure`, `regressor` ...

    Returns
    -------
    Directions

    Raises
    ------
    InputError
        If there are not two columns of numbers, or an option is not possible. A pair that cannot be tried (a constant
        column, say) does not end the others: its row says why.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> from dueto import directions
    >>> rng = np.random.default_rng(0)
    >>> a = rng.uniform(-1, 1, 300)
    >>> b = a**3 + rng.exponential(size=300) - 1
    >>> table = pd.DataFrame({"a": a, "b": b, "c": rng.normal(size=300)})
    >>> print(directions(table, rng=1))
    1 arrow among 3 pairs of 3 columns
      a -> b   only a -> b leaves a residual that is independent of the input (p = ... for a -> b, 0.001 for b -> a)
    """
    import pandas as pd
    from joblib import Parallel, delayed

    bounds = Bounds(reject, accept)
    adjusted([], method=correction)  # refused before the work, as are other options that are not possible
    measure_named(options.get("measure", "smi"))
    for name in {"stop_after", "max_rows"} & {k for k, v in options.items() if v is not None}:
        whole(name, options[name])
    values, left_out = _numeric(frame, columns)
    pairs = list(itertools.combinations(values, 2))
    if n_permutations is None:
        needed = math.ceil(2 * len(pairs) / reject) - 1 if correction == "holm" else 0
        n_permutations = min(max(999, needed), MOST)
    whole("n_permutations", n_permutations)
    seed = int(generator(rng).integers(2**31)) if isinstance(rng, np.random.Generator) else rng
    options |= {"n_permutations": n_permutations, "reject": reject, "accept": accept, "rng": seed}
    tasks = (delayed(_tried)(values[a], values[b], (str(a), str(b)), options) for a, b in pairs)
    found: list[Evidence | InputError] = []
    for one in Parallel(n_jobs=n_jobs, return_as="generator")(tasks):
        found.append(one)
        if progress is not None:
            progress(len(found), len(pairs))
    tested = [e for e in found if isinstance(e, Evidence)]
    if not tested and isinstance(found[0], InputError):
        raise found[0]
    p = [value for e in tested for value in e.p or ()]
    corrected = iter(adjusted(p, method=correction).tolist())
    rows = []
    for pair, one in zip(pairs, found, strict=True):
        row: dict[str, Any] = dict(zip(("x", "y"), pair, strict=True))
        if isinstance(one, Evidence):
            q = (next(corrected), next(corrected)) if one.p else (np.nan, np.nan)
            arrow, reason = decide(replace(one, corrected=q if one.p else None), bounds, known_related=known_related)
            ps, related = one.p or (np.nan, np.nan), np.nan if one.related is None else one.related
            if correction != "none" and arrow != decide(one, bounds, known_related=known_related)[0]:
                reason = f"{reason}, after correction for {len(p)} tests"
            told = (arrow, reason, *ps, *q, related, *one.smi, one.n)
        else:
            told = ("?", str(one), *[np.nan] * 7, 0)
        rows.append(row | dict(zip(COLUMNS, told, strict=True)))
    settings = {
        "regressor": repr(options.get("regressor") or LSIR()),
        "measure": repr(measured(options.get("measure", "smi"))),
        "n_permutations": n_permutations,
        "correction": correction,
        "tests": len(p),
        "reject": reject,
        "accept": accept,
        "known_related": known_related,
        "fast": bool(options.get("fast")),
        "split": bool(options.get("split")),
        "seed": as_seed(rng),
    }
    return Directions(pd.DataFrame(rows), tuple(values), left_out, settings)


def _numeric(frame: Any, wanted: Sequence[Any] | None) -> tuple[dict[Hashable, Any], tuple[Hashable, ...]]:
    """Columns of numbers by name, and the names of the others."""
    from pandas.api.types import is_complex_dtype, is_numeric_dtype

    table = frames.read(frame).columns
    wanted = None if wanted is None else list(wanted)
    unknown = [name for name in wanted or () if name not in table]
    if unknown:
        raise InputError(f"the data has no column {some(unknown)}; it has {some(table)}")
    chosen = {name: table[name] for name in (table if wanted is None else wanted)}
    numeric = {
        name: v.to_numpy(dtype=float, na_value=np.nan)
        for name, v in chosen.items()
        if is_numeric_dtype(v.dtype) and not is_complex_dtype(v.dtype)
    }
    left_out = tuple(name for name in chosen if name not in numeric)
    if wanted is not None and left_out:
        raise InputError(f"not numeric: {some(left_out)}; choose columns of numbers, or encode these first")
    if len(numeric) < 2:
        raise InputError(f"a direction needs two columns of numbers; the data has {len(numeric)}")
    return numeric, left_out


def _tried(x: Any, y: Any, names: tuple[str, str], options: dict[str, Any]) -> Evidence | InputError:
    """One pair, without its data: what it says, or why it says nothing."""
    try:
        return direction(x, y, names=names, **options).evidence
    except InputError as problem:
        return problem
