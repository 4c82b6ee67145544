"""Several rule finders on one row, side by side, judged alike."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dueto.audit.base import audited
from dueto.errors import InputError
from dueto.explain import Explainer
from dueto.rules import FINDERS, Finder, finder_named
from dueto.seeds import generator

if TYPE_CHECKING:
    import numpy as np

    from dueto.audit.found import Judgement
    from dueto.distance import Distance
    from dueto.space import FeatureSpace

__all__ = ["Compared", "Comparison", "compare", "compared"]

NOBODY = "(no condition: everybody is refused)"
ALL = tuple(name for name in FINDERS if name != "auto")


@dataclass(frozen=True)
class Compared:
    """What one finder gave.

    Parameters
    ----------
    method : str
        The finder.
    judgement : Judgement
        Its rule, and what that is worth.
    seconds : float
        What finding it took, a verdict by the counterfactual method included; of the first, also what the model and
        the machine make ready once.
    rows_scored : int
        How many rows the model was asked about by then.
    finished : bool
        False if the finder's time ran out: the rule is then the best so far.
    """

    method: str
    judgement: Judgement
    seconds: float
    rows_scored: int
    finished: bool

    def cells(self) -> tuple[str, ...]:
        """Its line in the table."""
        told, support = self.judgement, self.judgement.support
        counts = f"{support.refused:,}", f"{support.accepted:,}"
        spent = f"{self.seconds:.3g}", f"{self.rows_scored:,}"
        return (self.method, str(len(told.rule)), told.category.value, *counts, *spent)

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain data."""
        spent = {"seconds": self.seconds, "rows_scored": self.rows_scored, "finished": self.finished}
        return {"method": self.method} | spent | {"judgement": self.judgement.to_dict()}


@dataclass(frozen=True)
class Comparison(Sequence[Compared]):
    """What several finders gave for a row; `print` it for a table and the rules."""

    label: str
    found: tuple[Compared, ...]

    def __len__(self) -> int:
        return len(self.found)

    def __getitem__(self, at: Any) -> Any:
        return self.found[at]

    def __str__(self) -> str:
        head = ("method", "length", "verdict", "refused", "accepted", "seconds", "rows scored")
        lines = [head, *(one.cells() for one in self.found)]
        wide = [max(map(len, column)) for column in zip(*lines, strict=True)]
        sides = ("<", ">", "<", ">", ">", ">", ">")
        table = ("  ".join(f"{c:{side}{w}}" for c, side, w in zip(line, sides, wide, strict=True)) for line in lines)
        parts = [f"{self.label}: why was it refused?", "\n".join(table)]
        parts.append("Length counts components; refused and accepted are rows of the data that meet the rule.")
        if late := [one.method for one in self.found if not one.finished]:
            parts[-1] += f"\nTime ran out for {', '.join(late)}: the best rule so far."
        for one in self.found:
            conditions = one.judgement.rule.conditions() or [NOBODY]
            parts.append("\n".join([f"{one.method}:", *(f"  - {condition}" for condition in conditions)]))
        return "\n\n".join(parts)

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain data."""
        return {"label": self.label, "found": [one.to_dict() for one in self.found]}


def compare(
    model: Any,
    data: Any,
    row: Any,
    *,
    methods: str | Finder | Sequence[str | Finder] = ALL,
    space: FeatureSpace | None = None,
    constraints: Any = (),
    desired: Any = None,
    threshold: float | None = None,
    counterfactual_method: Any = "auto",
    distance: Distance | None = None,
    plausible: float | None = None,
    seconds: float = 30.0,
    rng: np.random.Generator | int = 0,
) -> Comparison:
    """What does each method say a refusal is due to, and what is that worth?

    Parameters
    ----------
    methods : sequence of str or Finder, or one of these
        The finders, in the order of the table.
    seconds : float
        The longest for one question of the judge; see `audit`.
    model, data, row, space, constraints, desired, threshold, counterfactual_method, distance, plausible, rng :
        As in `explain`.

    Raises
    ------
    InputError
        As in `explain`; if there is no such method, or none is given.

    Examples
    --------
    >>> import dueto
    >>> import pandas as pd
    >>> data = pd.DataFrame({"income": [12, 22, 35, 41, 50], "debt": [40, 32, 32, 10, 5]})
    >>> def model(frame):
    ...     return ((frame["income"] > 22) | (frame["debt"] < 32)).astype(float)
    >>> found = dueto.compare(model, data, 1, methods=["minimum", "set-cover"])
    >>> [(one.method, str(one.judgement.rule), str(one.judgement.category)) for one in found]
    [('minimum', 'income <= 22 and debt >= 32', 'GC minimal'), ('set-cover', 'income <= 22', 'FGC')]
    """
    explainer = Explainer(
        model,
        data,
        space=space,
        constraints=constraints,
        desired=desired,
        threshold=threshold,
        counterfactual_method=counterfactual_method,
        distance=distance,
        plausible=plausible,
    )
    return compared(explainer, row, methods=methods, seconds=seconds, rng=rng)


def compared(
    explainer: Explainer,
    row: Any,
    *,
    methods: str | Finder | Sequence[str | Finder] = ALL,
    seconds: float = 30.0,
    rng: np.random.Generator | int = 0,
    label: str | None = None,
) -> Comparison:
    """`compare` with an `Explainer` made before, for many rows; its own rule finder is not used."""
    if isinstance(methods, str | Finder):
        methods = [methods]
    if not isinstance(methods, Iterable):
        raise InputError(
            f"methods must be a list of rule finders or their names, got {methods!r}; give some of " + ", ".join(ALL)
        )
    finders = [finder_named(method) for method in methods]
    if not finders:
        raise InputError("no methods to compare are given; give some of " + ", ".join(ALL))
    draws = generator(rng).spawn(len(finders) + 1)
    rules, spent = [], []
    for finder, own in zip(finders, draws, strict=False):
        start, before = time.perf_counter(), explainer.model.rows_scored
        rules.append(explainer.rule(row, method=finder, rng=own))
        spent.append((time.perf_counter() - start, explainer.model.rows_scored - before))
    judged = audited(explainer, rules, row=row, seconds=seconds, rng=draws[-1])
    found = (
        Compared(finder.name, judgement, *told, rule.run is None or rule.run.finished)
        for finder, rule, judgement, told in zip(finders, rules, judged, spent, strict=True)
    )
    return Comparison(label or judged[0].label, tuple(found))
