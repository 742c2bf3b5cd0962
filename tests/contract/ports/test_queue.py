"""The contract of queues (hoglet.queue.port), on SQLite and PostgreSQL."""

import asyncio
import itertools
import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import UUID, uuid4

import msgspec
import pytest
from sqlalchemy.dialects import sqlite

from hoglet.kit.clock import FixedClock, new_id
from hoglet.migrations.upgrade import migrate
from hoglet.queue import Job, LaneLimit, LeaseLost, NewJob, Priority, Retry
from hoglet.queue.dead_letters import failed_jobs
from hoglet.queue.empty_queues import EmptyQueues
from hoglet.queue.sql import SqlQueue
from hoglet.queue.statements import Statements
from hoglet.store.database import Database
from support.databases import sent_statements

MINUTE = timedelta(minutes=1)


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock(datetime(2026, 1, 1, tzinfo=UTC))


@pytest.fixture
def queue(database: Database, clock: FixedClock) -> SqlQueue:
    return SqlQueue(database, clock, owner="one")


async def _put(queue: SqlQueue, *jobs: NewJob) -> None:
    async with queue._database.write() as session:
        await queue.enqueue(session, jobs)


def _job(payload: bytes = b"work", **more: object) -> NewJob:
    return NewJob(queue="q", payload=payload, **more)  # pyright: ignore[reportArgumentType]


async def _lease(queue: SqlQueue, limit: int = 10, max_weight: int | None = None) -> list[Job]:
    return await queue.lease("q", limit=limit, duration=MINUTE, max_weight=max_weight)


async def _lease_group(queue: SqlQueue, limit: int = 10) -> list[Job]:
    return await queue.lease_group("q", limit=limit, duration=MINUTE, max_weight=100)


def _payloads(jobs: list[Job]) -> list[bytes]:
    return [job.payload for job in jobs]


@pytest.mark.parametrize("number", [0, 1, 9])
async def test_the_lease_of_a_group_does_not_write_its_payloads_again(tmp_path: Path, number: int):
    url = f"sqlite+aiosqlite:///{tmp_path / 'jobs.db'}"
    migrate(url)
    database = Database(url)
    queue = SqlQueue(database, FixedClock(datetime(2026, 1, 1, tzinfo=UTC)), owner="server")
    await _put(queue, *[_job(bytes(100_000)) for _ in range(20)])
    with closing(sqlite3.connect(tmp_path / "jobs.db")) as other:
        other.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    leased = await _lease_group(queue.consumer(number), limit=20)

    assert len(leased) == 20
    assert (tmp_path / "jobs.db-wal").stat().st_size < 1_000_000
    await database.close()


async def test_a_leased_job_is_not_leased_again(queue: SqlQueue):
    await _put(queue, _job())

    first = await _lease(queue)
    assert _payloads(first) == [b"work"]
    assert first[0].attempt == 1
    assert await _lease(queue) == []


async def test_nothing_is_enqueued_when_the_callers_transaction_fails(queue: SqlQueue):
    async def enqueue_and_fail() -> None:
        async with queue._database.write() as session:
            await queue.enqueue(session, [_job()])
            raise RuntimeError

    with pytest.raises(RuntimeError):
        await enqueue_and_fail()
    assert await _lease(queue) == []


async def test_an_id_that_waits_is_not_enqueued_twice(queue: SqlQueue):
    same = new_id()
    await _put(queue, _job(b"first", id=same))
    await _put(queue, _job(b"second", id=same))

    assert _payloads(await _lease(queue)) == [b"first"]


async def test_an_expired_lease_comes_back_in_its_old_place(queue: SqlQueue, clock: FixedClock):
    await _put(queue, _job(b"old"))
    clock.advance(seconds=1)
    await _put(queue, _job(b"young"))
    lost = await _lease(queue, limit=1)
    clock.advance(seconds=61)

    again = await _lease(queue, limit=1)
    assert _payloads(again) == [b"old"]
    assert again[0].attempt == 2
    with pytest.raises(LeaseLost):
        async with queue._database.write() as session:
            await queue.finish(session, lost)


