"""Consumes the spool group by group: stores events in the warehouse and enqueues runs.

The workers of a process handle different projects: a project's groups are ordered, so while one
worker holds some of its batches, no other worker leases more of them.

A group is limited in batches, events and bytes; its members are fixed when it is first leased.
While one group is inserted and committed, the worker process already parses the next.

Groups are retried until they succeed. Events that exceed the worker's limits are handled in
:mod:`hoglet.pipeline.ingest.group_processor`. Other failures are retried with backoff and reported
by :mod:`hoglet.pipeline.health`.
"""

import asyncio
import contextlib
import functools
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

import msgspec
import structlog
from sqlalchemy.exc import SQLAlchemyError

from hoglet.access.service import AccessService
from hoglet.definitions.tracker import DefinitionTracker
from hoglet.kit import tracing
from hoglet.kit.backoff import Backoff
from hoglet.kit.errors import HogletError
from hoglet.pipeline.health import IngestMetrics, PipelineHealth
from hoglet.pipeline.ingest.commit import GroupCommitter
from hoglet.pipeline.ingest.group_processor import (
    FunctionsUnusable,
    GroupProcessor,
)
from hoglet.pipeline.ingest.ipc import (
    BatchResult,
    LookupRequest,
    ProjectFacts,
    ReadRequest,
)
from hoglet.pipeline.ingest.process import EVENT_COLUMNS
from hoglet.pipeline.ingest.sandbox_client import FunctionLoader
from hoglet.pipeline.ingest.sources import GroupLimits, GroupSource, SpooledGroup
from hoglet.pipeline.storage_failures import is_conflict, is_storage_failure
from hoglet.queue import LeaseLost
from hoglet.spool.positions import OwnershipLost
from hoglet.warehouse.port import Warehouse

log = structlog.get_logger()

_STORAGE_BACKOFF = Backoff(first=2, longest=60)
_GROUP_BACKOFF = Backoff(first=2, longest=300)
_IDLE_WAIT = timedelta(seconds=1)
# Another server may have written the same rows at the same moment.
_RETRIES_OF_COMMIT = 2
_MOST_CONFLICTS = 8
_SOURCE_PAUSE_S = 2.0  # for a source that failed; the others continue
_LOST = (LeaseLost, OwnershipLost)


def _is_refusal(error: Exception) -> bool:
    """Whether the database rejected the data itself, so that a retry would fail, too."""
    return not isinstance(error, _LOST) and not is_storage_failure(error)


@dataclass(frozen=True, slots=True)
class GroupStages:
    """The stages of a group: process it, record property types, insert rows, commit."""

    processor: GroupProcessor
    definitions: DefinitionTracker
    warehouse: Warehouse
    committer: GroupCommitter


@dataclass(frozen=True, slots=True)
class ProjectSources:
    """Loads the projects of groups.

    Args:
        access: loads projects.
        functions: loads their functions.
        site_url: where users reach hoglet, for URLs in globals.
    """

    access: AccessService
    functions: FunctionLoader
    site_url: str


@dataclass(frozen=True, slots=True)
class IngestMonitoring:
    """Where groups are reported: readiness and Prometheus metrics."""

    health: PipelineHealth
    metrics: IngestMetrics


