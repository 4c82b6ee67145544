"""A letter that tells an applicant the principal reasons of a refusal: a template, to be read before it is sent."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from dueto._version import __version__
from dueto.errors import InputError, in_words, known
from dueto.options import whole
from dueto.report.page import rendered, saved
from dueto.report.words import conditions, in_markdown, share, visible
from dueto.rule import Standing

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from dueto.explanation import Explanation

__all__ = ["KINDS", "reasons", "written"]

KINDS = (".md", ".txt", ".html", ".htm")
OPENING = (
    "We have considered your application, and we cannot accept it. A statistical model had a part in the decision."
)
HEADING = "The principal reasons for this decision, which count together, are:"
CLOSING = (
    "If something of this is wrong or has changed, please tell us; you may also ask that a person look at the decision "
    "again. You reach us here:"
)
BLANKS = {"lender": "[name of the lender]", "date": "[date]", "contact": "[how to reach the lender]"}


def written(
    found: Explanation,
    path: str | Path | None = None,
    *,
    to: Mapping[str, str | None],
    names: Mapping[str, str],
    at_most: int,
) -> str | None:
    """The letter, in the kind of text that the file's name asks for; see `Explanation.to_letter`."""
    kind = ".md" if path is None else Path(path).suffix.lower()
    if kind not in KINDS:
        raise InputError(f"a letter cannot be written to {path}: the name must end in .md, .txt or .html")
    whole("at_most", at_most, what="the most reasons of a letter")
    told = _told(found, to, names, at_most)
    if kind in (".html", ".htm"):
        return saved(rendered("letter.html", version=__version__, **told), path)
    return saved(_as_text(told, _plain if kind == ".txt" else in_markdown), path)


def _plain(value: Any) -> str:
    return visible(" ".join(str(value).split()))


def reasons(found: Explanation) -> list[dict[str, Any]]:
    """The conditions of the rule, those first that set the applicant most apart from the accepted.

    Each is a dict of `feature`, `condition` in words, the applicant's `value`, and of the accepted rows of the data how
    many there are and how many are `apart`: do not meet it. Without the data, they stand in the rule's order.
    """
    background = found.background
    pictures = {} if background is None else {p["feature"]: p for p in background.pictures if p["inside"] is not None}
    told = []
    for feature, condition in conditions(found.rule):
        picture = pictures.get(feature)
        accepted = 0 if picture is None else picture["accepted"]
        apart = 0 if picture is None else accepted - picture["inside"]["accepted"]
        told.append(
            {
                "feature": feature,
                "condition": condition,
                "value": found.applicant[feature],
                "accepted": accepted,
                "apart": apart,
            }
        )
    return sorted(told, key=lambda one: -one["apart"])  # a stable sort: ties stay in the rule's order


def _told(found: Explanation, to: Mapping[str, str | None], names: Mapping[str, str], at_most: int) -> dict[str, Any]:
    ranked = reasons(found)
    for name in names:
        if name not in found.applicant:
            raise InputError(f"there is no feature {name!r}; {known(name, found.applicant, 'the features are')}")
    given = ranked[:at_most]
    return {
        **{what: to.get(what) or blank for what, blank in BLANKS.items()},
        "label": found.label,
        "reasons": [_reason(one, names.get(one["feature"], one["feature"])) for one in given],
        "opening": OPENING,
        "heading": "The principal reason for this decision is:" if len(given) == 1 else HEADING,
        "closing": CLOSING,
        "notes": _notes(found, given, len(ranked)),
    }


def _reason(one: Mapping[str, Any], name: str) -> dict[str, str]:
    value = in_words(one["value"])
    same = one["condition"] == value
    return {"name": name, "value": value, "condition": "" if same else f"; {one['condition']} counts against you"}


def _notes(found: Explanation, given: list[dict[str, Any]], of: int) -> list[str]:
    """What the lender should know before the letter goes out."""
    verdict = found.rule.verdict
    assert verdict is not None
    told = [
        "This is a template, and not legal advice. Check that the reasons are specific and true of this applicant, "
        "put them into words that the applicant knows, and add what the law of the place asks for."
    ]
    if not of and verdict.standing is Standing.REFUTED:
        told.append(f"DO NOT SEND: no reason was found, and {verdict.by} found somebody who is accepted.")
    elif not of and found.status.value == "none":
        allowed = " as far as the constraints allow" if found.constraints else ""
        told.append(
            f"There is no reason to give: the decision is the same whatever the applicant changes{allowed}, so no "
            "condition of it can be named. See the explanation."
        )
    elif not of:
        told.append("There is no reason to give: none was found, which proves nothing. See the explanation.")
    elif verdict.standing is Standing.REFUTED:
        told.append(
            f"DO NOT SEND: the rule is refuted. {verdict.by} found somebody who meets every reason given and is "
            "accepted, so they do not settle the decision."
        )
    elif verdict.standing is Standing.UNREFUTED:
        told.append(f"That the reasons settle the decision was searched, and is {verdict}.")
    else:
        told.append(f"That the conditions of the rule settle the decision is {verdict}.")
    if of and found.constraints:
        told.append(
            "The rule was found under constraints: what they hold fixed is no reason given, but may have weighed. "
            f"Of the accepted rows of the data, {found.support.accepted:,} meet all conditions of the rule."
        )
    if len(given) < of:
        told.append(f"The rule has {of} conditions, and only all together settle the decision; {len(given)} are given.")
    if len(given) > 1 and given[0]["accepted"]:
        accepted = given[0]["accepted"]
        shares = "; ".join(f"{one['feature']}: {share(one['apart'], accepted)}" for one in given)
        told.append(
            f"Their order: by the share of the {accepted:,} accepted rows of the data that do not meet the condition "
            f"({shares})."
        )
    return told


def _as_text(told: Mapping[str, Any], shown: Callable[[Any], str]) -> str:
    numbered = [
        f"{i}. {shown(one['name'])}: yours is {shown(one['value'])}{shown(one['condition'])}."
        for i, one in enumerate(told["reasons"], 1)
    ]
    lines = [shown(told["lender"]), shown(told["date"]), f"Your application: {shown(told['label'])}"]
    lines += ["Dear applicant,", told["opening"]]
    lines += [told["heading"], "\n".join(numbered)] if numbered else []
    lines += [f"{told['closing']} {shown(told['contact'])}.", "Yours faithfully,", shown(told["lender"]), "---"]
    notes = [f"- {shown(note)}" for note in told["notes"]]
    return "\n\n".join([*lines, "For the lender, to be removed before this is sent:", "\n".join(notes)]) + "\n"