async def test_an_extended_lease_is_kept(queue: SqlQueue, clock: FixedClock):
    await _put(queue, _job())
    held = await _lease(queue)
    clock.advance(seconds=50)
    await queue.extend(held, MINUTE)
    clock.advance(seconds=50)

    assert await _lease(queue) == []
    async with queue._database.write() as session:
        await queue.finish(session, held)


async def test_a_finished_job_is_gone(queue: SqlQueue, clock: FixedClock):
    await _put(queue, _job())
    held = await _lease(queue)
    async with queue._database.write() as session:
        await queue.finish(session, held)
    clock.advance(seconds=3600)

    assert await _lease(queue) == []
    assert (await queue.depth("q")).ready == 0


async def test_a_retried_job_waits_until_its_time_with_its_new_payload(
    queue: SqlQueue, clock: FixedClock
):
    await _put(queue, _job(b"first"))
    (held,) = await _lease(queue)
    async with queue._database.write() as session:
        due = clock.now() + MINUTE
        await queue.retry_all(session, [Retry(held, due, b"second")])

    assert await _lease(queue) == []
    assert (await queue.depth("q")).delayed == 1
    clock.advance(seconds=60)
    (again,) = await _lease(queue)
    assert (again.payload, again.attempt, again.retries) == (b"second", 2, 1)


async def test_urgent_jobs_overtake_normal_ones_and_these_low_ones(queue: SqlQueue):
    await _put(queue, _job(b"low", priority=Priority.LOW), _job(b"normal"))
    await _put(queue, _job(b"urgent", priority=Priority.URGENT))

    assert _payloads(await _lease(queue)) == [b"urgent", b"normal", b"low"]


async def test_weight_bounds_a_lease_but_one_heavy_job_goes(queue: SqlQueue, clock: FixedClock):
    for weight in (90, 5, 5, 5):
        await _put(queue, _job(str(weight).encode(), weight=weight))
        clock.advance(seconds=1)

    assert _payloads(await _lease(queue, max_weight=10)) == [b"90"]
    assert _payloads(await _lease(queue, max_weight=10)) == [b"5", b"5"]


async def test_a_key_belongs_to_one_owner_at_a_time(
    queue: SqlQueue, database: Database, clock: FixedClock
):
    other = SqlQueue(database, clock, owner="two")
    await _put(queue, _job(b"a1", ordering_key="a"), _job(b"b1", ordering_key="b"))
    await _put(queue, _job(b"a2", ordering_key="a"))
    assert _payloads(await _lease(queue, limit=1)) == [b"a1"]

    assert _payloads(await _lease(other)) == [b"b1"]
    assert _payloads(await _lease(queue)) == [b"a2"]


async def test_a_key_belongs_to_one_consumer_of_a_process_at_a_time(queue: SqlQueue):
    keys = [(b"a1", "a"), (b"b1", "b"), (b"a2", "a"), (b"b2", "b")]
    await _put(queue, *(_job(payload, ordering_key=key) for payload, key in keys))
    first, second = queue.consumer(1), queue.consumer(2)
    held = await _lease_group(first, limit=1)

    assert _payloads(held) == [b"a1"]
    assert _payloads(await _lease_group(second)) == [b"b1", b"b2"]
    assert await _lease_group(queue) == []
    assert await _lease_group(second) == []
    assert _payloads(await _lease_group(first)) == [b"a2"]
    await first.release(held)
    assert await _lease_group(second) == [], "the other batch of the project is still in progress"


async def test_consumers_are_woken_by_a_commit_of_any_of_them(queue: SqlQueue):
    consumer = queue.consumer(1)
    waiting = asyncio.create_task(consumer.wait("q", timedelta(seconds=30)))
    await asyncio.sleep(0)
    await _put(queue, _job())

    await asyncio.wait_for(waiting, timeout=20)


