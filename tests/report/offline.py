"""Pages around a what-if alone, and what they are asked."""

from __future__ import annotations

import numpy as np

from dueto import cf
from dueto.report.page import _environment

PAGE = (
    '{% extends "base.html" %}{% block title %}What if?{% endblock %}{% block header %}<h1>A page</h1>{% endblock %}'
    '{% block main %}{% include "whatif.html" %}{% endblock %}'
)


def page_of(found):
    """The text of a page that holds nothing else."""
    return _environment().from_string(PAGE).render(whatif=found, version="test")


def everything(space):
    """A constraint on all features that always holds, so that the page holds the numbers of all."""
    found = None
    for name in space.names:
        part = cf[name].missing() | ~cf[name].missing()
        found = part if found is None else found & part
    return found


def numbers(text):
    """What a text of numbers means."""
    single = text.startswith("f ")
    found = np.array(text.removeprefix("f ").split(), dtype=float)
    return found.astype(np.float32).astype(float) if single else found


def settings(found, *, rows, seed=0):
    """Random settings of a page's controls, the first as the applicant is."""
    rng = np.random.default_rng(seed)
    at = np.column_stack([rng.integers(len(control["texts"]), size=rows) for control in found["controls"]])
    at[0] = [control["own"] for control in found["controls"]]
    return at


def encoded(found, x, at):
    """The rows that settings mean, by what the page itself holds of its values (see `everything`)."""
    X = np.repeat(x[None], len(at), axis=0)
    for u, control in enumerate(found["controls"]):
        for j, text in control["numbers"].items():
            X[:, int(j)] = numbers(text)[at[:, u]]
    return X


def said(page, at):
    """What the page's model says of settings."""
    return page.evaluate("rows => rows.map(row => window.dueto.evaluate(row))", at.tolist())
