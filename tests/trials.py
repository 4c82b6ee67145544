"""How many examples a property is tried on."""

from __future__ import annotations

import os
from typing import Any

from hypothesis import settings

CI = bool(os.environ.get("CI"))


def trials(n: int = 100, **more: Any) -> settings:
    """Settings for n examples; for a third of them on CI, where each run draws the same ones."""
    return settings(max_examples=min(n, max(5, n // 3)) if CI else n, **more)
