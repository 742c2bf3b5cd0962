"""Requests of few events that follow one another quickly are stored in few groups."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator
from typing import Any

import orjson
import pytest

from hoglet.events.spool import SPOOL_QUEUE
from hoglet.kit.clock import FixedClock
from hoglet.pipeline.ingest.sources import GroupLimits
from hoglet.store.database import Database
from support.pipeline import Line, at, open_line

FOR_EVER = GroupLimits(gather_seconds=3600)


@pytest.fixture
async def line(database: Database, warehouse: Any, fresh_project_id: int) -> AsyncGenerator[Line]:
    """A pipeline whose groups would gather events for ever."""
    clock = FixedClock(at("2026-05-01T12:00:00+00:00"))
    async with open_line(
        database, warehouse, clock, fresh_project_id, limits=FOR_EVER, uses_log=False
    ) as opened:
        yield opened


@pytest.fixture
def gate(line: Line, monkeypatch: pytest.MonkeyPatch) -> asyncio.Event:
    """Nothing is inserted before it is open."""
    is_open = asyncio.Event()
    insert = line.warehouse.insert_block

    async def insert_later(*arguments: Any, **more: Any) -> None:
        await is_open.wait()
        await insert(*arguments, **more)

    monkeypatch.setattr(line.warehouse, "insert_block", insert_later)
    return is_open


@contextlib.asynccontextmanager
async def working(line: Line) -> AsyncGenerator[None]:
    task = asyncio.create_task(line.batches.run())
    async with asyncio.timeout(60):
        yield
        line.batches.stop()
        await task


async def capture(line: Line, number: int) -> None:
    await line.capture({"event": "seen", "distinct_id": "a", "properties": {"number": number}})


async def spooled(line: Line, *, leased: int | None = None, ready: int | None = None) -> None:
    """Wait until so many requests are leased or wait for a group."""
    while True:
        depth = await line.queue.depth(SPOOL_QUEUE)
        if leased in (None, depth.leased) and ready in (None, depth.ready):
            return
        await asyncio.sleep(0.01)


async def stored(line: Line) -> list[int]:
    rows = await line.select("SELECT properties FROM events WHERE project_id = {p}")
    return sorted(orjson.loads(properties)["number"] for (properties,) in rows)


def groups(line: Line) -> float | None:
    return line.registry.get_sample_value("hoglet_warehouse_insert_seconds_count")


async def test_an_event_that_comes_alone_is_stored_at_once(line: Line):
    async with working(line):
        for number in range(4):
            await capture(line, number)
            await spooled(line, leased=0, ready=0)

    assert await stored(line) == [0, 1, 2, 3]


async def test_requests_that_come_faster_than_groups_are_gathered(line: Line, gate: asyncio.Event):
    async with working(line):
        await capture(line, 0)
        await spooled(line, leased=1)
        await capture(line, 1)
        await spooled(line, leased=2)
        gate.set()
        await spooled(line, leased=0, ready=0)
        for number in range(2, 9):
            await capture(line, number)
        await spooled(line, leased=0, ready=7)

    assert groups(line) == 2
    await line.work()
    assert groups(line) == 3
    assert await stored(line) == list(range(9))


async def test_what_was_gathered_is_stored(
    database: Database, warehouse: Any, fresh_project_id: int
):
    clock = FixedClock(at("2026-05-01T12:00:00+00:00"))
    limits = GroupLimits(gather_seconds=0.02)
    async with open_line(database, warehouse, clock, fresh_project_id, limits=limits) as line:
        await line.own_partitions()
        async with working(line):
            for number in range(30):
                await capture(line, number)
            while len(await stored(line)) < 30:  # noqa: ASYNC110 (the engine has no event for this)
                await asyncio.sleep(0.02)

    assert await stored(line) == list(range(30))
