"""Backfills: running a function on stored events.

``enable`` creates the paused export, ``start`` records a time range and enqueues
``functions.backfill``; the pipeline reads the events and runs the function directly, without
filter, masking or mappings. A replay (``with_filters``) applies filter and mappings, as for live
events.

Source: docs/spec/hog-functions.md#91-enable_backfills.
"""

from datetime import datetime
from typing import Literal, TypedDict
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from hoglet.access.principals import ProjectScope
from hoglet.functions import types
from hoglet.functions.backfills import repository
from hoglet.functions.jobs import BACKFILL_QUEUE, INVOKE_QUEUE, BackfillV1, encode
from hoglet.functions.json_types import FilterEntry
from hoglet.functions.service import FunctionService, read_id
from hoglet.functions.tables import BackfillRow, BatchExportRow, HogFunctionRow
from hoglet.kit.clock import iso_z, iso_z_or_none, new_id, parse_instant
from hoglet.kit.errors import Invalid, NotFound
from hoglet.kit.json import JsonObject
from hoglet.queue.port import NewJob, Queue
from hoglet.web.openapi import documented, extensible
from hoglet.web.pagination import PageRequest

MAX_QUEUED_RUNS = 1000  # of a backfill

type Verb = Literal["pause", "resume", "cancel"]

_TO = {"pause": repository.PAUSED, "resume": repository.RUNNING, "cancel": repository.CANCELLED}
_FROM = {
    "pause": (repository.STARTING, repository.RUNNING),
    "resume": (repository.PAUSED,),
    "cancel": repository.OPEN,
}


@documented
class BackfillsEnabled(TypedDict):
    """The paused export to which the backfills of a function belong."""

    batch_export_id: str


@extensible
class StartedBackfill(TypedDict):
    """A backfill of stored events, right after its start."""

    id: str
    start_at: str | None
    end_at: str | None
    status: str


@extensible
class BackfillObject(StartedBackfill):
    """A backfill of stored events; ``events_total`` is null until they are counted.

    With ``with_filters``, an event that matches several mappings counts once for each.
    """

    batch_export_id: str
    with_filters: bool
    events_total: int | None
    events_queued: int
    runs_succeeded: int
    runs_failed: int
    created_at: str
    finished_at: str | None


