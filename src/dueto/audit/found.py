"""What an audit says of each rule, as text and as data."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from dueto.changes import WIDTH, Change
from dueto.rule import Rule

if TYPE_CHECKING:
    from dueto.explanation import Support
    from dueto.rule import Component

__all__ = ["Audit", "Category", "Judgement"]

SHOWN = 12  # features of a counterexample, or components, that the text names


class Category(StrEnum):
    """What a rule is worth. Consistent: no possible applicant whom the constraints allow meets it and is accepted.

    NOT_RELEVANT: its own row does not meet it. FDC (fails data consistency): a row of the data that the constraints
    allow meets it and is accepted. FGC (fails global consistency): no such row, but a possible applicant does.
    REDUNDANT: consistent, and stays so without some of its components. NOT_MINIMAL: consistent, needs every component,
    and another rule that the row meets has fewer and is consistent. MINIMAL: consistent, and no such rule has fewer;
    without a row: consistent, and needs every component. UNREFUTED: a search found nothing against it, which proves
    nothing. CONSISTENT: proved to be, but not whether it needs to be so long.
    """

    NOT_RELEVANT = "not relevant"
    FDC = "FDC"
    FGC = "FGC"
    UNREFUTED = "not refuted"
    REDUNDANT = "GC redundant"
    NOT_MINIMAL = "GC not minimal"
    MINIMAL = "GC minimal"
    CONSISTENT = "GC"


WORDS = {
    Category.NOT_RELEVANT: "does not cover its own row",
    Category.FDC: "a row of the data meets it and is accepted",
    Category.FGC: "a possible applicant, not in the data, meets it and is accepted",
    Category.UNREFUTED: "a search found nothing against it, which proves nothing",
    Category.REDUNDANT: "holds (proved), also without some of its conditions",
    Category.NOT_MINIMAL: "holds (proved), but a shorter rule does too",
    Category.MINIMAL: "holds (proved), and cannot be shortened",
    Category.CONSISTENT: "holds (proved); whether a shorter rule does is not known",
}


@dataclass(frozen=True, kw_only=True)
class Judgement:
    """One rule, judged; `print` it for a short paragraph.

    Parameters
    ----------
    rule : Rule
        As it was understood: components that can be dropped one by one, equality on an ordered feature being two.
    category : Category
        What it is worth.
    proved : bool
        Whether the category is certain: by an example that the model itself confirmed, or by an exact method. False for
        UNREFUTED and CONSISTENT only.
    by : str
        What found the counterexample, or showed or searched that there is none.
    rows_scored : int
        How many rows the model was asked about.
    support : Support
        How the rule fares on the rows of the data.
    barred : int
        Those of the accepted who are no argument against it: the constraints, or a space declared narrower than the
        data, rule them out.
    label : str
        What the text calls the row that the rule is about; empty if it was judged without one.
    applicant : mapping, optional
        That row, feature by feature.
    broken : tuple of Component
        Those that the row does not meet, if it is not relevant.
    counterexample : mapping, optional
        Somebody who meets the rule, whom the constraints allow, and who is accepted, feature by feature.
    data_row : int, optional
        The position of the counterexample in the data, if it is there.
    redundant : tuple of Component
        Components without all of which the rule is proved to stay consistent; as many as can go together with these.
    shorter : Rule, optional
        A consistent rule with fewer components, over the row's own values.
    at_least : int, optional
        Proved: no consistent rule that the row meets has fewer components. None if that was not asked.
    warnings : tuple of str
        What else should be known: that no row of the data meets the rule, say.
    """

    rule: Rule
    category: Category
    proved: bool
    by: str
    rows_scored: int
    support: Support
    barred: int = 0
    label: str = ""
    applicant: Mapping[str, Any] | None = None
    broken: tuple[Component, ...] = ()
    counterexample: Mapping[str, Any] | None = None
    data_row: int | None = None
    redundant: tuple[Component, ...] = ()
    shorter: Rule | None = None
    at_least: int | None = None
    warnings: tuple[str, ...] = ()

    @property
    def rows(self) -> int:
        """How many rows of the data meet the rule."""
        return self.support.refused + self.support.accepted

    @property
    def consistent(self) -> bool | None:
        """Whether the rule is consistent: True if proved, False if refuted, None if not known (or not asked)."""
        if self.category in (Category.UNREFUTED, Category.NOT_RELEVANT):
            return None
        return self.category not in (Category.FDC, Category.FGC)

    def __str__(self) -> str:
        s = self.support
        barred = f" ({'' if self.barred == s.accepted else f'{self.barred:,} of them '}out of reach)" * bool(
            self.barred
        )
        covered = f"Of {s.rows:,} rows, {self.rows:,} meet it: {s.refused:,} refused, {s.accepted:,} accepted{barred}."
        told = [f"{self.category}: {self._why()}", covered, *(f"Note: {warning}." for warning in self.warnings)]
        return "\n".join([str(self.rule), *(_indented(text) for text in told)])

    def _why(self) -> str:
        if self.category is Category.NOT_RELEVANT:
            return f"{self.label or 'the row'} does not meet {_listed(self.broken)}."
        if self.category is Category.FDC:
            return f"row {self.data_row} of the data meets it and is accepted{self._example()}."
        if self.category is Category.FGC:
            return f"a possible applicant meets it and is accepted (found by {self.by}){self._example()}."
        if self.category is Category.UNREFUTED:
            return f"{self.by} scored {self.rows_scored:,} rows and found no exception, which proves nothing."
        return f"it holds (proved by {self.by}), {self._length()}"

    def _length(self) -> str:
        if self.category is Category.REDUNDANT:
            return f"also without {_listed(self.redundant)}."
        if self.category is Category.NOT_MINIMAL:
            return f"and needs every condition, but this shorter rule holds too: {self.shorter}."
        if self.category is Category.CONSISTENT:
            n = self.at_least
            least = f", of at least {n} component{'s' * (n > 1)}," if n else ""
            return f"but whether a shorter rule{least} holds is not known."
        if not self.label:
            return "and needs every condition."
        return f"and no rule that {self.label} meets has fewer components and holds."

    def _example(self) -> str:
        """The counterexample: how it differs from the row, or as it is."""
        found = self.counterexample or {}
        if self.applicant is None:
            parts = [f"{name} = {'missing' if value is None else value}" for name, value in found.items()]
        else:
            parts = [str(Change(f, self.applicant[f], v)) for f, v in found.items() if v != self.applicant[f]]
        if not parts:
            return ": the row itself"
        return f": {'; '.join(parts[:SHOWN])}{f' and {len(parts) - SHOWN} more' if len(parts) > SHOWN else ''}"

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain data."""
        return vars(self) | {
            "rule": self.rule.to_dict(),
            "category": self.category.value,
            "consistent": self.consistent,
            "rows": self.rows,
            "support": vars(self.support).copy(),
            "applicant": None if self.applicant is None else dict(self.applicant),
            "broken": _data(self.broken),
            "counterexample": None if self.counterexample is None else dict(self.counterexample),
            "redundant": _data(self.redundant),
            "shorter": None if self.shorter is None else self.shorter.to_dict(),
            "warnings": list(self.warnings),
        }


