"""The command line: one file a verb. It parses and prints; what it prints, the library says.

Nothing heavy is imported until a verb needs it.
"""

from __future__ import annotations

import os
import sys
import traceback
import warnings
from typing import Any, NoReturn

import click

from dueto._version import __version__
from dueto.cli import (
    audit,
    batch,
    check,
    console,
    counterfactuals,
    demo,
    direction,
    directions,
    explain,
    rules,
    space,
    verify,
)
from dueto.cli.console import BAD_INPUT, OUR_FAULT

__all__ = ["main"]

SETTINGS = {"help_option_names": ["-h", "--help"], "max_content_width": 100}
INTERRUPTED, PIPE_CLOSED = 130, 141


class Verbs(click.Group):
    """The verbs; whatever one raises becomes a sentence on stderr and an exit code."""

    def main(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Run a verb and leave with its exit code."""
        console.drop_unwritten()
        try:
            code = super().main(*args, **kwargs | {"prog_name": "dueto", "standalone_mode": False})
        except click.UsageError as problem:
            where = problem.ctx.command_path if problem.ctx else "dueto"
            text = " ".join(problem.format_message().split())
            console.complain(f"{text.rstrip('.')} (see {where} --help)")
            code = BAD_INPUT
        except (click.Abort, KeyboardInterrupt):
            code = INTERRUPTED
        sys.exit(code or 0)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a verb, guarded."""
        with warnings.catch_warnings():
            warnings.showwarning = console.warn_once()
            try:
                return super().invoke(ctx)
            except (click.ClickException, click.exceptions.Exit, click.Abort):
                raise
            except KeyboardInterrupt:
                ctx.exit(INTERRUPTED)
            except BrokenPipeError:
                os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or Python would complain at the end
                ctx.exit(PIPE_CLOSED)
            except Exception as problem:
                if ctx.params["debug"]:
                    traceback.print_exc()
                ctx.exit(_explained(problem))


def _explained(problem: Exception) -> int:
    """Say on stderr what went wrong; the exit code."""
    text = " ".join(str(problem).split())
    if isinstance(problem, ValueError | TypeError):
        console.complain(text)
        return BAD_INPUT
    if isinstance(problem, OSError):
        where = f" {problem.filename}" if problem.filename else ""
        console.complain(f"cannot use{where}: {problem.strerror or text}")
        return BAD_INPUT
    name = type(problem).__name__
    console.complain(f"unexpected {name}{f': {text}' if text else ''}; run `dueto --debug ...` for the traceback")
    return OUR_FAULT


@click.group(cls=Verbs, invoke_without_command=True, context_settings=SETTINGS)
@click.version_option(__version__, message="dueto %(version)s")
@click.option("--debug", is_flag=True, help="Show the traceback of an error, for a report.")
@click.pass_context
def main(ctx: click.Context, /, *, debug: bool) -> None:  # noqa: ARG001
    """Why was this row refused, and what would change that? Which of two columns is due to the other?

    \b
    Examples:
      dueto demo                                     an answer on real data, in seconds
      dueto space data.csv                           what the data holds
      dueto check loan.plaf data.csv                 are the constraints what you mean?
      dueto explain model.skops data.csv --row 17 --plaf loan.plaf
      dueto verify rule.json model.skops             is what was proved of a rule true?
      dueto audit model.skops data.csv --rules rules.txt
      dueto rules compare model.skops data.csv --row 17
      dueto direction stations.csv altitude temperature
      dueto directions stations.csv

    \b
    Exit codes:
      0  answered              2  usage or bad input
      1  no counterfactual     3  unknown: no counterfactual found within the
         exists (proved)          budget, which proves nothing; or no arrow, `?`
    """
    if os.environ.get("NO_COLOR"):
        ctx.color = False
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


for _verb in (
    explain.explain,
    batch.batch,
    counterfactuals.counterfactuals,
    verify.verify,
    audit.audit,
    rules.rules,
    space.space,
    check.check,
    direction.direction,
    directions.directions,
    demo.demo,
):
    main.add_command(_verb)
