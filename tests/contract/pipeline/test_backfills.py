"""Backfills over stored events, with a real warehouse.

Source: docs/spec/hog-functions.md#91-enable_backfills.
"""

import asyncio
from datetime import UTC, timedelta
from uuid import UUID

import pytest

from hoglet.functions.backfills import repository as backfill_repository
from hoglet.functions.backfills.repository import BackfillProgress
from hoglet.functions.backfills.service import Backfills
from hoglet.functions.executable.model import ExecutableFunction
from hoglet.functions.jobs import BACKFILL_QUEUE, INVOKE_QUEUE, decode_invoke
from hoglet.functions.tables import BackfillRow, BatchExportRow, HogFunctionRow
from hoglet.kit.clock import FixedClock, new_id
from hoglet.pipeline import backfills as backfilling
from hoglet.pipeline.backfills import BACKFILL_POLICY, BackfillPager
from hoglet.pipeline.stored_events import StoredEvents
from hoglet.queue import Priority
from hoglet.queue.sql import SqlQueue
from hoglet.queue.worker import JobHandler, LeasedWorker
from support.pipeline import at
from support.seeds import seeds

NOW = at("2026-05-01T12:00:00+00:00")
COLUMNS = (
    "project_id", "uuid", "event", "properties", "timestamp", "distinct_id", "person_id",
    "person_properties",
)  # fmt: skip


class NoProjects:
    async def project(self, _id):
        return None


class OneFunction:
    """The part of the functions' service that a backfill asks."""

    def __init__(self, database, clock, function):
        self.database, self.clock, self.function = database, clock, function

    async def load_one(self, _project_id, _id):
        return self.function


class World:
    """A function with backfills enabled, on a project of its own."""

    def __init__(self, database, warehouse, project_id):
        self.database, self.warehouse, self.project_id = database, warehouse, project_id
        self.clock = FixedClock(NOW)
        self.queue = SqlQueue(database, self.clock)
        self.function = ExecutableFunction(
            id=str(new_id()), project_id=project_id, type="destination"
        )
        self.functions = OneFunction(database, self.clock, self.function)
        self.backfills = Backfills(self.functions, self.queue)
        self.export = new_id()

        class Scope:
            class project:  # noqa: N801
                id = project_id

        self.scope = Scope

    async def open(self, filters):
        async with self.database.write() as session:
            function_id = UUID(self.function.id)
            session.add(_row(function_id, self.project_id))
            await session.flush()
            session.add(
                BatchExportRow(
                    id=self.export, project_id=self.project_id, function_id=function_id,
                    filters=filters, created_at=NOW,
                )
            )  # fmt: skip

    def stored(self):
        return StoredEvents(self.warehouse, NoProjects(), "http://hoglet")

    def worker(self, stored=None):
        pager = BackfillPager(
            queue=self.queue, database=self.database, events=stored or self.stored(),
            functions=self.functions, clock=self.clock,
        )  # fmt: skip
        handler = JobHandler(pager.work, finishes_jobs=True)
        return LeasedWorker(
            self.queue, self.database, self.clock, BACKFILL_QUEUE, handler, policy=BACKFILL_POLICY
        )

    async def start(self, **body):
        window = {"start_at": (NOW - timedelta(hours=24)).isoformat(), "end_at": NOW.isoformat()}
        return (await self.backfills.start(self.scope, str(self.export), {**window, **body}))["id"]

    async def work(self, pages=50):
        for _ in range(pages):
            leased = await self.queue.lease(BACKFILL_QUEUE, limit=1, duration=timedelta(minutes=1))
            if not leased:
                return
            await self.worker()._do(leased[0])

    async def control(self, backfill, verb):
        return await self.backfills.control(self.scope, str(self.export), backfill, verb)

    async def get(self, backfill):
        return await self.backfills.get(self.scope, str(self.export), backfill)

    async def runs(self):
        """Leases what is queued."""
        return await self.queue.lease(INVOKE_QUEUE, limit=5000, duration=timedelta(minutes=1))

    async def store(self, *events):
        rows = [
            (self.project_id, new_id(), name, '{"n": 1}', NOW - timedelta(hours=hours), "ada",
             person, '{"email": "x@y.z"}')
            for name, hours, person in events
        ]  # fmt: skip
        await self.warehouse.insert("events", COLUMNS, rows)
        return rows


