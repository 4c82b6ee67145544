"""Proofs by a model's structure that no instance of a region is desired: of one tree, and of a sum over features."""

from __future__ import annotations

import time
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from dueto.certificates.grid import Grid, Undecided
from dueto.models.additive import Additive
from dueto.models.ensemble import Ensemble

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from dueto.certificates.region import Region
    from dueto.models import Model

__all__ = ["of_a_sum", "of_a_tree"]

SETTLED = 100_000  # rows near the cut that the model is asked about


def of_a_tree(region: Region, model: Model, until: float) -> NDArray[np.float64] | None:
    """Walk down every path that some instance can take; an exception, or None if there is none.

    Raises
    ------
    Undecided
        If time is up, or a constraint that could not be listed decides.
    """
    structure = model.structure
    assert structure is not None
    form, columns = structure.form, structure.columns
    assert isinstance(form, Ensemble)
    grid = Grid.of(region, structure, region.joined)
    stack = [(int(form.root[0]), [np.arange(len(part.values)) for part in grid.parts])]
    while stack:
        node, sets = stack.pop()
        if time.perf_counter() > until:
            raise Undecided("time was up before every path of the tree was walked")
        if form.left[node] < 0:
            if form.base + form.value[node] >= structure.cut - structure.slack:
                row = grid.row([int(s[0]) for s in sets])
                if model.score(row)[0] > model.threshold:
                    return _confirmed(region, row)
            continue
        split = int(form.split[node])
        column = int(form.splits.column[split])
        p = grid.owner[int(columns.owner[column])]
        goes = form.splits.left(np.array([split]), grid.columns[p][column][sets[p]])[0]
        for child, side in ((form.left[node], goes), (form.right[node], ~goes)):
            if side.any():
                stack.append((int(child), [*sets[:p], sets[p][side], *sets[p + 1 :]]))
    return None


def of_a_sum(region: Region, model: Model, until: float) -> NDArray[np.float64] | None:
    """The largest margin, each part's best value added up as fractions; an exception, or None if there is none.

    Raises
    ------
    Undecided
        If more rows lie near the cut than can be asked about, or a constraint that could not be listed decides.
    """
    structure = model.structure
    assert structure is not None
    form = structure.form
    assert isinstance(form, Additive)
    grid = Grid.of(region, structure, region.joined)
    shares, exact = [], Fraction(form.base)
    for part, columns in zip(region.joined, grid.columns, strict=True):
        terms = [form.weights[c] * z for c, z in columns.items()]
        share = np.sum(terms, axis=0) if terms else np.zeros(1)
        if not np.isfinite(share).all():
            raise Undecided("a missing value reaches the sum")
        near = share >= share.max() - 1e-9 * (1.0 + np.sum(np.abs(terms), axis=0).max(initial=0.0))
        weights = [Fraction(form.weights[c]) for c in columns]
        rows = np.unique(np.column_stack([z[near] for z in columns.values()]), axis=0).tolist() if columns else [[]]
        if part.span is not None:  # each column by itself, at the better end for it
            rows.append([z[np.argmax(form.weights[c] * z)] for c, z in columns.items()])
        exact += max(sum((w * Fraction(v) for w, v in zip(weights, row, strict=True)), Fraction(0)) for row in rows)
        shares.append(share)
    low = Fraction(structure.cut) - Fraction(structure.slack)
    if exact <= low:
        return None
    room = float(exact - low)
    for asked, picks in enumerate(_within(shares, room + 1e-9 * (1.0 + abs(room)))):
        if asked >= SETTLED or time.perf_counter() > until:
            raise Undecided(f"the largest margin is too near the cut: {asked:,} rows near it did not settle it")
        row = grid.row(picks)
        if model.score(row)[0] > model.threshold:
            return _confirmed(region, row)
    if any(part.span is not None for part in region.joined):
        raise Undecided("the largest margin over the ranges is too near the cut")
    return None


def _within(shares: list[NDArray[np.float64]], room: float) -> Iterator[list[int]]:
    """One value a part, in every way that costs at most so much in all against the best."""
    costs = [share.max() - share for share in shares]
    order = [np.argsort(cost, kind="stable") for cost in costs]

    def further(p: int, left: float) -> Iterator[list[int]]:
        if p == len(costs):
            yield []
            return
        for i in order[p]:
            if costs[p][i] > left:
                return
            for rest in further(p + 1, left - costs[p][i]):
                yield [int(i), *rest]

    return further(0, room)


def _confirmed(region: Region, row: NDArray[np.float64]) -> NDArray[np.float64]:
    """A desired row as an exception, if it is feasible too."""
    if not region.contains(row)[0]:
        raise Undecided("a constraint on ranges, or on too many joint values, decides")
    found: NDArray[np.float64] = row[0]
    return found
