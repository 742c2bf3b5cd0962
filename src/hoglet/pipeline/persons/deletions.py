"""Deletes persons at once, and their events in the background.

Events accepted before the request may still be in the spool, so the background job waits until they
are stored. A group in progress may write the person once more; the job removes that row as well.

Source: docs/spec/data-and-queries.md#41-persons.
"""

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime, timedelta
from itertools import batched
from uuid import UUID

import msgspec
from sqlalchemy import delete, exists, select
from sqlalchemy.ext.asyncio import AsyncSession

from hoglet.access.activity import Activity, ActivityLog
from hoglet.access.principals import ProjectScope
from hoglet.events.persons.repository import PersonRecord, load_persons
from hoglet.events.spool import SPOOL_QUEUE
from hoglet.events.tables import (
    DistinctIdRow,
    PersonDeletionRow,
    PersonRow,
    RetiredDistinctIdRow,
)
from hoglet.kit.clock import Clock, new_id
from hoglet.kit.errors import Unavailable
from hoglet.pipeline.ingest.replication import WarehouseReplicator
from hoglet.pipeline.persons.event_copies import (
    RUNS_OF_EVENTS,
    PersonEvents,
    are_logs_stored,
    delete_copies,
    is_in_use,
    is_run_in_progress,
)
from hoglet.pipeline.spool_backlog import SpoolBacklog
from hoglet.queue import Job, NewJob, Queue
from hoglet.queue.tables import JobRow
from hoglet.store.database import Database
from hoglet.warehouse import QueryBudget, Warehouse
from hoglet.warehouse.port import QueryParameters
from hoglet.warehouse.values import instant_text

DELETIONS_QUEUE = "person_deletions"
BEYOND = 1_000_000
"""Version offset of deletion rows; exceeds any version that a group in progress can still write."""
_SECONDS = 600.0
_PAUSE = timedelta(seconds=1)
_IDS_PER_STATEMENT = 500
_PERSONS_PER_STATEMENT = 1000


class PersonDependents(msgspec.Struct, frozen=True):
    """What depends on a person besides its rows.

    Attributes:
        drop_results: clears the stored results of queries.
        forget_member: removes a person of a project from its cohorts.
        backlog: the events in the spool.
    """

    drop_results: Callable[[], None]
    forget_member: Callable[[int, UUID], Awaitable[None]]
    backlog: SpoolBacklog


