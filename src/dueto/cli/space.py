"""dueto space: what the features are and can be, as a table and as a file to declare more."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dueto.cli import console
from dueto.cli.inputs import FILE, as_json, data_and_space, data_options
from dueto.errors import count, one_line
from dueto.outputs import refuse_output, whole

if TYPE_CHECKING:
    from dueto.feature import Feature
    from dueto.space import FeatureSpace

__all__ = ["space"]

WIDE = 60  # characters shown of a list of labels


@click.command(short_help="Which features, and which values, can be?")
@click.argument("data", type=FILE)
@click.option("--out", type=FILE, metavar="FILE", help="Write a file of declarations to start from (.toml or .json).")
@click.option(
    "--suggest-constraints",
    "suggest",
    type=FILE,
    is_flag=False,
    flag_value=Path("-"),
    metavar="[FILE]",
    help="Constraints that all rows keep, for you to judge: into a .plaf file; without one, or with -, shown.",
)
@data_options
@as_json
def space(*, data: Path, out: Path | None, suggest: Path | None, as_json: bool, **given: Any) -> None:
    """Show the features of DATA and the values they can take: those that occur, or those that --space declares.

    \b
    Examples:
      dueto space data.csv
      dueto space data.csv --ignore outcome --out space.toml     to edit, then
      dueto explain model.skops data.csv --row 17 --space space.toml
      dueto space data.csv --suggest-constraints laws.plaf       to edit, then
      dueto explain model.skops data.csv --row 17 --plaf laws.plaf

    "Every possible applicant" means every combination of these values. A file of declarations widens or narrows them;
    constraints rule out combinations that cannot be.

    Exit codes: 0 shown, 2 usage or bad input.
    """
    into = None if suggest is None or str(suggest) == "-" else suggest
    if into is not None:
        refuse_output(into, [".plaf"])
    frame, found, *_ = data_and_space(data, **given)
    suggestions = None
    if suggest is not None:
        with console.working("looking for constraints"):
            from dueto.suggest import suggest_constraints

            suggestions = suggest_constraints(frame, found)
    if out is not None:
        from dueto.cli.declarations import write_declarations

        write_declarations(out, found, frame, data=data.name)
    if into is not None and suggestions is not None:
        with whole(into) as part:
            part.write_text(suggestions.to_plaf(), encoding="utf-8")
    if as_json:
        extra = {} if suggestions is None else {"suggestions": suggestions.to_dict()}
        console.say_json({**_plain(found, len(frame)), **extra})
    elif suggestions is not None and into is None:  # that alone, so that it can be sent into a file
        console.say(suggestions.to_plaf().rstrip("\n"))
    else:
        console.say(_text(found, len(frame)))
    for path in (out, into):
        if path is not None:
            console.note(f"wrote {path}")


def _plain(space: FeatureSpace, m: int) -> dict[str, Any]:
    return {
        "rows": m,
        "log10_size": None if (digits := _digits(space)) == float("inf") else digits,
        "features": [_feature(feature) for feature in space.features],
        "groups": [[space.names[j] for j in group.members] for group in space.groups],
    }


def _feature(feature: Feature) -> dict[str, Any]:
    domain = feature.domain
    ends = domain.interval or ([domain.values[0], domain.values[-1]] if len(domain.values) else None)
    bounds = {"low": feature.label(ends[0]), "high": feature.label(ends[1])} if ends and not feature.labels else {}
    return {
        "name": feature.name,
        "kind": feature.kind,
        "columns": [str(column) for column in feature.columns],
        "values": None if domain.size == float("inf") else int(domain.size - (domain.missing > 0)),
        **bounds,
        **({"labels": [feature.label(v) for v in domain.values]} if feature.labels else {}),
        "missing": int(domain.missing),
    }


def _digits(space: FeatureSpace) -> float:
    """How many applicants are possible, as a power of ten."""
    import math

    return sum(math.log10(size) if (size := feature.domain.size) else 0.0 for feature in space.features)


def _text(space: FeatureSpace, m: int) -> str:
    plain = _plain(space, m)
    lines = [("feature", "kind", "values", "missing", "range or labels")]
    for f in plain["features"]:
        several = f"  ({len(f['columns'])} columns)" if len(f["columns"]) > 1 else ""
        shown = _labels(f["labels"]) if "labels" in f else f"{f['low']} to {f['high']}" if "low" in f else "none"
        values = "any" if f["values"] is None else f"{f['values']:,}"
        lines.append((f["name"], f["kind"], values, f"{f['missing']:,}" if f["missing"] else "-", shown + several))
    a, b, c, d = (max(len(line[i]) for line in lines) for i in range(4))
    table = [f"{n:<{a}}  {k:<{b}}  {v:>{c}}  {s:>{d}}  {r}" for n, k, v, s, r in lines]
    size = plain["log10_size"]
    possible = "endlessly many" if size is None else f"{10**size:,.0f}" if size < 6 else f"about 10^{size:.0f}"
    ties = [f"Change together, to combinations in the data: {', '.join(names)}." for names in plain["groups"]]
    head = f"{count(m, 'row')}, {count(len(space), 'feature')}, {possible} possible applicant{'s' * (possible != '1')}."
    return "\n".join([head, "", *table, *ties])


def _labels(labels: list[Any]) -> str:
    text = ", ".join(one_line(str(label)) for label in labels)
    return text if len(text) <= WIDE else f"{text[: WIDE - 4].rsplit(', ', 1)[0]}, ..."
