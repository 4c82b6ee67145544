"""From the counts of a picture to where everything stands in it; the template draws that."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

from dueto.report.words import share

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["drawn", "told"]

WIDTH, TOP, MIDDLE, BOTTOM = 380.0, 26.0, 92.0, 158.0
LETTER = 6.3  # how wide a character is, about
GAP = 8.0
LONGEST = 24  # characters of a value beside the mark


def drawn(picture: dict[str, Any], condition: str = "") -> dict[str, Any]:
    """A picture with what the template needs: bars and marks in units of the drawing, and the words beside it.

    Parameters
    ----------
    picture : dict
        As `pictures.picture` counts it.
    condition : str
        What the rule says of the feature, in words; empty if nothing.
    """
    bars = picture["bars"]
    parts = {side: [_part(bar[side], picture[side]) for bar in bars] for side in ("accepted", "refused")}
    most = max([*parts["accepted"], *parts["refused"]], default=0.0) or 1.0
    width = WIDTH / max(len(bars), 1)
    rows = []
    for i, bar in enumerate(bars):
        up, down = (parts[side][i] / most for side in ("accepted", "refused"))
        rows.append(
            bar
            | {
                "x": round(i * width, 2),
                "up": round(up * (MIDDLE - TOP), 2),
                "down": round(down * (BOTTOM - MIDDLE), 2),
                "accepted_share": round(100 * up, 2),
                "refused_share": round(100 * down, 2),
            }
        )
    place = picture["place"] * width
    value = picture["value"]
    return picture | {
        "bars": rows,
        "width": round(width, 2),
        "ticks": _ticks(bars, width),
        "x": round(place, 2),
        "anchor": "start" if place < WIDTH * 0.25 else "end" if place > WIDTH * 0.75 else "middle",
        "shown": value if len(value) <= LONGEST else f"{value[: LONGEST - 1]}…",
        "marks": _beside(_apart(picture["moves"]), width),
        "condition": condition,
        "told": told(picture, condition),
    }


def told(picture: dict[str, Any], condition: str) -> str:
    """What a picture shows, in words."""
    (bar,) = [bar for bar in picture["bars"] if bar["applicant"]]
    where = "" if bar["label"] == picture["value"] else f" (in the bar {bar['label']})"
    text = f"The applicant: {picture['value']}{where}, as "
    text += " and ".join(_of(bar[side], picture[side], side) for side in ("refused", "accepted"))
    if picture["inside"] is None:
        return f"{text}."
    if condition in (picture["value"], f"exactly {picture['value']}"):
        return f"{text}. The rule: exactly this."
    inside = " and ".join(_of(picture["inside"][side], picture[side], side) for side in ("refused", "accepted"))
    return f"{text}. The rule: {condition}, which {inside} meet."


def _of(part: int, whole: int, side: str) -> str:
    percent = f" ({share(part, whole)})" if part else ""
    return f"{part:,} of the {whole:,} {side}{percent}"


def _part(count: int, whole: int) -> float:
    return count / whole if whole else 0.0


def _apart(moves: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Marks at one place become one."""
    found: dict[float, dict[str, Any]] = {}
    for move in moves:
        at = found.setdefault(move["place"], {"place": move["place"], "text": ""})
        at["text"] += f"{',' if at['text'] else ''}{move['rank']}"
    return list(found.values())


def _beside(marks: Iterable[dict[str, Any]], width: float) -> list[dict[str, Any]]:
    """Marks with where they stand, and their text on the side where it runs into nothing."""
    found = sorted((mark | {"x": round(mark["place"] * width, 2)} for mark in marks), key=lambda mark: mark["x"])
    return [
        mark | {"left": mark["x"] + LETTER * (len(mark["text"]) + 1) + 2 * GAP > after["x"]}
        for mark, after in pairwise([*found, {"x": WIDTH}])
    ]


def _ticks(bars: list[dict[str, Any]], width: float) -> list[dict[str, Any]]:
    """What stands under the bars, as much of it as there is room for; first what bounds the rule, then every other."""
    if all(bar["edge"] is None for bar in bars):
        wanted = [((i + 0.5) * width, bar["label"], bar["applicant"]) for i, bar in enumerate(bars)]
    else:
        after = [bar["inside"] for bar in bars[1:]] + [False]
        alone = [i for i in range(1, len(bars)) if bars[i]["label"] == bars[i]["edge"] == bars[i - 1]["edge"]]
        ends = [i for i, bar in enumerate(bars) if bar["edge"] and i not in alone and i + 1 not in alone]
        wanted = [((i + 1) * width, bars[i]["edge"], bars[i]["inside"] != after[i]) for i in ends]
        middles = [*alone, *(i for i, bar in enumerate(bars) if bar["label"] == "missing")]
        wanted += [((i + 0.5) * width, bars[i]["label"], True) for i in middles]
    order = sorted(range(len(wanted)), key=lambda i: (not wanted[i][2], i % 4 != 0, i % 2 != 0, i))
    kept: list[tuple[float, float, str]] = []
    for i in order:
        x, label, _ = wanted[i]
        half = len(label) * LETTER / 2
        middle = min(max(x, half), WIDTH - half)
        if all(abs(middle - other) >= half + its + GAP for other, its, _ in kept):
            kept.append((middle, half, label))
    return [{"x": round(x, 2), "label": label} for x, _, label in sorted(kept)]
