"""The consumer loop of a queue, on SQLite and PostgreSQL."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from hoglet.kit.clock import FixedClock
from hoglet.queue import Job, NewJob
from hoglet.queue.sql import SqlQueue
from hoglet.queue.worker import MAX_LOST_LEASES, JobHandler, JobPolicy, LeasedWorker
from hoglet.store.database import Database

LONG = 60  # seconds; nothing here takes a tenth of one


@pytest.fixture
def queue(database: Database) -> SqlQueue:
    return SqlQueue(database, FixedClock(datetime(2026, 1, 1, tzinfo=UTC)), owner="one")


def worker_of(
    queue: SqlQueue, handler: JobHandler, at_once: int, attempts: int = 1
) -> LeasedWorker:
    policy = JobPolicy(at_once=at_once, attempts=attempts)
    return LeasedWorker(queue, queue._database, queue._clock, "q", handler, policy=policy)


async def put(queue: SqlQueue, *payloads: bytes) -> None:
    async with queue._database.write() as session:
        await queue.enqueue(session, [NewJob(queue="q", payload=each) for each in payloads])


async def test_a_long_job_holds_up_none_behind_it(queue: SqlQueue):
    release, others = asyncio.Event(), asyncio.Event()
    done: list[bytes] = []

    async def work(job: Job) -> None:
        if job.payload == b"long":
            await release.wait()
        done.append(job.payload)
        if len(done) == 4:
            others.set()

    worker = worker_of(queue, JobHandler(work), at_once=2)
    await put(queue, b"long", b"1", b"2")
    async with asyncio.timeout(LONG):
        running = asyncio.create_task(worker.run())
        await put(queue, b"3", b"4")
        await others.wait()
        assert sorted(done) == [b"1", b"2", b"3", b"4"]
        release.set()
        worker.stop()
        await running
    assert done[-1] == b"long"


async def test_never_more_at_once_than_allowed(queue: SqlQueue):
    running_now = most = 0
    ended = asyncio.Event()
    count = 0

    async def work(_job: Job) -> None:
        nonlocal running_now, most, count
        running_now += 1
        most = max(most, running_now)
        await asyncio.sleep(0.01)
        running_now -= 1
        count += 1
        if count == 12:
            ended.set()

    worker = worker_of(queue, JobHandler(work), at_once=3)
    await put(queue, *[b"x"] * 12)
    async with asyncio.timeout(LONG):
        running = asyncio.create_task(worker.run())
        await ended.wait()
        worker.stop()
        await running
    assert most == 3


async def test_a_job_that_fails_is_given_up_beside_one_that_runs(queue: SqlQueue):
    release, given_up = asyncio.Event(), asyncio.Event()

    async def work(job: Job) -> None:
        if job.payload == b"bad":
            raise ValueError
        await release.wait()

    async def give_up(_job: Job) -> None:
        given_up.set()

    worker = worker_of(queue, JobHandler(work, give_up), at_once=2)
    await put(queue, b"long", b"bad")
    async with asyncio.timeout(LONG):
        running = asyncio.create_task(worker.run())
        await given_up.wait()
        release.set()
        worker.stop()
        await running
    depth = await queue.depth("q")
    assert (depth.ready, depth.failed) == (0, 1)


async def _lose_leases(queue: SqlQueue, count: int) -> None:
    """Lease the only job as a process that dies, which the next one of its name notices."""
    for _ in range(count):
        assert await queue.lease("q", limit=1, duration=timedelta(minutes=1))
        assert await queue.reclaim() == 1


async def test_a_job_that_ends_its_process_again_and_again_is_given_up(queue: SqlQueue):
    outcomes: list[str] = []

    async def work(_job: Job) -> None:
        outcomes.append("done")

    async def give_up(_job: Job) -> None:
        outcomes.append("given up")

    worker = worker_of(queue, JobHandler(work, give_up), at_once=1)
    for lost in (MAX_LOST_LEASES, MAX_LOST_LEASES + 1):
        await put(queue, b"x")
        await _lose_leases(queue, lost)
        await worker.drain()
    assert outcomes == ["done", "given up"]
    depth = await queue.depth("q")
    assert (depth.ready, depth.failed) == (0, 1)


async def test_lost_leases_are_no_failures(queue: SqlQueue):
    async def work(_job: Job) -> None:
        raise ValueError

    worker = worker_of(queue, JobHandler(work), at_once=1, attempts=2)
    await put(queue, b"x")
    await _lose_leases(queue, 5)
    await worker.drain()
    depth = await queue.depth("q")
    assert (depth.delayed, depth.failed) == (1, 0)


async def test_a_worker_that_is_cancelled_ends_its_jobs(queue: SqlQueue):
    started, ended = asyncio.Event(), asyncio.Event()

    async def work(_job: Job) -> None:
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    worker = worker_of(queue, JobHandler(work), at_once=2)
    await put(queue, b"x")
    async with asyncio.timeout(LONG):
        running = asyncio.create_task(worker.run())
        await started.wait()
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
    assert ended.is_set()
