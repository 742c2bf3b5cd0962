"""Functions answer values that were worked out elsewhere; the list is data.

Many expressions go into one query, since a query costs more than a call. Text after ``# FROM`` is
the table of the lines below it.
"""

import json
import re
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from hoglet.hogql.functions import functions
from support.hogql_world import HogqlWorld

_AT_ONCE = 60


class Case(NamedTuple):
    """An expression over a table (empty: none), and the value it must have."""

    expression: str
    value: Any
    table: str


def _cases() -> list[Case]:
    cases: list[Case] = []
    table = ""
    path = Path(__file__).parent / "hogql" / "function_values.txt"
    for line in path.read_text().splitlines():
        if line.startswith("# FROM "):
            table = line.removeprefix("# ")
        elif not line.startswith("#"):
            expression, value = line.split(" => ", 1)
            cases.append(Case(expression, json.loads(value), table))
    return cases


CASES = _cases()
PARTS = [
    part[start : start + _AT_ONCE]
    for part in ([each for each in CASES if not each.table], [each for each in CASES if each.table])
    for start in range(0, len(part), _AT_ONCE)
]


def fits(value: Any, expected: Any) -> bool:
    """Equal, and floats nearly."""
    if isinstance(expected, list):
        same = isinstance(value, list | tuple) and len(value) == len(expected)
        return same and all(map(fits, value, expected))
    if isinstance(expected, float):
        return isinstance(value, int | float) and value == pytest.approx(expected)
    return value == expected


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part[0].expression.split("(")[0])
def test_values(part: list[Case], hogql_world: HogqlWorld) -> None:
    columns = ", ".join(f"{case.expression} AS v{index}" for index, case in enumerate(part))
    [row] = hogql_world.rows(f"SELECT {columns} {part[0].table}")

    wrong = [
        f"{case.expression}: {value!r}, expected {case.value!r}"
        for case, value in zip(part, row, strict=True)
        if not fits(value, case.value)
    ]
    assert wrong == []


WITHOUT_VALUE = {
    "nothing": "it has no value",
    "stochasticLinearRegression": "it learns from random starts",
    "stochasticLogisticRegression": "it learns from random starts",
    "untuple": "it gives several columns",
}
"""Functions that only the examples of the function tables run, with the reason."""


def test_every_function_has_a_value() -> None:
    """A new function comes with its value, a random one with what always holds of it."""
    called = {name for case in CASES for name in re.findall(r"\b(\w+)\(", case.expression)}

    assert {function.name for function in functions()} - called == set(WITHOUT_VALUE)
