"""Servers on one PostgreSQL use its time, however wrong their own clocks are."""

from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import func, select

from hoglet.kit.clock import FixedClock
from hoglet.queue import NewJob
from hoglet.queue.sql import SqlQueue
from hoglet.store.database import Database
from hoglet.store.shared_clock import shared_clock
from support.databases import open_database

WRONG = [datetime(2001, 1, 1, tzinfo=UTC), datetime(2090, 1, 1, tzinfo=UTC)]


async def _database_time(database: Database) -> datetime:
    async with database.read() as session:
        at = await session.scalar(select(func.clock_timestamp()))
    assert at is not None
    return at


@pytest.mark.parametrize("wrong", WRONG, ids=["behind", "ahead"])
async def test_the_time_is_the_databases(postgres_tables_url: str, wrong: datetime) -> None:
    async with open_database(postgres_tables_url) as database:
        local = FixedClock(wrong)
        before = await _database_time(database)
        async with shared_clock(database, local) as clock:
            after = await _database_time(database)
            assert before <= clock.now() <= after
            measured = clock.now()
            local.advance(seconds=60)
            assert clock.now() - measured == timedelta(seconds=60)


async def test_leases_hold_between_servers_with_different_clocks(postgres_tables_url: str) -> None:
    async with open_database(postgres_tables_url) as database:
        behind, ahead = (FixedClock(wrong) for wrong in WRONG)
        async with shared_clock(database, behind) as first, shared_clock(database, ahead) as other:
            writer = SqlQueue(database, first, owner="behind")
            reader = SqlQueue(database, other, owner="ahead")
            async with database.write() as session:
                await writer.enqueue(session, [NewJob(queue="q", payload=b"1")])
            leased = await reader.lease("q", limit=1, duration=timedelta(minutes=10))
            assert [job.payload for job in leased] == [b"1"]
            assert await writer.lease("q", limit=1, duration=timedelta(minutes=10)) == []


async def test_sqlite_has_one_server_and_its_clock(sqlite_database: Database) -> None:
    local = FixedClock(WRONG[0])
    async with shared_clock(sqlite_database, local) as clock:
        assert clock is local
