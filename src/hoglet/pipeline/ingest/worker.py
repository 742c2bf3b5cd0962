"""Consumes the spool group by group: stores events in the warehouse and enqueues runs.

The workers of a process handle different projects: a project's groups are ordered, so while one
worker holds some of its batches, no other worker leases more of them. Projects with few events
share a group, as its insert and its commit cost more than they do.

A group is limited in batches, events and bytes; its members are fixed when it is first leased.
Groups overlap, so that the worker process, the engine and the database work at the same time, see
:mod:`hoglet.pipeline.ingest.group_writer`.

Groups are retried until they succeed. Events that exceed the worker's limits are handled in
:mod:`hoglet.pipeline.ingest.split_group`. Other failures are retried with backoff and reported
by :mod:`hoglet.pipeline.health`.
"""

import asyncio
import contextlib
import math
import time
from collections import deque
from collections.abc import Sequence
from datetime import timedelta
from uuid import UUID

import msgspec
import structlog
from sqlalchemy.exc import SQLAlchemyError

from hoglet.access.auth import AccessService
from hoglet.kit import tracing
from hoglet.kit.backoff import Backoff
from hoglet.kit.errors import HogletError
from hoglet.pipeline.health import PipelineHealth
from hoglet.pipeline.ingest.group_processor import FunctionSource
from hoglet.pipeline.ingest.group_writer import (
    GROUP_LOST,
    GroupRun,
    GroupStages,
    GroupWriter,
    NotItsTurn,
    ProjectRequest,
)
from hoglet.pipeline.ingest.ipc import ProjectFacts, ReadRequest
from hoglet.pipeline.ingest.metrics import IngestMetrics
from hoglet.pipeline.ingest.sources import (
    GroupLimits,
    GroupSource,
    ProjectParts,
    SpooledGroup,
    is_large,
)
from hoglet.pipeline.ingest.split_group import FunctionsUnusable
from hoglet.pipeline.storage_failures import is_storage_failure
from hoglet.queue.consumers import Bursts

log = structlog.get_logger()

_STORAGE_BACKOFF = Backoff(first=2, longest=60)
_CHECK_SECONDS = 1.0  # whether the warehouse is back; a group is tried more rarely
_GROUP_BACKOFF = Backoff(first=2, longest=300)
_IDLE_WAIT = timedelta(seconds=1)
_SOURCE_PAUSE_S = 2.0  # for a source that failed; the others continue
# One that the worker process processes, and one that it parses: with only one, it would wait while
# the state of the next is loaded. More would only take memory.
_GROUPS_AHEAD = 2
# They are enqueued in the commit of their group, which all other writers wait for on SQLite.
_RUNS_PER_GROUP = 10_000


class ProjectSources(msgspec.Struct, frozen=True):
    """Loads the projects of groups.

    Args:
        access: loads projects.
        functions: loads their functions.
        site_url: where users reach hoglet, for URLs in globals.
    """

    access: AccessService
    functions: FunctionSource
    site_url: str


class IngestMonitoring(msgspec.Struct, frozen=True):
    """Where groups are reported: readiness, Prometheus metrics, and what gives way to many."""

    health: PipelineHealth
    metrics: IngestMetrics
    bursts: Bursts = msgspec.field(default_factory=Bursts)


