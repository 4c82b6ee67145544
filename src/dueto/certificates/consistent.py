"""Whether no feasible instance that satisfies the rule is desired: shown in another way than it was proved."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING

import numpy as np

from dueto.certificates.checks import Check
from dueto.certificates.grid import Undecided
from dueto.certificates.region import Region
from dueto.certificates.search import every, searched
from dueto.models.additive import Additive
from dueto.models.ensemble import Ensemble

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dueto.certificates.read import Claimed
    from dueto.models import Model

    Found = tuple[NDArray[np.float64] | None, str]  # an exception, or None and how it is known that there is none

__all__ = ["consistent"]

FEW, MANY = 20_000, 1_000_000  # instances that are all scored at once; and where nothing else decides
SEARCH = 0.25  # the part of the time that the search for an exception may take


def consistent(told: Claimed, model: Model, until: float) -> Check:
    """The check of the claim that a rule is consistent."""
    claim = "Every feasible instance that satisfies the rule is refused"
    region = Region(told.space, told.x, told.constraints, told.components)
    try:
        row, how = _settled(region, model, told.witnesses, until)
    except Undecided as problem:
        return Check(claim, None, f"It was not shown again: {problem}.")
    if row is None:
        return Check(claim, True, f"{how}.")
    labels = told.labels(row)
    shown = ", ".join(f"{name} = {'missing' if label is None else label}" for name, label in labels.items())
    score = float(model.score(row[None])[0])
    return Check(claim, False, f"This one is accepted, with the score {score:g}: {shown}.", labels)


def _settled(region: Region, model: Model, witnesses: NDArray[np.float64], until: float) -> Found:
    """By asking about all instances if they are few; else by a search for an exception, and then a proof."""
    if not region.size:
        return None, "The constraints leave none"
    if region.size <= FEW:
        return every(region, model, until)
    now = time.perf_counter()
    row, scored = searched(region, model, witnesses, now + SEARCH * (until - now), np.random.default_rng(0))
    if row is not None:
        return row, ""
    looked = f"among {scored:,} drawn or climbed to, the model accepts none"
    try:
        row, how = _by_structure(region, model, until)
    except (Undecided, RecursionError) as problem:
        if region.size <= MANY:
            return every(region, model, until)
        raise Undecided(f"{problem}; {looked}") from None
    return row, f"{how}; {looked}"


def _by_structure(region: Region, model: Model, until: float) -> Found:
    from dueto.certificates.linear import by_program
    from dueto.certificates.proofs import of_a_sum, of_a_tree

    structure = model.structure
    if structure is None:
        size = region.size
        many = f"{size:,.0f}" if size < 1e15 else f"about {size:.0e}" if math.isfinite(size) else "endless"
        raise Undecided(f"{model.unstructured}, and there are {many} instances")
    if isinstance(structure.form, Ensemble) and len(structure.form.root) == 1:
        return of_a_tree(region, model, until), "Every path of the tree that one of them can take ends in a refusal"
    if isinstance(structure.form, Additive):
        how = "The largest margin of any, added up as fractions, is no more than needed"
        return of_a_sum(region, model, until), how
    row, size_of_it = by_program(region, model, until)
    return row, f"HiGHS finds no margin that is large enough, within its tolerance ({size_of_it})"
