"""Where an applicant stands on one feature, against the accepted and the refused rows of the data: the counts."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dueto.errors import in_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from dueto.feature import Feature

    Floats = NDArray[np.float64]

__all__ = ["picture"]

BARS = 14  # about so many for a number
VALUES = 16  # a number with at most so many values has a bar for each
LABELS = 8  # a category shows so many, the commonest, and those that matter here
LEVELS = 20  # an ordinal shows at most so many, else intervals of them
CROWDED = 0.4  # if one of equally wide bars holds a larger share of the rows, bars hold equally many instead
SAMPLE = 100_000  # rows that bars are laid out by

Interval = tuple[float, float, bool]  # from, to, and whether missing is inside


class _Bar(NamedTuple):
    """A bar: what it is called, which values it holds, and whether they satisfy the rule."""

    label: str
    low: float  # its values are above this
    high: float  # and up to this
    inside: bool
    edge: str | None = None  # what its upper end is called


def picture(
    feature: Feature,
    column: Floats,
    counts: NDArray[Any],
    good: NDArray[np.bool_],
    value: float,
    *,
    interval: Interval | None = None,
    moves: Sequence[tuple[int, float]] = (),
) -> dict[str, Any]:
    """One feature of the rows, counted bar by bar; the counts add up to the rows.

    Parameters
    ----------
    feature : Feature
        What the values mean.
    column : (d,) float64
        The feature's values of the distinct rows.
    counts : (d,) int
        How many rows of the data each stands for.
    good : (d,) bool
        Whether the model accepts them.
    value : float
        The applicant's.
    interval : (low, high, missing), optional
        What the rule says of the feature: the bars keep to its bounds.
    moves : sequence of (rank, value)
        Where counterfactuals lead.

    Returns
    -------
    dict
        `feature`, `kind` ("numbers" or "labels"), the applicant's `value` as text and `place` (in bars from the left),
        `even` (whether bars hold about equally many rows, not being equally wide), `bars` (`label`, `edge`,
        `accepted`, `refused`, `inside`, `applicant`, `moves`), `moves` (`rank`, `place`, `text`), the totals `accepted`
        and `refused`, and, if there is an interval, those `inside` it.
    """
    marked, column = [value, *(v for _, v in moves)], np.ascontiguousarray(column)
    labels, even = feature.kind == "category" or (feature.kind == "ordinal" and len(feature.labels) <= LEVELS), False
    if labels:
        bars, which, place = _labels(feature, column, counts, marked, interval)
    else:
        bars, which, place, even = _numbers(feature, column, marked, interval)
    both = np.bincount(2 * which + good, weights=counts, minlength=2 * len(bars)).astype(int)
    many = {"accepted": both[1::2], "refused": both[::2]}
    inside = np.array([bar.inside for bar in bars], dtype=bool)
    return {
        "feature": feature.name,
        "kind": "labels" if labels else "numbers",
        "even": even,
        "value": feature.text(value),
        "place": place[0],
        "bars": [
            {
                "label": bar.label,
                "edge": bar.edge,
                **{side: int(many[side][i]) for side in many},
                "inside": bool(bar.inside and interval is not None),
                "applicant": int(place[0]) == i,
                "moves": [rank for (rank, _), at in zip(moves, place[1:], strict=True) if int(at) == i],
            }
            for i, bar in enumerate(bars)
        ],
        "moves": [
            {"rank": rank, "place": at, "text": feature.text(v)} for (rank, v), at in zip(moves, place[1:], strict=True)
        ],
        **{side: int(many[side].sum()) for side in many},
        "inside": None if interval is None else {side: int(many[side][inside].sum()) for side in many},
    }


def _within(interval: Interval | None, v: float) -> bool:
    if interval is None:
        return False
    return interval[2] if np.isnan(v) else interval[0] <= v <= interval[1]


def _labels(
    feature: Feature, column: Floats, counts: NDArray[Any], marked: Sequence[float], interval: Interval | None
) -> tuple[list[_Bar], NDArray[np.intp], list[float]]:
    """A bar for each label that is shown, one for missing, one for all others."""
    k = len(feature.labels)
    codes = np.where(np.isnan(column), k, column).astype(np.intp)
    many = np.bincount(codes, weights=counts, minlength=k + 1)
    shown = list(range(k))
    if feature.kind == "category":
        common = np.argsort(-many[:k], kind="stable")
        needed = {int(v) for v in marked if not np.isnan(v)}
        some = [int(c) for c in common[:LABELS] if many[c]] if k > LABELS + 1 else [int(c) for c in common]
        shown = sorted({*some, *needed}, key=lambda c: (-many[c], c))
    bars = [_Bar(in_words(feature.labels[c]), c, c, _within(interval, c)) for c in shown]
    at = np.full(k + 1, len(bars), dtype=np.intp)
    at[shown] = range(len(bars))
    if many[k] or any(map(np.isnan, marked)):
        at[k] = len(bars)
        bars.append(_Bar("missing", np.nan, np.nan, _within(interval, np.nan)))
    left = k - len(shown)
    if left:
        at[np.setdiff1d(np.arange(k), shown)] = len(bars)
        bars.append(_Bar(f"{left:,} {'other' if left == 1 else 'others'}", np.nan, np.nan, False))
    return bars, at[codes], [at[k if np.isnan(v) else int(v)] + 0.5 for v in marked]


def _numbers(
    feature: Feature, column: Floats, marked: Sequence[float], interval: Interval | None
) -> tuple[list[_Bar], NDArray[np.intp], list[float], bool]:
    """A bar for each value, if they are few, else for intervals that keep to the rule's bounds; and one for missing."""
    missing = np.isnan(column)
    sample = column[:: max(1, len(column) // SAMPLE)]
    sample = np.sort(sample[~np.isnan(sample)])
    values = _few(feature, column, marked)
    even = False
    if values is not None:
        edges = values[:-1]
        bars = [_Bar(feature.text(v), v, v, _within(interval, v)) for v in values]
    else:
        edges, even = _edges(feature, sample, interval)
        bars = [_between(feature, low, high, interval) for low, high in pairwise([-np.inf, *edges.tolist(), np.inf])]
    which = np.zeros(len(column), dtype=np.uint8)
    for edge in edges:  # a value at an edge belongs to the bar below it
        which += column > edge
    place = [_place(feature, v, edges, alone=values is not None) for v in marked]
    if missing.any() or any(map(np.isnan, marked)):
        which[missing] = len(bars)
        place = [len(bars) + 0.5 if np.isnan(v) else at for v, at in zip(marked, place, strict=True)]
        bars.append(_Bar("missing", np.nan, np.nan, _within(interval, np.nan)))
    return bars, which.astype(np.intp), place, even


def _few(feature: Feature, column: Floats, marked: Sequence[float]) -> Floats | None:
    """All values that occur or matter here, if they are few."""
    if len(feature.domain.values) > VALUES or feature.domain.interval is not None:
        return None
    values = np.unique([*feature.domain.values, *(v for v in marked if not np.isnan(v))])
    if len(values) == 0 or len(values) > VALUES or not (np.isin(column, values) | np.isnan(column)).all():
        return None
    return values


def _edges(feature: Feature, sample: Floats, interval: Interval | None) -> tuple[Floats, bool]:
    """Upper ends of all bars but the last: round numbers, and the rule's bounds instead of those that are near them.

    And whether the bars hold about equally many rows.
    """
    bounds = [] if interval is None else [_below(feature, interval[0]), interval[1]]
    bounds = [b for b in bounds if np.isfinite(b)]
    if len(sample) == 0:
        return np.array(sorted(bounds)), False
    low, high = np.quantile(sample, [0.005, 0.995])
    step = _round_step((high - low) / BARS, whole=feature.kind != "float")
    edges = np.round(np.arange(np.ceil(low / step), np.ceil(high / step)) * step, 12)
    shares = np.diff(np.searchsorted(sample, edges, side="right"), prepend=0, append=len(sample)) / len(sample)

    def along(v: Any) -> Any:
        return np.asarray(v) / step

    even = bool(shares.max() > CROWDED)
    if even:
        values, many = np.unique(sample, return_counts=True)
        heavy = values[many > len(sample) / BARS]  # each ends a bar; the others share what bars are left
        rest = sample[~np.isin(sample, heavy)]
        left = max(BARS - len(heavy), 2)
        ranks = rest if len(rest) else sample
        cuts = np.quantile(ranks, np.arange(1, left) / left, method="inverted_cdf")
        edges = np.unique([*(_rounded(v) for v in cuts), *heavy])

        def along(v: Any) -> Any:
            return np.searchsorted(ranks, v, side="right") / len(ranks) * left

    if feature.kind != "float":
        edges = np.unique(np.floor(edges))
    for bound in bounds:
        edges = edges[np.abs(along(edges) - along(bound)) >= 0.5]
    edges = edges[(edges >= sample[0]) & (edges < sample[-1])]
    return np.unique([*edges, *bounds]), even


def _between(feature: Feature, low: float, high: float, interval: Interval | None) -> _Bar:
    inside = False
    if interval is not None:
        inside = low >= _below(feature, interval[0]) and high <= interval[1]
    start = interval[0] if interval is not None and low == _below(feature, interval[0]) else low
    if feature.kind != "float" and np.isfinite(low):
        start = low + 1
    first, last = _written(feature, start), _written(feature, high)
    if not np.isfinite(low) and not np.isfinite(high):
        label = "all"
    elif not np.isfinite(low):
        label = f"up to {last}"
    elif not np.isfinite(high):
        label = f"{'' if start > low else 'above '}{first}{' or more' if start > low else ''}"
    else:
        label = first if start == high else f"{first} to {last}"
    if interval is not None and np.isfinite(high) and high == _below(feature, interval[0]):
        last = _written(feature, interval[0])  # where the next bar starts, and the rule
    return _Bar(label, low, high, bool(inside), last or None)


def _below(feature: Feature, low: float) -> float:
    """The edge below a lower bound."""
    if not np.isfinite(low):
        return -np.inf
    return float(np.ceil(low) - 1 if feature.kind != "float" else np.nextafter(low, -np.inf))


def _place(feature: Feature, v: float, edges: Floats, *, alone: bool) -> float:
    """Where a number stands, in bars from the left: the middle of a bar that is one value or has no end."""
    bar = int(np.searchsorted(edges, v))
    if alone or bar in (0, len(edges)) or np.isnan(v) or edges[bar - 1] == _below(feature, edges[bar]):
        return bar + 0.5
    half = 0.5 if feature.kind != "float" else 0.0  # a whole number takes up the unit below its end
    return float(bar + np.clip((v - half - edges[bar - 1]) / (edges[bar] - edges[bar - 1]), 0.05, 0.95))


def _round_step(width: float, *, whole: bool) -> float:
    """The least step of 1, 2 or 5 times a power of ten that is no shorter."""
    if not width > 0:
        return 1.0
    unit = 10.0 ** np.floor(np.log10(width))
    step = next(m * unit for m in (1, 2, 5, 10) if m * unit >= width)
    return float(max(1.0, step) if whole else step)


def _rounded(v: float) -> float:
    """Two digits are enough for an edge."""
    return float(f"{v:.2g}")


def _written(feature: Feature, v: float) -> str:
    if not np.isfinite(v):
        return ""
    if feature.labelled:
        return str(feature.labels[int(np.clip(v, 0, len(feature.labels) - 1))])
    return feature.text(v) if float(v).is_integer() else f"{v:.6g}"