def _row(function_id, project_id):
    return HogFunctionRow(
        id=function_id, project_id=project_id, type="destination", description="",
        created_at=NOW, updated_at=NOW, enabled=True, deleted=False, hog="", inputs_schema=[],
        inputs={}, filters={}, matcher={},
    )  # fmt: skip


@pytest.fixture
async def world(database, warehouse, fresh_project_id):
    created = World(database, warehouse, fresh_project_id)
    await created.open([{"id": "paid"}])
    return created


@pytest.mark.parametrize("page", [2, 500])
async def test_each_event_of_the_window_runs_once(world, monkeypatch, page):
    monkeypatch.setattr(backfilling, "PAGE_EVENTS", page)
    rows = await world.store(
        ("paid", 1, new_id()), ("paid", 2, UUID(int=0)), ("paid", 2, new_id()),
        ("other", 2, new_id()), ("paid", 3, new_id()), ("paid", 30, new_id()),
    )  # fmt: skip
    backfill = await world.start()
    await world.work()

    jobs = await world.runs()
    runs = [decode_invoke(each.payload) for each in jobs]
    expected = {
        str(row[1]) for row in rows if row[2] == "paid" and row[4] > NOW - timedelta(days=1)
    }
    assert len(runs) == len(expected) == 4
    assert {run.globals["event"]["uuid"] for run in runs} == expected
    assert {run.globals["source"]["name"] for run in runs} == {f"Batch export: {world.export}"}
    assert all(run.globals["groups"] == {} for run in runs)
    assert sum("person" in run.globals for run in runs) == 3
    assert {(each.priority, each.lane) for each in jobs} == {(Priority.LOW, backfill)}
    state = await world.get(backfill)
    assert (state["status"], state["events_total"], state["events_queued"]) == ("Running", 4, 4)


async def test_pages_of_large_events_are_bounded_by_bytes(world, monkeypatch):
    """Five hundred events of a megabyte would be held and committed at once."""
    monkeypatch.setattr(backfilling, "PAGE_BYTES", 60)
    rows = await world.store(*[("paid", 1 + number, new_id()) for number in range(7)])
    backfill = await world.start()

    queued: list[int] = []
    for _ in range(4):
        await world.work(pages=1)
        queued.append((await world.get(backfill))["events_queued"])

    assert queued == [2, 4, 6, 7]
    runs = [decode_invoke(job.payload) for job in await world.runs()]
    assert sorted(run.globals["event"]["uuid"] for run in runs) == sorted(
        str(row[1]) for row in rows
    )


@pytest.mark.parametrize("seed", seeds(1, 4))
async def test_kills_between_any_two_steps_neither_skip_nor_double(world, monkeypatch, seed):
    """The page's commit fails, or the process dies right after it."""
    monkeypatch.setattr(backfilling, "PAGE_EVENTS", 3)
    rows = await world.store(*[("paid", 1 + number % 20, new_id()) for number in range(20)])
    await world.start()
    finished: list[str] = []
    for turn in range(40):
        leased = await world.queue.lease(BACKFILL_QUEUE, limit=1, duration=timedelta(minutes=1))
        if leased:
            worker = world.worker()
            if (turn + seed) % 3 == 0:
                with monkeypatch.context() as patch:
                    patch.setattr(world.queue, "retry", _dies)
                    patch.setattr(world.queue, "finish", _dies)
                    with pytest.raises(RuntimeError):
                        await worker._do(leased[0])
            else:
                await worker._do(leased[0])
        taken = await world.runs()
        finished += [decode_invoke(each.payload).globals["event"]["uuid"] for each in taken]
        async with world.database.write() as session:
            await world.queue.finish(session, taken)
        world.clock.advance(seconds=61)

    assert sorted(finished) == sorted(str(row[1]) for row in rows)


async def _dies(*_arguments, **_more):
    raise RuntimeError


