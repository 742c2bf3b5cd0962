"""How many runs of a function an executor holds, alone and while others wait."""

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator
from datetime import timedelta

import pytest

from hoglet.functions.jobs import INVOKE_QUEUE
from hoglet.pipeline.delivery import executor as executor_module
from hoglet.pipeline.delivery.executor import (
    ENDS_BEFORE_FULL_SHARES,
    FAIR_SHARE,
    LARGE_SHARE,
    SHARE_AT_START,
    SHARE_IN_BURST,
    SLOTS_FOR_LARGE_SHARES,
    DeliveryStages,
    Executor,
)
from hoglet.queue import Job, NewJob
from hoglet.queue.consumers import Bursts
from support.runs import Runs, open_runs


@pytest.fixture
async def runs(hoglet) -> AsyncGenerator[Runs]:
    async with open_runs(hoglet) as opened:
        yield opened


class _Stuck(Executor):
    """Its runs never end."""

    async def _execute(self, job: Job) -> None:  # noqa: ARG002 (as the base class)
        await asyncio.Event().wait()


def _executor(
    hoglet, runs, ended: int = ENDS_BEFORE_FULL_SHARES, bursts: Bursts | None = None
) -> Executor:
    """An executor in whose process as many runs have ended."""
    executor = runs.executor
    stuck = _Stuck(
        database=hoglet.database,
        queue=hoglet.queue,
        clock=hoglet.clock,
        stages=DeliveryStages(
            functions=executor._functions,
            runner=executor._runner,
            completions=executor._completions,
            hosts=executor._hosts,
        ),
        bursts=bursts,
    )
    stuck._ended = ended
    return stuck


async def _enqueue(hoglet, lane: str | None, number: int, payload: bytes = b"") -> None:
    jobs = [NewJob(queue=INVOKE_QUEUE, payload=payload, lane=lane) for _ in range(number)]
    async with hoglet.database.write() as session:
        await hoglet.queue.enqueue(session, jobs)


async def _lease_all(executor: Executor) -> Counter[str | None]:
    while await executor._lease_some():
        pass
    return Counter(job.lane for job in executor._running.values())


async def _end(executor: Executor) -> None:
    for task in list(executor._running):
        task.cancel()
    await asyncio.gather(*executor._running, return_exceptions=True)
    await asyncio.sleep(0)


async def test_a_function_alone_gets_a_large_share_and_others_still_find_room(hoglet, runs):
    executor = _executor(hoglet, runs)
    await _enqueue(hoglet, "stuck", 2000)
    alone = await _lease_all(executor)
    await _enqueue(hoglet, "other", 3)
    both = await _lease_all(executor)
    await _end(executor)

    assert FAIR_SHARE < alone["stuck"] <= LARGE_SHARE
    assert both == {**alone, "other": 3}


async def test_a_process_that_just_started_holds_few_runs(hoglet, runs):
    executor = _executor(hoglet, runs, ended=0)
    await _enqueue(hoglet, "kills its process", 300)
    held = await _lease_all(executor)
    await _end(executor)

    assert held == {"kills its process": SHARE_AT_START}


