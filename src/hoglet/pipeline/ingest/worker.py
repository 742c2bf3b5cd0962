"""Consumes the spool: events to the warehouse, runs to their queue, one group after another.

Several workers of a process work on different projects: a project's groups are ordered, so while a
worker holds some of its batches, no other worker leases more of them.

A group is limited in batches, events and bytes, and fixed when it is leased for the first time.
While one is processed, inserted and committed, the worker already parses the next.

Groups are never given up. Events that exceed the worker's limits are handled in
:mod:`hoglet.pipeline.ingest.group_processor`. Other failures are retried with backoff and reported
by :mod:`hoglet.pipeline.health`.
"""

import asyncio
import contextlib
import functools
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

import msgspec
import structlog
from sqlalchemy.exc import SQLAlchemyError

from hoglet.access.service import AccessService
from hoglet.definitions.tracker import DefinitionTracker
from hoglet.events.spool import SPOOL_QUEUE, read_spooled
from hoglet.kit.backoff import Backoff
from hoglet.kit.errors import HogletError
from hoglet.pipeline.health import PipelineHealth
from hoglet.pipeline.ingest.commit import ChunkCommitter
from hoglet.pipeline.ingest.group_processor import (
    FunctionsUnusable,
    GroupProcessor,
)
from hoglet.pipeline.ingest.ipc import (
    BatchResult,
    LookupRequest,
    Part,
    ProjectFacts,
    ReadRequest,
)
from hoglet.pipeline.ingest.metrics import IngestMetrics
from hoglet.pipeline.ingest.process import EVENT_COLUMNS
from hoglet.pipeline.ingest.sandbox_client import FunctionLoader
from hoglet.pipeline.storage_failures import is_storage_failure
from hoglet.queue import Job, LeaseLost, Queue
from hoglet.queue.leases import LEASE, keep_leases
from hoglet.warehouse.port import Warehouse

log = structlog.get_logger()

_STORAGE_BACKOFF = Backoff(first=2, longest=60)
_GROUP_BACKOFF = Backoff(first=2, longest=300)
_IDLE_WAIT = timedelta(seconds=1)
# Another server may have written the same at the same moment.
_RETRIES_OF_COMMIT = 2


class GroupLimits(msgspec.Struct, frozen=True, kw_only=True):
    """How large a group may be; one batch above them is a group of its own.

    Attributes:
        size: bytes of the spooled requests. A worker took up to 65 bytes of memory for each byte
            it acts on (30 small properties an event, ten functions that match) and 28 for each it
            reads ahead (small objects in lists): 4 MiB stay below 400 MiB of the worker's 1 GiB.
        events: bounds what small events cost beside their bytes.
        batches: rows of the queue.
    """

    size: int = 4 * 1024 * 1024
    events: int = 4000
    batches: int = 200


def _is_refusal(error: Exception) -> bool:
    """Whether the database rejected what was written, and would do so again."""
    return not isinstance(error, LeaseLost) and not is_storage_failure(error)


@dataclass(frozen=True, slots=True)
class GroupStages:
    """The stages of a group: processed, its types recorded, its rows inserted, committed."""

    processor: GroupProcessor
    definitions: DefinitionTracker
    warehouse: Warehouse
    committing: ChunkCommitter


@dataclass(frozen=True, slots=True)
class ProjectSources:
    """Where groups find their projects.

    Args:
        access: the projects.
        functions: their functions.
        site_url: where users reach hoglet, for URLs in globals.
    """

    access: AccessService
    functions: FunctionLoader
    site_url: str


@dataclass(frozen=True, slots=True)
class IngestMonitoring:
    """Reports about groups: readiness, and Prometheus metrics."""

    health: PipelineHealth
    metrics: IngestMetrics


class _Begun(msgspec.Struct):
    """A leased group whose first half is done or in progress."""

    jobs: list[Job]
    request: ReadRequest
    wanted: asyncio.Task[LookupRequest]
    is_first: bool
    acted: asyncio.Event = msgspec.field(default_factory=asyncio.Event)


