"""README and docs say what is so: every name is explained, every link leads somewhere, every shown command is real."""

from __future__ import annotations

import doctest
import importlib.util
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
found_spec = importlib.util.spec_from_file_location("site_pages", ROOT / "docs" / "site_pages.py")
assert found_spec is not None
assert found_spec.loader is not None
site = importlib.util.module_from_spec(found_spec)  # what makes the site of these pages
found_spec.loader.exec_module(site)

PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *site.pages()]
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


def test_every_page_of_the_site_is_reached_from_its_table_of_contents() -> None:
    docs = ROOT / "docs"
    trees = site.contents(site.relinked(TEXT["docs/index.md"], docs, docs)) + site.GENERATED_TREE
    entries = set(re.findall(r"^[\w/.-]+$", trees, re.MULTILINE))
    written = {page.relative_to(docs).with_suffix("").as_posix() for page in site.pages()} - {"index"}
    assert written <= entries
    made = ("gallery/index", "cli", "reference/index", "CONTRIBUTING", "CHANGELOG")
    assert {f"generated/{page}" for page in made} <= entries
    assert [script.name for script in (docs / "gallery").glob("*.py") if not script.name.startswith("plot_")] == []


def test_links_of_the_site_lead_where_those_of_the_repository_do() -> None:
    text = "[a](../../CONTRIBUTING.md#the-checks) `[b](../c.md)` [d](space.md) [e](../gallery/README.rst) [f](https://g.org)"
    home = ROOT / "docs" / "guides"
    assert site.relinked(text, home, home) == (
        "[a](../generated/CONTRIBUTING.md#the-checks) `[b](../c.md)` [d](space.md) [e](../generated/gallery/index.rst) "
        "[f](https://g.org)"
    )


def test_the_reference_has_every_public_name_and_every_verb() -> None:
    pages = dict(site.reference())
    listed = {name for text in pages.values() for name in re.findall(r"^   (dueto\.\S+)$", text, re.MULTILINE)}
    assert {f"dueto.{name}" for name in dueto.__all__} - {"dueto.__version__"} <= listed
    rooms = ("datasets.load_adult", "plots.plot_fits", "rules.Anchor", "testing.worlds")
    assert {f"dueto.{name}" for name in rooms} <= listed
    by_hand = set(re.findall(r"`([^`]+)`", TEXT["docs/reference.md"]))
    assert set(dueto.__all__) - by_hand == {"__version__"}
    helps = dict(site.verbs(main))
    assert {"dueto", "dueto rules compare", *(f"dueto {verb}" for verb in main.commands)} <= set(helps)
    told = TEXT["docs/guides/command-line.md"]
    untold = {verb for verb in helps if not re.search(rf"^## (Start: )?`{verb}[ `]", told, re.MULTILINE)}
    assert untold <= {"dueto", "dueto rules"}


def test_the_measured_stations_say_what_the_gallery_shows(data_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DUETO_DATA", str(data_folder))
    text = (ROOT / "docs" / "gallery" / "plot_altitude_temperature.py").read_text(encoding="utf-8")
    shown = "\n".join(re.findall(r"^#     ?(.*)$", text, re.MULTILINE))
    test = doctest.DocTestParser().get_doctest(shown, {}, "gallery", None, 0)
    assert len(test.examples) == 7
    assert doctest.DocTestRunner(optionflags=FLAGS).run(test).failed == 0


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
    files = [path for path in files if not {"_build", "generated"} & set(path.relative_to(ROOT).parts)]
    files += [path for path in ROOT.iterdir() if path.is_file()]
    kinds = {".py", ".md", ".toml", ".txt", ".csv", ".json", ".plaf", ".yml", ".cfg", ""}
    texts = [path for path in files if path.suffix in kinds and "results" not in path.parts]
    found = [path for path in texts if place.search(path.read_text(encoding="utf-8", errors="replace"))]
    assert [path.relative_to(ROOT).as_posix() for path in found] == []
