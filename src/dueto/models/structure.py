"""The structure of a model, where it has one that is understood: what proofs rest on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from dueto.models.additive import Additive
    from dueto.models.columns import Columns
    from dueto.models.ensemble import Ensemble
    from dueto.models.network import Network

__all__ = ["Structure"]


@dataclass(frozen=True, eq=False)
class Structure:
    """A model as a margin: the outcome is the desired one exactly when margin > cut, but for rounding.

    Parameters
    ----------
    columns : Columns
        What the form's columns are of an encoded row.
    form : Ensemble, Additive or Network
        The margin, from these columns.
    cut : float
        The margin that the desired outcome must exceed.
    slack : float
        How far rounding may move a margin: a row whose margin is within `slack` of `cut` is settled by the model.
    link : callable, optional
        From margins (N,) to the model's scores (N,), never falling; used only to check the structure against the model.
    precision : float
        How far rounding may move a score that `link` gives.
    """

    columns: Columns
    form: Ensemble | Additive | Network
    cut: float
    slack: float
    link: Callable[[NDArray[np.float64]], NDArray[np.float64]] | None = None
    precision: float = 1e-14

    def margin(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """(N,) the margin of encoded rows (N, n)."""
        found = np.empty(len(X))
        for part, Z in self.columns.blocks(X):
            found[part] = self.form.margin(Z)
        return found

    def side(self, margin: NDArray[np.float64]) -> NDArray[np.int8]:
        """1 where a margin is clearly desired, -1 where it clearly is not, 0 where only the model can tell."""
        far = np.abs(margin - self.cut) > self.slack
        return np.where(far, np.sign(margin - self.cut), 0).astype(np.int8)
