"""One feature: what it is called, which columns it stands for, what it can be, and how its values become codes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from dueto import frames
from dueto.domain import Domain, distinct_rows
from dueto.errors import InputError, some

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence

    from numpy.typing import NDArray

__all__ = ["Feature", "Group", "declared", "encode_feature", "onehot_feature", "plain_feature"]

Kind = Literal["integer", "float", "ordinal", "category"]
DECLARABLE = {"kind", "low", "high", "values", "missing", "columns"}


@dataclass(frozen=True, eq=False)
class Feature:
    """One thing about an applicant: a column, or a group of one-hot columns that stand for one category.

    Parameters
    ----------
    name : str
        The column's name as text, or the group's name.
    kind : {"integer", "float", "ordinal", "category"}
        The first three are ordered; a category is not.
    columns : tuple
        The raw columns it stands for, with their original names.
    domain : Domain
        The encoded values it can take.
    labels : tuple
        For an ordinal or a category, the label of each code 0, 1, ...
    tuples : (len(labels), len(columns)) float64, optional
        For a one-hot group, the raw values of its columns for each label.
    nan : bool
        Whether the raw column is one of objects that says "missing" by NaN rather than None.
    """

    name: str
    kind: Kind
    columns: tuple[Hashable, ...]
    domain: Domain
    labels: tuple[Any, ...] = ()
    tuples: NDArray[np.float64] | None = None
    nan: bool = False

    @property
    def ordered(self) -> bool:
        """Whether `<=` means something here."""
        return self.kind != "category"

    def code(self, label: Any) -> float:
        """The encoded value of a label, or of a number; None is missing."""
        if label is None:
            return float("nan")
        if self.labels:
            for i, known in enumerate(self.labels):
                if known == label and isinstance(known, bool) == isinstance(label, bool):
                    return float(i)
            raise InputError(f"feature {self.name!r} has no category {label!r}; it has {some(self.labels)}")
        if isinstance(label, bool | str) or not isinstance(label, int | float | np.number):
            raise InputError(f"feature {self.name!r} holds numbers, so {label!r} cannot be one of its values")
        return float(label)

    def label(self, value: float) -> Any:
        """The label or number that an encoded value stands for; None for missing."""
        if np.isnan(value):
            return None
        if self.labels:
            return self.labels[int(value)]
        return (
            int(value) if float(value).is_integer() and abs(value) < frames.LARGEST_INTEGER else float(value)
        )

    def text(self, value: float) -> str:
        """An encoded value for a reader, with as many digits as tell it from every other number."""
        label = self.label(value)
        return "missing" if label is None else str(label)


@dataclass(frozen=True, eq=False)
class Group:
    """Correlated features that change together, only to tuples that occur together in the data.

    `members` are positions of features; `tuples` (k, len(members)) their encoded joint values; `counts` (k,) how often
    each occurs.
    """

    members: tuple[int, ...]
    tuples: NDArray[np.float64]
    counts: NDArray[np.float64]

    def contains(self, X: NDArray[np.float64]) -> NDArray[np.bool_]:
        """(N,) whether the members' values of each encoded row occur together in the data."""
        _, which, _ = distinct_rows(np.vstack([self.tuples, X[:, self.members]]))
        return np.isin(which[len(self.tuples) :], which[: len(self.tuples)])


def plain_feature(
    table: frames.Table, column: Hashable, ranks: Sequence[Any] | None, name_only: bool
) -> Feature:
    series = table.columns[column]
    kind: Kind = frames.kind_of(column, series)
    name = f"x{column}" if table.flavour == "numpy" else str(column)
    if ranks is not None:
        kind = "ordinal"
    elif name_only:
        kind = "category"
    if kind in {"integer", "float"}:
        return Feature(name, kind, (column,), Domain.active(frames.to_numbers(column, series)))
    labels = tuple(ranks) if ranks is not None else frames.labels_of(series)
    blank = Feature(name, kind, (column,), Domain.active(np.empty(0)), labels, nan=column in table.nans)
    return replace(blank, domain=Domain.active(encode_feature(blank, table.columns)))


def onehot_feature(table: frames.Table, name: str, columns: Sequence[Hashable]) -> Feature:
    rows = np.column_stack([frames.to_numbers(c, table.columns[c]) for c in columns])
    found = rows[distinct_rows(rows)[0]]
    units = np.eye(len(columns))
    is_unit = (found[:, None, :] == units[None]).all(axis=2).any(axis=1)
    tuples = np.vstack([units, found[~is_unit]])
    prefix = _common_prefix([str(c) for c in columns])
    short = [str(c)[len(prefix) :] or str(c) for c in columns]
    labels = tuple(short + [_odd_label(t, short) for t in tuples[len(columns) :]])
    blank = Feature(name, "category", tuple(columns), Domain.active(np.empty(0)), labels, tuples)
    return replace(blank, domain=Domain.active(encode_feature(blank, table.columns)))


