"""The batch worker reports bursts, which runs give way to."""

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

import pytest

from hoglet.events.spool import SPOOL_QUEUE
from hoglet.kit.clock import FixedClock
from hoglet.pipeline.ingest.sources import GroupLimits
from hoglet.store.database import Database
from support.pipeline import Line, at, open_line


@pytest.fixture
async def line(database: Database, warehouse: Any, fresh_project_id: int) -> AsyncGenerator[Line]:
    """A pipeline whose groups have up to four events."""
    clock = FixedClock(at("2026-05-01T12:00:00+00:00"))
    async with open_line(
        database, warehouse, clock, fresh_project_id, limits=GroupLimits(events=4), uses_log=False
    ) as opened:
        yield opened


@pytest.fixture
def during_inserts(line: Line, monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Whether there was a burst, at each insert."""
    seen: list[bool] = []
    insert = line.warehouse.insert_block

    async def recorded(*arguments: Any, **more: Any) -> None:
        seen.append(line.batches._bursts.has_precedence)
        await insert(*arguments, **more)

    monkeypatch.setattr(line.warehouse, "insert_block", recorded)
    monkeypatch.setattr(line.batches._bursts, "_now", lambda: 0.0)  # a burst ends after a while
    return seen


async def store(line: Line, requests: int) -> None:
    """Store requests of one event each, and wait until the worker is idle."""
    for number in range(requests):
        await line.capture({"event": "seen", "distinct_id": str(number)})
    task = asyncio.create_task(line.batches.run())
    async with asyncio.timeout(60):
        while True:
            depth = await line.queue.depth(SPOOL_QUEUE)
            if not depth.leased and not depth.ready:
                break
            await asyncio.sleep(0.01)
        line.batches.stop()
        await task


async def test_many_events_are_a_burst_until_the_last_is_stored(
    line: Line, during_inserts: list[bool]
):
    await store(line, 12)

    assert during_inserts == [True, True, True]
    assert not line.batches._bursts.has_precedence


async def test_few_events_are_no_burst(line: Line, during_inserts: list[bool]):
    await store(line, 1)

    assert during_inserts == [False]
    assert line.batches._bursts.number == 0
