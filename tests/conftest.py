"""What all tests share: the folder of benchmark data, and hypothesis with the same draws on every CI run."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("local", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, database=None, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "local")


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The benchmark data that does not ship: DUETO_DATA, or ../shared/data beside the repository."""
    beside = Path(__file__).parents[2] / "shared" / "data"
    folder = Path(os.environ.get("DUETO_DATA") or beside)
    if not folder.is_dir():
        pytest.skip("set DUETO_DATA to the folder of benchmark data to run this test")
    return folder