def _odd_label(values: NDArray[np.float64], names: Sequence[str]) -> str:
    if not values.any():
        return "(none)"
    if np.isin(values, (0.0, 1.0)).all():
        return "(" + " + ".join(n for n, v in zip(names, values, strict=True) if v) + ")"
    return "(" + ", ".join(f"{v:g}" for v in values) + ")"


def _common_prefix(names: Sequence[str]) -> str:
    low, high = min(names), max(names)
    prefix = low[: next((i for i, (a, b) in enumerate(zip(low, high, strict=False)) if a != b), len(low))]
    cut = max(prefix.rfind("_"), prefix.rfind("="), prefix.rfind(" "), prefix.rfind("-")) + 1
    return prefix[:cut] if len(names) > 1 else ""


def encode_feature(feature: Feature, series: Mapping[Hashable, Any]) -> NDArray[np.float64]:
    if feature.tuples is not None:
        rows = np.column_stack([frames.to_numbers(c, series[c]) for c in feature.columns])
        together = np.vstack([feature.tuples, rows])
        _, inverse, _ = distinct_rows(together)
        place = np.full(inverse.max() + 1, -1.0)
        place[inverse[: len(feature.tuples)]] = np.arange(len(feature.tuples))
        codes = place[inverse[len(feature.tuples) :]]
        if (codes < 0).any():
            row = int(np.argmax(codes < 0))
            raise InputError(
                f"one-hot group {feature.name!r}, row {row}: the values {rows[row].tolist()} "
                "do not occur in the space's data"
            )
        return codes
    column = feature.columns[0]
    if not feature.labels and feature.ordered:
        return frames.to_numbers(column, series[column])
    codes, unknown = frames.to_codes(series[column], feature.labels)
    if unknown >= 0:
        value = series[column].iloc[unknown]
        raise InputError(
            f"column {column!r}, row {unknown}: {value!r} is not one of its categories, {some(feature.labels)}; "
            "correct the row, or declare the category in the space"
        )
    return codes


def declared(feature: Feature, words: Mapping[str, Any]) -> Feature:
    unknown = set(words) - DECLARABLE
    if unknown:
        raise InputError(
            f"feature {feature.name!r}: {sorted(unknown)[0]!r} cannot be declared; use {some(sorted(DECLARABLE))}"
        )
    kind = words.get("kind", feature.kind)
    numbers = {"integer", "float"}
    if kind != feature.kind and not ({kind, feature.kind} <= numbers):
        raise InputError(
            f"feature {feature.name!r} is of kind {feature.kind!r} and cannot become {kind!r} once read; "
            "say so in infer()"
        )
    domain, labels, tuples = feature.domain, feature.labels, feature.tuples
    if "low" in words or "high" in words:
        if feature.kind not in numbers:
            raise InputError(
                f"feature {feature.name!r} is a {feature.kind}: declare its 'values', not 'low' and 'high'"
            )
        known = domain.values if len(domain.values) else np.zeros(1)
        low, high = (
            _number(feature, words.get("low", known[0])),
            _number(feature, words.get("high", known[-1])),
        )
        domain = domain.widened(low, high, integer=kind == "integer")
    if "values" in words:
        if not labels:
            domain = domain.listed(np.array([_number(feature, v) for v in words["values"]]))
        else:
            new = tuple(v for v in words["values"] if v not in labels)
            if new and tuples is not None:
                raise InputError(
                    f"one-hot group {feature.name!r} has no column for {new[0]!r}; it has {some(labels)}"
                )
            if new and kind == "ordinal":
                raise InputError(
                    f"feature {feature.name!r} has no label {new[0]!r}; give the whole order in infer(ordinal=...)"
                )
            labels = labels + new
            feature = replace(feature, labels=labels)
            domain = domain.listed(np.array([feature.code(v) for v in words["values"]]))
    if "missing" in words:
        if words["missing"] and tuples is not None:
            raise InputError(
                f"one-hot group {feature.name!r} cannot be missing; its labels are {some(labels)}"
            )
        domain = replace(domain, missing=max(domain.missing, 1.0) if words["missing"] else 0.0)
    return replace(feature, kind=kind, domain=domain, labels=labels)


def _number(feature: Feature, value: Any) -> float:
    if isinstance(value, bool | str) or not isinstance(value, int | float | np.number):
        raise InputError(f"feature {feature.name!r} holds numbers, so {value!r} cannot be declared for it")
    return float(value)
