"""Jobs of functions and their payloads.

Queues: ``functions.recompile`` (processed by ``recompile``), ``functions.invoke`` and
    ``functions.backfill`` (processed by the pipeline).

Source: docs/spec/hog-functions.md#55-bytecode_error,
docs/spec/hog-functions.md#10-dead-letters-hoglet-goes-further and
docs/spec/hog-functions.md#131-pipeline-destinations.
"""

import hashlib
from datetime import datetime
from uuid import UUID

import msgspec
from sqlalchemy.ext.asyncio import AsyncSession

from hoglet.functions.json_types import Globals
from hoglet.functions.runtime.journal import RunJournal
from hoglet.kit.json import pack
from hoglet.queue.port import NewJob, Queue

RECOMPILE_QUEUE = "functions.recompile"
INVOKE_QUEUE = "functions.invoke"
BACKFILL_QUEUE = "functions.backfill"
LINE_PREFIX = "line:"  # prefix of the ordering keys of ordered runs


class RecompileV1(msgspec.Struct, frozen=True, tag="recompile.v1"):
    """Recompile filters that use an action, a property, or else the test-account filters."""

    project_id: int
    action_id: int | None = None
    property: str | None = None


class InvokeV1(msgspec.Struct, frozen=True, kw_only=True, tag="invoke.v1"):
    """One run of one function; the job's id is the invocation id.

    Attributes:
        project_id, function_id: the function, loaded when the job is leased.
        invocation_id: stable across attempts, restarts and redrives.
        globals: see docs/spec/hog-functions.md#132-globals-and-inputs; without inputs and therefore
            without secrets.
        mapping: number of the mapping, None without mappings.
        journal: recorded progress; None before the first step.
        attempt: number of the next attempt of the pending host call, from 1.
        first_failed_at: ISO time of the first failure, for the dead letter.
        failing_since: ISO time since which all attempts have failed; reset by a redrive.
        start_at: ``filter`` (a redrive of class ``filter``) or ``inputs``.
        is_redrive: no masking; the outcome updates the dead letter ``dead_letter_id``.
        dead_letter_id: the dead letter that was redriven.
        backfill_id: the backfill that the run belongs to.
        logged_until: ISO time of its last log line, so that the next one sorts after it.
        trace: ``traceparent`` of its cause, see :mod:`hoglet.kit.tracing`.
    """

    project_id: int
    function_id: UUID
    invocation_id: UUID
    globals: Globals
    mapping: int | None = None
    journal: RunJournal | None = None
    attempt: int = 1
    first_failed_at: str | None = None
    start_at: str = "inputs"
    is_redrive: bool = False
    dead_letter_id: UUID | None = msgspec.field(default=None, name="letter_id")  # in stored jobs
    failing_since: str | None = None
    backfill_id: UUID | None = None
    logged_until: str | None = None
    trace: str | None = None


class BackfillV1(msgspec.Struct, frozen=True, tag="backfill.v1"):
    """Run a function on stored events; ``Backfills.window`` has the time range.

    ``after_at`` and ``after_uuid`` identify the last event of the previous page.
    """

    project_id: int
    function_id: UUID
    batch_export_id: UUID
    backfill_id: UUID
    after_at: datetime | None = None
    after_uuid: UUID | None = None


_encoder = msgspec.msgpack.Encoder()


def encode(job: RecompileV1 | InvokeV1 | BackfillV1) -> bytes:
    """The payload of a job."""
    return pack(_encoder, job)


# Each raises `msgspec.ValidationError` if the payload is invalid.
decode_invoke = msgspec.msgpack.Decoder(InvokeV1).decode
decode_recompile = msgspec.msgpack.Decoder(RecompileV1).decode
decode_backfill = msgspec.msgpack.Decoder(BackfillV1).decode


class RecompileLater:
    """Enqueues recompilations in the caller's transaction."""

    def __init__(self, queue: Queue) -> None:
        self._queue = queue

    async def __call__(self, session: AsyncSession, project_id: int, action_id: int | None) -> None:
        """Recompile the functions that use an action (None: the test-account filters)."""
        await self._enqueue(session, RecompileV1(project_id, action_id))

    async def property_type_changed(
        self, session: AsyncSession, project_id: int, name: str
    ) -> None:
        """Recompile the functions whose filters may use a property."""
        await self._enqueue(session, RecompileV1(project_id, property=name))

    async def _enqueue(self, session: AsyncSession, job: RecompileV1) -> None:
        await self._queue.enqueue(session, [NewJob(queue=RECOMPILE_QUEUE, payload=encode(job))])


def line_of(function_id: str, distinct_id: str, backfill: str = "") -> str:
    """The ordering key of a run; a backfill has its own keys.

    Example:
        >>> line_of("0193e8c6", "ada")
        'line:0193e8c6:8c8d357b5e872bbacd45197626bd5759'
    """
    digest = hashlib.md5(f"{backfill}{distinct_id}".encode(), usedforsecurity=False).hexdigest()
    return f"{LINE_PREFIX}{function_id}:{digest}"