class _Begun(msgspec.Struct):
    """A group whose first phase is done or in progress."""

    group: SpooledGroup
    request: ReadRequest
    lookups: asyncio.Task[LookupRequest]
    is_first: bool
    spans: tracing.SharedWork
    result: asyncio.Event = msgspec.field(default_factory=asyncio.Event)


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
        self._definitions = stages.definitions
        self._warehouse = stages.warehouse
        self._committer = stages.committer
        self._functions = projects.functions
        self._access = projects.access
        self._site_url = projects.site_url.rstrip("/")
        self._health = monitoring.health
        self._metrics = monitoring.metrics
        self._limits = limits or GroupLimits()
        self._number = number
        self._storage_failures = 0
        self._stopping = asyncio.Event()

    async def run(self) -> None:
        """Run until :meth:`stop`, then finish the current group and release the next one."""
        begun: _Begun | None = None
        while not self._stopping.is_set():
            begun = begun or await self._begin()
            if begun is not None:
                begun = await self._end_while_beginning(begun)
            elif not self._stopping.is_set():
                await self._wait()
        if begun is not None:
            await self._give_back(begun)

    def stop(self) -> None:
        """Make :meth:`run` return."""
        self._stopping.set()
        for source in self._sources:
            source.wake()

    async def work_once(self) -> bool:
        """Process one group; False if there is none. For tests and draining."""
        begun = await self._begin()
        if begun is None:
            return False
        await self._end(begun)
        return True

    async def _end_while_beginning(self, begun: _Begun) -> _Begun | None:
        """Finish a group; have the worker process parse the next one as soon as it is free.

        Not sooner: the process handles one call at a time, so this group would have to wait.
        """
        ending = asyncio.create_task(self._end(begun))
        result = asyncio.create_task(begun.result.wait())
        await asyncio.wait((ending, result), return_when=asyncio.FIRST_COMPLETED)
        result.cancel()
        following = None if self._stopping.is_set() else await self._begin()
        if await ending or following is None:
            return following
        await self._give_back(following)  # after the failed one: order is kept
        return None

    async def _give_back(self, begun: _Begun) -> None:
        begun.lookups.cancel()
        await asyncio.gather(begun.lookups, return_exceptions=True)
        await begun.group.release()

    async def _wait(self) -> None:
        """Wait until one of the sources has a group."""
        waits = [asyncio.create_task(source.wait(_IDLE_WAIT)) for source in self._sources]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()
            await asyncio.gather(*waits, return_exceptions=True)

    async def _begin(self) -> _Begun | None:
        """Start a group and have it parsed; None if there is none or storage is unavailable."""
        group: SpooledGroup | None = None
        try:
            group = await self._next_group()
            if group is None:
                self._health.works("events", worker=self._number)
                return None
            request, spans = await self._request(group)
            project = await self._access.project(request.project.id)
        except (HogletError, SQLAlchemyError, OSError) as error:
            log.warning("reading the spool failed", action="spool_waits", error=str(error))
            await self._wait_for_storage(error)
            if group is not None:
                await self._release(group)
            return None
        reading = asyncio.create_task(self._processor.read(request))
        is_first = project is not None and not project.ingested_event
        return _Begun(group, request, reading, is_first, spans)

    async def _next_group(self) -> SpooledGroup | None:
        """Start a group of the first source that has one; a source that fails is paused.

        Raises:
            Exception: the error of a failed source, if no other source has a group.
        """
        failure: Exception | None = None
        for source in list(self._sources):
            if self._paused_until.get(id(source), 0.0) > time.monotonic():
                continue
            try:
                group = await source.begin(self._limits)
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

    async def _release(self, group: SpooledGroup) -> None:
        with contextlib.suppress(HogletError, SQLAlchemyError, OSError):  # then the lease expires
            await group.release()

    async def _request(self, group: SpooledGroup) -> tuple[ReadRequest, tracing.SharedWork]:
        project = await self._access.project(group.project_id)
        spans = tracing.SharedWork(
            "store events",
            [part.trace for part in group.parts],
            {"hoglet.project_id": group.project_id, "hoglet.requests": len(group.parts)},
        )
        request = ReadRequest(
            group=group.id,
            project=ProjectFacts(
                group.project_id,
                project.name if project else "",
                self._site_url,
                project.person_display_name_properties if project else None,
            ),
            parts=[
                msgspec.structs.replace(part, trace=spans.below(part.trace)) for part in group.parts
            ],
            functions_key=await self._functions.version_stamp(group.project_id),
            functions=None,
        )
        return request, spans

    async def _end(self, begun: _Begun) -> bool:
        """Process, insert and commit a group; False if it must be retried."""
        try:
            async with begun.group.held():
                with begun.spans.ending():
                    await self._work(begun)
        except _LOST:
            log.warning("a group was lost", action="lease_lost", group=str(begun.request.group))
            await self._release(begun.group)
            return False
        except Exception as error:
            log.exception("a group failed", action="group_failed", group=str(begun.request.group))
            await self._later(begun, error)
            return False
        self._health.group_stored(begun.request.group, worker=self._number)
        self._storage_failures = 0
        return True

    async def _work(self, begun: _Begun) -> None:
        """Store a group; retries at once if another group changed the same persons or groups."""
        for conflicts in range(_MOST_CONFLICTS + 1):
            try:
                result = await self._attempt(begun, checked=conflicts < _MOST_CONFLICTS)
                break
            except Exception as error:
                if conflicts == _MOST_CONFLICTS or not is_conflict(error):
                    raise
                log.info("a group is processed again", action="conflict", error=str(error))
                begun.lookups = asyncio.create_task(self._processor.read(begun.request))
        else:
            raise AssertionError("the last attempt returns or raises")
        await begun.group.ended()
        self._metrics.stored(result.stored)

    async def _attempt(self, begun: _Begun, *, checked: bool) -> BatchResult:
        project_id = begun.request.project.id
        result = await self._processor.process(begun.request, begun.lookups)
        begun.result.set()
        await self._committer.claim_group_types(project_id, result)
        recorded = await self._definitions.settle(
            project_id, await self._definitions_version(project_id), result.observation
        )
        result.warnings.extend(recorded.warnings)
        await self._store(begun.request, result)
        try:
            await self._commit(begun, result, checked=checked)
        except Exception as error:
            retries = begun.group.retries
            if is_conflict(error) or retries < _RETRIES_OF_COMMIT or not _is_refusal(error):
                raise
            result = await self._commit_in_pieces(begun)
        return result

    async def _commit(self, begun: _Begun, result: BatchResult, *, checked: bool) -> None:
        await self._committer.commit(
            begun.request.project.id,
            begun.group.finish,
            result,
            is_first=begun.is_first,
            checked=checked,
        )

    async def _commit_in_pieces(self, begun: _Begun) -> BatchResult:
        """Commit a group without the events that the database keeps rejecting."""
        try_commit = functools.partial(self._committer.try_commit, begun.request.project.id)
        result = await self._processor.process_in_pieces(begun.request, try_commit)
        await self._store(begun.request, result)
        await self._commit(begun, result, checked=False)
        return result

    async def _definitions_version(self, project_id: int) -> int:
        project = await self._access.project(project_id)
        return 0 if project is None else project.definitions_version

    async def _store(self, reading: ReadRequest, result: BatchResult) -> None:
        for name, block in result.blocks.items():
            token = f"{reading.group}:{name}"
            started = time.perf_counter()
            await self._warehouse.insert_block("events", EVENT_COLUMNS, block, dedup_token=token)
            self._metrics.inserted(time.perf_counter() - started)

    async def _later(self, begun: _Begun, error: Exception) -> None:
        """Retry a group: next if storage failed, otherwise later, behind other groups."""
        if is_storage_failure(error) and not isinstance(error, FunctionsUnusable):
            await self._wait_for_storage(error)
            await self._release(begun.group)
            return
        self._health.group_failed(begun.request.group, error)
        with contextlib.suppress(*_LOST):
            await begun.group.postpone(_GROUP_BACKOFF.wait(begun.group.retries))

    async def _wait_for_storage(self, error: Exception) -> None:
        self._health.failed("events", error, worker=self._number)
        pause = _STORAGE_BACKOFF.seconds(self._storage_failures)
        self._storage_failures += 1
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._stopping.wait(), pause)
