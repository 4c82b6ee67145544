"""One-hot groups: the columns that stand for one thing, read off a fitted scikit-learn encoder."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dueto.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence

__all__ = ["as_groups"]


def as_groups(onehot: Any, columns: Sequence[Hashable]) -> dict[str, list[Hashable]]:
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
    if hasattr(onehot, "items"):
        return _declared(onehot, columns)
    from sklearn.utils.validation import check_is_fitted

    check_is_fitted(onehot)
    positions = _positions(onehot)
    width = len(onehot.get_feature_names_out())
    if width != len(columns):
        raise InputError(
            f"the encoder gives {width} columns but the data has {len(columns)}; "
            "give the data as it leaves the encoder, without the target"
        )
    return {name: [columns[j] for j in places] for name, places in positions.items() if len(places) > 1}


def _declared(
    onehot: Mapping[Any, Sequence[Hashable]], columns: Sequence[Hashable]
) -> dict[str, list[Hashable]]:
    taken: dict[Hashable, str] = {}
    known = set(columns)
    for name, members in onehot.items():
        if isinstance(members, str) or len(members) == 0:
            raise InputError(f"one-hot group {name!r} must be a list of column names")
        for column in members:
            if column not in known:
                raise InputError(
                    f"one-hot group {name!r} names column {column!r}, which the data does not have"
                )
            if column in taken:
                raise InputError(
                    f"column {column!r} is in two one-hot groups, {taken[column]!r} and {name!r}; choose one"
                )
            taken[column] = str(name)
    return {str(name): list(members) for name, members in onehot.items()}


def _positions(transformer: Any) -> dict[str, list[int]]:
    """Output positions of each one-hot encoded input column of a fitted transformer."""
    if hasattr(transformer, "categories_") and hasattr(transformer, "drop_idx_"):
        return _encoder_positions(transformer)
    if hasattr(transformer, "transformers_"):
        found: dict[str, list[int]] = {}
        for name, part, inputs in transformer.transformers_:
            start = transformer.output_indices_[name].start
            for group, places in _positions(part).items():
                found[_source(group, inputs)] = [start + p for p in places]
        return found
    if hasattr(transformer, "steps"):
        last = transformer.steps[-1][1]
        return _positions(last) if last != "passthrough" else {}
    return {}


def _source(group: str, inputs: Any) -> str:
    """The column behind an encoder's nameless `x3`: the fourth of the inputs, where those are listed."""
    nameless = group.startswith("x") and group[1:].isdigit()
    return str(list(inputs)[int(group[1:])]) if nameless and not isinstance(inputs, str | slice) else group


def _encoder_positions(encoder: Any) -> dict[str, list[int]]:
    names = getattr(encoder, "feature_names_in_", [f"x{i}" for i in range(encoder.n_features_in_)])
    found, start = {}, 0
    rare = getattr(encoder, "infrequent_categories_", [None] * len(names))
    for i, name in enumerate(names):
        width = len(encoder.categories_[i])
        width -= len(rare[i]) - 1 if rare[i] is not None and len(rare[i]) else 0
        width -= encoder.drop_idx_ is not None and encoder.drop_idx_[i] is not None
        found[str(name)] = list(range(start, start + width))
        start += width
    return found