async def test_a_restarted_owner_gets_the_jobs_of_its_consumers_back(
    database: Database, clock: FixedClock
):
    queue = SqlQueue(database, clock, owner="one_1")
    jobs = [_job(payload, ordering_key=payload.decode()) for payload in (b"1", b"2", b"3")]
    await _put(queue, *jobs)
    for consumer in (queue, queue.consumer(1), SqlQueue(database, clock, owner="onex1/1")):
        await _lease(consumer, limit=1)

    restarted = SqlQueue(database, clock, owner="one_1")
    assert await restarted.reclaim() == 2
    assert _payloads(await _lease(restarted)) == [b"1", b"2"]


async def test_idle_consumers_share_a_statement(postgres_database: Database):
    empty = EmptyQueues(postgres_database, ask_seconds=3600)
    clock = FixedClock(datetime(2026, 1, 1, tzinfo=UTC))
    queue = SqlQueue(postgres_database, clock, empty=empty)

    async def lease(name: str) -> list[Job]:
        return await queue.consumer(1).lease(name, limit=1, duration=MINUTE)

    assert [await lease(name) for name in ("p", "q", "r")] == [[], [], []]
    with sent_statements(postgres_database) as sent:
        assert [await lease(name) for name in ("p", "q", "r")] == [[], [], []]
    assert sent == []

    await _put(queue, _job(b"1"))
    assert [len(await lease(name)) for name in ("p", "q", "r")] == [0, 1, 0]
    assert await queue.unfinished(["p", "q", "r"]) == {"q"}


async def test_a_lease_passes_over_the_lanes_it_is_told(queue: SqlQueue):
    await _put(queue, _job(b"endless", lane="a"), _job(b"other", lane="b"), _job(b"none"))
    jobs = await queue.lease("q", limit=9, duration=MINUTE, without_lanes=["a"])

    assert _payloads(jobs) == [b"other", b"none"]
    assert await queue.lease("q", limit=9, duration=MINUTE, without_lanes=["a", "b"]) == []
    assert _payloads(await _lease(queue)) == [b"endless"]


async def test_lanes_with_the_same_limit_share_it(queue: SqlQueue, clock: FixedClock):
    for payload, lane in ((b"a1", "a"), (b"b1", "b"), (b"a2", "a"), (b"c1", "c"), (b"none", None)):
        await _put(queue, _job(payload, lane=lane))
        clock.advance(seconds=1)
    slow = LaneLimit("slow", 2)
    jobs = await queue.lease("q", limit=9, duration=MINUTE, lane_limits={"a": slow, "b": slow})

    assert _payloads(jobs) == [b"a1", b"b1", b"c1", b"none"]
    assert _payloads(await _lease(queue)) == [b"a2"]


async def test_jobs_are_released_together_or_not_at_all(queue: SqlQueue, clock: FixedClock):
    await _put(queue, _job(b"1"), _job(b"2"))
    first, second = await _lease(queue)
    lost = msgspec.structs.replace(second, lease=uuid4())
    due = clock.now() + MINUTE
    with pytest.raises(LeaseLost):
        async with queue._database.write() as session:
            await queue.retry_all(session, [Retry(first, due, b"x"), Retry(lost, due, b"x")])
    assert (await queue.depth("q")).leased == 2

    async with queue._database.write() as session:
        await queue.retry_all(
            session, [Retry(first, due, b"later"), Retry(second, clock.now(), b"now")]
        )
    assert _payloads(await _lease(queue)) == [b"now"]
    clock.advance(seconds=60)
    assert b"later" in _payloads(await _lease(queue))


async def test_a_group_is_of_one_key_and_comes_back_whole(queue: SqlQueue, clock: FixedClock):
    for payload, key in ((b"a1", "a"), (b"b1", "b"), (b"a2", "a")):
        await _put(queue, _job(payload, ordering_key=key))
        clock.advance(seconds=1)
    group = await queue.lease_group("q", limit=10, duration=MINUTE, max_weight=10)
    await _put(queue, _job(b"a3", ordering_key="a"))
    clock.advance(seconds=61)
    again = await queue.lease_group("q", limit=10, duration=MINUTE, max_weight=1)

    assert _payloads(group) == [b"a1", b"a2"]
    assert _payloads(again) == [b"a1", b"a2"]
    assert {job.group for job in again} == {group[0].group}
    assert isinstance(group[0].group, UUID)


