"""Certificates as they are read: every part of the kind it should be, or one sentence that says which is not."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dueto.certificates.fingerprint import as_hash
from dueto.certificates.written import FORMAT, VERSION, Certificate, plain_label
from dueto.errors import InputError, some
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
DIGITS = 64  # of a SHA-256
INFINITE = {"Infinity": np.inf, "-Infinity": -np.inf}


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

    model: str
    desired: Any
    threshold: float
    fingerprint: dict[str, Any]
    space: FeatureSpace
    data: str | None
    constraints: tuple[Expr, ...]
    x: NDArray[np.float64]
    components: tuple[Component, ...]
    by: str
    least: LeastClaim | None
    irredundant: bool
    witnesses: NDArray[np.float64]

    def labels(self, y: NDArray[np.float64]) -> dict[str, Any]:
        """An encoded row as the user knows it."""
        return {f.name: plain_label(f.label(v)) for f, v in zip(self.space.features, y, strict=True)}


def read_certificate(given: Mapping[str, Any] | str | Path) -> Claimed:
    """A certificate from its data, or from the JSON file of a path.

    Raises
    ------
    InputError
        If it cannot be read, is no certificate, is of another version, or a part of it is not what it should be.
    """
    if isinstance(given, Certificate):
        given = given.to_dict()
    data = given if isinstance(given, Mapping) else _loaded(Path(given))
    if data.get("format") != FORMAT:
        raise InputError(f"this is no certificate: its 'format' is {data.get('format')!r}, not {FORMAT!r}")
    if data.get("version") != VERSION or isinstance(data.get("version"), bool):
        raise InputError(
            f"the certificate is of version {data.get('version')!r}, and this dueto reads version {VERSION}; "
            "use the dueto that wrote it"
        )
    if absent := [part for part in PARTS if part not in data]:
        raise InputError(f"the certificate has no {some(absent)}; write it again")
    try:
        return _claimed(data)
    except InputError as problem:
        text = str(problem)
        raise InputError(
            text if text.startswith("the certificate") else f"the certificate is damaged: {text}"
        ) from None
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError) as problem:
        text = f"{type(problem).__name__}: {' '.join(str(problem).split())[:120]}"
        raise InputError(f"the certificate is damaged ({text}); write it again") from None


def _loaded(path: Path) -> Mapping[str, Any]:
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except OSError as problem:
        raise InputError(f"cannot read {path}: {problem.strerror or problem}") from None
    except (ValueError, RecursionError) as problem:  # UnicodeDecodeError is one
        text = " ".join(str(problem).split())[:120]
        raise InputError(f"{path} is not the whole of a JSON file: {text}; write the certificate again") from None
    if not isinstance(data, dict):
        raise InputError(f"{path} is no certificate: it holds a {type(data).__name__}, not an object")
    return data


def _claimed(data: Mapping[str, Any]) -> Claimed:
    space = _space(data["space"])
    model, rule, claims = (_object(data, part) for part in ("model", "rule", "claims"))
    threshold = _finite(model["threshold"], "the threshold")
    if not 0.0 <= threshold < 1.0:
        raise InputError(f"the threshold {threshold:g} is not in [0, 1)")
    constraints = tuple(parse(_text(text, "a constraint")) for text in data["constraints"])
    _bind(constraints, space)
    components = _components(rule["components"], space)
    if unknown := [claim for claim in claims if claim not in CLAIMS]:
        raise InputError(f"the claim {unknown[0]!r} is not known; known are {some(CLAIMS)}")
    if "consistent" not in claims:
        raise InputError("it does not claim that the rule is consistent")
    rows = [_row(row, space, "a witness") for row in data["witnesses"]]
    applicant = _row(data["applicant"], space, "the applicant")
    space.decode(applicant[None])  # a space that makes no table is found out here
    return Claimed(
        _text(model["name"], "the model's name"),
        model["desired"],
        threshold,
        _fingerprint(_object(model, "fingerprint")),
        space,
        None if data["data"] is None else _text(data["data"], "the data's hash"),
        constraints,
        applicant,
        components,
        _text(_object(claims, "consistent")["by"], "the method"),
        _least(_object(claims, "least"), space) if "least" in claims else None,
        "irredundant" in claims,
        np.array(rows).reshape(-1, len(space)),
    )


def _object(data: Mapping[str, Any], part: str) -> Mapping[str, Any]:
    found = data[part]
    if not isinstance(found, Mapping):
        raise InputError(f"its {part!r} must be an object, not {found!r}")
    return found


def _text(given: Any, what: str) -> str:
    if not isinstance(given, str):
        raise InputError(f"{what} must be a text, not {given!r}")
    return given


def _finite(given: Any, what: str) -> float:
    if isinstance(given, bool) or not isinstance(given, int | float) or not np.isfinite(given):
        raise InputError(f"{what} must be a number, not {given!r}")
    return float(given)


def _fingerprint(given: Mapping[str, Any]) -> dict[str, Any]:
    kinds = ("tree", "structure", "scores")
    if given["of"] not in kinds or len(_text(given["sha256"], "a fingerprint")) != DIGITS:
        raise InputError(f"the model's fingerprint must be a SHA-256 of one of {some(kinds)}")
    found = {"of": given["of"], "threshold": _finite(given["threshold"], "the threshold"), "sha256": given["sha256"]}
    if given["of"] == "scores":
        found["scores"] = [_finite(score, "a score") for score in given["scores"]]
        if as_hash(found["threshold"], found["scores"]) != given["sha256"]:
            raise InputError("the hash of the model's scores is not that of those it gives")
    return found


def _bind(constraints: tuple[Expr, ...], space: FeatureSpace) -> None:
    for constraint in constraints:
        if isinstance(constraint, Together):
            members = {space.index(name) for name in constraint.names}
            if len(members) > 1 and not any(members <= set(group.members) for group in space.groups):
                raise InputError(f"its space does not list the tuples of {constraint}")
        else:
            constraint.bind(space)


def _components(given: Any, space: FeatureSpace) -> tuple[Component, ...]:
    found = []
    for one in given:
        component = Component(_text(one["feature"], "a feature"), one["op"], one["value"])
        feature = space[component.feature]
        feature.code(component.value)
        if component.op != "=" and (not feature.ordered or component.value is None):
            raise InputError(f"{component} has no meaning; use '='")
        found.append(component)
    return tuple(found)


def _least(given: Mapping[str, Any], space: FeatureSpace) -> LeastClaim:
    if given["counted"] not in ("components", "conditions"):
        raise InputError(f"'counted' must be 'components' or 'conditions', not {given['counted']!r}")
    weights = {name: _finite(w, f"the weight of {name!r}") for name, w in _object(given, "weights").items()}
    for name, weight in weights.items():
        space.index(name)
        if weight <= 0:
            raise InputError(f"the weight of {name!r} must be positive, not {weight:g}")
    length, at_least = (_finite(given[key], f"{key!r}") for key in ("length", "at_least"))
    return LeastClaim(given["counted"], weights, length, at_least, _components(given["left_out"], space))


def _row(given: Mapping[str, Any], space: FeatureSpace, what: str) -> NDArray[np.float64]:
    """An encoded row, which its labels must be those of."""
    encoded, labels = given["encoded"], _object(given, "labels")
    if len(encoded) != len(space):
        raise InputError(f"{what} has {len(encoded)} values, and the space {len(space)} features")
    y = np.array([_value(v, what) for v in encoded])
    for feature, v in zip(space.features, y, strict=True):
        if feature.labels and not (np.isnan(v) or v in range(len(feature.labels))):
            raise InputError(f"{what} has the code {v:g} for {feature.name!r}, which has {len(feature.labels)} labels")
        told, label = labels[feature.name], plain_label(feature.label(v))
        if told != label or isinstance(told, bool) != isinstance(label, bool):
            raise InputError(f"{what} has {told!r} for {feature.name!r} in one place and {label!r} in another")
    return y


def _value(v: Any, what: str) -> float:
    if v is None:
        return np.nan
    if isinstance(v, str) and v in INFINITE:
        return INFINITE[v]
    return _finite(v, f"a value of {what}")


# -- the space --------------------------------------------------------------------------------------------------------


def _space(given: Any) -> FeatureSpace:
    """The space, every count 1."""
    if given["flavour"] not in ("pandas", "polars", "numpy"):
        raise InputError(f"its table is of the kind {given['flavour']!r}, which is not known")
    saved = dict(given)
    saved["features"] = [
        f | {"domain": f["domain"] | {"counts": [1.0] * len(f["domain"]["values"])}} for f in given["features"]
    ]
    saved["groups"] = [
        {
            "members": g["members"],
            "tuples": np.array([[_value(v, "a tuple") for v in row] for row in g["tuples"]]).reshape(
                -1, len(g["members"])
            ),
            "counts": [1.0] * len(g["tuples"]),
        }
        for g in given["groups"]
    ]
    space = FeatureSpace.from_dict(saved)
    if len(set(space.names)) < len(space):
        raise InputError("two features of its space have one name")
    for feature in space.features:
        _check_feature(feature)
    for group in space.groups:
        places = list(group.members)
        if not (len(group.tuples) and places == sorted(set(places)) and places[0] >= 0 and places[-1] < len(space)):
            raise InputError(f"a group of its space has the members {places} and {len(group.tuples)} tuples")
    return space


def _check_feature(feature: Feature) -> None:
    if feature.kind not in ("integer", "float", "ordinal", "category"):
        raise InputError(f"feature {feature.name!r} is of the kind {feature.kind!r}, which is not known")
    domain = feature.domain
    if domain.values.ndim != 1 or not np.isfinite(domain.values).all() or (np.diff(domain.values) <= 0).any():
        raise InputError(f"the values of {feature.name!r} must be numbers that rise")
    if not domain.size >= 1:
        raise InputError(f"feature {feature.name!r} can have no value at all")
    if feature.labelled and not np.isin(domain.values, np.arange(len(feature.labels))).all():
        raise InputError(f"a value of {feature.name!r} has no label")
    if domain.interval is not None and not (
        np.isfinite(domain.interval).all() and domain.interval[0] <= domain.interval[1]
    ):
        raise InputError(f"the range of {feature.name!r} must run from a number to one that is not less")
