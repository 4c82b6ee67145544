"""The front door: why was this row refused, and what would change that?"""

from __future__ import annotations

import time
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dueto import frames
from dueto.counterfactuals import build_query, method_named
from dueto.domain import distinct_rows
from dueto.errors import InputError
from dueto.explanation import Change, Counterfactual, Explanation, Support
from dueto.models import as_model
from dueto.plaf import Expr, parse_constraints
from dueto.rules import Oracle, finder_named
from dueto.space import FeatureSpace

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dueto.counterfactuals import Answer, Method, Query
    from dueto.distance import Distance
    from dueto.rule import Rule
    from dueto.rules import Finder

__all__ = ["Explainer", "explain"]


class Explainer:
    """A model and its data made ready once, for explaining many rows.

    Parameters
    ----------
    model : callable, estimator or Model
        A function from a table like `data` to scores in [0, 1], a scikit-learn classifier or a whole pipeline.
    data : pandas or polars frame, or array of shape (m, p)
        What the feature space is read from. Columns that the model was not fitted on (the target, say) are ignored.
    space : FeatureSpace, optional
        The space of possible applicants; by default what occurs in `data`.
    constraints : PLAF text, path to a file, expression, or several
        What may change, and how.
    desired : label, optional
        The class of the desired outcome; by default the second of two.
    threshold : float
        The desired outcome is a score above it; a tie is undesired.
    method : str or Finder
        How the rule is found: "greedy".
    counterfactual_method : str or Method
        How counterfactuals are found: "auto" (exact where the model's structure or the size allows, else GeCo), "geco",
        "leaf-boxes" or "exhaustive".
    distance : Distance, optional
        What "near" means.
    """

    def __init__(
        self,
        model: Any,
        data: Any,
        *,
        space: FeatureSpace | None = None,
        constraints: Any = (),
        desired: Any = None,
        threshold: float = 0.5,
        method: str | Finder = "greedy",
        counterfactual_method: str | Method = "auto",
        distance: Distance | None = None,
    ) -> None:
        if space is None:
            data = frames.select(data, getattr(model, "feature_names_in_", None))
            space = FeatureSpace.infer(data)
        self.space = space
        self.model = as_model(model, space, desired=desired, threshold=threshold)
        self.constraints = read_constraints(constraints)
        self.finder = finder_named(method)
        self.method = method_named(counterfactual_method)
        self.distance = distance
        self.X = space.encode(data)
        first, _, counts = distinct_rows(self.X)
        self.distinct, self.counts = self.X[first], counts

    @cached_property
    def good(self) -> NDArray[np.bool_]:
        """Which distinct rows of the data get the desired outcome."""
        return self.model.good(self.distinct)

    def query(self, x: NDArray[np.float64]) -> Query:
        """The question of an encoded applicant."""
        return build_query(
            self.model,
            self.space,
            x,
            constraints=self.constraints,
            distance=self.distance,
            X=self.distinct,
            donors=self.distinct[self.good],
        )

    def explain(self, row: Any, *, k: int = 5, rng: np.random.Generator | int = 0) -> Explanation:
        """The explanation of a refused row.

        Parameters
        ----------
        row : int, mapping, Series, sequence or frame of one row
            A row's position in the data, or an applicant of its own.
        k : int
            The most counterfactuals returned.
        rng : Generator or seed
            The same seed gives the same answer.

        Raises
        ------
        InputError
            If the row is not refused, does not exist, or does not fit the space.
        """
        start, before = time.perf_counter(), self.model.rows_scored
        label, x = self._row(row)
        score = float(self.model.score(x[None, :])[0])
        if score > self.model.threshold:
            raise InputError(
                f"{label} is not refused: its score {score:.3g} is above the threshold {self.model.threshold:.3g}, "
                "so there is no refusal to explain"
            )
        query = self.query(x)
        for_changes, for_rule = np.random.default_rng(rng).spawn(2)
        answer = self._ask(query, k, for_changes)
        rule = self.finder.find(Oracle(query, self.method, for_rule))
        return Explanation(
            label=label,
            applicant={f.name: f.label(v) for f, v in zip(self.space.features, x, strict=True)},
            score=score,
            threshold=self.model.threshold,
            rule=rule,
            support=self._support(rule),
            counterfactuals=self._counterfactuals(query, answer),
            status=answer.status,
            reason=answer.reason,
            constraints=tuple(constraint.sentence() for constraint in self.constraints),
            methods=(self.finder.name, self.method.name),
            rows_scored=self.model.rows_scored - before,
            seconds=time.perf_counter() - start,
        )

    def counterfactuals(self, row: Any, *, k: int = 5, rng: np.random.Generator | int = 0) -> Answer:
        """Only the changes, as an `Answer` with encoded rows; see `explain`."""
        _, x = self._row(row)
        return self._ask(self.query(x), k, np.random.default_rng(rng))

    def _ask(self, query: Query, k: int, rng: np.random.Generator) -> Answer:
        if k < 1:
            raise InputError(f"k, the most counterfactuals returned, must be at least 1, got {k}")
        if refusal := self.method.refuses(query):
            raise InputError(f"the method {self.method.name!r} cannot answer this: {refusal}; use 'auto'")
        return self.method.find(query, k=k, nearest=True, rng=rng)

    def _row(self, row: Any) -> tuple[str, NDArray[np.float64]]:
        if isinstance(row, int | np.integer) and not isinstance(row, bool):
            if not 0 <= row < len(self.X):
                raise InputError(f"there is no row {row}: the data has rows 0 to {len(self.X) - 1}")
            return f"Row {row}", self.X[row]
        return "This row", self.space.encode_row(row)

    def _support(self, rule: Rule) -> Support:
        covered = rule.box(self.space).contains(self.distinct)
        return Support(
            rows=len(self.X),
            refused=int(self.counts[covered & ~self.good].sum()),
            accepted=int(self.counts[covered & self.good].sum()),
            refused_in_all=int(self.counts[~self.good].sum()),
        )

    def _counterfactuals(self, query: Query, answer: Answer) -> tuple[Counterfactual, ...]:
        scores = self.model.score(answer.X)
        changed = query.changed(answer.X)
        found = []
        for i, y in enumerate(answer.X):
            changes = (
                Change(f.name, f.label(query.x[j]), f.label(y[j]))
                for j, f in enumerate(self.space.features)
                if changed[i, j]
            )
            found.append(Counterfactual(i + 1, tuple(changes), float(answer.distances[i]), float(scores[i])))
        return tuple(found)


