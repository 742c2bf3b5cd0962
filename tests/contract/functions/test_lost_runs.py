"""Runs that keep killing their process become dead letters."""

import asyncio
import sys

import pytest
from sqlalchemy.exc import OperationalError

from hoglet.functions.jobs import INVOKE_QUEUE, decode_invoke
from hoglet.pipeline.delivery import executor
from hoglet.pipeline.delivery.executor import LEASE
from hoglet.pipeline.delivery.run import RunRecord
from hoglet.queue import LeaseLost
from hoglet.queue.dead_letters import failed_jobs
from hoglet.queue.worker import MAX_LOST_LEASES


async def destination(hoglet, receiver, **fields):
    return await hoglet.create(enabled=True, hog=f"fetch('{receiver.url}/x')", **fields)


async def dead_letters_of(hoglet, function):
    return (await hoglet.call("GET", f"/{function['id']}/dead_letters")).json()["results"]


async def lose_leases(hoglet, times):
    """As if the process died ``times`` times while it held the run."""
    for _ in range(times):
        assert len(await hoglet.queue.lease(INVOKE_QUEUE, limit=1, duration=LEASE)) == 1
        hoglet.clock.advance(seconds=LEASE.total_seconds() + 1)


async def test_a_run_that_lost_many_leases_is_still_carried_on(hoglet, runs, receiver):
    function = await destination(hoglet, receiver)
    await runs.trigger(function, "e")
    await lose_leases(hoglet, MAX_LOST_LEASES - 1)
    await runs.work()

    assert receiver.paths() == ["/x"]
    assert await dead_letters_of(hoglet, function) == []


async def test_a_run_that_kills_its_process_becomes_a_dead_letter(hoglet, runs, receiver):
    function = await destination(hoglet, receiver)
    await runs.trigger(function, "e")
    await lose_leases(hoglet, MAX_LOST_LEASES)
    await runs.work()

    assert receiver.paths() == []
    (letter,) = await dead_letters_of(hoglet, function)
    assert letter["class"] == "hog"
    assert letter["error"] == "Given up: its process died, or hoglet failed on it, 30 times"
    counts = await runs.counts()
    assert (counts["failure/failed"], counts["other/dead_lettered"]) == (1, 1)
    assert len(await runs.lines_of_log("ERROR")) == 1
    depth = await hoglet.queue.depth(INVOKE_QUEUE)
    assert (depth.ready, depth.delayed, depth.leased, depth.failed) == (0, 0, 0, 0)

    redriven = await hoglet.call(
        "POST", f"/{function['id']}/dead_letters/redrive", json={"all": True}
    )
    assert redriven.json() == {"queued": 1, "skipped": 0}
    await runs.work()
    assert receiver.paths() == ["/x"]


async def test_attempts_that_the_receiver_refused_do_not_count(hoglet, runs, receiver):
    function = await destination(hoglet, receiver, retry={"max_delay_seconds": 60})
    receiver.script["/x"] = [(503, {})] * 14
    await runs.trigger(function, "e")
    for _ in range(15):
        await runs.work()
        hoglet.clock.advance(seconds=61)

    assert len(receiver.arrivals) == 15
    assert (await runs.counts())["success/succeeded"] == 1


async def test_a_failing_database_does_not_count(hoglet, runs, receiver, monkeypatch):
    function = await destination(hoglet, receiver)
    await runs.trigger(function, "e")

    async def full(*_arguments, **_more):
        raise OperationalError("INSERT", {}, Exception("database or disk is full"))

    monkeypatch.setattr(executor, "MAX_LOST_LEASES", 2)
    with monkeypatch.context() as patch:
        patch.setattr(runs.executor._completions, "commit", full)
        for _ in range(7):
            await runs.work()
            hoglet.clock.advance(seconds=LEASE.total_seconds() + 1)
    await runs.work()

    assert (await runs.counts())["success/succeeded"] == 1
    assert await dead_letters_of(hoglet, function) == []


@pytest.mark.slow
async def test_workers_that_do_not_start_do_not_count(hoglet, runs, receiver, monkeypatch):
    function = await destination(hoglet, receiver)
    await runs.trigger(function, "e")
    monkeypatch.setattr(executor, "MAX_LOST_LEASES", 2)
    with monkeypatch.context() as patch:
        patch.setattr(sys, "executable", "/no/such/python")
        await runs.sandbox.stop_idle()
        for _ in range(7):
            await runs.work()
            hoglet.clock.advance(seconds=LEASE.total_seconds() + 1)
    assert receiver.paths() == []
    assert await dead_letters_of(hoglet, function) == []
    await runs.work()

    assert receiver.paths() == ["/x"]
    async with hoglet.database.read() as session:
        assert await failed_jobs(session) == []


async def test_runs_that_share_a_commit_with_a_lost_one_are_recorded(hoglet, runs, receiver):
    """One transaction ends all three; by then, another worker has taken over one of them."""
    function = await destination(hoglet, receiver)
    await runs.trigger(function, "a", "b", "c")
    jobs = await hoglet.queue.lease(INVOKE_QUEUE, limit=3, duration=LEASE)
    hoglet.clock.advance(seconds=LEASE.total_seconds() + 1)
    (taken,) = await hoglet.queue.lease(INVOKE_QUEUE, limit=1, duration=LEASE)

    completions = await asyncio.gather(
        *(runs.completion.refuse(job, record_of(job, hoglet.clock), why=None) for job in jobs),
        return_exceptions=True,
    )

    outcomes = {job.id: ending for job, ending in zip(jobs, completions, strict=True)}
    assert isinstance(outcomes.pop(taken.id), LeaseLost)
    assert list(outcomes.values()) == [None, None]
    assert (await runs.counts())["other/ended"] == 2
    depth = await hoglet.queue.depth(INVOKE_QUEUE)
    assert (depth.ready, depth.leased) == (0, 1)


def record_of(job, clock):
    """What a run recorded: one count."""
    record = RunRecord(decode_invoke(job.payload), clock.now())
    record.count("other", "ended", clock.now())
    return record
