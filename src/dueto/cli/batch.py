"""dueto batch: why were these thousands refused, and what have they in common?"""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Literal

import click

from dueto.cli import console
from dueto.cli.asked import people_in
from dueto.cli.console import ANSWERED, BAD_INPUT
from dueto.cli.explain import finder_of as finder
from dueto.cli.inputs import FILE, at_most_k, least_rule, model_and_data, named_by, options, outcome, running
from dueto.errors import InputError, count, known

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from dueto.batch import Batch, Progress
    from dueto.cli.asked import People
    from dueto.explain import Explainer

__all__ = ["batch"]


@click.command(short_help="Why were many rows refused, and what have they in common?")
@options(
    model_and_data,
    click.option(
        "--out", type=FILE, required=True, metavar="PLACE", help="A folder, or a .parquet or .jsonl file; see below."
    ),
    click.option("--where", metavar="CONDITION", help='Rows that meet it, as in "score <= .5 and age > 30".'),
    click.option("--applicants", type=FILE, metavar="FILE", help="Take the rows from here: new applicants."),
    named_by,
    click.option("--by", multiple=True, metavar="COLUMN", help="Tell shares by its values; may be repeated."),
    click.option("--share", is_flag=True, help="Give a row another row's rule where that is proved for it: sooner."),
    click.option("--jobs", type=int, default=1, show_default=True, help="Rows at the same time; -1: all processors."),
    outcome,
    click.option("--method", default="auto", show_default=True, help="As of explain."),
    least_rule,
    at_most_k,
    running,
)
@click.pass_context
def batch(
    ctx: click.Context,
    /,
    *,
    out: Path,
    where: str | None,
    applicants: Path | None,
    by: Sequence[str],
    share: bool,
    jobs: int,
    k: int,
    seed: int,
    as_json: bool,
    method: str,
    counted: Literal["components", "conditions"],
    seconds: float,
    **given: Any,
) -> None:
    """Why were the rows of DATA that MODEL refuses refused, and what have they in common?

    \b
    Examples:
      dueto batch model.skops data.csv --out refused
      dueto batch model.skops data.csv --out refused --where "score <= .5 and age > 30" --by sex --jobs -1
      dueto batch model.skops data.csv --out refused.parquet --applicants new.csv --plaf loan.plaf

    Every row gets the answer that dueto explain gives it. A folder will hold rows.jsonl, rows.parquet, summary.json
    and a page, index.html; a file holds the rows. A run that is stopped, by whatever, goes on where it was if the same
    is asked again. Rows that are not refused are passed over; what goes wrong with one row is told in its record.

    \b
    Exit codes:
      0  answered
      2  usage or bad input; or no row has an answer
    """
    from dueto.batch.results import Place

    Place.of(out)  # before the work
    if jobs == 0:
        raise InputError("--jobs must not be 0; give 1, 2, ... or -1 for all processors")
    given["method"] = finder(method, counted, seconds)
    explainer, people = people_in(applicants, beside=by, **given)
    if not out.suffix and find_spec("pyarrow") is None:
        console.note("rows.parquet is not written: it needs the package pyarrow; run: pip install pyarrow")
    found = _watched(
        explainer,
        people.applicants,
        out=out,
        where=where,
        by={name: _values(name, explainer, people) for name in by},
        labels=people.names or None,
        share=share,
        k=k,
        rng=seed,
        n_jobs=jobs,
        source="" if applicants is None else applicants.name,
    )
    if as_json:
        console.say_json(found.summary)
    else:
        console.say(str(found))
    if found.failed:
        first = found.failed[0]
        n = len(found.failed)
        told = f"{count(n, 'row')} {'has' if n == 1 else 'have'} no answer"
        console.complain(f"{told}; the first, {first['label']}: {first['error']}")
    console.note(f"wrote {out / 'index.html' if out.is_dir() else out}")
    ctx.exit(BAD_INPUT if len(found.failed) == len(found) else ANSWERED)


def _watched(explainer: Explainer, rows: Any, **asked: Any) -> Batch:
    """The batch, with its progress on the terminal, and what to do if it is interrupted."""
    from dueto.batch import batch as many

    now = "explaining the rows"

    def progress(told: Progress) -> None:
        nonlocal now
        now = str(told)

    try:
        with console.working(lambda: now):
            return many(explainer, rows, **asked, progress=progress)
    except KeyboardInterrupt:
        console.note("interrupted; what is done is kept: run the same again to go on")
        raise


def _values(name: str, explainer: Explainer, people: People) -> Any:
    """The values of a column that shares are told by; None of a feature."""
    if name in explainer.space.names:
        return None
    table: Any = people.beside
    if name not in table:  # of applicants: what DATA lacks is told where it is read
        hint = known(name, table.columns, "it has")
        raise InputError(f"there is no column {name!r} in {people.file} to tell shares by; {hint}")
    return table[name]
