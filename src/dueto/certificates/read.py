"""Certificates as they are read: every part of the kind it should be, or one sentence that says which is not.

The space and the rows are made from what is read, written again, and compared: so nothing is half understood.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dueto.certificates.written import FORMAT, VERSION, Certificate, written_row, written_space
from dueto.errors import InputError, some
from dueto.frames import LARGEST
from dueto.plaf import Together, parse
from dueto.rule import Component
from dueto.space import FeatureSpace

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dueto.feature import Feature
    from dueto.plaf import Expr

__all__ = ["Claimed", "LeastClaim", "read_certificate"]

PARTS = ("model", "space", "data", "constraints", "applicant", "rule", "claims", "witnesses")
CLAIMS = ("consistent", "least", "irredundant")
HASHED = ("tree", "structure", "scores")
HEAVIEST = 1e9  # a weight
NAMES = {dict: "an object", list: "a list", str: "a text", float: "a number"}


@dataclass(frozen=True)
class LeastClaim:
    """No rule that holds counts less than `at_least`; a component on a feature costs its weight, 1 if it has none.

    Rules with a component of `left_out` are not counted: nobody whom the constraints allow meets it.
    """

    counted: str
    weights: Mapping[str, float]
    length: float
    at_least: float
    left_out: tuple[Component, ...]


@dataclass(frozen=True, eq=False)
class Claimed:
    """What a certificate says, its parts well formed: whether it is true is another matter.

    Parameters
    ----------
    space : FeatureSpace
        Its counts are all 1.
    x : (n,) float64
        The encoded applicant.
    witnesses : (k, n) float64
        Encoded rows.
    """

    desired: Any
    threshold: float
    fingerprint: dict[str, Any]
    space: FeatureSpace
    data: str | None
    constraints: tuple[Expr, ...]
    x: NDArray[np.float64]
    text: str
    components: tuple[Component, ...]
    least: LeastClaim | None
    irredundant: bool
    witnesses: NDArray[np.float64]

    def labels(self, y: NDArray[np.float64]) -> dict[str, Any]:
        """An encoded row as the user knows it."""
        labels: dict[str, Any] = written_row(self.space, y)["labels"]
        return labels


def read_certificate(given: Mapping[str, Any] | str | Path) -> Claimed:
    """A certificate from its data, from the JSON file of a path, or from the text of one.

    Raises
    ------
    InputError
        If it cannot be read, is no certificate, is of another version, or a part of it is not what it should be.
    """
    data = _loaded(given)
    if not isinstance(data, dict):
        what = "this" if isinstance(given, Mapping) else _short(given)
        raise InputError(f"{what} is no certificate: it holds a {type(data).__name__}, not an object")
    if data.get("format") != FORMAT:
        raise InputError(f"this is no certificate: its 'format' is {data.get('format')!r}, not {FORMAT!r}")
    if data.get("version") != VERSION or isinstance(data["version"], bool):
        raise InputError(
            f"the certificate is of version {data.get('version')!r}, and this dueto reads version {VERSION}; "
            "use the dueto that wrote it"
        )
    if absent := [part for part in PARTS if part not in data]:
        raise InputError(f"the certificate has no {some(absent)}; write it again")
    try:
        return _claimed(data)
    except InputError as problem:
        raise InputError(f"the certificate is damaged: {problem}") from None
    except (LookupError, TypeError, ValueError, AttributeError, OverflowError) as problem:
        text = f"{type(problem).__name__}: {' '.join(str(problem).split())[:120]}"
        raise InputError(f"the certificate is damaged ({text}); write it again") from None


def _loaded(given: Mapping[str, Any] | str | Path) -> Any:
    """Plain JSON, each key once, each number finite."""
    as_text = isinstance(given, str) and given.lstrip().startswith("{")
    what = "the certificate" if isinstance(given, Mapping) or as_text else _short(given)
    try:
        if isinstance(given, Mapping):
            data = given.to_dict() if isinstance(given, Certificate) else dict(given)
            text = json.dumps(data, allow_nan=False)
        else:
            text = str(given) if as_text else Path(given).read_text(encoding="utf-8")
        return json.loads(text, object_pairs_hook=_once, parse_float=_finite, parse_constant=_finite)
    except OSError as problem:
        raise InputError(f"cannot read {what}: {problem.strerror or problem}") from None
    except InputError as problem:
        raise InputError(f"{what} is damaged: {problem}") from None
    except (TypeError, ValueError, RecursionError) as problem:  # UnicodeDecodeError is one
        said = " ".join(str(problem).split())[:120]
        raise InputError(f"{what} is not the whole of a JSON file: {said}; write the certificate again") from None


def _short(given: Any) -> str:
    """A path for a message, and the beginning of what is none."""
    text = " ".join(str(given).split())
    return text if len(text) <= 200 else f"{text[:60]}..."


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        raise InputError(f"{next(key for key in keys if keys.count(key) > 1)!r} stands there twice")
    return found


def _finite(text: str) -> float:
    if not np.isfinite(float(text)):
        raise InputError(f"{text} is no number that it may hold")
    return float(text)


def _claimed(data: dict[str, Any]) -> Claimed:
    space = _space(_part(data, "space", dict))
    model, rule, claims = (_part(data, part, dict) for part in ("model", "rule", "claims"))
    if unknown := [claim for claim in claims if claim not in CLAIMS]:
        raise InputError(f"the claim {unknown[0]!r} is not known; known are {some(CLAIMS)}")
    for claim in {"consistent", *claims}:
        _part(claims, claim, dict)
    threshold = _part(model, "threshold", float)
    if not 0.0 <= threshold < 1.0:
        raise InputError(f"the threshold {threshold:g} is not in [0, 1)")
    x = _row(data["applicant"], space, "the applicant")
    space.decode(x[None])  # a space that makes no table is found out here
    witnesses = [_row(row, space, f"witness {i}") for i, row in enumerate(_part(data, "witnesses", list))]
    return Claimed(
        model["desired"],
        threshold,
        _fingerprint(_part(model, "fingerprint", dict)),
        space,
        None if data["data"] is None else _part(data, "data", str),
        _constraints(_part(data, "constraints", list), space),
        x,
        _part(rule, "text", str),
        _components(_part(rule, "components", list), space),
        _least(claims["least"], space) if "least" in claims else None,
        "irredundant" in claims,
        np.array(witnesses).reshape(-1, len(space)),
    )


def _part(data: dict[str, Any], key: str, kind: Any) -> Any:
    """What stands under a key, if it is of the kind that it should be."""
    found, kinds = data[key], (int, float) if kind is float else kind
    if isinstance(found, bool) or not isinstance(found, kinds):
        raise InputError(f"its {key!r} must be {NAMES[kind]}, not {str(found)[:80]!r}")
    return float(found) if kind is float else found


def _fingerprint(given: dict[str, Any]) -> dict[str, Any]:
    if given["of"] not in HASHED:
        raise InputError(f"the model's fingerprint must be of one of {some(HASHED)}, not of {given['of']!r}")
    _part(given, "sha256", str)
    _part(given, "threshold", float)
    if given["of"] == "scores":
        given |= {"scores": np.asarray(_part(given, "scores", list), dtype=np.float64).ravel().tolist()}
    return given


def _constraints(texts: list[Any], space: FeatureSpace) -> tuple[Expr, ...]:
    constraints = tuple(parse(text) for text in texts)
    for constraint in constraints:
        if not isinstance(constraint, Together):
            constraint.bind(space)
            continue
        members = set(map(space.index, constraint.names))
        if len(members) > 1 and not any(members <= set(group.members) for group in space.groups):
            raise InputError(f"its space does not list the tuples of {constraint}")
    return constraints


def _components(given: list[Any], space: FeatureSpace) -> tuple[Component, ...]:
    found = []
    for one in given:
        component = Component(one["feature"], one["op"], one["value"])
        feature = space[_part(one, "feature", str)]
        feature.code(component.value)
        if component.op != "=" and (not feature.ordered or component.value is None):
            raise InputError(f"{component} has no meaning; use '='")
        if len(one) > 3:
            raise InputError(f"{component} says more than a feature, an operator and a value")
        found.append(component)
    return tuple(found)


def _least(given: dict[str, Any], space: FeatureSpace) -> LeastClaim:
    if given["counted"] not in ("components", "conditions"):
        raise InputError(f"'counted' must be 'components' or 'conditions', not {given['counted']!r}")
    weights = _part(given, "weights", dict)
    for name in weights:
        space.index(name)
        if not 0 < _part(weights, name, float) <= HEAVIEST:
            raise InputError(f"the weight of {name!r} must be positive and at most {HEAVIEST:g}, not {weights[name]:g}")
    length, at_least = (_part(given, key, float) for key in ("length", "at_least"))
    return LeastClaim(given["counted"], weights, length, at_least, _components(_part(given, "left_out", list), space))


def _row(given: dict[str, Any], space: FeatureSpace, what: str) -> NDArray[np.float64]:
    """An encoded row, from its labels; what is encoded beside them must be the same."""
    y = np.array([f.code(given["labels"][f.name]) for f in space.features])
    if written_row(space, y) != given:
        raise InputError(f"{what} is one row by its labels, {given['labels']}, and another as encoded")
    return y


# -- the space --------------------------------------------------------------------------------------------------------


def _space(given: dict[str, Any]) -> FeatureSpace:
    """The space, every count 1."""
    if given["flavour"] not in ("pandas", "polars", "numpy"):
        raise InputError(f"its table is of the kind {given['flavour']!r}, which is not known")
    features = [f | {"domain": f["domain"] | {"counts": [1.0] * len(f["domain"]["values"])}} for f in given["features"]]
    groups = [g | {"counts": [1.0] * len(g["tuples"])} for g in given["groups"]]
    space = FeatureSpace.from_dict(given | {"features": features, "groups": groups})
    for feature in space.features:
        for wrong, how in _faults(feature, space):
            if wrong:
                raise InputError(f"feature {feature.name!r} {how}")
    if len(set(space.names)) < len(space):
        raise InputError("two features of its space have one name")
    owned = [column for feature in space.features for column in feature.columns]
    if len(owned) != len(space.columns) or set(owned) != set(space.columns):
        raise InputError("its table has columns of no feature, or of two")
    members = [j for group in given["groups"] for j in group["members"]]
    if len(set(members)) < len(members) or not all(type(j) is int and 0 <= j < len(space) for j in members):
        raise InputError(f"the members of its groups, {members}, are not positions of features, each in one group")
    if any(not len(g.counts) or g.tuples.shape != (len(g.counts), len(g.members)) for g in space.groups):
        raise InputError("a group has no tuples, or they are not as long as its members are many")
    if written_space(space) != given:
        raise InputError("its space is not as dueto writes it")
    return space


def _faults(feature: Feature, space: FeatureSpace) -> list[tuple[bool, str]]:
    """What may be wrong with a feature, and whether it is."""
    domain, labels, columns, tuples = feature.domain, feature.labels, feature.columns, feature.tuples
    ends = domain.interval or (0.0, 0.0)
    numbers = np.append(domain.values, ends)
    named = f"{'x' * (space.flavour == 'numpy')}{columns[0]}"
    shape = (len(labels), len(columns)) if feature.kind == "category" else None
    return [
        (feature.kind not in ("integer", "float", "ordinal", "category"), "is of a kind that is not known"),
        (tuples is None and (len(columns) != 1 or feature.name != named), f"is not called by its column, {named!r}"),
        (tuples is not None and tuples.shape != shape, "has tuples that are not those of its labels"),
        (bool(labels) and not feature.labelled, "holds numbers, and has labels"),
        (len({(isinstance(v, bool), v) for v in labels} - {(False, None)}) < len(labels), "has a label twice, or none"),
        (domain.values.ndim != 1 or bool((np.diff(domain.values) <= 0).any()), "has values that do not rise"),
        (not (np.abs(numbers) <= LARGEST).all(), f"has a value that is no number within {LARGEST:g}"),
        (not ends[0] <= ends[1], "has a range that does not run upwards"),
        (not domain.size >= 1, "can have no value at all"),
        (feature.labelled and domain.interval is not None, "has labels, and a range"),
        (feature.labelled and not np.isin(domain.values, range(len(labels))).all(), "has a value without a label"),
    ]
