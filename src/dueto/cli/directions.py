"""dueto directions: every two columns of a table, corrected for their number."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import click

from dueto.cli import console
from dueto.cli.console import ANSWERED, UNKNOWN
from dueto.cli.direction import (
    PAGES,
    asked,
    column,
    in_options,
    note_drawn,
    page_option,
    pair_options,
    table_of,
)
from dueto.cli.inputs import FILE
from dueto.errors import InputError, some
from dueto.outputs import refuse_output, whole

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from dueto.direction import Directions

__all__ = ["directions"]


@click.command(short_help="The same for every two columns of a table.")
@click.argument("data", type=FILE)
@click.argument("columns", nargs=-1)
@click.option("--correction", default="holm", show_default=True, help="For the number of tests: holm, bh or none.")
@click.option("--jobs", type=int, default=1, show_default=True, metavar="N", help="Processes; -1 for one a core.")
@click.option("--out", type=FILE, metavar="FILE", help="Write a line for each pair (.csv).")
@click.option("--graph", type=FILE, metavar="FILE", help="Write the arrows (.graphml, or .dot for Graphviz).")
@page_option
@pair_options
@click.pass_context
def directions(
    ctx: click.Context,
    /,
    *,
    data: Path,
    columns: Sequence[str],
    correction: str,
    jobs: int,
    out: Path | None,
    graph: Path | None,
    html: Path | None,
    as_json: bool,
    **given: Any,
) -> None:
    """For every two columns of DATA (or of COLUMNS): is one due to the other?

    \b
    Examples:
      dueto directions stations.csv
      dueto directions stations.csv altitude temperature rain --correction bh
      dueto directions stations.csv --jobs -1 --out pairs.csv --html pairs.html

    Each pair is looked at by itself, as `dueto direction` does it: an arrow may come by way of another column. Columns
    that are no numbers are left out, and said; so are pairs that cannot be tried.

    \b
    Exit codes:
      0  answered: at least one arrow
      2  usage or bad input
      3  no arrow: the columns do not tell
    """
    if out is not None:
        refuse_output(out, (".csv",))
    if graph is not None:
        refuse_output(graph, (".graphml", ".dot"), needs="networkx")
    if html is not None:
        refuse_output(html, PAGES, needs="matplotlib")
    table = table_of(data)
    chosen = [column(table, name, data) for name in columns]
    for name in chosen:
        if chosen.count(name) > 1:
            raise InputError(f"column {name!r} is given twice; give each once")
    status = [f"testing the pairs of {data.name}"]

    def progress(done: int, of: int) -> None:
        status[0] = f"{done:,} of {of:,} pairs"

    try:
        with console.working(lambda: status[0]):
            from dueto.direction import directions as directions_of

            options = asked(**given) | {"correction": correction, "n_jobs": jobs}
            found = directions_of(table, columns=chosen or None, progress=progress, **options)
    except InputError as problem:
        raise InputError(in_options(str(problem))) from None
    if as_json:
        console.say_json(found.to_dict())
    else:
        console.say(str(found))
    note_drawn(int(found.table["n"].max()), len(table), given["max_rows"])
    _notes(found)
    from dueto.direction.many import MOST

    if correction == "holm" and not given["fast"] and not given["known_related"]:
        _note_few(2 * int((found.table["n"] > 0).sum()), given["permutations"] or MOST, given["reject"])
    if out is not None:
        with whole(out) as part:
            found.table.to_csv(part, index=False)
        console.note(f"wrote {out}")
    if graph is not None:
        with whole(graph) as part:
            _write_graph(found, part)
        console.note(f"wrote {graph}")
    if html is not None:
        with console.working(f"drawing {html.name}"):
            found.to_html(html)
        console.note(f"wrote {html}")
    ctx.exit(ANSWERED if (found.table["arrow"] != "?").any() else UNKNOWN)


def _notes(found: Directions) -> None:
    """What a reader of the arrows should know of the pairs without one."""
    if found.left_out:
        console.note(f"left out, for they are no numbers: {some(found.left_out)}")
    failed = found.table[found.table["n"] == 0]
    if len(failed):
        first = failed.iloc[0]
        console.note(
            f"{len(failed):,} of {len(found):,} pairs could not be tried; the first, {first['x']} and {first['y']}: "
            f"{in_options(first['reason'])}"
        )


def _note_few(tests: int, permutations: int, reject: float) -> None:
    """Say so where no p-value can be small enough for Holm's correction."""
    if tests / (permutations + 1) > reject:
        console.note(
            f"{permutations:,} permutations are too few to reject anything after Holm's correction of {tests:,} tests; "
            f"give --permutations {math.ceil(tests / reject)}"
        )


def _write_graph(found: Directions, path: Path) -> None:
    if path.suffix.lower() == ".dot":
        edges = [f"  {_quoted(a)} -> {_quoted(b)};" for a, b in found.graph.edges]
        nodes = [f"  {_quoted(name)};" for name in found.names]
        path.write_text("\n".join(["digraph {", *nodes, *edges, "}", ""]), encoding="utf-8")
        return
    import networkx as nx

    nx.write_graphml(found.graph, path)


def _quoted(name: Any) -> str:
    """A name as Graphviz reads it."""
    return '"{}"'.format(str(name).replace("\\", "\\\\").replace('"', '\\"'))
