"""Parameters of repeated tests: a few in ``make test``, the rest marked ``slow`` or ``long``."""

from collections.abc import Iterable
from typing import Any

import pytest


def seeds(few: int, total: int) -> list[Any]:
    """Parameters 0 to ``total`` - 1; those from ``few`` on run only in ``make full``."""
    late = (pytest.param(seed, marks=pytest.mark.long) for seed in range(few, total))
    return [*range(few), *late]


def thinned(values: Iterable[Any], every: int) -> list[Any]:
    """Parameters of which each ``every``-th runs in ``make test``, and the others in ``make slow``.

    For tests of one kind of input in many spellings.
    """
    slow = pytest.mark.slow
    return [
        value if index % every == 0 else pytest.param(value, marks=slow)
        for index, value in enumerate(values)
    ]
