"""Trees cut down to what a page can reach: questions that all its choices answer alike are gone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dueto.report.whatif import packed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from dueto.models.ensemble import Ensemble

__all__ = ["Pruned"]

SHORTEST = 4  # characters that a node takes, at least


class Pruned:
    """An ensemble whose splits ask which choice of a control is taken.

    Answers are kept as bits, one a choice: 1 goes left.

    Parameters
    ----------
    form : Ensemble
    controls : int
        How many controls there are.
    """

    def __init__(self, form: Ensemble, controls: int) -> None:
        self.form = form
        self.controls = controls
        self.control = [-1] * len(form.splits)
        self.left = [0] * len(form.splits)

    def answer(self, control: int, which: NDArray[np.intp], left: NDArray[np.bool_]) -> None:
        """Say what some splits, (S,), answer to each choice of a control, (S, k)."""
        for split, bits in zip(which.tolist(), np.packbits(left, axis=1, bitorder="little"), strict=True):
            self.control[split] = control
            self.left[split] = int.from_bytes(bits.tobytes(), "little")

    def exported(self, choices: Sequence[int], room: int) -> dict[str, Any] | None:
        """Plain data: nodes, leaves' values and questions; None if they take more than `room` characters.

        `nodes` has each tree's nodes before their children, left before right: a question's number and how far on
        its right child is, or -1 - v at a leaf of the v-th value. A question is its control, and then the choices at
        which its answer turns: it is left up to the first.
        """
        self.nodes: list[int] = []
        self.values: dict[float, int] = {}
        self.questions: dict[tuple[int, int], int] = {}
        self.open = [(1 << k) - 1 for k in choices]
        roots, base = [], self.form.base
        for root in self.form.root.tolist():
            start = len(self.nodes)
            try:
                self._grow(root)
            except RecursionError:  # a tree that is a thousand questions deep
                return None
            if len(self.nodes) == start + 1:
                base += list(self.values)[~self.nodes.pop()]
            else:
                roots.append(start)
            if SHORTEST * len(self.nodes) > room:
                return None
        asked = [packed.whole([u, *_turns(left, choices[u])]) for u, left in self.questions]
        found = {
            "kind": "trees",
            "base": base,
            "roots": packed.whole(roots),
            "nodes": packed.whole(self.nodes),
            "values": packed.floats(list(self.values)),
            "questions": ";".join(asked),
            "idle": sorted(set(range(len(choices))) - {u for u, _ in self.questions}),
        }
        return found if sum(len(part) for part in found.values() if isinstance(part, str)) <= room else None

    def _grow(self, node: int) -> None:
        """Write down the part of a tree below a node that the choices still open can reach."""
        form = self.form
        while (split := int(form.split[node])) >= 0:
            u, left = self.control[split], self.left[split]
            here = self.open[u]
            if not here & ~left:
                node = int(form.left[node])
            elif not here & left:
                node = int(form.right[node])
            else:
                break
        else:
            self.nodes.append(~self.values.setdefault(float(form.value[node]), len(self.values)))
            return
        start = len(self.nodes)
        question = self.questions.setdefault((u, left), len(self.questions))
        self.nodes += [question, 0]
        self.open[u] = here & left
        self._grow(int(form.left[node]))
        middle = len(self.nodes)
        self.open[u] = here & ~left
        self._grow(int(form.right[node]))
        self.open[u] = here
        if len(self.nodes) == middle + 1 == start + 4 and self.nodes[-1] == self.nodes[-2]:
            del self.nodes[start:-1]  # both are one leaf
        else:
            self.nodes[start + 1] = middle - start


def _turns(left: int, k: int) -> list[int]:
    """Where bits turn, from ones at first: 0b0011 turns at 2."""
    bits = np.array([left >> i & 1 for i in range(k)], dtype=np.int8)
    return np.flatnonzero(np.diff(bits, prepend=1)).tolist()