async def test_stuck_functions_leave_slots_to_others(hoglet, runs):
    executor = _executor(hoglet, runs)
    for number in range(4):
        await _enqueue(hoglet, f"stuck {number}", 600)
    stuck = await _lease_all(executor)
    for number in range(5):
        await _enqueue(hoglet, f"other {number}", FAIR_SHARE // 2)
    all_of_them = await _lease_all(executor)
    await _end(executor)

    assert max(stuck.values()) <= LARGE_SHARE
    assert stuck.total() <= SLOTS_FOR_LARGE_SHARES
    assert [all_of_them[f"other {number}"] for number in range(5)] == [FAIR_SHARE // 2] * 5


async def test_runs_give_way_to_a_burst_except_for_a_few_of_each_function(hoglet, runs):
    bursts = Bursts(now=lambda: 0.0)
    executor = _executor(hoglet, runs, bursts=bursts)
    bursts.begin(0)
    await _enqueue(hoglet, "many", 300)
    alone = await _lease_all(executor)
    await _end(executor)
    await _enqueue(hoglet, "few", 3)
    later = await _lease_all(executor)
    bursts.end(0)
    afterwards = await _lease_all(executor)
    await _end(executor)

    assert alone == {"many": SHARE_IN_BURST}
    assert later == {"few": 3}
    assert afterwards["many"] >= FAIR_SHARE


async def test_each_burst_lets_a_few_runs_through(hoglet, runs):
    clock = [0.0]
    bursts = Bursts(now=lambda: clock[0])
    executor = _executor(hoglet, runs, bursts=bursts)
    await _enqueue(hoglet, "many", 300)
    held: list[int] = []
    for hour in range(2):
        clock[0] = hour * 3600.0
        bursts.begin(0)
        held.append((await _lease_all(executor))["many"])
        await _end(executor)
        bursts.end(0)

    assert held == [SHARE_IN_BURST, SHARE_IN_BURST]


async def test_large_shares_are_bounded_by_bytes_and_fair_ones_are_not(hoglet, runs, monkeypatch):
    monkeypatch.setattr(executor_module, "BYTES_FOR_LARGE_SHARES", 100_000)
    executor = _executor(hoglet, runs)
    await _enqueue(hoglet, "large", 300, payload=bytes(3_000))
    alone = await _lease_all(executor)
    await _enqueue(hoglet, "other", FAIR_SHARE, payload=bytes(3_000))
    both = await _lease_all(executor)
    await _end(executor)

    assert FAIR_SHARE // 2 < alone["large"] <= FAIR_SHARE
    assert both == {**alone, "other": FAIR_SHARE}


async def test_ended_runs_make_room_again(hoglet, runs):
    executor = _executor(hoglet, runs)
    await _enqueue(hoglet, "f", 1000)
    first = set(await _lease_all(executor))
    await _end(executor)
    assert not executor._running
    again = await _lease_all(executor)
    await _end(executor)

    assert first == {"f"}
    assert FAIR_SHARE < again["f"] <= LARGE_SHARE


async def test_a_function_that_was_alone_gets_a_large_share_at_once(hoglet, runs):
    executor = _executor(hoglet, runs)
    await _enqueue(hoglet, "f", 2000)
    await _lease_all(executor)
    await _end(executor)
    await executor._lease_some()
    at_once = len(executor._running)
    await _enqueue(hoglet, "other", 3)
    both = await _lease_all(executor)
    await _end(executor)
    await executor._lease_some()
    after_another = len(executor._running)
    await _end(executor)

    assert at_once == LARGE_SHARE
    assert both == {"f": LARGE_SHARE, "other": 3}
    assert after_another == FAIR_SHARE


async def test_a_function_that_was_alone_leaves_fair_shares_to_others(hoglet, runs):
    executor = _executor(hoglet, runs)
    await _enqueue(hoglet, "alone", 1000)
    await _lease_all(executor)
    await _end(executor)
    for number in range(4):
        await _enqueue(hoglet, f"other {number}", 200)
    all_of_them = await _lease_all(executor)
    await _end(executor)

    assert all(all_of_them[f"other {number}"] >= FAIR_SHARE for number in range(4))
    assert all_of_them.total() <= SLOTS_FOR_LARGE_SHARES + 4 * FAIR_SHARE


async def test_runs_of_a_burst_do_not_take_the_slots_of_fair_shares(hoglet, runs):
    bursts = Bursts(now=lambda: 0.0)
    executor = _executor(hoglet, runs, bursts=bursts)
    await _enqueue(hoglet, "alone", 100)
    await _lease_all(executor)
    await _end(executor)
    bursts.begin(0)
    lanes = SLOTS_FOR_LARGE_SHARES // SHARE_IN_BURST + 1
    for number in range(lanes):
        await _enqueue(hoglet, f"burst {number}", SHARE_IN_BURST)
    while await executor._lease_some():
        pass
    bursts.end(0)
    await _enqueue(hoglet, "later", 5)
    all_of_them = await _lease_all(executor)
    await _end(executor)

    assert all_of_them.total() > SLOTS_FOR_LARGE_SHARES
    assert all_of_them["later"] == 5


async def test_a_lease_is_bounded_by_bytes(hoglet):
    jobs = [NewJob(queue="bytes", payload=bytes(400)) for _ in range(5)]
    async with hoglet.database.write() as session:
        await hoglet.queue.enqueue(session, jobs)
    sizes = []
    while leased := await hoglet.queue.lease(
        "bytes", limit=10, duration=timedelta(seconds=60), max_bytes=1000
    ):
        sizes.append(len(leased))

    assert sizes == [2, 2, 1]
