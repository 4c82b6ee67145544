"""Constraints however they are given: text, a file, expressions, or several of these."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from dueto.errors import InputError
from dueto.plaf.expr import Expr
from dueto.plaf.parse import parse_constraints

__all__ = ["plaf_text", "read_constraints"]


def read_constraints(constraints: Any) -> tuple[Expr, ...]:
    """Constraints from PLAF text, the path of a file, an expression, or several of these.

    Raises
    ------
    InputError
        If a file cannot be read or a line is no constraint.
    """
    if isinstance(constraints, Expr):
        return (constraints,)
    if isinstance(constraints, str):
        if constraints.endswith(".plaf"):
            raise InputError(f"{constraints!r} is read as constraints, not as the name of a file; give a pathlib.Path")
        return parse_constraints(constraints)
    if isinstance(constraints, Path):
        return parse_constraints(plaf_text(constraints), name=constraints.name)
    if not np.iterable(constraints):
        raise TypeError(
            f"constraints must be PLAF text, a Path, an expression or several of these, got {constraints!r}"
        )
    return tuple(expr for part in constraints for expr in read_constraints(part))


def plaf_text(path: Path) -> str:
    """What a file of constraints holds.

    Raises
    ------
    InputError
        If it cannot be read.
    """
    try:
        return path.read_text(encoding="utf-8-sig")
    except OSError as problem:
        raise InputError(f"cannot read {path}: {problem.strerror or problem}") from None
    except UnicodeDecodeError:
        raise InputError(f"{path} is not a text file in UTF-8") from None
