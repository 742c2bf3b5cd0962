"""Projects with few events share a group: one insert and one commit for all of them."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Iterable
from typing import Any

import msgspec
import pytest

from hoglet.events.spool import SPOOL_QUEUE
from hoglet.functions.compile.hog import template_tree
from hoglet.functions.executable.model import ExecutableFunction
from hoglet.kit.clock import FixedClock
from hoglet.pipeline.ingest.replication import COPIES_QUEUE
from hoglet.pipeline.ingest.sources import GroupLimits
from hoglet.store.database import Database
from hoglet.warehouse.errors import WarehouseDown
from support.pipeline import GivenFunctions, Line, at, open_line

NOW = at("2026-05-01T12:00:00+00:00")
LIMITS = GroupLimits(small=10)
APART = 1_000_000_000
"""Between the ids of a test's projects, as other tests use the same warehouse."""


@pytest.fixture
async def line(
    sqlite_database: Database, warehouse: Any, fresh_project_id: int
) -> AsyncGenerator[Line]:
    async with open_line(
        sqlite_database,
        warehouse,
        FixedClock(NOW),
        fresh_project_id,
        limits=LIMITS,
        shares_workers=False,
        uses_log=False,
    ) as opened:
        yield opened


@contextlib.contextmanager
def project(line: Line, number: int) -> Any:
    """The line captures for and reads from another project."""
    first = line.project_id
    line.project_id = first + number * APART
    yield line.project_id
    line.project_id = first


async def capture(line: Line, number: int, *, events: int = 1, **properties: Any) -> None:
    with project(line, number):
        await line.capture(
            *(
                {
                    "event": f"event of {number}",
                    "distinct_id": "same id",
                    "properties": {**properties, "$set": {"project": number}},
                }
                for _ in range(events)
            )
        )
    line.clock.advance(seconds=0.001)  # pyright: ignore[reportAttributeAccessIssue]


async def stored(line: Line, number: int) -> dict[str, int]:
    with project(line, number):
        rows = await line.select(
            "SELECT event, count() FROM events WHERE project_id = {p} GROUP BY event"
        )
    return dict(rows)


def inserts(line: Line) -> float:
    return line.registry.get_sample_value("hoglet_warehouse_insert_seconds_count") or 0


