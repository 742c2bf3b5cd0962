"""Seeds of generated tests: a few run in CI, the rest have the marker ``long``."""

from typing import Any

import pytest


def seeds(few: int, total: int) -> list[Any]:
    """Parameters 0 to ``total`` - 1; those from ``few`` on run only in ``make full``."""
    late = (pytest.param(seed, marks=pytest.mark.long) for seed in range(few, total))
    return [*range(few), *late]
