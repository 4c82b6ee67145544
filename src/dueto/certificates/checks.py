"""What a verification says, claim by claim."""

from __future__ import annotations

import json
import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Check", "Verification"]

WIDTH, MARKS = 96, {True: "yes", False: "NO", None: "?"}


@dataclass(frozen=True)
class Check:
    """One claim of a certificate, and what became of it.

    Parameters
    ----------
    claim : str
        What is claimed, in a few words.
    ok : bool or None
        True if it was shown again, False if it is refuted, None if neither within the time.
    how : str
        How that is known, as a sentence.
    row : mapping, optional
        The row that refutes it, feature by feature.
    """

    claim: str
    ok: bool | None
    how: str
    row: Mapping[str, Any] | None = None

    def __str__(self) -> str:
        lines = textwrap.wrap(f"{self.claim}. {self.how}", WIDTH - 5, break_long_words=False, break_on_hyphens=False)
        return "\n".join(f"{MARKS[self.ok] if not i else '':<5}{line}" for i, line in enumerate(lines))


@dataclass(frozen=True)
class Verification:
    """What became of a certificate; `print` it.

    Parameters
    ----------
    rule : str
        The rule, as text.
    checks : tuple of Check
        One for each claim.
    seconds : float
        How long it took.
    nobody : bool
        Whether the constraints leave nobody at all, so that any rule holds and says nothing.
    """

    rule: str
    checks: tuple[Check, ...]
    seconds: float
    nobody: bool = False

    @property
    def verified(self) -> bool:
        """Whether every claim was shown again."""
        return all(check.ok for check in self.checks)

    @property
    def refuted(self) -> bool:
        """Whether some claim is false."""
        return any(check.ok is False for check in self.checks)

    @property
    def status(self) -> str:
        """In a word or two: "verified", "refuted" or "not decided"."""
        return "verified" if self.verified else "refuted" if self.refuted else "not decided"

    def __str__(self) -> str:
        said = "the constraints leave nobody, so no rule is needed" if self.nobody and self.verified else self.rule
        return "\n".join([f"{self.status.capitalize()}: {said}", "", *map(str, self.checks)])

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain data."""
        checks = [vars(check) | {"row": None if check.row is None else dict(check.row)} for check in self.checks]
        told = {"status": self.status, "rule": self.rule, "nobody": self.nobody}
        return told | {"checks": checks, "seconds": self.seconds}

    def to_json(self, *, indent: int | None = 2) -> str:
        """`to_dict` as JSON."""
        return json.dumps(self.to_dict(), indent=indent, ensure_ascii=False, allow_nan=False)