async def test_a_dead_lettered_job_is_not_leased_until_it_is_requeued(queue: SqlQueue):
    await _put(queue, _job())
    (held,) = await _lease(queue)
    async with queue._database.write() as session:
        await queue.dead_letter(session, held, "cannot be read")

    assert await _lease(queue) == []
    assert (await queue.depth("q")).failed == 1
    async with queue._database.write() as session:
        assert await queue.requeue(session, "q") == 1
    assert _payloads(await _lease(queue)) == [b"work"]


async def test_a_released_job_is_due_at_once(queue: SqlQueue):
    await _put(queue, _job())
    await queue.release(await _lease(queue))

    assert _payloads(await _lease(queue)) == [b"work"]


async def test_a_restarted_owner_gets_its_jobs_back_and_nobody_elses(
    queue: SqlQueue, database: Database, clock: FixedClock
):
    await _put(queue, _job(b"mine"))
    await _lease(queue)
    other = SqlQueue(database, clock, owner="two")
    await _put(queue, _job(b"theirs"))
    assert _payloads(await other.lease("q", limit=5, duration=MINUTE)) == [b"theirs"]
    restarted = SqlQueue(database, clock, owner="one")

    assert await restarted.reclaim() == 1
    (again,) = await _lease(restarted)
    assert (again.payload, again.attempt, again.retries) == (b"mine", 2, 0)


async def test_depth_tells_the_lag_of_the_oldest_ready_job(queue: SqlQueue, clock: FixedClock):
    await _put(queue, _job(), _job(), _job(run_at=clock.now() + MINUTE))
    await _lease(queue, limit=1)
    clock.advance(seconds=7)
    depth = await queue.depth("q")

    assert (depth.ready, depth.delayed, depth.leased, depth.failed) == (1, 1, 1, 0)
    assert depth.lag_seconds == pytest.approx(7, abs=0.001)


async def test_two_owners_at_once_never_lease_the_same_job(
    queue: SqlQueue, database: Database, clock: FixedClock
):
    owners = [SqlQueue(database, clock, owner=str(number)) for number in range(4)]
    await _put(queue, *[_job(str(number).encode()) for number in range(40)])
    leased = await asyncio.gather(*[_lease(owner) for owner in owners])
    leased += await asyncio.gather(*[_lease(owner, limit=40) for owner in owners])
    seen = [payload for jobs in leased for payload in _payloads(jobs)]

    assert len(seen) == len(set(seen)) == 40


async def test_a_commit_wakes_whoever_waits(queue: SqlQueue):
    waiting = asyncio.create_task(queue.wait("q", timedelta(seconds=30)))
    await asyncio.sleep(0)
    await _put(queue, _job())

    await asyncio.wait_for(waiting, timeout=20)


async def test_a_wake_up_before_the_wait_is_not_lost(queue: SqlQueue):
    queue.wake("q")

    await asyncio.wait_for(queue.wait("q", timedelta(seconds=30)), timeout=20)


async def test_a_clock_that_was_set_back_keeps_no_job_waiting(
    queue: SqlQueue, clock: FixedClock
) -> None:
    now = clock.now()
    later = _job(b"later", run_at=now + MINUTE)
    await _put(queue, *(_job(b"%d" % number) for number in range(3)), later)
    clock.advance(seconds=-3600)
    assert await _lease(queue) == []

    assert await queue.catch_up() == 4
    assert [job.payload for job in await _lease(queue)] == [b"0", b"1", b"2"]
    clock.advance(seconds=59)
    assert await _lease(queue) == []
    clock.advance(seconds=1)  # the delay of the last one, no more and no less
    assert b"later" in [job.payload for job in await _lease(queue)]
    assert await queue.catch_up() == 0


