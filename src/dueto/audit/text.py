"""A rule from its text, read with the space at hand: names and labels may hold blanks, commas and operators."""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING, Any

from dueto.audit.vocabulary import OPERATORS
from dueto.errors import InputError
from dueto.rule import NUMBER, Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dueto.audit.vocabulary import Bound, Place, Vocabulary

__all__ = ["parse_rule"]

EVERYBODY = str(Rule(()))
_FLIPPED = str.maketrans("<>", "><")
_OPERATOR = re.compile(r"\s*(<=|>=|==|!=|<>|=<|<|>|=|≤|≥|≠)\s*")
_LOW, _HIGH = (f"(?P<{end}>{NUMBER.pattern})" for end in ("low", "high"))
_INTERVAL = re.compile(rf"\s+in\s+(?P<opens>[\[\]])\s*{_LOW}\s*,\s*{_HIGH}\s*(?P<closes>[\[\]])")
_MISSING = re.compile(r"\s+is\s+missing\b", re.IGNORECASE)
_JOINT = re.compile(r"\s*(?:[,;∧]|&&?)\s*|\s+and\s+", re.IGNORECASE)
_QUOTED = re.compile(r"""("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`[^`]*`)""")


def parse_rule(text: str, words: Vocabulary) -> list[Bound]:
    """The conditions of a rule.

    Conditions such as `age <= 40`, `10 < debt <= 20`, `job = clerk`, `debt in ]10, 20]` or `income is missing` are
    joined by `and`, `&` or a comma, in brackets or not. Names and labels stand as they are, or in quotes.

    Raises
    ------
    InputError
        If the text cannot be read, or in two ways.
    """
    if text.strip() == EVERYBODY:
        return []
    reading = _Reading(text.strip(), words)
    found = list(islice(reading.distinct(), 2))
    if not found:
        raise InputError(reading.complaint())
    if len(found) > 1:
        raise InputError(f"{text!r} can be read in two ways; put names and labels in quotes")
    return found[0]


class _Reading:
    def __init__(self, text: str, words: Vocabulary) -> None:
        self.text, self.words, self.reached = text, words, 0
        self.names = sorted(words.names, key=len, reverse=True)
        self.dead: set[int] = set()

    def distinct(self) -> Iterator[list[Bound]]:
        """Every reading once."""
        seen = set()
        for found in self.rest(0):
            key = repr(found)  # NaN is not equal to itself
            if key not in seen:
                seen.add(key)
                yield found

    def rest(self, at: int) -> Iterator[list[Bound]]:
        """Every reading of the text from here; a name on the left is preferred to one on the right."""
        if at in self.dead:
            return
        self.reached = max(self.reached, at)
        read = False
        for form in (self.named, self.valued):
            for found, end in form(at):
                if end == len(self.text):
                    read = True
                    yield found
                elif joint := _JOINT.match(self.text, end):
                    for more in self.rest(joint.end()):
                        read = True
                        yield found + more
            if read:
                return
        self.dead.add(at)

    def named(self, at: int) -> Iterator[tuple[list[Bound], int]]:
        """Conditions that begin with a name, and where each ends."""
        yield from self.bracketed(at, self.named)
        for place, end in self.places(at):
            if found := _OPERATOR.match(self.text, end):
                for value, after in self.values(place, found.end()):
                    yield [self.words.bound(place, OPERATORS[found[1]], value)], after
            if found := _MISSING.match(self.text, end):
                yield [self.words.bound(place, "=", None)], found.end()
            if found := _INTERVAL.match(self.text, end):
                low, high = ">=" if found["opens"] == "[" else ">", "<=" if found["closes"] == "]" else "<"
                pairs = ((low, found["low"]), (high, found["high"]))
                yield [self.words.bound(place, op, float(value)) for op, value in pairs], found.end()

    def valued(self, at: int) -> Iterator[tuple[list[Bound], int]]:
        """Conditions that begin with a value: `40 >= age`, `10 < debt <= 20`."""
        yield from self.bracketed(at, self.valued)
        for sign in _OPERATOR.finditer(self.text, at):
            for place, end in self.places(sign.end()):
                for value, stop in self.values(place, at):
                    if stop != sign.start():
                        continue
                    first = self.words.bound(place, OPERATORS[sign[1]].translate(_FLIPPED), value)
                    yield [first], end
                    if second := _OPERATOR.match(self.text, end):
                        for other, after in self.values(place, second.end()):
                            yield [first, self.words.bound(place, OPERATORS[second[1]], other)], after

    def bracketed(self, at: int, form: Any) -> Iterator[tuple[list[Bound], int]]:
        """One condition in brackets."""
        if self.text.startswith("(", at):
            for found, end in form(at + 1):
                if self.text.startswith(")", end):
                    yield found, end + 1

    def places(self, at: int) -> Iterator[tuple[Place, int]]:
        """The features whose name stands here, and where it ends."""
        for name in self.names:
            if self.text.startswith(name, at):
                yield self.words.names[name], at + len(name)
        if (found := _QUOTED.match(self.text, at)) and (name := _unquoted(found[1])) in self.words.names:
            yield self.words.names[name], found.end()

    def values(self, place: Place, at: int) -> Iterator[tuple[Any, int]]:
        """The values of a feature that stand here, and where they end."""
        feature = self.words.space.features[place.feature]
        named = feature.labelled and place.column is None
        labels = {str(label): label for label in feature.labels} if named else {}
        seen = set()
        for text, label in labels.items():
            if self.text.startswith(text, at):
                seen.add(at + len(text))
                yield label, at + len(text)
        if (found := _QUOTED.match(self.text, at)) and (text := _unquoted(found[1])) in labels:
            yield labels[text], found.end()
        if (found := NUMBER.match(self.text, at)) and found.end() not in seen and not _texts(labels):
            yield float(found[0]), found.end()
        if self.text.startswith("missing", at) and ("missing" not in labels or feature.domain.missing):
            yield None, at + len("missing")

    def complaint(self) -> str:
        """Why the text cannot be read: what is wrong with the first condition that no reading gets past."""
        rest = self.text[self.reached :]
        end = _JOINT.search(rest, 1)
        told = rest[: end.start()] if end else rest
        sign = _OPERATOR.search(told)
        if sign is None:
            if named := re.match(r"(.+?)\s+(?:in|is)\s", rest):
                try:
                    self.words.place(_bare(named[1]))
                except InputError as problem:
                    return f"{told!r} cannot be read: {problem}"
            hint = "; numbers are written without commas" if re.search(r"\d,\d{3}", self.text) else ""
            return f"{told!r} is no condition; write one as in age <= 40 or job = clerk{hint}"
        left, right = told[: sign.start()].strip(" ()"), told[sign.end() :].strip(" ()")
        place = next((p for p, stop in self.places(self.reached) if _OPERATOR.match(self.text, stop)), None)
        if place is None and NUMBER.fullmatch(left):
            left, right = _OPERATOR.split(right)[0], left
        try:
            place = place or self.words.place(_bare(left))
            self.words.bound(place, OPERATORS[sign[1]], _bare(right))
        except InputError as problem:
            return f"{told!r} cannot be read: {problem}"
        return f"{told!r} cannot be read; write a condition as in age <= 40 or job = clerk, and join them by 'and'"


def _texts(labels: dict[str, Any]) -> bool:
    return any(isinstance(label, str) for label in labels.values())


def _bare(text: str) -> str:
    return _unquoted(text) if _QUOTED.fullmatch(text) else text


def _unquoted(text: str) -> str:
    return text[1:-1] if text[0] == "`" else re.sub(r"\\(.)", r"\1", text[1:-1])
