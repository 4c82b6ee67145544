"""The guide to the command line says what is so."""

from __future__ import annotations

import doctest
import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dueto.cli import main
from dueto.counterfactuals import METHODS
from dueto.rules import FINDERS

if TYPE_CHECKING:
    from collections.abc import Iterator

GUIDE = (Path(__file__).parents[2] / "docs" / "guides" / "command-line.md").read_text(encoding="utf-8")


def verbs(group: click.Group = main, before: str = "") -> Iterator[tuple[str, click.Command]]:
    """All verbs, those within verbs too."""
    for name, verb in group.commands.items():
        yield before + name, verb
        if isinstance(verb, click.Group):
            yield from verbs(verb, f"{before}{name} ")


def test_every_verb_and_every_option_is_in_the_guide():
    for name, verb in verbs():
        assert f"dueto {name}" in GUIDE
        options = [p.opts[-1] for p in verb.params if isinstance(p, click.Option)]
        assert [option for option in options if f"`{option}" not in GUIDE] == []


def test_every_verb_shows_examples_before_its_options_and_its_exit_codes():
    for name, verb in verbs():
        text = verb.get_help(click.Context(verb, info_name=f"dueto {name}"))
        assert text.index("Examples:") < text.index(f"    dueto {name}") < text.index("Options:")
        assert "Exit codes:" in text


def test_every_method_is_named_where_it_can_be_chosen():
    text = main.commands["explain"].get_help(click.Context(main.commands["explain"]))
    for method in (*METHODS, *FINDERS):
        assert method in text
        assert f"`{method}`" in GUIDE


def test_what_the_guide_shows_is_what_comes_out(dueto, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shown = re.findall(r"```console\n(.*?)```", GUIDE, re.DOTALL)
    parts = [part for block in shown for part in block.split("$ dueto ")[1:]]
    assert len(parts) >= 6
    for part in parts:
        command, _, expected = part.partition("\n")
        _, out, err = dueto(*shlex.split(command))
        assert doctest.OutputChecker().check_output(expected, out + err, doctest.ELLIPSIS), out + err
