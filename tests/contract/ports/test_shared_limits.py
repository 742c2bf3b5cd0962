"""Servers on one PostgreSQL share rate limits: docs/adr/0030-shared-limits.md."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import func, select, update

from hoglet.access import rate_limit
from hoglet.access.rate_limit import RateLimit, RateLimiter, RateSettings, SharedWindows
from hoglet.access.tables import RateWindowRow
from hoglet.functions.executable.model import ExecutableFunction
from hoglet.functions.masking import raise_counters
from hoglet.functions.tables import HogFunctionRow
from hoglet.kit.clock import SystemClock, new_id
from hoglet.kit.errors import Throttled
from hoglet.pipeline.delivery import host_rates
from hoglet.pipeline.delivery.host_limits import HostLimiter, HostSettings
from hoglet.pipeline.delivery.host_rates import HostRates
from hoglet.pipeline.tables import HostRateRow
from hoglet.store.database import Database
from support.databases import open_database

PAST, FAR = datetime(2001, 1, 1, tzinfo=UTC), datetime(2090, 1, 1, tzinfo=UTC)


@pytest.fixture
async def databases(postgres_tables_url: str) -> AsyncGenerator[list[Database]]:
    """The database as two servers have it open."""
    async with AsyncExitStack() as stack:
        yield [
            await stack.enter_async_context(open_database(postgres_tables_url)) for _ in range(2)
        ]


def _limiters(databases: list[Database]) -> list[RateLimiter]:
    return [RateLimiter(RateSettings(), SharedWindows(database)) for database in databases]


async def _accepts(limiter: RateLimiter, bucket: str, limit: RateLimit) -> bool:
    try:
        await limiter.take(bucket, limit)
    except Throttled:
        return False
    return True


async def test_servers_count_the_requests_of_a_key_together(databases: list[Database]) -> None:
    first, second = _limiters(databases)
    limit = RateLimit(per_hour=5)

    accepted = [
        await _accepts(limiter, "key:a", limit)
        for limiter in (first, second, second, first, second, first, second)
    ]

    assert accepted == [True] * 5 + [False] * 2
    assert await _accepts(second, "key:b", limit)
    with pytest.raises(Throttled) as refused:
        await first.take("key:a", limit)
    assert 3000 < (refused.value.wait_seconds or 0) <= 3600


async def test_simultaneous_requests_do_not_exceed_the_limit(databases: list[Database]) -> None:
    limiters = _limiters(databases)
    limit = RateLimit(per_hour=7)

    accepted = await asyncio.gather(
        *(_accepts(limiters[number % 2], "project:1", limit) for number in range(20))
    )

    assert sum(accepted) == 7


async def test_a_window_that_is_over_counts_from_one(databases: list[Database]) -> None:
    first, second = _limiters(databases)
    limit = RateLimit(per_minute=1, per_hour=100)
    assert [await _accepts(server, "key:a", limit) for server in (first, second)] == [True, False]

    async with databases[0].write() as session:
        await session.execute(update(RateWindowRow).values(ends_at=PAST))

    assert [await _accepts(server, "key:a", limit) for server in (second, first)] == [True, False]


async def test_windows_that_are_over_are_deleted(databases: list[Database]) -> None:
    (limiter, _) = _limiters(databases)
    await limiter.take("key:a", RateLimit(per_minute=5))
    async with databases[0].write() as session:
        await rate_limit.drop_expired(session, datetime.now(UTC) - timedelta(hours=1))
        assert await session.scalar(select(func.count()).select_from(RateWindowRow)) == 1
        await rate_limit.drop_expired(session, FAR)
        assert await session.scalar(select(func.count()).select_from(RateWindowRow)) == 0


async def test_executors_reserve_the_times_of_requests_together(databases: list[Database]) -> None:
    first, second = (HostRates(database) for database in databases)
    tenth = 0.1  # a request every ten seconds

    assert await first.reserve("host a", tenth, within_seconds=15) == 0.0
    next_wait = await second.reserve("host a", tenth, within_seconds=15)
    assert next_wait is not None
    assert 0 < next_wait <= 10
    await first.reserve("host a", tenth, within_seconds=30)
    await first.reserve("host a", tenth, within_seconds=40)
    assert await second.reserve("host a", tenth, within_seconds=15) is None
    assert await second.reserve("host b", tenth, within_seconds=15) == 0.0


async def test_a_seconds_worth_may_start_together(databases: list[Database]) -> None:
    servers = [HostRates(database) for database in databases]

    waits = [await servers[number % 2].reserve("host a", 1000, 1) for number in range(20)]

    assert waits == [0.0] * 20


async def test_a_run_returns_to_the_queue_while_another_executor_uses_the_limit(
    databases: list[Database],
) -> None:
    clock = SystemClock()
    first, second = (
        HostLimiter(clock, HostSettings(per_second=0.01), HostRates(database))
        for database in databases
    )
    function = ExecutableFunction(id="f", project_id=1, name="f", type="destination")

    async with first.acquire(function, "example.com", "lane") as slot:
        assert slot.again_at is None
    async with second.acquire(function, "example.com", "lane") as slot:
        assert slot.again_at is not None
        assert slot.again_at > clock.now() - timedelta(seconds=60)
    async with second.acquire(function, "example.org", "lane") as slot:
        assert slot.again_at is None


async def test_idle_hosts_are_deleted(databases: list[Database]) -> None:
    await HostRates(databases[0]).reserve("host a", 1, 1)
    async with databases[0].write() as session:
        await host_rates.drop_idle(session, datetime.now(UTC))
        assert await session.scalar(select(func.count()).select_from(HostRateRow)) == 1
        await host_rates.drop_idle(session, FAR)
        assert await session.scalar(select(func.count()).select_from(HostRateRow)) == 0


async def test_servers_raise_the_same_counters_of_masking_in_any_order(
    databases: list[Database],
) -> None:
    function = HogFunctionRow(
        id=new_id(), project_id=1, type="destination", name="", description="", hog="",
        created_at=PAST, updated_at=PAST, enabled=True, deleted=False,
        inputs_schema=[], inputs={}, filters={}, matcher={},
    )  # fmt: skip
    async with databases[0].write() as session:
        session.add(function)
    counters = [(function.id, digest) for digest in "abcdefgh"]
    raises = [dict.fromkeys(order, (1, 60)) for order in (counters, counters[::-1])]

    async def raise_all(database: Database, order: int) -> None:
        async with database.write() as session:
            await raise_counters(session, raises[order], PAST)

    await raise_all(databases[0], 0)
    for _ in range(5):
        await asyncio.gather(*(raise_all(databases[each % 2], each % 2) for each in range(6)))

    async with databases[0].write() as session:
        raised = await raise_counters(session, raises[0], PAST)
    assert {each.old for each in raised.values()} == {31}
