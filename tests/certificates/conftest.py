"""A short search for exceptions, which every test of certificates has."""

import pytest

from dueto.certificates import search


@pytest.fixture(autouse=True)
def _short_search(monkeypatch):
    monkeypatch.setattr(search, "DRAWS", 2_000)
    monkeypatch.setattr(search, "BATCH", 500)
