"""Events whose commit keeps failing do not delay others.

The database refuses by triggers, which stand for a value that its driver or a constraint rejects.
"""

import asyncio
from collections.abc import AsyncGenerator
from datetime import timedelta
from typing import Any
from uuid import UUID

import msgspec
import pytest
from sqlalchemy import select, text

from hoglet.events.tables import PersonRow
from hoglet.functions.compile.hog import template_tree
from hoglet.functions.executable.model import ExecutableFunction
from hoglet.functions.jobs import decode_invoke
from hoglet.kit.clock import FixedClock
from hoglet.pipeline.ingest.split_group import REFUSED_EVENTS
from hoglet.queue.dead_letters import failed_jobs
from hoglet.store.database import Database
from support.pipeline import Line, at, open_line

NOW = at("2026-05-01T12:00:00+00:00")
DESTINATION = "0193e8c6-0000-7000-8000-0000000000aa"
_REFUSE = (
    "CREATE TRIGGER refuse BEFORE INSERT ON {table} WHEN {condition} "
    "BEGIN SELECT RAISE(ABORT, 'no such value'); END"
)
POISONOUS_ID = ("person_distinct_ids", "NEW.distinct_id LIKE '%poison%'")
POISONOUS_RUN = ("jobs", "NEW.queue = 'functions.invoke' AND instr(NEW.payload, 'poison') > 0")
EVERY_ID = ("person_distinct_ids", "true")


@pytest.fixture
async def line(
    sqlite_database: Database, warehouse: Any, fresh_project_id: int
) -> AsyncGenerator[Line]:
    clock = FixedClock(NOW)
    async with open_line(sqlite_database, warehouse, clock, fresh_project_id) as opened:
        opened.functions.functions = [
            ExecutableFunction(
                id=DESTINATION,
                project_id=fresh_project_id,
                type="destination",
                name="d",
                filter=msgspec.to_builtins(template_tree("{true}")),
            )
        ]
        yield opened


async def refuse(line: Line, table: str, condition: str) -> None:
    async with line.database.write() as session:
        await session.execute(text(_REFUSE.format(table=table, condition=condition)))


async def work_until_idle(line: Line) -> None:
    """Work as long as the pauses between attempts last, on the test's clock."""
    for _ in range(4):
        while await line.batches.work_once():
            pass
        line.clock.advance(seconds=301)  # pyright: ignore[reportAttributeAccessIssue]


async def stored(line: Line) -> dict[str, int]:
    query = "SELECT distinct_id, count() FROM events WHERE project_id = {p} GROUP BY 1"
    return dict(await line.select(query))


async def delivered(line: Line) -> set[str]:
    distinct_ids: set[str] = set()
    while jobs := await line.runs():
        distinct_ids |= {decode_invoke(job.payload).globals["event"]["distinct_id"] for job in jobs}
    return distinct_ids


def warnings(line: Line) -> dict[str, int]:
    return {kind: value.count for (_, kind), value in line.warnings._counts.items()}


def event(number: int, distinct_id: str) -> dict[str, Any]:
    return {"event": "e", "distinct_id": distinct_id, "uuid": str(UUID(int=number + 1))}


@pytest.mark.parametrize(
    ("refused", "in_one_batch"),
    [
        (POISONOUS_ID, True),
        pytest.param(POISONOUS_ID, False, marks=pytest.mark.slow),
        pytest.param(POISONOUS_RUN, True, marks=pytest.mark.slow),
    ],
    ids=["person", "person in batches", "run"],
)
async def test_one_event_is_isolated(line: Line, refused: tuple[str, str], *, in_one_batch: bool):
    names = [f"u{number}" for number in range(9)]
    names[5] = "poison"
    events = [event(number, name) for number, name in enumerate(names)]
    for batch in [events] if in_one_batch else [[event] for event in events]:
        await line.capture(*batch)
    await refuse(line, *refused)

    await work_until_idle(line)

    assert await stored(line) == dict.fromkeys(names, 1)
    assert await delivered(line) == {*names} - {"poison"}
    assert {letter.globals["event"]["distinct_id"] for letter in line.dead_letters.recorded} == {
        "poison"
    }
    assert "no such value" in line.dead_letters.recorded[-1].error
    assert warnings(line)["functions_left_out"] == 1
    assert ("changes_not_stored" in warnings(line)) is (refused is POISONOUS_ID)
    assert (await line.queue.depth("spool")).ready == 0
    assert line.health.problem() is None


