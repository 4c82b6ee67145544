"""Files that are written: refused before the work if they cannot be, and whole or not at all."""

from __future__ import annotations

import os
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from dueto.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

__all__ = ["refuse_output", "whole"]


def refuse_output(path: Path, kinds: Sequence[str], *, needs: str | None = None) -> None:
    """Refuse a file of another kind, in no folder or that is there already; or if the package it needs is missing."""
    from importlib.util import find_spec

    if path.suffix.lower() not in kinds:
        raise InputError(f"{path} must end in {' or '.join(kinds)}")
    if not path.parent.is_dir():
        raise InputError(f"there is no folder {path.parent} to write {path.name} into")
    if path.exists():
        raise InputError(f"{path} is there already; give another name, or remove it first")
    if needs is not None and find_spec(needs) is None:
        raise InputError(f"{path} needs the package {needs}; run: pip install {needs}")


@contextmanager
def whole(path: Path) -> Iterator[Path]:
    """A path beside the one asked for, put in its place when all is written, and removed if that fails.

    Raises
    ------
    InputError
        If it cannot be written: no such folder, no right to, no room on the disk.
    """
    part = path.with_name(f".{path.stem}.{os.getpid()}{path.suffix}")
    try:
        yield part
        part.replace(path)
    except OSError as problem:
        raise InputError(f"cannot write {path}: {problem.strerror or problem}") from None
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)
