"""Files that are written: refused before the work if they cannot be, and whole or not at all."""

from __future__ import annotations

import os
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from dueto.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

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

    A link is followed: what it leads to is written, and the link stays.

    Raises
    ------
    InputError
        If it cannot be written: no such folder, no right to, no room on the disk; or if what is there is no regular
        file (a folder, a pipe, a device), which is left as it is.
    """
    place = Path(os.path.realpath(path))
    part = place.with_name(f".{place.stem}.{os.getpid()}{place.suffix}")
    try:
        if place.exists() and not place.is_file():
            raise InputError(f"cannot write {path}: what is there is no regular file; give another name")
        yield part
        part.replace(place)
    except OSError as problem:
        raise InputError(f"cannot write {path}: {problem.strerror or problem}") from None
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)
