"""Finds traces of a person's events: runs and their logs, failed batches, stored results.

They are removed together with the events in the warehouse, once no run of the events is leased and
no query is in progress that could write what it has read.

Source: docs/spec/data-and-queries.md#41-persons.
"""

import asyncio
from collections.abc import AsyncIterator, Collection
from datetime import datetime
from typing import Any
from uuid import UUID

import msgspec
import structlog
from sqlalchemy import delete, exists, func, select
from sqlalchemy.ext.asyncio import AsyncSession

from hoglet.endpoints.tables import AsyncRunRow
from hoglet.events.spool import SPOOL_QUEUE, read_spooled
from hoglet.events.tables import PersonDeletionRow
from hoglet.functions.jobs import INVOKE_QUEUE, decode_invoke
from hoglet.functions.tables import DeadLetterRow
from hoglet.kit.json import dump_json, is_array, is_object, object_at
from hoglet.pipeline.delivery import ordering
from hoglet.pipeline.tables import OrderedRunRow, TelemetryRow
from hoglet.queries.tables import QueryRunRow
from hoglet.queue import Queue
from hoglet.queue.tables import JobRow
from hoglet.store.database import Database

RUNS_OF_EVENTS = """SELECT DISTINCT instance_id FROM (
    SELECT instance_id, arrayJoin(
        extractAll(message, '[0-9a-f]{{8}}(?:-[0-9a-f]{{4}}){{3}}-[0-9a-f]{{12}}')) AS named
    FROM log_entries
    WHERE project_id = {{project_id:Int64}} AND log_source = 'hog_function' AND instance_id != ''
) WHERE named GLOBAL IN (SELECT toString(uuid) FROM events WHERE {events})"""
"""The runs whose log mentions one of the events: a run's last line contains the event's URL."""
_LOOKS, _LOOK_SECONDS = 25, 0.2
_PAGE = 200
_ANSWERS = (QueryRunRow, AsyncRunRow)

log = structlog.get_logger()


class PersonEvents:
    """Selects the events of a deletion.

    Args:
        row: the deletion request.
    """

    def __init__(self, row: PersonDeletionRow) -> None:
        self.project_id = row.project_id
        self.until = row.requested_at
        self.distinct_ids = frozenset(row.distinct_ids)
        self._person = str(row.person_id)
        self._keeps_person = not row.delete_person

    def has_run(self, payload: bytes, *, is_older: bool) -> bool:
        """Whether a queued run is about one of the events.

        Args:
            payload: the job's payload.
            is_older: whether the run was queued before the request. Newer runs match only by the
                id of a deleted person: a distinct id that returns belongs to another person.
        """
        run = decode_invoke(payload)
        if run.project_id != self.project_id:
            return False
        person, event = object_at(run.globals, "person"), object_at(run.globals, "event")
        if person.get("id"):
            return str(person["id"]) == self._person and (is_older or not self._keeps_person)
        return is_older and event.get("distinct_id") in self.distinct_ids


async def is_in_use(session: AsyncSession, events: PersonEvents, since: datetime) -> bool:
    """Whether a run of the events, or a query started before ``since``, is in progress."""
    for answers in _ANSWERS:
        running = exists().where(
            answers.project_id == events.project_id,
            answers.picked_up_at <= since,
            answers.ended_at.is_(None),
            answers.expires_at > since,
        )
        if await session.scalar(select(running)):
            return True
    return await is_run_in_progress(session, events)


async def is_run_in_progress(session: AsyncSession, events: PersonEvents) -> bool:
    """Whether a run of the events is leased."""
    leased = JobRow.lease.is_not(None)
    async for job in _jobs(session, INVOKE_QUEUE, leased, events.until):
        if events.has_run(job.payload, is_older=True):
            return True
    return False


async def are_logs_stored(database: Database) -> bool:
    """Wait until logs committed so far are in the warehouse; False if that takes too long."""
    async with database.read() as session:
        newest = await session.scalar(select(func.max(TelemetryRow.id)))
    if newest is None:
        return True
    for _ in range(_LOOKS):
        async with database.read() as session:
            if not await session.scalar(select(exists().where(TelemetryRow.id <= newest))):
                return True
        await asyncio.sleep(_LOOK_SECONDS)
    return False