class BatchWorker:
    """Consumes the spool.

    Args:
        queue: of this worker alone if there are several, see :meth:`Queue.consumer`.
        number: tells it apart from the other workers of the process.
    """

    def __init__(
        self,
        *,
        queue: Queue,
        stages: GroupStages,
        projects: ProjectSources,
        monitoring: IngestMonitoring,
        limits: GroupLimits | None = None,
        number: int = 0,
    ) -> None:
        self._queue = queue
        self._processor = stages.processor
        self._definitions = stages.definitions
        self._warehouse = stages.warehouse
        self._committing = stages.committing
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
        """Run until :meth:`stop`: the current group is finished, the next one is released."""
        begun: _Begun | None = None
        while not self._stopping.is_set():
            begun = begun or await self._begin()
            if begun is not None:
                begun = await self._end_while_beginning(begun)
            elif not self._stopping.is_set():
                await self._queue.wait(SPOOL_QUEUE, _IDLE_WAIT)
        if begun is not None:
            await self._give_back(begun)

    def stop(self) -> None:
        """Make :meth:`run` return."""
        self._stopping.set()
        self._queue.wake(SPOOL_QUEUE)

    async def work_once(self) -> bool:
        """Process one group; False if nothing waits. For tests and draining."""
        begun = await self._begin()
        if begun is None:
            return False
        await self._end(begun)
        return True

    async def _end_while_beginning(self, begun: _Begun) -> _Begun | None:
        """End a group; once the worker process is done with it, have it read the next one.

        Not sooner: the worker does one thing at a time, and this group would wait behind the next.
        """
        ending = asyncio.create_task(self._end(begun))
        acted = asyncio.create_task(begun.acted.wait())
        await asyncio.wait((ending, acted), return_when=asyncio.FIRST_COMPLETED)
        acted.cancel()
        following = None if self._stopping.is_set() else await self._begin()
        if await ending or following is None:
            return following
        await self._give_back(following)  # the order of a project's batches is kept
        return None

    async def _give_back(self, begun: _Begun) -> None:
        begun.wanted.cancel()
        await asyncio.gather(begun.wanted, return_exceptions=True)
        await self._queue.release(begun.jobs)

    async def _begin(self) -> _Begun | None:
        """Lease a group and have it read; None when nothing waits or storage is not usable."""
        try:
            jobs = await self._queue.lease_group(
                SPOOL_QUEUE,
                limit=self._limits.batches,
                duration=LEASE,
                max_weight=self._limits.events,
                max_bytes=self._limits.size,
            )
            if not jobs:
                self._health.works("events", worker=self._number)
                return None
            request = await self._request(jobs)
            project = await self._access.project(request.project.id)
        except (HogletError, SQLAlchemyError, OSError) as error:
            log.warning("reading the spool failed", action="spool_waits", error=str(error))
            await self._wait_for_storage(error)
            return None  # leased jobs return when their lease expires
        reading = asyncio.create_task(self._processor.read(request))
        return _Begun(jobs, request, reading, project is not None and not project.ingested_event)

    async def _request(self, jobs: Sequence[Job]) -> ReadRequest:
        spooled = [read_spooled(job.payload) for job in jobs]
        project_id = spooled[0].project_id
        project = await self._access.project(project_id)
        return ReadRequest(
            group=jobs[0].group or jobs[0].id,
            project=ProjectFacts(
                project_id,
                project.name if project else "",
                self._site_url,
                project.person_display_name_properties if project else None,
            ),
            parts=[
                Part(job.id, one.body, one.received_at, one.ip, one.sent_at)
                for job, one in zip(jobs, spooled, strict=True)
            ],
            functions_key=await self._functions.version_stamp(project_id),
            functions=None,
        )

    async def _end(self, begun: _Begun) -> bool:
        """Process, insert, commit; False if the group must be retried."""
        try:
            async with keep_leases(self._queue, begun.jobs):
                await self._work(begun)
        except LeaseLost:
            log.warning("a group was lost", action="lease_lost", group=str(begun.request.group))
            return False
        except Exception as error:
            log.exception("a group failed", action="group_failed", group=str(begun.request.group))
            await self._later(begun, error)
            return False
        self._health.group_stored(begun.request.group, worker=self._number)
        self._storage_failures = 0
        return True

    async def _work(self, begun: _Begun) -> None:
        project_id = begun.request.project.id
        acted = await self._processor.process(begun.request, begun.wanted)
        begun.acted.set()
        await self._definitions.settle(
            project_id, await self._definitions_version(project_id), acted.observation
        )
        await self._store(begun.request, acted)
        try:
            await self._committing.commit(project_id, begun.jobs, acted, is_first=begun.is_first)
        except Exception as error:
            if begun.jobs[0].retries < _RETRIES_OF_COMMIT or not _is_refusal(error):
                raise
            acted = await self._commit_in_pieces(begun)
        self._metrics.stored(acted.stored)

    async def _commit_in_pieces(self, begun: _Begun) -> BatchResult:
        """Commit a group without what the database refuses, time after time."""
        project_id = begun.request.project.id
        try_commit = functools.partial(self._committing.try_commit, project_id)
        acted = await self._processor.process_in_pieces(begun.request, try_commit)
        await self._store(begun.request, acted)
        await self._committing.commit(project_id, begun.jobs, acted, is_first=begun.is_first)
        return acted

    async def _definitions_version(self, project_id: int) -> int:
        project = await self._access.project(project_id)
        return 0 if project is None else project.definitions_version

    async def _store(self, reading: ReadRequest, acted: BatchResult) -> None:
        for name, block in acted.blocks.items():
            token = f"{reading.group}:{name}"
            started = time.perf_counter()
            await self._warehouse.insert_block("events", EVENT_COLUMNS, block, dedup_token=token)
            self._metrics.inserted(time.perf_counter() - started)

    async def _later(self, begun: _Begun, error: Exception) -> None:
        """Retry a group: in place once storage works, or later, behind other groups."""
        if is_storage_failure(error) and not isinstance(error, FunctionsUnusable):
            await self._wait_for_storage(error)
            await self._queue.release(begun.jobs)
            return
        self._health.group_failed(begun.request.group, error)
        with contextlib.suppress(LeaseLost):
            wait = _GROUP_BACKOFF.wait(begun.jobs[0].retries)
            await self._committing.postpone(begun.jobs, wait)

    async def _wait_for_storage(self, error: Exception) -> None:
        self._health.failed("events", error, worker=self._number)
        pause = _STORAGE_BACKOFF.seconds(self._storage_failures)
        self._storage_failures += 1
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._stopping.wait(), pause)
