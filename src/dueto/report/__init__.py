"""Pages that people read: HTML that needs nothing else, made of what the other rooms found.

`page` fills in a template and writes it. `applicant` is the page of one applicant and its Markdown, `letter` the letter
to them; `background` is what these tell of the data, counted by `pictures` and laid out by `drawing`; `whatif` is what
a page needs to score an applicant itself. `schema` says what `--json` prints.
"""

from __future__ import annotations

from importlib import resources
from typing import Any

from dueto.errors import InputError, known

__all__ = ["schema"]


def schema(name: str = "explanation") -> dict[str, Any]:
    """The JSON schema (draft 2020-12) of what a verb prints under `--json`.

    Parameters
    ----------
    name : {"explanation"}
        `dueto explain --json`, and `Explanation.to_json`.

    Raises
    ------
    InputError
        If there is no such schema.

    Examples
    --------
    >>> from dueto.report import schema
    >>> schema("explanation")["$schema"]
    'https://json-schema.org/draft/2020-12/schema'
    """
    import json

    folder = resources.files(__package__).joinpath("schemas")
    names = sorted(file.name.removesuffix(".json") for file in folder.iterdir() if file.name.endswith(".json"))
    if name not in names:
        raise InputError(f"there is no schema {name!r}; {known(name, names, 'there is')}")
    found: dict[str, Any] = json.loads(folder.joinpath(f"{name}.json").read_text(encoding="utf-8"))
    return found