class Backfills:
    """Backfills of functions.

    Args:
        functions: the functions.
        queue: receives the jobs.
    """

    def __init__(self, functions: FunctionService, queue: Queue) -> None:
        self._functions = functions
        self._queue = queue

    async def enable(self, scope: ProjectScope, function_id: str) -> UUID:
        """Create the paused export of a function; its id is stored on the function.

        Raises:
            NotFound: no such function.
            Invalid: already enabled, not a destination, or not on events; with an ``error`` key.
        """
        async with self._functions.database.write() as session:
            row = await self._functions.row(session, scope.project.id, function_id, lock=True)
            _check(row)
            created = BatchExportRow(
                id=new_id(),
                project_id=row.project_id,
                function_id=row.id,
                filters=row.filters.get("events") or [],
                created_at=self._functions.clock.now(),
            )
            session.add(created)
            row.batch_export_id = created.id
            row.version += 1
            return created.id

    async def start(
        self, scope: ProjectScope, batch_export_id: str, body: JsonObject
    ) -> StartedBackfill:
        """Run a function on the stored events of a time range.

        Args:
            scope: the caller and project.
            batch_export_id: the id returned by :meth:`enable`.
            body: ``{"start_at", "end_at", "with_filters"}``; with filters it is a replay: the
                function's current filter and mappings are applied to each event.

        Raises:
            NotFound: no such export in the project.
            Invalid: an invalid or empty time range.
        """
        start_at, end_at = _instant(body, "start_at"), _instant(body, "end_at")
        if start_at and end_at and start_at >= end_at:
            raise Invalid("The end of the time range must be after its start.", attr="end_at")
        with_filters = body.get("with_filters", False)
        if not isinstance(with_filters, bool):
            raise Invalid("Must be a valid boolean.", attr="with_filters")
        async with self._functions.database.write() as session:
            export = await self._export(session, scope, batch_export_id)
            row = BackfillRow(
                id=new_id(),
                batch_export_id=export.id,
                start_at=start_at,
                end_at=end_at,
                status=repository.STARTING,
                created_at=self._functions.clock.now(),
                with_filters=with_filters,
            )
            session.add(row)
            await self._enqueue(session, export, row)
            return {
                "id": str(row.id),
                "start_at": iso_z_or_none(row.start_at),
                "end_at": iso_z_or_none(row.end_at),
                "status": row.status,
            }

    async def page(
        self, scope: ProjectScope, batch_export_id: str, page: PageRequest
    ) -> tuple[int, list[BackfillObject]]:
        """A page of backfills of a function, newest first, and the total count.

        Raises:
            NotFound: no such export in the project.
        """
        async with self._functions.database.read() as session:
            export = await self._export(session, scope, batch_export_id)
            count, rows = await repository.page(
                session, export.id, limit=page.limit, offset=page.offset
            )
            return count, [backfill_object(row) for row in rows]

    async def get(
        self, scope: ProjectScope, batch_export_id: str, backfill_id: str
    ) -> BackfillObject:
        """A backfill with its progress.

        Raises:
            NotFound: no such backfill.
        """
        async with self._functions.database.read() as session:
            export = await self._export(session, scope, batch_export_id)
            return backfill_object(await _find(session, export, backfill_id))

    async def control(
        self, scope: ProjectScope, batch_export_id: str, backfill_id: str, verb: Verb
    ) -> BackfillObject:
        """Pause, resume or cancel a backfill; a repeated request has no effect.

        Queued runs continue after a pause (at most :data:`MAX_QUEUED_RUNS`); a cancel drops them.

        Raises:
            NotFound: no such backfill.
            Invalid: it has ended.
        """
        async with self._functions.database.write() as session:
            export = await self._export(session, scope, batch_export_id)
            row = await _find(session, export, backfill_id)
            if row.status not in _FROM[verb] and row.status != _TO[verb]:
                raise Invalid(f"A backfill that is {row.status.lower()} cannot {verb}.")
            if row.status in _FROM[verb]:
                row.status = _TO[verb]
                await self._follow(session, export, row, verb)
            return backfill_object(row)

    async def _follow(
        self, session: AsyncSession, export: BatchExportRow, row: BackfillRow, verb: Verb
    ) -> None:
        if verb == "resume":
            await self._enqueue(session, export, row)
        elif verb == "cancel":
            row.finished_at = self._functions.clock.now()
            await self._queue.discard(session, INVOKE_QUEUE, str(row.id))
            await self._enqueue(session, export, row)  # the worker cleans up the rest

    async def _enqueue(
        self, session: AsyncSession, export: BatchExportRow, row: BackfillRow
    ) -> None:
        payload = encode(BackfillV1(export.project_id, export.function_id, export.id, row.id))
        await self._queue.enqueue(
            session, [NewJob(queue=BACKFILL_QUEUE, payload=payload, id=row.id)]
        )

    async def _export(
        self, session: AsyncSession, scope: ProjectScope, batch_export_id: str
    ) -> BatchExportRow:
        export = await repository.find_export(session, scope.project.id, read_id(batch_export_id))
        if export is None:
            raise NotFound
        return export


def backfill_object(row: BackfillRow) -> BackfillObject:
    """A backfill in the form of the API."""
    return {
        "id": str(row.id),
        "batch_export_id": str(row.batch_export_id),
        "start_at": iso_z_or_none(row.start_at),
        "end_at": iso_z_or_none(row.end_at),
        "status": row.status,
        "with_filters": row.with_filters or False,
        "events_total": row.events_total,
        "events_queued": row.events_queued or 0,
        "runs_succeeded": row.runs_succeeded or 0,
        "runs_failed": row.runs_failed or 0,
        "created_at": iso_z(row.created_at),
        "finished_at": iso_z_or_none(row.finished_at),
    }


async def _find(session: AsyncSession, export: BatchExportRow, backfill_id: str) -> BackfillRow:
    row = await repository.find(session, export.id, read_id(backfill_id))
    if row is None:
        raise NotFound
    return row


def event_names(filters: list[FilterEntry]) -> list[str] | None:
    """The event names in the filters of an export; None for any."""
    names = [entry.get("id") for entry in filters]
    return [str(name) for name in names] if names and all(names) else None


def _check(row: HogFunctionRow) -> None:
    reason = None
    if row.batch_export_id is not None:
        reason = "Backfills are already enabled for this function."
    elif row.type != types.DESTINATION:
        reason = "Backfills are only available for destinations."
    elif (row.filters.get("source") or "events") != "events":
        reason = "Backfills are only available for functions that run on events."
    if reason is not None:
        raise Invalid(reason, extra={"error": reason})


def _instant(body: JsonObject, name: str) -> datetime | None:
    value = body.get(name)
    if value is None:
        return None
    moment = parse_instant(value) if isinstance(value, str) else None
    if moment is None:
        raise Invalid("Enter an ISO 8601 time.", attr=name)
    return moment
