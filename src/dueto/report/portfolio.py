"""The page of a batch: what many refusals have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dueto._version import __version__
from dueto.report.page import rendered

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["portfolio_page"]

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
            rule | {"share": _share(rule["serves"], n), "upto": _share(rule["together"], n)}
            for rule in summary["cover"]["rules"]
        ],
        groups=[_told(column) for column in summary["by"]],
        small=SMALL,
        told=_question(question, summary),
        share=_share,
        seconds=summary["seconds"],
    )


def _bar(text: str, part: int, n: int, kind: str = "") -> dict[str, Any]:
    return {
        "text": text,
        "rows": part,
        "share": _share(part, n),
        "width": round(100 * part / n, 1) if n else 0,
        "kind": kind,
    }


def _lists(summary: Mapping[str, Any], n: int) -> list[dict[str, Any]]:
    """The three lists of what is most frequent."""
    changed = summary["shares"]["changeable"]
    told = (
        ("features", "Features in the rules", "Feature", "Rules with it", n),
        ("components", "Conditions in the rules", "Condition", "Rules with it", n),
        ("changed", "What the nearest change would change", "Feature", "Changes of it", changed),
    )
    return [
        {
            "title": title,
            "head": head,
            "counted": counted,
            "of": of,
            "rows": [_bar(entry["what"], entry["rows"], of) for entry in summary[key][:10]],
        }
        for key, title, head, counted, of in told
    ]


def _told(column: Mapping[str, Any]) -> dict[str, Any]:
    """A table of shares by the values of a column."""
    rows = []
    for g in column["groups"]:
        n = g["rows"]
        rows.append(
            {
                "group": g["group"],
                "all": g["all"],
                "refused": f"{g['refused']:,} ({_share(g['refused'], g['all'])})",
                "n": n,
                "few": n < SMALL,
                "proved": _share(g["proved"], n),
                "changeable": _share(g["changeable"], n),
                "hopeless": _share(g["hopeless"], n),
                "length": "-" if g["length"] is None else f"{g['length']:g}",
                "cost": "-" if g["cost"] is None else f"{g['cost']:.3g}",
                "features": g["features"],
                "changed": g["changed"],
            }
        )
    return {"column": column["column"], "rows": rows, "few": any(row["few"] for row in rows)}


def _share(part: int, n: int) -> str:
    """A share as a percentage, never 0 % or 100 % where it is neither."""
    if not n:
        return "-"
    text = f"{part / n:.1%}"
    return "<0.1%" if text == "0.0%" and part else ">99.9%" if text == "100.0%" and part < n else text


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
