"""Check a certificate anew: with the model itself, and with none of the code that proved it."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np

from dueto.certificates.checks import Check, Verification
from dueto.certificates.consistent import FEW, consistent
from dueto.certificates.fingerprint import as_hash, fingerprint, known_again
from dueto.certificates.least import irredundant, least
from dueto.certificates.read import read_certificate
from dueto.certificates.region import Region, meets
from dueto.certificates.written import as_json, written_space
from dueto.errors import InputError
from dueto.models import Model, as_model
from dueto.rule import Rule

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from dueto.certificates.read import Claimed

__all__ = ["verify"]

LEAST = 0.4  # the part of the time that the shortest rule may take


def verify(
    certificate: Mapping[str, Any] | str | Path, model: Any, *, seconds: float = 60.0, data: Any = None
) -> Verification:
    """Is what a certificate says of a rule true of this model?

    Every claim is shown again from the certificate and the model alone, by other means than those that proved it: every
    instance where they are few, a walk down a single tree, fractions for a sum over features, HiGHS for ensembles and
    networks. Besides, instances drawn by chance and improved step by step are scored in search of an exception.

    Parameters
    ----------
    certificate : mapping, path or text
        `rule.certificate`, the JSON file that holds it, or its JSON.
    model : classifier, pipeline, callable or Model
        As `as_model` takes it; the feature space is the certificate's.
    seconds : float
        How long to try, about.
    data : frame, optional
        The data that the explanation was made from, to see whether it is the same.

    Returns
    -------
    Verification

    Raises
    ------
    InputError
        If the certificate cannot be read, is damaged or of another version, or the model does not fit its space.
    """
    if not seconds > 0:
        raise InputError(f"seconds must be positive, got {seconds!r}")
    start = time.perf_counter()
    until = start + seconds
    told = read_certificate(certificate)
    model, rule = _model(model, told), str(Rule(told.components))
    everybody = Region(told.space, told.x, told.constraints)
    checks = [_same_model(told, model)]
    if data is not None:
        checks.append(_same_data(told, data))
    checks += [_applicant(told, model), _witnesses(told, model, everybody)]
    if told.least is not None:
        now = time.perf_counter()
        checks.append(least(told, told.least, everybody, now + LEAST * (until - now)))
    said = f"It says {told.text!r}, and they say {rule!r}." if told.text != rule else "It is."
    checks.append(Check("The text of the rule is that of its components", told.text == rule, said))
    if told.irredundant and told.components:
        checks.append(irredundant(told))
    checks.append(consistent(told, model, until))
    return Verification(rule, tuple(checks), time.perf_counter() - start, nobody=_empty(everybody))


def _empty(everybody: Region) -> bool:
    """Whether the constraints are seen to leave nobody at all."""
    if everybody.size > FEW:
        return False
    return not any(len(Y) for Y in everybody.instances())


def _model(model: Any, told: Claimed) -> Model:
    if not isinstance(model, Model):
        return as_model(model, told.space, desired=told.desired, threshold=told.threshold)
    if written_space(model.space)["features"] != written_space(told.space)["features"]:
        raise InputError(f"the model {model.name!r} was made for another feature space than the certificate's")
    return model


def _same_model(told: Claimed, model: Model) -> Check:
    claim = f"The model is the one of the certificate, {model.name!r}, with the threshold {told.threshold:g}"
    mine, made = fingerprint(model)["of"], told.fingerprint
    if not told.threshold == made["threshold"] == model.threshold:
        why = f"was made with the threshold {made['threshold']:g}; that of the model is {model.threshold:g}"
        return Check(claim, False, f"The certificate {why}.")
    if (desired := as_json(model.desired)) != told.desired or type(desired) is not type(told.desired):
        return Check(claim, False, f"The certificate's outcome is {told.desired!r}, and the model's is {desired!r}.")
    if made["of"] != mine:
        return Check(claim, None, f"It was certified by its {made['of']}, and this one shows only its {mine}.")
    what = {"tree": "its tree", "structure": "its structure", "scores": "its scores on some instances"}[mine]
    if not known_again(made, model):
        return Check(claim, False, f"The numbers of {what} are others than those that were certified.")
    return Check(claim, True, f"The fingerprint of {what} is the same.")


def _same_data(told: Claimed, data: Any) -> Check:
    claim = "The data is that which the explanation was made from"
    if told.data is None:
        return Check(claim, None, "The certificate does not say.")
    try:
        X = told.space.encode(data)
    except InputError as problem:
        return Check(claim, False, f"It does not fit the space: {problem}.")
    if as_hash(X) != told.data:
        return Check(claim, False, "Its rows are others.")
    outside = int((~told.space.contains(X)).sum())
    count = f"{outside or 'none'} of them {'is' if outside == 1 else 'are'}"
    return Check(claim, True, f"Its rows are the same; {count} outside the space that the certificate declares.")


def _applicant(told: Claimed, model: Model) -> Check:
    claim = "The applicant is refused and satisfies the rule"
    score = float(model.score(told.x[None])[0])
    if score > model.threshold:
        return Check(claim, False, f"The model's score is {score:g}, which is above the threshold {model.threshold:g}.")
    for component in told.components:
        if not meets(told.space, [component], told.x[None])[0]:
            return Check(claim, False, f"The applicant does not meet {component}.")
    return Check(claim, True, f"The model's score is {score:g}.")


def _witnesses(told: Claimed, model: Model, everybody: Region) -> Check:
    count = len(told.witnesses)
    claim = f"{count:,} counterfactual{' shows' if count == 1 else 's show'} why the rule needs what it says"
    if not count:
        return Check("No counterfactual is shown", True, "None is needed for the other claims that are made.")
    inside = everybody.contains(told.witnesses)
    if not inside.all():
        i = int(np.argmin(inside))
        labels = told.labels(told.witnesses[i])
        return Check(claim, False, f"Witness {i} is not in the space, or breaks a constraint.", labels)
    scores = model.score(told.witnesses)
    if not (scores > model.threshold).all():
        i = int(np.argmin(scores))
        labels = told.labels(told.witnesses[i])
        return Check(claim, False, f"Witness {i} is refused: the model's score is {scores[i]:g}.", labels)
    return Check(claim, True, "Each is in the space, meets the constraints, and the model accepts it.")