class BatchWorker:
    """Consumes the spool.

    Args:
        sources: sources of groups, which take turns.
        number: distinguishes the workers of a process.
    """

    def __init__(
        self,
        *,
        sources: Sequence[GroupSource],
        stages: GroupStages,
        projects: ProjectSources,
        monitoring: IngestMonitoring,
        limits: GroupLimits | None = None,
        number: int = 0,
    ) -> None:
        self._sources = deque(sources)
        self._paused_until: dict[int, float] = {}
        self._processor = stages.processor
        self._warehouse = stages.warehouse
        self._writer = GroupWriter(stages, projects.access, monitoring.metrics)
        self._functions = projects.functions
        self._access = projects.access
        self._site_url = projects.site_url.rstrip("/")
        self._health = monitoring.health
        self._bursts = monitoring.bursts
        self._limits = limits or GroupLimits()
        self._number = number
        self._storage_failures = 0
        self._stopping = asyncio.Event()
        self._runs: deque[GroupRun] = deque()
        self._may_begin = asyncio.Event()
        self._has_backlog = False
        self._runs_per_event = 0.0
        self._gathers_until = 0.0

    async def run(self) -> None:
        """Run until :meth:`stop`; then finish what is processed, and release the other groups."""
        async with asyncio.TaskGroup() as tasks:
            while not self._stopping.is_set():
                self._may_begin.clear()
                if not await self._begin_next(tasks) and not self._stopping.is_set():
                    await self._wait()
            for run in self._runs:
                run.give_up()
        self._bursts.end(self._number)

    async def _begin_next(self, tasks: asyncio.TaskGroup) -> bool:
        """Start the next group, if there is one and it may begin."""
        has_gathered = await self._gather()
        if self._stopping.is_set() or self._is_full():
            return False
        run = await self._begin()
        if run is None:
            return False
        self._let_small_groups_grow(run.group, is_pressed=has_gathered or len(self._runs) > 0)
        self._runs.append(run)
        tasks.create_task(self._store(run))
        return True

    def stop(self) -> None:
        """Make :meth:`run` return."""
        self._stopping.set()
        self._may_begin.set()
        for source in self._sources:
            source.wake()

    async def work_once(self) -> bool:
        """Process one group; False if there is none. For tests and draining."""
        run = await self._begin()
        if run is None:
            return False
        await self._store(run)
        return True

    async def _gather(self) -> bool:
        """Wait while the next group gathers events; False if it can begin at once."""
        pause = self._gathers_until - time.monotonic()
        if pause <= 0:
            return False
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._stopping.wait(), pause)
        return True

    def _let_small_groups_grow(self, group: SpooledGroup, *, is_pressed: bool) -> None:
        """Have the next group gather events if this one is small although others precede it.

        An event that comes alone is not delayed, and neither is what this group left.
        """
        is_small = group.events < self._limits.small and not self._has_backlog
        if is_pressed and is_small and not group.leaves_some:
            self._gathers_until = time.monotonic() + self._limits.gather_seconds

    def _is_full(self) -> bool:
        """Whether the worker process has enough to do, or groups wait for their release.

        Another group would have to be released, too: it would come after theirs. Without a
        backlog, a second group ahead would only make the groups smaller, and an event dearer.
        """
        most = _GROUPS_AHEAD if self._has_backlog else 1
        return self._ahead() >= most or any(run.has_failed for run in self._runs)

    def _ahead(self) -> int:
        """Number of groups that the worker process has not processed."""
        return sum(not run.is_processed for run in self._runs)

    def _processed(self, group: SpooledGroup, runs: int) -> None:
        """Let :meth:`run` begin a group if it waits because there were enough."""
        self._runs_per_event = runs / max(group.events, 1)
        if not self._is_full():
            self._may_begin.set()

    async def _wait(self) -> None:
        """Wait until a group was processed or has ended, or one of the sources has a group."""
        waits: list[asyncio.Task[object]] = [asyncio.create_task(self._may_begin.wait())]
        if not self._is_full():
            waits += [asyncio.create_task(source.wait(_IDLE_WAIT)) for source in self._sources]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()
            await asyncio.gather(*waits, return_exceptions=True)

    async def _begin(self) -> GroupRun | None:
        """Start a group and have it parsed; None if there is none or storage is unavailable."""
        group: SpooledGroup | None = None
        earlier = self._runs[-1] if self._runs else None  # if it fails meanwhile, so does this one
        try:
            limits = self._next_limits()
            group = await self._next_group(limits)
            self._has_backlog = group is not None and is_large(group, limits)
            self._note_burst()
            if group is None:
                if earlier is None:
                    self._health.works("events", worker=self._number)
                return None
            projects = [await self._request(group.id, each) for each in group.projects]
        except (HogletError, SQLAlchemyError, OSError) as error:
            log.warning("reading the spool failed", action="spool_waits", error=str(error))
            await self._wait_for_storage(error, longest=_SOURCE_PAUSE_S)
            if group is not None:
                await self._release(group, is_divisible=group.is_divisible)
            return None
        reading = self._processor.read([each.request for each in projects])
        return GroupRun(
            group,
            projects,
            asyncio.create_task(reading),
            earlier=earlier,
            on_processed=self._processed,
        )

    def _note_burst(self) -> None:
        """A burst lasts until nothing of it is left to store."""
        if self._has_backlog:
            self._bursts.begin(self._number)
        elif not self._runs:
            self._bursts.end(self._number)

    def _next_limits(self) -> GroupLimits:
        """The limits of the next group, with as many runs as the last one had for each event."""
        most = int(_RUNS_PER_GROUP / max(self._runs_per_event, 1.0))
        return msgspec.structs.replace(self._limits, events=min(self._limits.events, max(most, 1)))

    async def _next_group(self, limits: GroupLimits) -> SpooledGroup | None:
        """Start a group of the first source that has one; a source that fails is paused.

        Raises:
            Exception: the error of a failed source, if no other source has a group.
        """
        failure: Exception | None = None
        for source in list(self._sources):
            if self._paused_until.get(id(source), 0.0) > time.monotonic():
                continue
            try:
                group = await source.begin(limits)
            except (HogletError, SQLAlchemyError, OSError) as error:
                self._paused_until[id(source)] = time.monotonic() + _SOURCE_PAUSE_S
                failure = error
                continue
            if group is not None:
                self._sources.rotate(-1)
                return group
        if failure is not None:
            raise failure
        return None

    async def _release(self, group: SpooledGroup, *, is_divisible: bool) -> None:
        with contextlib.suppress(HogletError, SQLAlchemyError, OSError):  # then the lease expires
            await (group.undo() if is_divisible else group.release())

    async def _request(self, group: UUID, batches: ProjectParts) -> ProjectRequest:
        project_id, parts = batches
        project = await self._access.project(project_id)
        spans = tracing.SharedWork(
            "store events",
            [part.trace for part in parts],
            {"hoglet.project_id": project_id, "hoglet.requests": len(parts)},
        )
        request = ReadRequest(
            group=group,
            project=ProjectFacts(
                project_id,
                project.name if project else "",
                self._site_url,
                project.person_display_name_properties if project else None,
            ),
            parts=[msgspec.structs.replace(part, trace=spans.below(part.trace)) for part in parts],
            functions_key=await self._functions.version_stamp(project_id),
            functions=None,
        )
        is_first = project is not None and not project.ingested_event
        return ProjectRequest(request, spans, is_first)

    async def _store(self, run: GroupRun) -> None:
        """Process, insert and commit a group; if that fails, it is released or postponed."""
        is_stored = False
        try:
            is_stored = await self._try_to_store(run)
        finally:
            run.end(committed=is_stored)
            if run in self._runs:
                self._runs.remove(run)
            self._note_burst()
            self._may_begin.set()

    async def _try_to_store(self, run: GroupRun) -> bool:
        try:
            async with run.group.held():
                with run.ending_spans():
                    is_stored = await self._write_in_turn(run)
        except GROUP_LOST:
            log.warning("a group was lost", action="lease_lost", group=str(run.group.id))
            await self._release(run.group, is_divisible=False)
            return False
        except Exception as error:
            run.mark_failed()
            log.exception("a group failed", action="group_failed", group=str(run.group.id))
            await self._later(run, error)
            return False
        if not is_stored:
            await self._release(run.group, is_divisible=run.is_divisible)
            return False
        self._health.group_stored(run.group.id, worker=self._number)
        self._storage_failures = 0
        return True

    async def _write_in_turn(self, run: GroupRun) -> bool:
        """False if a group before it failed: that is no failure of this group."""
        try:
            await self._writer.write(run)
        except NotItsTurn:
            return False
        return True

    async def _later(self, run: GroupRun, error: Exception) -> None:
        """Retry a group: next if storage failed, otherwise later, behind other groups."""
        if is_storage_failure(error) and not isinstance(error, FunctionsUnusable):
            await self._wait_for_storage(error)
            await self._release(run.group, is_divisible=run.is_divisible)
            return
        pause = _GROUP_BACKOFF.wait(run.group.retries)
        self._health.group_failed(run.group.id, error, pause=pause)
        try:
            if run.is_divisible and run.in_progress is not None:
                await run.group.postpone_project(run.in_progress, pause)
            else:
                await run.group.postpone(pause)
        except GROUP_LOST:
            pass
        except (HogletError, SQLAlchemyError, OSError) as failure:
            # Raised, it would end the other groups without releasing them.
            log.warning("a group was not postponed", action="not_postponed", error=str(failure))
            await self._wait_for_storage(failure)

    async def _wait_for_storage(self, error: Exception, *, longest: float = math.inf) -> None:
        """Pause; ends early if the warehouse was away in the meantime and is back.

        Args:
            error: the failure.
            longest: seconds; for what costs little to try again.
        """
        self._health.failed("events", error, worker=self._number)
        left = min(_STORAGE_BACKOFF.seconds(self._storage_failures), longest)
        self._storage_failures += 1
        was_away = False
        while not self._stopping.is_set():
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._stopping.wait(), min(left, _CHECK_SECONDS))
            left -= _CHECK_SECONDS
            if left <= 0:
                return
            try:
                await self._warehouse.check_writes()
            except (HogletError, OSError):
                was_away = True
            else:
                if was_away:
                    return
