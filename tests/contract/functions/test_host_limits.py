"""Limits per host and function; a slow host delays no other: docs/adr/0009-delivery.md."""

import asyncio
import time

import pytest
from sqlalchemy import func, select

from hoglet.kit.clock import SystemClock
from hoglet.pipeline.delivery.host_limits import HostSettings
from hoglet.queue.tables import JobRow
from support.runs import ScriptedReceiver, open_runs


@pytest.fixture
def receivers():
    opened = [ScriptedReceiver(), ScriptedReceiver()]
    yield opened
    for each in opened:
        each.close()


@pytest.fixture
async def timed(hoglet):
    """The application on the machine's clock: limits are about real time."""
    clock = SystemClock()
    hoglet.clock = hoglet.service.clock = hoglet.queue._clock = clock
    hoglet.service.watcher._clock = clock
    return hoglet


async def make(hoglet, receiver, **fields):
    return await hoglet.create(enabled=True, hog=f"fetch('{receiver.url}/x')", **fields)


ONE_ATTEMPT = {"max_attempts": 1}


async def until(condition, seconds=20.0):
    for _ in range(int(seconds / 0.02)):
        if condition():
            return
        await asyncio.sleep(0.02)
    pytest.fail("it did not happen in time")


async def test_no_more_requests_at_once_than_a_host_or_function_may_have(timed, receivers):
    wide, narrow = receivers
    wide.seconds = narrow.seconds = 0.1
    async with open_runs(timed, HostSettings(concurrency=6)) as runs:
        by_host = await make(timed, wide)
        by_function = await make(timed, narrow, delivery={"concurrency": 2})
        await runs.trigger(by_host, *map(str, range(20)))
        await runs.trigger(by_function, *map(str, range(8)))
        working = asyncio.create_task(runs.executor.run())
        await until(lambda: len(wide.arrivals) == 20 and len(narrow.arrivals) == 8)
        runs.executor.stop()
        await working

    assert (wide.most_under_way, narrow.most_under_way) == (6, 2)


async def test_requests_are_spaced_out(timed, receivers):
    (receiver, _) = receivers
    async with open_runs(timed) as runs:
        created = await make(timed, receiver, delivery={"requests_per_minute": 300})
        await runs.trigger(created, *map(str, range(15)))
        working = asyncio.create_task(runs.executor.run())
        await until(lambda: len(receiver.arrivals) == 15)
        runs.executor.stop()
        await working

    times = [arrival.at for arrival in receiver.arrivals]
    assert times[14] - times[0] > 1.7  # the other ten, five a second
    assert (await runs.counts())["success/succeeded"] == 15


async def test_slow_hosts_delay_no_others(timed, receivers):
    """Ten functions call a host that never answers in time; runs for another host end at once."""
    slow, quick = receivers
    slow.seconds = 30
    async with open_runs(timed) as runs:
        fetch = runs._outbound.fetch
        runs._outbound.fetch = lambda request: fetch(request, 1.5)  # half as long, to save time
        for number in range(10):
            stuck = await make(timed, slow, name=f"stuck {number}")
            await runs.trigger(stuck, *map(str, range(60)))
        fine = await make(timed, quick)
        working = asyncio.create_task(runs.executor.run())
        await asyncio.sleep(3)
        waits = []
        for number in range(10):
            began = time.monotonic()
            await runs.trigger(fine, f"quick {number}")
            await until(lambda number=number: len(quick.arrivals) == number + 1)
            waits.append(time.monotonic() - began)
            await asyncio.sleep(0.1)
        runs.executor.stop()
        working.cancel()

    assert len(slow.arrivals) > 60
    # Without the limits each takes over ten seconds; one may meet a moment of a busy machine.
    assert sorted(waits)[len(waits) // 2] < 4, waits


async def test_runs_of_a_silent_host_stay_in_the_queue_until_it_has_capacity(timed, receivers):
    """A run without a slot costs a lease, a step and a commit, for which other runs wait."""
    (slow, _) = receivers
    slow.seconds = 30
    async with open_runs(timed, HostSettings(concurrency=8)) as runs:
        fetch = runs._outbound.fetch
        runs._outbound.fetch = lambda request: fetch(request, 1.2)  # half as long, to save time
        stuck = [await make(timed, slow, name=f"{number}", retry=ONE_ATTEMPT) for number in (1, 2)]
        for function in stuck:
            await runs.trigger(function, *map(str, range(300)))
        working = asyncio.create_task(runs.executor.run())
        await until(lambda: len(slow.arrivals) >= 40)
        runs.executor.stop()
        await working
        async with timed.database.read() as session:
            returned = await session.scalar(select(func.sum(JobRow.retries)))

    assert returned < 250  # 888 before; those leased before the host was known to be slow


@pytest.mark.parametrize("change", [{"hog": "return 1"}, {"enabled": False}])
async def test_runs_without_requests_do_not_wait_for_a_former_host(timed, receivers, change):
    (slow, _) = receivers
    async with open_runs(timed, HostSettings(concurrency=2)) as runs:
        function = await make(timed, slow)
        await runs.trigger(function, *map(str, range(64)))
        await runs.work()
        runs.hosts._gate(f"host {slow.url.removeprefix('http://')}").average_seconds = 3.0
        before = runs.hosts.lane_limits({})[function["id"]].jobs
        await timed.call("PATCH", f"/{function['id']}", json=change)
        await asyncio.sleep(1.1)  # a function may be a second old
        await runs.trigger(function, "later")
        await runs.work()

    assert before == 2
    assert runs.hosts.lane_limits({}) == {}


async def test_a_host_that_serves_one_request_after_another_is_not_overrun(timed, receivers):
    """More requests at once would only wait there, and the watcher would take them for slow."""
    (receiver, _) = receivers
    receiver.seconds, receiver.in_turn = 0.01, True
    async with open_runs(timed) as runs:
        created = await make(timed, receiver)
        await runs.trigger(created, *map(str, range(600)))
        working = asyncio.create_task(runs.executor.run())
        await until(lambda: len(receiver.arrivals) > 350)
        receiver.most_under_way = 0
        await until(lambda: len(receiver.arrivals) == 600)
        runs.executor.stop()
        await working
        counts = await runs.counts()
    status = (await timed.call("GET", f"/{created['id']}")).json()["status"]

    assert counts["success/succeeded"] == 600
    assert receiver.most_under_way <= 64
    assert (status["state"], status["tokens"] > 9000) == (1, True)
