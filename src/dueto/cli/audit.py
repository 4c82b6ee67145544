"""dueto audit: what somebody's rules are worth, judged against the model itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from dueto.cli import console
from dueto.cli.asked import encoded_rows, people_in
from dueto.cli.console import UNKNOWN
from dueto.cli.inputs import FILE, model_and_data, named_by, options, outcome, running
from dueto.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from dueto.audit import Audit

__all__ = ["audit"]

HOLD, FAILS = 0, 1


@click.command(short_help="Do these rules hold, and could they be shorter?")
@options(
    model_and_data,
    click.argument("rules", nargs=-1),
    click.option("--rules", "file", type=FILE, metavar="FILE", help="Rules, one a line, or as JSON; see below."),
    click.option("--row", metavar="N", help="The row that the rules are about: position from 0, with --id the name."),
    named_by,
    click.option("--applicants", type=FILE, metavar="FILE", help="Take the row from here: a new applicant."),
    outcome,
    click.option(
        "--plausible", type=float, metavar="SHARE", help="Only applicants as ordinary as this share of DATA, as .95."
    ),
    click.option("--seconds", type=float, default=30.0, show_default=True, help="The longest for one question."),
    running,
)
@click.pass_context
def audit(
    ctx: click.Context,
    /,
    *,
    rules: Sequence[str],
    file: Path | None,
    row: str | None,
    applicants: Path | None,
    seconds: float,
    seed: int,
    as_json: bool,
    **given: Any,
) -> None:
    """Judge RULES against MODEL: does anybody who meets one get the desired outcome after all?

    \b
    Examples:
      dueto audit model.skops data.csv "age <= 40 and 10 < debt <= 20" --row 17
      dueto audit model.skops data.csv --rules anchors.txt
      dueto explain model.skops data.csv --row 17 --json > rule.json     then
      dueto audit model.skops data.csv --rules rule.json

    A rule is conditions joined by `and`. FILE holds one rule a line, or JSON: of `dueto explain --json`, of alibi, or a
    list of {"feature", "op", "value"}. Without --row, a rule is judged for the row that it came with, if it did, and
    else for everybody.

    \b
    Exit codes:
      0  every rule holds (proved)
      1  a rule fails: somebody who meets it is accepted, or its own row does not meet it
      2  usage or bad input
      3  none fails, but for some a search found nothing, which proves nothing
    """
    if bool(rules) == (file is not None):
        raise InputError("give either rules, each in quotes, or a file of them by --rules FILE")
    asked = list(rules) if file is None else _checked(file)
    if applicants is not None and row is None:
        raise InputError("--applicants needs the row there that the rules are about: give --row N")
    explainer, people = people_in(applicants, **given)
    who = label = None
    if row is not None:
        ((one, _),) = encoded_rows(explainer, [people.position(row)], people)
        if one.problem:
            raise InputError(one.problem)
        who, label = one.row, one.label
    with console.working("judging the rules"):
        from dueto.audit import audited

        found = audited(explainer, asked, row=who, label=label, seconds=seconds, rng=seed)
    if as_json:
        console.say_json(found.to_dict())
    else:
        console.say(str(found))
    ctx.exit(_code(found))


def _checked(file: Path) -> Path:
    """A file of rules, which is read before a model that may be large."""
    with console.working("starting"):
        from dueto.audit.read import entries

        entries(file)
    return file


def _code(found: Audit) -> int:
    holds = [one.consistent for one in found]
    if any(one.category == "not relevant" or held is False for one, held in zip(found, holds, strict=True)):
        return FAILS
    return UNKNOWN if None in holds else HOLD
