"""dueto demo: the whole of it on real data, in seconds."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

import click

from dueto.cli import console
from dueto.cli.inputs import FILE, as_json
from dueto.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

__all__ = ["demo"]

ROW = 1035
LEFT_OUT = ["sex", "education", "marriage"]
TYPES = ["sklearn.tree._tree.Tree"]  # what the tree's file holds beyond skops's own list
PLAF = """\
# What the client could have done differently, and what not.
fixed("limit", "age")              # the bank sets the one, time the other
cf.bill_sep >= x.bill_sep / 2      # no more than half of the debt can be paid off at once
"""
COLUMNS = """\
What the columns mean:
  pay_status_MONTH                months that the payment due in that month is late; 0 or less: it is not
  bill_MONTH, paid_MONTH, limit   New Taiwan dollars"""


@click.command(short_help="An answer on real data, in seconds.")
@click.option("--save", type=FILE, metavar="DIR", help="Write model, data and constraints there, to play with.")
@as_json
def demo(*, save: Path | None, as_json: bool) -> None:
    """Fit a small decision tree to the Taiwan credit data, and explain one client whom it refuses.

    \b
    Examples:
      dueto demo
      dueto demo --save try        then do the same by `dueto explain`, and change what you like

    Exit codes: 0 answered, 2 usage or bad input.
    """
    if save is not None:
        _refuse(save)
    with console.working("fitting a decision tree"):
        data, model, about = fitted()
    with console.working("explaining a client"):
        from dueto.explain import explain

        explanation = explain(model, data, ROW, constraints=PLAF)
    if save is not None:
        _save(save, data, model)
    if as_json:
        console.say_json({**about, "row": ROW, "explanation": explanation.to_dict()})
    else:
        console.say("\n\n".join([_setting(about), str(explanation), COLUMNS, _next(save)]))


def fitted() -> tuple[pd.DataFrame, Any, dict[str, Any]]:
    """The Taiwan credit data, a decision tree fitted on four fifths of it, and what to say of both."""
    import numpy as np
    from sklearn.tree import DecisionTreeClassifier

    from dueto.datasets import load_taiwan_credit

    table = load_taiwan_credit()
    data = table.frame.drop(columns=LEFT_OUT)
    outcome = np.where(table.target, "pays", "defaults")
    held_out = np.random.default_rng(0).permutation(len(data)) < len(data) // 5
    model = DecisionTreeClassifier(max_depth=5, min_samples_leaf=200, random_state=0)
    model.fit(data[~held_out], outcome[~held_out])
    about = {
        "data": {"name": table.name, "rows": len(data), "columns": list(data), "source": table.source},
        "model": {
            "kind": type(model).__name__,
            "leaves": int(model.get_n_leaves()),
            "fitted_on": int((~held_out).sum()),
            "held_out": int(held_out.sum()),
            "accuracy": float(model.score(data[held_out], outcome[held_out])),
            "accuracy_of_all_pay": float((outcome[held_out] == "pays").mean()),
        },
    }
    return data, model, about


def _setting(about: dict[str, Any]) -> str:
    data, model = about["data"], about["model"]
    return (
        f"Data: {data['rows']:,} clients of a bank in Taiwan, {len(data['columns'])} columns "
        f"({', '.join(LEFT_OUT)} left out). Who will default?\n"
        f"  {data['source']}\n"
        f"Model: a decision tree of {model['leaves']} leaves, fitted on {model['fitted_on']:,} of them. Of the other "
        f"{model['held_out']:,}\n  it gets {model['accuracy']:.1%} right; to say that all pay would get "
        f"{model['accuracy_of_all_pay']:.1%} right.\n"
        "One of those others, refused:"
    )


def _next(folder: Path | None) -> str:
    if folder is None:
        return "Next: `dueto demo --save try` writes all this as files, to play with; or `dueto explain --help`."
    model, data, plaf = _files(folder)
    command = ["dueto", "explain", model, data, "--row", ROW, "--plaf", plaf]
    command += [part for name in TYPES for part in ("--trust-type", name)]
    return f"Next: the same from the files in {folder}, to change as you like:\n\n  {shlex.join(map(str, command))}"


def _files(folder: Path) -> tuple[Path, Path, Path]:
    return folder / "model.skops", folder / "data.csv", folder / "loan.plaf"


def _refuse(folder: Path) -> None:
    """Refuse, before any work, what could not be saved."""
    from importlib.util import find_spec

    if find_spec("skops") is None:
        raise InputError("--save needs the package skops; run: pip install skops")
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder} is a file; give a folder")
    for path in _files(folder):
        if path.exists():
            raise InputError(f"{path} is there already; give another folder, or remove it first")


def _save(folder: Path, table: pd.DataFrame, fitted_model: Any) -> None:
    from skops.io import dump

    model, data, plaf = _files(folder)
    folder.mkdir(parents=True, exist_ok=True)
    dump(fitted_model, model)
    table.to_csv(data, index=False)
    plaf.write_text(PLAF, encoding="utf-8")
