"""The rows that a verb is asked about, of DATA or of a file of applicants, and how it answers one after the other."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from dueto.cli import console
from dueto.cli.console import ANSWERED, BAD_INPUT, NONE, UNKNOWN
from dueto.cli.inputs import rows_of
from dueto.errors import InputError, known, some

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

    from dueto.audit.comparison import Comparison
    from dueto.explain import Explainer
    from dueto.explanation import Changes
    from dueto.feature import Feature

    Encoded = list[tuple["Asked", NDArray[np.float64] | None]]  # None where a row does not fit the space

__all__ = ["Asked", "answered", "applicants_in", "asked_rows", "encoded_rows", "refused_only"]

refused_only = click.option("--refused-only", is_flag=True, help="Pass over rows that are not refused, and count them.")


class Asked(NamedTuple):
    """A row that is asked about.

    Parameters
    ----------
    number : int
        Its position in its file.
    label : str
        What it is called.
    row : int or table of one row
        What `Explainer.explain` takes.
    problem : str
        Why it cannot be answered; empty if it can.
    """

    number: int
    label: str
    row: Any
    problem: str = ""


def asked_rows(
    explainer: Explainer, rows: Sequence[int], applicants: Path | None, *, refused_only: bool = False
) -> list[Asked]:
    """The rows asked about; notes on stderr say what of them is outside the space, and how many are passed over."""
    import numpy as np

    from dueto.explanation import not_refused

    found = encoded_rows(explainer, rows, applicants)
    where = "" if applicants is None else f" of {applicants.name}"
    fit = [(one, x) for one, x in found if x is not None]
    for one, x in fit:
        _note_outside(explainer, x, one.label)
    with console.working("scoring the rows"):
        scores = explainer.model.score(np.array([x for _, x in fit])).tolist() if fit else []
    accepted = {one.number: s for (one, _), s in zip(fit, scores, strict=True) if s > explainer.model.threshold}
    if refused_only:
        if accepted:
            n = len(accepted)
            of = f"{n:,} of {len(found):,} rows{where}" if len(found) > 1 else fit[0][0].label
            console.note(f"{of} {'is' if n == 1 else 'are'} not refused: passed over")
        return [one for one, _ in found if one.number not in accepted]
    labels, refused = {one.number: one.label for one, _ in fit}, explainer.refused.tolist()
    if applicants is not None:
        refused = [one.number for one, _ in fit if one.number not in accepted]
    hint = f"refused are, for example, rows {some(refused[:3])}{where}" if refused else f"no row{where} is refused"
    hint = f"only row {refused[0]}{where} is refused" if len(refused) == 1 else hint
    why = {n: not_refused(labels[n], score, explainer.model.threshold, hint) for n, score in accepted.items()}
    return [one._replace(problem=why.get(one.number, one.problem)) for one, _ in found]


def answered(
    rows: Iterable[Asked],
    ask: Callable[..., Changes | Comparison],
    searching: str,
    *,
    as_json: bool,
    listed: bool = False,
    then: Callable[[int], None] | None = None,
) -> int:
    """Ask about each row and print what was found, as JSON in a list if they are several or `listed`; the exit code.

    After each answer, `then` is told the number of its row.
    """
    found, records, codes = [], [], []
    for number, label, row, problem in rows:
        try:
            if problem:
                raise InputError(problem)
            with console.working(f"row {number}: {searching}"):
                one = ask(row, label=label)
                records.append({"row": number, **(one.to_dict() if as_json else {})})
        except InputError as error:
            console.complain(str(error))
            records.append({"row": number, "error": str(error)})
            codes.append(BAD_INPUT)
            continue
        if then is not None:
            then(number)
        found.append(str(one))
        codes.append({"none": NONE, "unknown": UNKNOWN}.get(getattr(one, "status", ""), ANSWERED))
    if as_json and (found or listed):
        console.say_json(records if listed or len(records) > 1 else records[0])
    elif found:
        console.say(f"\n\n{'-' * 96}\n\n".join(found))
    return max(codes, default=ANSWERED)


def encoded_rows(explainer: Explainer, rows: Sequence[int], applicants: Path | None) -> Encoded:
    """The rows asked about, refused or not, as encoded; or None, and why not."""
    return _of_data(explainer, rows) if applicants is None else _of_applicants(explainer, rows, applicants)


def _of_data(explainer: Explainer, rows: Sequence[int]) -> Encoded:
    m, found = len(explainer.X), []
    for row in rows_of(explainer, rows):
        problem = "" if 0 <= row < m else f"there is no row {row}: the data has rows 0 to {m - 1}"
        found.append((Asked(row, f"Row {row}", row, problem), None if problem else explainer.X[row]))
    return found


def applicants_in(path: Path, explainer: Explainer) -> pd.DataFrame:
    """The table of a file of applicants, which must have the columns of DATA."""
    from dueto.cli.tables import kinds_in, read_table

    with console.working(f"reading {path.name}"):
        table = read_table(path, kinds_in(explainer.space))
    for column in explainer.space.columns:
        if column not in table:
            hint = known(column, table.columns, "it has")
            raise InputError(f"{path.name} has no column {column!r}, which the data has; {hint}")
    return table


def _of_applicants(explainer: Explainer, rows: Sequence[int], applicants: Path) -> Encoded:
    table, name = applicants_in(applicants, explainer), applicants.name
    found: Encoded = []
    for row in rows or range(len(table)):
        if not 0 <= row < len(table):
            raise InputError(f"there is no row {row} in {name}: it has rows 0 to {len(table) - 1}")
        one = Asked(row, f"Row {row} of {name}", table.iloc[[row]])
        try:
            found.append((one, explainer.space.encode_row(one.row)))
        except InputError as problem:  # which speaks of row 0 of a table of one row
            text = str(problem).replace(", row 0", "", 1)
            found.append((one._replace(problem=f"{name}, row {row}: {text}"), None))
    return found


def _note_outside(explainer: Explainer, x: NDArray[np.float64], label: str) -> None:
    """Say which values of a row lie outside the space: beyond its ends, or a label or a missing value that it lacks."""
    pairs = zip(explainer.space.features, x.tolist(), strict=True)
    told = [f"{f.name} is {f.text(v)} ({_held(f)})" for f, v in pairs if _outside(f, v)]
    if told:
        console.note(f"{label} lies outside the space: {'; '.join(told)}; such values are possible for this row alone")


def _outside(feature: Feature, value: float) -> bool:
    import numpy as np

    inside = bool(feature.domain.contains(np.array([value]))[0])
    if inside or not feature.ordered or math.isnan(value):
        return not inside
    low, high = _ends(feature)
    return not low <= value <= high


def _held(feature: Feature) -> str:
    """What a feature can be, for a reader."""
    domain = feature.domain
    if feature.labelled:
        held = some([feature.label(v) for v in domain.values])
    else:
        held = " to ".join(feature.text(v) for v in _ends(feature) if math.isfinite(v))
    return f"the space holds {held or 'nothing'}{' or missing' if domain.missing else ''}"


def _ends(feature: Feature) -> tuple[float, float]:
    """The lowest and the highest value that a feature can have; the other way round if it can have none."""
    values = [*feature.domain.values.tolist(), *(feature.domain.interval or ())]
    return min(values, default=math.inf), max(values, default=-math.inf)