async def test_an_event_of_which_nothing_can_be_kept_stays_in_the_spool(line: Line):
    await line.capture(event(0, "u0"), event(5, "poison"), event(1, "u1"))
    await refuse(line, "known_uuids", f"NEW.event_uuid = '{UUID(int=6).hex}'")

    await work_until_idle(line)

    assert await delivered(line) == {"u0", "u1"}
    assert warnings(line) == {"event_not_stored": 1}
    async with line.database.read() as session:
        (job,) = await failed_jobs(session)
    refused = "The event cannot be stored. The database refuses the event: no such value"
    assert (job.queue, job.error) == ("spool", refused)
    assert await stored(line) == {"u0": 1, "poison": 1, "u1": 1}  # inserted before the commit


@pytest.mark.slow
async def test_a_database_that_refuses_every_event_loses_none(line: Line):
    """Not the events are to blame: they wait, visibly, until the database takes them."""
    names = [f"u{number}" for number in range(30)]
    await line.capture(*[event(number, name) for number, name in enumerate(names)])
    await refuse(line, *EVERY_ID)

    await work_until_idle(line)

    assert "no such value" in (line.health.problem() or "")
    assert await delivered(line) == set()
    async with line.database.read() as session:
        assert await failed_jobs(session) == []
    async with line.database.write() as session:
        await session.execute(text("DROP TRIGGER refuse"))
    line.clock.advance(seconds=timedelta(minutes=6).seconds)  # pyright: ignore[reportAttributeAccessIssue]
    await line.work()
    assert await stored(line) == dict.fromkeys(names, 1)
    assert await delivered(line) == {*names}


@pytest.mark.slow
async def test_nineteen_refused_events_are_isolated_before_the_database_is_blamed(line: Line):
    """Only events before the first one that is accepted count."""
    refused = [f"poison{number}" for number in range(REFUSED_EVENTS - 1)]
    names = [*refused, "sound"]
    await line.capture(*[event(number, name) for number, name in enumerate(names)])
    await refuse(line, *POISONOUS_ID)

    await work_until_idle(line)

    assert await stored(line) == dict.fromkeys(names, 1)
    assert await delivered(line) == {"sound"}
    assert warnings(line)["changes_not_stored"] == len(refused)
    assert line.health.problem() is None


async def test_a_refusal_that_passes_costs_nothing(line: Line):
    await line.capture(event(0, "poison"), event(1, "u1"))
    await refuse(line, *POISONOUS_ID)
    await line.batches.work_once()
    assert "no such value" in (line.health.problem() or "")
    async with line.database.write() as session:
        await session.execute(text("DROP TRIGGER refuse"))
    await work_until_idle(line)

    assert await stored(line) == {"poison": 1, "u1": 1}
    assert await delivered(line) == {"poison", "u1"}
    assert warnings(line) == {}


async def test_the_group_behind_does_not_see_what_was_left_out(line: Line):
    """It was processed on the first result of the refused group, and is processed again."""
    await line.capture(setting({"a": "poison"}))
    await refuse(line, "persons", "instr(NEW.properties, 'poison') > 0")
    for _ in range(2):
        await line.batches.work_once()
        line.clock.advance(seconds=301)  # pyright: ignore[reportAttributeAccessIssue]
    await line.capture(setting({"b": 1}))
    working = asyncio.create_task(line.batches.run())
    async with asyncio.timeout(60):
        while (depth := await line.queue.depth("spool")).ready + depth.leased:  # noqa: ASYNC110
            await asyncio.sleep(0.02)
    line.batches.stop()
    await working

    async with line.database.read() as session:
        properties = select(PersonRow.properties).where(PersonRow.project_id == line.project_id)
        assert list(await session.scalars(properties)) == ['{"b":1}']
    assert await stored(line) == {"u": 2}


def setting(properties: dict[str, Any]) -> dict[str, Any]:
    return {"event": "e", "distinct_id": "u", "properties": {"$set": properties}}