class PersonDeletions:
    """Requests to delete persons, and the job that performs them."""

    def __init__(
        self,
        *,
        database: Database,
        queue: Queue,
        warehouse: Warehouse,
        clock: Clock,
        activity: ActivityLog,
        dependents: PersonDependents,
    ) -> None:
        self._dependents = dependents
        self._database = database
        self._queue = queue
        self._warehouse = warehouse
        self._clock = clock
        self._activity = activity
        self._copies = WarehouseReplicator(database, queue, warehouse)

    async def request(
        self,
        scope: ProjectScope,
        persons: Sequence[PersonRecord],
        *,
        delete_events: bool,
        keep_person: bool,
    ) -> int:
        """Delete persons; with ``delete_events`` also their events, in the background.

        Returns:
            The number of persons that still existed: others were deleted or merged meanwhile.
        """
        if keep_person and not delete_events:
            return len(persons)
        now = self._clock.now()
        ids = sorted({person.id for person in persons})
        async with self._database.write() as session:
            existing = await load_persons(session, scope.project.id, ids, lock=True)
            for person in existing:
                row = PersonDeletionRow(
                    id=new_id(),
                    project_id=scope.project.id,
                    person_id=person.id,
                    distinct_ids=person.distinct_ids,
                    delete_person=not keep_person,
                    delete_events=delete_events,
                    requested_at=now,
                    verified_at=None,
                )
                session.add(row)
                await self._queue.enqueue(session, [_job(row.id)])
                if not keep_person:
                    await self._delete(session, scope, person)
        self._dependents.drop_results()
        return len(existing)

    async def find_requests(
        self, project_id: int, *, is_done: bool | None, person_id: UUID | None
    ) -> list[PersonDeletionRow]:
        """Requests that delete events, newest first."""
        statement = select(PersonDeletionRow).where(
            PersonDeletionRow.project_id == project_id, PersonDeletionRow.delete_events
        )
        if is_done is not None:
            pending = PersonDeletionRow.verified_at.is_(None)
            statement = statement.where(~pending if is_done else pending)
        if person_id is not None:
            statement = statement.where(PersonDeletionRow.person_id == person_id)
        ordered = statement.order_by(PersonDeletionRow.requested_at.desc(), PersonDeletionRow.id)
        async with self._database.read() as session:
            return list(await session.scalars(ordered))

    async def work(self, job: Job) -> None:
        """Perform a deletion; the job is requeued while older events are in the spool.

        Raises:
            Unavailable: events remain, so the attempt counts as failed.
        """
        deletion_id = msgspec.msgpack.decode(job.payload, type=UUID)
        async with self._database.read() as session:
            deletion = await session.get(PersonDeletionRow, deletion_id)
        if deletion is not None and deletion.verified_at is None:
            await self._perform(deletion_id, deletion.requested_at)

    async def _perform(self, deletion_id: UUID, requested_at: datetime) -> None:
        # Before the jobs: entries of the log can become jobs, not the other way round.
        is_logged = await self._dependents.backlog.has_before(requested_at)
        async with self._database.write() as session:
            row = await session.get_one(PersonDeletionRow, deletion_id)
            if is_logged or await _is_spooled(session, row):
                await self._enqueue_again(session, row)
                return
            if row.delete_person:
                await _delete_rows(session, row.project_id, row.person_id)
        if row.delete_person:
            await self._erase_versions(row)
            await self._dependents.forget_member(row.project_id, row.person_id)
        events = PersonEvents(row)
        if row.delete_events:
            if not await self._delete_logs(row, events):
                async with self._database.write() as session:
                    await self._enqueue_again(session, row)
                return
            await self._delete_events(row)
        self._dependents.drop_results()
        erased_at = self._clock.now()
        async with self._database.write() as session:
            if row.delete_events:
                await delete_copies(session, self._queue, events)
            if row.delete_events and await is_in_use(session, events, erased_at):
                await self._enqueue_again(session, row)
                return
            done = await session.get_one(PersonDeletionRow, row.id)
            done.verified_at = self._clock.now()
        self._dependents.drop_results()

    async def _enqueue_again(self, session: AsyncSession, row: PersonDeletionRow) -> None:
        await self._queue.enqueue(session, [_job(row.id, self._clock.now() + _PAUSE)])

    async def _erase_versions(self, row: PersonDeletionRow) -> None:
        """Remove properties of deleted persons from the warehouse, keeping the deletion marks.

        One statement for all persons being deleted, because it rewrites whole parts.
        """
        while await self._copies.flush():
            pass
        where = "project_id = {project_id:Int64} AND id IN {ids:Array(UUID)} AND is_deleted = 0"
        params: QueryParameters = {"project_id": row.project_id, "ids": [str(row.person_id)]}
        if not await self._count("persons", where, params):
            return
        pending = select(PersonDeletionRow.person_id).where(
            PersonDeletionRow.project_id == row.project_id,
            PersonDeletionRow.delete_person,
            PersonDeletionRow.verified_at.is_(None),
        )
        async with self._database.read() as session:
            pending_ids = await session.scalars(pending.limit(_PERSONS_PER_STATEMENT))
            params["ids"] = sorted({str(each) for each in pending_ids} | set(params["ids"]))
        await self._warehouse.erase_rows("persons", where, params, seconds=_SECONDS)

    async def _delete(
        self, session: AsyncSession, scope: ProjectScope, person: PersonRecord
    ) -> None:
        project_id = scope.project.id
        statement = select(DistinctIdRow).where(
            DistinctIdRow.project_id == project_id, DistinctIdRow.person_id == person.id
        )
        ids = [(row.distinct_id, row.version + BEYOND) for row in await session.scalars(statement)]
        await _delete_rows(session, project_id, person.id)
        for distinct_id, version in ids:
            await session.merge(
                RetiredDistinctIdRow(
                    project_id=project_id, distinct_id=distinct_id, version=version
                )
            )
        missing = (project_id, person.id, person.created_at, "{}", int(person.is_identified), 1)
        await self._copies.add(
            session,
            {
                "persons": [(*missing, person.version + BEYOND)],
                "person_distinct_ids": [
                    (project_id, distinct_id, person.id, 1, version) for distinct_id, version in ids
                ],
            },
        )
        await self._activity.record(
            session,
            Activity(
                project_id=project_id,
                user_id=scope.user_id,
                activity="deleted",
                scope="Person",
                item_id=str(person.id),
                name=None,
            ),
        )

    async def _delete_logs(self, row: PersonDeletionRow, events: PersonEvents) -> bool:
        """Erase the log lines of the events' runs; call it while the events can still be read.

        Returns:
            False if a run is in progress, or its lines are not stored yet: try again later.
        """
        async with self._database.write() as session:
            withdrawn = await delete_copies(session, self._queue, events)
            is_running = await is_run_in_progress(session, events)
        if not await are_logs_stored(self._database):
            return False
        where, params = await self._events_of(row)
        result = await self._warehouse.query(
            RUNS_OF_EVENTS.format(events=where), params, budget=QueryBudget(seconds=_SECONDS)
        )
        runs = sorted({str(each[0]) for each in result.rows} | set(map(str, withdrawn)))
        of_runs = "project_id = {project_id:Int64} AND instance_id IN {runs:Array(String)}"
        for part in batched(runs, _IDS_PER_STATEMENT):
            ids: QueryParameters = {"project_id": row.project_id, "runs": list(part)}
            if await self._count("log_entries", of_runs, ids):
                await self._warehouse.erase_rows("log_entries", of_runs, ids, seconds=_SECONDS)
        return not is_running

    async def _events_of(self, row: PersonDeletionRow) -> tuple[str, QueryParameters]:
        """The condition of the events to delete, and its values."""
        params: QueryParameters = {
            "project_id": row.project_id,
            "person_id": str(row.person_id),
            "distinct_ids": row.distinct_ids,
            "until": instant_text(row.requested_at),
        }
        params["others"] = await self._foreign_ids(row, params)
        where = (
            "project_id = {project_id:Int64} AND created_at <= {until:DateTime64(6, 'UTC')}"
            " AND (distinct_id IN {distinct_ids:Array(String)}"
            " OR person_id = {person_id:UUID} AND distinct_id NOT IN {others:Array(String)})"
        )
        return where, params

    async def _delete_events(self, row: PersonDeletionRow) -> None:
        where, params = await self._events_of(row)
        if await self._count("events", where, params):
            await self._warehouse.erase_rows("events", where, params, seconds=_SECONDS)
        left = await self._count("events", where, params)
        if left:
            raise Unavailable(f"{left} events of a deleted person are left.")

    async def _foreign_ids(self, row: PersonDeletionRow, params: QueryParameters) -> list[str]:
        """Distinct ids of the person's stored events that belong to other persons by now."""
        result = await self._warehouse.query(
            "SELECT DISTINCT distinct_id FROM events WHERE project_id = {project_id:Int64}"
            " AND person_id = {person_id:UUID} AND distinct_id NOT IN {distinct_ids:Array(String)}",
            params,
            budget=QueryBudget(seconds=_SECONDS),
        )
        names = [str(each[0]) for each in result.rows]
        foreign: list[str] = []
        async with self._database.read() as session:
            for part in batched(names, _IDS_PER_STATEMENT):
                statement = select(DistinctIdRow.distinct_id).where(
                    DistinctIdRow.project_id == row.project_id,
                    DistinctIdRow.distinct_id.in_(part),
                    DistinctIdRow.person_id != row.person_id,
                )
                foreign += await session.scalars(statement)
        return foreign

    async def _count(self, table: str, where: str, params: QueryParameters) -> int:
        result = await self._warehouse.query(
            f"SELECT count() FROM {table} WHERE {where}",  # noqa: S608 (fixed texts)
            params,
            budget=QueryBudget(seconds=_SECONDS),
        )
        return int(result.rows[0][0])


def _job(deletion_id: UUID, run_at: datetime | None = None) -> NewJob:
    payload = msgspec.msgpack.encode(deletion_id)
    return NewJob(queue=DELETIONS_QUEUE, payload=payload, run_at=run_at)


async def _is_spooled(session: AsyncSession, row: PersonDeletionRow) -> bool:
    """Whether events accepted before the request are not stored yet."""
    older = exists().where(
        JobRow.queue == SPOOL_QUEUE,
        JobRow.ordering_key == f"project:{row.project_id}",
        (JobRow.enqueued_at <= row.requested_at) | JobRow.lane.is_not(None),  # once in the log
        JobRow.buried_at.is_(None),
    )
    return bool(await session.scalar(select(older)))


async def _delete_rows(session: AsyncSession, project_id: int, person_id: UUID) -> None:
    await session.execute(
        delete(DistinctIdRow).where(
            DistinctIdRow.project_id == project_id, DistinctIdRow.person_id == person_id
        )
    )
    await session.execute(
        delete(PersonRow).where(PersonRow.project_id == project_id, PersonRow.id == person_id)
    )
