"""Sets of bins as conditions of the language."""

from __future__ import annotations

from functools import reduce
from operator import and_, or_
from typing import TYPE_CHECKING

import numpy as np

from dueto.plaf import Compare, Expr, cf

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dueto.suggest.bins import Bins


def among(bins: Bins, some: Iterable[int]) -> Expr:
    """The value of a feature is in one of these bins of it (some, not all)."""
    inside = sorted(some)
    j = int(bins.owner[inside[0]])
    outside = [p for p in bins.of[j] if p not in inside]
    if bins.space.features[j].ordered:
        here, there = _pieces(bins, j, inside), _pieces(bins, j, outside)
        negated = len(there) < len(here)
        said = reduce(or_, there if negated else here)
    else:
        negated = bool(bins.mixed[inside].any() or (len(outside) < len(inside) and not bins.mixed[outside].any()))
        said = _labels(bins, j, outside if negated else inside)
    if not negated:
        return said
    return said.left.__ne__(said.right) if isinstance(said, Compare) and said.op == "==" else ~said


def ordinary(bins: Bins, *features: int) -> Expr | None:
    """The values of these features are no special codes; None if they have none."""
    found: list[Expr] = []
    for j in features:
        present = [p for p in bins.of[j] if not np.isnan(bins.low[p])]
        if bins.special[present].any():
            found += _pieces(bins, j, [p for p in present if not bins.special[p]])
    return reduce(and_, found) if found else None


def _labels(bins: Bins, j: int, some: list[int]) -> Expr:
    feature = bins.space.features[j]
    labels = [feature.label(bins.low[p]) for p in some]
    found: Expr = cf[feature.name].isin(labels) if len(labels) > 1 else cf[feature.name] == labels[0]
    return found


def _pieces(bins: Bins, j: int, inside: list[int]) -> list[Expr]:
    """Conditions of which one must hold: for single values, for each run of neighbouring bins, for missing."""
    present = np.array([p for p in inside if not np.isnan(bins.low[p])], dtype=np.intp)
    runs = [run for run in np.split(present, np.flatnonzero(np.diff(present) > 1) + 1) if len(run)]
    ends = [(int(run[0]), int(run[-1])) for run in runs]
    single = [p for p, q in ends if bins.low[p] == bins.high[q]]
    found = [_labels(bins, j, single)] if single else []
    found += [_run(bins, j, p, q) for p, q in ends if bins.low[p] != bins.high[q]]
    return found + [cf[bins.space.names[j]].missing()] * (len(present) < len(inside))


def _run(bins: Bins, j: int, p: int, q: int) -> Expr:
    """The value is in the bins p to q, with bounds that are values; 0 beside negative codes."""
    feature, low, high, special = bins.space.features[j], bins.low, bins.high, bins.special
    ref, bounds = cf[feature.name], list[Expr]()

    def exact(one: int, below: int) -> bool:
        """Whether the end of a bin can be its bound: it is one value, or nothing lies between it and the next."""
        near = feature.labelled or (feature.kind == "integer" and low[below + 1] == high[below] + 1)
        return bool(near or low[one] == high[one])

    if p > bins.of[j].start:
        if special[p - 1] and high[p - 1] < 0 <= low[p]:
            bounds.append(ref >= 0)
        else:
            bounds.append(ref >= feature.label(low[p]) if exact(p, p - 1) else ref > feature.label(high[p - 1]))
    if q + 1 < bins.of[j].stop and not np.isnan(low[q + 1]):
        if special[q] and high[q] < 0 <= low[q + 1]:
            bounds.append(ref < 0)
        elif exact(q, q) and not special[q + 1]:
            bounds.append(ref <= feature.label(high[q]))
        else:
            bounds.append(ref < feature.label(low[q + 1]))
    return reduce(and_, bounds) if bounds else ~ref.missing()
