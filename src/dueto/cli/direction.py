"""dueto direction: which of two columns is due to the other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from dueto.cli import console
from dueto.cli.console import ANSWERED, UNKNOWN
from dueto.cli.inputs import FILE, as_json, options
from dueto.errors import InputError, known, some
from dueto.outputs import refuse_output, whole

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

    from dueto.direction import Direction

__all__ = [
    "PAGES",
    "asked",
    "column",
    "in_options",
    "note_drawn",
    "page_option",
    "pair_options",
    "table_of",
]

PICTURES, PAGES = (".png", ".svg", ".pdf"), (".html",)
OPTIONS = {"missing='drop'": "--drop-missing", "n_permutations": "--permutations", "max_rows": "--max-rows"}

pair_options = options(
    click.option("--known-related", is_flag=True, help="One of a pair causes the other: the larger p-value wins."),
    click.option("--fast", is_flag=True, help="No tests: the smaller dependence wins, whatever the evidence."),
    click.option("--split", is_flag=True, help="Fit on one half of the rows, test on the other."),
    click.option(
        "--measure", default="smi", show_default=True, help="Of the tests: smi, lsmi, lsmi-refit, hsic or dcor."
    ),
    click.option("--permutations", type=int, metavar="N", help="Drawn for each test: 999, more for many pairs."),
    click.option("--reject", type=float, default=0.05, show_default=True, help="Reject a way where p is at most this."),
    click.option("--accept", type=float, default=0.05, show_default=True, help="Accept a way where p is above this."),
    click.option("--drop-missing", is_flag=True, help="Leave out rows where a column of the pair is missing."),
    click.option(
        "--max-rows", type=int, default=20_000, show_default=True, metavar="N", help="Of more rows, draw so many."
    ),
    click.option(
        "--seed", type=click.IntRange(min=0), default=0, show_default=True, help="The same seed gives the same answer."
    ),
    as_json,
)
page_option = click.option("--html", type=FILE, metavar="FILE", help="Write a page of all of it (.html).")


@click.command(short_help="Which of two columns is due to the other?")
@click.argument("data", type=FILE)
@click.argument("a")
@click.argument("b")
@pair_options
@click.option("--plot", type=FILE, metavar="FILE", help="Draw it (.png, .svg or .pdf).")
@page_option
@click.pass_context
def direction(
    ctx: click.Context,
    /,
    *,
    data: Path,
    a: str,
    b: str,
    as_json: bool,
    plot: Path | None,
    html: Path | None,
    **given: Any,
) -> None:
    """Is column B of DATA due to column A, or A to B?

    \b
    Examples:
      dueto direction stations.csv altitude temperature
      dueto direction stations.csv altitude temperature --html page.html
      dueto direction pair0001.txt 0 1 --json          a file without names: columns by position, from 0

    Assumed: the effect is a function of the cause, plus noise that is independent of the cause. The arrow is drawn
    where this fits one way and not the other; `?` where it fits both ways or neither.

    DATA is a .csv, .tsv, .parquet, .txt or .dat file; in the last two, numbers between blanks, with a line of names or
    without.

    \b
    Exit codes:
      0  answered: an arrow
      2  usage or bad input
      3  `?`: the two columns do not tell
    """
    if plot is not None:
        refuse_output(plot, PICTURES, needs="matplotlib")
    if html is not None:
        refuse_output(html, PAGES, needs="matplotlib")
    table = table_of(data)
    names = column(table, a, data), column(table, b, data)
    if names[0] == names[1]:
        raise InputError(f"both {a} and {b} are column {names[0]!r}; give two columns")
    try:
        with console.working(f"testing {names[0]} and {names[1]}"):
            from dueto.direction import direction as direction_of

            found = direction_of(table[names[0]], table[names[1]], names=names, **asked(**given))
            if plot is not None:
                _draw(found, plot)
            if html is not None:
                found.to_html(html)
    except InputError as problem:
        raise InputError(in_options(str(problem))) from None
    if as_json:
        console.say_json(found.to_dict())
    else:
        console.say(str(found))
    note_drawn(found.n, len(table), given["max_rows"])
    for written in filter(None, (plot, html)):
        console.note(f"wrote {written}")
    ctx.exit(UNKNOWN if found.arrow == "?" else ANSWERED)


def table_of(data: Path) -> pd.DataFrame:
    """The table of a file, with a note on what may be read otherwise than it is meant."""
    from dueto.cli.tables import Kinds, is_number, read_table

    with console.working(f"reading {data.name}"):
        table = read_table(data, Kinds(padded=False))  # columns of numbers are what is asked about
    table.columns = [str(name) for name in table.columns]
    if ".parquet" not in data.suffixes and all(map(is_number, table.columns)):
        console.note(
            f"the first line of {data.name} is taken for names ({some(table.columns)}); if it holds values, put a line "
            "of names above it"
        )
    return table


def note_drawn(used: int, rows: int, max_rows: int) -> None:
    """Say so if not all rows were used."""
    if used == max_rows < rows:
        console.note(f"each pair is {used:,} of the {rows:,} rows, drawn by chance (--max-rows)")


def column(table: pd.DataFrame, name: str, data: Path) -> str:
    """The name of the column called so, or at this position."""
    names = list(map(str, table.columns))
    if name in names:
        return name
    if name.isdecimal() and int(name) < len(names):
        return names[int(name)]
    raise InputError(f"there is no column {name!r} in {data.name}; {known(name, names, 'it has')}")


def asked(*, permutations: int | None, drop_missing: bool, seed: int, **given: Any) -> dict[str, Any]:
    """What the library calls what was asked for."""
    some_of = {} if permutations is None else {"n_permutations": permutations}
    return {**some_of, "missing": "drop" if drop_missing else "refuse", "rng": seed, **given}


def in_options(text: str) -> str:
    """A sentence of the library in words of the command line."""
    for name, option in OPTIONS.items():
        text = text.replace(name, option)
    return text


def _draw(found: Direction, plot: Path) -> None:
    import matplotlib as mpl

    mpl.use("Agg")  # no window is wanted
    from dueto.plots import plot_direction

    figure = plot_direction(found)
    with whole(plot) as part:
        figure.savefig(part, dpi=150)
