"""The clock is set back an hour between capture and the pipeline."""

from collections.abc import AsyncGenerator
from typing import Any

import pytest

from hoglet.kit.clock import FixedClock
from hoglet.store.database import Database
from support.pipeline import Line, at, open_line

NOW = at("2026-05-01T12:00:00+00:00")
HOUR_S = 3600
STORED = "SELECT event, count() FROM events WHERE project_id = {p} GROUP BY 1 ORDER BY 1"


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock(NOW)


@pytest.fixture
async def line(
    database: Database, warehouse: Any, clock: FixedClock, fresh_project_id: int
) -> AsyncGenerator[Line]:
    async with open_line(database, warehouse, clock, fresh_project_id) as opened:
        yield opened


async def test_what_was_accepted_before_is_stored_at_once(
    line: Line, clock: FixedClock, database: Database
) -> None:
    await line.capture({"event": "before", "distinct_id": "a", "properties": {}})
    clock.advance(seconds=-HOUR_S)
    await line.capture({"event": "after", "distinct_id": "a", "properties": {}})
    await line.work()
    if database.is_sqlite:  # jobs are due at a time, the log has none
        assert await line.select(STORED) == [("after", 1)]
        assert await line.queue.catch_up() == 1
        await line.work()
    assert await line.select(STORED) == [("after", 1), ("before", 1)]


async def test_a_clock_that_returns_stores_nothing_twice(line: Line, clock: FixedClock) -> None:
    await line.capture({"event": "before", "distinct_id": "a", "properties": {}})
    clock.advance(seconds=-HOUR_S)
    await line.queue.catch_up()
    await line.work()
    clock.advance(seconds=2 * HOUR_S)
    await line.queue.catch_up()
    await line.work()
    assert await line.select(STORED) == [("before", 1)]
