"""Many rules at once: each a row of flags, one for each component."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dueto.rule import to_sets

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    Flags = NDArray[np.bool_]

__all__ = ["bit_maps", "packed", "unpacked"]


def packed(has: Flags) -> list[int]:
    """Rows of flags as bit sets."""
    return to_sets(bit_maps(has))


def unpacked(rules: Iterable[int], n: int) -> Flags:
    """(N, n) bit sets as rows of flags."""
    rules, width = list(rules), -(-n // 8)
    flat = np.frombuffer(b"".join(rule.to_bytes(width, "little") for rule in rules), dtype=np.uint8)
    return np.unpackbits(flat.reshape(len(rules), width), axis=1, count=n, bitorder="little").astype(bool)


def bit_maps(rows: Flags) -> NDArray[np.uint64]:
    """Rows of flags as bit maps, 64 to a word."""
    flags = np.packbits(rows, axis=1, bitorder="little")
    found = np.zeros((len(rows), 8 * max(1, -(-rows.shape[1] // 64))), dtype=np.uint8)
    found[:, : flags.shape[1]] = flags
    return found.view("<u8")
