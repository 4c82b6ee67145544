"""What a condition can speak of: the features of a space by name, and their values by label, by number, by column."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dueto.errors import InputError, some
from dueto.rule import Component

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from dueto.feature import Feature
    from dueto.space import FeatureSpace

__all__ = ["OPERATORS", "Bound", "Place", "Vocabulary"]

# How others write the operators: in text, and as PyXAI names them.
OPERATORS = {
    **{"<=": "<=", "=<": "<=", "≤": "<=", "LE": "<=", "<": "<", "LT": "<"},
    **{">=": ">=", "=>": ">=", "≥": ">=", "GE": ">=", ">": ">", "GT": ">", "=": "=", "==": "=", "EQ": "="},
    **{"!=": "!=", "<>": "!=", "≠": "!=", "NEQ": "!="},
}
_HOLDS: dict[str, Callable[[Any, Any], Any]] = {
    "<=": operator.le,
    "<": operator.lt,
    ">=": operator.ge,
    ">": operator.gt,
    "=": operator.eq,
}


class Place(NamedTuple):
    """A feature by position; and which of its one-hot columns, if that was named."""

    feature: int
    column: int | None = None


class Bound(NamedTuple):
    """`feature op code`, with op one of <=, <, >=, >, = on an encoded value (NaN is missing); or a note instead.

    A note says that a condition is true of everybody, and is left out.
    """

    feature: int
    op: str
    code: float
    note: str = ""


class Vocabulary:
    """The names and values of a space, and the numbers that its features take in the data.

    Parameters
    ----------
    space : FeatureSpace
        What the rules speak of.
    X : (d, n) float64
        Encoded rows of the data; a strict bound moves to a neighbouring value among these and the domain's.
    """

    def __init__(self, space: FeatureSpace, X: NDArray[np.float64]) -> None:
        self.space, self.X = space, X
        self.names: dict[str, Place] = {}
        for j, feature in enumerate(space.features):
            if feature.tuples is not None:
                self.names |= {str(column): Place(j, k) for k, column in enumerate(feature.columns)}
        self.names |= {feature.name: Place(j) for j, feature in enumerate(space.features)}

    def place(self, name: Any) -> Place:
        """Where a feature is, by its name or by the number of its column; an unknown one is refused."""
        if not isinstance(name, str):
            columns = [feature.columns for feature in self.space.features]
            return Place(columns.index((name,))) if (name,) in columns else Place(self.space.index(name))
        return self.names[name] if name in self.names else Place(self.space.index(name))

    def bound(self, place: Place, op: str, value: Any) -> Bound:
        """A condition on a value as somebody else knows it.

        Raises
        ------
        InputError
            If the feature does not have the value, or the condition leaves no interval of it.
        """
        feature, told = self.space.features[place.feature], _told(self._called(place), op, value)
        if op == "!=":
            raise InputError(f"{told} is refused: a rule says what holds, by <=, >= or =; {_others(feature, value)}")
        if value is None or value != value:
            if op != "=":
                raise InputError(f"{told} has no meaning: a missing value is neither less nor more; use '='")
            return Bound(place.feature, "=", np.nan)
        number = _number(value) if isinstance(value, int | float | np.number) else None
        if number is not None and not np.isfinite(number):
            raise InputError(f"{told} is no bound; leave it out, or give a finite number")
        if place.column is not None and feature.tuples is not None:
            return self._among(place, feature.tuples[:, place.column].tolist(), op, value, told)
        if not feature.labelled:
            return Bound(place.feature, op, feature.code(value))
        code = _known(feature, value)
        if code is not None and (op == "=" or feature.ordered):
            return Bound(place.feature, op, code)
        if number is not None and feature.labels and not any(isinstance(label, str) for label in feature.labels):
            return self._among(place, list(feature.labels), op, value, told)
        if code is None:
            feature.code(value)  # says which labels there are
        raise InputError(f"{told} has no meaning: feature {feature.name!r} has no order; use '='")

    def _among(self, place: Place, raw: Sequence[Any], op: str, value: Any, told: str) -> Bound:
        """A condition on the number that stands for each label: it must leave one of them."""
        feature = self.space.features[place.feature]
        if not isinstance(value, int | float | np.number):
            raise InputError(f"{told} has no meaning: column {self._called(place)!r} holds numbers")
        left = [label for label, number in zip(feature.labels, raw, strict=True) if _HOLDS[op](number, float(value))]
        if len(left) == len(raw):
            return Bound(place.feature, op, 0.0, f"{told} is true of everybody, and is left out")
        if len(left) != 1:
            what = f"none of {some(feature.labels)}" if not left else f"one of {some(left)}"
            raise InputError(
                f"{told} is refused: it means that {feature.name} is {what}, and a rule names one label; "
                "say which, or leave the condition out"
            )
        return Bound(place.feature, "=", feature.code(left[0]))

    def components(self, bound: Bound, own: float) -> list[Component]:
        """A condition as components; a strict bound moves to the neighbouring value that some applicant can have.

        `own` is the value of the applicant that the rule is about, who may have one that nobody else has.
        """
        feature = self.space.features[bound.feature]
        code = bound.code if bound.op in ("<=", ">=", "=") else self._neighbour(bound, own)
        if bound.op == "=":
            two = feature.ordered and not np.isnan(code)
            return [Component(feature.name, op, feature.label(code)) for op in ((">=", "<=") if two else ("=",))]
        return [Component(feature.name, "<=" if bound.op in ("<=", "<") else ">=", feature.label(code))]

    def _neighbour(self, bound: Bound, own: float) -> float:
        feature, up = self.space.features[bound.feature], bound.op == ">"
        domain, value = feature.domain, bound.code
        if feature.labelled:
            code = value + (1.0 if up else -1.0)
            if not 0 <= code < len(feature.labels):
                end = "highest" if up else "lowest"
                raise InputError(
                    f"{feature.name} {bound.op} {feature.label(value)} is true of nobody: that is the {end} label"
                )
            return code
        float_neighbour = float(np.nextafter(value, np.inf if up else -np.inf))
        if domain.interval is not None and not domain.integer:
            return float_neighbour
        known = np.concatenate([domain.values, self.X[:, bound.feature], [own]])
        if domain.interval is not None:
            known = np.append(known, np.clip(np.floor(value) + 1 if up else np.ceil(value) - 1, *domain.interval))
        beyond = known[known > value] if up else known[known < value]
        if not len(beyond):
            return float_neighbour
        return float(beyond.min() if up else beyond.max())

    def _called(self, place: Place) -> str:
        feature = self.space.features[place.feature]
        return feature.name if place.column is None else str(feature.columns[place.column])


def _known(feature: Feature, value: Any) -> float | None:
    """The code of a label, or of the one that is written alike."""
    try:
        return feature.code(value)
    except InputError:
        alike = [i for i, label in enumerate(feature.labels) if str(label) == str(value)]
        return float(alike[0]) if alike else None


def _number(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:
        return float("inf")


def _others(feature: Feature, value: Any) -> str:
    others = [label for label in feature.labels if str(label) != str(value)]
    if len(feature.labels) == 2 and len(others) == 1:
        return f"write {feature.name} = {others[0]}"
    return "leave the condition out, or write one rule for each value that is left"


def _told(name: str, op: str, value: Any) -> str:
    return f"{name} {op} {'missing' if value is None else value}"
