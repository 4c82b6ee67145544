"""dueto rules: what the different rule finders say of a row, side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from dueto.cli import console
from dueto.cli.asked import asked_rows
from dueto.cli.inputs import explainer_for, options, question
from dueto.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

__all__ = ["rules"]

ANSWERED, BAD_INPUT = 0, 2


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
    question,
    click.option(
        "--methods",
        default="greedy,genetic,genetic-cf,anchor,set-cover,minimum",
        show_default=True,
        help="Those to compare, separated by commas; also irredundant.",
    ),
    click.option("--seconds", type=float, default=30.0, show_default=True, help="The longest for one question."),
)
@click.pass_context
def compare(
    ctx: click.Context,
    /,
    *,
    rows: Sequence[int],
    applicants: Path | None,
    k: int,  # noqa: ARG001
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

    explainer = explainer_for(**given)
    names = [name.strip() for name in methods.split(",")]
    found, records, code = [], [], ANSWERED
    for number, label, row, problem in asked_rows(explainer, rows, applicants):
        try:
            if problem:
                raise InputError(problem)
            with console.working(f"row {number}: comparing {len(names)} methods"):
                one = compared(explainer, row, methods=names, seconds=seconds, rng=seed, label=label)
        except InputError as error:
            console.complain(str(error))
            records.append({"row": number, "error": str(error)})
            code = BAD_INPUT
            continue
        found.append(str(one))
        records.append({"row": number, **one.to_dict()})
    if as_json:
        console.say_json(records if len(records) > 1 else records[0])
    elif found:
        console.say(f"\n\n{'-' * 96}\n\n".join(found))
    ctx.exit(code)
