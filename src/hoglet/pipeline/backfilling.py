"""Backfills: stored events of a window become runs of one function, a page at a time.

A page of runs and the place reached are one commit, and a run's id comes from the backfill and the
event, so a crash neither skips nor doubles an event.

Source: spec/hog-functions.md section 9.1.
"""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid5

import msgspec
import orjson
import structlog
from sqlalchemy.ext.asyncio import AsyncSession

from hoglet.access.service import Access
from hoglet.functions.backfills import COMPLETED, RUNNING, Backfills, Window
from hoglet.functions.jobs import (
    BACKFILL_QUEUE,
    INVOKE_QUEUE,
    BackfillV1,
    InvokeV1,
    decode_backfill,
    encode,
)
from hoglet.functions.running.invocation_globals import (
    event_globals,
    person_globals,
    project_globals,
)
from hoglet.kit.clock import Clock
from hoglet.pipeline.transforming import iso
from hoglet.queue import Job, LeaseLost, NewJob, Priority, Queue
from hoglet.store.database import Database
from hoglet.warehouse import Budget, Warehouse
from hoglet.warehouse.values import instant_text

log = structlog.get_logger()

LEASE = timedelta(minutes=5)
IDLE = timedelta(seconds=2)
PAGE_EVENTS = 500
PAGE_SECONDS = 30
MOST_WAITING = 5000  # runs in the queue; a backfill then makes way for live events
PAUSE = timedelta(seconds=5)
_NOBODY = UUID(int=0)
_BEGINNING = datetime(1970, 1, 2, tzinfo=UTC)


class BackfillWorker:
    """Works ``functions.backfill`` off."""

    def __init__(
        self,
        *,
        queue: Queue,
        database: Database,
        warehouse: Warehouse,
        backfills: Backfills,
        access: Access,
        clock: Clock,
        site_url: str,
    ) -> None:
        self._queue = queue
        self._database = database
        self._warehouse = warehouse
        self._backfills = backfills
        self._access = access
        self._clock = clock
        self._site_url = site_url
        self._stopping = asyncio.Event()

    async def run(self) -> None:
        """Work until :meth:`stop`."""
        while not self._stopping.is_set():
            jobs = await self._queue.lease(BACKFILL_QUEUE, limit=1, duration=LEASE)
            for job in jobs:
                await self._do(job)
            if not jobs:
                await self._queue.wait(BACKFILL_QUEUE, IDLE)

    def stop(self) -> None:
        """Let :meth:`run` end."""
        self._stopping.set()
        self._queue.wake(BACKFILL_QUEUE)

    async def _do(self, job: Job) -> None:
        try:
            wanted = decode_backfill(job.payload)
            if (await self._queue.depth(INVOKE_QUEUE)).ready > MOST_WAITING:
                await self._later(job, PAUSE)
            else:
                await self._next_page(job, wanted)
        except LeaseLost:
            return
        except Exception:
            log.exception("a backfill could not go on", action="backfill_failed", job=str(job.id))
            await self._later(job, PAUSE * min(job.attempt, 60))

    async def _next_page(self, job: Job, wanted: BackfillV1) -> None:
        async with self._database.read() as session:
            window = await self._backfills.window(session, wanted.backfill_id)
        if window is None:
            async with self._database.write() as session:
                await self._queue.finish(session, [job])
            return
        rows = await self._read(wanted, window)
        runs = [await self._job(wanted, row) for row in rows]
        async with self._database.write() as session:
            await self._queue.enqueue(session, runs)
            await self._settle(session, job, wanted, rows)

    async def _settle(
        self, session: AsyncSession, job: Job, wanted: BackfillV1, rows: list[Sequence[Any]]
    ) -> None:
        if len(rows) < PAGE_EVENTS:
            await self._backfills.settle(session, wanted.backfill_id, COMPLETED)
            await self._queue.finish(session, [job])
            return
        await self._backfills.settle(session, wanted.backfill_id, RUNNING)
        uuid, timestamp = rows[-1][0], rows[-1][3]
        further = msgspec.structs.replace(wanted, after_uuid=uuid, after_at=timestamp)
        await self._queue.retry(session, job, run_at=self._clock.now(), payload=encode(further))

    async def _read(self, wanted: BackfillV1, window: Window) -> list[Sequence[Any]]:
        conditions = ["project_id = {project_id:Int64}"]
        params: dict[str, Any] = {"project_id": wanted.project_id, "limit": PAGE_EVENTS}
        if window.start_at is not None:
            conditions.append("timestamp >= {start_at:DateTime64(6, 'UTC')}")
            params["start_at"] = instant_text(window.start_at)
        if window.end_at is not None:
            conditions.append("timestamp < {end_at:DateTime64(6, 'UTC')}")
            params["end_at"] = instant_text(window.end_at)
        if window.events is not None:
            conditions.append("event IN {events:Array(String)}")
            params["events"] = window.events
        if wanted.after_uuid is not None:
            conditions.append(
                "(timestamp, uuid) > ({after_at:DateTime64(6, 'UTC')}, {after_uuid:UUID})"
            )
            params["after_at"] = instant_text(wanted.after_at or _BEGINNING)
            params["after_uuid"] = str(wanted.after_uuid)
        found = await self._warehouse.query(
            "SELECT uuid, event, properties, timestamp, distinct_id, person_id, "  # noqa: S608 (fixed texts)
            f"person_properties, elements_chain FROM events WHERE {' AND '.join(conditions)} "
            "ORDER BY timestamp, uuid LIMIT 1 BY uuid LIMIT {limit:UInt32}",
            params,
            budget=Budget(seconds=PAGE_SECONDS),
        )
        return list(found.rows)

    async def _job(self, wanted: BackfillV1, row: Sequence[Any]) -> NewJob:
        uuid = row[0] if isinstance(row[0], UUID) else UUID(str(row[0]))
        run_id = uuid5(wanted.backfill_id, str(uuid))
        invoke = InvokeV1(
            project_id=wanted.project_id,
            function_id=wanted.function_id,
            invocation_id=run_id,
            globals=await self._globals(wanted, row),
        )
        return NewJob(queue=INVOKE_QUEUE, payload=encode(invoke), id=run_id, priority=Priority.LOW)

    async def _globals(self, wanted: BackfillV1, row: Sequence[Any]) -> dict[str, Any]:
        uuid, event, properties, timestamp, distinct_id, person_id, person, chain = row
        project = await self._access.project(wanted.project_id)
        shown = project_globals(
            project_id=wanted.project_id,
            name=project.name if project else "",
            site_url=self._site_url,
        )
        made: dict[str, Any] = {
            "project": shown,
            "source": {"name": f"Batch export: {wanted.batch_export_id}", "url": shown["url"]},
            "groups": {},
            "event": event_globals(
                project_url=shown["url"],
                uuid=str(uuid),
                event=event,
                distinct_id=distinct_id,
                properties=orjson.loads(properties or "{}"),
                timestamp=iso(timestamp),
                elements_chain=chain,
            ),
        }
        if UUID(str(person_id)) != _NOBODY:
            made["person"] = person_globals(
                project_url=shown["url"],
                person_id=str(person_id),
                properties=orjson.loads(person or "{}"),
                distinct_id=distinct_id,
                name_properties=project.person_display_name_properties if project else None,
            )
        return made

    async def _later(self, job: Job, pause: timedelta) -> None:
        async with self._database.write() as session:
            await self._queue.retry(session, job, run_at=self._clock.now() + pause)
