"""dueto explain: the rule behind a refusal, and the changes that would flip it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from dueto.cli import console
from dueto.cli.inputs import explainer_for, options, question, rows_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dueto.explanation import Changes

__all__ = ["answered", "explain"]

ANSWERED, NONE, UNKNOWN = 0, 1, 3


@click.command(short_help="Why was a row refused, and what would change that?")
@options(question, click.option("--method", default="greedy", show_default=True, help="How the rule is found."))
@click.pass_context
def explain(ctx: click.Context, /, *, rows: Sequence[int], k: int, seed: int, as_json: bool, **given: Any) -> None:
    """Why was a row of DATA refused by MODEL, and what would change that?

    \b
    Examples:
      dueto explain model.skops applicants.csv --row 17
      dueto explain model.skops applicants.csv --row 17 --row 40 --plaf loan.plaf --json
      dueto explain tree.joblib applicants.parquet --row 17 --trust-pickle --desired paid

    MODEL is a .skops, .onnx, .npz (a tree), .pkl or .joblib file; DATA a .csv, .tsv or .parquet file. The possible
    applicants are all combinations of the values in DATA, unless --space declares others.

    \b
    Exit codes:
      0  answered
      1  no counterfactual exists (proved)
      2  usage or bad input
      3  none found within the budget, which proves nothing
    With several rows, the highest of theirs.
    """
    explainer = explainer_for(**given)
    found = []
    for row in rows_of(explainer, rows):
        with console.working(f"row {row}: searching for changes and a rule"):
            found.append(explainer.explain(row, k=k, rng=seed))
    ctx.exit(answered(rows, found, as_json=as_json))


def answered(rows: Sequence[int], found: Sequence[Changes], *, as_json: bool) -> int:
    """Print what was found about each row; the exit code."""
    if as_json:
        records = [{"row": row, **one.to_dict()} for row, one in zip(rows, found, strict=True)]
        console.say_json(records if len(records) > 1 else records[0])
    else:
        console.say(f"\n\n{'-' * 96}\n\n".join(map(str, found)))
    return max({"none": NONE, "unknown": UNKNOWN}.get(one.status, ANSWERED) for one in found)
