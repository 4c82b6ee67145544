"""Widened rules: every bound of a proved rule as far out as it stays proved, so that it speaks of as many as it can."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from dueto.counterfactuals.base import Status
from dueto.counterfactuals.partition import partition
from dueto.domain import NEAR, shortest
from dueto.models.ensemble import Ensemble
from dueto.rule import Component, Rule, Standing, Verdict

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dueto.rules.base import Oracle

__all__ = ["shortest", "widened"]


def widened(oracle: Oracle, rule: Rule, *, seconds: float = 10.0) -> Rule:
    """The rule with each bound moved away from the applicant as far as it stays proved, one after the other.

    The bound that shuts out most of the data goes first. Between the last value that may come in and the first that
    may not, the bound with the fewest digits is taken. Conditions without an order (`F = label`) stay.

    Parameters
    ----------
    oracle : Oracle
        With a method that can judge; without one, or if the rule is not proved, the rule is returned as it is.
    rule : Rule
        Over the components of the oracle's applicant.
    seconds : float
        The longest it may take; what is not widened by then stays as it is.
    """
    judge, until = oracle.judge, time.perf_counter() + seconds
    if judge is None or rule.verdict is None or rule.verdict.standing is not Standing.PROVED:
        return rule
    space = oracle.query.space
    parts, verdict = list(rule), rule.verdict
    scored = verdict.rows_scored
    for i in sorted(range(len(parts)), key=lambda i: -_shut_out(oracle, parts[i])):
        part = parts[i]
        j = space.index(part.feature)
        if part.op == "=":
            continue
        steps = _steps(oracle, j, part)
        refuted, proved = -1, len(steps)  # the bounds from `proved` on are; len(steps) is the rule's own
        while refuted + 1 < proved and time.perf_counter() < until:
            middle = (refuted + proved) // 2
            trial = Rule((*parts[:i], replace(part, value=space.features[j].label(steps[middle])), *parts[i + 1 :]))
            answer = judge.escape(trial.box(space), seconds=until - time.perf_counter())
            scored += answer.rows_scored
            if answer.status is Status.NONE:
                proved = middle
            else:
                refuted = middle
                for y in answer.X[:, j]:
                    refuted = max(refuted, int(np.flatnonzero(steps <= y if part.op == ">=" else steps >= y)[-1]))
        if proved < len(steps):
            beyond = steps[proved - 1] if proved else None
            parts[i] = replace(
                part, value=space.features[j].label(_neat(oracle, j, part.op, float(steps[proved]), beyond))
            )
    return replace(rule, components=tuple(parts), verdict=Verdict(verdict.standing, verdict.by, scored))


def _shut_out(oracle: Oracle, part: Component) -> float:
    """How many rows of the data a component's bound shuts out."""
    feature = oracle.query.space[part.feature]
    domain, own = feature.domain, feature.code(part.value)
    if part.op == "=":
        return 0.0
    out = domain.values < own if part.op == ">=" else domain.values > own
    return float(domain.counts[out].sum())


def _steps(oracle: Oracle, j: int, part: Component) -> NDArray[np.float64]:
    """The bounds beyond a component's own, the farthest first: values, or where a split changes in a range."""
    feature, structure = oracle.query.space.features[j], oracle.query.model.structure
    own = feature.code(part.value)
    values = feature.domain.values
    if feature.domain.interval is not None:
        low, high = feature.domain.interval
        values = np.union1d(values, [low, high])
        if structure is not None and isinstance(structure.form, Ensemble):
            cuts = partition(structure, j).cuts
            values = np.union1d(values, cuts if part.op == "<=" else np.nextafter(cuts, np.inf))
    return values[values < own] if part.op == ">=" else values[values > own][::-1]


def _neat(oracle: Oracle, j: int, op: str, bound: float, beyond: float | None) -> float:
    """A bound with few digits that lets in the same values of the domain."""
    feature = oracle.query.space.features[j]
    if feature.labelled or feature.kind == "integer":
        return bound
    if feature.domain.interval is not None:  # every number counts: give a little of it up, but not the applicant
        slack, own = NEAR * feature.domain.range, float(oracle.query.x[j])
        if op == "<=":
            return shortest(max(bound - slack, own), bound, near=bound)
        return shortest(bound, min(bound + slack, own), near=bound)
    if beyond is None:
        return shortest(bound, np.inf, near=bound) if op == "<=" else shortest(-np.inf, bound, near=bound)
    last = np.nextafter(beyond, bound)
    return shortest(bound, last, near=bound) if op == "<=" else shortest(last, bound, near=bound)
