"""What a batch found: a record for each row, written as JSON lines and as Parquet, and read back."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from dueto.batch.journal import FORMAT, LINES, RUN, VERSION, as_line
from dueto.errors import InputError, count
from dueto.outputs import refuse_output, whole
from dueto.report.words import share

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    import pandas as pd

__all__ = ["Batch", "Place", "Records", "read_batch"]

OTHERS = (".csv", ".tsv", ".json", ".html", ".xlsx", ".txt", ".arrow", ".feather")  # a batch is not written so

TABLE, ROWS, SUMMARY, PAGE = "rows.parquet", "rows.jsonl", "summary.json", "index.html"
TIMES = ("seconds",)
GROUP = 2_000  # rows of a table written at a time


class Records(Sequence[dict[str, Any]]):
    """Records as lines of JSON, each read anew when it is asked for: read, they would take ten times the memory.

    So a record that is changed is a copy, and the change is not kept: `list(records)` holds them.
    """

    def __init__(self, lines: Iterable[bytes]) -> None:
        self.lines = list(lines)

    def __len__(self) -> int:
        return len(self.lines)

    @overload
    def __getitem__(self, at: int) -> dict[str, Any]: ...

    @overload
    def __getitem__(self, at: slice) -> Records: ...

    def __getitem__(self, at: int | slice) -> dict[str, Any] | Records:
        return Records(self.lines[at]) if isinstance(at, slice) else json.loads(self.lines[at])

    def __repr__(self) -> str:
        return f"<{count(len(self), 'record')}>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)


@dataclass(frozen=True, eq=False)
class Batch:
    """What `dueto.batch` found: iterate it for the records, one a row, in the order of the rows.

    Parameters
    ----------
    records : sequence of dict
        Each as `Explanation.to_dict`, but for what is the same of all; with `row`, its position, `same_as`, the row
        that is equal in every feature and was explained in its stead, `found_for`, the row whose rule is shared, `by`,
        and `error`, why there is no answer, or None. Each is read anew when it is asked for, so that a change to one is
        not kept; `list(found)` holds them.
    summary : dict
        The portfolio, as plain data: what many refusals have in common.
    question : dict
        What was asked: fingerprints of model and data, constraints, options, seed.

    Examples
    --------
    >>> import dueto, pandas as pd
    >>> from tempfile import mkdtemp
    >>> data = pd.DataFrame({"income": [12, 22, 35, 41, 50, 22], "debt": [40, 32, 32, 10, 5, 32]})
    >>> def model(frame):
    ...     return ((frame["income"] > 22) | (frame["debt"] < 32)).astype(float)
    >>> folder = mkdtemp()
    >>> found = dueto.batch(dueto.Explainer(model, data), out=folder, k=1)
    >>> for record in found:
    ...     print(record["row"], record["rule"]["text"], record["same_as"])
    0 income <= 12 and debt >= 40 None
    1 income <= 22 and debt >= 32 None
    5 income <= 22 and debt >= 32 1
    >>> dueto.read_batch(folder).summary["cover"]["rules"][0]["serves"]
    3
    """

    records: Records
    summary: dict[str, Any]
    question: dict[str, Any]

    def __len__(self) -> int:
        return len(self.records)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.records)

    @property
    def answers(self) -> list[dict[str, Any]]:
        """The records without their times: what another run of the same question gives again."""
        return [{key: value for key, value in r.items() if key not in TIMES} for r in self.records]

    @cached_property
    def failed(self) -> list[dict[str, Any]]:
        """The records of the rows that have no answer; `error` says why."""
        return [r for r in self.records if r["error"]]

    def to_frame(self) -> pd.DataFrame:
        """A table with a row for each record: the columns of the Parquet file."""
        import pandas as pd

        return pd.DataFrame(_columns(self.records))

    @overload
    def to_html(self, path: None = None) -> str: ...

    @overload
    def to_html(self, path: str | Path) -> None: ...

    def to_html(self, path: str | Path | None = None) -> str | None:
        """The portfolio as a page that needs nothing else: written to `path` if it is given, else returned."""
        from dueto.report.page import saved
        from dueto.report.portfolio import portfolio_page

        return saved(portfolio_page(self.summary, self.question), path)

    def __str__(self) -> str:
        return "\n".join(told(self.summary))


def told(summary: Mapping[str, Any]) -> Iterator[str]:
    """A summary in a few lines."""
    s, cover = summary["shares"], summary["cover"]
    n = s["rows"]
    of = f" of {summary['source']}" if summary["source"] else ""
    yield f"{count(n, 'refused row')}{of} explained, {summary['distinct']:,} of them distinct:"
    yield f"  {_part(s['proved'], n)} with a proved rule, {_part(s['least'], n)} with one proved to be shortest"
    yield f"  {_part(s['changeable'], n)} with a feasible change, {_part(s['hopeless'], n)} with none (proved)"
    if s["shared"]:
        yield f"  {_part(s['shared'], n)} with a rule that was found for another row"
    if s["failed"]:
        yield f"  {_part(s['failed'], n)} without an answer"
    if cover["rules"]:
        yield f"The rules that explain the most, of {cover['distinct']:,} distinct ones:"
        for rule in cover["rules"][:3]:
            yield f"  {rule['rule']}   [{_part(rule['serves'], cover['rows'])}]"


def _part(part: int, n: int) -> str:
    return f"{part:,} ({share(part, n)})"


@dataclass(frozen=True)
class Place:
    """Where the results go: a folder, or one file beside which a folder stands until it is written."""

    out: Path
    kind: str

    @classmethod
    def of(cls, out: str | Path) -> Place:
        """The place that is meant, refused if nothing can be written there.

        Raises
        ------
        InputError
            If the file is there already, its folder is not, or it is Parquet and pyarrow is missing.
        """
        path = Path(out)
        kind = path.suffix.lower() if path.suffix.lower() in (".parquet", ".jsonl") and not path.is_dir() else ""
        if path.suffix.lower() in OTHERS and not path.is_dir():
            raise InputError(f"{path} must be a folder, or a file that ends in .parquet or .jsonl")
        if kind:
            refuse_output(path, [kind], needs="pyarrow" if kind == ".parquet" else None)
        return cls(path, kind)

    @property
    def folder(self) -> Path:
        """Where the journal is kept."""
        return self.out.with_name(f"{self.out.name}.run") if self.kind else self.out

    def write(self, found: Batch) -> None:
        """All of it, each file whole or not at all; of a single file, the folder beside it is removed."""
        if self.kind:
            _write(self.out, found)
            for name in (LINES, RUN):
                (self.folder / name).unlink(missing_ok=True)
            self.folder.rmdir()
            return
        _write(self.out / ROWS, found)
        if find_spec("pyarrow") is not None:
            _write(self.out / TABLE, found)
        with whole(self.out / SUMMARY) as part:
            part.write_text(
                json.dumps(found.summary, indent=1, ensure_ascii=False, default=str) + "\n", encoding="utf-8"
            )
        found.to_html(self.out / PAGE)


def _write(path: Path, found: Batch) -> None:
    if path.suffix.lower() == ".parquet":
        _write_parquet(path, found)
        return
    with whole(path) as part, part.open("wb") as file:
        file.write(as_line({"question": found.question, "summary": found.summary}))
        file.writelines(found.records.lines)


def _write_parquet(path: Path, found: Batch) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    kinds = {str: pa.string(), int: pa.int64(), float: pa.float64(), bool: pa.bool_(), list: pa.list_(pa.string())}
    fields = [pa.field(name, kinds[kind]) for name, kind in KINDS.items()]
    told = {"question": found.question, "summary": found.summary}
    metadata = {b"dueto": as_line(told)}
    schema = pa.schema(fields, metadata=metadata)
    with whole(path) as part, pq.ParquetWriter(part, schema, compression="zstd") as file:
        for start in range(0, len(found), GROUP):
            file.write_table(pa.table(_columns(found.records[start : start + GROUP]), schema=schema))


KINDS: dict[str, type] = {
    "row": int,
    "label": str,
    "score": float,
    "rule": str,
    "components": int,
    "conditions": list,
    "standing": str,
    "verdict_by": str,
    "least_proved": bool,
    "at_least": float,
    "support_refused": int,
    "support_accepted": int,
    "status": str,
    "counterfactuals": int,
    "cost": float,
    "changed": list,
    "change": str,
    "rule_method": str,
    "counterfactual_method": str,
    "same_as": int,
    "found_for": int,
    "seconds": float,
    "error": str,
    "record": str,
}


def _columns(records: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    rows = [_flat(record) | {"record": as_line(record).decode().strip()} for record in records]
    return {name: [row.get(name) for row in rows] for name in KINDS}


def _flat(r: Mapping[str, Any]) -> dict[str, Any]:
    """What of a record stands in a row of a table, besides all of it as JSON."""
    found = {key: r.get(key) for key in ("row", "label", "score", "same_as", "found_for", "seconds", "error", "status")}
    if r["error"]:
        return found
    rule, verdict, least, nearest = r["rule"], r["rule"]["verdict"], r["rule"]["least"], r["counterfactuals"][:1]
    for first in nearest:
        found["cost"] = first["cost"]
        found["changed"] = [str(c["feature"]) for c in first["changes"]]
        shown = [
            (c["feature"], *("missing" if v is None else v for v in (c["before"], c["after"])))
            for c in first["changes"]
        ]
        found["change"] = "; ".join(f"{feature}: {before} → {after}" for feature, before, after in shown)
    return found | {
        "rule": rule["text"],
        "components": rule["cardinality"],
        "conditions": list(rule["conditions"]),
        "standing": verdict["standing"],
        "verdict_by": verdict["by"],
        "least_proved": None if least is None else bool(least["proved"]),
        "at_least": None if least is None else float(least["at_least"]),
        "support_refused": r["support"]["refused"],
        "support_accepted": r["support"]["accepted"],
        "counterfactuals": len(r["counterfactuals"]),
        "rule_method": r["methods"]["rule"],
        "counterfactual_method": r["methods"]["counterfactual"],
    }


def read_batch(path: str | Path) -> Batch:
    """What `dueto.batch` wrote: a folder, a .jsonl or a .parquet file.

    Raises
    ------
    InputError
        If there is nothing; if it is not finished, not a batch of dueto, damaged, or of another version.
    """
    path = Path(path)
    if not path.exists():
        raise InputError(f"there is no batch at {path}")
    if path.is_dir():
        if not (path / ROWS).exists():
            unfinished = (path / RUN).exists()
            why = "is not finished: ask the same again to go on" if unfinished else "holds no batch of dueto"
            raise InputError(f"{path} {why}")
        path = path / ROWS
    try:
        if path.suffix.lower() == ".parquet":
            return _read_parquet(path)
        with path.open("rb") as file:
            return _checked(file.readline(), file, path)
    except InputError:
        raise
    except OSError as problem:
        raise InputError(f"cannot read {path}: {problem.strerror or problem}") from None
    except Exception:  # whatever a damaged file makes of what is read from it
        raise InputError(f"{path} is not a batch of dueto, or damaged") from None


def _read_parquet(path: Path) -> Batch:
    if find_spec("pyarrow") is None:
        raise InputError(f"{path} needs the package pyarrow; run: pip install pyarrow")
    import pyarrow.parquet as pq

    table = pq.read_table(path)
    lines = (f"{record}\n".encode() for record in table["record"].to_pylist())
    return _checked((table.schema.metadata or {})[b"dueto"], lines, path)


def _checked(head: bytes, lines: Iterable[bytes], path: Path) -> Batch:
    """A batch of this version, of which all that is shown of it can be made."""
    told = json.loads(head)
    question = told["question"]
    if question["format"] == FORMAT and question["version"] != VERSION:
        raise InputError(
            f"{path} was written by another version of dueto, {question['dueto']} (format {question['version']}, and "
            f"this one reads {VERSION}): explain the rows again, or read it with that one"
        )
    found = Batch(Records(lines), told["summary"], question)
    if question["format"] != FORMAT or len(found) != found.summary["explained"]:
        raise ValueError("no batch, or not all of it")
    for record in found:
        _flat(record)
    found.to_html()
    str(found)
    return found
