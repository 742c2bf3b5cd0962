"""Commits a group in one transaction: writes persons, runs and telemetry, and ends it in the spool.

Everything written is a function of the group and the state before it. If a crash loses the
transaction, processing the group again gives the same result, and the warehouse keeps its rows only
once, because they are inserted under the group's id. Triggered runs are enqueued if they pass
masking.

Source: docs/spec/hog-functions.md#6-masking and
docs/spec/hog-functions.md#131-pipeline-destinations.
"""

import contextlib
import functools
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple, NoReturn
from uuid import UUID

import msgspec
from sqlalchemy.ext.asyncio import AsyncSession

from hoglet.access.repository import update_project
from hoglet.cohorts.static.merges import enqueue_merges
from hoglet.definitions.tracker import DefinitionTracker, Recorded
from hoglet.events.repository import EventsRepository
from hoglet.events.spool import SpooledV1, job_of
from hoglet.events.warnings import IngestionWarnings
from hoglet.functions.dead_letters.service import DeadLetters, NewDeadLetter
from hoglet.functions.jobs import INVOKE_QUEUE
from hoglet.functions.logs.telemetry import LOG_SOURCE
from hoglet.functions.masking import masked_allowance, raise_counters
from hoglet.functions.watcher.service import RunObservation, Watcher
from hoglet.kit.clock import Clock
from hoglet.pipeline.delivery import ordering
from hoglet.pipeline.ingest.filtered_counts import defer_filtered_counts
from hoglet.pipeline.ingest.ipc import BatchCounters, BatchResult, Invocation, SetAside
from hoglet.pipeline.ingest.replication import (
    WarehouseReplicator,
    group_rows,
    override_rows,
    person_rows,
)
from hoglet.pipeline.ingest.split_group import CommitRefused
from hoglet.pipeline.ingest.state_locks import STATE_LOCK, StateLocks
from hoglet.pipeline.storage_failures import is_storage_failure
from hoglet.pipeline.telemetry_outbox import TelemetryBatch, TelemetryOutbox
from hoglet.queue import Job, NewJob, Priority, Queue
from hoglet.store.database import Database
from hoglet.warehouse.telemetry import AppMetric, LogEntry

_ONE_MILLISECOND = timedelta(milliseconds=1)


class ProjectResult(NamedTuple):
    """What a group did in one of its projects; ``is_first``: these may be its first events."""

    project_id: int
    result: BatchResult
    is_first: bool = False


type Finish = Callable[[AsyncSession], Awaitable[None]]
"""Removes a group from its source within the transaction that stores the group."""


class _RolledBack(Exception):
    """Rolls back a transaction that only tests whether its writes are accepted."""


async def _roll_back(session: AsyncSession) -> NoReturn:
    await session.flush()
    raise _RolledBack


class ProjectState(msgspec.Struct, frozen=True):
    """What events change: persons, groups, known UUIDs, their replicas, property types."""

    events: EventsRepository
    copies: WarehouseReplicator
    definitions: DefinitionTracker


class FunctionReports(msgspec.Struct, frozen=True):
    """Where function results are reported: dead letters, the watcher, logs and metrics."""

    dead_letters: DeadLetters
    watcher: Watcher
    outbox: TelemetryOutbox


