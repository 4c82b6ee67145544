"""What is said of a refused row: the rule, what it covers, and the changes that would flip the decision."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, overload

from dueto.changes import Change, Changes, Counterfactual, listed, wrapped
from dueto.rule import Standing

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from dueto.rule import Rule

__all__ = ["Change", "Changes", "Counterfactual", "Explanation", "Support"]

FEW = 5  # changes of an exception that are told


@dataclass(frozen=True)
class Support:
    """How the rule fares on the rows of the data.

    Parameters
    ----------
    rows : int
        Rows of the data.
    refused, accepted : int
        Rows that satisfy the rule, by what the model says of them. `accepted` counts rows that this applicant
        cannot become: under the constraints, or in a space declared narrower than the data; else it is 0.
    refused_in_all : int
        Rows that the model refuses, covered or not.
    """

    rows: int
    refused: int
    accepted: int
    refused_in_all: int


@dataclass(frozen=True, kw_only=True)
class Explanation(Changes):
    """Why a row was refused and what would change that; `print` it for a page that a loan officer can read.

    Parameters
    ----------
    rule : Rule
        Conditions that the row meets and that settle the refusal; `rule.verdict` says how that is known.
    support : Support
        What the rule covers in the data.
    finder : str
        The rule finder.
    short : Rule, optional
        The best rule of a few conditions, with its scope, where one was asked for; seldom proved.
    label, applicant, ... :
        As in `Changes`.
    """

    rule: Rule
    support: Support
    finder: str
    short: Rule | None = None

    def sentences(self) -> dict[str, str]:
        """What `print` says in words, each sentence by its name, without lists and line breaks: for another layout."""
        why = {}
        if len(self.rule):
            why = {"due_to": self._due_to(), "claim": self._claim(), "scope": self._scope()}
        elif other := self.rule.verdict and self.rule.verdict.counterexample:  # else nothing can help: see the changes
            by = f"The method {self.finder!r} names no condition, and there is somebody who is accepted"
            why = {"nothing": f"{by}{self._exception(other)}: it does not tell what the decision is due to."}
        return super().sentences() | why | ({"short": self._in_short(self.short)} if self.short else {})

    def _paragraphs(self) -> list[str]:
        (decision, *changes), said = super()._paragraphs(), self.sentences()
        why = []
        if "claim" in said:
            conditions = listed(said["due_to"], [f"- {c}" for c in self.rule.conditions()])
            why = [f"{conditions}\n{wrapped(said['claim'])}", wrapped(said["scope"])]
        elif "nothing" in said:
            why = [wrapped(said["nothing"])]
        short = [wrapped(said["short"])] if self.short else []
        return [decision, *why, *short, *changes]

    def _searched(self) -> bool:
        assert self.rule.verdict is not None
        return super()._searched() or self.rule.verdict.standing is not Standing.PROVED

    def _due_to(self) -> str:
        assert self.rule.verdict is not None
        if self.rule.verdict.counterexample is not None:
            return f"What the method {self.finder!r} says it is due to:"
        return "It is due to this:"

    def _claim(self) -> str:
        verdict = self.rule.verdict
        assert verdict is not None
        this = "this" if len(self.rule) == 1 else "all of this"
        late = "" if self.rule.run is None or self.rule.run.finished else " Time ran out: this is the best rule so far."
        if verdict.counterexample is not None:
            text = f"But not everybody who meets {this} is refused: {verdict.by} found an exception"
            return f"{text}{self._exception(verdict.counterexample)}.{late}"
        claim = f"Every possible applicant who meets {this} is refused"
        if self.constraints:
            claim = f"While {this} holds, no change that the constraints allow flips the decision"
        sure = "" if verdict.standing is Standing.PROVED else ", as far as could be found"
        least = f" {str(self.rule.least).capitalize()}." if self.rule.least else ""
        return f"{claim}{sure} ({verdict}).{least}{late}"

    def _exception(self, other: Mapping[Any, Any]) -> str:
        """How an exception differs from the applicant, in brackets; nothing if in too much to be read."""
        before = self.applicant
        changed = [Change(f, before[f], v) for f, v in other.items() if v != before[f]]
        return f" ({'; '.join(map(str, changed))})" if len(changed) <= FEW else ""

    def _in_short(self, short: Rule) -> str:
        verdict, n = short.verdict, len(short.conditions())
        assert verdict is not None
        text = f"In {n} condition{'' if n == 1 else 's'}: {short}. {short.scope}"
        if verdict.counterexample is None:
            return f"{text} {str(verdict).capitalize()}."
        return f"{text[:-1]}{self._exception(verdict.counterexample)}."

    def _scope(self) -> str:
        s = self.support
        covered = s.refused + s.accepted
        meet, that = "meets" if covered == 1 else "meet", "it" if len(self.rule) == 1 else "that"
        text = f"Of the {s.rows:,} rows of the data, {covered:,} {meet} {that}: "
        text += f"{s.refused:,} of the {s.refused_in_all:,} refused ones"
        ruled_out = "the constraints rule out here" if self.constraints else "the declared space rules out"
        others = f"{s.accepted:,} {'other' if s.accepted == 1 else 'others'} that {ruled_out}"
        if self.rule.verdict is not None and self.rule.verdict.standing is Standing.REFUTED:
            others = f"{s.accepted:,} accepted"
        return f"{text}, and {others}." if s.accepted else f"{text} and no other."

    @overload
    def to_letter(
        self,
        path: None = None,
        *,
        lender: str | None = None,
        date: str | None = None,
        contact: str | None = None,
        names: Mapping[str, str] | None = None,
        at_most: int = 4,
    ) -> str: ...

    @overload
    def to_letter(
        self,
        path: str | Path,
        *,
        lender: str | None = None,
        date: str | None = None,
        contact: str | None = None,
        names: Mapping[str, str] | None = None,
        at_most: int = 4,
    ) -> None: ...

    def to_letter(
        self,
        path: str | Path | None = None,
        *,
        lender: str | None = None,
        date: str | None = None,
        contact: str | None = None,
        names: Mapping[str, str] | None = None,
        at_most: int = 4,
    ) -> str | None:
        """A letter to the applicant that gives the principal reasons of the refusal: a template, and not legal advice.

        Parameters
        ----------
        path : str or Path, optional
            Where to write it: .html, .txt or .md say what it is written in. Without a path, Markdown is returned.
        lender, date, contact : str, optional
            What stands in the letter; without it, a placeholder in brackets.
        names : mapping of feature to str, optional
            What the letter calls the features, which the applicant does not know by their columns.
        at_most : int
            The most reasons given.

        Returns
        -------
        str or None
            The letter, if no path is given.

        Raises
        ------
        InputError
            If the file cannot be written or is of another kind; if `names` has a feature that the rule has not.

        Notes
        -----
        The reasons are the conditions of the rule. First come those that set the applicant most apart from the
        accepted: a condition ranks by the share of the accepted rows of the data that do not meet it; ties stand in the
        rule's order.
        """
        from dueto.report import letter

        to = {"lender": lender, "date": date, "contact": contact}
        return letter.written(self, path, to=to, names=names or {}, at_most=at_most)

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain data: numbers, texts, None for missing."""
        found = super().to_dict()
        short = {"short_rule": _as_data(self.short)} if self.short is not None else {}
        return found | {
            "rule": _as_data(self.rule),
            "support": vars(self.support).copy(),
            "methods": {"rule": self.finder, **found["methods"]},
            **short,
        }


def _as_data(rule: Rule) -> dict[str, Any]:
    """A rule with how it is known; its scope, where it has one."""
    verdict, least = rule.verdict, rule.least
    assert verdict is not None
    found = rule.to_dict() | {
        "conditions": list(rule.conditions()),
        "least": None if least is None else vars(least) | {"proved": least.proved},
        "verdict": {
            "standing": verdict.standing.value,
            "by": verdict.by,
            "rows_scored": verdict.rows_scored,
            "counterexample": None if verdict.counterexample is None else dict(verdict.counterexample),
        },
    }
    run = {} if rule.run is None else {"run": rule.run.to_dict()}
    return found | run if rule.scope is None else found | run | {"scope": rule.scope.to_dict()}
