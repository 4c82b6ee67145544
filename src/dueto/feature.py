"""One feature: what it is called, which columns it stands for, what it can be, and how its values become codes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from dueto import frames
from dueto.domain import Domain, distinct_rows
from dueto.errors import InputError, in_words, one_line, some

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    import pandas as pd
    from numpy.typing import NDArray

    from dueto.onehot import Bundle

__all__ = ["Feature", "Group", "declared", "encode_feature", "onehot_feature", "plain_feature", "plain_name"]

Kind = Literal["integer", "float", "ordinal", "category"]
SORTS = {"text": "a text", "truth": "True or False", "number": "a number"}
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
        Whether the raw column, of objects or of polars, says "missing" by NaN rather than None or null.

    Raises
    ------
    InputError
        If a label is an infinite number, which JSON cannot hold.
    """

    name: str
    kind: Kind
    columns: tuple[Hashable, ...]
    domain: Domain
    labels: tuple[Any, ...] = ()
    tuples: NDArray[np.float64] | None = None
    nan: bool = False

    def __post_init__(self) -> None:
        for label in self.labels:
            if isinstance(label, float | np.floating) and np.isinf(label):
                raise InputError(
                    f"feature {self.name!r} has the label {label}, which is infinite; replace it by a finite number, a "
                    "text or a missing value"
                )

    @property
    def ordered(self) -> bool:
        """Whether `<=` means something here."""
        return self.kind != "category"

    @property
    def labelled(self) -> bool:
        """Whether its values are labels, not numbers."""
        return self.kind in ("ordinal", "category")

    @cached_property
    def places(self) -> pd.Index[Any]:
        """The labels, to be looked up."""
        import pandas as pd

        found: pd.Index[Any] = pd.Index(list(self.labels), dtype=object)
        return found

    def code(self, label: Any) -> float:
        """The encoded value of a label, or of a number; None is missing."""
        if label is None:
            return float("nan")
        if self.labelled:
            for i, known in enumerate(self.labels):
                if _same(known, label):
                    return float(i)
            raise InputError(f"feature {self.name!r} has no category {label!r}; it has {some(self.labels) or 'none'}")
        if isinstance(label, bool | str) or not isinstance(label, int | float | np.number):
            raise InputError(f"feature {self.name!r} holds numbers, so {label!r} cannot be one of its values")
        return float(label)

    def label(self, value: float) -> Any:
        """The label or number that an encoded value stands for; None for missing."""
        if np.isnan(value):
            return None
        if self.labels:
            return self.labels[int(value)]
        return int(value) if float(value).is_integer() and abs(value) < frames.LARGEST_INTEGER else float(value)

    def text(self, value: float) -> str:
        """An encoded value for a reader, with as many digits as tell it from every other number."""
        return in_words(self.label(value))


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


def plain_name(table: frames.Table, column: Hashable) -> str:
    """What the feature of a column is called: by the column's name, in one line, or x3 if it only has a number."""
    return f"x{column}" if table.flavour == "numpy" else one_line(str(column))


def plain_feature(table: frames.Table, column: Hashable, ranks: Sequence[Any] | None, name_only: bool) -> Feature:
    series = table.columns[column]
    kind: Kind = frames.kind_of(column, series)
    name = plain_name(table, column)
    if ranks is not None:
        kind = "ordinal"
    elif name_only:
        kind = "category"
    if kind in {"integer", "float"}:
        domain = Domain.active(frames.to_numbers(column, series), table.weights.get(column))
        return Feature(name, kind, (column,), domain, nan=column in table.nans)
    labels = tuple(ranks) if ranks is not None else frames.labels_of(series)
    blank = Feature(name, kind, (column,), Domain.active(np.empty(0)), labels, nan=column in table.nans)
    return replace(blank, domain=Domain.active(encode_feature(blank, table), table.weights.get(column)))


