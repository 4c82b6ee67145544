"""The page of one applicant: why they were refused, and what would change that; the same in Markdown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dueto._version import __version__
from dueto.errors import in_words
from dueto.report.drawing import drawn
from dueto.report.page import rendered
from dueto.report.words import conditions, in_markdown
from dueto.rule import Standing

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dueto.explanation import Changes, Support
    from dueto.rule import Rule, Scope

__all__ = ["badge", "markdown", "page"]

CLASSES = {Standing.PROVED: "proved", Standing.UNREFUTED: "searched", Standing.REFUTED: "refuted"}
COLUMNS = 5  # counterfactuals that the constraints are held against


def page(found: Changes, *, what_if: bool = True) -> str:
    """One HTML file that holds all it needs; with or without the what-if."""
    background = found.background
    rule, short = _rule(found), getattr(found, "short", None)
    said = [] if rule is None else conditions(rule)
    counted = [] if background is None else background.pictures
    sentences = found.sentences()
    return rendered(
        "applicant.html",
        version=__version__,
        found=found,
        said=sentences,
        due_to=sentences.get("due_to", "").removesuffix(":"),
        changes=_about_changes(found),
        conditions=[{"feature": name, "text": told, "value": found.applicant[name]} for name, told in said],
        verdict=None if rule is None or not said else _verdict(found, rule),
        short=_verdict(found, short) if short and "short" in sentences else None,
        constraints=_constraints(found),
        columns=found.counterfactuals[:COLUMNS],
        pictures=[drawn(picture, dict(said).get(picture["feature"], "")) for picture in counted],
        whatif=background.whatif if what_if and background is not None else None,
        footer=_footer(found),
    )


def badge(rule: Rule, *, rows: int, accepted: int, constrained: bool) -> str:
    """How a rule is known, in few words.

    Parameters
    ----------
    rule : Rule
        With a verdict.
    rows, accepted : int
        Rows of the data, and those of them that satisfy the rule and are accepted.
    constrained : bool
        Whether there are constraints on what may change.
    """
    assert rule.verdict is not None
    if rule.verdict.standing is Standing.PROVED:
        return f"proved for every possible applicant{' whom the constraints allow' if constrained else ''}"
    if rule.verdict.standing is Standing.REFUTED:
        return "refuted: there is an exception"
    return f"holds on {rows - accepted:,} of {rows:,} rows; searched, not proved"


def _rule(found: Changes) -> Rule | None:
    """The rule, unless only the changes were asked for."""
    return getattr(found, "rule", None)


def _about_changes(found: Changes) -> str:
    """What stands above the changes."""
    return found.sentences()["changes"].removesuffix(":") if found.counterfactuals else "What would change the decision"


def _verdict(found: Any, rule: Rule) -> dict[str, Any]:
    assert rule.verdict is not None
    support: Support | Scope = found.support if rule.scope is None else rule.scope
    other = rule.verdict.counterexample
    changed = {} if other is None else {name: v for name, v in other.items() if v != found.applicant[name]}
    return {
        "kind": CLASSES[rule.verdict.standing],
        "badge": badge(rule, rows=support.rows, accepted=support.accepted, constrained=bool(found.constraints)),
        "exception": [{"feature": name, "before": found.applicant[name], "after": v} for name, v in changed.items()],
        "conditions": [{"feature": name, "text": told} for name, told in conditions(rule)],
    }


def _constraints(found: Changes) -> list[dict[str, Any]]:
    """Each constraint, and what it says of each change: which of its features move, and where to."""
    bounds = dict(found.background.bounds) if found.background is not None else {}
    told = []
    for sentence in found.constraints:
        names = bounds.get(sentence, ())
        moved = [[c for c in one.changes if c.feature in names] for one in found.counterfactuals[:COLUMNS]]
        mending = found.mending(sentence) if sentence in found.broken else ""
        told.append({"text": sentence, "mending": mending, "moved": moved})
    return told


def _footer(found: Changes) -> list[tuple[str, str]]:
    """Where the answer came from: what it is called, and what it is."""
    finder: str = getattr(found, "finder", "")
    lines = [("Rule found by", finder)] if finder else []
    lines += [("Changes found by", found.method)]
    lines += [("Threshold", f"{found.threshold:g}"), ("Rows scored", f"{found.rows_scored:,}")]
    if found.background is None:
        return lines
    told = found.background.provenance
    model, data, seed = told["model"], told["data"], told["seed"]
    print_of = f"; SHA-256 of its {model['of']} {model['sha256']}" if model["sha256"] else ""
    return [
        *lines,
        ("Seed", "none: a generator was given" if seed is None else str(seed)),
        ("Model", f"{model['name']}{print_of}"),
        ("Data", f"{data['rows']:,} rows, {data['features']:,} features; SHA-256 {data['sha256']}"),
        ("Versions", ", ".join(f"{name.replace('_', '-')} {number}" for name, number in told["versions"].items())),
    ]


def markdown(found: Changes) -> str:
    """The page as Markdown, without pictures."""
    said, rule = found.sentences(), _rule(found)
    lines = [f"# {in_markdown(said['decision'])}"]
    if rule is not None and len(rule):
        rows = [(name, told, in_words(found.applicant[name])) for name, told in conditions(rule)]
        lines += [_heading(said["due_to"]), _table(("Feature", "Condition", "This applicant"), rows)]
        verdict = _verdict(found, rule)
        lines += [f"**{in_markdown(verdict['badge'])}.** {in_markdown(said['claim'])}", in_markdown(said["scope"])]
    if "nothing" in said:
        lines += [in_markdown(said["nothing"])]
    if "short" in said:
        lines += [_heading("In short"), in_markdown(said["short"])]
    lines += [_heading(_about_changes(found))]
    if found.counterfactuals:
        changes = [(c.rank, c, f"{c.cost:.3g}", found.shown(c.score)) for c in found.counterfactuals]
        lines += [_table(("", "Change", "Cost", "Score"), changes)]
    else:
        lines += [in_markdown(said["changes"])]
    lines += [in_markdown(said["unread"])] if "unread" in said else []
    if found.constraints:
        notes = {c: f" (the applicant breaks this by staying as they are, {found.mending(c)})" for c in found.broken}
        told = [f"- {in_markdown(c)}{notes.get(c, '')}" for c in found.constraints]
        lines += [_heading("Constraints on what may change"), "\n".join(told)]
    lines += [_heading("Where this comes from"), "\n".join(f"- {k}: {in_markdown(v)}" for k, v in _footer(found))]
    return "\n\n".join([*lines, f"Made by dueto {__version__}."]) + "\n"


def _heading(sentence: str) -> str:
    return f"## {in_markdown(sentence.removesuffix(':'))}"


def _table(head: Iterable[Any], rows: Iterable[Iterable[Any]]) -> str:
    head = list(head)
    lines = [head, ["---"] * len(head), *(map(in_markdown, row) for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
