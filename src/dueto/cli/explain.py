"""dueto explain: the rule behind a refusal, and the changes that would flip it."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import click

from dueto.cli import console
from dueto.cli.asked import answered, asked_about, refused_only
from dueto.cli.console import ANSWERED, BAD_INPUT, UNKNOWN
from dueto.cli.inputs import FILE, least_rule, options, question
from dueto.errors import InputError
from dueto.outputs import refuse_output, whole

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from dueto.cli.asked import Asked
    from dueto.explanation import Explanation

__all__ = ["explain", "finder_of"]

MANY = 6  # conditions that a person reads
PAGES = {"html": [".html", ".htm"], "markdown": [".md", ".markdown"], "letter": [".md", ".txt", ".html", ".htm"]}


@click.command(short_help="Why was a row refused, and what would change that?")
@options(
    question,
    refused_only,
    click.option(
        "--method",
        default="auto",
        show_default=True,
        help="auto, minimum, irredundant, greedy, genetic, genetic-cf, anchor or set-cover.",
    ),
    least_rule,
    click.option(
        "--at-most", type=click.IntRange(min=1), metavar="K", help="Add the best rule of at most K conditions."
    ),
    click.option(
        "--certificate", type=FILE, metavar="FILE", help="Write what was proved of the rule (.json), to verify."
    ),
    click.option("--html", type=FILE, metavar="FILE", help="Write a page (.html); {row} in the name for several rows."),
    click.option(
        "--no-what-if", is_flag=True, help="A page without the what-if, which a slow model may be slow to make."
    ),
    click.option("--markdown", type=FILE, metavar="FILE", help="Write the page without pictures (.md)."),
    click.option(
        "--letter", type=FILE, metavar="FILE", help="Write a letter with the principal reasons (.md, .txt or .html)."
    ),
)
@click.pass_context
def explain(
    ctx: click.Context,
    /,
    *,
    rows: Sequence[str],
    applicants: Path | None,
    k: int,
    seed: int,
    as_json: bool,
    refused_only: bool,
    certificate: Path | None,
    html: Path | None,
    no_what_if: bool,
    markdown: Path | None,
    letter: Path | None,
    at_most: int | None,
    method: str,
    counted: Literal["components", "conditions"],
    seconds: float,
    **given: Any,
) -> None:
    """Why was a row of DATA refused by MODEL, and what would change that?

    \b
    Examples:
      dueto explain model.skops data.csv --row 17
      dueto explain model.skops data.csv --applicants new.csv --refused-only
      dueto explain model.skops data.csv --row 17 --row 40 --plaf loan.plaf --json
      dueto explain tree.joblib data.parquet --row 17 --trust-pickle --desired paid
      dueto explain model.skops data.csv --id customer --row C-1007
      dueto explain model.skops data.csv --row 17 --at-most 3
      dueto explain model.skops data.csv --row 17 --html why.html --letter letter.txt
      dueto explain model.skops data.csv --row 17 --row 40 --html "why-{row}.html"
      dueto explain model.skops data.csv --row 17 --certificate rule.json     then
      dueto verify rule.json model.skops

    MODEL is a .skops, .onnx, .npz (a tree), .pkl or .joblib file; DATA a .csv, .tsv or .parquet file. The possible
    applicants are all combinations of the values in DATA, unless --space declares others.

    \b
    Exit codes:
      0  answered
      1  no counterfactual exists (proved)
      2  usage or bad input
      3  none found within the budget, which proves nothing; or no certificate, since the rule is not proved
    With several rows, the highest of theirs; a row that cannot be answered is said on stderr, and the others answered.
    """
    if certificate is not None:
        refuse_output(certificate, [".json"])
    pages = {"html": html, "markdown": markdown, "letter": letter}
    wanted = {kind: path for kind, path in pages.items() if path is not None}
    for kind, path in wanted.items():
        refuse_output(path, PAGES[kind])
    given["method"] = finder_of(method, counted, seconds)
    explainer, asked = asked_about(rows, applicants, refused_only=refused_only, **given)
    ask: Callable[..., Explanation] = partial(explainer.explain, k=k, at_most=at_most, rng=seed)
    _refuse_pages(list(wanted.values()), asked)
    found: list[Explanation] = []
    unwritten = False
    if certificate is not None and len(asked) != 1:
        raise InputError(f"--certificate takes one row, and {len(asked) or 'none'} are asked about; give one --row N")

    def kept(row: Any, label: str) -> Explanation:
        found.append(ask(row, label=label))
        return found[-1]

    def written(one: Asked) -> None:
        nonlocal unwritten
        for kind, path in wanted.items():
            unwritten |= not _written(kind, _of_row(path, one.name), found[-1], what_if=not no_what_if)

    code = answered(asked, kept, "searching for changes and a rule", as_json=as_json, listed=refused_only, then=written)
    if any(map(_long, found)):
        console.note(_shorter(at_most is not None, given["widen"]))
    if certificate is not None and found:
        code = max(code, _certified(certificate, found[0]))
    ctx.exit(max(code, BAD_INPUT) if unwritten else code)


def _of_row(path: Path, name: str) -> Path:
    return path.with_name(path.name.replace("{row}", name))


def _refuse_pages(paths: Sequence[Path], asked: Sequence[Asked]) -> None:
    """Refuse one file for several rows or pages, and files that are there already."""
    for path in paths:
        if len(asked) > 1 and "{row}" not in path.name:
            name = f"{path.stem}-{{row}}{path.suffix}"
            raise InputError(f"{len(asked)} rows need a file each: put {{row}} into the name, as in {name}")
    names = {one.number: one.name for one in asked}
    every = [_of_row(path, name).resolve() for path in paths for name in names.values()]
    for path in every:
        refuse_output(path, [path.suffix.lower()])
        if every.count(path) > 1:
            raise InputError(f"two things cannot be written to {path}: give each a name of its own")


def _written(kind: str, path: Path, found: Explanation, *, what_if: bool) -> bool:
    """Write a page of an explanation; whether that was possible."""
    write: dict[str, Callable[[Path], None]] = {
        "html": lambda to: found.to_html(to, what_if=what_if),
        "markdown": found.to_markdown,
        "letter": found.to_letter,
    }
    try:
        with console.working(f"writing {path.name}"):
            write[kind](path)
    except InputError as problem:
        console.complain(str(problem))
        return False
    console.note(f"wrote {path}")
    return True


def _certified(path: Path, found: Explanation) -> int:
    """Write the certificate of a rule, if it is proved; the exit code."""
    from dueto.certificates import Certificate

    certificate = found.rule.certificate
    if not isinstance(certificate, Certificate):
        proved = found.rule.verdict is not None and found.rule.verdict.standing == "proved"
        why = "no certificate can tell yet who is plausible" if proved else f"the rule is {found.rule.verdict}"
        console.complain(f"{path} is not written: {why}")
        return UNKNOWN
    with whole(path) as part:
        part.write_text(certificate.to_json(), encoding="utf-8")
    console.note(f"wrote {path}")
    return ANSWERED


def _long(found: Explanation) -> bool:
    """Whether a rule has many conditions, and speaks of hardly anybody in the data."""
    return len(found.rule.conditions()) > MANY and found.support.refused + found.support.accepted <= 1


def _shorter(short: bool, wide: bool) -> str:
    shorter = "" if short else "--at-most 3 gives the best rule of three conditions with its scope"
    wider = "" if wide else "--widen makes it speak of more people"
    hints = "; ".join(filter(None, [shorter, wider])) or "constraints and fewer possible values shorten rules"
    return f"too long to read? {hints}"


def finder_of(method: str, counted: Literal["components", "conditions"], seconds: float) -> Any:
    """The finder of a name, with what it is told of the shortest rule."""
    from dueto.rules import AutoRule, MinimumRule

    least = MinimumRule(counted=counted, seconds=seconds)
    known = {"auto": AutoRule(exact=least), "minimum": least}
    return known.get(method, replace(least, least=False, name=method) if method == "irredundant" else method)
