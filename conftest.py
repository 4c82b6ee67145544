"""What examples and tests share: no picture stays open when one is over."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(autouse=True)
def _pictures_closed() -> Iterator[None]:
    """matplotlib warns of more than twenty figures; an example that draws one does not close it."""
    yield
    if pyplot := sys.modules.get("matplotlib.pyplot"):
        pyplot.close("all")
