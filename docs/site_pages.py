"""Pages that nobody writes by hand: the reference, the help of every verb, and what stands outside docs/.

The Markdown of docs/ is read on GitHub, too. So it holds plain links, to files as they stand in the repository; here
these become links of the site, and the lists of `index.md` the site's table of contents.
"""

from __future__ import annotations

import importlib
import inspect
import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import dueto
from dueto.cli import main

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import ModuleType

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent
GENERATED = DOCS / "generated"  # not in the repository
CODE = re.compile(r"(```.*?```|`[^`\n]+`)", re.DOTALL)
LINK = re.compile(r"\]\((?!\w+:|#)([^)\s#]+)(#[^)\s]*)?\)")

# Rooms whose every name is public; of the others, those that `dueto` itself has.
OPEN_ROOMS = [
    *(
        "audit",
        "batch",
        "certificates",
        "counterfactuals",
        "datasets",
        "dependence",
        "direction",
        "explain",
        "explanation",
    ),
    *("inference", "models", "plaf", "plots", "regression", "rule", "rules", "suggest", "testing"),
]
ROOMS = sorted({*OPEN_ROOMS, *dueto._ROOMS})
ABOUT_ROOMS = """Every name below is public: what `dueto` itself offers, and what its rooms offer besides. Others may
change without notice.

"""
GENERATED_TREE = "\n```{toctree}\n:maxdepth: 2\n\ngenerated/cli\ngenerated/reference/index\n```\n"


def pages() -> list[Path]:
    """The pages of docs/ that people write."""
    made = (GENERATED, DOCS / "_build")
    return sorted(path for path in DOCS.rglob("*.md") if not any(path.is_relative_to(folder) for folder in made))


def room(name: str) -> ModuleType | None:
    """A room of the house, where it is built."""
    try:
        importlib.import_module(f"dueto.{name}")
    except ModuleNotFoundError as problem:
        if problem.name != f"dueto.{name}":
            raise
        return None
    return sys.modules[f"dueto.{name}"]  # `dueto.explain` is the function


def names(name: str) -> list[str]:
    """The public names of a room, each by the way to it that is meant to be used."""
    found = room(name)
    if found is None:
        return []
    own = {n for n, home in dueto._HOME.items() if home == name}
    every = own | set(found.__all__ if name in OPEN_ROOMS else ())
    return [f"dueto.{n}" if n in own else f"dueto.{name}.{n}" for n in sorted(every, key=str.lower)]


def reference() -> Iterator[tuple[str, str]]:
    """Of each room a page with its names, each of which has a page of its own; and a page of rooms."""
    listed = [name for name in ROOMS if names(name)]
    tree = ".. toctree::\n   :maxdepth: 1\n\n" + "".join(f"   {name}\n" for name in listed)
    yield "reference/index.rst", _title("The package, room by room") + ABOUT_ROOMS + tree
    for name in listed:
        about = inspect.cleandoc(room(name).__doc__ or "")
        rows = "".join(f"   {n}\n" for n in names(name))
        head = f"{_title(f'dueto.{name}')}{about}\n\n"
        yield f"reference/{name}.rst", f"{head}.. autosummary::\n   :toctree: api\n   :nosignatures:\n\n{rows}"


def file_names() -> dict[str, str]:
    """`dueto.direction` and `dueto.Direction` are one file name to some systems: functions get another."""
    every = [n for name in ROOMS for n in names(name)]
    twins = {n for n in every if sum(n.lower() == other.lower() for other in every) > 1}
    return {n: f"{n}-function" for n in twins if n.islower()}


def verbs(command: click.Command, path: str = "dueto", parent: Any = None) -> Iterator[tuple[str, str]]:
    """Every verb with its help, as click prints it."""
    settings = command.context_settings | {"terminal_width": 80}
    context = click.Context(command, info_name=path.rpartition(" ")[2], parent=parent, **settings)
    yield path, command.get_help(context)
    for name, verb in sorted(getattr(command, "commands", {}).items()):
        yield from verbs(verb, f"{path} {name}", context)


def command_line() -> str:
    """The page of all helps."""
    helps = [f"{_title(path, '-')}.. code-block:: text\n\n{_indented(text)}\n" for path, text in verbs(main)]
    about = "What ``--help`` prints, verb by verb. With examples and their answers: :doc:`/guides/command-line`.\n\n"
    return f"{_title('Every verb and its options')}{about}{''.join(helps)}"


