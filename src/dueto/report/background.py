"""What a page tells of a decision besides the answer: where it stands in the data, and where it came from."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from dueto.report.pictures import picture

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from dueto.rule import Rule
    from dueto.rules.draws import Rows
    from dueto.space import FeatureSpace

__all__ = ["Background", "pictures"]

MOVES = 3  # counterfactuals whose values are marked in the pictures

Plain = dict[str, Any]
Bounds = list[tuple[str, tuple[str, ...]]]


class Background:
    """What stands behind an explanation, as plain data; each part is put together when it is first looked at.

    It can be pickled: then the pictures and the provenance are put together, and the what-if, which needs the model, is
    left behind.

    Parameters
    ----------
    pictures, bounds, provenance, whatif : callable
        Each gives the part of its name.

    Examples
    --------
    >>> from dueto.report.background import Background
    >>> Background(pictures=list, bounds=list, provenance=lambda: {"seed": 0}).provenance
    {'seed': 0}
    """

    def __init__(
        self,
        *,
        pictures: Callable[[], list[Plain]],
        bounds: Callable[[], Bounds],
        provenance: Callable[[], Plain],
        whatif: Callable[[], Plain | str] | None = None,
    ) -> None:
        self._make: dict[str, Callable[[], Any]] = {
            "pictures": pictures,
            "bounds": bounds,
            "provenance": provenance,
            "whatif": whatif or (lambda: None),
        }
        self._made: dict[str, Any] = {}

    @property
    def pictures(self) -> list[Plain]:
        """Where the applicant stands among the rows of the data, feature by feature."""
        found: list[Plain] = self._part("pictures")
        return found

    @property
    def bounds(self) -> Bounds:
        """Each constraint as a sentence, and the features that it speaks of."""
        found: Bounds = self._part("bounds")
        return found

    @property
    def provenance(self) -> Plain:
        """Seed, versions, and fingerprints of model and data."""
        found: Plain = self._part("provenance")
        return found

    @property
    def whatif(self) -> Plain | str | None:
        """What a page needs to score an applicant in the browser, or a sentence that says why it cannot."""
        found: Plain | str | None = self._part("whatif")
        return found

    def _part(self, name: str) -> Any:
        if name not in self._made:
            self._made[name] = self._make[name]()
            self._make[name] = partial(self._made.__getitem__, name)  # lets go of the model and the data
        return self._made[name]

    def __reduce__(self) -> tuple[Any, ...]:
        return _kept, (self.pictures, self.bounds, self.provenance)


def _kept(pictures: list[Plain], bounds: Bounds, provenance: Plain) -> Background:
    return Background(
        pictures=lambda: pictures,
        bounds=lambda: bounds,
        provenance=lambda: provenance,
        whatif=lambda: "There is no what-if: this explanation was kept without its model.",
    )


def pictures(
    space: FeatureSpace,
    rows: Rows,
    x: NDArray[np.float64],
    rule: Rule,
    counterfactuals: Sequence[Mapping[str, Any]] = (),
) -> list[Plain]:
    """Pictures of the features of a rule, in its order, and then of what the first counterfactuals change.

    Parameters
    ----------
    space : FeatureSpace
        What the rows mean.
    rows : Rows
        The rows of the data and what the model says of them.
    x : (n,) float64
        The applicant, encoded.
    rule : Rule
        Its interval is marked.
    counterfactuals : sequence of mappings
        What each changes features to, as labels; the nearest first.
    """
    box = rule.box(space)
    moves = list(enumerate(counterfactuals[:MOVES], 1))
    names = dict.fromkeys([*(c.feature for c in rule), *(name for _, after in moves for name in after)])
    found = []
    for name in names:
        j = space.index(name)
        feature = space.features[j]
        bound = any(c.feature == name for c in rule)
        found.append(
            picture(
                feature,
                rows.X[:, j],
                rows.counts,
                rows.good,
                x[j],
                interval=(box.low[j], box.high[j], bool(box.missing[j])) if bound else None,
                moves=[(rank, feature.code(after[name])) for rank, after in moves if name in after],
            )
        )
    return found
