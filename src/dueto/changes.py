"""What would change the decision on a refused row, as text, as data and as pages."""

from __future__ import annotations

import json
import textwrap
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, overload

from dueto.counterfactuals import Status
from dueto.errors import in_words
from dueto.report.words import outcome, visible

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from dueto.report.background import Background

__all__ = ["WIDTH", "Change", "Changes", "Counterfactual", "listed", "not_refused", "shown", "wrapped"]

WIDTH = 96


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
        Those of the broken that no change mends: nothing that the applicant could become meets them.
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
        constraints = [listed("Constraints on what may change:", told)]
        said = self.sentences()
        why = [wrapped(said["unread"])] if "unread" in said else []
        changes = [f"{c.rank}. {c}   [cost {c.cost:.3g}, score {self.shown(c.score)}]" for c in self.counterfactuals]
        found = listed(said["changes"], changes) if changes else wrapped(said["changes"])
        return [wrapped(said["decision"]), found, *why, *(constraints if self.constraints else ())]

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


def shown(score: float, threshold: float) -> str:
    """A score with three digits, or as many as put it on its side of the threshold."""
    texts = (f"{score:.{digits}g}" for digits in range(3, 17))
    return next((text for text in texts if (float(text) > threshold) == (score > threshold)), repr(score))


def not_refused(label: str, score: float, threshold: float, hint: str) -> str:
    """Why there is nothing to explain."""
    above = f"its score {shown(score, threshold)} is above the threshold {threshold:g}"
    return f"{label} is not refused: {above}, so there is no refusal to explain; {hint}"


def listed(heading: str, lines: Iterable[str]) -> str:
    """A list below its heading."""
    return "\n".join([heading, *(f"  {line}" for line in lines)])


def wrapped(text: str) -> str:
    """A paragraph in lines of at most `WIDTH` characters."""
    return textwrap.fill(text, WIDTH, break_long_words=False, break_on_hyphens=False)
