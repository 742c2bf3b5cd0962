"""Only properties whose values all had one form are read from their typed column."""

from collections.abc import AsyncGenerator
from typing import Any

import pytest
from sqlalchemy.ext.asyncio import AsyncSession

from hoglet.definitions import repository
from hoglet.definitions.repository import DetectedProperty, PropertyKey
from hoglet.definitions.tracker import MAX_FRACTION_WAITS, MAX_WAITS
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


async def _form(line: Line, name: str) -> str | None:
    async with line.database.read() as session:
        forms = await repository.property_forms(session, line.project_id)
    return forms.get(("event", name))


async def _save_form(session: AsyncSession, line: Line, form: str) -> None:
    properties: dict[PropertyKey, DetectedProperty] = {
        ("event", "size"): DetectedProperty("Numeric", form)
    }
    await repository.save_properties(session, line.project_id, properties, NOW)


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


async def test_integers_are_read_from_their_column_until_there_are_fractions(line: Line):
    await _capture(line, 5, -(2**53), name="size")
    values, sql = await _read(line, "properties.size")
    assert values == [float(-(2**53)), 5.0]
    assert ".:Float64" not in sql
    texts, _ = await _read(line, "toString(properties.size)")
    assert texts == [str(-(2**53)), "5"]

    await _capture(line, 2.5, 7.0, 1e300, name="size")
    values, _ = await _read(line, "properties.size")
    assert values == [float(-(2**53)), 1e300, 2.5, 5.0, 7.0]
    assert await _form(line, "size") == "number"

    await _capture(line, "large", name="size")
    values, _ = await _read(line, "toString(properties.size)")
    assert "large" in values
    assert len(values) == 6
    assert await _form(line, "size") is None


async def test_readers_of_this_process_are_told_of_a_form_before_its_rows_are_stored(
    line: Line, monkeypatch: pytest.MonkeyPatch
):
    """Else the batch would also have to wait until their definitions expire."""
    await _capture(line, 1)
    forms: list[str] = []

    async def insert(*arguments: Any, **more: Any) -> None:
        forms.append("rows")
        await insert_block(*arguments, **more)

    insert_block = line.warehouse.insert_block
    monkeypatch.setattr(line.warehouse, "insert_block", insert)
    line.definitions._on_detected = [lambda project_id: forms.append(f"form of {project_id}")]
    await _capture(line, 1.5)

    assert forms[:2] == [f"form of {line.project_id}", "rows"]


async def test_fractions_before_integers_need_no_mark(line: Line):
    await _capture(line, 2.5, name="size")
    await _capture(line, 5, name="size")

    values, _ = await _read(line, "properties.size")

    assert values == [2.5, 5.0]
    assert await _form(line, "size") == "number"


@pytest.mark.parametrize("tables_url", ["sqlite", "postgres"], indirect=True)
@pytest.mark.parametrize(
    ("first", "second", "form"),
    [
        ("integer", "number", "number"),
        ("number", "integer", "number"),
        ("integer", "integer", "integer"),
        ("integer", "", "integer"),
        ("", "integer", "integer"),
        ("integer", "text", None),
        ("mixed", "integer", None),
    ],
)
async def test_processes_that_store_different_forms_add_up(
    line: Line, first: str, second: str, form: str | None
):
    async with line.database.write() as session:
        for stored in (first, second):
            await _save_form(session, line, stored)

    assert await _form(line, "size") == form


@pytest.mark.parametrize("tables_url", ["sqlite", "postgres"], indirect=True)
async def test_a_process_that_knows_integers_does_not_undo_mixed(line: Line):
    async with line.database.write() as session:
        await _save_form(session, line, "mixed")
        await repository.mark_fractional(session, line.project_id, [("event", "size")])

    assert await _form(line, "size") is None


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
async def test_a_project_with_many_fractions_waits_only_so_often(line: Line):
    waits = 0
    for number in range(MAX_FRACTION_WAITS + 3):
        await _capture(line, 1, name=f"p{number}")
        before = line.definitions._fraction_waits[line.project_id]
        await _capture(line, 2.5, name=f"p{number}")
        waits += line.definitions._fraction_waits[line.project_id] - before

    values, _ = await _read(line, f"properties.p{MAX_FRACTION_WAITS + 2}")
    async with line.database.read() as session:
        forms = await repository.property_forms(session, line.project_id)
    numeric = {form for (kind, name), form in forms.items() if kind == "event" and name[0] == "p"}
    assert waits == MAX_FRACTION_WAITS
    assert numeric == {"number"}
    assert [value for value in values if value] == [1.0, 2.5]
    assert line.definitions._waits[line.project_id] == 0


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
