"""Whatever says a rule, as rules: our objects and JSON, text, and what alibi and PyXAI give."""

from __future__ import annotations

import json
import reprlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dueto.audit.text import parse_rule
from dueto.audit.vocabulary import OPERATORS
from dueto.errors import InputError
from dueto.explanation import Explanation
from dueto.rule import Component, Rule

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dueto.audit.vocabulary import Bound, Vocabulary

__all__ = ["Entry", "entries", "read_rule"]

FORMS = "a rule is a text such as 'age <= 40 and job = clerk', a Rule, or its JSON"
NESTED = "brackets are nested too deep; give a rule as a flat list of conditions, or as a text"
NAMES, SIGNS, VALUES = ("feature", "name"), ("op", "operator", "operator_sign_considered"), ("value", "threshold")


@dataclass(frozen=True)
class Entry:
    """A rule as it was given, where it stands, and the row that it came with.

    Parameters
    ----------
    where : str
        What errors call it.
    rule : Rule, str or list of conditions
        What `read_rule` takes.
    row : int, optional
        The row of the data that it came with.
    applicant : mapping, optional
        The applicant that it came with, feature by feature.
    label : str
        What that one is called.
    """

    where: str
    rule: Any
    row: int | None = None
    applicant: Mapping[str, Any] | None = None
    label: str = "its own row"


def entries(given: Any) -> list[Entry]:
    """The rules of what a user gives, one or many; see `dueto.audit`.

    Raises
    ------
    InputError
        If there is none, a file cannot be read, or something is no rule.
    """
    if isinstance(given, Path):
        return _of_text(_text_of(given), f"{given.name}, ")
    if isinstance(given, str):
        return _of_text(given, "")
    if _is_rule(given):
        return [_entry(given, "rule 1")]
    if not isinstance(given, Sequence | np.ndarray):
        raise TypeError(f"{given!r} is no rule; {FORMS}")
    if not len(given):
        raise InputError(f"there is no rule to audit; {FORMS}")
    return [_entry(one, f"rule {i}") for i, one in enumerate(given, start=1)]


def read_rule(given: Any, words: Vocabulary, own: NDArray[np.float64]) -> tuple[Rule, list[str]]:
    """The rule of an entry, over components that can be dropped one by one; and what was left out of it.

    `own` (n,) is the encoded applicant that it is about, NaN where there is none.
    """
    bounds = parse_rule(given, words) if isinstance(given, str) else [b for part in given for b in _bounds(part, words)]
    kept = [bound for bound in bounds if not bound.note]
    parts = [component for bound in kept for component in words.components(bound, float(own[bound.feature]))]
    place = {name: j for j, name in enumerate(words.space.names)}
    parts.sort(key=lambda component: place[component.feature])
    return Rule(tuple(parts)), [bound.note for bound in bounds if bound.note]


def _of_text(text: str, where: str) -> list[Entry]:
    if text.lstrip().startswith(("{", "[")):
        try:
            given = json.loads(text)
        except json.JSONDecodeError as problem:
            raise InputError(f"{where}line {problem.lineno}: this is no JSON: {problem.msg}; correct it") from None
        except RecursionError:
            raise InputError(f"{where}{NESTED}") from None
        except ValueError as problem:  # a number with thousands of digits
            raise InputError(f"{where}this JSON cannot be read: {problem}") from None
        try:
            found = entries(given)
        except (InputError, TypeError) as problem:
            raise InputError(f"{where}{problem}") from None
        return [replace(entry, where=f"{where}{entry.where}") for entry in found]
    if (inner := _json_text(text)) is not None:
        return _of_text(inner, where)
    lines = [(i, line.strip()) for i, line in enumerate(text.splitlines(), start=1)]
    lines = [(i, line) for i, line in lines if line and not line.startswith("#")]
    if not lines:
        raise InputError(f"{where}there is no rule to audit; {FORMS}")
    if len(lines) == 1 and not where:
        return [Entry("rule 1", lines[0][1])]
    return [Entry(f"{where}line {i}", line) for i, line in lines]


def _json_text(text: str) -> str | None:
    """What a JSON text holds if that is all there is; no rule is one quoted name."""
    try:
        found = json.loads(text) if text.lstrip().startswith('"') else None
    except ValueError:
        return None
    return found if isinstance(found, str) else None


