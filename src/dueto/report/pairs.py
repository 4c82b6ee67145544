"""Pages about directions: one pair, or every two columns of a table. Plain data and pictures in, HTML out."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from dueto.errors import count, some
from dueto.report.page import rendered, versions

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["pair_page", "pairs_page"]

SIGNS = {"->": "→", "<-": "←", "?": "?"}
LIBRARIES = ("numpy", "scipy", "scikit-learn", "matplotlib")
CORRECTIONS = {"holm": "Holm's rule", "bh": "Benjamini and Hochberg's rule", "none": "none"}


def pair_page(told: Mapping[str, Any], pictures: Mapping[str, str]) -> str:
    """The page of one pair.

    Parameters
    ----------
    told : mapping
        `Direction.to_dict`, with `settings` and with `fits`: for either way, what its regression chose.
    pictures : mapping of str
        SVG elements: `fits`, `forward`, `backward`, and where there were tests `null_forward` and `null_backward`.
    """
    a, b = told["names"]
    arrow, settings = told["arrow"], told["settings"]
    tested = told["forward"] is not None
    ways = [
        {"cause": x, "effect": y, "test": told[way], "smi": told["smi"][way], "fit": fit}
        | {"key": way, "picture": pictures[way], "null": pictures.get(f"null_{way}")}
        for way, (x, y), fit in zip(("forward", "backward"), ((a, b), (b, a)), told["fits"], strict=True)
    ]
    return rendered(
        "pair.html",
        sign=SIGNS[arrow],
        verdict=_verdict(arrow, a, b, settings),
        reason=told["reason"],
        a=a,
        b=b,
        n=told["n"],
        ways=ways,
        fits=pictures["fits"],
        related=told["related"],
        tested=tested,
        rows=_rows(ways, settings, tested=tested),
        asked=_asked(settings) | {"Pairs": _used(told["n"], settings["rows"])},
        settings=settings,
        **_foot(),
    )


def pairs_page(told: Mapping[str, Any], graph: str) -> str:
    """The page of many pairs.

    Parameters
    ----------
    told : mapping
        `Directions.to_dict`, with `settings` and with `undecided`: how many pairs have no arrow, by why.
    graph : str
        An SVG element, or nothing where there is none.
    """
    pairs = sorted((_pair(row) for row in told["pairs"]), key=lambda pair: pair["order"])
    for place, pair in enumerate(pairs):
        pair["order"] = place
    arrows = sum(pair["arrow"] != "?" for pair in pairs)
    return rendered(
        "pairs.html",
        title=f"{count(arrows, 'arrow')} among {count(len(pairs), 'pair')} of {count(len(told['columns']), 'column')}",
        columns=told["columns"],
        pairs=pairs,
        arrows=arrows,
        tested=any(pair["p_forward"] is not None for pair in pairs),
        graph=graph,
        undecided=told["undecided"],
        left_out=some(told["left_out"], limit=100),
        asked=_asked(told["settings"]),
        settings=told["settings"],
        **_foot(),
    )


def _verdict(arrow: str, a: str, b: str, settings: Mapping[str, Any]) -> str:
    """The answer in a sentence that claims no more than was looked at."""
    if arrow == "?":
        return f"Which of {a} and {b} is due to the other, these data do not tell."
    cause, effect = (a, b) if arrow == "->" else (b, a)
    if settings["fast"]:
        return f"By the smaller SMI alone, which is no test, {effect} is due to {cause}."
    given = "If one of the two causes the other and the" if settings["known_related"] else "If the"
    return f"{given} assumptions below hold, {effect} is due to {cause}."


def _used(n: int, rows: int) -> str:
    return f"{n:,}" if n == rows else f"{n:,} of {rows:,}, drawn by chance"


def _rows(ways: Sequence[Mapping[str, Any]], settings: Mapping[str, Any], *, tested: bool) -> dict[str, list[str]]:
    """The lines of the table, one value for either way."""
    tests = [way["test"] for way in ways] if tested else []
    rows = {
        "p-value of “the residual is independent of the input”": [
            f"{t['pvalue']:.3g} ± {t['stderr']:.1g}" for t in tests
        ],
        "At the levels": [] if settings["known_related"] else [_level(t["pvalue"], settings) for t in tests],
        "Statistic observed": [f"{t['statistic']:.4g}" for t in tests],
        "Dependence of residual and input, as tested": [
            f"{t['estimate']:.4g} ({t['measure']})" for t in tests if t["measure"] != "smi"
        ],
        "Squared-loss mutual information (SMI) of residual and input": [f"{way['smi']:.4f}" for way in ways],
        "Permutations": [f"{t['n_permutations']:,}" for t in tests],
        "Pairs tested": [f"{t['n']:,}" for t in tests],
        "Bandwidth chosen, in standard deviations of the input": _chosen(ways, "width"),
        "Penalty chosen": _chosen(ways, "penalty"),
        "Regression converged": _chosen(ways, "converged"),
    }
    return {name: cells for name, cells in rows.items() if cells}


def _level(p: float, settings: Mapping[str, Any]) -> str:
    if p > settings["accept"]:
        return f"accepted (p > {settings['accept']:g})"
    return f"rejected (p ≤ {settings['reject']:g})" if p <= settings["reject"] else "neither accepted nor rejected"


def _chosen(ways: Sequence[Mapping[str, Any]], name: str) -> list[str]:
    """What the regressions chose, if they say so."""
    values = [way["fit"][name] for way in ways]
    if None in values:
        return []
    return [("no, the steps were used up", "yes")[v] if isinstance(v, bool) else f"{v:.3g}" for v in values]


def _asked(settings: Mapping[str, Any]) -> dict[str, str]:
    """How it was asked, for a reader who wants the same again."""
    known = "one is known to cause the other, so the larger p-value wins"
    levels = f"reject where p ≤ {settings['reject']:g}, accept where p > {settings['accept']:g} (α)"
    how = known if settings["known_related"] else levels
    if settings["fast"]:
        how = "no tests: the smaller SMI wins"
    told = {
        "Decision": how,
        "Regression": settings["regressor"] + (", fitted on one half and tested on the other" * settings["split"]),
        "Test": "" if settings["fast"] else f"{settings['measure']}, {settings['n_permutations']:,} permutations",
        "Stopped early": f"after {stop} permutations at least as large" if (stop := settings.get("stop_after")) else "",
        "Correction": _correction(settings) if "correction" in settings and not settings["fast"] else "",
        "Seed": "none: drawn from a generator" if settings["seed"] is None else str(settings["seed"]),
    }
    return {name: text for name, text in told.items() if text}


def _correction(settings: Mapping[str, Any]) -> str:
    rule = CORRECTIONS[settings["correction"]]
    return rule if rule == "none" else f"{rule}, of {settings['tests']:,} tests; to reject only"


def _pair(row: Mapping[str, Any]) -> dict[str, Any]:
    """One line of the table: from cause to effect where there is an arrow, with how sure it is."""
    turned = row["arrow"] == "<-"
    first, second = ("backward", "forward") if turned else ("forward", "backward")
    x, y = (row["y"], row["x"]) if turned else (row["x"], row["y"])
    told = dict(row) | {"first": x, "second": y, "sign": "?" if row["arrow"] == "?" else "→"}
    for name in ("p", "q", "smi"):
        told[name] = row[f"{name}_{first}"], row[f"{name}_{second}"]
    told["order"] = _order(told)
    return told


def _order(pair: Mapping[str, Any]) -> tuple[Any, ...]:
    """Surest first: arrows, by how small the p-value of the other way is and how large their own; then no arrows, by
    how likely the two are related at all; then what could not be tried."""
    (p, _), (_, q), (smi, other) = pair["p"], pair["q"], pair["smi"]
    if pair["arrow"] != "?":
        return (0, -(other - smi)) if q is None else (0, q, -p, -(other - smi))
    related = pair["p_related"]
    return (1 if pair["n"] else 2, math.inf if related is None else related)


def _foot() -> dict[str, Any]:
    """Versions, for the foot of a page."""
    found = versions(*LIBRARIES)
    return {"version": found["dueto"], "versions": found}
