"""Proofs by mixed-integer programs that no instance of a region is desired: of ensembles of trees, and of networks.

A part chooses one class of its values, which neither the model nor a constraint tells apart. Of an ensemble, each tree
chooses one leaf, on the side of each split that the classes chosen say [1]_. Of a network, each ReLU is a switch
between its two sides, within the bounds that intervals give.

.. [1] Mišić, "Optimization of tree ensembles", Operations Research 68(5), 2020.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
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
    grid = Grid.of(region, structure, region.parts)
    program = Program()
    choices = _choices(grid, program, region.crossing(region.parts))
    form = structure.form
    if isinstance(form, Ensemble):
        margin, leaves = _ensemble(grid, form, program, choices, until)
    else:
        assert isinstance(form, Network)
        margin, leaves = _network(grid, form, program, choices), []
    scale = max(1.0, abs(structure.cut), float(np.abs(form.value).max()) if isinstance(form, Ensemble) else 1.0)
    program.row(margin, low=_enough(grid, scale, model.threshold))
    told = f"{len(program.low):,} variables, {len(program.rows):,} rows"
    while True:
        outcome = program.maximise(margin, until - time.perf_counter())
        if outcome.none:
            return None, told
        if outcome.point is None:
            bound = f", and the margin may still reach {outcome.bound:.6g}" if np.isfinite(outcome.bound) else ""
            raise Undecided(f"HiGHS did not come to an end within the time ({told}{bound})")
        row = grid.row([c.reps[c.choice.chosen(outcome.point)] for c in choices])
        feasible = bool(region.contains(row)[0])
        if feasible and model.score(row)[0] > model.threshold:
            return row[0], told
        if (
            not feasible
            or isinstance(form, Network)
            or abs(float(structure.margin(row)[0]) - structure.cut) > scale * 1e-3
        ):
            raise Undecided(f"rounding, or a constraint that the program leaves out, decides ({told})")
        reached = [tree[int(np.argmax(outcome.point[tree]))] for tree in leaves]  # these leaves together are refused
        program.row(Sum(dict.fromkeys(reached, 1.0)), high=len(reached) - 1.0)


@dataclass(frozen=True, eq=False)
class _Class:
    """The classes of one part: the choice among them, a value that stands for each, and the class of each value."""

    choice: Choice
    reps: list[int]
    of: NDArray[np.intp]


def _choices(grid: Grid, program: Program, crossing: list[Bound]) -> list[_Class]:
    tables = [table for constraint in crossing if (table := _table(grid, constraint)) is not None]
    found: list[_Class] = []
    for p in range(len(grid.parts)):
        key = [_behaviour(grid, p)]
        for owners, allowed in tables:
            if p in owners:
                slices = np.moveaxis(allowed, owners.index(p), 0).reshape(len(grid.parts[p].values), -1)
                key.append(np.packbits(slices, axis=1))
        rows = np.ascontiguousarray(np.hstack(key))
        _, first, of = np.unique(rows.view(f"V{rows.shape[1]}").ravel(), return_index=True, return_inverse=True)
        order = np.argsort(first)
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order))
        found.append(_Class(program.choice(len(first)), first[order].tolist(), rank[of.ravel()]))
    if sum(len(c.reps) for c in found) > CLASSES:
        raise Undecided("the features have too many values that the model tells apart")
    for owners, allowed in tables:
        _keep_to(program, [found[p] for p in owners], allowed, grid)
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
        grid.region.loose = True
        return None
    views = {}
    for axis, p in enumerate(owners):
        for i, j in enumerate(grid.parts[p].members):
            views[j] = grid.parts[p].values[:, i].reshape([-1 if a == axis else 1 for a in range(len(owners))])
    return owners, np.broadcast_to(constraint(views.__getitem__, grid.region.x), shape)


def _keep_to(program: Program, tied: list[_Class], allowed: NDArray[np.bool_], grid: Grid) -> None:
    """For each choice of all parts but the last, the last may only be what the constraint allows with it."""
    *others, last = tied
    allowed = allowed[np.ix_(*(c.reps for c in tied))]
    if math.prod(allowed.shape[:-1]) > CUTS:
        grid.region.loose = True
        return
    for combination in np.ndindex(*allowed.shape[:-1]):
        if allowed[combination].all():
            continue
        taken = total(c.choice.share(np.arange(len(c.reps)) == k) for c, k in zip(others, combination, strict=True))
        program.row(last.choice.share(allowed[combination]) - taken, low=1.0 - len(others))


# -- ensembles --------------------------------------------------------------------------------------------------------


def _ensemble(
    grid: Grid, form: Ensemble, program: Program, choices: list[_Class], until: float
) -> tuple[Sum, list[list[int]]]:
    """The margin, and for each tree that is not settled the variables of its leaves."""
    columns = grid.structure.columns
    sides: dict[int, NDArray[np.bool_]] = {}
    for p, given in enumerate(grid.columns):
        for c, z in given.items():
            splits = np.flatnonzero(form.splits.column == c)
            sides |= dict(zip(splits.tolist(), form.splits.left(splits, z[choices[p].reps]), strict=True))
    shares: dict[int, Sum] = {}
    everything = [np.ones(len(c.reps), dtype=bool) for c in choices]
    constant, margin, leaves, spent = form.base, [], list[list[int]](), 0
    for root in form.root:
        mine: list[tuple[int, int]] = []  # a leaf's node, and its variable

        def grown(node: int, open_: list[NDArray[np.bool_]], mine: list[tuple[int, int]] = mine) -> list[int]:
            """The variables of the leaves below a node that are within reach, a row made for each split on the way."""
            if form.left[node] < 0:
                variable = next(iter(program.variable().terms))
                mine.append((node, variable))
                return [variable]
            s = int(form.split[node])
            p = grid.owner[int(columns.owner[form.splits.column[s]])]
            goes, below = sides[s], []
            for child, side in ((form.left[node], open_[p] & goes), (form.right[node], open_[p] & ~goes)):
                below.append(grown(int(child), [*open_[:p], side, *open_[p + 1 :]]) if side.any() else [])
            if all(below):
                if s not in shares:
                    shares[s] = choices[p].choice.share(goes)
                program.row(shares[s] - Sum(dict.fromkeys(below[0], 1.0)), low=0.0)
                program.row(shares[s] + Sum(dict.fromkeys(below[1], 1.0)), high=1.0)
            return below[0] + below[1]

        variables = grown(int(root), everything)
        spent += len(variables)
        if spent > LEAVES or time.perf_counter() > until:
            raise Undecided(f"the ensemble has more than {spent:,} leaves within reach, which is too many")
        program.row(Sum(dict.fromkeys(variables, 1.0)), low=1.0, high=1.0)
        margin.append(Sum({variable: float(form.value[node]) for node, variable in mine}))
        if len(variables) > 1:
            leaves.append(variables)
    return total([*margin, Sum({}, constant)]), leaves


def _enough(grid: Grid, scale: float, threshold: float) -> float:
    """The margin from which on a row may be desired, with room for rounding; past a tie, where all sums are exact."""
    structure = grid.structure
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


def _network(grid: Grid, form: Network, program: Program, choices: list[_Class]) -> Sum:
    n = len(grid.structure.columns)
    inputs, low, high = [Sum({}) for _ in range(n)], np.zeros(n), np.zeros(n)
    for p, (part, mine) in enumerate(zip(grid.region.parts, grid.columns, strict=True)):
        for c, z in mine.items():
            if not np.isfinite(z).all():
                raise Undecided("a missing value reaches the network")
            low[c], high[c] = z.min(), z.max()
            if part.span is None:
                inputs[c] = choices[p].choice.share(z[choices[p].reps])
            else:  # anything between the ends
                inputs[c] = program.variable(low[c], high[c])
    for W, b in zip(form.weights[:-1], form.biases[:-1], strict=True):
        up, down = np.maximum(W, 0.0), np.minimum(W, 0.0)
        least, most = low @ up + high @ down + b, high @ up + low @ down + b
        outputs = []
        for k in range(W.shape[1]):
            before = total([*(s * float(w) for s, w in zip(inputs, W[:, k], strict=True)), Sum({}, float(b[k]))])
            outputs.append(_relu(program, before, float(least[k]), float(most[k])))
        inputs, low, high = outputs, np.maximum(least, 0.0), np.maximum(most, 0.0)
    last = zip(inputs, form.weights[-1][:, 0], strict=True)
    return total([*(s * float(w) for s, w in last), Sum({}, float(form.biases[-1][0]))])


def _relu(program: Program, before: Sum, least: float, most: float) -> Sum:
    """max(0, before), which lies between least and most."""
    if most <= 0:
        return Sum({})
    after = program.variable(0.0, most)
    if least >= 0:
        program.row(after - before, low=0.0, high=0.0)
        return after
    on = program.variable(whole=True)
    program.row(after - before, low=0.0)
    program.row(after - before - on * least, high=-least)
    program.row(after - on * most, high=0.0)
    return after
