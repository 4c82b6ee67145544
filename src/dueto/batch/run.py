"""Many refused rows explained: in parallel, journalled as they come, gone on from where a run was stopped."""

from __future__ import annotations

import json
import time
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dueto._version import __version__
from dueto.batch.journal import FORMAT, VERSION, Journal, as_line
from dueto.batch.results import Batch, Place, Records
from dueto.batch.rows import rows_asked
from dueto.batch.sharing import Reach, rule_of
from dueto.batch.summary import summarised
from dueto.batch.workers import Task, answers
from dueto.certificates.fingerprint import as_hash, fingerprint
from dueto.certificates.written import as_json, written_space
from dueto.errors import InputError
from dueto.explain import Explainer
from dueto.options import whole

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path

    from dueto.batch.rows import Asked

__all__ = ["Progress", "batch"]

# Rows explained between two looks at which rules serve others; not more where jobs are, or answers would differ.
ROUND = 32
SAME = ("desired", "threshold", "constraints", "label")  # told once, in the summary, or by row


class Progress(NamedTuple):
    """How far a batch is.

    Parameters
    ----------
    done, total : int
        Rows that have an answer, and all.
    failed : int
        Those of them whose answer is an error.
    fresh : int
        Those answered by this run, not by an earlier one.
    seconds : float
        How long this run has been at it.
    """

    done: int
    total: int
    failed: int
    fresh: int
    seconds: float

    @property
    def rate(self) -> float:
        """Rows a second, of this run; 0 before the first."""
        return self.fresh / self.seconds if self.seconds > 0 else 0.0

    @property
    def left(self) -> float | None:
        """Seconds that the rest will take at this rate; None before the first."""
        return (self.total - self.done) / self.rate if self.rate else None

    def __str__(self) -> str:
        text = f"{self.done:,} of {self.total:,} rows"
        text += f", {self.failed:,} failed" if self.failed else ""
        return text if self.left is None else f"{text}, {self.rate:.3g} a second, {_duration(self.left)} left"


def batch(
    explainer: Explainer,
    rows: Any = None,
    *,
    out: str | Path,
    where: str | None = None,
    by: str | Iterable[str] | Mapping[str, Any] = (),
    share: bool = False,
    k: int = 5,
    rng: int = 0,
    n_jobs: int | None = None,
    labels: Iterable[str] | None = None,
    source: str = "",
    progress: Callable[[Progress], None] | None = None,
) -> Batch:
    """Explain many refused rows, and what they have in common.

    Parameters
    ----------
    explainer : Explainer
        Model, data, constraints and methods.
    rows : sequence of int or table, optional
        Positions of rows of the data, or a table of applicants of their own; by default every row of the data. Those
        that are not refused are passed over, and counted.
    out : path
        A folder, which will hold `rows.jsonl`, `rows.parquet` (with the extra parquet), `summary.json` and the page
        `index.html`; or a .parquet or .jsonl file.
    where : str, optional
        A condition on the features and `score`, as in `"score <= .5 and age > 30"`: only rows that meet it.
    by : column, columns or mapping, optional
        Columns whose values the shares are told by: features, columns of the table of applicants, or
        `{name: values}` with a value for each row of the data (or table).
    share : bool
        Whether a row for which another row's rule is proved too is given that rule instead of its own shortest. Fewer
        rules are looked for, and the same ones are given more often; a shared one is proved, not shortest.
    k : int
        The most counterfactuals of a row.
    rng : int
        The seed, the same for every row: a row's answer is that of `explainer.explain(row, k=k, rng=rng)`.
    n_jobs : int, optional
        Rows explained at the same time, as joblib takes it; within `joblib.parallel_config` its backend (Dask, Ray)
        explains them. The answers are the same.
    labels : sequence of str, optional
        What each row of the data (or table) is called in texts and records; by default its position.
    source : str
        What the table of applicants is called in texts.
    progress : callable, optional
        Called with a `Progress` after each answer.

    Returns
    -------
    Batch
        The records in the order of the rows, and the summary.

    Raises
    ------
    InputError
        If no row is to be explained; if `out` cannot be written, or holds the results of another question. What goes
        wrong with a single row is told in its record.

    Notes
    -----
    A run that was stopped, by whatever, goes on where it was if the same is asked again. Rows that are equal in every
    feature are explained once. An answer that was cut short by a limit of time (`MinimumRule(seconds=...)`) may differ
    from one run to the next; others do not.

    With `share`, rows are explained in rounds of 32, and a row is given the shortest of the rules found in the rounds
    before that is proved for it: which rule that is depends on the order of the rows, and on nothing else. See
    `dueto.batch.sharing.Reach` for when a rule is proved for another.
    """
    if not isinstance(explainer, Explainer):
        raise TypeError(f"batch takes an Explainer, got {type(explainer).__name__}; make one of model and data")
    if isinstance(rng, bool) or not isinstance(rng, int | np.integer):
        raise TypeError(f"rng must be a seed, a whole number, so that every row can be asked again; got {rng!r}")
    whole("rng", rng, 0, what="the seed")
    whole("k", k, what="the most counterfactuals of a row")
    place = Place.of(out)
    asked = rows_asked(explainer, rows, where=where, by=by, labels=labels, source=source)
    question = _question(explainer, asked, k=k, seed=int(rng), share=bool(share))
    if isinstance(n_jobs, int) and n_jobs == 0:
        raise InputError("n_jobs must not be 0; give 1, 2, ... or -1 for all processors")
    with Journal(place.folder, question).opened() as journal:
        _answer_all(journal, explainer, asked, k=k, seed=int(rng), share=share, n_jobs=n_jobs, progress=progress)
        records = Records(map(as_line, _records(journal, asked)))
        found = Batch(records, as_json(summarised(explainer, asked, records)), journal.question)
        place.write(found)
    return found


