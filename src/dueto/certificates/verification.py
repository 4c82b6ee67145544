"""Check a certificate anew: with the model itself, and with none of the code that proved it."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from dueto.certificates.checks import Check, Verification
from dueto.certificates.consistent import consistent
from dueto.certificates.fingerprint import as_hash, known_again
from dueto.certificates.least import irredundant, least
from dueto.certificates.read import read_certificate
from dueto.certificates.region import Region, meets
from dueto.certificates.written import plain_label
from dueto.errors import InputError
from dueto.models import Model, as_model
from dueto.rule import Rule

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from dueto.certificates.read import Claimed
    from dueto.space import FeatureSpace

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
    certificate : mapping or path
        `rule.certificate`, what `certify` gave, or the JSON file that holds it.
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
    wrapped = _model(model, told)
    checks = [_same_model(told, wrapped), *([] if data is None else [_same_data(told, data)])]
    checks.append(_applicant(told, wrapped))
    everybody = Region(told.space, told.x, told.constraints)
    checks.append(_witnesses(told, wrapped, everybody))
    if told.least is not None:
        now = time.perf_counter()
        checks.append(least(told, told.least, everybody, now + LEAST * (until - now)))
    if told.irredundant:
        checks.append(irredundant(told))
    checks.append(consistent(told, wrapped, until))
    return Verification(str(Rule(told.components)), tuple(checks), time.perf_counter() - start)


def _model(model: Any, told: Claimed) -> Model:
    if not isinstance(model, Model):
        return as_model(model, told.space, desired=told.desired, threshold=told.threshold)
    if _shape(model.space) != _shape(told.space):
        raise InputError(f"the model {model.name!r} was made for another feature space than the certificate's")
    return model


def _shape(space: FeatureSpace) -> list[Any]:
    """What encoded rows mean, and which can be, groups aside."""
    domains = [(f.domain.values.tolist(), f.domain.missing > 0, f.domain.integer) for f in space.features]
    features = [
        (f.name, f.kind, [str(c) for c in f.columns], [plain_label(v) for v in f.labels], f.domain.interval)
        for f in space.features
    ]
    return [features, domains]


def _same_model(told: Claimed, model: Model) -> Check:
    claim = f"The model is the one of the certificate, {told.model!r}, with the threshold {told.threshold:g}"
    mine, its = told.fingerprint["of"], f"its name is {model.name!r} and its threshold {model.threshold:g}"
    if told.threshold != told.fingerprint["threshold"] or model.threshold != told.threshold:
        return Check(
            claim, False, f"The certificate was made with the threshold {told.fingerprint['threshold']:g}; {its}."
        )
    if told.fingerprint["of"] != mine:
        return Check(
            claim, None, f"It was certified by its {told.fingerprint['of']}, and this one shows only its {mine}."
        )
    if not known_again(told.fingerprint, model):
        return Check(claim, False, f"The model's {mine} are others than those that were certified; {its}.")
    what = {"tree": "its tree", "structure": "its structure", "scores": "its scores on some instances"}[mine]
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
    return Check(
        claim,
        True,
        f"Its rows are the same; {outside or 'none'} of them {'is' if outside == 1 else 'are'} "
        "outside the space that the certificate declares.",
    )


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
    inside, scores = everybody.contains(told.witnesses), model.score(told.witnesses)
    for i in range(count):
        row = told.labels(told.witnesses[i])
        if not inside[i]:
            return Check(claim, False, f"Witness {i} is not in the space, or breaks a constraint.", row)
        if not scores[i] > model.threshold:
            return Check(claim, False, f"Witness {i} is refused: the model's score is {scores[i]:g}.", row)
    return Check(claim, True, "Each is in the space, meets the constraints, and the model accepts it.")
