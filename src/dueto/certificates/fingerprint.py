"""By what a certificate knows a model again: a hash of what its decisions are computed from."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np

from dueto.models.additive import Additive
from dueto.models.ensemble import Ensemble
from dueto.packed import blocks_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import ArrayLike, NDArray

    from dueto.feature import Feature
    from dueto.models import Model
    from dueto.models.structure import Structure
    from dueto.space import FeatureSpace

__all__ = ["as_hash", "fingerprint", "known_again"]

ROWS = 64  # instances of the space whose scores stand for a black box
NEAR = 1e-6  # how far a score may be from the one written down: sums are not rounded alike on every machine

_KNOWN: WeakKeyDictionary[Model, dict[str, Any]] = WeakKeyDictionary()


def fingerprint(model: Model) -> dict[str, Any]:
    """What tells a model, with its threshold, from others; worked out once for a model.

    `of` says what is hashed: the arrays of a `tree`, those of another `structure`, or the `scores` of a black box on
    some instances of the space, which then stand beside the hash.
    """
    if model not in _KNOWN:
        _KNOWN[model] = _fingerprint(model)
    return _KNOWN[model]


def known_again(told: dict[str, Any], model: Model) -> bool:
    """Whether a model has the fingerprint told, the scores of a black box but for rounding."""
    mine = fingerprint(model)
    if told["of"] != "scores" or mine["of"] != "scores":
        return told == mine
    whole = told["sha256"] == as_hash(told["threshold"], told["scores"])
    same = told["threshold"] == mine["threshold"] and len(told["scores"]) == len(mine["scores"])
    return whole and same and bool(np.allclose(told["scores"], mine["scores"], rtol=0.0, atol=NEAR))


def _fingerprint(model: Model) -> dict[str, Any]:
    threshold = model.threshold
    if (tree := model.tree) is not None:
        arrays = (tree.left, tree.right, tree.feature, tree.threshold, tree.value, tree.missing_left)
        return {"of": "tree", "threshold": threshold, "sha256": as_hash(threshold, *arrays)}
    if (structure := model.structure) is not None:
        return {"of": "structure", "threshold": threshold, "sha256": as_hash(threshold, *_arrays(structure))}
    scores = model.check(_instances(model.space))
    return {"of": "scores", "threshold": threshold, "sha256": as_hash(threshold, scores), "scores": scores.tolist()}


def as_hash(*arrays: ArrayLike) -> str:
    """The SHA-256 of numbers: as float64, little-endian, each array after its shape; one zero, one NaN."""
    found = hashlib.sha256()
    for array in arrays:
        for i, block in enumerate(blocks_of(array)):
            numbers: NDArray[np.float64] = np.asarray(block, dtype="<f8") + 0.0
            numbers = np.ascontiguousarray(np.where(np.isnan(numbers), np.nan, numbers).astype("<f8"))
            if not i:
                found.update(repr(np.shape(array)).encode())
            found.update(numbers.tobytes())
    return found.hexdigest()


def _arrays(structure: Structure) -> Iterator[ArrayLike]:
    """All that a margin and its cut are computed from: the columns for every value, and the form's numbers."""
    yield structure.cut
    yield structure.columns.owner
    for j, feature in enumerate(structure.columns.space.features):
        yield structure.columns.of(j, _values(feature))
    form = structure.form
    if isinstance(form, Ensemble):
        inner, splits = form.split[form.split >= 0], form.splits
        yield from (form.base, form.root, form.left, form.right, form.value, splits.strict, splits.float32)
        yield from (splits.column[inner], splits.threshold[inner], splits.missing_left[inner])
        yield from () if splits.zero is None else (splits.zero[inner],)
        yield from (codes for s in inner if splits.sets and (codes := splits.sets[s]) is not None)
    elif isinstance(form, Additive):
        yield from (form.base, form.weights)
    else:
        yield from (*form.weights, *form.biases)


def _instances(space: FeatureSpace) -> NDArray[np.float64]:
    """(ROWS, n) some instances, the same on every machine and with every version of NumPy: by a multiplicative hash."""
    X = np.empty((ROWS, len(space)))
    for j, feature in enumerate(space.features):
        values = _values(feature)
        X[:, j] = values[
            [((i + 1) * 2654435761 + (j + 1) * (i + 7) * 40503) % 2**32 * len(values) >> 32 for i in range(ROWS)]
        ]
    return X


def _values(feature: Feature) -> NDArray[np.float64]:
    """The listed values of a feature, the ends of its range, and missing."""
    domain = feature.domain
    return np.concatenate([domain.values, domain.interval or (), [np.nan] if domain.missing else []])
