"""Filters with numbers and null find what was sent, whatever the type of the property."""

import asyncio
import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest

from hoglet.hogql import QueryContext, compile_query
from hoglet.warehouse import ClickHouseWarehouse

NOW = datetime(2026, 1, 10, 12, tzinfo=UTC)
PROJECT = 880_083
MISSING = object()
SNOWFLAKE = 2**53 + 1
VALUES: list[Any] = [
    MISSING, None, "", 12345, "12345", 12345.5, 1, 0, True, "true", False, "abc",
    [12345], {"a": 1}, SNOWFLAKE, SNOWFLAKE - 1, str(SNOWFLAKE), 2**63, 1767571200,
    "2026-01-05T00:00:00Z", "2026-01-05 00:00:00", "10:30", "15:45:30", "5", "0.1",
    "0000-00-00 00:00:00", "Ünï", "it's", "a.b", "$x",
]  # fmt: skip
TYPES = (None, "String", "Numeric", "Boolean", "DateTime")


@pytest.fixture(scope="module")
def stored(warehouse: ClickHouseWarehouse) -> ClickHouseWarehouse:
    """One event for each value."""
    columns = ["project_id", "uuid", "event", "properties", "timestamp", "distinct_id", "person_id"]
    bags: list[Any] = [{} if value is MISSING else {"k": value} for value in VALUES]
    rows = [
        [PROJECT, UUID(int=n + 1), str(n), json.dumps(bag), NOW, "d", UUID(int=1)]
        for n, bag in enumerate(bags)
    ]
    asyncio.run(warehouse.insert("events", columns, rows))
    return warehouse


def matching_values(
    stored: ClickHouseWarehouse, condition: str, type_: str | None, **more: Any
) -> list[Any]:
    types = {("event", "k"): type_} if type_ else {}
    context = QueryContext(project_id=PROJECT, now=NOW, property_types=types)
    sql = f"SELECT event FROM events WHERE {condition} ORDER BY toInt(event)"
    compiled = compile_query(sql, context=context, **more)
    rows = asyncio.run(stored.query(compiled.sql, compiled.params)).rows
    return [VALUES[int(name)] for (name,) in rows]


def number(value: Any) -> float | None:
    """A number, or a text that is one."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        return float(value)
    except ValueError:
        return None


def is_missing(value: Any) -> bool:
    return value is MISSING or value is None


def equals(expected: float) -> Callable[[Any], bool]:
    return lambda value: number(value) == expected


@pytest.mark.parametrize("type_", TYPES)
@pytest.mark.parametrize(
    ("value", "is_match"),
    [
        (12345, equals(12345)),
        ([12345, 12345.5], lambda value: number(value) in {12345, 12345.5}),
        (12345.5, equals(12345.5)),
        ("12345", lambda value: str(value) == "12345"),
        ([None], is_missing),
        ([None, "abc"], lambda value: is_missing(value) or value == "abc"),
    ],
)
@pytest.mark.parametrize("negative", [False, True])
def test_equality(
    stored: ClickHouseWarehouse,
    type_: str | None,
    value: Any,
    is_match: Callable[[Any], bool],
    negative: bool,
) -> None:
    item = {"key": "k", "value": value, "operator": "is_not" if negative else "exact"}
    values = matching_values(stored, "{filters}", type_, filters={"properties": [item]})

    assert values == [value for value in VALUES if is_match(value) != negative]


@pytest.mark.parametrize("type_", TYPES)
@pytest.mark.parametrize("large", [SNOWFLAKE, 2**63])
def test_large_integers_are_compared_exactly(
    stored: ClickHouseWarehouse, type_: str | None, large: int
) -> None:
    expected = [value for value in VALUES if str(value) == str(large)]
    others = [value for value in VALUES if str(value) != str(large)]

    assert matching_values(stored, f"properties.k = {large}", type_) == expected
    assert matching_values(stored, f"{large} = properties.k", type_) == expected
    assert matching_values(stored, f"properties.k != {large}", type_) == others
    assert matching_values(stored, f"properties.k IN ({large})", type_) == expected
    assert matching_values(stored, f"properties.k NOT IN ({large})", type_) == others


def test_texts_without_a_date_are_no_times(stored: ClickHouseWarehouse) -> None:
    is_text = "match(toString(properties.k), '[^0-9]') and length(toString(properties.k)) < 25"
    times = matching_values(stored, f"properties.k > '1900-01-01' and {is_text}", "DateTime")

    assert times == ["2026-01-05T00:00:00Z", "2026-01-05 00:00:00"]
