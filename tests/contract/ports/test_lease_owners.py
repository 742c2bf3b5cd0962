"""Leases of servers that have died (hoglet.queue.owners), on SQLite and PostgreSQL."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest

from hoglet.kit.clock import FixedClock
from hoglet.queue import Job, LeaseLost, NewJob
from hoglet.queue.owners import HEARTBEAT, SILENT_AFTER, LeaseOwner, forget
from hoglet.queue.sql import SqlQueue
from hoglet.store.database import Database

MINUTE = timedelta(minutes=1)


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock(datetime(2026, 1, 1, tzinfo=UTC))


@pytest.fixture
def servers(database: Database, clock: FixedClock) -> list[LeaseOwner]:
    return [LeaseOwner(database, clock, name=name) for name in ("a", "b")]


@pytest.fixture
async def leased(database: Database, clock: FixedClock) -> list[Job]:
    """Two jobs of the server "a", and one of a server whose name begins with the same letter."""
    queue = SqlQueue(database, clock, owner="a")
    async with database.write() as session:
        await queue.enqueue(session, [NewJob(queue="q", payload=each) for each in (b"1", b"2")])
    jobs = await _lease(queue.consumer(1))
    async with database.write() as session:
        await queue.enqueue(session, [NewJob(queue="q", payload=b"other")])
    assert len(await _lease(SqlQueue(database, clock, owner="a2"))) == 1
    return jobs


async def _lease(queue: SqlQueue) -> list[Job]:
    return await queue.lease("q", limit=10, duration=MINUTE)


async def _due(database: Database, clock: FixedClock) -> list[bytes]:
    return [job.payload for job in await _lease(SqlQueue(database, clock, owner="b"))]


async def _beat(servers: Sequence[LeaseOwner], clock: FixedClock, duration: timedelta) -> None:
    """Let servers write their heartbeats for a while."""
    until = clock.now() + duration
    while clock.now() < until:
        clock.advance(seconds=HEARTBEAT.total_seconds())
        for server in servers:
            await server.beat()


async def test_the_leases_of_a_silent_server_are_released_before_they_expire(
    servers: list[LeaseOwner], leased: list[Job], database: Database, clock: FixedClock
) -> None:
    a, b = servers
    await _beat([a, b], clock, SILENT_AFTER)
    assert await _due(database, clock) == []

    await _beat([b], clock, SILENT_AFTER + HEARTBEAT)

    assert await _due(database, clock) == [b"1", b"2"]
    with pytest.raises(LeaseLost):  # it was only slow
        async with database.write() as session:
            await SqlQueue(database, clock, owner="a").finish(session, leased)


async def test_a_server_that_was_cut_off_too_does_not_judge_others(
    servers: list[LeaseOwner], leased: list[Job], database: Database, clock: FixedClock
) -> None:
    a, b = servers
    await _beat([a, b], clock, SILENT_AFTER)
    clock.advance(seconds=SILENT_AFTER.total_seconds() + 1)  # the database is away

    await b.beat()
    assert await _due(database, clock) == []
    await _beat([a, b], clock, SILENT_AFTER)

    assert await _due(database, clock) == []
    assert len(leased) == 2


async def test_a_new_server_waits_before_it_judges_others(
    servers: list[LeaseOwner], leased: list[Job], database: Database, clock: FixedClock
) -> None:
    a, b = servers
    await a.beat()
    clock.advance(seconds=SILENT_AFTER.total_seconds() + 1)

    await b.beat()
    assert await _due(database, clock) == []
    await _beat([b], clock, SILENT_AFTER)

    assert await _due(database, clock) == [job.payload for job in leased]


async def test_leases_without_a_heartbeat_expire_by_themselves(
    servers: list[LeaseOwner], leased: list[Job], database: Database, clock: FixedClock
) -> None:
    """Servers of the version before write none."""
    _, b = servers
    await _beat([b], clock, 2 * SILENT_AFTER)

    assert await _due(database, clock) == []
    assert len(leased) == 2


async def test_a_server_that_stops_leaves_no_leases(
    servers: list[LeaseOwner], leased: list[Job], database: Database, clock: FixedClock
) -> None:
    a, _ = servers
    a.stop()
    await a.run()

    assert await _due(database, clock) == [job.payload for job in leased]


async def test_the_leases_of_a_server_that_has_ended_are_released_once(
    servers: list[LeaseOwner], leased: list[Job], database: Database, clock: FixedClock
) -> None:
    assert len(leased) == len(servers) == 2
    for expected in (2, 0):
        async with database.write() as session:
            assert await forget(session, "a") == expected
