"""What is said of a refused row: the rule, what it covers, and the changes that would flip the decision."""

from __future__ import annotations

import json
import textwrap
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, overload

from dueto.counterfactuals import Status
from dueto.errors import in_words
from dueto.report.words import outcome, visible
from dueto.rule import Standing

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from dueto.report.background import Background
    from dueto.rule import Rule

__all__ = ["Change", "Changes", "Counterfactual", "Explanation", "Support"]

WIDTH = 96
FEW = 5  # changes of an exception that are told


@dataclass(frozen=True)
class Change:
    """One feature of a counterfactual: what it is and what it would have to be (None is missing)."""

    feature: str
    before: Any
    after: Any

    def __str__(self) -> str:
        return f"{self.feature}: {in_words(self.before)} → {in_words(self.after)}"


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
class Changes:
    """What would change the decision on a refused row; `print` it for a paragraph.

    Parameters
    ----------
    label : str
        How the text calls the row.
    applicant : dict
        The row, feature by feature.
    desired : label or None
        The class of the desired outcome, where the model names its classes.
    score, threshold : float
        The model's score of the row and the score that the desired outcome must exceed.
    counterfactuals : tuple of Counterfactual
        The changes that would flip the decision, nearest first.
    status : Status
        How sure these are: OPTIMAL (the first is the nearest there is), FOUND, NONE (proved) or UNKNOWN.
    reason : str
        Where there is no counterfactual because the constraints contradict each other: why. Where the first is the
        nearest but for what was given up for fewer digits over a declared range: how much.
    constraints : tuple of str
        The constraints as sentences.
    broken : tuple of str
        Those of them that the row breaks by staying as it is: it has to change, unless no change can mend that.
    method : str
        The counterfactual method that gave them.
    black_box : str
        Why the inside of the model could not be read; empty if it was, or nobody asked. Told where something of the
        answer is not proved.
    unmendable : tuple of str
        Those of the broken that speak only of what the applicant is: no change mends them, so nothing is proposed.
    rows_scored : int
        How many rows the model was asked about.
    seconds : float
        How long it took.
    background : Background, optional
        What a page tells besides: pictures of the data, seed, versions, fingerprints; made when first asked for.
    """

    label: str
    applicant: dict[str, Any]
    desired: Any
    score: float
    threshold: float
    counterfactuals: tuple[Counterfactual, ...]
    status: Status
    reason: str
    constraints: tuple[str, ...]
    broken: tuple[str, ...]
    method: str
    rows_scored: int
    seconds: float
    black_box: str = ""
    unmendable: tuple[str, ...] = ()
    background: Background | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        return visible("\n\n".join(self._paragraphs()))

    def sentences(self) -> dict[str, str]:
        """What `print` says in words, each sentence by its name, without lists and line breaks: for another layout."""
        unread = {"unread": self._unread()} if self.black_box and self._searched() else {}
        return {"decision": self._decision(), "changes": self._changes(), **unread}

    def _paragraphs(self) -> list[str]:
        notes = {c: f"   (the row breaks this as it is, {self.mending(c)})" for c in self.broken}
        told = [f"- {c}{notes.get(c, '')}" for c in self.constraints]
        constraints = [_listed("Constraints on what may change:", told)]
        said = self.sentences()
        why = [_wrap(said["unread"])] if "unread" in said else []
        changes = [f"{c.rank}. {c}   [cost {c.cost:.3g}, score {self.shown(c.score)}]" for c in self.counterfactuals]
        listed = _listed(said["changes"], changes) if changes else _wrap(said["changes"])
        return [_wrap(said["decision"]), listed, *why, *(constraints if self.constraints else ())]

    def mending(self, constraint: str) -> str:
        """What follows from a constraint, given as its sentence, being broken by the row as it is."""
        return "and no change can mend that" if constraint in self.unmendable else "so that has to change"

    def shown(self, score: float) -> str:
        """A score with three digits, or as many as put it on its side of the threshold."""
        return shown(score, self.threshold)

    def _searched(self) -> bool:
        """Whether some of this is only what a search found."""
        return self.status in {Status.FOUND, Status.UNKNOWN}

    def _unread(self) -> str:
        return f"Not all of this is proved, since the inside of the model could not be read: {self.black_box}."

    def _decision(self) -> str:
        return (
            f"{self.label} is refused: its score for {outcome(self.desired)} is {self.shown(self.score)}, "
            f"and more than {self.threshold:g} is needed."
        )

    def _changes(self) -> str:
        if not self.counterfactuals:
            if self.status is Status.NONE:
                why = f": {self.reason}" if self.reason else ""
                which = "No change that the constraints allow" if self.constraints else "No change at all"
                return f"{which} would flip the decision (proved by {self.method}){why}."
            return f"No change that would flip the decision was found by {self.method}, which proves nothing."
        proved = self.reason or "nothing is nearer than the first"
        found = f" (found by {self.method}; something nearer may exist)"
        sure = f" (proved: {proved})" if self.status is Status.OPTIMAL else found
        return f"What would change the decision, nearest first{sure}:"

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain data: numbers, texts, None for missing."""
        return {
            "label": self.label,
            "applicant": dict(self.applicant),
            "desired": self.desired,
            "score": self.score,
            "threshold": self.threshold,
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
            "broken": list(self.broken),
            "unmendable": list(self.unmendable),
            "methods": {"counterfactual": self.method},
            "black_box": self.black_box if self._searched() else "",
            "rows_scored": self.rows_scored,
            "seconds": self.seconds,
            **({} if self.background is None else {"provenance": self.background.provenance}),
        }

    def to_json(self, *, indent: int | None = 2) -> str:
        """`to_dict` as JSON."""
        return json.dumps(self.to_dict(), indent=indent, ensure_ascii=False, allow_nan=False)

    @overload
    def to_html(self, path: None = None, *, what_if: bool = True) -> str: ...

    @overload
    def to_html(self, path: str | Path, *, what_if: bool = True) -> None: ...

    def to_html(self, path: str | Path | None = None, *, what_if: bool = True) -> str | None:
        """A page: one file that needs no network, for the screen and for paper.

        Parameters
        ----------
        path : str or Path, optional
            Where to write it; a file that is there is replaced. Without a path, the text is returned.
        what_if : bool
            Whether the page lets features be moved. For that a model whose inside is not known has to score some
            thousand rows: say False if it is slow.

        Returns
        -------
        str or None
            The page, if no path is given.

        Raises
        ------
        InputError
            If the file cannot be written.
        """
        from dueto.report.applicant import page
        from dueto.report.page import saved

        return saved(page(self, what_if=what_if), path)

    @overload
    def to_markdown(self, path: None = None) -> str: ...

    @overload
    def to_markdown(self, path: str | Path) -> None: ...

    def to_markdown(self, path: str | Path | None = None) -> str | None:
        """The same in Markdown, without the pictures; see `to_html`."""
        from dueto.report.applicant import markdown
        from dueto.report.page import saved

        return saved(markdown(self), path)

    def _repr_html_(self) -> str | None:
        """The page in a frame of its own, for a notebook; for the what-if no black box is asked."""
        from dueto.report.page import framed

        return framed(lambda: self.to_html(what_if=not self.black_box), f"Why {self.label} is refused")


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
            listed = _listed(said["due_to"], [f"- {c}" for c in self.rule.conditions()])
            why = [f"{listed}\n{_wrap(said['claim'])}", _wrap(said["scope"])]
        elif "nothing" in said:
            why = [_wrap(said["nothing"])]
        short = [_wrap(said["short"])] if self.short else []
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


def shown(score: float, threshold: float) -> str:
    """A score with three digits, or as many as put it on its side of the threshold."""
    texts = (f"{score:.{digits}g}" for digits in range(3, 17))
    return next((text for text in texts if (float(text) > threshold) == (score > threshold)), repr(score))


def not_refused(label: str, score: float, threshold: float, hint: str) -> str:
    """Why there is nothing to explain."""
    above = f"its score {shown(score, threshold)} is above the threshold {threshold:g}"
    return f"{label} is not refused: {above}, so there is no refusal to explain; {hint}"


def _listed(heading: str, lines: Iterable[str]) -> str:
    return "\n".join([heading, *(f"  {line}" for line in lines)])


def _wrap(text: str) -> str:
    return textwrap.fill(text, WIDTH, break_long_words=False, break_on_hyphens=False)