def onehot_feature(table: frames.Table, name: str, bundle: Bundle) -> Feature:
    columns = bundle.columns
    rows = np.column_stack([frames.to_numbers(c, table.columns[c]) for c in columns])
    tuples, labels = np.eye(len(columns)), list(bundle.labels)
    if bundle.rest is not None:
        tuples, labels = np.vstack([tuples, np.zeros(len(columns))]), [*labels, bundle.rest]
    found = rows[distinct_rows(rows)[0]]
    _, which, _ = distinct_rows(np.vstack([tuples, found]))
    odd = found[~np.isin(which[len(tuples) :], which[: len(tuples)])]
    labels += [_odd_label(t, bundle.labels) for t in odd]
    if twins := [label for label in labels if labels.count(label) > 1]:
        raise InputError(f"one-hot group {name!r} would have two labels {twins[0]!r}; rename a column")
    blank = Feature(name, "category", columns, Domain.active(np.empty(0)), tuple(labels), np.vstack([tuples, odd]))
    return replace(blank, domain=Domain.active(encode_feature(blank, table), table.weights.get(columns[0])))


def _odd_label(values: NDArray[np.float64], names: Sequence[str]) -> str:
    if np.isnan(values).all():
        return "(missing)"
    if not values.any():
        return "(none)"
    if np.isin(values, (0.0, 1.0)).all():
        return "(" + " + ".join(n for n, v in zip(names, values, strict=True) if v) + ")"
    return "(" + ", ".join(str(v).removesuffix(".0") for v in values.tolist()) + ")"


def encode_feature(feature: Feature, table: frames.Table) -> NDArray[np.float64]:
    series, start = table.columns, table.start
    if feature.tuples is not None:
        rows = np.column_stack([frames.to_numbers(c, series[c], start) for c in feature.columns])
        together = np.vstack([feature.tuples, rows])
        _, inverse, _ = distinct_rows(together)
        place = np.full(inverse.max() + 1, -1.0)
        place[inverse[: len(feature.tuples)]] = np.arange(len(feature.tuples))
        codes = place[inverse[len(feature.tuples) :]]
        if (codes < 0).any():
            row = int(np.argmax(codes < 0))
            raise InputError(
                f"one-hot group {feature.name!r}, row {start + row}: the values {rows[row].tolist()} "
                "do not occur in the space's data"
            )
        return codes
    column = feature.columns[0]
    if not feature.labelled:
        return frames.to_numbers(column, series[column], start)
    codes, unknown = frames.to_codes(series[column], feature.places)
    if unknown >= 0:
        value = frames.plain(series[column].iloc[unknown])
        remedy = "correct the row, or declare the category in the space"
        if feature.kind == "ordinal":
            remedy = "correct the row, or give the label its place in the order"
        if _sort(value) not in map(_sort, feature.labels) and feature.labels:
            remedy = f"it is {SORTS.get(_sort(value), 'something else')}, and they are not: change the column's type"
        where = f"column {column!r}, row {start + unknown}"
        raise InputError(f"{where}: {value!r} is not one of its categories, {some(feature.labels)}; {remedy}")
    return codes


def declared(feature: Feature, words: Mapping[str, Any]) -> Feature:
    if not isinstance(words, Mapping):
        raise TypeError(f"what is declared of feature {feature.name!r} must be a mapping, got {words!r}")
    unknown = set(words) - DECLARABLE
    if unknown:
        raise InputError(
            f"feature {feature.name!r}: {sorted(unknown)[0]!r} cannot be declared; use {some(sorted(DECLARABLE))}"
        )
    kind = words.get("kind", feature.kind)
    if kind != feature.kind and (feature.labelled or kind not in ("integer", "float")):
        raise InputError(
            f"feature {feature.name!r} is of kind {feature.kind!r} and cannot become {kind!r} once read; "
            "say so in infer(), and give an ordinal its 'values'"
        )
    feature = replace(feature, kind=kind)
    if "values" in words and ("low" in words or "high" in words):
        raise InputError(f"feature {feature.name!r}: declare its 'values', or 'low' and 'high', not both")
    if "low" in words or "high" in words:
        feature = _ranged(feature, words)
    if "values" in words:
        feature = _listed(feature, words["values"])
    if "missing" in words:
        feature = _missing(feature, words["missing"])
    values = feature.domain.values
    if kind == "integer" and (values != np.round(values)).any():
        fraction = values[values != np.round(values)][0]
        raise InputError(f"feature {feature.name!r} cannot be an integer, since {fraction:g} is one of its values")
    return feature


