"""Regressions that leave residuals as independent of the input as they can."""

from __future__ import annotations

from dueto.regression.hsicr import HSICR
from dueto.regression.lsir import LSIR

__all__ = ["HSICR", "LSIR"]
