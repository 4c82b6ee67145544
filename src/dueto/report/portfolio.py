"""The page of a batch: what many refusals have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dueto._version import __version__
from dueto.errors import in_words
from dueto.report.page import rendered
from dueto.report.words import share

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["portfolio_page"]

BOUNDS = {">=": "at least", "<=": "at most", "=": "exactly"}
SMALL = 30  # rows below which a share says little
STANDINGS = (
    ("proved", "proved", "a proved rule"),
    ("unrefuted", "searched", "a rule that was searched, not proved"),
    ("refuted", "refuted", "a rule with an exception"),
    ("failed", "quiet", "no answer"),
)
STATUSES = (
    ("changeable", "a feasible change that flips the decision"),
    ("hopeless", "no such change (proved)"),
    ("unknown", "none found within the budget, which proves nothing"),
)


def portfolio_page(summary: Mapping[str, Any], question: Mapping[str, Any]) -> str:
    """A page of HTML from the plain data of a batch, that needs nothing else and asks the network for nothing.

    Parameters
    ----------
    summary : mapping
        As `Batch.summary`.
    question : mapping
        As `Batch.question`.
    """
    n = summary["shares"]["rows"]
    return rendered(
        "portfolio.html",
        version=__version__,
        s=summary,
        n=n,
        standings=[_bar(text, summary["shares"][key], n, kind) for key, kind, text in STANDINGS],
        statuses=[_bar(text, summary["shares"][key], n) for key, text in STATUSES],
        lists=_lists(summary, n - summary["shares"]["failed"]),
        rules=[
            rule | {"share": share(rule["serves"], n), "upto": share(rule["together"], n)}
            for rule in summary["cover"]["rules"]
        ],
        groups=[_told(column) for column in summary["by"]],
        small=SMALL,
        told=_question(question, summary),
        share=share,
        seconds=summary["seconds"],
    )


def _bar(text: str, part: int, n: int, kind: str = "", where: str = "") -> dict[str, Any]:
    return {
        "text": text,
        "where": where,
        "rows": part,
        "share": share(part, n),
        "width": round(100 * part / n, 1) if n else 0,
        "kind": kind,
    }


def _lists(summary: Mapping[str, Any], n: int) -> list[dict[str, Any]]:
    """The three lists of what is most frequent."""
    changed = summary["shares"]["changeable"]
    features, moved = (
        [_bar(e["what"], e["rows"], of) for e in summary[key]] for key, of in (("features", n), ("changed", changed))
    )
    bounds = [
        _bar(f"{b['feature']} {BOUNDS.get(b['op'], b['op'])}", b["rows"], n, where=_where(b)) for b in summary["bounds"]
    ]

    def listed(title: str, head: str, counted: str, of: int, rows: Any, where: str = "") -> dict[str, Any]:
        return {"title": title, "head": head, "where": where, "counted": counted, "of": of, "rows": rows[:10]}

    return [
        listed("Features in the rules", "Feature", "Rules with it", n, features),
        listed("Conditions in the rules", "Condition", "Rules with it", n, bounds, "Median (range)"),
        listed("What the nearest change would change", "Feature", "Changes of it", changed, moved),
    ]


def _where(bound: Mapping[str, Any]) -> str:
    """Where rules bound a feature: the middle one of the bounds, and their ends."""
    low, middle, high = (in_words(bound[key]) for key in ("least", "median", "most"))
    return middle if low == high else f"{middle} ({low} to {high})"


def _told(column: Mapping[str, Any]) -> dict[str, Any]:
    """A table of shares by the values of a column."""
    rows = []
    for g in column["groups"]:
        n = g["rows"]
        rows.append(
            {
                "group": g["group"],
                "all": g["all"],
                "refused": f"{g['refused']:,} ({share(g['refused'], g['all'])})",
                "n": n,
                "few": n < SMALL,
                "proved": share(g["proved"], n),
                "changeable": share(g["changeable"], n),
                "hopeless": share(g["hopeless"], n),
                "length": "-" if g["length"] is None else f"{g['length']:g}",
                "cost": "-" if g["cost"] is None else f"{g['cost']:.3g}",
                "features": g["features"],
                "changed": g["changed"],
            }
        )
    return {"column": column["column"], "rows": rows, "few": any(row["few"] for row in rows)}


def _question(question: Mapping[str, Any], summary: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What stands at the foot: by what this can be told from another."""
    model = question["model"]
    return [
        ("Model", f"{model['name']}, fingerprint {model['sha256'][:16]}, threshold {summary['threshold']:g}"),
        ("Data", f"fingerprint {question['data'][:16]}"),
        ("Rules found by", ", ".join(f"{m['what']} ({m['rows']:,})" for m in summary["methods"]) or "-"),
        ("Seed", str(question["seed"])),
        ("Rules shared", "yes" if question["share"] else "no"),
        ("dueto", str(question["dueto"])),
    ]
