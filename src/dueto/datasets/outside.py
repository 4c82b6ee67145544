"""Where the files lie that do not ship."""

from __future__ import annotations

import os
from pathlib import Path

from dueto.errors import InputError

__all__ = ["outside"]


def outside(folder: str | Path | None, file: str) -> Path:
    """Where a file lies that does not ship: under `folder`, or under the folder that DUETO_DATA names.

    Raises
    ------
    InputError
        If it is not there.
    """
    remedy = "set DUETO_DATA to the folder that has it, or pass folder="
    root = folder or os.environ.get("DUETO_DATA")
    if not root:
        raise InputError(f"{file} is not part of dueto; {remedy}")
    path = Path(root) / file
    if not path.is_file():
        raise InputError(f"{root} has no file {file}; {remedy}")
    return path
