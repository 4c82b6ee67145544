"""A rule from its text, read with the space at hand: names and labels may hold blanks, commas and operators."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from dueto.audit.vocabulary import OPERATORS
from dueto.errors import InputError
from dueto.rule import NUMBER, Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dueto.audit.vocabulary import Bound, Place, Vocabulary

    _State = tuple[int, int]
    _Step = tuple[list[Bound], _State]
    _Link = tuple[()] | tuple[Bound, "_Link"]

__all__ = ["parse_rule"]

EVERYBODY = str(Rule(()))
_FLIPPED = str.maketrans("<>", "><")
_OPERATOR = re.compile(r"\s*(<=|>=|==|!=|<>|=<|=>|<|>|=|≤|≥|≠)\s*")
_LOW, _HIGH = (f"(?P<{end}>{NUMBER.pattern})" for end in ("low", "high"))
_INTERVAL = re.compile(rf"\s+in\s+(?P<opens>[\[\]])\s*{_LOW}\s*,\s*{_HIGH}\s*(?P<closes>[\[\]])")
_MISSING = re.compile(r"\s+is\s+missing\b", re.IGNORECASE)
_JOINT = re.compile(r"\s*(?:[,;∧]|&&?)\s*|\s+and\s+", re.IGNORECASE)
_HANGING = re.compile(r"\s*([,;∧]|&&?|\band)[\s)]*$", re.IGNORECASE)
_OPEN, _CLOSE = re.compile(r"\(\s*"), re.compile(r"\s*\)")
_QUOTED = re.compile(r"""("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`[^`]*`)""")
_NUMPY = re.compile(
    r"\b(?:np|numpy)\.(?:\w+\((?P<value>[^()]+)\)|(?P<truth>True|False)_\b)"
)  # np.float64(2.5), np.True_
_END = -1


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
    found = reading.readings()
    if not found:
        plain = _NUMPY.sub(lambda m: m["value"] or m["truth"], text)
        if plain != text:
            return parse_rule(plain, words)
        raise InputError(reading.complaint())
    if len(found) > 1:
        raise InputError(f"{text!r} can be read in two ways; put names and labels in quotes")
    return found[0]


class _Reading:
    """The readings of one text. Conditions can only be joined, so that brackets just have to match.

    A state is a place in the text and how many brackets are open there. A reading is a linked list, (bound, rest), and
    the same list is the same object.
    """

    def __init__(self, text: str, words: Vocabulary) -> None:
        self.text, self.words = text, words
        self.reached, self.ended, self.left_open = 0, 0, False
        self.names = sorted(words.names, key=len, reverse=True)
        self.longest = max((len(str(label)) for f in words.space.features for label in f.labels), default=0)
        self.links: dict[tuple[str, int], _Link] = {}

    def readings(self) -> list[list[Bound]]:
        """Two readings of the text, or as many as there are; a name on the left is preferred to one on the right."""
        known: dict[_State, list[_Link]] = {(_END, 0): [()]}
        todo: list[tuple[_State, bool, list[_Step]]] = [((0, 0), True, list(self.steps((0, 0), self.named)))]
        while todo:
            state, first, steps = todo.pop()
            if state in known:
                continue
            if ahead := next((to for _, to in steps if to not in known), None):
                todo += [(state, first, steps), (ahead, True, list(self.steps(ahead, self.named)))]
                continue
            found = {id(link): link for bounds, to in steps for rest in known[to] for link in [self.link(bounds, rest)]}
            if found or not first:
                known[state] = list(found.values())[:2]
            else:
                todo.append((state, False, list(self.steps(state, self.valued))))
        return [_unlinked(link) for link in known[0, 0]]

    def steps(self, state: _State, form: Any) -> Iterator[_Step]:
        """What can be read next in a form, and the state after it."""
        at, depth = state
        self.reached = max(self.reached, at)
        if form == self.named and (opened := _OPEN.match(self.text, at)):
            yield [], (opened.end(), depth + 1)
        for bounds, end in form(at):
            yield from ((bounds, to) for to in self.after(end, depth))

    def after(self, end: int, depth: int) -> Iterator[_State]:
        """The states that can follow a condition."""
        while True:
            self.ended = max(self.ended, end)
            if end == len(self.text):
                self.left_open |= depth > 0
                if not depth:
                    yield _END, 0
            elif (joint := _JOINT.match(self.text, end)) and not _HANGING.match(self.text, end):
                yield joint.end(), depth
            closed = _CLOSE.match(self.text, end) if depth else None
            if closed is None:
                return
            end, depth = closed.end(), depth - 1

    def link(self, bounds: list[Bound], rest: _Link) -> _Link:
        """Some conditions before a reading of the rest."""
        for bound in reversed(bounds):
            rest = self.links.setdefault((repr(bound), id(rest)), (bound, rest))  # NaN is not equal to itself
        return rest

    def named(self, at: int) -> Iterator[tuple[list[Bound], int]]:
        """Conditions that begin with a name, and where each ends."""
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
        ends = [found.end() for form in (_QUOTED, NUMBER) if (found := form.match(self.text, at))]
        farthest = max([at + self.longest, at + len("missing"), *ends])
        for sign in _OPERATOR.finditer(self.text, at):
            if sign.start() > farthest:
                return
            for place, end in self.places(sign.end()):
                for value, stop in self.values(place, at):
                    if stop != sign.start():
                        continue
                    first = self.words.bound(place, OPERATORS[sign[1]].translate(_FLIPPED), value)
                    yield [first], end
                    if second := _OPERATOR.match(self.text, end):
                        for other, after in self.values(place, second.end()):
                            yield [first, self.words.bound(place, OPERATORS[second[1]], other)], after

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
        if self.left_open:
            return f"{self.text!r} cannot be read: a bracket is not closed; add ')' or leave the '(' out"
        if self.ended > self.reached:
            if hanging := _HANGING.match(self.text, self.ended):
                return f"no condition stands after the last {hanging[1]!r}; leave it out, or write the condition"
            if _CLOSE.match(self.text, self.ended):
                return f"{self.text!r} cannot be read: a bracket is closed that was not opened; leave that ')' out"
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


def _unlinked(link: _Link) -> list[Bound]:
    found = []
    while link:
        bound, link = link
        found.append(bound)
    return found


def _bare(text: str) -> str:
    return _unquoted(text) if _QUOTED.fullmatch(text) else text


def _unquoted(text: str) -> str:
    return text[1:-1] if text[0] == "`" else re.sub(r"\\(.)", r"\1", text[1:-1])
