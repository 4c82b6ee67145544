"""From a verb's arguments to what the library takes: data, space, constraints, model."""

from __future__ import annotations

from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from dueto.cli import console
from dueto.errors import InputError, count, known, some

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pandas as pd

    from dueto.explain import Explainer
    from dueto.models import Model
    from dueto.plaf import Expr
    from dueto.plaf.scan import Line
    from dueto.rules import Finder
    from dueto.space import FeatureSpace

__all__ = [
    "FILE",
    "as_json",
    "constraints_in",
    "data_and_space",
    "data_options",
    "explainer_for",
    "least_rule",
    "model_and_data",
    "named_by",
    "outcome",
    "question",
    "refuse_unbound",
    "running",
    "some_rows",
]

FEW = 50  # rows of DATA that hardly say what is possible
FILE = click.Path(path_type=Path)


def options(*parts: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Several options as one decorator, shown in this order."""

    def decorate(verb: Any) -> Any:
        for part in reversed(parts):
            verb = part(verb)
        return verb

    return decorate


as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")

data_options = options(
    click.option("--space", "space_file", type=FILE, metavar="FILE", help="Declared features (.toml or .json)."),
    click.option(
        "--onehot",
        multiple=True,
        metavar="NAME=COLUMNS",
        help="Columns that are one feature, as in job=job_clerk,job_smith or job=job_*; may be repeated.",
    ),
    click.option("--ignore", multiple=True, metavar="COLUMN", help="A column that is no feature; may be repeated."),
    click.option(
        "--query", metavar="SQL", help="Take the rows from a query, by DuckDB: over DATA's tables, or a file as 'data'."
    ),
)

model_and_data = options(click.argument("model", type=FILE), click.argument("data", type=FILE))

named_by = click.option(
    "--id",
    "identity",
    metavar="COLUMN",
    help="A column that names applicants, and is no feature; they are called by it.",
)

some_rows = options(
    click.option(
        "--row", "rows", multiple=True, metavar="N", help="Position from 0, with --id the name; may be repeated."
    ),
    named_by,
    click.option("--applicants", type=FILE, metavar="FILE", help="Take the rows from here: new applicants."),
)

at_most_k = click.option("--k", type=int, default=5, show_default=True, help="The most counterfactuals shown.")

outcome = options(
    click.option("--plaf", type=FILE, metavar="FILE", help="Constraints on what may change, one a line."),
    data_options,
    click.option("--desired", metavar="CLASS", help="Class of the desired outcome.  [default: the second of two]"),
    click.option(
        "--threshold",
        type=float,
        help="Score that it must exceed.  [default: 0.5, or the model's own]",
    ),
    click.option(
        "--counterfactual-method",
        default="auto",
        show_default=True,
        help="auto, branch-and-bound, leaf-boxes, exhaustive, linear-bounds or geco.",
    ),
)

least_rule = options(
    click.option(
        "--counted",
        type=click.Choice(["components", "conditions"]),
        default="components",
        show_default=True,
        help="What is least: bounds, or conditions (an interval is one).",
    ),
    click.option(
        "--seconds", type=float, default=30.0, show_default=True, help="The longest to look for the shortest rule."
    ),
    click.option(
        "--plausible", type=float, metavar="SHARE", help="Only applicants as ordinary as this share of DATA, as .95."
    ),
    click.option("--widen", is_flag=True, help="Move each bound as far out as the rule stays proved."),
)

running = options(
    click.option(
        "--seed", type=click.IntRange(min=0), default=0, show_default=True, help="The same seed gives the same answer."
    ),
    as_json,
    click.option("--trust-pickle", is_flag=True, help="Open a pickle, which can run any code its author chose."),
    click.option("--trust-type", multiple=True, metavar="TYPE", help="Allow a type in a skops file; may be repeated."),
)

question = options(model_and_data, some_rows, outcome, at_most_k, running)


class Table(NamedTuple):
    """The columns of DATA that are features, their space, those that the model does not use, and the
    columns that are wanted besides."""

    frame: Any  # a data frame, or the Source of a large table
    space: FeatureSpace
    unused: list[str]
    beside: pd.DataFrame | None


def data_and_space(
    data: Path,
    *,
    space_file: Path | None = None,
    onehot: Sequence[str] = (),
    ignore: Sequence[str] = (),
    query: str | None = None,
    model: Any = None,
    stream: bool = False,
    identity: str | None = None,
    beside: Sequence[str] = (),
) -> Table:
    """The columns that are features (those a model was fitted on, if it says so), and their space.

    With `stream`, a large table is not read into memory: it stays a `Source`. `identity` names a column that is no
    feature, and `beside` columns whose values are wanted, whether they are features or not.
    """
    from dueto.cli.tables import kinds_declared, large_table, read_table
    from dueto.models.tables import features_of, fitted_on
    from dueto.space import FeatureSpace

    with console.working(f"reading {data.name}"):
        kinds = kinds_declared(space_file).with_names(identity)
        table: Any = large_table(data, kinds, query) if stream else None
        table = read_table(data, kinds, query) if table is None else table
    fitted = fitted_on(model, table.columns)
    for column in ignore:
        if column not in table:
            hint = known(column, table.columns, f"{data.name} has")
            raise InputError(f"there is no column {column!r} to ignore; {hint}")
        if column in fitted:
            raise InputError(
                f"the model was fitted on {column!r}, so that it cannot be ignored; leave out --ignore, and if it may "
                f'not change, give the constraint fixed("{column}") by --plaf'
            )
    if identity in fitted:
        raise InputError(f"the model was fitted on {identity!r}, so that it is a feature and cannot be --id")
    frame = features_of(model, table.drop(columns=[c for c in table.columns if c in ignore or c == identity]))
    unused = [column for column in table.columns if column not in frame and column not in ignore]
    if told := [column for column in unused if column != identity]:
        console.note(f"the model was not fitted on {some(told)} of {data.name}: ignored")
    held = [column for column in dict.fromkeys(beside) if column in table]
    if onehot and space_file is not None:
        raise InputError(f"--onehot does not go with --space; write the columns into {space_file}, under the feature")
    with console.working(f"reading {data.name}"):
        columns = _held(table, list(frame.columns), held) if held else None
        if space_file is None:
            space = FeatureSpace.infer(frame, onehot=_groups(onehot, list(map(str, frame.columns))))
        else:
            space = FeatureSpace.load(space_file, frame, ignore=unused)
    for column in beside:
        if column not in held and (column == identity or column not in space.names):
            hint = known(column, table.columns, "it has")
            raise InputError(f"there is no column {column!r} in {data.name}; {hint}")
    return Table(frame, space, unused, columns)


def _held(table: Any, features: list[Any], columns: list[Any]) -> pd.DataFrame:
    """Some columns of a table."""
    from dueto.sources import Source

    if not isinstance(table, Source):
        found: pd.DataFrame = table[columns]
        return found
    next(
        table[list(dict.fromkeys([*features, *columns]))].batches(), None
    )  # a query is run once, so that its rows stay in one order
    return table[columns].frame()


def explainer_for(
    model: Path,
    data: Path,
    *,
    plaf: Path | None,
    desired: str | None,
    threshold: float | None,
    counterfactual_method: str,
    method: str | Finder = "auto",
    plausible: float | None = None,
    widen: bool = False,
    trust_pickle: bool,
    trust_type: Sequence[str],
    **given: Any,
) -> tuple[Explainer, pd.DataFrame | None]:
    """Model and data of a question, made ready, and the columns of DATA that are wanted besides."""
    with console.working("starting"):
        from dueto.explain import Explainer
        from dueto.models import load_model

        constraints = constraints_in(plaf) if plaf else []
        loaded = load_model(model, trust_pickle=trust_pickle, trusted_types=trust_type)
    frame, space, unused, columns = data_and_space(data, model=loaded, stream=True, **given)
    constraints = [(line, kept) for line, expr in constraints if (kept := _used(expr, unused)) is not None]
    for line, expr in constraints:
        refuse_unbound(line, expr, space)
    with console.working("scoring the data"):
        explainer = Explainer(
            loaded,
            frame,
            space=space,
            constraints=[expr for _, expr in constraints],
            desired=desired,
            threshold=threshold,
            method=method,
            counterfactual_method=counterfactual_method,
            plausible=plausible,
            widen=widen,
        )
        explainer.good  # noqa: B018
    if len(explainer.X) < FEW:
        console.note(
            f"{data.name} has only {count(len(explainer.X), 'row')}, and what is possible is read from it; for new "
            "applicants, give the table that the model was fitted on as DATA, and theirs by --applicants"
        )
    _tell_assumed(explainer.model, desired)
    return explainer, columns


def _tell_assumed(model: Model, desired: str | None) -> None:
    """Say which of two classes was taken as the desired one: of 0 and 1, too, 1 may be those who default."""
    if desired is not None or len(model.classes) != 2:
        return
    (other,) = (c for c in model.classes if c != model.desired)
    console.note(f"taking {model.desired!r} as the desired outcome (the other is {other!r}); --desired names another")


def constraints_in(plaf: Path) -> list[tuple[Line, Expr]]:
    """The constraints of a file, each with the line it stands on."""
    from dueto.plaf import parse_constraints
    from dueto.plaf.files import plaf_text
    from dueto.plaf.scan import scan

    text = plaf_text(plaf)
    return list(zip(scan(text, plaf.name), parse_constraints(text, name=plaf.name), strict=True))


def refuse_unbound(line: Line, expr: Expr, space: FeatureSpace) -> None:
    """Raise a `ConstraintError`, which tells the line, if a constraint does not fit the space."""
    from dueto.plaf import Together

    try:
        if isinstance(expr, Together):
            for name in expr.names:
                space.index(name)
        else:
            expr.bind(space)
    except InputError as problem:
        raise line.error(str(problem)) from None


def _used(expr: Expr, unused: Sequence[str]) -> Expr | None:
    """A constraint without the features that it only holds fixed and the model does not use; None if none is left."""
    from dueto.plaf import Fixed, fixed

    if not isinstance(expr, Fixed) or not set(expr.names) & set(unused):
        return expr
    names = [name for name in expr.names if name not in unused]
    return fixed(*names) if names else None


def _groups(onehot: Sequence[str], columns: list[str]) -> dict[str, list[str]]:
    found = {}
    for given in onehot:
        name, equals, patterns = given.partition("=")
        if not (name and equals and patterns):
            raise InputError(f"--onehot {given!r} has no columns; write it as in job=job_clerk,job_smith or job=job_*")
        found[name] = [c for p in patterns.split(",") for c in (_matching(p, columns) if "*" in p else [p])]
    return found


def _matching(pattern: str, columns: list[str]) -> list[str]:
    found = [column for column in columns if fnmatchcase(column, pattern)]
    if not found:
        raise InputError(f"no column is like {pattern!r}; the columns are {some(columns)}")
    return found