def give_functions(line: Line, functions: dict[int, list[ExecutableFunction]]) -> None:
    """Functions by the number of their project."""
    first = line.project_id

    async def load_runnable(project_id: int, kinds: Any) -> list[ExecutableFunction]:
        line.functions.functions = functions.get((project_id - first) // APART, [])
        return await GivenFunctions.load_runnable(line.functions, project_id, kinds)

    async def version_stamp(project_id: int) -> str:
        return f"{project_id}:{id(functions)}"

    line.functions.load_runnable = load_runnable
    line.functions.version_stamp = version_stamp


def destination(line: Line, number: int) -> ExecutableFunction:
    project_id = line.project_id + number * APART
    return ExecutableFunction(
        id=f"0193e8c6-0000-7000-8000-{project_id:012}",
        project_id=project_id,
        type="destination",
        name="d",
        filter=msgspec.to_builtins(template_tree("{true}")),
    )


async def test_one_insert_stores_the_events_of_several_projects(line: Line):
    give_functions(line, {number: [destination(line, number)] for number in (0, 1)})
    for number in (0, 1, 2, 1, 0):
        await capture(line, number)

    assert await line.batches.work_once()
    assert inserts(line) == 1
    assert not await line.batches.work_once()

    assert [await stored(line, number) for number in range(3)] == [
        {"event of 0": 2}, {"event of 1": 2}, {"event of 2": 1},
    ]  # fmt: skip
    assert sorted(job.lane or "" for job in await line.runs()) == sorted(
        [destination(line, 0).id, destination(line, 1).id] * 2
    )
    while await line.copies.flush():
        pass
    for number in range(3):
        with project(line, number):
            persons = await line.select("SELECT properties FROM persons WHERE project_id = {p}")
        assert persons == [(f'{{"project":{number}}}',)]


async def test_a_project_with_more_events_is_stored_by_itself(line: Line):
    await capture(line, 0)
    for _ in range(3):
        await capture(line, 1, events=4)
    await capture(line, 2)

    sizes: list[list[int]] = []
    while (group := await line.batches._next_group(LIMITS)) is not None:
        sizes.append([(each.project_id - line.project_id) // APART for each in group.projects])
        async with line.database.write() as session:
            await group.finish(session)

    assert sizes == [[0, 2], [1]]


async def test_projects_do_not_share_groups_if_more_waits_than_one_takes(line: Line):
    """Each project costs as much as ten events, so groups of many events of one are cheaper."""
    for number in (0, 1, 0, 1, 0):
        await capture(line, number)

    sizes: list[list[tuple[int, int]]] = []
    while (group := await line.batches._next_group(GroupLimits(small=10, batches=4))) is not None:
        parts = [
            ((each.project_id - line.project_id) // APART, len(each.parts))
            for each in group.projects
        ]
        sizes.append(parts)
        async with line.database.write() as session:
            await group.finish(session)

    assert sizes == [[(0, 3)], [(1, 2)]]


async def test_what_was_begun_together_is_repeated_together(line: Line, monkeypatch: Any):
    """The engine drops a block with a token that it knows, whatever is in it."""
    insert = line.warehouse.insert_block

    async def insert_and_fail(*arguments: Any, **more: Any) -> None:
        await insert(*arguments, **more)
        raise WarehouseDown("gone")

    for number in range(2):
        await capture(line, number)
    monkeypatch.setattr(line.warehouse, "insert_block", insert_and_fail)
    line.batches.stop()  # it does not wait before it tries again
    await line.batches.work_once()
    monkeypatch.setattr(line.warehouse, "insert_block", insert)
    await capture(line, 0)
    while await line.batches.work_once():
        pass

    assert [await stored(line, number) for number in range(2)] == [
        {"event of 0": 2}, {"event of 1": 1},
    ]  # fmt: skip


async def test_a_project_whose_functions_cannot_be_loaded_delays_no_other(line: Line):
    broken = msgspec.structs.replace(destination(line, 1), filter={"no": "tree"})
    give_functions(line, {1: [broken]})
    for number in range(3):
        await capture(line, number)

    for _ in range(3):
        await line.batches.work_once()

    assert [await stored(line, number) for number in range(3)] == [
        {"event of 0": 1}, {}, {"event of 2": 1},
    ]  # fmt: skip
    depth = await line.queue.depth(SPOOL_QUEUE)
    assert (depth.ready, depth.delayed, depth.leased) == (0, 1, 0)
    give_functions(line, {})
    line.clock.advance(seconds=600)  # pyright: ignore[reportAttributeAccessIssue]
    await line.batches.work_once()
    assert await stored(line, 1) == {"event of 1": 1}


async def test_projects_wait_for_readers_of_changed_properties_at_once(
    line: Line, monkeypatch: pytest.MonkeyPatch
):
    """One wait of seconds before the insert, and one job with the persons, for all of them."""
    waits: list[tuple[list[int], float]] = []
    tracker = line.definitions

    async def record(projects: Iterable[int]) -> None:
        waits.append((sorted(projects), inserts(line)))

    monkeypatch.setattr(tracker, "until_readers_know", record)
    forms: list[dict[str, Any]] = [{"changes": "text"}, {"changes": ["list"]}]
    for properties in forms:
        for number in range(3):
            await capture(line, number, **(properties if number else {}))
        assert await line.batches.work_once()

    projects = [line.project_id + number * APART for number in range(3)]
    assert waits == [(projects, 0), (projects, 1)]
    assert sorted(tracker._readers_know_at) == projects[1:]
    depth = await line.queue.depth(COPIES_QUEUE)
    assert depth.ready == 1  # the second group changes no person


async def test_an_event_that_kills_the_worker_costs_no_other_project_its_runs(line: Line):
    program = "if (event.properties.kills) { while (true) {} } return event"
    endless = msgspec.structs.replace(
        destination(line, 1), type="transformation", hog=program, filter=None
    )
    give_functions(line, {0: [destination(line, 0)], 1: [endless], 2: [destination(line, 2)]})
    line.batches._processor.calls._deadline = 0.3  # pyright: ignore[reportAttributeAccessIssue]
    await capture(line, 0)
    await capture(line, 1, kills=True)
    await capture(line, 1)
    await capture(line, 2)

    while await line.batches.work_once():
        pass

    assert [await stored(line, number) for number in range(3)] == [
        {"event of 0": 1}, {"event of 1": 2}, {"event of 2": 1},
    ]  # fmt: skip
    assert len(await line.runs()) == 2


async def test_groups_are_gathered_for_all_projects(line: Line, monkeypatch: pytest.MonkeyPatch):
    is_open, insert = asyncio.Event(), line.warehouse.insert_block
    line.batches._limits = GroupLimits(gather_seconds=3600)

    async def insert_later(*arguments: Any, **more: Any) -> None:
        await is_open.wait()
        await insert(*arguments, **more)

    async def spooled(*, leased: int, ready: int) -> None:
        while True:
            depth = await line.queue.depth(SPOOL_QUEUE)
            if (depth.leased, depth.ready) == (leased, ready):
                return
            await asyncio.sleep(0.01)

    monkeypatch.setattr(line.warehouse, "insert_block", insert_later)
    working = asyncio.create_task(line.batches.run())
    async with asyncio.timeout(60):
        await capture(line, 0)
        await spooled(leased=1, ready=0)
        await capture(line, 1)
        await spooled(leased=2, ready=0)
        is_open.set()
        await spooled(leased=0, ready=0)
        for number in range(3):
            await capture(line, number)
        await spooled(leased=0, ready=3)
        line.batches.stop()
        await working
    assert inserts(line) == 2
    await line.work()
    assert inserts(line) == 3
