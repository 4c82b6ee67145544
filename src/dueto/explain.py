"""The front door: why was this row refused, and what would change that?"""

from __future__ import annotations

import time
from dataclasses import fields, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from dueto.certificates.fingerprint import as_hash, fingerprint
from dueto.certificates.written import deferred
from dueto.changes import Change, Changes, Counterfactual, not_refused
from dueto.counterfactuals import Status, build_query, conflict, method_named
from dueto.counterfactuals.ranking import neat
from dueto.distance import Distance
from dueto.domain import NEAR
from dueto.errors import InputError, some
from dueto.explanation import Explanation, Support
from dueto.models import as_model
from dueto.models.plausibility import plausibility
from dueto.models.tables import features_of
from dueto.options import whole
from dueto.plaf.files import read_constraints
from dueto.report.background import Background, pictures
from dueto.report.page import versions
from dueto.requirements import Requirements
from dueto.rule import Rule, Standing
from dueto.rules import AutoRule, Oracle, ShortRule, finder_named, widened
from dueto.rules.draws import Rows
from dueto.seeds import as_seed, generator
from dueto.sources import as_source
from dueto.space import FeatureSpace
from dueto.stream import encoded

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dueto.counterfactuals import Answer, Method, Query
    from dueto.rules import Finder

__all__ = ["Explainer", "explain"]