def _answer_all(
    journal: Journal,
    explainer: Explainer,
    asked: Asked,
    *,
    k: int,
    seed: int,
    share: bool,
    n_jobs: int | None,
    progress: Callable[[Progress], None] | None,
) -> None:
    """Ask about every distinct row that has no answer yet."""
    sizes = np.bincount(asked.which, minlength=len(asked.first))
    start, before = time.monotonic(), sum(int(sizes[at]) for at in journal.answers)
    done, failed = before, sum(int(sizes[at]) for at in journal.failed)

    def kept(at: int, record: dict[str, Any]) -> None:
        nonlocal done, failed
        journal.append(at, record)
        done += int(sizes[at])
        failed += int(sizes[at]) if record["error"] else 0
        if progress is not None:
            progress(Progress(done, len(asked.numbers), failed, done - before, time.monotonic() - start))

    explainer.rows  # noqa: B018  scored once, here, and not by every worker
    for at, first in enumerate(asked.first.tolist()):
        if first in asked.problems and at not in journal.answers:
            kept(at, {"error": asked.problems[first]})
    shelf = Shelf(explainer, asked) if share else None
    for start_at in range(0, len(asked.first), ROUND if share else max(1, len(asked.first))):
        round_ = range(start_at, min(start_at + ROUND, len(asked.first)) if share else len(asked.first))
        todo = [at for at in round_ if at not in journal.answers]
        lent = {at: found for at in todo if shelf and (found := shelf.serving(at)) is not None}
        tasks = [_task(asked, at, k, seed, at in lent) for at in todo]
        for at, record in answers(explainer, tasks, n_jobs):
            kept(at, _shared(record, lent[at]) if at in lent and not record["error"] else record)
        if shelf:
            for at in round_:
                shelf.add(at, journal.record(at))


def _task(asked: Asked, at: int, k: int, seed: int, changes_only: bool) -> Task:
    i = int(asked.first[at])
    return Task(at, asked.row(i), asked.label(i), k, seed, changes_only)


