"""Proofs by mixed-integer programs that no instance of a region is desired: of ensembles of trees, and of networks.

A part chooses one class of its values, which neither the model nor a constraint tells apart. Of an ensemble, each tree
chooses one leaf, on the side of each split that the classes chosen say [1]_. Of a network, each ReLU is a switch
between its two sides, within the bounds that intervals give.

.. [1] Mišić, "Optimization of tree ensembles", Operations Research 68(5), 2020.
"""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING

import numpy as np

from dueto.certificates.grid import Grid, Undecided
from dueto.certificates.program import Choice, Program, Sum, total
from dueto.models.ensemble import Ensemble
from dueto.models.network import Network

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dueto.certificates.region import Region
    from dueto.models import Model
    from dueto.models.structure import Structure
    from dueto.plaf import Bound

__all__ = ["TOLERANCE", "by_program"]

TOLERANCE = 1e-6  # within which HiGHS keeps a row: so much room is given to the margin besides
BLOCK = 1 << 22  # pairs of a value and a split looked at together
JOINT, CUTS = 1 << 22, 20_000  # joint values and rows of one constraint between parts
CLASSES, LEAVES = 20_000, 60_000  # in all
EXACT = 1e-9  # slack of a sum in float64
LATTICE = 2.0**20  # leaf values that are multiples of its inverse add up exactly


def by_program(region: Region, model: Model, until: float) -> tuple[NDArray[np.float64] | None, str]:
    """An exception, or None if HiGHS finds that there is none, and what it was asked.

    Raises
    ------
    Undecided
        If time is up, the program would be too large, or rounding or a constraint that it leaves out decides.
    """
    structure = model.structure
    assert structure is not None
    form, program = structure.form, Program()
    grid = Grid.of(region, structure, region.parts)
    classes = _classes(grid, program)
    if isinstance(form, Ensemble):
        margin, leaves = _ensemble(grid, form, program, classes, until)
        scale = max(1.0, abs(structure.cut), float(np.abs(form.value).max()))
    else:
        assert isinstance(form, Network)
        margin, leaves = _network(grid, form, program, classes), []
        scale = max(1.0, abs(structure.cut))
    program.row(margin, low=_enough(structure, scale, model.threshold))
    size = str(program)
    while (now := time.perf_counter()) < until:
        point = program.maximise(margin, until - now)
        if point is None:
            return None, size
        row = grid.row([c.chosen(point) for c in classes])
        feasible = bool(region.contains(row)[0])
        if feasible and model.score(row)[0] > model.threshold:
            return row[0], size
        near = abs(float(structure.margin(row)[0]) - structure.cut) <= scale * 1e-3
        if not (feasible and near and isinstance(form, Ensemble)):
            raise Undecided(f"rounding, or a constraint that the program leaves out, decides ({size})")
        reached = [tree[int(np.argmax(point[tree]))] for tree in leaves]  # these leaves together are refused
        program.row(Sum(dict.fromkeys(reached, 1.0)), high=len(reached) - 1.0)
    raise Undecided(f"time was up before all margins near the cut were looked at ({size})")


def _classes(grid: Grid, program: Program) -> list[Choice]:
    """For each part, a choice among its classes, by where the first value of each stands."""
    tables = [table for constraint in grid.region.crossing if (table := _table(grid, constraint)) is not None]
    found: list[Choice] = []
    for p, part in enumerate(grid.parts):
        told_apart = [_behaviour(grid, p)]
        for owners, allowed in tables:
            if p in owners:
                slices = np.moveaxis(allowed, owners.index(p), 0).reshape(len(part.values), -1)
                told_apart.append(np.packbits(slices, axis=1))
        rows = np.ascontiguousarray(np.hstack(told_apart))
        found.append(program.choice(np.unique(rows.view(f"V{rows.shape[1]}"), return_index=True)[1]))
    if sum(len(c.things) for c in found) > CLASSES:
        raise Undecided("the features have too many values that the model tells apart")
    for owners, allowed in tables:
        _keep_to(program, [found[p] for p in owners], allowed)
    return found


