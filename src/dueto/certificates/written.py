"""Certificates as they are written: what was proved of a rule, and what shows it, as plain data."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np

from dueto._version import __version__
from dueto.certificates.fingerprint import fingerprint
from dueto.models.labels import plain
from dueto.rule import Standing, bits, minimal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from numpy.typing import NDArray

    from dueto.feature import Feature
    from dueto.plaf import Expr
    from dueto.rule import Components, Rule
    from dueto.rules import Oracle
    from dueto.space import FeatureSpace

__all__ = ["FORMAT", "VERSION", "Certificate", "certify", "deferred", "number", "plain_label"]

FORMAT, VERSION = "dueto certificate", 1

_DOMAINS: WeakKeyDictionary[Feature, dict[str, Any]] = WeakKeyDictionary()


class Certificate(Mapping[str, Any]):
    """What was proved of a rule, as plain data; put together when it is first looked at.

    Parameters
    ----------
    make : callable
        Gives the data; called once.

    Examples
    --------
    >>> from dueto.certificates import Certificate
    >>> Certificate(lambda: {"version": 1})["version"]
    1
    """

    def __init__(self, make: Callable[[], dict[str, Any]]) -> None:
        self._make: Callable[[], dict[str, Any]] | None = make
        self._data: dict[str, Any] = {}

    def to_dict(self) -> dict[str, Any]:
        """The data; the same object at every call."""
        if self._make is not None:
            self._data, self._make = self._make(), None
        return self._data

    def to_json(self, *, indent: int | None = None) -> str:
        """`to_dict` as JSON: strict, a missing value null."""
        return json.dumps(self.to_dict(), indent=indent, ensure_ascii=False, allow_nan=False)

    def __getitem__(self, key: str) -> Any:
        return self.to_dict()[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self.to_dict())

    def __len__(self) -> int:
        return len(self.to_dict())

    def __repr__(self) -> str:
        return f"Certificate({'not put together yet' if self._make else self._data['rule']['text']!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return Certificate, (partial(dict, self.to_dict()),)


def certify(
    oracle: Oracle,
    rule: Rule,
    *,
    constraints: Iterable[Expr],
    data_fingerprint: str | None = None,
    weights: Mapping[str, float] | None = None,
    seconds: float = 0.0,
) -> dict[str, Any]:
    """What was proved of a rule, as plain data that JSON can hold.

    Parameters
    ----------
    oracle : Oracle
        The one that the rule was found with: it knows the counterfactuals that no shorter rule shuts out.
    rule : Rule
        Proved.
    constraints : iterable of Expr
        The user's.
    data_fingerprint : str, optional
        The hash of the encoded data that the space was read from.
    weights : mapping of feature to number, optional
        What a component costs, where that is not 1.
    seconds : float
        What the explanation took.
    """
    return deferred(
        oracle,
        rule,
        constraints=constraints,
        data_fingerprint=lambda: data_fingerprint,
        weights=weights,
        seconds=seconds,
    ).to_dict()


def deferred(
    oracle: Oracle,
    rule: Rule,
    *,
    constraints: Iterable[Expr],
    data_fingerprint: Callable[[], str | None],
    weights: Mapping[str, float] | None = None,
    seconds: float = 0.0,
) -> Certificate:
    """`certify`, to be put together when it is first looked at; the oracle itself is let go."""
    assert rule.verdict is not None
    assert rule.verdict.standing is Standing.PROVED
    duals = tuple(oracle.duals)
    evidence = _Evidence(
        oracle.query.model,
        oracle.components,
        rule,
        tuple(constraints),
        {name: float(weight) for name, weight in (weights or {}).items()},
        oracle.must,
        duals,
        np.array([oracle.exceptions[dual] for dual in duals]).reshape(-1, len(oracle.query.x)),
        {"questions": oracle.calls, "rows_scored": rule.verdict.rows_scored, "seconds": seconds},
        data_fingerprint,
    )
    return Certificate(evidence.written)


@dataclass(frozen=True, eq=False)
class _Evidence:
    """What a certificate is put together from."""

    model: Any
    components: Components
    rule: Rule
    constraints: tuple[Expr, ...]
    weights: dict[str, float]
    void: int
    duals: tuple[int, ...]
    rows: NDArray[np.float64] = field(repr=False)
    effort: dict[str, Any]
    data_fingerprint: Callable[[], str | None]

    def written(self) -> dict[str, Any]:
        space, x, rule = self.components.space, self.components.x, self.rule
        reduced = [dual & ~self.void or dual for dual in self.duals]
        first = {dual: i for i, dual in reversed(list(enumerate(reduced)))}
        kept = minimal(reduced)
        claims: dict[str, Any] = {"consistent": {"by": rule.verdict.by}}  # type: ignore[union-attr]
        if (least := rule.least) is not None:
            claims["least"] = {
                "counted": least.counted,
                "weights": {name: max(1, round(1000 * w)) / 1000 for name, w in self.weights.items()},
                "length": float(least.length),
                "at_least": float(least.at_least),
                "left_out": self.components.rule(self.void).to_dict()["components"],
            }
        chosen = _chosen(self.components, rule)
        if all(any(dual & chosen == 1 << bit for dual in kept) for bit in bits(chosen)):
            claims["irredundant"] = {}
        return {
            "format": FORMAT,
            "version": VERSION,
            "dueto": __version__,
            "model": {
                "name": self.model.name,
                "desired": plain_label(self.model.desired),
                "threshold": self.model.threshold,
                "fingerprint": fingerprint(self.model),
            },
            "space": _space(space),
            "data": self.data_fingerprint(),
            "constraints": [str(constraint) for constraint in self.constraints],
            "applicant": _row(space, x),
            "rule": {
                "text": str(rule),
                "components": [
                    {"feature": c.feature, "op": c.op, "value": plain_label(c.value)} for c in rule.components
                ],
            },
            "claims": claims,
            "witnesses": [_row(space, self.rows[first[dual]]) for dual in kept],
            "effort": self.effort,
        }


def _chosen(components: Components, rule: Rule) -> int:
    """The rule as a set of components."""
    index = components.space.index
    return sum(1 << (2 * index(c.feature) + (c.op == ">=")) for c in rule.components)


def _row(space: FeatureSpace, y: NDArray[np.float64]) -> dict[str, Any]:
    """An encoded row, and as the user knows it."""
    labels = {f.name: plain_label(f.label(v)) for f, v in zip(space.features, y, strict=True)}
    return {"encoded": [number(v) for v in y.tolist()], "labels": labels}


def number(v: float) -> float | str | None:
    """A number as JSON can hold it: null for missing."""
    if np.isfinite(v):
        return float(v)
    return None if np.isnan(v) else "Infinity" if v > 0 else "-Infinity"


def plain_label(label: Any) -> Any:
    """A label as JSON can hold it."""
    label = plain(label)
    return label if label is None or isinstance(label, bool | int | float | str) else str(label)


def _space(space: FeatureSpace) -> dict[str, Any]:
    """`space.to_dict`, without counts; what a feature's domain gives is worked out once."""
    from dueto import frames

    for feature in space.features:
        if feature not in _DOMAINS:
            _DOMAINS[feature] = _feature(feature)
    return {
        "flavour": space.flavour,
        "columns": [_name(column) for column in space.columns],
        "dtypes": [frames.dtype_to_json(dtype) for dtype in space.dtypes],
        "features": [_DOMAINS[feature] for feature in space.features],
        "groups": [
            {"members": list(g.members), "tuples": [[number(v) for v in row] for row in g.tuples.tolist()]}
            for g in space.groups
        ],
    }


def _feature(feature: Feature) -> dict[str, Any]:
    domain = feature.domain
    tuples = None if feature.tuples is None else [[number(v) for v in row] for row in feature.tuples.tolist()]
    return {
        "name": feature.name,
        "kind": feature.kind,
        "columns": [_name(column) for column in feature.columns],
        "labels": [plain_label(label) for label in feature.labels],
        "tuples": tuples,
        "nan": bool(feature.nan),
        "domain": {
            "values": domain.values.tolist(),
            "missing": bool(domain.missing),
            "interval": None if domain.interval is None else [float(end) for end in domain.interval],
            "integer": domain.integer,
        },
    }


def _name(column: Any) -> Any:
    return [_name(part) for part in column] if isinstance(column, tuple) else plain_label(column)
