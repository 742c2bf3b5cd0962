"""Only properties whose values all had one form are read from their typed column."""

from collections.abc import AsyncGenerator
from typing import Any

import pytest

from hoglet.definitions import repository
from hoglet.definitions.tracker import MAX_WAITS
from hoglet.hogql.compile import compile_query
from hoglet.hogql.context import QueryContext
from hoglet.kit.clock import FixedClock
from hoglet.store.database import Database
from support.pipeline import Line, at, open_line
from support.seeds import thinned

NOW = at("2026-05-01T12:00:00+00:00")
TYPED = "`mix`.:String"
LARGE = 2**63


@pytest.fixture
async def line(database: Database, warehouse: Any, fresh_project_id: int) -> AsyncGenerator[Line]:
    async with open_line(database, warehouse, FixedClock(NOW), fresh_project_id) as opened:
        yield opened


async def _capture(line: Line, *values: Any, name: str = "mix") -> None:
    await line.capture(
        *({"event": "e", "distinct_id": "u", "properties": {name: value}} for value in values)
    )
    await line.work()


async def _read(line: Line, expression: str) -> tuple[list[Any], str]:
    """What a query of this moment reads, sorted as text, and its SQL."""
    async with line.database.read() as session:
        context = QueryContext(
            project_id=line.project_id,
            property_types=await repository.property_types(session, line.project_id),
            property_forms=await repository.property_forms(session, line.project_id),
        )
    query = compile_query(f"SELECT {expression} FROM events", context=context)
    answer = await line.warehouse.query(query.sql, query.params)
    return sorted((row[0] for row in answer.rows), key=str), query.sql


async def test_text_alone_is_read_from_the_typed_column(line: Line):
    await _capture(line, "a", "", "2026-01-01", None)

    values, sql = await _read(line, "properties.mix")

    assert values == ["", "2026-01-01", None, "a"]
    assert TYPED in sql
    assert "multiIf" not in sql


@pytest.mark.parametrize("other", [[1, "x"], {"deep": 1}, 5, True])
async def test_a_value_of_another_form_is_found_in_a_later_group(line: Line, other: Any):
    await _capture(line, "a")
    await _capture(line, other)

    values, sql = await _read(line, "properties.mix")

    assert "multiIf" in sql
    assert len(values) == 2
    assert None not in values


async def test_forms_mixed_within_a_group_are_seen(line: Line):
    await _capture(line, "a", [1])

    values, _ = await _read(line, "properties.mix")

    assert values == ["[1]", "a"]


async def test_a_list_before_the_first_text_is_still_read(line: Line):
    await _capture(line, [1])
    await _capture(line, "a")

    values, _ = await _read(line, "properties.mix")

    assert values == ["[1]", "a"]


async def test_numbers_are_read_whatever_their_kind(line: Line):
    await _capture(line, 5, 2.5, -1, name="size")
    values, sql = await _read(line, "properties.size")
    assert values == [-1.0, 2.5, 5.0]
    assert "accurateCastOrNull" not in sql

    await _capture(line, LARGE, name="size")
    values, _ = await _read(line, "properties.size")
    assert values == [-1.0, 2.5, 5.0, float(LARGE)]


async def test_a_new_process_knows_what_was_uniform(line: Line):
    await _capture(line, "a")
    line.forget_definitions()
    await _capture(line, {"deep": 1})

    values, _ = await _read(line, "properties.mix")

    assert values == ["a", '{"deep":1}']


async def test_properties_of_persons_too(line: Line):
    person = {"event": "e", "distinct_id": "u", "$set": {"plan": "pro"}}
    await line.capture(person)
    await line.work()
    first, sql = await _read(line, "person.properties.plan")
    await line.capture(person | {"$set": {"plan": ["pro"]}})
    await line.work()
    second, _ = await _read(line, "person.properties.plan")

    assert first == ["pro"]
    assert ".:String" in sql
    assert second == ['["pro"]', '["pro"]']


@pytest.mark.parametrize("tables_url", thinned(["sqlite", "postgres"], 2), indirect=True)
async def test_a_project_that_keeps_changing_forms_waits_only_so_often(line: Line):
    waits = 0
    for number in range(MAX_WAITS + 5):
        await _capture(line, "a", name=f"p{number}")
        before = line.definitions._waits[line.project_id]
        await _capture(line, [1], name=f"p{number}")
        waits += line.definitions._waits[line.project_id] - before

    values, _ = await _read(line, f"properties.p{MAX_WAITS + 4}")
    async with line.database.read() as session:
        assert await repository.property_forms(session, line.project_id) == {}
    assert waits == MAX_WAITS
    assert sorted(value for value in values if value) == ["[1]", "a"]
