"""Internal events: system events that trigger functions of type ``internal_destination``.

They are never stored. The transaction that makes a change also enqueues its event; the worker in
this module matches the event and enqueues runs.

Source: docs/spec/hog-functions.md#31-types, docs/spec/hog-functions.md#55-bytecode_error and
docs/spec/hog-functions.md#131-pipeline-destinations.
"""

from datetime import timedelta
from uuid import UUID

import msgspec
import structlog
from sqlalchemy.ext.asyncio import AsyncSession

from hoglet.access.activity import Activity
from hoglet.access.auth import AccessService
from hoglet.functions.executable.model import ExecutableFunction
from hoglet.functions.watcher.service import StateChange
from hoglet.kit.backoff import Backoff
from hoglet.kit.clock import Clock, iso_z, new_id
from hoglet.kit.errors import Unavailable
from hoglet.kit.json import Properties, pack
from hoglet.pipeline.ingest.commit import GroupCommitter
from hoglet.pipeline.ingest.group_processor import (
    DEADLINE_SECONDS,
    WORKER_FAILURES,
    FunctionSource,
)
from hoglet.pipeline.ingest.ipc import (
    BatchResult,
    Handling,
    InternalRequest,
    ProjectFacts,
    encoder,
    internal_answers,
)
from hoglet.queue import Job, NewJob, Queue
from hoglet.queue.consumers import LEASE
from hoglet.queue.worker import JobPolicy
from hoglet.sandbox import Sandbox

# The path of an operation, so that the server does not import what only workers run.
_MATCH = "hoglet.pipeline.ingest.worker_operations:match_internal_event"

log = structlog.get_logger()
_encoder = msgspec.msgpack.Encoder()

INTERNAL_QUEUE = "internal"
ACTIVITY_EVENT = "$activity_log_entry_created"
STATE_EVENT = "$hog_function_state_changed"
_KIND = ("internal_destination",)
# Workers can also be killed from outside, so an event is tried several times before its deliveries
# become dead letters.
_ATTEMPTS: tuple[Handling, ...] = ("run", "run", "run", "match", "store")


class InternalEventV1(msgspec.Struct, frozen=True, kw_only=True):
    """One event; ``timestamp`` is ISO."""

    project_id: int
    uuid: UUID
    event: str
    distinct_id: str
    properties: Properties
    timestamp: str


class InternalEvents:
    """Enqueues internal events in the caller's transaction."""

    def __init__(self, queue: Queue, clock: Clock) -> None:
        self._queue = queue
        self._clock = clock

    async def on_activity(self, session: AsyncSession, activity: Activity) -> None:
        """A listener of :class:`hoglet.access.activity.ActivityLog`."""
        properties = {
            "activity": activity.activity,
            "scope": activity.scope,
            "item_id": activity.item_id,
            "user_id": activity.user_id,
            "detail": {
                "name": activity.name,
                "changes": [
                    {
                        "type": activity.scope,
                        "action": change.action,
                        "field": change.field,
                        "before": change.before,
                        "after": change.after,
                    }
                    for change in activity.changes
                ],
            },
        }
        who = str(activity.user_id) if activity.user_id is not None else "hoglet"
        await self._add(session, activity.project_id, ACTIVITY_EVENT, who, properties)

    async def on_state_change(self, session: AsyncSession, change: StateChange) -> None:
        """A listener of :class:`hoglet.functions.watcher.service.Watcher`."""
        properties = {
            "hog_function_id": str(change.function_id),
            "hog_function_name": change.name,
            "previous_state": change.before,
            "state": change.after,
        }
        await self._add(session, change.project_id, STATE_EVENT, "hoglet", properties)

    async def _add(
        self,
        session: AsyncSession,
        project_id: int,
        event: str,
        who: str,
        properties: Properties,
    ) -> None:
        created = InternalEventV1(
            project_id=project_id,
            uuid=new_id(),
            event=event,
            distinct_id=who,
            properties=properties,
            timestamp=iso_z(self._clock.now()),
        )
        payload = pack(_encoder, msgspec.to_builtins(created, enc_hook=str))
        await self._queue.enqueue(session, [NewJob(queue=INTERNAL_QUEUE, payload=payload)])


INTERNAL_POLICY = JobPolicy(
    lease=LEASE,
    keeps_lease=True,
    attempts=None,
    backoff=Backoff(first=5, longest=5),
    idle=timedelta(seconds=1),
)


class InternalEventMatcher:
    """Processes internal events: matches each and enqueues runs."""

    def __init__(
        self,
        *,
        sandbox: Sandbox,
        deadline: float = DEADLINE_SECONDS,
        functions: FunctionSource,
        committer: GroupCommitter,
        access: AccessService,
        site_url: str,
    ) -> None:
        self._sandbox = sandbox
        self._deadline = deadline
        self._functions = functions
        self._committer = committer
        self._access = access
        self._site_url = site_url.rstrip("/")

    async def work(self, job: Job) -> None:
        """Match an event and commit its runs; finishes the job itself."""
        event = msgspec.msgpack.decode(job.payload, type=InternalEventV1)
        await self._committer.commit_job(event.project_id, job, await self._match(event))

    async def _match(self, event: InternalEventV1) -> BatchResult:
        functions: list[ExecutableFunction] = await self._functions.load_runnable(
            event.project_id, _KIND
        )
        if not functions:
            return BatchResult()
        project = await self._access.project(event.project_id)
        request = InternalRequest(
            project=ProjectFacts(event.project_id, project.name if project else "", self._site_url),
            functions=functions,
            uuid=event.uuid,
            event=event.event,
            distinct_id=event.distinct_id,
            properties=event.properties,
            timestamp=event.timestamp,
        )
        return await self._ask(request)

    async def _ask(self, request: InternalRequest) -> BatchResult:
        """Match an event; the result has dead letters instead of runs if the worker fails on it."""
        failure: Exception | None = None
        for handling in _ATTEMPTS:
            attempt = msgspec.structs.replace(request, handling=handling, reason=str(failure or ""))
            payload = pack(encoder, attempt)
            try:
                answer = await self._sandbox.call(_MATCH, payload, deadline=self._deadline)
                return internal_answers.decode(answer)
            except WORKER_FAILURES as error:
                failure = error
                log.warning("an internal event failed", handling=handling, error=str(error))
        raise Unavailable(f"The event cannot be matched: {failure}")
