"""A region as finitely many values a part, seen as a model's columns: what the proofs by structure go through."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from dueto.models.ensemble import ZERO, Ensemble

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from dueto.certificates.region import Part, Region
    from dueto.models.structure import Structure

__all__ = ["Grid", "Undecided"]


class Undecided(Exception):
    """A proof that is not to be had, with the reason as a clause."""


@dataclass(frozen=True, eq=False)
class Grid:
    """Parts of a region, ranges replaced by values that stand for all of them, and what a structure is given of each.

    An ensemble is the same between two neighbouring values of a range; of other forms, the two ends stand for it.
    """

    region: Region
    structure: Structure
    parts: tuple[Part, ...]

    @classmethod
    def of(cls, region: Region, structure: Structure, parts: Sequence[Part]) -> Grid:
        """The grid of some parts of a region."""
        return cls(region, structure, tuple(_cut(structure, part) for part in parts))

    @cached_property
    def owner(self) -> dict[int, int]:
        """For each feature, the part that it is in."""
        return {j: p for p, part in enumerate(self.parts) for j in part.members}

    @cached_property
    def columns(self) -> tuple[dict[int, NDArray[np.float64]], ...]:
        """For each part, the columns that its features give: their number, and what they are for each of its values."""
        found: list[dict[int, NDArray[np.float64]]] = []
        for part in self.parts:
            mine: dict[int, NDArray[np.float64]] = {}
            for i, j in enumerate(part.members):
                distinct, which = np.unique(part.values[:, i], return_inverse=True)
                Z = self.structure.columns.of(j, distinct)
                mine |= {int(c): Z[which.ravel(), k] for k, c in enumerate(self.structure.columns.places[j])}
            found.append(mine)
        return tuple(found)

    def row(self, picks: Sequence[int]) -> NDArray[np.float64]:
        """(1, n) the encoded row of one value a part."""
        Y = self.region.x[None].copy()
        for part, pick in zip(self.parts, picks, strict=True):
            Y[0, part.members] = part.values[pick]
        return Y


def _cut(structure: Structure, part: Part) -> Part:
    if part.span is None:
        return part
    j, form = part.members[0], structure.form
    places = structure.columns.places[j]
    by_codes = isinstance(form, Ensemble) and form.splits.by_codes(places)
    if by_codes or not structure.columns.monotone[places].all():
        name = structure.columns.space.names[j]
        raise Undecided(f"the model does not see the range of {name} as a number that rises with it")
    changes = [_changes(structure, form, j, k, part) for k in range(len(places))] if isinstance(form, Ensemble) else []
    values = np.unique(np.concatenate([part.span, *changes]))[:, None]
    return replace(part, values=np.vstack([values, part.values]), span=None)


def _changes(structure: Structure, form: Ensemble, j: int, k: int, part: Part) -> NDArray[np.float64]:
    """The first numbers of a range at which some split on the feature's k-th column goes another way than just below.

    The column rises or falls all along, so that it passes each threshold once at most, and either end of what LightGBM
    takes for zero.
    """
    assert part.span is not None
    low, high = part.span
    splits = replace(form.splits, zero=None)
    on_column = np.flatnonzero(splits.column == structure.columns.places[j][k])

    def passed(values: NDArray[np.float64]) -> NDArray[np.bool_]:
        z = structure.columns.of(j, values)[:, k]
        zero = [] if form.splits.zero is None else [z < -ZERO, z <= ZERO]
        return np.vstack([splits.left(on_column, z), *zero])

    ends = passed(np.array([low, high]))
    turning = np.flatnonzero(ends[:, 0] != ends[:, 1])
    a, b = np.full(len(turning), low), np.full(len(turning), high)
    while len(turning):
        middle = np.floor(a + (b - a) / 2) if part.integer else a + (b - a) / 2
        between = (middle > a) & (middle < b)
        if not between.any():
            break
        same = passed(middle)[turning, np.arange(len(turning))] == ends[turning, 0]
        a, b = np.where(between & same, middle, a), np.where(between & ~same, middle, b)
    return b
