"""One-hot groups: the columns that stand for one thing, declared or read off a fitted scikit-learn encoder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from dueto.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Hashable

__all__ = ["Bundle", "as_groups"]


@dataclass(frozen=True)
class Bundle:
    """Columns of which at most one is 1.

    Parameters
    ----------
    columns : tuple
        Their names, or their positions in an encoder's output.
    labels : tuple of str
        What a 1 in each of them means.
    rest : str, optional
        What it means if all are 0, where the encoder dropped a category.
    """

    columns: tuple[Any, ...]
    labels: tuple[str, ...]
    rest: str | None = None


def as_groups(onehot: Any, columns: Sequence[Hashable]) -> dict[str, Bundle]:
    """Groups of one-hot columns, by name.

    Parameters
    ----------
    onehot : mapping, transformer or None
        Either `{name: [columns]}`, or a fitted OneHotEncoder, ColumnTransformer or Pipeline whose output the table is.
    columns : sequence
        The table's columns, in order.
    """
    if onehot is None:
        return {}
    if isinstance(onehot, Mapping):
        return _declared(onehot, columns)
    if isinstance(onehot, type) or not hasattr(onehot, "get_feature_names_out"):
        kind = type(onehot).__name__
        raise TypeError(f"onehot must be {{name: [columns]}} or a fitted encoder, pipeline or the like, got a {kind}")
    try:
        width = len(onehot.get_feature_names_out())
        bundles = _encoded(onehot)
    except (AttributeError, ValueError) as problem:  # scikit-learn's NotFittedError is both
        if isinstance(problem, InputError):
            raise
        raise InputError(
            f"{type(onehot).__name__} does not say which columns it makes ({problem}); "
            "give the fitted transformer that made the table, or the groups as {name: [columns]}"
        ) from None
    if width != len(columns):
        raise InputError(
            f"the encoder gives {width} columns but the data has {len(columns)}; "
            "give the data as it leaves the encoder, without the target"
        )
    return {
        name: replace(bundle, columns=tuple(columns[place] for place in bundle.columns))
        for name, bundle in bundles.items()
        if bundle.columns
    }


# -- declared ---------------------------------------------------------------------------------------------------------


def _declared(onehot: Mapping[Any, Any], columns: Sequence[Hashable]) -> dict[str, Bundle]:
    taken: dict[Hashable, str] = {}
    known = set(columns)
    found = {}
    for name, members in onehot.items():
        if isinstance(members, str) or not np.iterable(members) or len(members := list(members)) == 0:
            raise InputError(f"one-hot group {name!r} must be a list of column names")
        for column in members:
            if column not in known:
                raise InputError(f"one-hot group {name!r} names column {column!r}, which the data does not have")
            if column in taken:
                raise InputError(
                    f"column {column!r} is named twice, in the one-hot groups {taken[column]!r} and {name!r}; "
                    "name it once"
                )
            taken[column] = str(name)
        found[str(name)] = Bundle(tuple(members), _shortened(str(name), [str(column) for column in members]))
    return found


def _shortened(name: str, columns: Sequence[str]) -> tuple[str, ...]:
    """Column names without what all begin with: the group's name and a mark, or all up to a common `_` or `=`."""
    cut = len(name) + 1
    if not all(c.startswith(name) and len(c) > cut and c[cut - 1] in "_=-.: " for c in columns):
        first, last = min(columns), max(columns)  # in the order of the alphabet: what these share, all share
        common = next((i for i, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), len(first))
        cut = max(first.rfind(mark, 0, common) for mark in "_=") + 1 if first != last else 0
    return tuple(c[cut:] or c for c in columns)


# -- read off an encoder ----------------------------------------------------------------------------------------------


def _encoded(transformer: Any) -> dict[str, Bundle]:
    """The groups that a fitted transformer makes, their columns as positions in its output."""
    if hasattr(transformer, "categories_") and hasattr(transformer, "drop_idx_"):
        return _of_encoder(transformer)
    if hasattr(transformer, "transformers_"):
        return _of_column_transformer(transformer)
    if hasattr(transformer, "steps"):
        return _of_pipeline(transformer)
    if hasattr(transformer, "transformer_list"):
        raise InputError("one-hot groups cannot be read off a FeatureUnion; declare them as {name: [columns]}")
    return {}


def _of_encoder(encoder: Any) -> dict[str, Bundle]:
    names = getattr(encoder, "feature_names_in_", [f"x{i}" for i in range(encoder.n_features_in_)])
    columns = encoder.get_feature_names_out()
    rare = getattr(encoder, "infrequent_categories_", [None] * len(names))
    found, start = {}, 0
    for i, name in enumerate(names):
        uncommon = 0 if rare[i] is None else len(rare[i])
        dropped = None if encoder.drop_idx_ is None else encoder.drop_idx_[i]
        width = len(encoder.categories_[i]) - max(0, uncommon - 1) - (dropped is not None)
        labels = tuple(str(c).removeprefix(f"{name}_") for c in columns[start : start + width])
        rest = None if dropped is None else str(encoder.categories_[i][dropped])
        found[str(name)] = Bundle(tuple(range(start, start + width)), labels, rest)
        start += width
    return found


def _of_column_transformer(transformer: Any) -> dict[str, Bundle]:
    known = [str(n) for n in getattr(transformer, "feature_names_in_", range(transformer.n_features_in_))]
    found: dict[str, Bundle] = {}
    for part, inner, inputs in transformer.transformers_:
        start = transformer.output_indices_[part].start
        for group, bundle in _encoded(inner).items():
            name = _source(group, _inputs(inputs, known))
            if name is None or name in found:
                name = f"{part}__{name or group}"
            found[name] = replace(bundle, columns=tuple(start + place for place in bundle.columns))
    return found


def _of_pipeline(pipeline: Any) -> dict[str, Bundle]:
    steps = [(name, step) for name, step in pipeline.steps if step is not None and step != "passthrough"]
    if not steps:
        return {}
    name, last = steps[-1]
    found = _encoded(last)
    if not found and any(_encoded(step) for _, step in steps[:-1]):
        raise InputError(
            f"{type(last).__name__} follows the one-hot encoder and may change its columns; "
            "declare the groups as {name: [columns]}"
        )
    if getattr(last, "n_features_in_", None) != getattr(pipeline, "n_features_in_", None):  # then x1 is not column 1
        return {f"{name}__{group}" if _number(group) is not None else group: found[group] for group in found}
    known = [str(n) for n in getattr(pipeline, "feature_names_in_", [])]
    return {_source(group, known) or group: bundle for group, bundle in found.items()}


def _number(group: str) -> int | None:
    """3 for x3, as an encoder that saw no names calls its fourth column."""
    return int(group[1:]) if group.startswith("x") and group[1:].isdecimal() else None


def _source(group: str, inputs: Sequence[str]) -> str | None:
    """The column behind a group: an encoder's nameless x3 is the fourth of the inputs; None if there is none."""
    i = _number(group)
    if i is None or group in inputs:
        return group
    return inputs[i] if i < len(inputs) else None


def _inputs(inputs: Any, known: Sequence[str]) -> list[str]:
    """The names of a ColumnTransformer's inputs, given as names, positions, a mask or a slice of positions."""
    if isinstance(inputs, str):
        return [inputs]
    if isinstance(inputs, slice):
        return [] if isinstance(inputs.start, str) or isinstance(inputs.stop, str) else list(known[inputs])
    chosen = list(inputs)
    return chosen if all(isinstance(c, str) for c in chosen) else np.asarray(known)[chosen].tolist()