async def test_pause_resume_and_cancel(world, monkeypatch):
    monkeypatch.setattr(backfilling, "PAGE_EVENTS", 2)
    await world.store(*[("paid", 1 + number, new_id()) for number in range(8)])
    backfill = await world.start()
    await world.work(pages=1)
    assert (await world.control(backfill, "pause"))["status"] == "Paused"
    assert (await world.control(backfill, "pause"))["status"] == "Paused"
    await world.work()
    assert (await world.get(backfill))["events_queued"] == 2
    assert (await world.control(backfill, "resume"))["status"] == "Running"
    await world.work(pages=2)
    assert (await world.get(backfill))["events_queued"] == 6
    held = await world.runs()
    cancelled = await world.control(backfill, "cancel")
    assert cancelled["status"] == "Cancelled"
    assert cancelled["finished_at"] is not None
    await world.queue.release(held)
    await world.work()
    assert await world.runs() == []
    from hoglet.kit.errors import Invalid

    with pytest.raises(Invalid):
        await world.control(backfill, "resume")


async def test_a_backfill_does_not_run_far_ahead(world, monkeypatch):
    monkeypatch.setattr(backfilling, "PAGE_EVENTS", 2)
    monkeypatch.setattr(backfilling, "MAX_QUEUED_RUNS", 5)
    await world.store(*[("paid", 1 + number, new_id()) for number in range(20)])
    backfill = await world.start()
    await world.work(pages=20)
    assert (await world.get(backfill))["events_queued"] == 4


async def test_it_is_complete_when_its_runs_are(world):
    await world.store(("paid", 1, new_id()), ("paid", 2, new_id()))
    backfill = await world.start(with_filters=True)
    await world.work()
    runs = [decode_invoke(run.payload) for run in await world.runs()]
    assert [run.start_at for run in runs] == ["filter", "filter"]
    async with world.database.write() as session:
        progress = {UUID(backfill): BackfillProgress(succeeded=1, further=2)}
        await backfill_repository.count_runs(session, progress, NOW)
    assert (await world.get(backfill))["status"] == "Running"
    async with world.database.write() as session:
        progress = {UUID(backfill): BackfillProgress(succeeded=1, failed=1)}
        await backfill_repository.count_runs(session, progress, NOW)
    assert (await world.get(backfill))["status"] == "Running"  # one of the further runs
    async with world.database.write() as session:
        progress = {UUID(backfill): BackfillProgress(succeeded=1)}
        await backfill_repository.count_runs(session, progress, NOW)
    state = await world.get(backfill)
    assert (state["status"], state["runs_succeeded"], state["runs_failed"]) == ("Completed", 3, 1)
    assert (state["events_total"], state["events_queued"]) == (4, 4)


async def test_an_empty_window_is_complete_at_once(world):
    backfill = await world.start()
    await world.work()
    assert (await world.get(backfill))["status"] == "Completed"


async def test_a_backfill_of_before_the_upgrade_goes_on_where_it_was(world):
    """Its place is in its job, not in its row."""
    from hoglet.functions.jobs import BackfillV1, encode
    from hoglet.queue import NewJob

    rows = await world.store(("paid", 3, new_id()), ("paid", 2, new_id()), ("paid", 1, new_id()))
    old = new_id()
    async with world.database.write() as session:
        session.add(
            BackfillRow(id=old, batch_export_id=world.export, status="Running", created_at=NOW)
        )
        job = BackfillV1(
            world.project_id, UUID(world.function.id), world.export, old,
            after_at=rows[0][4].astimezone(UTC), after_uuid=rows[0][1],
        )  # fmt: skip
        await world.queue.enqueue(
            session, [NewJob(queue=BACKFILL_QUEUE, payload=encode(job), id=old)]
        )
    await world.work()
    runs = [decode_invoke(job.payload) for job in await world.runs()]
    assert {run.globals["event"]["uuid"] for run in runs} == {str(row[1]) for row in rows[1:]}


async def test_another_process_goes_on_within_a_minute_of_a_kill(world, monkeypatch):
    await world.store(*[("paid", hours, new_id()) for hours in range(1, 4)])
    id_ = await world.start()
    begun, stored = asyncio.Event(), world.stored()
    killed = world.worker(stored)

    async def hang(_window):
        begun.set()
        await asyncio.Event().wait()

    monkeypatch.setattr(stored, "count", hang)
    running = asyncio.create_task(killed.run())
    await begun.wait()
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    await world.work()
    assert (await world.get(id_))["events_queued"] == 0  # the lease still holds
    world.clock.advance(seconds=61)
    await world.work()
    assert (await world.get(id_))["events_queued"] == 3
