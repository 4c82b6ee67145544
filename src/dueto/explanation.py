"""What is said of a refused row: the rule, what it covers, and the changes that would flip the decision."""

from __future__ import annotations

import json
import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dueto.counterfactuals import Status
from dueto.rule import Standing

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dueto.rule import Rule

__all__ = ["Change", "Counterfactual", "Explanation", "Support"]

WIDTH = 96


@dataclass(frozen=True)
class Change:
    """One feature of a counterfactual: what it is and what it would have to be (None is missing)."""

    feature: str
    before: Any
    after: Any

    def __str__(self) -> str:
        before, after = ("missing" if v is None else v for v in (self.before, self.after))
        return f"{self.feature}: {before} → {after}"


@dataclass(frozen=True)
class Counterfactual:
    """A feasible applicant who gets the desired outcome.

    Parameters
    ----------
    rank : int
        1 is the nearest.
    changes : tuple of Change
        What differs; none of them could be undone.
    cost : float
        Distance from the applicant, dimensionless; see `Distance`.
    score : float
        The model's score of it, in [0, 1].
    """

    rank: int
    changes: tuple[Change, ...]
    cost: float
    score: float

    def __str__(self) -> str:
        return "; ".join(str(change) for change in self.changes)


@dataclass(frozen=True)
class Support:
    """How the rule fares on the rows of the data.

    Parameters
    ----------
    rows : int
        Rows of the data.
    refused, accepted : int
        Rows that satisfy the rule, by what the model says of them. Without constraints `accepted` is 0; under
        constraints it counts rows that this applicant cannot become.
    refused_in_all : int
        Rows that the model refuses, covered or not.
    """

    rows: int
    refused: int
    accepted: int
    refused_in_all: int


@dataclass(frozen=True)
class Explanation:
    """Why a row was refused and what would change that; `print` it for a paragraph.

    Parameters
    ----------
    label : str
        How the text calls the row.
    applicant : dict
        The row, feature by feature.
    score, threshold : float
        The model's score of it and the score that the desired outcome must exceed.
    rule : Rule
        Conditions that the row meets and nobody escapes; `rule.verdict` says how that is known.
    support : Support
        What the rule covers in the data.
    counterfactuals : tuple of Counterfactual
        The changes that would flip the decision, nearest first.
    status : Status
        How sure these are: OPTIMAL (the first is the nearest there is), FOUND, NONE (proved) or UNKNOWN.
    reason : str
        Where there is no counterfactual because the constraints contradict each other: why.
    constraints : tuple of str
        The constraints as sentences.
    methods : tuple of str
        The rule finder and the counterfactual method.
    rows_scored : int
        How many rows the model was asked about for this explanation.
    seconds : float
        How long it took.
    """

    label: str
    applicant: dict[str, Any]
    score: float
    threshold: float
    rule: Rule
    support: Support
    counterfactuals: tuple[Counterfactual, ...]
    status: Status
    reason: str
    constraints: tuple[str, ...]
    methods: tuple[str, str]
    rows_scored: int
    seconds: float

    def __str__(self) -> str:
        parts = [self._decision(), self._due_to(), self._scope(), self._changes()]
        if self.constraints:
            parts.append(
                self._listed("Constraints on what may change:", [f"- {c}" for c in self.constraints])
            )
        return "\n\n".join(parts)

    def _decision(self) -> str:
        return _wrap(
            f"{self.label} is refused: the model scores it {self.score:.3g}, and the desired outcome needs more than "
            f"{self.threshold:.3g}."
        )

    def _due_to(self) -> str:
        verdict = self.rule.verdict
        who = "applicant whom the constraints allow" if self.constraints else "possible applicant"
        if not len(self.rule):
            what = f"It is due to nothing in particular: every {who} is refused"
        else:
            heading = "It is due to this:"
            listed = self._listed(heading, [f"- {c}" for c in self.rule.conditions()])
            what = f"{listed}\nEvery {who} who meets {'this' if len(self.rule) == 1 else 'all of this'} is refused"
        assert verdict is not None
        if verdict.standing is Standing.PROVED:
            return f"{what} (proved: {verdict.by})."
        return f"{what},\nas far as could be found ({verdict})."

    def _scope(self) -> str:
        s = self.support
        covered = s.refused + s.accepted
        text = f"Of the {s.rows:,} rows of the data, {covered:,} meet {'it' if len(self.rule) else 'that'}: "
        text += f"{s.refused:,} of the {s.refused_in_all:,} refused ones"
        text += (
            " and no other."
            if not s.accepted
            else f", and {s.accepted:,} others that the constraints rule out here."
        )
        return _wrap(text)

    def _changes(self) -> str:
        if not self.counterfactuals:
            if self.status is Status.NONE:
                why = f": {self.reason}" if self.reason else ""
                return _wrap(f"Nothing that the constraints allow would change the decision (proved){why}.")
            return _wrap("No change that would flip the decision was found; the search proves nothing.")
        sure = " (proved: nothing is nearer than the first)" if self.status is Status.OPTIMAL else ""
        lines = [f"{c.rank}. {c}   [cost {c.cost:.3g}, score {c.score:.3g}]" for c in self.counterfactuals]
        return self._listed(f"What would change the decision, nearest first{sure}:", lines)

    @staticmethod
    def _listed(heading: str, lines: Iterable[str]) -> str:
        return "\n".join([heading, *(f"  {line}" for line in lines)])

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain data: numbers, texts, None for missing."""
        verdict = self.rule.verdict
        assert verdict is not None
        return {
            "label": self.label,
            "applicant": self.applicant,
            "score": self.score,
            "threshold": self.threshold,
            "rule": {
                **self.rule.to_dict(),
                "conditions": list(self.rule.conditions()),
                "verdict": {
                    "standing": verdict.standing.value,
                    "by": verdict.by,
                    "rows_scored": verdict.rows_scored,
                    "counterexample": verdict.counterexample,
                },
            },
            "support": vars(self.support).copy(),
            "counterfactuals": [
                {
                    "rank": c.rank,
                    "cost": c.cost,
                    "score": c.score,
                    "changes": [vars(ch).copy() for ch in c.changes],
                }
                for c in self.counterfactuals
            ],
            "status": self.status.value,
            "reason": self.reason,
            "constraints": list(self.constraints),
            "methods": {"rule": self.methods[0], "counterfactual": self.methods[1]},
            "rows_scored": self.rows_scored,
            "seconds": self.seconds,
        }

    def to_json(self, *, indent: int | None = 2) -> str:
        """`to_dict` as JSON."""
        return json.dumps(self.to_dict(), indent=indent, ensure_ascii=False, allow_nan=False)


def _wrap(text: str) -> str:
    return textwrap.fill(text, WIDTH, break_long_words=False, break_on_hyphens=False)