async def test_delayed_jobs_and_other_clocks_are_left_alone(
    queue: SqlQueue, clock: FixedClock
) -> None:
    await _put(queue, _job(run_at=clock.now() + 60 * MINUTE))
    assert await queue.catch_up() == 0
    clock.advance(seconds=-30)  # as of another machine that shares the database
    assert await queue.catch_up() == 0
    assert await _lease(queue) == []


async def test_beside_excluded_lanes_the_oldest_jobs_are_leased_first(queue: SqlQueue, clock):
    for number in range(12):
        lane = ("a", "b", None, "c", "", "Ä")[number % 6]
        await _put(queue, _job(f"{number}".encode(), lane=lane))
        clock.advance(seconds=1)
    await _put(queue, _job(b"urgent", lane="c", priority=Priority.URGENT), _job(b"z", lane="z"))
    await _put(queue, _job(b"later", lane="b", run_at=clock.now() + MINUTE))
    payloads = [
        _payloads(
            await queue.lease("q", limit=4, duration=MINUTE, without_lanes=["b", "unknown", "z"])
        )
        for _ in range(4)
    ]

    assert payloads == [
        [b"urgent", b"0", b"2", b"3"],
        [b"4", b"5", b"6", b"8"],
        [b"9", b"10", b"11"],
        [],
    ]
    assert _payloads(await _lease(queue)) == [b"1", b"7", b"z"]


@pytest.mark.parametrize("excluded", [["stuck"], ["stuck", "other"]])
def test_leasing_does_not_read_the_backlog_of_an_excluded_lane(tmp_path, excluded):
    """Counts SQLite's instructions beside 100 and 5,000 waiting jobs of a lane."""
    migrate(f"sqlite+aiosqlite:///{tmp_path / 'hoglet.db'}")
    (statement,) = Statements(is_sqlite=True).due[True]
    now = datetime(2026, 1, 1, tzinfo=UTC)
    parameters = {"queue": "q", "owner": "one", "now": now, "lanes": excluded, "most": 10}
    compiled = statement.params(parameters).compile(
        dialect=sqlite.dialect(), compile_kwargs={"literal_binds": True}
    )
    with closing(sqlite3.connect(tmp_path / "hoglet.db")) as connection:
        steps = []
        for number in (100, 5_000):
            connection.executemany(
                "INSERT INTO jobs (id, queue, priority, run_at, enqueued_at, weight, lane,"
                " attempts, retries, payload) VALUES (?, 'q', 1, ?, ?, 1, ?, 0, 0, x'00')",
                [
                    (new_id().hex, "2025-12-31T00:00:00Z", "2025-12-31T00:00:00Z", lane)
                    for lane in ["stuck"] * number + ["free"] * 20
                ],
            )
            counted = itertools.count()
            connection.set_progress_handler(lambda counted=counted: next(counted) < 0, 1)
            assert len(connection.execute(str(compiled)).fetchall()) == 10
            connection.set_progress_handler(None, 1)
            steps.append(next(counted))

    assert steps[1] < 1.1 * steps[0]


async def test_discarding_a_lane_leaves_what_is_held_and_other_lanes(
    queue: SqlQueue, clock: FixedClock
):
    await _put(queue, _job(b"held", lane="a"))
    held = await _lease(queue)
    await _put(queue, _job(b"free", lane="a"), _job(b"other", lane="b"))
    await _put(queue, NewJob(queue="another", payload=b"another", lane="a"))

    async with queue._database.write() as session:
        assert await queue.discard(session, "q", "a") == 1
    assert _payloads(await _lease(queue)) == [b"other"]
    async with queue._database.write() as session:
        await queue.finish(session, held)  # its holder has not lost it
    assert (await queue.depth("another")).ready == 1


async def test_discarding_a_lane_takes_what_nobody_holds_any_more(
    queue: SqlQueue, clock: FixedClock
):
    await _put(queue, _job(b"lost", lane="a"))
    lost = await _lease(queue)
    clock.advance(seconds=60)

    async with queue._database.write() as session:
        assert await queue.discard(session, "q", "a") == 1
    with pytest.raises(LeaseLost):
        async with queue._database.write() as session:
            await queue.finish(session, lost)