def _behaviour(grid: Grid, p: int) -> NDArray[np.uint8]:
    """(K, bytes) what the model can tell apart of a part's values: the sides of its splits, or its columns."""
    form, K = grid.structure.form, len(grid.parts[p].values)
    parts = [np.zeros((K, 1), dtype=np.uint8)]
    for c, z in grid.columns[p].items():
        if not isinstance(form, Ensemble):
            parts.append(np.ascontiguousarray(z[:, None] + 0.0).view(np.uint8))
            continue
        splits = np.flatnonzero(form.splits.column == c)
        step = max(1, BLOCK // max(1, len(splits)))
        sides = [np.packbits(form.splits.left(splits, z[i : i + step]).T, axis=1) for i in range(0, K, step)]
        parts.append(np.vstack(sides))
    return np.hstack(parts)


def _table(grid: Grid, constraint: Bound) -> tuple[list[int], NDArray[np.bool_]] | None:
    """The parts that a constraint is on, and which of their joint values it allows; None if they are too many."""
    owners = sorted({grid.owner[j] for j in constraint.features})
    shape = [len(grid.parts[p].values) for p in owners]
    if math.prod(shape) > JOINT:
        return None
    views = {}
    for axis, p in enumerate(owners):
        for i, j in enumerate(grid.parts[p].members):
            views[j] = grid.parts[p].values[:, i].reshape([-1 if a == axis else 1 for a in range(len(owners))])
    return owners, np.broadcast_to(constraint(views.__getitem__, grid.region.x), shape)


def _keep_to(program: Program, tied: list[Choice], allowed: NDArray[np.bool_]) -> None:
    """For each choice of all parts but the last, the last may only be what the constraint allows with it."""
    *others, last = tied
    allowed = allowed[np.ix_(*(c.things for c in tied))]
    if math.prod(allowed.shape[:-1]) > CUTS:
        return
    for picks in zip(*np.nonzero(~allowed.all(axis=-1)), strict=True):
        taken = total(c.share(np.arange(len(c.things)) == k) for c, k in zip(others, picks, strict=True))
        program.row(last.share(allowed[picks]) - taken, low=1.0 - len(others))


# -- ensembles --------------------------------------------------------------------------------------------------------


def _ensemble(
    grid: Grid, form: Ensemble, program: Program, classes: list[Choice], until: float
) -> tuple[Sum, list[list[int]]]:
    """The margin, and for each tree that is not settled the variables of its leaves."""
    owner = grid.structure.columns.owner
    sides: dict[int, tuple[int, NDArray[np.bool_]]] = {}  # of a split: whose it is, and which classes go left
    for p, given in enumerate(grid.columns):
        for c, z in given.items():
            splits = np.flatnonzero(form.splits.column == c)
            lefts = form.splits.left(splits, z[classes[p].things])
            sides |= {s: (grid.owner[int(owner[c])], left) for s, left in zip(splits.tolist(), lefts, strict=True)}

    def grown(node: int, open_: list[NDArray[np.bool_]], values: dict[int, float]) -> dict[int, float]:
        """The variables of the leaves below a node that are within reach; a row made for each split on the way."""
        if form.left[node] < 0:
            leaf = program.variable()
            values[leaf] = float(form.value[node])
            return {leaf: 1.0}
        p, left = sides[int(form.split[node])]
        below: list[dict[int, float]] = []
        for child, side in ((form.left[node], open_[p] & left), (form.right[node], open_[p] & ~left)):
            below.append(grown(int(child), [*open_[:p], side, *open_[p + 1 :]], values) if side.any() else {})
        if all(below):
            goes_left = classes[p].share(left)
            program.row(goes_left - Sum(below[0]), low=0.0)
            program.row(goes_left + Sum(below[1]), high=1.0)
        return below[0] | below[1]

    margin, leaves, spent = [Sum({}, form.base)], [], 0
    for root in form.root:
        values: dict[int, float] = {}
        within = grown(int(root), [np.ones(len(c.things), dtype=bool) for c in classes], values)
        spent += len(values)
        if spent > LEAVES or time.perf_counter() > until:
            raise Undecided(f"the ensemble has more than {spent:,} leaves within reach, which is too many")
        program.row(Sum(within), low=1.0, high=1.0)
        margin.append(Sum(values))
        if len(values) > 1:
            leaves.append(list(values))
    return total(margin), leaves


def _enough(structure: Structure, scale: float, threshold: float) -> float:
    """The margin from which on a row may be desired, with room for rounding; past a tie, where all sums are exact."""
    low = structure.cut - structure.slack - TOLERANCE * scale
    if not isinstance(structure.form, Ensemble) or structure.slack > EXACT:
        return low
    values = np.append(structure.form.value[structure.form.left < 0], structure.form.base) * LATTICE
    at = np.array([structure.cut, threshold]) * LATTICE
    if (values != np.round(values)).any() or (at != np.round(at)).any() or np.abs(values).max() > 2.0**40:
        return low
    step = math.gcd(*map(int, np.unique(values).tolist())) / LATTICE
    if not step:
        return low
    below = math.floor(structure.cut / step) * step  # the largest sum that is not above the cut
    room = (below + step - structure.cut) / 2
    return max(low, structure.cut + room) if room >= TOLERANCE * scale else low


# -- networks ---------------------------------------------------------------------------------------------------------


def _network(grid: Grid, form: Network, program: Program, classes: list[Choice]) -> Sum:
    n = len(grid.structure.columns)
    inputs, low, high = [Sum({}) for _ in range(n)], np.zeros(n), np.zeros(n)
    for p, (part, mine) in enumerate(zip(grid.region.parts, grid.columns, strict=True)):
        for c, z in mine.items():
            if not np.isfinite(z).all():
                raise Undecided("a missing value reaches the network")
            low[c], high[c] = z.min(), z.max()
            if part.span is None:
                inputs[c] = classes[p].share(z[classes[p].things])
            else:  # anything between the ends
                inputs[c] = Sum({program.variable(low[c], high[c]): 1.0})
    for W, b in zip(form.weights, form.biases, strict=True):
        up, down = np.maximum(W, 0.0), np.minimum(W, 0.0)
        least, most = low @ up + high @ down + b, high @ up + low @ down + b
        before = [
            total([*map(Sum.__mul__, inputs, w), Sum({}, k)]) for w, k in zip(W.T.tolist(), b.tolist(), strict=True)
        ]
        if W is not form.weights[-1]:
            inputs = [_relu(program, *given) for given in zip(before, least.tolist(), most.tolist(), strict=True)]
            low, high = np.maximum(least, 0.0), np.maximum(most, 0.0)
    return before[0]


def _relu(program: Program, before: Sum, least: float, most: float) -> Sum:
    """max(0, before), which lies between least and most."""
    if most <= 0:
        return Sum({})
    after = Sum({program.variable(0.0, most): 1.0})
    if least >= 0:
        program.row(after - before, low=0.0, high=0.0)
        return after
    on = Sum({program.variable(whole=True): 1.0})
    program.row(after - before, low=0.0)
    program.row(after - before - on * least, high=-least)
    program.row(after - on * most, high=0.0)
    return after
