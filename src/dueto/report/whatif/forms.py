"""A model's structure over what a page offers: questions about numbers are answered here, none is left to the page.

A page offers a finite choice of values for each feature, and each column that the model looks at is a function of one
feature. So a split of a tree becomes a question about which choice is taken, its answers worked out by the very rules
(float32 or float64, `<` or `<=`, missing, categories) that proofs rest on; a weighted sum becomes a table of its terms.
What is left to the page is to follow answers and to add float64 numbers; rounding in another order is what the
structure's slack allows for.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from dueto.models.additive import Additive
from dueto.models.ensemble import Ensemble
from dueto.models.importers import base, sklearn_linear, sklearn_trees
from dueto.report.whatif import packed
from dueto.report.whatif.trees import Pruned

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from dueto.models.network import Network
    from dueto.models.structure import Structure
    from dueto.report.whatif.controls import Control

__all__ = ["form_of"]

DYADIC = 2.0**30  # leaves that are whole multiples of 1 / DYADIC add up without rounding


def form_of(structure: Structure, controls: Sequence[Control], *, room: int) -> dict[str, Any] | None:
    """The structure restricted to the controls' values, as plain data; None if that takes more than `room` characters.

    Returns
    -------
    dict
        `kind` ("trees", "sum" or "network") with its parts; `cut` and `slack`; `link`, how a margin becomes a score;
        and `exact`, whether the score is the model's to the last bit. `idle` are the controls that make no difference.
    """
    form = structure.form
    if isinstance(form, Ensemble):
        found = _trees(structure, form, controls, room)
    elif isinstance(form, Additive):
        found = _sum(structure, form, controls)
    else:
        found = _network(structure, form, controls)
    if found is None:
        return None
    link, exact = _link(structure)
    return found | {"cut": structure.cut, "slack": structure.slack, "link": link, "exact": exact}


def _link(structure: Structure) -> tuple[list[Any] | None, bool]:
    """How a margin becomes a score, by name; and whether that is the model's own arithmetic, with nothing rounded."""
    link = structure.link
    inner, number = (link.func, link.args[0]) if isinstance(link, partial) else (link, 1)
    names = {
        base.logistic: "logistic",
        sklearn_trees.share: "share",
        sklearn_linear.clipped: "clipped",
        np.asarray: "share",
    }
    name = names.get(inner)  # type: ignore[arg-type]
    exact = False
    if name == "share" and isinstance(structure.form, Ensemble):
        value = structure.form.value
        dyadic = structure.form.base == 0.0 and bool((value * DYADIC == np.round(value * DYADIC)).all())
        exact = structure.slack == 0.0 or (inner is sklearn_trees.share and dyadic)
    return (None if name is None else [name, number]), exact


def columns_of(structure: Structure, control: Control) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """The columns that depend on a control, and (k, that many) what they are for each of its values."""
    columns = structure.columns
    places = [columns.places[j] for j in control.members]
    parts = [columns.of(j, control.of(j)) for j in control.members]
    return np.concatenate(places), np.hstack(parts)


def _trees(structure: Structure, form: Ensemble, controls: Sequence[Control], room: int) -> dict[str, Any] | None:
    pruned = Pruned(form, len(controls))
    for u, control in enumerate(controls):
        for column, z in zip(*(part.T for part in columns_of(structure, control)), strict=True):
            which = form.by_column.get(int(column))
            if which is not None:
                pruned.answer(u, which, form.splits.left(which, z))
    return pruned.exported([len(control) for control in controls], room)


def _sum(structure: Structure, form: Additive, controls: Sequence[Control]) -> dict[str, Any]:
    terms = []
    for control in controls:
        places, Z = columns_of(structure, control)
        terms.append(Z @ form.weights[places])
    idle = [u for u, term in enumerate(terms) if np.ptp(term) == 0.0]
    return {"kind": "sum", "base": form.base, "terms": list(map(packed.floats, terms)), "idle": idle}


def _network(structure: Structure, form: Network, controls: Sequence[Control]) -> dict[str, Any]:
    """The first layer as a table of what each value adds to it, or as its columns and weights, whichever is shorter."""
    first, bias = form.weights[0], form.biases[0].copy()
    inputs: list[dict[str, str] | None] = []
    for control in controls:
        places, Z = columns_of(structure, control)
        W = first[places]
        if not (np.ptp(Z, axis=0) * np.abs(W).sum(axis=1)).any():
            bias += Z[0] @ W
            inputs.append(None)
        elif Z.shape[1] >= W.shape[1] or len(control) * W.shape[1] <= Z.size + W.size:
            inputs.append({"adds": packed.floats(Z @ W)})
        else:
            inputs.append({"columns": packed.floats(Z), "weights": packed.floats(W)})
    layers = [
        {"weights": packed.floats(W.T), "biases": packed.floats(b)}  # of each output, what its inputs weigh
        for W, b in zip(form.weights[1:], form.biases[1:], strict=True)
    ]
    idle = [u for u, given in enumerate(inputs) if given is None]
    return {"kind": "network", "inputs": inputs, "biases": packed.floats(bias), "layers": layers, "idle": idle}