class Explainer:
    """A model and its data made ready once, for explaining many rows.

    Parameters
    ----------
    model : callable, estimator or Model
        A function from a table like `data` to scores in [0, 1], a scikit-learn classifier or a whole pipeline.
    data : pandas or polars frame, array of shape (m, p), or what `open_table` gives
        What the feature space is read from; a path, an Arrow table or reader, or a DuckDB relation is opened. Columns
        that the model was not fitted on (the target, say) are ignored.
    space : FeatureSpace, optional
        The space of possible applicants; by default what occurs in `data`.
    constraints : PLAF text, path to a file, expression, or several
        What may change, and how.
    desired : label, optional
        The class of the desired outcome; by default the second of two.
    threshold : float, optional
        The desired outcome is a score above it; a tie is undesired. By default .5, or the model's own if it has one.
    method : str or Finder
        How the rule is found: "auto" (the shortest, proved, where the model's structure allows; else greedy),
        "minimum", "irredundant", "greedy", "genetic", "genetic-cf", "anchor" or "set-cover".
    counterfactual_method : str or Method
        How counterfactuals are found: "auto" (exact where the model's structure or the size allows, else GeCo),
        "branch-and-bound", "leaf-boxes", "exhaustive" or "geco".
    distance : Distance, optional
        What "near" means.
    plausible : float in (0, 1), optional
        What is proposed must be as ordinary as this share of the data (.95: all but the oddest 5 %), by an isolation
        forest; and a rule has to hold of the ordinary only, which makes it shorter.
    widen : bool
        Whether each bound of a proved rule is moved away from the applicant as far as it stays proved, so that the rule
        speaks of as many as it can.
    """

    def __init__(
        self,
        model: Any,
        data: Any,
        *,
        space: FeatureSpace | None = None,
        constraints: Any = (),
        desired: Any = None,
        threshold: float | None = None,
        method: str | Finder = "auto",
        counterfactual_method: str | Method = "auto",
        distance: Distance | None = None,
        plausible: float | None = None,
        widen: bool = False,
    ) -> None:
        if not (space is None or isinstance(space, FeatureSpace)):
            raise TypeError(f"space must be a FeatureSpace, got {type(space).__name__}")
        if not (distance is None or isinstance(distance, Distance)):
            raise TypeError(f"distance must be a Distance, got {type(distance).__name__}")
        data = as_source(data)
        if space is None:
            data = features_of(model, data)
            space = FeatureSpace.infer(data)
        self.space = space
        self.model = as_model(model, space, desired=desired, threshold=threshold)
        self.constraints = read_constraints(constraints)
        self.requirements = Requirements(space, self.constraints, plausible)
        self.finder = finder_named(method)
        self.method = method_named(counterfactual_method)
        self.distance, self.widen = distance, widen
        self.X, self.distinct, self.which, self.counts = encoded(space, data)
        self.plausible = plausible
        self.plausibility = None if plausible is None else plausibility(space, self.X, plausible)

    @cached_property
    def good(self) -> NDArray[np.bool_]:
        """Which distinct rows of the data get the desired outcome."""
        try:
            return self.model.good(self.distinct)
        except InputError:
            self.model.good(self.X)  # in the data's order, so that the error names the data's row
            raise

    @cached_property
    def _donors(self) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """The distinct rows that get the desired outcome, and which of them are in the space."""
        X = self.distinct[self.good]
        return X, self.space.contains(X)

    @property
    def refused(self) -> NDArray[np.intp]:
        """Positions of the rows of the data that are refused."""
        return np.flatnonzero(~self.good[self.which])

    def query(self, x: NDArray[np.float64]) -> Query:
        """The question of an encoded applicant."""
        return build_query(
            self.model,
            self.space,
            x,
            constraints=self.constraints,
            distance=self.distance,
            X=self.distinct,
            counts=self.counts,
            donors=self._donors[0],
            inside=self._donors[1],
            plausibility=self.plausibility,
        )

    def explain(
        self,
        row: Any,
        *,
        k: int = 5,
        at_most: int | None = None,
        rng: np.random.Generator | int = 0,
        label: str | None = None,
    ) -> Explanation:
        """The explanation of a refused row.

        Parameters
        ----------
        row : int, mapping, Series, sequence or frame of one row
            A row's position in the data, or an applicant of its own.
        k : int
            The most counterfactuals returned.
        at_most : int, optional
            Add the `short_rule` of so many conditions.
        rng : Generator or seed
            The same seed gives the same answer.
        label : str, optional
            What the text calls the row; by default its position.

        Raises
        ------
        InputError
            If the row is not refused, does not exist, or does not fit the space.
        """
        start, before = time.perf_counter(), self.model.rows_scored
        for_changes, for_rule, for_short = generator(rng).spawn(3)
        shorter = None if at_most is None else ShortRule(k=at_most)
        label, score, query = self._refused(row, label)
        answer = self._ask(query, k, for_changes)
        changes = self._changes(label, score, query, answer)
        query = query.knowing(answer.X)  # what changes show, the rule may not deny
        oracle = Oracle(query, self.method, for_rule, rows=self.rows)
        finder = self.finder.suited(oracle) if isinstance(self.finder, AutoRule) else self.finder
        short = None if shorter is None else shorter.find(Oracle(query, self.method, for_short, rows=self.rows))
        found = finder.find(oracle)
        found = widened(oracle, found) if self.widen else found
        rule = self._certified(oracle, finder, found, time.perf_counter() - start)
        spent = {"rows_scored": self.model.rows_scored - before, "seconds": time.perf_counter() - start}
        behind = {"background": self._background(query, rule, changes, rng)}
        told = {field.name: getattr(changes, field.name) for field in fields(changes)} | spent | behind
        return Explanation(**told, rule=rule, support=self.support(rule), finder=finder.name, short=short)

    def rule(self, row: Any, *, method: str | Finder | None = None, rng: np.random.Generator | int = 0) -> Rule:
        """Only the rule, by the explainer's method or by another; without a certificate, and not widened.

        Parameters
        ----------
        row, rng :
            As in `explain`.
        method : str or Finder, optional
            As in `Explainer`.

        Raises
        ------
        InputError
            As in `explain`; if there is no such method.
        """
        finder = self.finder if method is None else finder_named(method)
        query = self._refused(row, None)[2]
        self.check(query)
        return finder.find(Oracle(query, self.method, generator(rng).spawn(3)[1], rows=self.rows))

    def changes(self, row: Any, *, k: int = 5, rng: np.random.Generator | int = 0, label: str | None = None) -> Changes:
        """Only what would change the decision; the same changes as `explain` gives."""
        start, before = time.perf_counter(), self.model.rows_scored
        label, score, query = self._refused(row, label)
        answer = self._ask(query, k, generator(rng).spawn(2)[0])
        changes = self._changes(label, score, query, answer)
        rows_scored, seconds = self.model.rows_scored - before, time.perf_counter() - start
        behind = self._background(query, Rule(()), changes, rng)
        return replace(changes, rows_scored=rows_scored, seconds=seconds, background=behind)

    def counterfactuals(self, row: Any, *, k: int = 5, rng: np.random.Generator | int = 0) -> Answer:
        """Only the changes, as an `Answer` with encoded rows; see `explain`."""
        return self._ask(self._refused(row, None)[2], k, generator(rng).spawn(2)[0])

    def short_rule(
        self,
        row: Any,
        *,
        k: int = 3,
        counted: Literal["conditions", "components"] = "conditions",
        rng: np.random.Generator | int = 0,
    ) -> Rule:
        """The best rule of at most k conditions, with its verdict and its scope in figures; seldom proved.

        Parameters
        ----------
        row, rng :
            As in `explain`.
        k : int
            The most conditions (or components).
        counted : {"conditions", "components"}
            What is counted: conditions as a person reads them, where `a <= F <= b` is one, or bounds.

        Raises
        ------
        InputError
            If the row is not refused, does not exist, or does not fit the space; if k is below 1.
        """
        finder = ShortRule(k=k, counted=counted)
        query = self._refused(row, None)[2]
        self.check(query)
        return finder.find(Oracle(query, self.method, generator(rng).spawn(3)[2], rows=self.rows))

    @cached_property
    def rows(self) -> Rows:
        """The distinct rows of the data, and what the model says of them."""
        return Rows(self.distinct, self.counts, self.good)

    def _refused(self, row: Any, label: str | None) -> tuple[str, float, Query]:
        """What to call a row, its score, and the question about it; a row that is not refused has none."""
        position, x = self.named(row)
        label = label or position
        score = float(self.model.score(x[None, :])[0])
        if score > self.model.threshold:
            others = self.refused[:3].tolist()
            hint = f"refused are, for example, rows {some(others)}" if others else "nobody in the data is refused"
            raise InputError(not_refused(label, score, self.model.threshold, hint))
        return label, score, self.query(x)

    def _ask(self, query: Query, k: int, rng: np.random.Generator) -> Answer:
        whole("k", k, what="the most counterfactuals returned")
        self.check(query)
        return _in_few_digits(query, self.method.find(query, k=k, nearest=True, rng=rng))

    def check(self, query: Query) -> None:
        """Refuse a question that the counterfactual method cannot answer."""
        if refusal := self.method.refuses(query):
            raise InputError(f"the method {self.method.name!r} cannot answer this: {refusal}; use 'auto'")

    def named(self, row: Any) -> tuple[str, NDArray[np.float64]]:
        """What to call a row, and the row encoded; see `explain`."""
        if isinstance(row, int | np.integer) and not isinstance(row, bool):
            if not 0 <= row < len(self.X):
                raise InputError(f"there is no row {row}: the data has rows 0 to {len(self.X) - 1}")
            return f"Row {row}", self.X[row]
        return "This row", self.space.encode_row(row)

    def _certified(self, oracle: Oracle, finder: Finder, rule: Rule, seconds: float) -> Rule:
        """The rule with a certificate, if it is proved."""
        if rule.verdict is None or rule.verdict.standing is not Standing.PROVED or oracle.query.plausibility:
            return rule
        certificate = deferred(
            oracle,
            rule,
            constraints=self.constraints,
            data_fingerprint=lambda: self.data_fingerprint,
            weights=getattr(finder, "weights", None),
            seconds=seconds,
        )
        return replace(rule, certificate=certificate)

    @cached_property
    def data_fingerprint(self) -> str:
        """The hash of the encoded data."""
        return as_hash(self.X)

    def _background(self, query: Query, rule: Rule, changes: Changes, rng: Any) -> Background:
        """What a page tells besides; nothing of it is worked out here."""
        x, space, distance = query.x, query.space, query.distance
        proposals = [{change.feature: change.after for change in c.changes} for c in changes.counterfactuals]

        def whatif() -> dict[str, Any] | str:
            from dueto.report.whatif import offline

            try:
                score = float(self.model.score(x[None])[0])
            except InputError as problem:  # a black box that is down by now
                return f"There is no what-if: the applicant can no longer be scored ({problem})."
            if not np.isclose(score, changes.score, rtol=1e-6, atol=1e-9):
                raise InputError(f"the model has changed since it explained {changes.label}: explain it again")
            ordinary = (self.requirements.ordinary, query.plausibility) if query.plausibility else None
            constraints = self.constraints
            return offline(self.model, space, constraints, x, distance, proposals=proposals, ordinary=ordinary)

        return Background(
            pictures=lambda: pictures(self.space, self.rows, x, rule, proposals),
            bounds=lambda: self.requirements.bounds,
            provenance=partial(self._provenance, rng),
            whatif=whatif,
        )

    def _provenance(self, rng: Any) -> dict[str, Any]:
        """Where an answer came from: the seed, versions, the model and the data by their fingerprints."""
        try:
            known = fingerprint(self.model)
        except InputError:  # a black box that does not score every instance
            known = {"of": "nothing", "sha256": None}
        return {
            "seed": as_seed(rng),
            "versions": versions("numpy", "pandas", "scipy", "scikit-learn"),
            "model": {"name": self.model.name, "of": known["of"], "sha256": known["sha256"]},
            "data": {"rows": int(self.counts.sum()), "features": len(self.space), "sha256": self.data_fingerprint},
        }

    def support(self, rule: Rule) -> Support:
        """How a rule fares on the rows of the data."""
        covered = rule.box(self.space).contains(self.distinct)
        return Support(
            rows=len(self.X),
            refused=int(self.counts[covered & ~self.good].sum()),
            accepted=int(self.counts[covered & self.good].sum()),
            refused_in_all=int(self.counts[~self.good].sum()),
        )

    def _changes(self, label: str, score: float, query: Query, answer: Answer) -> Changes:
        scores = self.model.score(answer.X)
        changed = query.changed(answer.X)
        features = self.space.features
        found = []
        for i, y in enumerate(answer.X):
            changes = (
                Change(features[j].name, features[j].label(query.x[j]), features[j].label(y[j]))
                for j in np.flatnonzero(changed[i])
            )
            found.append(Counterfactual(i + 1, tuple(changes), float(answer.distances[i]), float(scores[i])))
        return Changes(
            label=label,
            applicant={f.name: f.label(v) for f, v in zip(features, query.x, strict=True)},
            desired=self.model.desired,
            score=score,
            threshold=self.model.threshold,
            counterfactuals=tuple(found),
            status=answer.status,
            reason=(conflict.told(query) or answer.reason) if answer.status is Status.NONE else answer.reason,
            constraints=self.requirements.sentences,
            broken=self.requirements.broken(query),
            unmendable=() if found else self.requirements.unmendable(query.x),
            method=answer.by,
            black_box=self.model.black_box,
            rows_scored=answer.rows_scored,
            seconds=0.0,
        )


