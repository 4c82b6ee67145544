"""Each page's examples run in an empty folder of their own, so that they may write files."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

# What builds the site, and what the site is made of, holds no doctests.
collect_ignore = ["conf.py", "site_pages.py"]
collect_ignore_glob = ["_build/*", "gallery/*", "generated/*", "pictures/*"]


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
