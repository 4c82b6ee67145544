"""The audit: each rule is placed in one category, and it is said how that is known."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dueto.audit.case import Case
from dueto.audit.found import Audit
from dueto.audit.read import entries, read_rule
from dueto.audit.vocabulary import Vocabulary
from dueto.errors import InputError
from dueto.explain import Explainer
from dueto.options import time_limit
from dueto.seeds import generator

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dueto.audit.read import Entry
    from dueto.counterfactuals.base import Method
    from dueto.distance import Distance
    from dueto.space import FeatureSpace

__all__ = ["audit", "audited"]


def audit(
    rules: Any,
    model: Any,
    data: Any,
    *,
    row: Any = None,
    space: FeatureSpace | None = None,
    constraints: Any = (),
    desired: Any = None,
    threshold: float | None = None,
    counterfactual_method: str | Method = "auto",
    distance: Distance | None = None,
    plausible: float | None = None,
    seconds: float = 30.0,
    rng: np.random.Generator | int = 0,
) -> Audit:
    """What are these rules worth? Each is judged against the model, whoever made it, and placed in a `Category`.

    Parameters
    ----------
    rules : text, Rule, Explanation, mapping, list of conditions, path, or a list of these
        One rule or many. A text has one rule a line, such as ``10 < debt <= 20 and job = clerk``. A rule's JSON is that
        of `Rule.to_dict`, of an explanation, of alibi's ``to_json``; a list of conditions holds mappings with
        ``feature``, ``op`` and ``value``, triples, or, inside a list of rules, texts. An explanation of alibi is taken
        as it is. A flat list of texts is many rules: one rule of several texts is a list in a list.
    model, data, space, constraints, desired, threshold, counterfactual_method, distance, plausible :
        As in `Explainer`. The rules are claims that whoever meets them does *not* get the desired outcome.
    row : int, mapping, Series, sequence or frame of one row, optional
        The applicant whom the rules are about. Without it, a rule that came with one (an explanation does) is judged
        for that one, and any other for everybody.
    seconds : float
        The longest for one question (has this rule an exception?), and to look for a shorter rule.
    rng : Generator or seed
        The same seed gives the same answer.

    Raises
    ------
    InputError
        If a rule cannot be understood: saying which, or on which line, what, and what to do.

    Notes
    -----
    Any rule is a box: one interval, or one label, for each feature. It need not be made of the row's own values.

    - Feasible: in the space (the row's own values are always in it) and allowed by the constraints.
    - Consistent: no feasible applicant meets the rule and is accepted. With a row, the constraints speak of what that
      row may become; without one, only constraints on the proposed values (``cf``) have a meaning.
    - Components are dropped one at a time, for good if the rest is proved consistent. Consistency can only get lost by
      dropping, so the components dropped are a set to which no other could be added.
    - Whether a rule could be shorter is asked of rules over the row's own values, ``F <= x_F`` and ``F >= x_F`` (or
      ``F = x_F``). That is no restriction: if any box that the row meets is consistent, so is the one whose bounds are
      moved up to the row, and it has no more components.
    - Equality on an ordered feature is two components. A shorter rule that no applicant whom the constraints allow can
      meet (it asks of a feature what has to change) says nothing and does not count.

    Examples
    --------
    >>> import dueto
    >>> import pandas as pd
    >>> data = pd.DataFrame({"income": [12, 22, 35, 41, 50], "debt": [40, 32, 32, 10, 5]})
    >>> def model(frame):
    ...     return ((frame["income"] > 22) | (frame["debt"] < 32)).astype(float)
    >>> print(dueto.audit(["income <= 30", "income <= 22.5 and debt >= 30.5"], model, data, row=1))
    2 rules:
          1  FGC             a possible applicant, not in the data, meets it and is accepted
          1  GC minimal      holds (proved), and cannot be shortened
    <BLANKLINE>
    1. income <= 30
         FGC: a possible applicant meets it and is accepted (found by geco): debt: 32 → 10.
         Of 5 rows, 2 meet it: 2 refused, 0 accepted.
    <BLANKLINE>
    2. income <= 22.5 and debt >= 30.5
         GC minimal: it holds (proved by exhaustive), and no rule that Row 1 meets has fewer components
         and holds.
         Of 5 rows, 2 meet it: 2 refused, 0 accepted.
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
    return audited(explainer, rules, row=row, seconds=seconds, rng=rng)


def audited(
    explainer: Explainer,
    rules: Any,
    *,
    row: Any = None,
    label: str | None = None,
    seconds: float = 30.0,
    rng: np.random.Generator | int = 0,
) -> Audit:
    """`audit` with an `Explainer` made before, for many rules or rows; its own rule finder is not used."""
    time_limit(seconds)
    words = Vocabulary(explainer.space, explainer.distinct)
    given = None if row is None else explainer.named(row)
    given = given and (label or given[0], given[1])
    read = []
    for entry in entries(rules):
        try:
            label, x = given or _own_row(explainer, entry)
            own = np.full(len(explainer.space), np.nan) if x is None else x
            read.append((label, x, *read_rule(entry.rule, words, own)))
        except InputError as problem:
            raise InputError(f"{entry.where}: {problem}") from None
    draws = generator(rng)
    cases: dict[bytes, Case] = {}
    judgements = []
    for label, x, rule, notes in read:
        key = b"" if x is None else x.tobytes()
        if key not in cases:
            cases[key] = Case(explainer, x, seconds, draws)
        judgements.append(cases[key].judge(rule, label, notes))
    return Audit(judgements=tuple(judgements), constraints=explainer.requirements.sentences)


def _own_row(explainer: Explainer, entry: Entry) -> tuple[str, NDArray[np.float64] | None]:
    """The row that a rule came with."""
    features = explainer.space.features
    if entry.applicant is not None:
        absent = [feature.name for feature in features if feature.name not in entry.applicant]
        if absent:
            raise InputError(f"the applicant that it came with has no {absent[0]!r}; give the row")
        return entry.label, np.array([feature.code(entry.applicant[feature.name]) for feature in features])
    return ("", None) if entry.row is None else explainer.named(entry.row)
