"""Backfills: running a function on events that are stored already.

``enable`` makes the paused job, ``start`` records a window and enqueues ``functions.backfill``; the
pipeline reads the events and runs the function directly, without filter, masking or mapping.

Source: spec/hog-functions.md section 9.1.
"""

from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from hoglet.access.entities import Scope
from hoglet.functions import types
from hoglet.functions.jobs import BACKFILL_QUEUE, BackfillV1, encode
from hoglet.functions.service import FunctionService, read_id
from hoglet.functions.tables import BackfillRow, BatchExportRow, HogFunctionRow
from hoglet.kit.errors import Invalid, NotFound
from hoglet.kit.ids import new_id
from hoglet.queue.port import NewJob, Queue
from hoglet.web.timestamps import iso_z, parse_instant

STARTING, RUNNING, COMPLETED = "Starting", "Running", "Completed"


class Window(NamedTuple):
    """From ``start_at`` up to ``end_at``, exclusive; ``events`` None stands for all names."""

    start_at: datetime | None
    end_at: datetime | None
    events: list[str] | None


class Backfills:
    """Backfills of functions.

    Args:
        functions: the functions.
        queue: takes the jobs.
    """

    def __init__(self, functions: FunctionService, queue: Queue) -> None:
        self._functions = functions
        self._queue = queue

    async def enable(self, scope: Scope, function_id: str) -> UUID:
        """Make the paused job of a function; its id stays on the function.

        Raises:
            NotFound: no such function.
            Invalid: enabled already, not a destination, or not on events; with an ``error`` key.
        """
        async with self._functions.database.write() as session:
            row = await self._functions.row(session, scope.project.id, function_id)
            _check(row)
            made = BatchExportRow(
                id=new_id(),
                project_id=row.project_id,
                function_id=row.id,
                filters=row.filters.get("events") or [],
                created_at=self._functions.clock.now(),
            )
            session.add(made)
            row.batch_export_id = made.id
            row.version += 1
            return made.id

    async def start(
        self, scope: Scope, batch_export_id: str, body: dict[str, Any]
    ) -> dict[str, Any]:
        """Run the stored events of a window.

        Raises:
            NotFound: no such job in the project.
            Invalid: an unreadable or empty window.
        """
        start_at, end_at = _instant(body, "start_at"), _instant(body, "end_at")
        if start_at and end_at and start_at >= end_at:
            raise Invalid("The end of the window has to be after its start.", attr="end_at")
        async with self._functions.database.write() as session:
            export = await _find_export(session, scope.project.id, read_id(batch_export_id))
            row = BackfillRow(
                id=new_id(),
                batch_export_id=export.id,
                start_at=start_at,
                end_at=end_at,
                status=STARTING,
                created_at=self._functions.clock.now(),
            )
            session.add(row)
            job = BackfillV1(export.project_id, export.function_id, export.id, row.id)
            payload = encode(job)
            await self._queue.enqueue(
                session, [NewJob(queue=BACKFILL_QUEUE, payload=payload, id=row.id)]
            )
            return {
                "id": str(row.id),
                "start_at": None if start_at is None else iso_z(start_at),
                "end_at": None if end_at is None else iso_z(end_at),
                "status": row.status,
            }

    async def window(self, session: AsyncSession, backfill_id: UUID) -> Window | None:
        """Which stored events a backfill takes, for the pipeline; None when it is gone."""
        row = await session.get(BackfillRow, backfill_id)
        export = None if row is None else await session.get(BatchExportRow, row.batch_export_id)
        if row is None or export is None:
            return None
        return Window(row.start_at, row.end_at, _event_names(export.filters))

    async def settle(self, session: AsyncSession, backfill_id: UUID, status: str) -> None:
        """Note how far a backfill came: ``Running`` or ``Completed``."""
        row = await session.get(BackfillRow, backfill_id)
        if row is not None:
            row.status = status


def _event_names(filters: list[dict[str, Any]]) -> list[str] | None:
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


async def _find_export(session: AsyncSession, project_id: int, export_id: UUID) -> BatchExportRow:
    row = await session.scalar(
        select(BatchExportRow).where(
            BatchExportRow.id == export_id, BatchExportRow.project_id == project_id
        )
    )
    if row is None:
        raise NotFound
    return row


def _instant(body: dict[str, Any], name: str) -> datetime | None:
    value = body.get(name)
    if value is None:
        return None
    found = parse_instant(value) if isinstance(value, str) else None
    if found is None:
        raise Invalid("Enter an ISO 8601 time.", attr=name)
    return found
