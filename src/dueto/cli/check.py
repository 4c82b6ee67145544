"""dueto check: what a file of constraints says, and whether the data keeps it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from dueto.cli import console
from dueto.cli.inputs import FILE, as_json, constraints_in, data_and_space, data_options, refuse_unbound
from dueto.errors import InputError, count

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from dueto.plaf import Expr
    from dueto.plaf.scan import Line
    from dueto.space import FeatureSpace

__all__ = ["check"]


@click.command(short_help="What do these constraints say?")
@click.argument("plaf", type=FILE)
@click.argument("data", type=FILE)
@click.option("--row", type=int, metavar="N", help="A row of DATA, from 0: which constraints does it break already?")
@data_options
@as_json
def check(*, plaf: Path, data: Path, row: int | None, as_json: bool, **given: Any) -> None:
    """Read the constraints of PLAF, say each as a sentence, and count the rows of DATA that break it.

    \b
    Examples:
      dueto check loan.plaf data.csv
      dueto check loan.plaf data.csv --row 17

    Rows are counted where a constraint speaks of the proposed values alone (cf, not x): if much of the data breaks such
    a one, it is hardly what you mean; and if such ones contradict each other, that is said. A mistake is told with its
    file, line and column.

    Exit codes: 0 all are understood, 2 usage or bad input.
    """
    with console.working("starting"):
        lines = constraints_in(plaf)
    frame, space, *_ = data_and_space(data, **given)
    for line, expr in lines:
        refuse_unbound(line, expr, space)
    X = space.encode(frame)
    if row is not None and not 0 <= row < len(X):
        raise InputError(f"there is no row {row}: the data has rows 0 to {len(X) - 1}")
    found: dict[str, Any] = {
        "file": str(plaf),
        "rows": len(X),
        "constraints": [_report(line, expr, space, X, row) for line, expr in lines],
        "contradiction": _for_all([expr for _, expr in lines if not _about_x(expr)], space, X),
    }
    if row is not None:
        found["row"] = {"row": row, "contradiction": _contradiction([expr for _, expr in lines], space, X, row)}
    if as_json:
        console.say_json(found)
    else:
        console.say(_text(found))


def _report(line: Line, expr: Expr, space: FeatureSpace, X: NDArray[np.float64], row: int | None) -> dict[str, Any]:
    import numpy as np

    from dueto.requirements import Requirements

    broken = np.flatnonzero(~expr.bind(space)(lambda j: X[:, j], X[0])) if not _about_x(expr) else None
    report: dict[str, Any] = {
        "line": line.tokens[0].row,
        "text": str(expr),
        "sentence": expr.sentence(),
        "broken_rows": None if broken is None else len(broken),
        "first_broken": None if broken is None or not len(broken) else int(broken[0]),
    }
    if row is not None:
        asked = Requirements(space, [expr])
        report |= {"row_keeps": not asked.breaks(X[row], expr), "row_can_keep": not asked.unmendable(X[row])}
    return report


def _about_x(expr: Expr) -> bool:
    """Whether a constraint speaks of present values."""
    from dueto.counterfactuals.conflict import speaks_of_x
    from dueto.plaf import Together, walk

    return speaks_of_x(expr) or any(isinstance(e, Together) for e in walk(expr))


def _for_all(constraints: Sequence[Expr], space: FeatureSpace, X: NDArray[np.float64]) -> str:
    """Why no applicant of the space meets constraints on proposed values alone, if that is so and can be settled."""
    import numpy as np

    from dueto.counterfactuals import build_query, conflict
    from dueto.models import Model

    inside = X[space.contains(X)]  # whoever is asked about, their own values add nothing to the space
    if not len(inside) or not constraints:
        return ""
    query = build_query(Model(lambda table: np.zeros(len(table)), space), space, inside[0], constraints=constraints)
    return conflict.told(query) if not query.plausible(inside).any() else ""


def _contradiction(constraints: Sequence[Expr], space: FeatureSpace, X: NDArray[np.float64], row: int) -> str:
    """Why nothing that the row could become meets the constraints, if that is so and plain to see."""
    import numpy as np

    from dueto.counterfactuals.base import build_query
    from dueto.counterfactuals.units import contradiction
    from dueto.models import Model

    nobody = Model(lambda table: np.zeros(len(table)), space)
    query = build_query(nobody, space, X[row], constraints=constraints, X=X)
    return contradiction(query, query.units(np.random.default_rng(0)))


def _text(found: dict[str, Any]) -> str:
    n, m, row = len(found["constraints"]), found["rows"], found.get("row")
    parts = [f"{found['file']} holds {count(n, 'constraint') if n else 'no constraint'}."]
    for one in found["constraints"]:
        parts.append(f"\nline {one['line']}: {one['text']}\n  {one['sentence']}")
        if one["broken_rows"] is not None:
            parts.append(f"  {_broken(one['broken_rows'], one['first_broken'], m)}")
    if found["contradiction"]:
        parts.append(f"\n{found['contradiction'][0].upper()}{found['contradiction'][1:]}.")
    if row:
        told = {True: "that must change", False: "no change can mend that"}
        broken = [one for one in found["constraints"] if not one["row_keeps"]]
        lines = {can: [f"line {one['line']}" for one in broken if one["row_can_keep"] is can] for can in told}
        breaks = [f"breaks {', '.join(lines[can])}: {what}" for can, what in told.items() if lines[can]]
        parts.append(f"\nRow {row['row']} as it is {', and '.join(breaks) or 'keeps them all'}.")
        if row["contradiction"] and not found["contradiction"]:
            parts.append(f"Nothing that it could become meets them all: {row['contradiction']}.")
    return "\n".join(parts)


def _broken(count: int, first: int | None, m: int) -> str:
    if not count:
        return f"none of the {m:,} rows breaks it"
    return f"{count:,} of the {m:,} rows break it ({count / m:.2%}), the first being row {first}"
