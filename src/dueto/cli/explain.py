"""dueto explain: the rule behind a refusal, and the changes that would flip it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import click

from dueto.cli import console
from dueto.cli.inputs import explainer_for, options, question, rows_of
from dueto.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from dueto.explanation import Changes

__all__ = ["answered", "explain"]

ANSWERED, NONE, BAD_INPUT, UNKNOWN = 0, 1, 2, 3


@click.command(short_help="Why was a row refused, and what would change that?")
@options(question, click.option("--method", default="auto", show_default=True, help="auto, minimum, irredundant or greedy."))
@click.pass_context
def explain(
    ctx: click.Context,
    /,
    *,
    rows: Sequence[int],
    applicants: Path | None,
    k: int,
    seed: int,
    as_json: bool,
    **given: Any,
) -> None:
    """Why was a row of DATA refused by MODEL, and what would change that?

    \b
    Examples:
      dueto explain model.skops data.csv --row 17
      dueto explain model.skops data.csv --applicants new.csv --row 0
      dueto explain model.skops data.csv --row 17 --row 40 --plaf loan.plaf --json
      dueto explain tree.joblib data.parquet --row 17 --trust-pickle --desired paid

    MODEL is a .skops, .onnx, .npz (a tree), .pkl or .joblib file; DATA a .csv, .tsv or .parquet file. The possible
    applicants are all combinations of the values in DATA, unless --space declares others.

    \b
    Exit codes:
      0  answered
      1  no counterfactual exists (proved)
      2  usage or bad input
      3  none found within the budget, which proves nothing
    With several rows, the highest of theirs; a row that cannot be answered is said on stderr, and the others answered.
    """
    explainer = explainer_for(**given)
    ask = partial(explainer.explain, k=k, rng=seed)
    ctx.exit(answered(rows_of(explainer, rows, applicants), ask, "searching for changes and a rule", as_json=as_json))


def answered(rows: Iterable[tuple[int, Any]], ask: Callable[..., Changes], searching: str, *, as_json: bool) -> int:
    """Ask about each row and print what was found; the exit code."""
    found, records, codes = [], [], []
    for number, row in rows:
        try:
            with console.working(f"row {number}: {searching}"):
                one = ask(row, label=f"Row {number}")
        except InputError as problem:
            console.complain(str(problem))
            records.append({"row": number, "error": str(problem)})
            codes.append(BAD_INPUT)
            continue
        found.append(str(one))
        records.append({"row": number, **one.to_dict()})
        codes.append({"none": NONE, "unknown": UNKNOWN}.get(one.status, ANSWERED))
    if as_json and found:
        console.say_json(records if len(records) > 1 else records[0])
    elif found:
        console.say(f"\n\n{'-' * 96}\n\n".join(found))
    return max(codes)