def explain(
    model: Any,
    data: Any,
    row: Any,
    *,
    space: FeatureSpace | None = None,
    constraints: Any = (),
    desired: Any = None,
    threshold: float = 0.5,
    method: str | Finder = "greedy",
    counterfactual_method: str | Method = "auto",
    distance: Distance | None = None,
    k: int = 5,
    rng: np.random.Generator | int = 0,
) -> Explanation:
    """Why was this row refused, and which feasible changes would flip the decision?

    The parameters are those of `Explainer` and of `Explainer.explain`; make an `Explainer` to explain many rows.

    Examples
    --------
    >>> import dueto
    >>> import pandas as pd
    >>> data = pd.DataFrame({"income": [12, 22, 35, 41, 50], "debt": [40, 32, 32, 10, 5]})
    >>> def model(frame):
    ...     return ((frame["income"] > 22) | (frame["debt"] < 32)).astype(float)
    >>> print(dueto.explain(model, data, 1))
    """
    explainer = Explainer(
        model,
        data,
        space=space,
        constraints=constraints,
        desired=desired,
        threshold=threshold,
        method=method,
        counterfactual_method=counterfactual_method,
        distance=distance,
    )
    return explainer.explain(row, k=k, rng=rng)


def read_constraints(constraints: Any) -> tuple[Expr, ...]:
    """Constraints from PLAF text, the path of a file, an expression, or several of these.

    Raises
    ------
    InputError
        If a file cannot be read or a line is no constraint.
    """
    if isinstance(constraints, Expr):
        return (constraints,)
    if isinstance(constraints, str):
        return parse_constraints(constraints)
    if isinstance(constraints, Path):
        try:
            return parse_constraints(constraints.read_text(encoding="utf-8"), name=constraints.name)
        except OSError as problem:
            raise InputError(f"cannot read {constraints}: {problem.strerror or problem}") from None
        except UnicodeDecodeError:
            raise InputError(f"{constraints} is not a text file in UTF-8") from None
    return tuple(expr for part in constraints for expr in read_constraints(part))
