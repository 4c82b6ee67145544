"""Files are written whole or not at all, and what is there and no regular file is left alone."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

import pytest

from dueto import InputError
from dueto.outputs import whole

if TYPE_CHECKING:
    from pathlib import Path


def write(path: Path, text: str) -> None:
    with whole(path) as part:
        part.write_text(text, encoding="utf-8")


@pytest.mark.parametrize("there", [True, False])
def test_a_link_is_followed_and_stays(tmp_path: Path, there: bool):
    target, link = tmp_path / "far" / "target.html", tmp_path / "link.html"
    target.parent.mkdir()
    if there:
        target.write_text("old")
    link.symlink_to("far/target.html")
    write(link, "new")
    assert link.is_symlink()
    assert target.read_text() == "new"
    assert sorted(p.name for p in tmp_path.rglob("*")) == ["far", "link.html", "target.html"]


@pytest.mark.parametrize("linked", [True, False])
def test_what_is_no_regular_file_is_refused_and_left_as_it_is(tmp_path: Path, linked: bool):
    pipe = path = tmp_path / "pipe.html"
    os.mkfifo(pipe)
    if linked:
        path = tmp_path / "link.html"
        path.symlink_to(pipe)
    with pytest.raises(InputError, match=r"cannot write .*: what is there is no regular file; give another name"):
        write(path, "new")
    assert stat.S_ISFIFO(pipe.lstat().st_mode)
    with pytest.raises(InputError, match="no regular file"):
        write(tmp_path, "new")
    assert tmp_path.is_dir()
