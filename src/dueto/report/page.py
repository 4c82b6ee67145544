"""From plain data to a page: one HTML file that holds its style and its scripts, and asks the network for nothing."""

from __future__ import annotations

import json
import platform
import re
from functools import cache
from html import escape
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dueto._version import __version__
from dueto.errors import InputError, in_words
from dueto.outputs import whole
from dueto.report.words import directed, visible

if TYPE_CHECKING:
    from collections.abc import Callable

    from jinja2 import Environment
    from markupsafe import Markup

__all__ = ["framed", "rendered", "saved", "versions"]

BREAKS = re.compile(r"[_/]|(?<=\w)[.-](?=[^\W\d])")  # after these a line may end; not within a number
LONG = 24  # characters; a longer word may end anywhere
HEIGHT = 640  # pixels of a page in a notebook


def rendered(template: str, **data: Any) -> str:
    """A template of this room filled in; every text is escaped, and a name that is not given is an error."""
    return _environment().get_template(template).render(**data)


def saved(page: str, path: str | Path | None) -> str | None:
    """The page if no file is named; else it is written there, whole or not at all, and nothing is returned.

    Raises
    ------
    InputError
        If the file cannot be written.
    """
    if path is None:
        return page
    if not Path(path).name or "\0" in str(path):
        raise InputError(f"{str(path)!r} is no name of a file")
    with whole(Path(path)) as part:
        part.write_text(page, encoding="utf-8")
    return None


def framed(page: Callable[[], str], title: str) -> str | None:
    """A page in a frame of its own, as a notebook shows it; None if it cannot be made, so that text is shown instead.

    In a frame, the page's style and that of what surrounds it leave each other alone.
    """
    try:
        html = page()
    except InputError:
        return None
    return (
        f'<iframe srcdoc="{escape(html)}" title="{escape(visible(title))}" sandbox="allow-scripts" '
        f'style="width: 100%; height: {HEIGHT}px; border: 1px solid #8888; border-radius: 6px"></iframe>'
    )


@cache
def versions(*libraries: str) -> dict[str, str]:
    """What computed an answer: dueto, Python and those of some libraries that are installed."""
    from importlib.metadata import PackageNotFoundError, version

    found = {"dueto": __version__, "python": platform.python_version()}
    for name in libraries:
        try:
            found[name.replace("-", "_")] = version(name)
        except PackageNotFoundError:
            continue
    return found


@cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    def source(name: str) -> Markup:
        """A style sheet or a script of this room, as it is."""
        return Markup(resources.files(__package__).joinpath("templates", name).read_text(encoding="utf-8"))

    found = Environment(
        loader=PackageLoader("dueto.report"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=lambda value: visible(value) if type(value) is str else value,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.globals["source"] = source
    found.filters["bdi"] = _isolated
    found.filters["sentence"] = _sentence
    found.filters["words"] = in_words
    found.policies["json.dumps_function"] = _dumps
    return found


def _isolated(value: Any) -> Markup:
    """A name or a value of the user's: its direction is its own; it breaks after signs, or anywhere if it is long."""
    from markupsafe import Markup

    name = "missing" if value is None else visible(str(value))
    broken = BREAKS.sub(r"\g<0><wbr>", escape(name))
    kind = " class=long" if _long(re.split(r"[_/.\s-]", name)) else ""
    return Markup(f"<bdi{kind}>{broken}</bdi>")


def _sentence(text: str) -> Markup:
    """A sentence that holds names and values of the user's: words from right to left have a direction of their own."""
    from markupsafe import Markup

    parts = [escape(part) for part in directed(visible(text))]
    parts[1::2] = [f"<bdi>{part}</bdi>" for part in parts[1::2]]
    told = "".join(parts)
    return Markup(f"<span class=long>{told}</span>" if _long(text.split()) else told)


def _long(words: list[str]) -> bool:
    """Whether one of some words may have to break anywhere."""
    return any(len(word) > LONG for word in words)


def _dumps(value: Any, **options: Any) -> str:
    """JSON whose texts may be shown."""

    def shown(part: Any) -> Any:
        if isinstance(part, dict):
            return {key: shown(inner) for key, inner in part.items()}
        if isinstance(part, list | tuple):
            return list(map(shown, part))
        return visible(part) if isinstance(part, str) else part

    return json.dumps(shown(value), **options)
