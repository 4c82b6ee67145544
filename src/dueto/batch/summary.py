"""What many refusals have in common, as plain data: how sure, due to what, changeable how, and for whom."""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections import Counter
from datetime import date, time, timedelta
from decimal import Decimal
from heapq import heapify, heappop, heapreplace
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from dueto.batch.sharing import Reach, rule_of
from dueto.certificates.written import as_json
from dueto.errors import InputError, in_words
from dueto.frames import LARGEST_INTEGER

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from dueto.batch.rows import Asked
    from dueto.explain import Explainer
    from dueto.space import FeatureSpace

__all__ = ["summarised"]

TOP = 15  # features, bounds and kinds of change that are listed
RULES = 10  # rules of the cover that are listed
CANDIDATES = 3_000  # rules that the cover chooses among: those that most rows of the data meet
GROUPS = 12  # values of a column that are groups of their own; of more, numbers and times are cut at their quartiles
MIDNIGHT = re.compile(r" 00:00:00([+-][0-9:.]+)?$")  # of a day, in whatever time zone


def summarised(explainer: Explainer, asked: Asked, found: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """The portfolio: figures over all records of a batch, in the order of `asked`."""
    rules: dict[str, dict[str, Any]] = {}
    records = [_needed(record, rules) for record in found]
    answered = [r for r in records if not r["error"]]
    return {
        "source": asked.source,
        "rows": asked.rows,
        "explained": len(records),
        "distinct": len(asked.first),
        "passed_over": asked.passed_over,
        "desired": explainer.model.desired,
        "threshold": explainer.model.threshold,
        "constraints": list(explainer.requirements.sentences),
        "shares": _shares(records),
        "methods": _counted(r["methods"]["rule"] for r in answered),
        "seconds": sum(r["seconds"] for r in answered if r["same_as"] is None),
        "lengths": _lengths([r["rule"]["cardinality"] for r in answered]),
        "conditions": _lengths([len(r["rule"]["conditions"]) for r in answered]),
        "features": _listed(answered, _features),
        "bounds": _bounds(explainer.space, answered),
        "changed": _listed([r for r in answered if r["counterfactuals"]], _first_changes),
        "cover": _cover(explainer, asked, records),
        "by": [_by(name, values, asked.totals[name], records) for name, values in asked.by.items()],
        "errors": _counted(r["error"] for r in records if r["error"]),
    }


def _needed(r: Mapping[str, Any], rules: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """What of a record is counted; a rule that is given to many is held once."""
    if r["error"]:
        return {key: r[key] for key in ("row", "same_as", "found_for", "error")}
    kept = {key: r[key] for key in ("row", "same_as", "found_for", "error", "status", "methods", "seconds")}
    nearest = [
        {"cost": c["cost"], "changes": {one["feature"] for one in c["changes"]}} for c in r["counterfactuals"][:1]
    ]
    rule = rules.setdefault(json.dumps(r["rule"]), r["rule"])
    return kept | {"rule": rule, "refused": r["support"]["refused"], "counterfactuals": nearest}


def _shares(records: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """How many rows there are, and how many of them have what."""
    answered = [r for r in records if not r["error"]]
    standing = Counter(r["rule"]["verdict"]["standing"] for r in answered)
    status = Counter(r["status"] for r in answered)
    return {
        "rows": len(records),
        "proved": standing["proved"],
        "least": sum(bool(r["rule"]["least"] and r["rule"]["least"]["proved"]) for r in answered),
        "shared": sum(r["found_for"] is not None for r in answered),
        "unrefuted": standing["unrefuted"],
        "refuted": standing["refuted"],
        "failed": len(records) - len(answered),
        "changeable": sum(bool(r["counterfactuals"]) for r in answered),
        "nearest": status["optimal"],
        "hopeless": status["none"],
        "unknown": status["unknown"],
    }


def _lengths(found: Sequence[int]) -> dict[str, float]:
    if not found:
        return {}
    low, middle, high = np.percentile(found, [0, 50, 100]).tolist()
    return {"least": low, "median": middle, "mean": float(np.mean(found)), "most": high}


def _counted(values: Iterable[str]) -> list[dict[str, Any]]:
    return [{"what": what, "rows": n} for what, n in Counter(values).most_common(TOP)]


def _listed(records: Sequence[Mapping[str, Any]], of: Callable[[Any], set[str]]) -> list[dict[str, Any]]:
    """What occurs in most records, with their number; names of the same number by the alphabet."""
    found = Counter(name for r in records for name in of(r))
    order = sorted(found.items(), key=lambda pair: (-pair[1], pair[0]))
    return [{"what": what, "rows": n} for what, n in order[:TOP]]


def _bounds(space: FeatureSpace, records: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Which features most rules bound from below, from above or exactly, and where: each exact value by itself.

    The median is one of the bounds: the lower of the two in the middle.
    """
    found: dict[tuple[str, str, str], list[Any]] = {}
    for r in records:
        for c in r["rule"]["components"]:
            exact = json.dumps(c["value"]) if c["op"] == "=" else ""
            found.setdefault((c["feature"], c["op"], exact), []).append(c["value"])
    told = []
    for (name, op, _), values in found.items():
        feature = space.features[space.index(name)]
        places = {as_json(label): i for i, label in enumerate(feature.labels)}
        if op != "=":
            values.sort(key=lambda value: places[value] if feature.labelled else value)
        low, middle, high = (values[i] for i in (0, (len(values) - 1) // 2, -1))
        told.append({"feature": name, "op": op, "rows": len(values), "least": low, "median": middle, "most": high})
    return sorted(told, key=lambda b: (-b["rows"], b["feature"], b["op"], str(b["median"])))[:TOP]


def _cover(explainer: Explainer, asked: Asked, records: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The few proved rules that explain the most rows: again and again the rule that is proved of most of the rest.

    Under constraints that compare with the present, a rule may be proved for several rows each by itself: it is one.
    Of rules that serve as many, the shorter is taken, then the earlier. Within 1 - 1/e of the best choice of so many.
    """
    owners: dict[str, list[int]] = {}
    for i, r in enumerate(records):
        if not r["error"] and r["found_for"] is None and r["rule"]["verdict"]["standing"] == "proved":
            owners.setdefault(r["rule"]["text"], []).append(i)
    reach = Reach(explainer, asked.X)
    able = np.array([not r["error"] for r in records], dtype=bool)
    chosen = sorted(owners.values(), key=lambda rows: -max(records[i]["refused"] for i in rows))[:CANDIDATES]
    serves: dict[int, NDArray[np.bool_]] = {}
    for rows in chosen:
        serves[rows[0]] = served = np.zeros(len(records), dtype=bool)
        served[rows] = True
        try:
            rule = rule_of(records[rows[0]]["rule"])
            for i in rows if reach.signs else rows[:1]:
                served[reach.of(rule, asked.X[i])] = True
        except InputError:  # a label that JSON cannot hold
            continue
        served &= able
    covering = _covering(serves, {i: records[i]["rule"]["cardinality"] for i in serves}, able)
    total, n = np.cumsum([gain for _, gain in covering]), int(able.sum())
    rules = [
        {
            "rule": records[i]["rule"]["text"],
            "conditions": list(records[i]["rule"]["conditions"]),
            "row": records[i]["row"],
            "length": records[i]["rule"]["cardinality"],
            "serves": int(serves[i].sum()),
            "new": gain,
            "together": int(together),
        }
        for (i, gain), together in zip(covering[:RULES], total, strict=False)
    ]
    enough = {f"{share:.0%}": np.flatnonzero(total >= share * n - 1e-9)[:1] + 1 for share in (0.5, 0.9, 1.0)}
    needed = {share: int(at[0]) if len(at) else None for share, at in enough.items()}
    return {"rules": rules, "distinct": len(owners), "rows": n, "needed": needed}


def _covering(
    serves: Mapping[int, NDArray[np.bool_]], lengths: Mapping[int, int], rest: NDArray[np.bool_]
) -> list[tuple[int, int]]:
    """The rules that serve most of the rest, one after the other, each with how many; until none serves any of it."""
    found = []
    heap = [(-int(served.sum()), lengths[i], i) for i, served in serves.items()]
    heapify(heap)
    while heap:
        before, length, best = heap[0]  # a gain is never more than it was, so that most need not be counted anew
        gain = int((serves[best] & rest).sum())
        if gain < -before:
            heapreplace(heap, (-gain, length, best))
            continue
        if not gain:
            break
        heappop(heap)
        rest = rest & ~serves[best]
        found.append((best, gain))
    return found


def _by(
    name: str, values: Sequence[Any], totals: Sequence[tuple[Any, int, int]], records: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """The shares for each value of a column."""
    group, ranges = _groups([value for value, _, _ in totals], [n for _, n, _ in totals])
    found: dict[str, dict[str, Any]] = {}
    for value, rows, refused in totals:
        entry = found.setdefault(group(value), {"group": group(value), "all": 0, "refused": 0, "records": []})
        entry["all"] += rows
        entry["refused"] += refused
    for value, record in zip(values, records, strict=True):
        found[group(value)]["records"].append(record)
    told = []
    for entry in found.values():
        mine = entry.pop("records")
        answered = [r for r in mine if not r["error"]]
        first = _listed([r for r in answered if r["counterfactuals"]], _first_changes)
        costs = [r["counterfactuals"][0]["cost"] for r in answered if r["counterfactuals"]]
        told.append(
            entry
            | _shares(mine)
            | {
                "length": float(np.median([r["rule"]["cardinality"] for r in answered])) if answered else None,
                "cost": float(np.median(costs)) if costs else None,
                "features": [f["what"] for f in _listed(answered, _features)[:3]],
                "changed": [f["what"] for f in first[:3]],
            }
        )
    told.sort(key=lambda g: (ranges.index(g["group"]) if ranges else -g["all"], g["group"]))
    return {"column": name, "groups": told}


def _features(record: Mapping[str, Any]) -> set[str]:
    return {c["feature"] for c in record["rule"]["components"]}


def _first_changes(record: Mapping[str, Any]) -> set[str]:
    found: set[str] = record["counterfactuals"][0]["changes"]
    return found


def _groups(values: Sequence[Any], counts: Sequence[int]) -> tuple[Callable[[Any], str], list[str]]:
    """What the group of a value is called: the value, or where numbers or dates are many, its quarter of the rows.

    And the names of the quarters, rising, missing last; none where each value is a group.
    """
    held = sorted((v, n) for v, n in zip(values, counts, strict=True) if v is not None) if _rise(values) else []
    if len(values) <= GROUPS or not held:
        return _value, []
    last = np.cumsum([n for _, n in held]) - 1  # the last row of each value, in their order
    cuts = sorted({held[np.searchsorted(last, int(q * last[-1]))][0] for q in (0.25, 0.5, 0.75)})
    parts = [[v for v, _ in held if bisect_left(cuts, v) == k] for k in range(len(cuts) + 1)]
    names = [f"{_value(vs[0])} to {_value(vs[-1])}" if vs else "" for vs in parts]
    names.append("missing")
    return lambda value: names[-1 if value is None else bisect_left(cuts, value)], names


def _rise(values: Sequence[Any]) -> bool:
    """Whether values are all numbers, or all dates, times or durations that can be compared."""
    kinds = {
        (type(v), getattr(v, "tzinfo", None) is None)
        if isinstance(v, date | time | timedelta)
        else isinstance(v, Real | Decimal)
        for v in values
        if v is not None
    }
    return len(kinds) == 1 and kinds != {False} and not any(isinstance(v, bool) for v in values)


def _value(value: Any) -> str:
    """A value as the name of a group: whole numbers without a point, days without a time."""
    if isinstance(value, float) and value.is_integer() and abs(value) <= LARGEST_INTEGER:
        value = int(value)
    told = in_words(value)
    return MIDNIGHT.sub("", told) if isinstance(value, date) else told
