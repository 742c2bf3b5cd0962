"""The backlog of the spool that ``/metrics`` and ``hoglet status`` show."""

from collections.abc import AsyncGenerator
from typing import Any

import pytest
from sqlalchemy import update

from hoglet.access.bootstrap import ensure_first_project
from hoglet.kit.clock import SystemClock
from hoglet.pipeline.spool_backlog import Backlog, SpoolBacklog
from hoglet.spool import NamedLog
from hoglet.spool.rows import RowLog
from hoglet.spool.tables import SpoolPartitionRow
from support.databases import open_database
from support.pipeline import Line, open_line

NOTHING = Backlog(0, 0.0)
CREATED_AGAIN_AT = 2_000_000_000  # positions of a log that was deleted continue at such a number


@pytest.fixture
async def line(postgres_tables_url: str, warehouse: Any) -> AsyncGenerator[Line]:
    async with open_database(postgres_tables_url) as database:
        clock = SystemClock()
        await ensure_first_project(database, clock)
        async with open_line(database, warehouse, clock, 1) as opened:
            yield opened


@pytest.fixture
def backlog(line: Line) -> SpoolBacklog:
    return SpoolBacklog(line.database, [NamedLog("rows", RowLog(line.database))], SystemClock())


async def test_a_spool_without_entries_has_no_lag(line: Line, backlog: SpoolBacklog) -> None:
    """Not even the milliseconds of the measurement: docs/growing.md waits for 0."""
    assert await backlog.measure() == NOTHING
    await line.capture({"event": "e", "distinct_id": "u"})
    waiting = await backlog.measure()
    assert waiting.positions == 1
    assert waiting.lag_seconds > 0
    await line.work()
    assert await backlog.measure() == NOTHING


async def test_positions_that_a_log_skips_do_not_wait(line: Line, backlog: SpoolBacklog) -> None:
    await line.capture({"event": "e", "distinct_id": "u"})
    await line.work()
    async with line.database.write() as session:
        await session.execute(update(SpoolPartitionRow).values(last_position=CREATED_AGAIN_AT))

    assert await backlog.measure() == NOTHING
    await line.capture({"event": "e", "distinct_id": "u"})
    assert (await backlog.measure()).positions == 1