class GroupCommitter:
    """Writes the results of groups to the metadata database."""

    def __init__(
        self,
        *,
        database: Database,
        queue: Queue,
        clock: Clock,
        state: ProjectState,
        reports: FunctionReports,
        warnings: IngestionWarnings,
    ) -> None:
        self._database = database
        self._queue = queue
        self._clock = clock
        self._events = state.events
        self._copies = state.copies
        self._definitions = state.definitions
        self._dead_letters = reports.dead_letters
        self._watcher = reports.watcher
        self._outbox = reports.outbox
        self._warnings = warnings
        self.locks = StateLocks(database)

    async def commit(
        self,
        finish: Finish,
        results: Sequence[ProjectResult],
        *,
        checked: bool = False,
        is_alone: bool = False,
    ) -> None:
        """Commit a group.

        Args:
            finish: removes the group from its source, within the transaction.
            results: the results of processing the group, one for each project.
            checked: other groups of the project may have been committed since the group's state
                was loaded. Ignored on SQLite, where that never happens.
            is_alone: whether the group has the locks of its projects, see :class:`StateLocks`.

        Raises:
            LeaseLost, OwnershipLost: another worker has the batches now; nothing was written.
            StateChanged: another group changed the same persons or groups; nothing was written.
        """
        records: list[Recorded] = []
        async with self._database.write() as session:
            if not is_alone and not self._database.is_sqlite:
                for project_id in sorted(each.project_id for each in results):
                    await self._database.share(session, STATE_LOCK.format(project_id))
            await finish(session)
            for project_id, result, is_first in results:
                records.append(
                    await self._write(
                        session,
                        project_id,
                        result,
                        checked=checked and not self._database.is_sqlite,
                    )
                )
                if is_first and result.stored:
                    columns = {"ingested_event": True}
                    await update_project(session, project_id, columns, self._clock.now())
            await self._replicate(session, results)
        for (project_id, result, _), recorded in zip(results, records, strict=True):
            self._definitions.remember(project_id, recorded)
            for kind, example in [*result.warnings, *recorded.warnings]:
                self._warnings.note(project_id, kind, example)

    async def commit_job(self, project_id: int, job: Job, result: BatchResult) -> None:
        """Commit the result of a single job, as in :meth:`commit`."""
        finish = functools.partial(self._queue.finish, jobs=[job])
        await self.commit(finish, [ProjectResult(project_id, result)])

    async def try_commit(self, project_id: int, result: BatchResult) -> None:
        """Write the results of some of a group's events as a test, and roll back.

        Raises:
            CommitRefused: the database rejects them.
        """
        try:
            with contextlib.suppress(_RolledBack):
                async with self._database.write() as session:
                    await self._write(session, project_id, result)
                    await self._replicate(session, [ProjectResult(project_id, result)])
                    await _roll_back(session)
        except Exception as error:
            if is_storage_failure(error):
                raise
            reason = str(getattr(error, "orig", None) or error).partition("\n")[0]
            raise CommitRefused(f"The database refuses the event: {reason}") from error

    async def claim_group_types(self, project_id: int, result: BatchResult) -> None:
        """Write new group types before rows with their indexes are stored.

        Only needed where several groups of a project are processed at the same time.

        Raises:
            StateChanged: another group defined group types; process this group again.
        """
        if result.new_group_types and not self._database.is_sqlite:
            async with self._database.write() as session:
                await self._events.claim_group_types(session, project_id, result.new_group_types)

    async def _write(
        self, session: AsyncSession, project_id: int, result: BatchResult, *, checked: bool = False
    ) -> Recorded:
        await self._queue.enqueue(session, _failed_jobs(project_id, result.set_aside))
        await self._events.save_persons(session, project_id, result.persons, checked=checked)
        if result.persons.merges:
            await enqueue_merges(session, self._queue, project_id, result.persons.merges)
        await self._events.save_groups(
            session, project_id, result.new_group_types, result.groups, checked=checked
        )
        await self._events.add_seen(session, project_id, result.new_uuids, checked=checked)
        recorded = await self._definitions.record(session, project_id, result.observation)
        await enqueue_runs(
            session, self._queue, result.invocations, result.tally, self._clock.now()
        )
        await self._report(session, project_id, result)
        return recorded

    async def _report(self, session: AsyncSession, project_id: int, result: BatchResult) -> None:
        letters = dead_letters_of(project_id, result.tally)
        dropped = await self._dead_letters.add(session, letters) if letters else []
        observations = _observations(result.tally)
        if observations:
            await self._watcher.observe(session, observations)
        now = self._clock.now()
        if result.tally.deferred:
            defer_filtered_counts(session, project_id, result.tally.deferred, now)
        messages = messages_of(project_id, result.tally, now)
        messages.logs.extend(dropped)
        await self._outbox.add(session, messages)

    async def _replicate(self, session: AsyncSession, results: Sequence[ProjectResult]) -> None:
        """Enqueue the changed persons and groups of all projects for the warehouse."""
        rows: dict[str, list[Sequence[Any]]] = {}
        for project_id, result, _ in results:
            for changed in (
                person_rows(project_id, result.persons),
                override_rows(project_id, result.owners),
                group_rows(project_id, result.groups),
            ):
                for table, table_rows in changed.items():
                    rows.setdefault(table, []).extend(table_rows)
        await self._copies.add(session, rows)


def _failed_jobs(project_id: int, events: Sequence[SetAside]) -> list[NewJob]:
    """Failed jobs that keep single events; the ids are chosen so that events keep their UUIDs."""
    return [
        msgspec.structs.replace(
            job_of(
                SpooledV1(
                    project_id=project_id,
                    received_at=event.part.received_at,
                    ip=event.part.ip,
                    body=event.part.body,
                    sent_at=event.part.sent_at,
                ),
                events=1,
            ),
            id=UUID(int=event.part.job_id.int + event.part.first),
            error=f"The event cannot be stored. {event.reason}",
        )
        for event in events
    ]