def _ranged(feature: Feature, words: Mapping[str, Any]) -> Feature:
    known = feature.domain.values.tolist()
    if feature.labelled:
        raise InputError(f"feature {feature.name!r} is a {feature.kind}: declare its 'values', not 'low' and 'high'")
    if not known and not ("low" in words and "high" in words):
        raise InputError(f"feature {feature.name!r} has no value in the data: declare both 'low' and 'high'")
    low, high = (_number(feature, words[end] if end in words else known[i]) for end, i in (("low", 0), ("high", -1)))
    try:
        domain = feature.domain.widened(low, high, integer=feature.kind == "integer")
    except InputError as problem:
        raise InputError(f"feature {feature.name!r}: {problem}") from None
    return replace(feature, domain=domain)


def _listed(feature: Feature, values: Any) -> Feature:
    if isinstance(values, str) or not np.iterable(values) or not (values := [frames.plain(v) for v in values]):
        raise InputError(f"feature {feature.name!r}: 'values' must be a list of at least one value")
    if any(v is None for v in values):
        raise InputError(f"feature {feature.name!r}: list no None; declare 'missing' instead")
    if feature.labelled:
        feature = _relabelled(feature, values)
        codes = [feature.code(v) for v in values]
    else:
        codes = [_number(feature, v) for v in values]
    return replace(feature, domain=feature.domain.listed(np.array(codes)))


def _relabelled(feature: Feature, values: Sequence[Any]) -> Feature:
    """The feature with labels that are new to the data, which must be of the sort that it has."""
    labels = list(feature.labels)
    for value in values:
        if any(_same(value, label) for label in labels):
            continue
        if feature.tuples is not None:
            raise InputError(f"one-hot group {feature.name!r} has no column for {value!r}; it has {some(labels)}")
        if feature.kind == "ordinal":
            raise InputError(
                f"feature {feature.name!r} has no label {value!r}; give the whole order in infer(ordinal=...)"
            )
        if _sort(value) not in (map(_sort, labels) if labels else ("text", "truth", "number")):
            raise InputError(
                f"feature {feature.name!r} cannot have the label {value!r}: its labels are {some(labels)}; change the "
                "column's type, as in pandas.read_csv(..., dtype={...}), or write the label as they are"
            )
        labels.append(value)
    return replace(feature, labels=tuple(labels))


def _missing(feature: Feature, allowed: Any) -> Feature:
    if not isinstance(allowed, bool):
        raise InputError(f"feature {feature.name!r}: 'missing' must be true or false, got {allowed!r}")
    if allowed and feature.tuples is not None:
        raise InputError(f"one-hot group {feature.name!r} cannot be missing; its labels are {some(feature.labels)}")
    return replace(
        feature, domain=replace(feature.domain, missing=max(feature.domain.missing, 1.0) if allowed else 0.0)
    )


def _number(feature: Feature, value: Any) -> float:
    if isinstance(value, bool | str) or not isinstance(value, int | float | np.number):
        raise InputError(f"feature {feature.name!r} holds numbers, so {value!r} cannot be declared for it")
    if not abs(float(value)) <= frames.LARGEST:
        raise InputError(
            f"feature {feature.name!r}: {value!r} cannot be declared; give a number within {frames.LARGEST:g}"
        )
    return float(value)


def _same(a: Any, b: Any) -> bool:
    """Whether two labels are equal; True is not 1."""
    return bool(a == b) and isinstance(a, bool) == isinstance(b, bool)


def _sort(label: Any) -> str:
    if isinstance(label, str):
        return "text"
    if isinstance(label, bool):
        return "truth"
    return "number" if isinstance(label, int | float) else ""
