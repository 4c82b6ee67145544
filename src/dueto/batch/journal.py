"""What is kept while a batch runs: the question, and each answer on a line as soon as it is there."""

from __future__ import annotations

import json
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from dueto.errors import InputError
from dueto.outputs import whole

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

__all__ = ["FORMAT", "VERSION", "Journal", "as_line"]

FORMAT, VERSION = "dueto batch", 2  # raised when what is written changes
RUN, LINES = "run.json", "journal.jsonl"
NAMES = {"k": "k, the most counterfactuals", "share": "whether rules are shared", "dueto": "the version of dueto"}


class Journal:
    """The answers of a run so far, on disk: killed at any moment, it holds every answer that was finished, once.

    Parameters
    ----------
    folder : Path
        Where it lies; made if need be.
    question : mapping
        What is asked, as plain data. Answers to another question are not gone on from.

    Raises
    ------
    InputError
        If the folder holds something else, or answers to another question: which is said; if another process writes
        to it; if it cannot be written.

    Notes
    -----
    An answer is one line, appended in one write. A line that was cut off by a crash or a full disk is dropped when the
    run goes on, and its row is asked about again.
    """

    def __init__(self, folder: Path, question: Mapping[str, Any]) -> None:
        self.folder, self.question = folder, json.loads(json.dumps(question))
        self.path = folder / LINES
        self.answers: dict[int, bytes] = {}
        self.failed: set[int] = set()
        self._file = -1
        self._size = 0

    @contextmanager
    def opened(self) -> Iterator[Journal]:
        """Ready to be appended to, with the answers that an earlier run left."""
        try:
            self._begun()
            self._file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
            _lock(self._file, self.folder)
            self._read()
        except OSError as problem:
            self.close()
            raise InputError(f"cannot write into {self.folder}: {problem.strerror or problem}") from None
        except BaseException:
            self.close()
            raise
        try:
            yield self
        finally:
            self.close()

    def append(self, at: int, record: Mapping[str, Any]) -> None:
        """Keep an answer: it is on disk when this returns, or not at all."""
        line = as_line({"at": at, "record": record})
        try:
            written = os.write(self._file, line)
            if written != len(line):
                raise OSError(28, "No space left on device")
        except OSError as problem:
            os.ftruncate(self._file, self._size)
            raise InputError(
                f"cannot write {self.path}: {problem.strerror or problem}; {len(self.answers):,} answers are kept: "
                "make room and run the same again to go on"
            ) from None
        self._size += len(line)
        self._keep(at, line, record)

    def record(self, at: int) -> dict[str, Any]:
        """An answer that is kept."""
        found: dict[str, Any] = json.loads(self.answers[at])["record"]
        return found

    def close(self) -> None:
        """Let go of the file."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def _keep(self, at: int, line: bytes, record: Mapping[str, Any]) -> None:
        """As a line: read, it would take ten times the memory."""
        if at not in self.answers:
            self.answers[at] = line
            if record["error"]:
                self.failed.add(at)

    def _begun(self) -> None:
        run = self.folder / RUN
        if self.folder.exists() and not self.folder.is_dir():
            raise InputError(f"{self.folder} is a file; give the name of a folder")
        if not self.folder.parent.is_dir():
            raise InputError(f"there is no folder {self.folder.parent} to write {self.folder.name} into")
        if not run.exists():
            if self.folder.exists() and any(self.folder.iterdir()):
                raise InputError(f"{self.folder} holds other things; give a new folder, or an empty one")
            self.folder.mkdir(exist_ok=True)
            with whole(run) as part:
                part.write_text(json.dumps(self.question, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
            return
        try:
            told = json.loads(run.read_text(encoding="utf-8"))
        except (ValueError, RecursionError):
            raise InputError(f"{run} is damaged; give another folder, or remove {self.folder} first") from None
        if differing := _differing(told, self.question):
            raise InputError(
                f"{self.folder} holds the results of another question: {differing}; ask the same again to go on, or "
                "give another folder"
            )

    def _read(self) -> None:
        """The answers that are there; a last line that was cut off is dropped."""
        data = self.path.read_bytes()
        good = data.rfind(b"\n") + 1
        for number, line in enumerate(data[:good].splitlines(), start=1):
            try:
                told = json.loads(line)
                self._keep(int(told["at"]), line, told["record"])
            except (ValueError, KeyError, TypeError, RecursionError):
                raise InputError(
                    f"{self.path}, line {number} is damaged; remove the line to have it asked again"
                ) from None
        if good < len(data):
            os.ftruncate(self._file, good)
        self._size = good


def as_line(record: Mapping[str, Any]) -> bytes:
    """A record as one line of strict JSON; what is no text, number or truth as its text."""
    text = json.dumps(record, ensure_ascii=False, allow_nan=False, default=str, separators=(",", ":"))
    return f"{text}\n".encode()


def _differing(told: Any, asked: Mapping[str, Any]) -> str:
    """What of a question is not the same, in words; empty if nothing."""
    if not isinstance(told, dict) or told.get("format") != asked["format"]:
        return "it is no batch of dueto"
    names = [NAMES.get(key, f"the {key}") for key in asked if told.get(key) != asked[key]]
    if not names:
        return ""
    listed = " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else names[0]
    return f"{listed} {'differ' if len(names) > 1 or 'rows' in names[0] or names[0].endswith('s') else 'differs'}"


def _lock(file: int, folder: Path) -> None:
    """Refuse a second process, where the system can tell; the lock ends with the process, however that ends."""
    try:
        import fcntl
    except ImportError:
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise InputError(f"another process writes to {folder}; wait for it, or give another folder") from None