def _text_of(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except OSError as problem:
        raise InputError(f"cannot read {path}: {problem.strerror or problem}") from None
    except UnicodeDecodeError:
        raise InputError(f"{path} is not a text file in UTF-8") from None


def _is_rule(given: Any) -> bool:
    """Whether something is one rule: an object, a mapping, or a list of conditions that are no texts."""
    if isinstance(given, str | Rule | Mapping | Explanation) or hasattr(given, "anchor"):
        return True
    return isinstance(given, Sequence) and len(given) > 0 and (_is_triple(given) or all(map(_is_condition, given)))


def _is_condition(given: Any) -> bool:
    if isinstance(given, Mapping):
        return any(key in given for key in NAMES) and any(key in given for key in SIGNS)
    return isinstance(given, Component) or _is_triple(given)


def _is_triple(given: Any) -> bool:
    """Whether something is ("age", "<=", 40)."""
    if isinstance(given, str) or not isinstance(given, Sequence) or len(given) != 3:
        return False
    return isinstance(given[1], str) and given[1] in OPERATORS


def _entry(given: Any, where: str) -> Entry:
    if isinstance(given, Explanation):
        return Entry(where, given.rule, applicant=given.applicant, label=given.label)
    if isinstance(given, str | Rule):
        return Entry(where, given)
    if isinstance(given, Mapping):
        return _of_mapping(given, where)
    if hasattr(given, "anchor"):
        return Entry(where, _conditions(given.anchor, "anchor", where))
    if isinstance(given, Sequence):
        return Entry(where, [given] if _is_triple(given) else list(given))
    raise TypeError(f"{where}: {given!r} is no rule; {FORMS}")


def _of_mapping(given: Mapping[Any, Any], where: str) -> Entry:
    """Our JSON of a rule or of an explanation, alibi's of an explanation, PyXAI's details, or one condition."""
    if _is_condition(given):
        return Entry(where, [given])
    if "components" in given:
        return Entry(where, _conditions(given["components"], "components", where))
    if "rule" in given:
        found = _nested(given["rule"], where)
        row, applicant, label = given.get("row"), given.get("applicant"), str(given.get("label", found.label))
        if isinstance(row, str | bool | float):
            raise InputError(f"{where}: its 'row' must be a whole number, the position in the data, got {row!r}")
        if applicant is not None and not hasattr(applicant, "keys"):
            told = reprlib.repr(applicant)
            raise InputError(
                f"{where}: its 'applicant' must name each feature with its value, got {told}; give the row"
            )
        return replace(found, row=row, applicant=applicant, label=label)
    data = given.get("data", given)
    if isinstance(data, Mapping) and "anchor" in data:
        return Entry(where, _conditions(data["anchor"], "anchor", where))
    lists = [part for part in given.values() if isinstance(part, list) and all(map(_is_condition, part))]
    if lists and len(lists) == len(given):
        return Entry(where, [condition for part in lists for condition in part])
    keys = ", ".join(map(repr, list(given)[:4])) or "nothing"
    raise InputError(f"{where}: a mapping with {keys} is no rule; it needs 'components', 'rule' or 'anchor'")


def _nested(given: Any, where: str) -> Entry:
    try:
        return _entry(given, where)
    except RecursionError:
        raise InputError(f"{where}: {NESTED}") from None


def _conditions(given: Any, key: str, where: str) -> list[Any]:
    """A list of conditions, or the one text that stands for it."""
    if isinstance(given, str):
        return [given]
    if not isinstance(given, Sequence | np.ndarray):
        raise InputError(f"{where}: {key!r} must be a list of conditions, got {reprlib.repr(given)}; {FORMS}")
    return list(given)


def _bounds(part: Any, words: Vocabulary) -> list[Bound]:
    """What one condition of a list says."""
    if isinstance(part, str):
        return parse_rule(part, words)
    if isinstance(part, Component):
        part = (part.feature, part.op, part.value)
    elif isinstance(part, Mapping):
        part = tuple(_one(part, keys) for keys in (NAMES, SIGNS, VALUES))
    if not (isinstance(part, Sequence) and len(part) == 3):
        raise InputError(
            f"{reprlib.repr(part)} is no condition; give a text such as 'age <= 40', or feature, op and value"
        )
    name, sign, value = part
    if not isinstance(sign, str) or sign not in OPERATORS:
        raise InputError(f"a condition on {name!r} cannot use {sign!r}; use '<=', '>=', '<', '>' or '='")
    return [words.bound(words.place(name), OPERATORS[sign], value.item() if isinstance(value, np.generic) else value)]


def _one(part: Mapping[Any, Any], keys: tuple[str, ...]) -> Any:
    for key in keys:
        if key in part:
            return part[key]
    raise InputError(f"the condition {dict(part)!r} has no {keys[0]!r}; give 'feature', 'op' and 'value'")
