"""README and docs say what is so: every name is explained, every link leads somewhere, every shown command is real."""

from __future__ import annotations

import doctest
import inspect
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import dueto
from dueto.cli import main

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
TEXT = {page.relative_to(ROOT).as_posix(): page.read_text(encoding="utf-8") for page in PAGES}
CODE = re.compile(r"```.*?```|`[^`\n]+`", re.DOTALL)
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


def methods(kind: type) -> dict[str, Any]:
    """The methods that a class of ours gives its users, with those that it inherits from ours."""
    ours = [vars(c) for c in reversed(kind.__mro__) if c.__module__.startswith("dueto")]
    found = {name: getattr(f, "__func__", f) for own in ours for name, f in own.items() if not name.startswith("_")}
    return {name: f for name, f in found.items() if inspect.isfunction(f)}


@pytest.mark.parametrize("name", dueto.__all__)
def test_every_public_name_is_told_of_in_a_page(name: str) -> None:
    code = " ".join(found for text in TEXT.values() for found in CODE.findall(text))
    assert re.search(rf"(?<!\w){re.escape(name)}(?!\w)", code)


@pytest.mark.parametrize("name", [n for n in dueto.__all__ if n != "__version__"])
def test_every_public_name_and_its_methods_have_docstrings(name: str) -> None:
    found = getattr(dueto, name)
    text = (found if callable(found) else type(found)).__doc__ or ""
    assert not text.startswith(f"{name}("), "a dataclass without a docstring is given its signature as one"
    assert text.strip()
    if inspect.isclass(found):
        assert [method for method, f in methods(found).items() if not f.__doc__] == []


@pytest.mark.parametrize("page", TEXT)
def test_every_relative_link_leads_to_a_file_of_the_repository(page: str) -> None:
    links = re.findall(r"\]\(([^)\s]+)\)", CODE.sub("", TEXT[page]))
    local = [link.partition("#")[0] for link in links if not re.match(r"\w+:|#", link)]
    assert [link for link in local if not ((ROOT / page).parent / link).is_file()] == []


def test_index_lists_every_page_and_the_readme_every_guide() -> None:
    pages = [page for page in TEXT if page.startswith("docs/") and page != "docs/index.md"]
    assert [page for page in pages if f"]({page.removeprefix('docs/')})" not in TEXT["docs/index.md"]] == []
    guides = [page for page in pages if page.startswith("docs/guides/")]
    assert [page for page in guides if f"]({page})" not in TEXT["README.md"]] == []


def test_the_two_commands_of_the_readme_are_those_that_ci_runs() -> None:
    blocks = re.findall(r"```\n(pip install .*)\n```", TEXT["README.md"])
    assert len(blocks) == 2
    ci = (ROOT / ".ci" / "run").read_text(encoding="utf-8").replace(" --quiet", "")
    for command in (part.strip() for block in blocks for part in block.split("&&")):
        assert re.search(rf"^[^'#]*{re.escape(command)}\)?$", ci, re.MULTILINE), command


def test_the_answer_in_the_readme_is_the_one_in_the_guide_which_is_tested() -> None:
    (answer,) = re.findall(r"```\n(Row .*?)```", TEXT["README.md"], re.DOTALL)
    assert answer in TEXT["docs/guides/command-line.md"]


# The page on the command line has a test of its own.
@pytest.mark.parametrize("page", [p for p in TEXT if "```console" in TEXT[p] and not p.endswith("command-line.md")])
def test_commands_in_a_page_print_what_it_shows(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    doctest.testfile(str(ROOT / page), module_relative=False, optionflags=FLAGS)  # its examples make the files
    shown = [part for block in re.findall(r"```console\n(.*?)```", TEXT[page], re.DOTALL) for part in block.split("$ ")]
    for command, _, expected in (part.partition("\n") for part in shown if part):
        program, *arguments = shlex.split(command)
        assert program == "dueto"
        found = CliRunner().invoke(main, arguments).output
        assert doctest.OutputChecker().check_output(expected, found, FLAGS), found


def test_no_text_of_the_repository_names_a_folder_of_somebodys_machine() -> None:
    place = re.compile(r"(?<![\w.*)}-])/(?:home|root|work|tmp|mnt|Users)/\w")
    parts = ("src", "tests", "docs", "bench", ".ci")
    files = [path for part in parts for path in (ROOT / part).rglob("*") if path.is_file()]
    files += [path for path in ROOT.iterdir() if path.is_file()]
    kinds = {".py", ".md", ".toml", ".txt", ".csv", ".json", ".plaf", ".yml", ".cfg", ""}
    texts = [path for path in files if path.suffix in kinds and "results" not in path.parts]
    found = [path for path in texts if place.search(path.read_text(encoding="utf-8", errors="replace"))]
    assert [path.relative_to(ROOT).as_posix() for path in found] == []
