"""Definitions created by captured events."""

from collections.abc import AsyncGenerator
from datetime import timedelta
from typing import Any

import msgspec
import pytest
from sqlalchemy import select

from hoglet.definitions import repository
from hoglet.definitions.tables import (
    EventDefinitionRow,
    EventPropertyRow,
    PropertyDefinitionRow,
)
from hoglet.definitions.tracker import DROPPED
from hoglet.functions.compile.hog import template_tree
from hoglet.functions.executable.model import ExecutableFunction
from hoglet.kit.clock import FixedClock
from hoglet.store.database import Database
from support.pipeline import Line, at, open_line

NOW = at("2026-05-01T12:00:00+00:00")
SECONDS = int(NOW.timestamp())


@pytest.fixture
async def line(database: Database, warehouse: Any, fresh_project_id: int) -> AsyncGenerator[Line]:
    async with open_line(database, warehouse, FixedClock(NOW), fresh_project_id) as opened:
        yield opened


def _event(name: str = "e", **properties: Any) -> dict[str, Any]:
    return {"event": name, "distinct_id": "u", "properties": properties}


async def _types(line: Line) -> dict[tuple[str, str], tuple[str | None, str]]:
    row = PropertyDefinitionRow
    async with line.database.read() as session:
        rows = await session.scalars(select(row).where(row.project_id == line.project_id))
        return {
            (each.kind, each.name): (each.property_type, each.form)
            for each in rows
            if each.name != "$ip"
        }


async def _events(line: Line) -> dict[str, Any]:
    row = EventDefinitionRow
    async with line.database.read() as session:
        rows = await session.scalars(select(row).where(row.project_id == line.project_id))
        return {each.name: each.last_seen_at for each in rows}


async def _pairs(line: Line) -> set[tuple[str, str]]:
    row = EventPropertyRow
    async with line.database.read() as session:
        rows = await session.scalars(select(row).where(row.project_id == line.project_id))
        return {(each.event, each.property) for each in rows if each.property != "$ip"}


@pytest.mark.parametrize("is_one_batch", [True, False])
@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ((5, "old"), ("Numeric", "mixed")),
        ((None, 1), ("Numeric", "integer")),
        (([], "a"), ("String", "mixed")),
        ((None, [], None), (None, "mixed")),
        (("a", None, "2026-01-01"), ("String", "text")),
    ],
)
async def test_the_first_type_stays(
    line: Line, is_one_batch: bool, values: tuple[Any, ...], expected: tuple[str | None, str]
) -> None:
    batches = [values] if is_one_batch else [(value,) for value in values]
    for batch in batches:
        await line.capture(*(_event(k=value) for value in batch))
        await line.work()

    assert await _types(line) == {("event", "k"): expected}


async def test_persons_and_groups_have_properties_of_their_own(line: Line):
    identify = {"$group_type": "team", "$group_key": "t", "$group_set": {"size": "L"}, "seen": 1}
    company = {"$group_type": "company", "$group_key": "c", "$group_set": {"size": 5}}
    await line.capture(
        _event("$groupidentify", **identify),
        _event("$groupidentify", **company),
        _event("buy", **{"$set": {"email": "a@b.c"}, "$set_once": {"first_at": SECONDS}}),
        _event("visit", utm_source="x", **{"$process_person_profile": False, "$set": {"no": 1}}),
    )
    await line.work()

    assert await _types(line) == {
        ("group_0", "size"): ("String", "text"),
        ("group_1", "size"): ("Numeric", "integer"),
        ("person", "email"): ("String", "text"),
        ("person", "first_at"): ("DateTime", "integer"),
        ("event", "utm_source"): ("String", "text"),
        ("event", "$process_person_profile"): ("Boolean", "boolean"),
    }
    assert set(await _events(line)) == {"$groupidentify", "buy", "visit"}
    async with line.database.read() as session:
        types = await repository.property_types(session, line.project_id)
    assert ("group", "size") not in types  # the group types do not agree
    assert types["group_1", "size"] == "Numeric"


async def test_what_transformations_leave_is_what_is_detected(line: Line):
    change = "let e := event; e.properties.a := 'text'; e.properties.b := null; e.properties.c := 1"
    line.functions.functions = [
        ExecutableFunction(
            id="0193e8c6-0000-7000-8000-0000000000aa",
            project_id=line.project_id,
            type="transformation",
            name="t",
            filter=msgspec.to_builtins(template_tree("{true}")),
            hog=f"{change}; return e",
        )
    ]
    await line.capture(_event(a=1, b=1))
    await line.work()

    types = await _types(line)
    assert types["event", "a"] == ("String", "text")
    assert types["event", "b"] == (None, "")
    assert types["event", "c"] == ("Numeric", "integer")


async def test_last_seen_moves_at_most_hourly(line: Line):
    clock: Any = line.clock
    seen: list[Any] = []
    for minutes in (0, 59, 2, 120):
        clock.advance(seconds=60 * minutes)
        await line.capture(_event())
        await line.work()
        line.forget_definitions()
        seen.append((await _events(line))["e"] - NOW)

    assert seen == [timedelta(minutes=minutes) for minutes in (0, 0, 61, 181)]


async def test_which_event_carried_which_property(line: Line):
    await line.capture(_event("a", x=1, **{"$feature/f": "on"}), _event("b", y=None))
    await line.work()
    await line.capture(_event("b", x=1), _event("a", x=[]))
    await line.work()

    assert await _pairs(line) == {("a", "x"), ("b", "y"), ("b", "x")}


async def test_names_beyond_the_limit_are_dropped_with_a_warning(line: Line):
    line.definitions._limit = 3
    await line.capture(
        *(_event(f"e{index}", **{f"p{index}": 1, "$set": {"p": 1}}) for index in range(6))
    )
    await line.work()
    await line.capture(_event("e9", p9=1), _event("e0", p0="text"))
    await line.work()

    types = await _types(line)
    recorded = [name for kind, name in types if kind == "event"]
    assert len(recorded) + 1 == 3  # with $ip
    assert ("person", "p") in types
    assert len(await _events(line)) == 3
    assert {event for event, _ in await _pairs(line)} <= set(await _events(line))
    assert {name for _, name in await _pairs(line)} <= set(recorded)
    await line.warnings.flush()
    async with line.database.read() as session:
        (warning,) = await line.events.warnings(session, line.project_id)
    assert warning.kind == DROPPED
    assert warning.count == (6 - 2) + 3 + 1 + 1


async def test_a_name_that_was_dropped_once_is_never_thought_to_be_of_one_form(line: Line):
    async with line.database.write() as session:
        await repository.save_dropped_kind(session, line.project_id, "event")
    await line.capture(_event(k="a", **{"$set": {"k": "a"}}))
    await line.work()

    types = await _types(line)
    assert types["event", "k"] == ("String", "mixed")
    assert types["person", "k"] == ("String", "text")


async def test_a_chosen_type_is_not_detected_away(line: Line):
    await line.capture(_event(k=1))
    await line.work()
    async with line.database.write() as session:
        row = await session.get(PropertyDefinitionRow, (line.project_id, "event", "k"))
        assert row is not None
        row.property_type = "String"
    await line.capture(_event(k=2), _event(k="x"))
    await line.work()

    assert await _types(line) == {("event", "k"): ("String", "mixed")}
