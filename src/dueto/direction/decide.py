"""From two p-values, or two measures of dependence, to an arrow and its reason."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from dueto.errors import InputError

__all__ = ["WHY", "Arrow", "Bounds", "Evidence", "decide"]

Arrow = Literal["->", "<-", "?"]
ARROWS: tuple[Arrow, Arrow] = ("->", "<-")
# Why there is no arrow: what the reason says, and the same of many pairs. The first that occurs is it.
WHY = {
    "linear functions of each other": "linear functions of each other, with no noise to tell by",
    "may well be independent": "may well be independent of each other",
    "neither way leaves an independent residual": "neither way fits: perhaps a hidden common cause, noise that is not "
    "additive, or hardly any noise",
    "both ways leave an independent residual": "both ways fit: perhaps a linear relation with normal noise, or too few "
    "data to tell",
    "both ways are far from an independent residual": "both ways are far from an independent residual",
    "equally dependent on the input": "equally dependent residuals both ways",
    "inconclusive": "inconclusive: p-values between the levels, or small enough only before correction",
}
CERTAIN = 1e-3  # where both p-values are at most this, not even a known relation decides


@dataclass(frozen=True)
class Bounds:
    """δ1 and δ2: p <= `reject` rejects a way, p > `accept` accepts it."""

    reject: float = 0.05
    accept: float = 0.05

    def __post_init__(self) -> None:
        if not 0 < self.reject <= self.accept < 1:
            raise InputError(
                f"reject and accept must be levels with 0 < reject <= accept < 1, got {self.reject} and {self.accept}; "
                "give both"
            )


@dataclass(frozen=True)
class Evidence:
    """What two variables say of the two ways between them.

    Attributes
    ----------
    names : (str, str)
        What they are called.
    n : int
        Pairs used.
    smi : (float, float)
        SMI of input and residual, forward and backward.
    p : (float, float) or None
        P-values of the ways, forward and backward: of "the residual is independent of the input".
    related : float or None
        P-value of "the variables themselves are independent".
    corrected : (float, float) or None
        P-values to reject by, made larger because of many tests; `p` if None.
    linear : bool
        Whether each is a linear function of the other, to rounding.
    few : tuple of (str, int)
        Variables with few different values, and how many.
    least : float
        The smallest p-value that the permutations can give.
    """

    names: tuple[str, str]
    n: int
    smi: tuple[float, float]
    p: tuple[float, float] | None = None
    related: float | None = None
    corrected: tuple[float, float] | None = None
    linear: bool = False
    few: tuple[tuple[str, int], ...] = ()
    least: float = 0.0

    def way(self, k: int) -> str:
        """The k-th way in words."""
        return f"{self.names[k]} -> {self.names[1 - k]}"

    @property
    def both(self) -> str:
        """Both p-values in words."""
        p = self.p or (float("nan"), float("nan"))
        return f"p = {p[0]:.3g} for {self.way(0)}, {p[1]:.3g} for {self.way(1)}"


def decide(found: Evidence, bounds: Bounds, *, known_related: bool = False) -> tuple[Arrow, str]:
    """The arrow and the reason: by tests where there are p-values, else by SMI."""
    if found.linear:
        a, b = found.names
        return "?", f"{a} and {b} are linear functions of each other, with no noise to tell by"
    if found.p is None:
        arrow, reason = _by_smi(found)
    else:
        arrow, reason = _by_larger_p(found) if known_related else _by_tests(found, bounds)
    codes = " and ".join(f"{name} has only {k} different values" for name, k in found.few)
    return arrow, f"{reason}; {codes}, which additive noise hardly describes" if codes else reason


def _by_tests(found: Evidence, bounds: Bounds) -> tuple[Arrow, str]:
    """The arrow where one way is accepted and the other rejected; else `?`."""
    assert found.p is not None
    if found.related is not None and found.related > bounds.reject:
        return "?", f"{found.names[0]} and {found.names[1]} may well be independent (p = {found.related:.3g})"
    rejected = [p <= bounds.reject for p in found.corrected or found.p]
    accepted = [p > bounds.accept for p in found.p]
    for k, arrow in enumerate(ARROWS):
        if accepted[k] and rejected[1 - k]:
            return arrow, f"only {found.way(k)} leaves a residual that is independent of the input ({found.both})"
    if all(rejected):
        return "?", (
            f"neither way leaves an independent residual ({found.both}): perhaps a hidden common cause, noise that is "
            "not additive, or hardly any noise"
        )
    if all(accepted):
        return "?", (
            f"both ways leave an independent residual ({found.both}): perhaps a linear relation with normal noise, or "
            "too few data to tell"
        )
    return "?", f"inconclusive ({found.both})"


def _by_larger_p(found: Evidence) -> tuple[Arrow, str]:
    """The way with the larger p-value, for variables of which one is known to cause the other."""
    assert found.p is not None
    if max(found.p) <= max(CERTAIN, found.least):
        return "?", f"both ways are far from an independent residual ({found.both}), so neither can be preferred"
    if found.p[0] == found.p[1]:
        arrow, reason = _by_smi(found)
        return arrow, f"both ways have the same p-value ({found.p[0]:.3g}); {reason}"
    k = int(found.p[1] > found.p[0])
    return ARROWS[k], f"given that one causes the other, {found.way(k)} has the larger p-value ({found.both})"


def _by_smi(found: Evidence) -> tuple[Arrow, str]:
    """The way with the less dependent residual, whatever the evidence."""
    a, b = found.smi
    if a == b:
        return "?", f"both ways leave residuals equally dependent on the input (SMI {a:.3g})"
    k = int(b < a)
    return ARROWS[k], (
        f"{found.way(k)} leaves the residual with the smaller SMI ({found.smi[k]:.3g} against {found.smi[1 - k]:.3g}); "
        "this is no test"
    )
