"""From the spool to the warehouse and to functions: one group of batches after another.

While a group is being acted on, inserted and committed, the next one is already read by the worker
process: reading (parsing and transforming) needs nothing from the database.
"""

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import msgspec
import structlog
from sqlalchemy.exc import SQLAlchemyError

from hoglet.access.service import AccessService
from hoglet.events.repository import EventsRepository
from hoglet.events.spool import SPOOL_QUEUE, read_spooled
from hoglet.functions.executable.model import ExecutableFunction
from hoglet.functions.types import DESTINATION
from hoglet.kit.clock import Clock
from hoglet.kit.errors import HogletError
from hoglet.pipeline.ingest.commit import ChunkCommitter
from hoglet.pipeline.ingest.ipc import (
    BatchResult,
    LookupRequest,
    Part,
    ProcessRequest,
    ProjectFacts,
    ReadRequest,
)
from hoglet.pipeline.ingest.process import EVENT_COLUMNS
from hoglet.pipeline.ingest.property_schema import SchemaTracker
from hoglet.pipeline.ingest.sandbox_client import (
    FunctionLoader,
    PipelineSandboxClient,
)
from hoglet.pipeline.leases import LEASE, keep_leases
from hoglet.queue import Job, LeaseLost, Queue
from hoglet.store.database import Database
from hoglet.warehouse.port import Warehouse

log = structlog.get_logger()

MAX_EVENTS = 4000  # of a group, unless one batch alone is larger
MAX_BATCHES = 200
# A group that brings its worker down time after time goes on without what may be the cause:
# first without transformations, then without any function. Only failures of the worker count.
UNTRANSFORMED_AFTER_FAILURES = 3
PLAIN_AFTER_FAILURES = 5
BURIED_AFTER_FAILURES = 7
_IDLE_WAIT = timedelta(seconds=1)
_STORAGE_PAUSE_S = 2.0


class _Begun(msgspec.Struct):
    """A leased group whose first half is done or under way."""

    jobs: list[Job]
    request: ReadRequest
    wanted: asyncio.Task[LookupRequest]
    is_first: bool
    acted: asyncio.Event = msgspec.field(default_factory=asyncio.Event)