async def test_a_group_is_bounded_by_bytes_and_one_large_job_goes_alone(queue: SqlQueue):
    sizes = (40, 40, 40, 300, 10)
    jobs = [_job(b"x" * size, ordering_key="k") for size in sizes]
    await _put(queue, *jobs)

    groups: list[list[int]] = []
    while group := await queue.lease_group(
        "q", limit=10, duration=MINUTE, max_weight=10, max_bytes=100
    ):
        groups.append([len(job.payload) for job in group])
        async with queue._database.write() as session:
            await queue.finish(session, group)
    assert groups == [[40, 40], [40], [300], [10]]


async def test_an_undone_group_is_leased_again_as_if_it_were_new(queue: SqlQueue):
    await _put(queue, _job(b"a1", ordering_key="a"), _job(b"a2", ordering_key="a"))
    undone = await _lease_group(queue, limit=1)

    await queue.undo_lease(undone)
    group = await _lease_group(queue)

    assert _payloads(undone) == [b"a1"]
    assert _payloads(group) == [b"a1", b"a2"]
    assert [job.attempt for job in group] == [1, 1]
    assert group[0].group != undone[0].group


@pytest.mark.parametrize("size", [1, 10_000])
async def test_a_job_enqueued_as_a_dead_letter_keeps_its_error(
    queue: SqlQueue, database: Database, size: int
):
    await _put(queue, _job(b"x" * size, error="too much"), _job(b"y" * size))

    async with database.read() as session:
        assert [job.error for job in await failed_jobs(session)] == ["too much"]


async def test_a_job_may_be_enqueued_as_a_dead_letter(queue: SqlQueue):
    await _put(queue, _job(b"broken", error="too much"), _job(b"sound"))

    assert _payloads(await _lease(queue)) == [b"sound"]
    assert (await queue.depth("q")).failed == 1
    async with queue._database.write() as session:
        assert await queue.requeue(session, "q") == 1
    assert _payloads(await _lease(queue)) == [b"broken"]


@pytest.fixture
def marked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Marks of changes are used at once instead of after three seconds."""
    monkeypatch.setattr("hoglet.store.database.SETTLED_NS", -(10**18))


@pytest.mark.usefixtures("marked")
async def test_an_empty_queue_is_read_again_after_a_commit_of_another_process(
    queue: SqlQueue, database: Database, clock: FixedClock
):
    assert await _lease(queue) == [] == await _lease(queue)
    await _put(SqlQueue(database, clock, owner="other process"), _job())

    async with asyncio.timeout(30):
        while not (leased := await _lease(queue)):  # noqa: ASYNC110 (nothing announces them)
            await asyncio.sleep(0.05)
    assert _payloads(leased) == [b"work"]


@pytest.mark.usefixtures("marked")
async def test_a_delayed_job_is_found_although_nothing_is_committed_when_it_is_due(
    queue: SqlQueue, clock: FixedClock
):
    await _put(queue, _job(run_at=clock.now() + MINUTE))
    assert await _lease(queue) == []
    clock.advance(seconds=60)

    assert _payloads(await _lease(queue)) == [b"work"]


@pytest.mark.usefixtures("marked")
async def test_an_expired_lease_is_found_although_nothing_is_committed_when_it_expires(
    queue: SqlQueue, database: Database, clock: FixedClock
):
    await _put(queue, _job())
    await _lease(SqlQueue(database, clock, owner="killed"))
    assert await _lease(queue) == []
    clock.advance(seconds=120)

    assert _payloads(await _lease(queue)) == [b"work"]


@pytest.mark.usefixtures("marked")
async def test_failed_jobs_are_found_when_they_are_requeued(queue: SqlQueue, database: Database):
    await _put(queue, _job())
    [job] = await _lease(queue)
    async with database.write() as session:
        await queue.dead_letter(session, job, "why")
    assert await _lease(queue) == [] == await _lease(queue)
    async with database.write() as session:
        await queue.requeue(session, "q")

    assert _payloads(await _lease(queue)) == [b"work"]
