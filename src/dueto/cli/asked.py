"""The rows that a verb is asked about, of DATA or of a file of applicants, and how it answers one after the other."""

from __future__ import annotations

import math
import re
from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from dueto.cli import console
from dueto.cli.console import ANSWERED, BAD_INPUT, NONE, UNKNOWN
from dueto.cli.inputs import explainer_for
from dueto.errors import InputError, known, one_line, some

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

__all__ = ["Asked", "People", "answered", "asked_about", "encoded_rows", "people_in", "refused_only"]

LONG = 100  # bytes of what an applicant is called, in the name of a file; characters, in a sentence

refused_only = click.option("--refused-only", is_flag=True, help="Pass over rows that are not refused, and count them.")


class People(NamedTuple):
    """Those who can be asked about: the rows of DATA, or of a file of applicants.

    Parameters
    ----------
    file : str
        Where they stand.
    applicants : table or None
        The file of applicants; None for DATA.
    beside : table or None
        Columns that are no features: of DATA those that were wanted, of a file of applicants all.
    identity : str or None
        The column that names them.
    names : list of str
        What they are called by it; none without.
    """

    file: str
    applicants: pd.DataFrame | None
    beside: pd.DataFrame | None
    identity: str | None
    names: list[str]

    @property
    def where(self) -> str:
        """Where a row is, if not in DATA, for a sentence."""
        return "" if self.applicants is None else f" of {self.file}"

    def asked(self, row: int, given: Any, problem: str = "") -> Asked:
        """A row that is asked about."""
        label = self.names[row] if self.names else f"Row {row}{self.where}"
        return Asked(row, label, given, _file_name(label, row) if self.names else str(row), problem)

    def called(self, rows: Sequence[int]) -> str:
        """What some rows are called, for a sentence."""
        return some([self.names[row] for row in rows] if self.names else rows)

    def told(self, rows: Sequence[int]) -> str:
        """Some rows, for a sentence."""
        return self.called(rows) if self.names else f"row{'s' * (len(rows) > 1)} {some(rows)}{self.where}"

    def position(self, row: str) -> int:
        """Where a row stands that is asked about by its position, or by its name."""
        row = one_line(row.strip())
        if self.names:
            if row in self.names:
                return self.names.index(row)
            raise InputError(
                f"no row of {self.file} has the {self.identity!r} {row!r}; that of row 0 is {self.names[0]!r}"
            )
        if not re.fullmatch(r"-?\d{1,18}", row):
            given = row if len(row) <= LONG else f"{row[:LONG]}..."
            raise InputError(
                f"--row takes a position from 0, not {given!r}; a column that names applicants is given by --id"
            )
        return int(row)


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
    name : str
        What stands for it in the name of a file.
    problem : str
        Why it cannot be answered; empty if it can.
    """

    number: int
    label: str
    row: Any
    name: str
    problem: str = ""


def people_in(
    applicants: Path | None, *, data: Path, identity: str | None = None, beside: Sequence[str] = (), **given: Any
) -> tuple[Explainer, People]:
    """Model and data made ready, and those who can be asked about."""
    wanted = [*beside, *([] if identity is None else [identity])] if applicants is None else []
    explainer, columns = explainer_for(data=data, identity=identity, beside=wanted, **given)
    table = None if applicants is None else _applicants_in(applicants, explainer, identity)
    file = data.name if applicants is None else applicants.name
    columns = columns if table is None else table
    names = [] if identity is None or columns is None else _names(columns[identity], identity, file)
    return explainer, People(file, table, columns, identity, names)


def asked_about(
    rows: Sequence[str], applicants: Path | None, *, refused_only: bool = False, **given: Any
) -> tuple[Explainer, list[Asked]]:
    """Model and data made ready, and the rows that are asked about.

    Notes on stderr say what of them is outside the space, and how many are passed over.
    """
    explainer, people = people_in(applicants, **given)
    asked = _asked(explainer, [people.position(row) for row in rows], people, refused_only=refused_only)
    return explainer, _told_apart(asked)


def _told_apart(asked: list[Asked]) -> list[Asked]:
    """The same, but those whose files would be called alike, capitals aside, by their position too."""
    names = Counter({one.number: one.name.casefold() for one in asked}.values())
    return [one if names[one.name.casefold()] == 1 else one._replace(name=f"{one.name}-{one.number}") for one in asked]


def _file_name(label: str, number: int) -> str:
    """What stands for a row in the name of a file: what it is called; where no file can be called so, with its
    position."""
    name = re.sub(r"[^\w.-]", "_", label).lstrip(".").encode()[:LONG].decode(errors="ignore")
    return name if name == label else f"{name or 'row'}-{number}"


def _asked(explainer: Explainer, rows: Sequence[int], people: People, *, refused_only: bool) -> list[Asked]:
    import numpy as np

    from dueto.changes import not_refused

    found = encoded_rows(explainer, rows, people)
    fit = [(one, x) for one, x in found if x is not None]
    for one, x in fit:
        _note_outside(explainer, x, one.label)
    with console.working("scoring the rows"):
        scores = explainer.model.score(np.array([x for _, x in fit])).tolist() if fit else []
    accepted = {one.number: s for (one, _), s in zip(fit, scores, strict=True) if s > explainer.model.threshold}
    if refused_only:
        if accepted:
            n = len(accepted)
            of = f"{n:,} of {len(found):,} rows{people.where}" if len(found) > 1 else fit[0][0].label
            console.note(f"{of} {'is' if n == 1 else 'are'} not refused: passed over")
        return [one for one, _ in found if one.number not in accepted]
    labels, refused = {one.number: one.label for one, _ in fit}, explainer.refused.tolist()
    if people.applicants is not None:
        refused = [one.number for one, _ in fit if one.number not in accepted]
    hint = f"refused are, for example, {people.told(refused[:3])}" if refused else f"no row{people.where} is refused"
    hint = f"only {people.told(refused)} is refused" if len(refused) == 1 else hint
    why = {n: not_refused(labels[n], score, explainer.model.threshold, hint) for n, score in accepted.items()}
    return [one._replace(problem=why.get(one.number, one.problem)) for one, _ in found]


def answered(
    rows: Iterable[Asked],
    ask: Callable[..., Changes | Comparison],
    searching: str,
    *,
    as_json: bool,
    listed: bool = False,
    then: Callable[[Asked], None] | None = None,
) -> int:
    """Ask about each row and print what was found, as JSON in a list if they are several or `listed`; the exit code.

    After each answer, `then` is told its row.
    """
    found, records, codes = [], [], []
    for asked in rows:
        try:
            if asked.problem:
                raise InputError(asked.problem)
            with console.working(f"{asked.label}: {searching}"):
                one = ask(asked.row, label=asked.label)
                records.append({"row": asked.number, **(one.to_dict() if as_json else {})})
        except InputError as error:
            console.complain(str(error))
            records.append({"row": asked.number, "error": str(error)})
            codes.append(BAD_INPUT)
            continue
        if then is not None:
            then(asked)
        found.append(str(one))
        codes.append({"none": NONE, "unknown": UNKNOWN}.get(getattr(one, "status", ""), ANSWERED))
    if as_json and (found or listed):
        console.say_json(records if listed or len(records) > 1 else records[0])
    elif found:
        console.say(f"\n\n{'-' * 96}\n\n".join(found))
    return max(codes, default=ANSWERED)


def encoded_rows(explainer: Explainer, rows: Sequence[int], people: People) -> Encoded:
    """The rows asked about, refused or not, as encoded; or None, and why not."""
    if people.applicants is None:
        return _of_data(explainer, rows, people)
    return _of_applicants(explainer, rows, people, people.applicants)


def _of_data(explainer: Explainer, rows: Sequence[int], people: People) -> Encoded:
    m, found = len(explainer.X), []
    if not rows:
        _refuse_nobody(explainer, people)
    for row in rows:
        problem = "" if 0 <= row < m else f"there is no row {row}: the data has rows 0 to {m - 1}"
        found.append((people.asked(row, row, problem), None if problem else explainer.X[row]))
    return found


def _refuse_nobody(explainer: Explainer, people: People) -> None:
    """Without a row, say which could be asked about."""
    refused, m = explainer.refused, len(explainer.X)
    if not len(refused):
        raise InputError(f"the model refuses none of the {m:,} rows, so there is nothing to explain")
    n, first = "ID" if people.names else "N", people.called(refused[:5].tolist())
    raise InputError(f"say which row with --row {n}; {len(refused):,} of the {m:,} rows are refused, first {first}")


def _applicants_in(path: Path, explainer: Explainer, identity: str | None) -> pd.DataFrame:
    """The table of a file of applicants, which must have the columns of DATA."""
    from dueto.cli.tables import kinds_in, read_table

    with console.working(f"reading {path.name}"):
        table = read_table(path, kinds_in(explainer.space).with_names(identity))
    for column in [*explainer.space.columns, *([] if identity is None else [identity])]:
        if column not in table:
            hint = known(column, table.columns, "it has")
            why = "" if column == identity else ", which the data has"
            raise InputError(f"{path.name} has no column {column!r}{why}; {hint}")
    return table


def _names(values: Any, column: str, file: str) -> list[str]:
    """What a column calls the applicants: texts, or whole numbers; each must be there, and once."""
    from dueto.frames import plain

    names, seen = [], dict[str, int]()
    for row, value in enumerate(map(plain, values)):
        name = one_line(str(int(value) if isinstance(value, float) and value.is_integer() else value).strip())
        if not name or (value == value) is not True:
            raise InputError(f"row {row} of {file} has no {column!r}; every applicant needs one to be named by")
        if name in seen:
            raise InputError(
                f"rows {seen[name]} and {row} of {file} have the same {column!r}, {name!r}; it must name one"
            )
        seen[name] = row
        names.append(name)
    return names


def _of_applicants(explainer: Explainer, rows: Sequence[int], people: People, table: pd.DataFrame) -> Encoded:
    found: Encoded = []
    for row in rows or range(len(table)):
        if not 0 <= row < len(table):
            raise InputError(f"there is no row {row} in {people.file}: it has rows 0 to {len(table) - 1}")
        one = people.asked(row, table.iloc[[row]])
        try:
            found.append((one, explainer.space.encode_row(one.row)))
        except InputError as problem:  # which speaks of row 0 of a table of one row
            text = str(problem).replace(", row 0", "", 1)
            who = people.names[row] if people.names else f"row {row}"
            found.append((one._replace(problem=f"{people.file}, {who}: {text}"), None))
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
