"""The tables of the first benchmark, from its records."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

Record = dict[str, Any]


def tables(records: list[Record]) -> dict[str, list[Record]]:
    """Counterfactuals, rules, and rules beside anchors."""
    ours = [r for r in records if r["method"] != "anchors"]
    exact = {where(r): r for r in ours if r["status"] in {"optimal", "none"}}
    rival = {where(r): r for r in records if r["method"] == "anchors" and not r["error"]}
    failed = [r for r in records if r["method"] == "anchors" and r["error"]]
    beside = [*_each([r for r in ours if where(r) in rival], lambda part: _beside(part, rival))]
    beside += _each(list(rival.values()), lambda part: _shares(part) | {"times its seconds": None})
    found = {
        "Counterfactuals": [*_each(ours, lambda part: _counterfactuals(part, exact))],
        "Rules": [*_each(ours, _rules)],
        "Rules beside anchors, on the same rows, without constraints": beside,
    }
    if failed:
        found["Rows without an anchor"] = [{k: r[k] for k in ("case", "row", "seconds", "error")} for r in failed]
    return found


def where(record: Record) -> tuple[Any, ...]:
    """The question a record answers."""
    return record["case"], record["constrained"], record["row"]


def _each(records: list[Record], summary: Callable[[list[Record]], Record]) -> Iterator[Record]:
    """One summary for each case, method and constraints, in the order they came."""
    order = list(dict.fromkeys(_kind(r) for r in records))
    for kind, part in groupby(sorted(records, key=lambda r: order.index(_kind(r))), key=_kind):
        case, method, constrained = kind
        yield {"case": case, "method": method, "constraints": "yes" if constrained else "no"} | summary(list(part))


def _kind(record: Record) -> tuple[Any, ...]:
    return record["case"], record["method"], record["constrained"]


def _counterfactuals(part: list[Record], exact: dict[Any, Record]) -> Record:
    found = [cf for r in part for cf in r["counterfactuals"]]
    known = [(r, exact[where(r)]) for r in part if where(r) in exact]
    missed = sum(not r["counterfactuals"] and best["status"] == "optimal" for r, best in known)
    pairs = [(r["counterfactuals"][0], best["counterfactuals"][0]) for r, best in known if r["counterfactuals"]]
    over = np.array([cf["distance"] / best["distance"] for cf, best in pairs])
    return {
        "rows": len(part),
        "answered": sum(bool(r["counterfactuals"]) for r in part),
        "missed": missed if known else None,
        "found": len(found),
        "valid %": _share(cf["valid"] for cf in found),
        "feasible %": _share(cf["feasible"] for cf in found),
        "irredundant %": _share(cf["irredundant"] for cf in found),
        "nearest is optimum %": _share(over < 1 + 1e-9) if len(over) else None,
        "distance / optimum, mean": float(over.mean()) if len(over) else None,
        "worst": float(over.max()) if len(over) else None,
        **_spread(part, "cf_seconds", "seconds"),
        **_spread(part, "cf_rows", "rows scored"),
    }


def _rules(part: list[Record]) -> Record:
    standing = {s: sum(r["standing"] == s for r in part) for s in ("proved", "unrefuted", "refuted")}
    walked = "shrinks" in part[0]
    return {
        "rules": len(part),
        "proved": standing["proved"],
        "inconsistent %": _share(r["exception"] is not None for r in part),
        "judged by": "every leaf" if walked else f"search, {_median(part, 'effort'):,.0f} rows",
        "could be shorter %": _share(r["shrinks"] for r in part) if walked else None,
        "length": _median(part, "length"),
        "features": _median(part, "features"),
        "calls": _median(part, "calls"),
        **_spread(part, "rule_seconds", "seconds"),
        "of them in calls": _median(part, "call_seconds"),
        **_spread(part, "rule_rows", "rows scored"),
        **_spread(part, "seconds", "seconds with counterfactuals"),
    }


def _beside(part: list[Record], rival: dict[Any, Record]) -> Record:
    ratio = np.median([rival[where(r)]["seconds"] / r["seconds"] for r in part])
    return _shares(part) | {"times its seconds": float(ratio)}


def _shares(part: list[Record]) -> Record:
    return {
        "rules": len(part),
        "truly consistent %": _share(r["exception"] is None for r in part),
        "data consistent %": _share(r["data_consistent"] for r in part),
        "length": _median(part, "length"),
        "features": _median(part, "features"),
        **_spread(part, "seconds", "seconds"),
        **_spread(part, "rows_scored", "rows scored"),
    }


def _share(yes: Iterable[Any]) -> float | None:
    found = [bool(y) for y in yes]
    return round(100 * sum(found) / len(found), 1) if found else None


def _median(part: list[Record], key: str) -> float:
    return float(np.median([r[key] for r in part]))


def _spread(part: list[Record], key: str, name: str) -> Record:
    values = [r[key] for r in part]
    return {f"{name}, median / p95": [float(np.median(values)), float(np.percentile(values, 95))]}
