"""dueto counterfactuals: only the changes that would flip a decision."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import click

from dueto.cli.asked import answered, asked_about, refused_only
from dueto.cli.inputs import question

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

__all__ = ["counterfactuals"]


@click.command(short_help="What would change the decision on a row?")
@question
@refused_only
@click.pass_context
def counterfactuals(
    ctx: click.Context,
    /,
    *,
    rows: Sequence[str],
    applicants: Path | None,
    k: int,
    seed: int,
    as_json: bool,
    refused_only: bool,
    **given: Any,
) -> None:
    """What would change the decision of MODEL on a refused row of DATA?

    \b
    Examples:
      dueto counterfactuals model.skops data.csv --row 17
      dueto counterfactuals model.skops data.csv --row 17 --plaf loan.plaf --k 1 --json

    The changes are those that `dueto explain` gives, without the rule, and sooner.

    \b
    Exit codes:
      0  answered
      1  no counterfactual exists (proved)
      2  usage or bad input
      3  none found within the budget, which proves nothing
    With several rows, the highest of theirs; a row that cannot be answered is said on stderr, and the others answered.
    """
    explainer, asked = asked_about(rows, applicants, refused_only=refused_only, **given)
    ask = partial(explainer.changes, k=k, rng=seed)
    ctx.exit(answered(asked, ask, "searching for changes", as_json=as_json, listed=refused_only))