class BatchWorker:
    """Works the spool off.

    Args:
        site_url: where users reach hoglet, for URLs in globals.
    """

    def __init__(
        self,
        *,
        database: Database,
        queue: Queue,
        warehouse: Warehouse,
        calls: PipelineSandboxClient,
        functions: FunctionLoader,
        events: EventsRepository,
        committing: ChunkCommitter,
        learning: SchemaTracker,
        access: AccessService,
        clock: Clock,
        site_url: str,
    ) -> None:
        self._database = database
        self._queue = queue
        self._warehouse = warehouse
        self._calls = calls
        self._functions = functions
        self._events = events
        self._committing = committing
        self._learning = learning
        self._access = access
        self._clock = clock
        self._site_url = site_url.rstrip("/")
        self._stopping = False

    async def run(self) -> None:
        """Work until :meth:`stop`: the group under way is ended, the one after it goes back."""
        begun: _Begun | None = None
        while not self._stopping:
            begun = begun or await self._begin()
            if begun is not None:
                begun = await self._end_while_beginning(begun)
            elif not self._stopping:
                await self._queue.wait(SPOOL_QUEUE, _IDLE_WAIT)
        if begun is not None:
            await self._give_back(begun)

    def stop(self) -> None:
        """Let :meth:`run` end."""
        self._stopping = True
        self._queue.wake(SPOOL_QUEUE)

    async def work_once(self) -> bool:
        """Work off one group; False when nothing waits. For tests and draining."""
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
        following = None if self._stopping else await self._begin()
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
                SPOOL_QUEUE, limit=MAX_BATCHES, duration=LEASE, max_weight=MAX_EVENTS
            )
            if not jobs:
                return None
            request = await self._request(jobs)
            project = await self._access.project(request.project.id)
        except (HogletError, SQLAlchemyError, OSError) as error:
            log.warning("the spool cannot be read", action="spool_waits", error=str(error))
            await asyncio.sleep(_STORAGE_PAUSE_S)
            return None  # what was leased comes back when its lease ends
        reading = asyncio.create_task(self._calls.read(request))
        return _Begun(jobs, request, reading, project is not None and not project.ingested_event)

    async def _request(self, jobs: Sequence[Job]) -> ReadRequest:
        spooled = [read_spooled(job.payload) for job in jobs]
        project_id = spooled[0].project_id
        project = await self._access.project(project_id)
        key, functions = await self._functions_for(project_id, jobs[0].retries)
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
            functions_key=key,
            functions=functions,
        )

    async def _functions_for(
        self, project_id: int, failures: int
    ) -> tuple[str, list[ExecutableFunction] | None]:
        """The name of the functions to ask, and those that the worker cannot look up by it."""
        if failures >= PLAIN_AFTER_FAILURES:
            return "none", []
        stamp = await self._functions.version_stamp(project_id)
        if failures < UNTRANSFORMED_AFTER_FAILURES:
            return stamp, None
        destinations = await self._functions.load_runnable(project_id, (DESTINATION,))
        return f"untransformed {stamp}", destinations

    async def _end(self, begun: _Begun) -> bool:
        """Act, insert, commit; False when the group has to be worked off again."""
        try:
            async with keep_leases(self._queue, begun.jobs):
                await self._work(begun)
        except LeaseLost:
            log.warning("a group was lost", action="lease_lost", group=str(begun.request.group))
            return False
        except Exception as error:
            log.exception("a group failed", action="group_failed", group=str(begun.request.group))
            await self._later(begun.jobs, error)
            return False
        return True

    async def _work(self, begun: _Begun) -> None:
        project_id = begun.request.project.id
        request = await self._load(begun.request, await begun.wanted)
        acted = await self._calls.act(begun.request, request)
        begun.acted.set()
        acted.warnings.extend(_left_out(begun.jobs[0].retries))
        await self._learning.settle(project_id, acted)
        await self._store(begun.request, acted)
        await self._committing.commit(project_id, begun.jobs, acted, is_first=begun.is_first)

    async def _load(self, reading: ReadRequest, wanted: LookupRequest) -> ProcessRequest:
        project_id = reading.project.id
        async with self._database.read() as session:
            types = await self._events.group_types(session, project_id)
            places = [(types[kind], key) for kind, key in wanted.groups if kind in types]
            return ProcessRequest(
                group=reading.group,
                people=await self._events.load_people(
                    session, project_id, wanted.distinct_ids, wanted.merging
                ),
                group_types=types,
                groups=await self._events.load_groups(session, project_id, places),
                seen=list(await self._events.seen(session, project_id, wanted.uuids)),
            )

    async def _store(self, reading: ReadRequest, acted: BatchResult) -> None:
        for place, block in enumerate(acted.blocks):
            token = f"{reading.group}:{place}"
            await self._warehouse.insert_block("events", EVENT_COLUMNS, block, dedup_token=token)

    async def _later(self, jobs: Sequence[Job], error: Exception) -> None:
        """Try a group again after a pause; bury what fails for ever, unless storage is down."""
        if _is_storage(error):
            await self._queue.release(jobs)
            await asyncio.sleep(_STORAGE_PAUSE_S)
            return
        failures = jobs[0].retries + 1
        run_at = self._clock.now() + timedelta(seconds=2**failures)
        async with self._database.write() as session:
            for job in jobs:
                if failures > BURIED_AFTER_FAILURES:
                    await self._queue.bury(session, job, str(error)[:2000])
                else:
                    await self._queue.retry(session, job, run_at=run_at)


def _is_storage(error: Exception) -> bool:
    """Whether a place to store things failed: no group is to blame for that."""
    if isinstance(error, HogletError):
        return error.blame == "operator"
    return isinstance(error, (SQLAlchemyError, OSError))


def _left_out(failures: int) -> list[tuple[str, dict[str, Any]]]:
    """The warning that tells the project which of its functions did not see the group."""
    if failures >= PLAIN_AFTER_FAILURES:
        return [("functions_left_out", {"functions": "all", "failures": failures})]
    if failures >= UNTRANSFORMED_AFTER_FAILURES:
        return [("functions_left_out", {"functions": "transformations", "failures": failures})]
    return []