def _in_few_digits(query: Query, answer: Answer) -> Answer:
    """The answer with changes over declared ranges of real numbers in few digits; its reason says what that costs."""
    X = neat(query, answer.X)
    if np.array_equal(X, answer.X, equal_nan=True):
        return answer
    distances = query.distances(X)
    order = np.argsort(distances, kind="stable")
    reason = f"nothing is nearer than the first by more than {NEAR * sum(query.distance.weights):g}"
    reason = reason if answer.status is Status.OPTIMAL else answer.reason
    return replace(answer, X=X[order], distances=distances[order], reason=reason)


def explain(
    model: Any,
    data: Any,
    row: Any,
    *,
    space: FeatureSpace | None = None,
    constraints: Any = (),
    desired: Any = None,
    threshold: float | None = None,
    method: str | Finder = "auto",
    counterfactual_method: str | Method = "auto",
    distance: Distance | None = None,
    plausible: float | None = None,
    widen: bool = False,
    k: int = 5,
    at_most: int | None = None,
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
    >>> print(dueto.explain(model, data, 1, k=2))
    Row 1 is refused: its score for the desired outcome is 0, and more than 0.5 is needed.
    <BLANKLINE>
    It is due to this:
      - income <= 22
      - debt >= 32
    Every possible applicant who meets all of this is refused (proved by exhaustive).
    <BLANKLINE>
    Of the 5 rows of the data, 2 meet that: 2 of the 2 refused ones and no other.
    <BLANKLINE>
    What would change the decision, nearest first (proved: nothing is nearer than the first):
      1. income: 22 → 35   [cost 0.314, score 1]
      2. debt: 32 → 10   [cost 0.472, score 1]
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
        plausible=plausible,
        widen=widen,
    )
    return explainer.explain(row, k=k, at_most=at_most, rng=rng)
