"""The rows that a batch is asked about: of the data, or applicants of their own; refused ones only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dueto.batch.where import selected
from dueto.domain import distinct_rows
from dueto.errors import InputError, known
from dueto.frames import is_frame, plain

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray

    from dueto.explain import Explainer

__all__ = ["Asked", "rows_asked"]


@dataclass(frozen=True, eq=False)
class Asked:
    """The rows asked about, in order.

    Parameters
    ----------
    numbers : (a,) int
        Their positions in the data, or in the table of applicants.
    X : (a, n) float64
        Encoded; NaN where a row does not fit the space.
    scores : (a,) float64
        The model's; NaN where it has none.
    problems : dict of int to str
        Why a row cannot be asked about, by its place among these.
    table : table, optional
        The applicants, if they are not rows of the data.
    source : str
        What the table of applicants is called.
    labels : list of str, optional
        What each row asked about is called.
    rows, passed_over : int
        Rows there are in the data or table, and those that were asked for and are not refused.
    by : dict of column to list
        For each column that shares are told by, the value of each row asked about.
    totals : dict of column to dict
        For each of these columns and each value, [rows, refused] in the whole data or table.
    first, which : (d,), (a,) int
        The first of each of the distinct rows, and which of them each row is.
    """

    numbers: NDArray[np.intp]
    X: NDArray[np.float64]
    scores: NDArray[np.float64]
    problems: dict[int, str]
    table: Any
    source: str
    labels: list[str] | None
    rows: int
    passed_over: int
    by: dict[str, list[Any]]
    totals: dict[str, list[tuple[Any, int, int]]]
    first: NDArray[np.intp]
    which: NDArray[np.intp]

    def row(self, i: int) -> Any:
        """What `Explainer.explain` takes for the i-th."""
        return int(self.numbers[i]) if self.table is None else one_row(self.table, int(self.numbers[i]))

    def label(self, i: int) -> str:
        """What the i-th is called."""
        if self.labels is not None:
            return self.labels[i]
        return f"Row {self.numbers[i]}{f' of {self.source}' if self.source else ''}"


def rows_asked(
    explainer: Explainer,
    rows: Any,
    *,
    where: str | None,
    by: str | Iterable[str] | Mapping[str, Any],
    labels: Iterable[Any] | None,
    source: str,
) -> Asked:
    """The rows that a batch is asked about; see `dueto.batch`.

    Raises
    ------
    InputError
        If there is none; if one does not exist; if `where` or `by` names what is not there.
    """
    table = rows if _is_table(rows) else None
    problems: dict[int, str] = {}
    if table is None:
        X = explainer.X
        scores, good = explainer.model.score(explainer.distinct)[explainer.which], explainer.good[explainer.which]
    else:
        X, problems = _encoded(explainer, table)
        if not len(X):
            raise InputError(f"{source or 'the table of applicants'} has no rows, so there is nobody to explain")
        scores = _scored(explainer, X, problems)
        good = scores > explainer.model.threshold
    wanted = _positions(rows, len(X)) if table is None and rows is not None else np.arange(len(X))
    if where is not None:
        wanted = wanted[selected(where, explainer.space, X[wanted], scores[wanted]) | np.isin(wanted, list(problems))]
    kept = wanted[~good[wanted]]
    if not len(kept):
        met = f"meet {where!r}" if where is not None else "are asked about"
        n = f"{len(wanted):,}" if len(wanted) else "none"
        of = f"of the {len(X):,} rows{f' of {source}' if source else ''}, {n} {met}"
        raise InputError(f"no row is to be explained: {of}{', and none of these is refused' if len(wanted) else ''}")
    columns = _columns(explainer, by, table, X)
    called = None if labels is None else [str(label) for label in _each("labels", labels, "labels", len(X))]
    keys = np.where(np.isin(kept, list(problems)), kept + 1.0, 0.0)  # a row that cannot be read is like no other
    encoded = np.asarray(X[kept])
    first, which_, _ = distinct_rows(np.column_stack([encoded, keys]))
    order = np.argsort(first, kind="stable")  # in the order of the rows
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return Asked(
        numbers=kept,
        X=encoded,
        scores=scores[kept],
        problems={i: problems[n] for i, n in enumerate(kept.tolist()) if n in problems},
        table=table,
        source=source,
        labels=None if called is None else [called[n] for n in kept],
        rows=len(X),
        passed_over=len(wanted) - len(kept),
        by={name: [values[n] for n in kept] for name, values in columns.items()},
        totals={name: _totals(values, good) for name, values in columns.items()},
        first=first[order],
        which=rank[which_],
    )


def one_row(table: Any, i: int) -> Any:
    """A row of a table as a table of one row; of an array, the row."""
    if hasattr(table, "iloc"):
        return table.iloc[[i]]
    return table.slice(i, 1) if hasattr(table, "slice") else table[i]


def _is_table(rows: Any) -> bool:
    return is_frame(rows) or (isinstance(rows, np.ndarray) and rows.ndim == 2)


def _positions(rows: Any, m: int) -> NDArray[np.intp]:
    found = np.asarray(list(rows))
    if found.dtype == bool or (len(found) and found.dtype.kind not in "iu"):
        raise TypeError(
            "rows must be positions of rows of the data, a table of applicants, or None for all refused rows"
        )
    outside = found[(found < 0) | (found >= m)] if len(found) else found
    if len(outside):
        raise InputError(f"there is no row {outside[0]}: the data has rows 0 to {m - 1}")
    return np.array(list(dict.fromkeys(found.tolist())), dtype=np.intp)


def _encoded(explainer: Explainer, table: Any) -> tuple[NDArray[np.float64], dict[int, str]]:
    """The applicants encoded, and why those that could not be were not."""
    space = explainer.space
    try:
        return space.encode(table), {}
    except InputError:
        if not set(space.columns) <= set(getattr(table, "columns", space.columns)):
            raise  # of no row, then
    X, problems = np.full((len(table), len(space)), np.nan), {}
    for i in range(len(table)):
        try:
            X[i] = space.encode_row(one_row(table, i))
        except InputError as problem:  # which speaks of row 0 of a table of one row
            problems[i] = str(problem).replace(", row 0", "", 1)
    return X, problems


def _scored(explainer: Explainer, X: NDArray[np.float64], problems: dict[int, str]) -> NDArray[np.float64]:
    """The scores of the rows that could be read; a row that the model fails on gets none, and why."""
    scores = np.full(len(X), np.nan)
    fit = np.setdiff1d(np.arange(len(X)), list(problems))
    if not len(fit):
        return scores
    try:
        scores[fit] = explainer.model.score(X[fit])
    except InputError:
        for i in fit.tolist():
            try:
                scores[i] = explainer.model.score(X[i : i + 1])[0]
            except InputError as problem:
                problems[i] = str(problem)
    return scores


def _columns(explainer: Explainer, by: Any, table: Any, X: NDArray[np.float64]) -> dict[str, list[Any]]:
    """The columns that shares are told by: features, columns of the table of applicants, or given with their values."""
    given = dict(by) if hasattr(by, "items") else dict.fromkeys([by] if isinstance(by, str) else by)
    found: dict[str, list[Any]] = {}
    for name, values in given.items():
        if values is not None:
            found[str(name)] = [_plain(v) for v in _each("by", values, f"values of {name!r}", len(X))]
        elif name in explainer.space.names:
            j = explainer.space.index(name)
            labels = {v: explainer.space.features[j].label(v) for v in np.unique(X[:, j][~np.isnan(X[:, j])])}
            found[name] = [labels.get(v) for v in X[:, j].tolist()]
        elif table is not None and name in getattr(table, "columns", ()):
            found[name] = [_plain(v) for v in list(table[name])]
        else:
            names = [*explainer.space.names, *(getattr(table, "columns", ()) if table is not None else ())]
            hint = known(name, dict.fromkeys(map(str, names)), "there are")
            raise InputError(
                f"there is no column {name!r} to tell shares by; {hint}; of a column that is no feature, give the "
                "values: by={name: values}"
            )
    return found


def _each(option: str, values: Iterable[Any], what: str, m: int) -> list[Any]:
    """Values that are given for each row."""
    found = list(values)
    if len(found) != m:
        raise InputError(f"{option} gives {len(found):,} {what} for {m:,} rows; give one a row")
    return found


def _plain(value: Any) -> Any:
    """A value as Python has it; None for what stands for missing: NaN, NaT, NA."""
    if isinstance(value, np.datetime64 | np.timedelta64):  # item() of finer ones is a number
        value = value.astype("M8[us]" if isinstance(value, np.datetime64) else "m8[us]")
    value = plain(value)
    return value if (value == value) is True else None


def _totals(values: list[Any], good: NDArray[np.bool_]) -> list[tuple[Any, int, int]]:
    """Values that are written alike are one: True is not 1, though equal to it, and a list cannot be looked up."""
    found: dict[tuple[type, str], tuple[Any, list[int]]] = {}
    for value, accepted in zip(values, good.tolist(), strict=True):
        _, counts = found.setdefault((type(value), str(value)), (value, [0, 0]))
        counts[0] += 1
        counts[1] += not accepted
    return [(value, rows, refused) for value, (rows, refused) in found.values()]
