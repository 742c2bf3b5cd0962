"""Functions answer values that were worked out elsewhere; the list is data."""

import json
from pathlib import Path

import pytest

from support.hogql_world import HogqlWorld

_LINES = (Path(__file__).parent / "hogql" / "function_values.txt").read_text().splitlines()
CASES = [line.split(" => ", 1) for line in _LINES if not line.startswith("#")]


def test_values(hogql_world: HogqlWorld) -> None:
    assert len(CASES) > 100
    wrong: list[str] = []
    for expression, value in CASES:
        [[found]] = hogql_world.rows(f"SELECT {expression}")
        expected = json.loads(value)
        fits = pytest.approx(expected) if isinstance(expected, float) else expected
        if found != fits:
            wrong.append(f"{expression}: {found!r}, expected {value}")
    assert wrong == []
