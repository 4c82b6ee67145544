"""What is said where: results on stdout; notes, errors and progress on stderr."""

from __future__ import annotations

import io
import json
import os
import sys
import threading
import time
from contextlib import contextmanager, nullcontext, redirect_stdout
from typing import TYPE_CHECKING, Any

import click

from dueto.errors import one_line
from dueto.report.words import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["complain", "drop_unwritten", "note", "say", "say_json", "warn_once", "working"]

ANSWERED, NONE, BAD_INPUT, UNKNOWN, OUR_FAULT = range(5)  # exit codes
TICK, LINE = 1.0, 30.0  # seconds between two updates of the status line, and of a log


def say(text: str) -> None:
    """A result, for a reader: headings in bold on a terminal, in ASCII where stdout has no more.

    Control characters, such as a name may hold that wants to hide or to turn what stands beside it, are written out.
    """
    text = visible(text)
    if "utf" not in _encoding():
        text = text.replace("→", "->").replace("±", "+-").encode(_encoding(), "replace").decode(_encoding())
    for line in text.split("\n"):
        click.echo(click.style(line, bold=True) if line.endswith(":") else line)


def say_json(found: Any) -> None:
    """A result, for a program."""
    click.echo(json.dumps(found, indent=2, ensure_ascii="utf" not in _encoding(), allow_nan=False))


def note(text: str) -> None:
    """Something worth knowing that is no result."""
    click.echo(f"dueto: {one_line(visible(text))}", err=True)


def complain(text: str) -> None:
    """What went wrong, in a sentence."""
    click.echo(f"{click.style('dueto:', fg='red', bold=True)} {one_line(visible(text))}", err=True)


def drop_unwritten() -> None:
    """Let what cannot be written to stderr be dropped: it may be closed, or a full disk, and the answer stands."""
    stderr: Any = sys.stderr
    if stderr is None:
        null = os.open(os.devnull, os.O_WRONLY)  # takes the place of stderr, where processes of --jobs look for it
        os.set_inheritable(null, True)
        sys.stderr = os.fdopen(null, "w", encoding="utf-8")
        return
    ours = id(stderr) == id(sys.__stderr__)  # and not that of a test or a notebook
    if ours and type(getattr(stderr.buffer, "raw", stderr.buffer)) is io.FileIO:
        buffer = io.BufferedWriter(_Dropping(stderr.fileno(), "w", closefd=False))
        sys.stderr = io.TextIOWrapper(buffer, stderr.encoding, stderr.errors, line_buffering=True)


class _Dropping(io.FileIO):
    def write(self, data: Any) -> int:
        try:
            return super().write(data)
        except OSError:
            return len(data)


def warn_once() -> Callable[..., None]:
    """A `warnings.showwarning` that tells each message once, in one line."""
    told: set[str] = set()

    def show(message: Warning | str, *_: Any, **__: Any) -> None:
        text = " ".join(str(message).split())
        if text not in told:
            told.add(text)
            note(f"warning: {text[:197]}{'...' if len(text) > 197 else ''}")

    return show


@contextmanager
def working(what: str | Callable[[], str]) -> Iterator[None]:
    """Say what is being done while it is, on a terminal only; nothing of it stays.

    Of long work, `what` says how far it is by now; without a terminal, that is a line now and then, as a log keeps it.
    What others print meanwhile, a talkative model say, goes to stderr: stdout is for results.
    """
    shown = sys.stderr.isatty() or not isinstance(what, str)
    with redirect_stdout(sys.stderr), _status(what) if shown else nullcontext():
        yield


@contextmanager
def _status(what: str | Callable[[], str]) -> Iterator[None]:
    over, start, terminal = threading.Event(), time.monotonic(), sys.stderr.isatty()

    def tick() -> None:
        waits = 0.0 if terminal else LINE
        while not over.wait(waits):
            seconds = round(time.monotonic() - start)
            told = one_line(visible(what if isinstance(what, str) else what()))
            now = f"{told} ...{f' {seconds} s' if seconds else ''}"
            if terminal:
                click.echo(f"\r\033[K{now}", nl=False, err=True)
            else:
                note(now)
            waits = TICK if terminal else LINE

    teller = threading.Thread(target=tick, daemon=True)
    teller.start()
    try:
        yield
    finally:
        over.set()
        teller.join()
        if terminal:
            click.echo("\r\033[K", nl=False, err=True)


def _encoding() -> str:
    return (sys.stdout.encoding or "ascii").lower()