def outside(start: list[Path]) -> Iterator[tuple[str, str]]:
    """Copies of the repository's pages and programs to which the pages link, and those to which these link."""
    queue, seen = list(start), set(start)
    while queue:
        page = queue.pop()
        for target in _targets(page):
            if target in seen or target.is_relative_to(DOCS):
                continue
            seen.add(target)
            place = _place(target)
            if target.suffix == ".md":
                queue.append(target)
                text = target.read_text(encoding="utf-8")
                text = "---\norphan: true\n---\n" + relinked(text, target.parent, place.parent)
                yield place.relative_to(GENERATED).as_posix(), text
            else:
                way = os.path.relpath(target, place.parent)
                title = _title(target.relative_to(ROOT).as_posix())
                yield place.relative_to(GENERATED).as_posix(), f":orphan:\n\n{title}.. literalinclude:: {way}\n"


def relinked(text: str, home: Path, place: Path) -> str:
    """Links of a page that stands in `home`, as links of a page of the site that stands in `place`."""

    def new(found: re.Match[str]) -> str:
        return f"]({os.path.relpath(_place((home / found[1]).resolve()), place)}{found[2] or ''})"

    return _outside_code(lambda part: LINK.sub(new, part), text)


def contents(text: str) -> str:
    """The table of contents that the lists of a page make, heading by heading."""
    trees = []
    for section in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
        caption, _, body = section.partition("\n")
        entries = [f"{link[1].rpartition('.')[0]}\n" for link in LINK.finditer(body)]
        if entries:
            trees.append(f"\n```{{toctree}}\n:hidden:\n:caption: {caption}\n\n{''.join(entries)}```\n")
    return "".join(trees)


def read(_app: Any, docname: str, source: list[str]) -> None:
    """As Sphinx reads a page."""
    path = DOCS / f"{docname}.md"
    if path in pages():
        source[0] = relinked(source[0], path.parent, path.parent)
        source[0] += {"index": contents(source[0]), "reference": GENERATED_TREE}.get(docname, "")


def write(_app: Any, config: Any) -> None:
    """All generated pages; one that says the same already is left alone, one that is no more is removed."""
    rooms = list(reference())
    config.autosummary_generate = [str(GENERATED / name) for name, _ in rooms]
    config.autosummary_filename_map = other = file_names()
    texts = {GENERATED / name: text for name, text in [*rooms, ("cli.rst", command_line()), *outside(pages())]}
    stubs = {GENERATED / "reference" / "api" / f"{other.get(n, n)}.rst" for name in ROOMS for n in names(name)}
    for path in [path for kind in ("*.rst", "*.md") for path in GENERATED.rglob(kind)]:
        if path not in texts and path not in stubs and not path.is_relative_to(GENERATED / "gallery"):
            path.unlink()
    for path, text in texts.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def setup(app: Any) -> dict[str, bool]:
    """What Sphinx asks of an extension."""
    app.connect("config-inited", write)
    app.connect("source-read", read)
    return {"parallel_read_safe": True}


def _place(target: Path) -> Path:
    """Where the site has a file of the repository."""
    if target.parent == DOCS / "gallery":
        name = "index.rst" if target.stem == "README" else f"{target.stem}.rst"
        return GENERATED / "gallery" / name
    if target.is_relative_to(DOCS):
        return target
    return GENERATED / target.relative_to(ROOT).with_suffix(".md" if target.suffix == ".md" else ".rst")


def _targets(page: Path) -> list[Path]:
    """The files to which a page links."""
    text = "".join(CODE.split(page.read_text(encoding="utf-8"))[::2])
    return [(page.parent / link[1]).resolve() for link in LINK.finditer(text)]


def _outside_code(change: Callable[[str], str], text: str) -> str:
    return "".join(part if k % 2 else change(part) for k, part in enumerate(CODE.split(text)))


def _title(text: str, line: str = "=") -> str:
    return f"{text}\n{line * len(text)}\n\n"


def _indented(text: str) -> str:
    return "".join(f"   {line}".rstrip() + "\n" for line in text.splitlines())