def _observations(tally: BatchCounters) -> list[RunObservation]:
    """Observations of transformation runs, for the watcher."""
    observations: list[RunObservation] = []
    for function_id, counters in tally.counts.items():
        failed, succeeded = counters.get("failure/failed", 0), counters.get("success/succeeded", 0)
        identity = UUID(function_id)
        slow = tally.spent.get(function_id, [])
        observations.extend(
            RunObservation(function_id=identity, failed=False, timings=[("hog", spent)])
            for spent in slow[: failed + succeeded]
        )
        rest = max(succeeded - len(slow), 0)
        observations.extend(
            RunObservation(function_id=identity, failed=has_failed, runs=runs)
            for has_failed, runs in ((True, failed), (False, rest))
            if runs
        )
    return observations


async def enqueue_runs(
    session: AsyncSession,
    queue: Queue,
    invocations: Sequence[Invocation],
    tally: BatchCounters,
    now: datetime,
) -> None:
    """Enqueue the runs that pass masking, in the caller's transaction."""
    billed: dict[UUID, str] = {}
    jobs: list[NewJob] = []
    for invocation in await _unmasked(session, invocations, tally, now):
        tally.count(invocation.function_id, "other", "triggered")
        billed.setdefault(invocation.event_uuid, invocation.function_id)
        priority = Priority.LOW if invocation.is_slow else Priority.NORMAL
        jobs.append(
            NewJob(
                queue=INVOKE_QUEUE,
                payload=invocation.payload,
                id=invocation.id,
                priority=priority,
                ordering_key=invocation.line or None,
                lane=invocation.function_id,
            )
        )
    for function_id in billed.values():
        tally.count(function_id, "billing", "billable_invocation")
    if any(job.ordering_key for job in jobs):
        await ordering.enqueue(session, queue, jobs)
    else:
        await queue.enqueue(session, jobs)


def dead_letters_of(project_id: int, tally: BatchCounters) -> list[NewDeadLetter]:
    """The dead letters that were drafted for a batch."""
    return [
        NewDeadLetter(
            project_id=project_id,
            function_id=UUID(draft.function_id),
            error_class=draft.error_class,
            invocation_id=draft.invocation_id,
            globals=draft.globals,
            error=draft.error,
            mapping=draft.mapping,
        )
        for draft in tally.dead_letters
    ]


async def _unmasked(
    session: AsyncSession, invocations: Sequence[Invocation], tally: BatchCounters, now: datetime
) -> Sequence[Invocation]:
    masked = [invocation for invocation in invocations if invocation.mask]
    if not masked:
        return invocations
    raises: dict[tuple[UUID, str], tuple[int, int]] = {}
    for invocation in masked:
        key = (UUID(invocation.function_id), invocation.mask)
        number, _ = raises.get(key, (0, 0))
        raises[key] = (number + 1, invocation.mask_ttl)
    raised = await raise_counters(session, raises, now)
    left = {
        (UUID(invocation.function_id), invocation.mask): masked_allowance(
            raised[UUID(invocation.function_id), invocation.mask].old,
            raised[UUID(invocation.function_id), invocation.mask].new,
            invocation.mask_threshold or None,
        )
        for invocation in masked
    }
    allowed: list[Invocation] = []
    for invocation in invocations:
        key = (UUID(invocation.function_id), invocation.mask)
        if invocation.mask and left[key] <= 0:
            tally.count(invocation.function_id, "other", "masked")
            continue
        if invocation.mask:
            left[key] -= 1
        allowed.append(invocation)
    return allowed


def messages_of(project_id: int, tally: BatchCounters, now: datetime) -> TelemetryBatch:
    """Metrics and log lines of functions; a run's lines are 1 ms apart to keep their order."""
    batch = TelemetryBatch(
        metrics=[
            AppMetric(project_id, LOG_SOURCE, function_id, now, kind, name, count)
            for function_id, counters in tally.counts.items()
            for (kind, _, name), count in _parted(counters)
        ]
    )
    last: dict[tuple[str, str], datetime] = {}
    for line in tally.lines:
        run = (line.function_id, line.instance_id)
        at = last[run] + _ONE_MILLISECOND if run in last else now
        last[run] = at
        entry = LogEntry(
            project_id,
            LOG_SOURCE,
            line.function_id,
            line.instance_id,
            at,
            line.level.upper(),
            line.message,
        )
        batch.logs.append(entry)
    return batch


def _parted(counters: dict[str, int]) -> list[tuple[tuple[str, str, str], int]]:
    return [(key.partition("/"), count) for key, count in counters.items()]
