"""The spool: accepted requests, made durable in group commits.

Requests that arrive during a commit share the next one, so the number of commits depends on the
disk, not on the number of clients. What a commit writes is up to the writer: jobs of a queue, or
entries of a log (:mod:`hoglet.events.log_writer`).

The pipeline's side is ``hoglet.pipeline``; the payload is :class:`SpooledV1`.
"""

import asyncio
import time
from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple, Protocol
from uuid import UUID

import msgspec
import structlog

from hoglet.queue import NewJob, Queue
from hoglet.spool import SpoolUnavailable
from hoglet.store.database import Database

log = structlog.get_logger()

SPOOL_QUEUE = "spool"
# Maximum number of bytes waiting in memory for a commit; beyond it, clients have to retry later.
MAX_WAITING_BYTES = 64 * 1024 * 1024
_MAX_COMMIT_BYTES = 16 * 1024 * 1024


class SpooledV1(msgspec.Struct, frozen=True, kw_only=True):
    """One accepted request.

    Args:
        project_id: the project of the events.
        received_at: the server's time, to correct timestamps with ``sent_at`` and ``offset``.
        ip: the client's address, None when the project discards it.
        body: JSON text that :func:`hoglet.events.parse.batch_of` reads.
        sent_at: the value in the URL, used if the body has none.
        trace: ``traceparent`` of the request, see :mod:`hoglet.kit.tracing`.
        id: unique; UUIDs of events without one are derived from it. None if the job's id is used.
        events: number of events in the body.
    """

    project_id: int
    received_at: datetime
    ip: str | None
    body: bytes
    sent_at: datetime | None = None
    trace: str | None = None
    id: UUID | None = None
    events: int = 1


_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(SpooledV1)


def job_of(spooled: SpooledV1, *, events: int) -> NewJob:
    """The job of a batch; jobs of a project are processed in order."""
    return NewJob(
        queue=SPOOL_QUEUE,
        payload=_encoder.encode(spooled),
        ordering_key=f"project:{spooled.project_id}",
        weight=max(events, 1),
    )


def encode_spooled(spooled: SpooledV1) -> bytes:
    """The payload of a batch."""
    return _encoder.encode(spooled)


def read_spooled(payload: bytes) -> SpooledV1:
    """The batch in a payload."""
    return _decoder.decode(payload)


class SpoolWriter[T](Protocol):
    """Writes several requests in one commit."""

    def prepare(self, spooled: SpooledV1, raw_events: Sequence[Any]) -> tuple[T, int]:
        """The entries to write for a request, and their size in bytes."""
        ...

    async def write(self, prepared: Sequence[T]) -> None:
        """Write entries; returns once all are durable."""
        ...


class JobWriter:
    """Writes requests as jobs of the queue, ordered by project."""

    def __init__(self, database: Database, queue: Queue) -> None:
        self._database = database
        self._queue = queue

    def prepare(self, spooled: SpooledV1, raw_events: Sequence[Any]) -> tuple[NewJob, int]:
        """The job of a request, and its size in bytes."""
        job = job_of(spooled, events=len(raw_events))
        return job, len(job.payload)

    async def write(self, prepared: Sequence[NewJob]) -> None:
        """Write jobs; returns once all are on disk."""
        async with self._database.write() as session:
            await self._queue.enqueue(session, prepared)


class _Waiting(NamedTuple):
    prepared: Any
    size: int
    done: asyncio.Future[None]


class Spool:
    """Makes requests durable in group commits.

    Concurrency: any number of tasks may ``append``; one task at a time commits for all.
    """

    def __init__(self, writer: SpoolWriter[Any]) -> None:
        self._writer = writer
        self._waiting: list[_Waiting] = []
        self._waiting_bytes = 0
        self._committer: asyncio.Task[None] | None = None
        self._failed_at: float | None = None

    def failed_within(self, seconds: float) -> bool:
        """Whether the last commit failed within this time."""
        return self._failed_at is not None and time.monotonic() - self._failed_at < seconds

    async def append(self, spooled: SpooledV1, raw_events: Sequence[Any]) -> None:
        """Add a request; returns once it is durable.

        Args:
            spooled: the request.
            raw_events: the events of its body, as :func:`hoglet.events.parse.batch_of` reads them.

        Raises:
            SpoolUnavailable: the request is not durable, or the outcome is unknown.
        """
        prepared, size = self._writer.prepare(spooled, raw_events)
        if self._waiting_bytes + size > MAX_WAITING_BYTES and self._waiting:
            raise SpoolUnavailable("Too many batches are waiting for the disk.", wait_seconds=2)
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(_Waiting(prepared, size, done))
        self._waiting_bytes += size
        if self._committer is None:
            self._committer = asyncio.create_task(self._commit_all())
        await done

    async def _commit_all(self) -> None:
        try:
            while self._waiting:
                await self._commit(self._next_commit())
        finally:
            self._committer = None

    def _next_commit(self) -> list[_Waiting]:
        size = 0
        for count, waiting in enumerate(self._waiting):
            size += waiting.size
            if size > _MAX_COMMIT_BYTES and count:
                break
        else:
            count = len(self._waiting)
        taken, self._waiting = self._waiting[:count], self._waiting[count:]
        return taken

    async def _commit(self, taken: Sequence[_Waiting]) -> None:
        problem: Exception | None = None
        try:
            await self._writer.write([each.prepared for each in taken])
        except Exception:
            # Every error is handled, because a request waits for each batch.
            log.exception("writing the spool failed", action="spool_failed")
            self._failed_at = time.monotonic()
            problem = SpoolUnavailable("The batch could not be stored; send it again later.")
        else:
            self._failed_at = None
        self._waiting_bytes -= sum(each.size for each in taken)
        for _, _, done in taken:
            if done.cancelled():
                continue
            if problem is None:
                done.set_result(None)
            else:
                done.set_exception(problem)
