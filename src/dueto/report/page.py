"""From plain data to a page: one HTML file that holds its style and its scripts, and asks the network for nothing."""

from __future__ import annotations

from functools import cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dueto.outputs import whole

if TYPE_CHECKING:
    from jinja2 import Environment

__all__ = ["rendered", "saved"]


def rendered(template: str, **data: Any) -> str:
    """A template of this room filled in; every text is escaped, and a name that is not given is an error."""
    return _environment().get_template(template).render(**data)


def saved(text: str, path: str | Path | None) -> str:
    """The text, written to a file too if one is named: whole, or not at all.

    Raises
    ------
    InputError
        If the file cannot be written.
    """
    if path is not None:
        with whole(Path(path)) as part:
            part.write_text(text, encoding="utf-8")
    return text


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
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.globals["source"] = source
    return found