async def delete_copies(
    session: AsyncSession, queue: Queue, events: PersonEvents
) -> frozenset[UUID]:
    """Remove unleased runs, dead letters, stored results, and the events in failed batches.

    Returns:
        The ids of the removed runs.
    """
    withdrawn = await _withdraw_runs(session, queue, events)
    await _drop_from_failed_batches(session, events)
    for part in _parts(events.distinct_ids):
        await session.execute(
            delete(DeadLetterRow).where(
                DeadLetterRow.project_id == events.project_id,
                DeadLetterRow.distinct_id.in_(part),
                DeadLetterRow.first_failed_at <= events.until,
            )
        )
    for answers in _ANSWERS:
        await session.execute(
            delete(answers).where(
                answers.project_id == events.project_id, answers.ended_at.is_not(None)
            )
        )
    if withdrawn:
        log.info(
            "runs of a deleted person were removed",
            action="runs_withdrawn",
            project_id=events.project_id,
            runs=len(withdrawn),
        )
    return withdrawn


async def _withdraw_runs(
    session: AsyncSession, queue: Queue, events: PersonEvents
) -> frozenset[UUID]:
    waiting = {
        job.id: job.ordering_key
        async for job in _jobs(session, INVOKE_QUEUE, JobRow.lease.is_(None), events.until)
        if events.has_run(job.payload, is_older=True)
    }
    standing = [
        row.invocation_id
        for row in await session.scalars(select(OrderedRunRow))
        if events.has_run(row.payload, is_older=row.invocation_id in waiting)
    ]
    for part in _parts(waiting):
        await session.execute(delete(JobRow).where(JobRow.id.in_(part)))
    lines = {key for key in waiting.values() if key is not None}
    await ordering.withdraw(session, queue, {*waiting, *standing}, lines)
    return frozenset({*waiting, *standing})


async def _drop_from_failed_batches(session: AsyncSession, events: PersonEvents) -> None:
    """Remove events from failed batches; unreadable ones stay."""
    failed = JobRow.buried_at.is_not(None)
    async for job in _jobs(session, SPOOL_QUEUE, failed, events.until):
        spooled = read_spooled(job.payload)
        if spooled.project_id != events.project_id:
            continue
        try:
            body = msgspec.json.decode(spooled.body)
        except (msgspec.DecodeError, UnicodeDecodeError):
            continue
        remaining = _without(body, events.distinct_ids)
        if remaining is None:
            await session.delete(job)
        elif remaining != body:
            job.payload = msgspec.msgpack.encode(
                msgspec.structs.replace(spooled, body=dump_json(remaining))
            )


def _without(body: Any, distinct_ids: Collection[str]) -> Any:
    """A captured body without the events of some distinct ids; None if no event is left."""
    if is_array(body):
        return [each for each in body if not _is_of(each, distinct_ids)] or None
    if is_object(body) and is_array(body.get("batch")):
        remaining = _without(body["batch"], distinct_ids)
        return None if remaining is None else body | {"batch": remaining}
    return None if _is_of(body, distinct_ids) else body


def _is_of(event: Any, distinct_ids: Collection[str]) -> bool:
    if not is_object(event):
        return False
    properties = event.get("properties")
    names = [event.get("distinct_id"), event.get("$distinct_id")]
    if is_object(properties):
        names.append(properties.get("distinct_id"))
    return any(name is not None and str(name) in distinct_ids for name in names)


async def _jobs(
    session: AsyncSession, queue: str, condition: Any, until: datetime
) -> AsyncIterator[JobRow]:
    """The jobs of a queue that existed at a given time, page by page."""
    last = UUID(int=0)
    while True:
        page = select(JobRow).where(
            JobRow.queue == queue, JobRow.enqueued_at <= until, JobRow.id > last, condition
        )
        rows = list(await session.scalars(page.order_by(JobRow.id).limit(_PAGE)))
        for row in rows:
            yield row
        if len(rows) < _PAGE:
            return
        last = rows[-1].id


def _parts[T](items: Collection[T]) -> list[list[T]]:
    listed = list(items)
    return [listed[start : start + _PAGE] for start in range(0, len(listed), _PAGE)]
