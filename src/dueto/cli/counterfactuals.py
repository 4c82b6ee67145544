"""dueto counterfactuals: only the changes that would flip a decision."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from dueto.cli import console
from dueto.cli.explain import answered
from dueto.cli.inputs import explainer_for, question, rows_of

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["counterfactuals"]


@click.command(short_help="What would change the decision on a row?")
@question
@click.pass_context
def counterfactuals(
    ctx: click.Context, /, *, rows: Sequence[int], k: int, seed: int, as_json: bool, **given: Any
) -> None:
    """What would change the decision of MODEL on a refused row of DATA?

    \b
    Examples:
      dueto counterfactuals model.skops applicants.csv --row 17
      dueto counterfactuals model.skops applicants.csv --row 17 --plaf loan.plaf --k 1 --json

    The changes are those that `dueto explain` gives, without the rule, and sooner.

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
        with console.working(f"row {row}: searching for changes"):
            found.append(explainer.changes(row, k=k, rng=seed))
    ctx.exit(answered(rows, found, as_json=as_json))
