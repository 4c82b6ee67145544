"""A file of declarations that says what a space is, for a person to edit; `FeatureSpace.load` reads it back."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from dueto.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

    from dueto.feature import Feature
    from dueto.space import FeatureSpace

__all__ = ["declarations", "write_declarations"]

HEAD = """\
# The features of {data}, for --space: edit what should be otherwise.
#   low, high   a range: every whole number in it for an integer feature, every number for a float
#   values      exactly these; labels that the data does not have may be added
#   missing     whether a value may be missing
# A feature that is left out is read off the data.
"""


def write_declarations(path: Path, space: FeatureSpace, frame: Any, *, data: str) -> None:
    """Write the space of a table, called `data`, as .toml or .json; a file that is there already is not touched."""
    if path.suffix not in (".toml", ".json"):
        raise InputError(f"{path} must end in .toml or .json")
    if path.exists():
        raise InputError(f"{path} is there already; give another name, or remove it first")
    found = declarations(space, frame)
    as_json = path.suffix == ".json"
    text = json.dumps(found, indent=2, ensure_ascii=False) + "\n" if as_json else _toml(found, space, data)
    path.write_text(text, encoding="utf-8")


def declarations(space: FeatureSpace, frame: Any) -> dict[str, Any]:
    """What `FeatureSpace.load` must be told to find this space in this table, and what reads well beside it."""
    from dueto.space import FeatureSpace

    groups = [[space.names[j] for j in group.members] for group in space.groups]
    onehot = {f.name: list(f.columns) for f in space.features if f.tuples is not None}
    inferred = FeatureSpace.infer(frame, onehot=onehot)
    features = {f.name: _words(f, seen) for f, seen in zip(space.features, inferred.features, strict=True)}
    return {**({"groups": groups} if groups else {}), "features": features}


def _words(feature: Feature, seen: Feature) -> dict[str, Any]:
    """What to declare of a feature, given what is seen of it in the data."""
    import numpy as np

    words: dict[str, Any] = {"kind": feature.kind}
    if feature.tuples is not None:
        words["columns"] = [str(column) for column in feature.columns]
    domain, same = feature.domain, np.array_equal(feature.domain.values, seen.domain.values)
    listed = [feature.label(v) for v in domain.values]
    if domain.interval is not None:
        words |= {"low": feature.label(domain.interval[0]), "high": feature.label(domain.interval[1])}
    elif feature.kind == "integer" and listed and listed == list(range(listed[0], listed[-1] + 1)):
        words |= {"low": listed[0], "high": listed[-1]}
    elif not same or len(listed) == len(feature.labels) > 0:
        words["values"] = listed
    if (domain.missing > 0) != (seen.domain.missing > 0):
        words["missing"] = domain.missing > 0
    return words


def _toml(found: dict[str, Any], space: FeatureSpace, data: str) -> str:
    parts = [HEAD.format(data=data)]
    if "groups" in found:
        parts.append(f"groups = {_value(found['groups'])}\n")
    for name, words in found["features"].items():
        lines = [f"[features.{_key(name)}]", *(f"{word} = {_value(value)}" for word, value in words.items())]
        domain = space[name].domain
        if not {"values", "low"} & set(words) and len(domain.values):
            low, high = (space[name].label(domain.values[i]) for i in (0, -1))
            lines.append(f"# low = {_value(low)}\n# high = {_value(high)}")
        parts.append("\n".join(lines) + "\n")
    return "\n".join(parts)


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _value(name)


def _value(value: Any) -> str:
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    return json.dumps(value)
