"""Backfills: enqueue runs of a function for stored events, page by page.

The runs of a page and the new position are committed together, and a run's id is derived from the
backfill and the event, so a crash neither skips nor repeats an event.

Source: docs/spec/hog-functions.md#91-enable_backfills.
"""

from datetime import timedelta
from typing import NamedTuple
from uuid import uuid5

from sqlalchemy.ext.asyncio import AsyncSession

from hoglet.functions.backfills import repository as backfill_repository
from hoglet.functions.backfills.service import MAX_QUEUED_RUNS, event_names
from hoglet.functions.executable.model import ExecutableFunction
from hoglet.functions.jobs import (
    INVOKE_QUEUE,
    BackfillV1,
    InvokeV1,
    decode_backfill,
    encode,
    line_of,
)
from hoglet.functions.loader import FunctionLoader
from hoglet.functions.tables import BackfillRow, BatchExportRow
from hoglet.kit.backoff import Backoff
from hoglet.kit.clock import Clock
from hoglet.pipeline.delivery import ordering as lines
from hoglet.pipeline.stored_events import EventPage, EventWindow, StoredEvent, StoredEvents
from hoglet.queue import Job, NewJob, Priority, Queue
from hoglet.queue.consumers import LEASE
from hoglet.queue.worker import JobPolicy
from hoglet.store.database import Database

PAGE_EVENTS = 500
PAGE_BYTES = 8 * 1024 * 1024  # of the events' texts; a page's runs are held in memory
MAX_WAITING = 5000  # queued runs; beyond it, a backfill yields to live events
PAUSE = timedelta(seconds=5)
BREATH = timedelta(seconds=0.5)  # while enough runs are queued
_READING = (backfill_repository.STARTING, backfill_repository.RUNNING)


class _Page(NamedTuple):
    """The events of a page, their runs, and the total number of events in the time range."""

    events: EventPage
    runs: list[NewJob]
    total: int


BACKFILL_POLICY = JobPolicy(
    lease=LEASE,
    keeps_lease=True,
    attempts=None,
    backoff=Backoff(first=PAUSE.total_seconds(), longest=60 * PAUSE.total_seconds()),
    idle=timedelta(seconds=2),
)


class BackfillPager:
    """Processes ``functions.backfill`` jobs: each enqueues the runs of one page."""

    def __init__(
        self,
        *,
        queue: Queue,
        database: Database,
        events: StoredEvents,
        functions: FunctionLoader,
        clock: Clock,
    ) -> None:
        self._queue = queue
        self._database = database
        self._functions = functions
        self._clock = clock
        self._stored = events

    async def work(self, job: Job) -> None:
        """Enqueue the next page, or wait while enough runs are queued; finishes the job itself."""
        request = decode_backfill(job.payload)
        if (await self._queue.depth(INVOKE_QUEUE)).ready > MAX_WAITING:
            await self._later(job, PAUSE)
        else:
            await self._go_on(job, request)

    async def _go_on(self, job: Job, request: BackfillV1) -> None:
        """Enqueue the next page, or clean up after the last page, a pause or a cancellation."""
        async with self._database.read() as session:
            backfill = await backfill_repository.of_worker(session, request.backfill_id)
        if backfill is None or backfill[0].status not in _READING or backfill[0].all_read:
            await self._finish(job, request)
            return
        row, export = backfill
        if row.events_queued - row.runs_succeeded - row.runs_failed > MAX_QUEUED_RUNS - PAGE_EVENTS:
            await self._later(job, BREATH)
            return
        window = _window(row, export, request)
        total = row.events_total
        if total is None:
            total = await self._stored.count(window)
        events = await self._stored.page(window, limit=PAGE_EVENTS, max_bytes=PAGE_BYTES)
        function = await self._functions.load_one(request.project_id, request.function_id)
        runs = [await self._job(request, item, row, function) for item in events.rows]
        async with self._database.write() as session:
            await self._queue_page(session, job, request, _Page(events, runs, total))

    async def _finish(self, job: Job, request: BackfillV1) -> None:
        """Mark the reading as finished; a cancelled backfill drops its queued runs."""
        async with self._database.write() as session:
            backfill = await backfill_repository.of_worker(session, request.backfill_id)
            if backfill is None or backfill[0].status == backfill_repository.CANCELLED:
                await lines.discard(session, self._queue, str(request.backfill_id))
            await self._queue.finish(session, [job])

    async def _queue_page(
        self, session: AsyncSession, job: Job, request: BackfillV1, page: _Page
    ) -> None:
        """Enqueue the runs of a page and store the position, in one commit."""
        backfill = await backfill_repository.of_worker(session, request.backfill_id)
        if backfill is None or backfill[0].status not in _READING:  # paused or cancelled meanwhile
            await self._queue.retry(session, job, run_at=self._clock.now())
            return
        row, _ = backfill
        await lines.enqueue(session, self._queue, page.runs)
        row.status = backfill_repository.RUNNING
        total = page.total if row.events_total is None else row.events_total
        row.events_total = max(total, row.events_queued + len(page.runs))
        row.events_queued += len(page.runs)
        row.all_read = page.events.is_last
        if page.events.rows:
            last = page.events.rows[-1]
            row.after_uuid, row.after_at = last.uuid, last.timestamp
        if row.all_read:
            await session.flush()
            await backfill_repository.complete(session, [row.id], self._clock.now())
            await self._queue.finish(session, [job])
        else:
            await self._queue.retry(session, job, run_at=self._clock.now())

    async def _job(
        self,
        request: BackfillV1,
        event: StoredEvent,
        row: BackfillRow,
        function: ExecutableFunction | None,
    ) -> NewJob:
        run_id = uuid5(request.backfill_id, str(event.uuid))
        invoke = InvokeV1(
            project_id=request.project_id,
            function_id=request.function_id,
            invocation_id=run_id,
            globals=await self._stored.globals(request, event),
            start_at="filter" if row.with_filters else "inputs",
            backfill_id=request.backfill_id,
        )
        line = None
        if function is not None and function.delivery.ordered_by:
            line = line_of(function.id, event.distinct_id, backfill=str(request.backfill_id))
        return NewJob(
            queue=INVOKE_QUEUE,
            payload=encode(invoke),
            id=run_id,
            priority=Priority.LOW,
            ordering_key=line,
            lane=str(request.backfill_id),
        )

    async def _later(self, job: Job, pause: timedelta) -> None:
        async with self._database.write() as session:
            await self._queue.retry(session, job, run_at=self._clock.now() + pause)


def _window(row: BackfillRow, export: BatchExportRow, request: BackfillV1) -> EventWindow:
    """The rest of a backfill's time range; jobs of older versions contain the position."""
    return EventWindow(
        project_id=request.project_id,
        start_at=row.start_at,
        end_at=row.end_at
        or row.created_at + timedelta(days=1),  # excludes events that arrive during the backfill
        events=event_names(export.filters),
        after_at=row.after_at or request.after_at,
        after_uuid=row.after_uuid or request.after_uuid,
    )
