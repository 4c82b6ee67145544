"""Measures of dependence: how far from independent are two samples?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dueto.dependence.base import Measure, Statistic
from dueto.dependence.distance import DistanceCorrelation
from dueto.dependence.hsic import HSIC
from dueto.dependence.lsmi import LSMI
from dueto.dependence.sample import paired
from dueto.dependence.smi import SMI
from dueto.errors import InputError, some

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "HSIC",
    "LSMI",
    "MEASURES",
    "SMI",
    "DistanceCorrelation",
    "Measure",
    "Statistic",
    "measure_named",
    "paired",
]

MEASURES: dict[str, Callable[[], Measure]] = {
    "smi": SMI,
    "lsmi": LSMI,
    "lsmi-refit": lambda: LSMI(refit=True),
    "hsic": HSIC,
    "dcor": DistanceCorrelation,
}


def measure_named(measure: Measure | str) -> Measure:
    """The measure of this name, or the measure itself.

    Raises
    ------
    InputError, TypeError
        If there is none of this name, or if it is no measure.
    """
    if isinstance(measure, str):
        if measure not in MEASURES:
            raise InputError(f"there is no measure {measure!r}; there are {some(MEASURES)}")
        return MEASURES[measure]()
    if not isinstance(measure, Measure) or isinstance(measure, type):
        raise TypeError(f"measure must be a name or a Measure, got {measure!r}")
    return measure
