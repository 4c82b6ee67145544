"""What every benchmark shares: options, the machine in words, and tables as Markdown and JSON."""

from __future__ import annotations

import argparse
import json
import os
import platform
from importlib.metadata import version
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).resolve().parent / "results"


def options(doc: str) -> argparse.ArgumentParser:
    """A parser whose help is the program's docstring, with the option that all share."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=RESULTS, help="where the tables go (default: bench/results)")
    return parser


def machine() -> dict[str, Any]:
    """The machine and the versions, and how busy it is."""
    return {
        "cores": os.cpu_count(),
        "processor": platform.machine(),
        "load": round(os.getloadavg()[0], 2),
        "python": platform.python_version(),
    } | {name: version(name) for name in ("numpy", "pandas", "scikit-learn")}


def markdown(rows: list[dict[str, Any]]) -> str:
    """Rows with the same keys as a Markdown table; numbers to the right, None as a dash, lists with slashes."""
    names = list(rows[0])
    right = [all(not isinstance(row[n], str) for row in rows) for n in names]
    lines = [names, ["---:" if r else "---" for r in right], *([_text(row[n]) for n in names] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _text(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, list):
        return " / ".join(_text(v) for v in value)
    if not isinstance(value, float):
        return f"{value:,}" if isinstance(value, int) else str(value)
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def write(
    out: Path, name: str, *, command: str, about: dict[str, Any], tables: dict[str, list[dict[str, Any]]]
) -> None:
    """Write `name`.md and `name`.json to a folder and print the former."""
    out.mkdir(parents=True, exist_ok=True)
    found = {"command": command, "about": about, "tables": tables}
    (out / f"{name}.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    said = ", ".join(f"{key} {value}" for key, value in about.items())
    parts = [f"    {command}", said, *(f"### {title}\n\n{markdown(rows)}" for title, rows in tables.items() if rows)]
    text = "\n\n".join(parts) + "\n"
    (out / f"{name}.md").write_text(text, encoding="utf-8")
    print(text)