class Shelf:
    """The proved rules found so far, and which of them serves a row."""

    def __init__(self, explainer: Explainer, asked: Asked) -> None:
        self.asked, self.reach = asked, Reach(explainer, asked.X[asked.first])
        self.served: dict[int, tuple[int, dict[str, Any]]] = {}

    def add(self, at: int, record: dict[str, Any]) -> None:
        """Put the rule of a record there, if it is proved and its own."""
        if record["error"] or "found_for" in record or record["rule"]["verdict"]["standing"] != "proved":
            return
        try:
            rows = self.reach.of(rule_of(record["rule"]), self.reach.X[at])
        except InputError:  # a label that JSON cannot hold
            return
        number = int(self.asked.numbers[self.asked.first[at]])
        told = {key: record[key] for key in ("rule", "support")} | {"found_for": number}
        for row in rows[rows > at].tolist():
            if row not in self.served or record["rule"]["cardinality"] < self.served[row][0]:
                self.served[row] = record["rule"]["cardinality"], told

    def serving(self, at: int) -> dict[str, Any] | None:
        """The shortest rule that serves a row, of those the one found for the earliest."""
        found = self.served.pop(at, None)
        return None if found is None else found[1]


def _shared(record: dict[str, Any], lent: Mapping[str, Any]) -> dict[str, Any]:
    """A row's changes with another row's rule, which is not said to be shortest."""
    methods = {"rule": "shared", **record["methods"]}
    return (
        record
        | {"rule": lent["rule"] | {"least": None}, "methods": methods}
        | {key: lent[key] for key in ("support", "found_for")}
    )


def _records(journal: Journal, asked: Asked) -> Iterator[dict[str, Any]]:
    """A record for each row, in their order, from the answers about the distinct ones."""
    for i, at in enumerate(asked.which.tolist()):
        first = int(asked.first[at])
        told = {
            "row": int(asked.numbers[i]),
            "label": asked.label(i),
            "same_as": None if first == i else int(asked.numbers[first]),
            "found_for": None,
            "score": None if np.isnan(asked.scores[i]) else float(asked.scores[i]),
            "by": {name: _told(values[i]) for name, values in asked.by.items()},
        }
        yield told | {key: value for key, value in journal.record(at).items() if key not in SAME}


def _told(value: Any) -> Any:
    """A value of a column as strict JSON can hold it."""
    return str(value) if isinstance(value, float) and not np.isfinite(value) else as_json(value)


def _question(explainer: Explainer, asked: Asked, **options: Any) -> dict[str, Any]:
    """What is asked, as plain data: two runs that have the same give the same answers."""
    model = explainer.model
    rows = as_hash(asked.numbers, asked.X, list(asked.problems))
    return {
        "format": FORMAT,
        "version": VERSION,
        "dueto": __version__,
        "model": fingerprint(model) | {"name": model.name},
        "desired outcome": as_json(model.desired),
        "threshold": model.threshold,
        "data": explainer.data_fingerprint,
        "space": _text_hash(json.dumps(written_space(explainer.space), sort_keys=True)),
        "constraints": [str(constraint) for constraint in explainer.constraints],
        "method": _described(explainer.finder),
        "counterfactual method": _described(explainer.method),
        "distance": _described(explainer.distance),
        "plausible": explainer.plausible,
        "widen": explainer.widen,
        "rows asked about": {"count": len(asked.numbers), "source": asked.source, "sha256": rows},
        **options,
    }


def _text_hash(text: str) -> str:
    return as_hash(np.frombuffer(text.encode(), dtype=np.uint8))


def _described(thing: Any) -> Any:
    """A method with its options, as plain data; callbacks left out."""
    if is_dataclass(thing) and not isinstance(thing, type):
        own = {field.name: getattr(thing, field.name) for field in fields(thing) if field.name != "progress"}
        return {"kind": type(thing).__name__, **{name: _described(value) for name, value in own.items()}}
    if isinstance(thing, list | tuple):
        return [_described(part) for part in thing]
    if isinstance(thing, dict):
        return {str(key): _described(value) for key, value in thing.items()}
    if thing is None or isinstance(thing, bool | int | float | str):
        return thing if thing != float("inf") else "inf"
    return str(getattr(thing, "name", type(thing).__name__))


def _duration(seconds: float) -> str:
    """A time left, in two units at most."""
    minutes, s = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {s} s" if minutes else f"{s} s"