@dataclass(frozen=True, kw_only=True)
class Audit(Sequence[Judgement]):
    """Rules, judged; a sequence of `Judgement`, and `print` it for a table.

    Parameters
    ----------
    judgements : tuple of Judgement
        In the order of the rules.
    constraints : tuple of str
        The constraints in force, as sentences: "holds" means, for those whom they allow.
    """

    judgements: tuple[Judgement, ...]
    constraints: tuple[str, ...] = ()

    @property
    def counts(self) -> dict[str, int]:
        """How many rules are in each category, all of them named."""
        return {c.value: sum(one.category is c for one in self.judgements) for c in Category}

    def __len__(self) -> int:
        return len(self.judgements)

    def __getitem__(self, at: Any) -> Any:
        return self.judgements[at]

    def __str__(self) -> str:
        told = [f"{i}. {textwrap.indent(str(one), '   ').strip()}" for i, one in enumerate(self.judgements, start=1)]
        if self.constraints:
            told.append("\n".join(["For those whom the constraints allow:", *(f"  - {c}" for c in self.constraints)]))
        return "\n\n".join([self._table(), *told])

    def _table(self) -> str:
        counts = {c: self.counts[c.value] for c in Category if self.counts[c.value]}
        heading = f"{len(self)} rule{'' if len(self) == 1 else 's'}:"
        return "\n".join([heading, *(f"  {n:>5,}  {c.value:<14}  {WORDS[c]}" for c, n in counts.items())])

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain data: numbers, texts, None for missing."""
        return {
            "rules": len(self),
            "counts": self.counts,
            "constraints": list(self.constraints),
            "judgements": [one.to_dict() for one in self.judgements],
        }

    def to_json(self, *, indent: int | None = 2) -> str:
        """`to_dict` as JSON."""
        return json.dumps(self.to_dict(), indent=indent, ensure_ascii=False, allow_nan=False)


def _data(components: Sequence[Component]) -> list[dict[str, Any]]:
    return [vars(component).copy() for component in components]


def _listed(components: Sequence[Component]) -> str:
    return str(Rule(tuple(components)))


def _indented(text: str) -> str:
    return textwrap.fill(
        text, WIDTH, initial_indent="  ", subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
    )
