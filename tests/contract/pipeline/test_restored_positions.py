"""Groups of the spool log after the database has lost its last commits.

A standby that took over, or a database restored from a dump, knows less than the warehouse and the
log: a group may be begun anew with other members.
"""

from collections import deque
from typing import Any

import pytest
from sqlalchemy import delete, select, text, update

from hoglet.access.bootstrap import ensure_first_project
from hoglet.events.tables import KnownUuidRow
from hoglet.kit.clock import SystemClock, new_id
from hoglet.spool.rows import RowLog
from hoglet.spool.tables import SpoolEntryRow, SpoolPartitionRow, SpoolPositionRow
from support.databases import open_database
from support.pipeline import Line, open_line


@pytest.fixture
def line(postgres_line: Line) -> Line:
    return postgres_line


async def _capture(line: Line) -> str:
    """Spool an event of the same partition as all others; its UUID."""
    uuid = str(new_id())
    await line.capture({"event": "e", "distinct_id": "u", "uuid": uuid})
    return uuid


async def _store_and_lose_the_commit(line: Line) -> None:
    async with line.database.read() as session:
        columns = SpoolPositionRow.partition, SpoolPositionRow.done_upto
        before = (await session.execute(select(*columns))).all()
    assert await line.batches.work_once()
    async with line.database.write() as session:
        for partition, done_upto in before:
            position = update(SpoolPositionRow).where(SpoolPositionRow.partition == partition)
            await session.execute(position.values(done_upto=done_upto, group_project=0))
        await session.execute(delete(KnownUuidRow))
    line.owner.stop()
    await line.owner.run()  # the next server has all partitions


async def _stored(line: Line, uuid: str) -> int:
    rows = await line.select(f"SELECT count() FROM events WHERE uuid = '{uuid}'")
    return rows[0][0]


async def test_events_that_join_a_group_are_stored(line: Line) -> None:
    first = await _capture(line)
    await _store_and_lose_the_commit(line)
    async with open_line(line.database, line.warehouse, line.clock, 1) as other:
        second = await _capture(other)
        await other.work()

    assert await _stored(line, second) == 1
    assert await _stored(line, first) >= 1


async def test_events_of_a_lost_commit_are_stored_once_if_the_loss_was_noticed(line: Line) -> None:
    first = await _capture(line)
    await _store_and_lose_the_commit(line)
    async with open_line(line.database, line.warehouse, line.clock, 1) as other:
        second = await _capture(other)
        other.lost_writes.report("database")
        third = await _capture(other)
        await other.work()

    assert [await _stored(line, each) for each in (first, second, third)] == [1, 1, 1]


@pytest.mark.parametrize("has_tried", [False, True])
async def test_a_running_server_notices_the_loss(line: Line, has_tried: bool) -> None:
    before = await _capture(line)
    assert await line.batches.work_once()
    first = await _capture(line)
    assert await line.batches.work_once()
    await line.owner.divide()
    assert line.lost_writes.warnings() == []
    async with line.database.write() as session:
        earlier = SpoolPositionRow.done_upto - 1
        is_used = SpoolPositionRow.done_upto > 0
        await session.execute(update(SpoolPositionRow).where(is_used).values(done_upto=earlier))
        await session.execute(delete(KnownUuidRow))
    second = await _capture(line)
    if has_tried:  # the position that it knows is refused
        assert not await line.batches.work_once()

    await line.owner.divide()
    await line.work()

    assert len(line.lost_writes.warnings()) == 1
    assert [await _stored(line, each) for each in (before, first, second)] == [1, 1, 1]


async def test_a_group_with_the_same_members_is_stored_once(line: Line) -> None:
    uuid = await _capture(line)
    await _store_and_lose_the_commit(line)
    async with open_line(line.database, line.warehouse, line.clock, 1) as other:
        await other.work()

    assert await _stored(line, uuid) == 1


async def test_positions_that_are_assigned_again_are_noticed(line: Line) -> None:
    noticed: list[bool] = []
    rows = RowLog(line.database, lambda: noticed.append(True))
    await rows.append({0: [b"a"], 1: [b"a"]})
    await rows.append({0: [b"b", b"c"]})
    async with line.database.write() as session:
        await session.execute(delete(SpoolEntryRow))
        await session.execute(update(SpoolPartitionRow).values(last_position=1))

    await rows.append({1: [b"d"]})
    assert noticed == []
    await rows.append({0: [b"d"]})
    await rows.append({0: [b"e"]})

    assert noticed == [True]


async def test_a_log_outside_the_database_keeps_stored_entries_for_a_while(
    postgres_tables_url: str, warehouse: Any
) -> None:
    async with open_database(postgres_tables_url) as database:
        await ensure_first_project(database, SystemClock())
        async with open_line(database, warehouse, SystemClock(), 1, keep_seconds=60) as line:
            ranges = line.log_source._ranges
            await _capture(line)
            await line.work()
            for keeps in (True, False):
                ranges._trimmed_at = 0.0
                await ranges.trim()
                left = await line.spool_log.read(dict.fromkeys(line.owner.owned, 0), 1000)
                assert sum(map(len, left.values())) == keeps
                ranges._trims = deque((0.0, upto) for _, upto in ranges._trims)


async def test_entries_are_trimmed_later_if_the_database_fails(
    postgres_tables_url: str, warehouse: Any
) -> None:
    async with open_database(postgres_tables_url) as database:
        await ensure_first_project(database, SystemClock())
        async with open_line(database, warehouse, SystemClock(), 1, keep_seconds=60) as line:
            ranges = line.log_source._ranges
            await _capture(line)
            await line.work()
            ranges._trimmed_at = 0.0
            await ranges.trim()
            ranges._trims = deque((0.0, upto) for _, upto in ranges._trims)
            for name, other in (("spool_positions", "gone"), ("gone", "spool_positions")):
                async with database.write() as session:
                    await session.execute(text(f"ALTER TABLE {name} RENAME TO {other}"))
                ranges._trimmed_at = 0.0
                await ranges.trim()
                left = await line.spool_log.read(dict.fromkeys(line.owner.owned, 0), 1000)
                assert sum(map(len, left.values())) == (other == "gone")


async def test_entries_are_not_trimmed_before_the_database_knows_that_they_are_stored(
    line: Line,
) -> None:
    """The positions of lost entries are assigned again: the new ones must not be deleted."""
    await _capture(line)
    assert await line.batches.work_once()
    async with line.database.write() as session:
        await session.execute(update(SpoolPositionRow).values(done_upto=0))
    trimmed = dict.fromkeys(line.owner.owned, 1)

    await line.spool_log.trim(trimmed)

    assert sum(map(len, (await line.spool_log.read(dict.fromkeys(trimmed, 0), 1000)).values())) == 1
