"""Where randomness comes from: a generator that the caller gives, or a seed."""

from __future__ import annotations

from typing import Any

import numpy as np

from dueto.errors import InputError

__all__ = ["as_seed", "generator"]


def as_seed(rng: Any) -> int | None:
    """The number that draws were made by, if one was given."""
    return int(rng) if isinstance(rng, int | np.integer) else None


def generator(rng: np.random.Generator | int | None) -> np.random.Generator:
    """The generator that a caller means; None is one that nobody can repeat.

    Raises
    ------
    InputError, TypeError
        If `rng` is neither a generator nor a seed.
    """
    try:
        return np.random.default_rng(rng)
    except (TypeError, ValueError) as problem:
        kind = TypeError if isinstance(problem, TypeError) else InputError
        raise kind(f"rng must be a Generator or a seed, a whole number from 0, got {rng!r}") from None
