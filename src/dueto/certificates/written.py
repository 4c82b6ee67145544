"""Certificates as they are written: what was proved of a rule, and what shows it, as plain data."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from dueto._version import __version__
from dueto.certificates.fingerprint import fingerprint
from dueto.models.labels import plain
from dueto.rule import Standing, bits, minimal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from numpy.typing import NDArray

    from dueto.plaf import Expr
    from dueto.rule import Component, Least, Rule
    from dueto.rules import Oracle
    from dueto.space import FeatureSpace

__all__ = ["FORMAT", "VERSION", "Certificate", "as_json", "deferred", "written_row", "written_space"]

FORMAT, VERSION = "dueto certificate", 1


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


def deferred(
    oracle: Oracle,
    rule: Rule,
    *,
    constraints: Iterable[Expr],
    data_fingerprint: Callable[[], str | None],
    weights: Mapping[str, float] | None = None,
    seconds: float = 0.0,
) -> Certificate:
    """The certificate of a rule that is proved; it is put together later, without the oracle.

    Parameters
    ----------
    oracle : Oracle
        The one that the rule was found with: it knows the counterfactuals that no shorter rule shuts out.
    rule : Rule
        Proved.
    constraints : iterable of Expr
        The user's.
    data_fingerprint : callable
        Gives the hash of the encoded data that the space was read from, if there is one.
    weights : mapping of feature to number, optional
        What a component costs, where that is not 1.
    seconds : float
        What the explanation took.
    """
    assert rule.verdict is not None
    assert rule.verdict.standing is Standing.PROVED
    by, model, components, void = rule.verdict.by, oracle.query.model, oracle.components, oracle.must
    space, x, texts = components.space, components.x, [str(constraint) for constraint in constraints]
    effort = {"questions": oracle.calls, "rows_scored": rule.verdict.rows_scored, "seconds": seconds}
    counterfactuals: dict[int, NDArray[np.float64]] = {}
    for dual in oracle.duals:
        counterfactuals.setdefault(dual & ~void or dual, oracle.exceptions[dual].copy())

    def make() -> dict[str, Any]:
        duals = minimal(counterfactuals)
        claims: dict[str, Any] = {"consistent": {"by": by}}
        if rule.least is not None:
            claims["least"] = _least(rule.least, weights or {}, components.rule(void))
        chosen = sum(1 << (2 * space.index(c.feature) + (c.op == ">=")) for c in rule)
        if all(any(dual & chosen == 1 << bit for dual in duals) for bit in bits(chosen)):
            claims["irredundant"] = {}
        return {
            "format": FORMAT,
            "version": VERSION,
            "dueto": __version__,
            "model": {
                "name": model.name,
                "desired": as_json(model.desired),
                "threshold": model.threshold,
                "fingerprint": fingerprint(model),
            },
            "space": written_space(space),
            "data": data_fingerprint(),
            "constraints": texts,
            "applicant": written_row(space, x),
            "rule": {"text": str(rule), "components": _components(rule)},
            "claims": claims,
            "witnesses": [written_row(space, counterfactuals[dual]) for dual in duals],
            "effort": effort,
        }

    return Certificate(make)


def _least(least: Least, weights: Mapping[str, float], void: Rule) -> dict[str, Any]:
    return {
        "counted": least.counted,
        "weights": {name: max(1, round(1000 * float(w))) / 1000 for name, w in weights.items()},
        "length": float(least.length),
        "at_least": float(least.at_least),
        "left_out": _components(void),
    }


def _components(components: Iterable[Component]) -> list[dict[str, Any]]:
    return [{"feature": c.feature, "op": c.op, "value": as_json(c.value)} for c in components]


def written_row(space: FeatureSpace, y: NDArray[np.float64]) -> dict[str, Any]:
    """An encoded row, and as the user knows it."""
    labels = {f.name: as_json(f.label(v)) for f, v in zip(space.features, y, strict=True)}
    return {"encoded": [None if np.isnan(v) else v for v in y.tolist()], "labels": labels}


def written_space(space: FeatureSpace) -> dict[str, Any]:
    """`space.to_dict`, without counts."""
    saved: dict[str, Any] = as_json(space.to_dict())
    for feature in saved["features"]:
        del feature["domain"]["counts"]
        feature["domain"]["missing"] = feature["domain"]["missing"] > 0
    for group in saved["groups"]:
        del group["counts"]
    return saved


def as_json(value: Any) -> Any:
    """As JSON can hold it: a tuple as a list, and what is no text, number or truth as its text."""
    if isinstance(value, Mapping):
        return {key: as_json(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [as_json(part) for part in value]
    value = plain(value)
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)
