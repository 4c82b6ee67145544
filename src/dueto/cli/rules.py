"""dueto rules: what the different rule finders say of a row, side by side."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import click

from dueto.cli.asked import answered, asked_about
from dueto.cli.inputs import model_and_data, options, outcome, running, some_rows

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

__all__ = ["rules"]


@click.group(short_help="What do different methods say a refusal is due to?")
def rules() -> None:
    """Rules by all methods, judged alike.

    \b
    Examples:
      dueto rules compare model.skops data.csv --row 17

    \b
    Exit codes:
      0  answered
      2  usage or bad input
    """


@rules.command(short_help="What does each method say a refusal is due to?")
@options(
    model_and_data,
    some_rows,
    outcome,
    click.option(
        "--methods",
        default="greedy,genetic,genetic-cf,anchor,set-cover,minimum",
        show_default=True,
        help="Those to compare, separated by commas; also irredundant.",
    ),
    click.option("--seconds", type=float, default=30.0, show_default=True, help="The longest for one question."),
    running,
)
@click.pass_context
def compare(
    ctx: click.Context,
    /,
    *,
    rows: Sequence[str],
    applicants: Path | None,
    seed: int,
    as_json: bool,
    methods: str,
    seconds: float,
    **given: Any,
) -> None:
    """What does each method say that the refusal of a row of DATA by MODEL is due to, and is it true?

    \b
    Examples:
      dueto rules compare model.skops data.csv --row 17
      dueto rules compare model.skops data.csv --row 17 --methods minimum,anchor --json

    For each method: the rule and its length; its category, judged like any rule by `dueto audit`; how many refused and
    accepted rows of DATA meet it; seconds, and rows that the model scored.

    \b
    Exit codes:
      0  answered
      2  usage or bad input
    """
    from dueto.audit import compared

    names = [name.strip() for name in methods.split(",")]
    explainer, asked = asked_about(rows, applicants, **given)
    ask = partial(compared, explainer, methods=names, seconds=seconds, rng=seed)
    ctx.exit(answered(asked, ask, f"comparing {len(names)} methods", as_json=as_json))
