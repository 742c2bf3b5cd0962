"""The spool: accepted batches as jobs, committed in groups.

Requests that arrive during a commit share the next one (group commit), so the number of commits
depends on the disk, not on the number of clients.

The pipeline's side of the queue is ``hoglet.pipeline``; the payload is :class:`SpooledV1`.
"""

import asyncio
import time
from collections.abc import Sequence
from datetime import datetime

import msgspec
import structlog

from hoglet.events.errors import SpoolUnavailable
from hoglet.queue import NewJob, Queue
from hoglet.store.database import Database

log = structlog.get_logger()

SPOOL_QUEUE = "spool"
# Bytes that may wait in memory for the disk. Beyond it, clients have to retry later.
MAX_WAITING_BYTES = 64 * 1024 * 1024
_MAX_COMMIT_BYTES = 16 * 1024 * 1024


class SpooledV1(msgspec.Struct, frozen=True, kw_only=True):
    """One accepted request.

    Args:
        project_id: the project of the events.
        received_at: the server's time, to correct timestamps with ``sent_at`` and ``offset``.
        ip: the client's address, None when the project discards it.
        body: JSON text that :func:`hoglet.events.parse.batch_of` reads.
        sent_at: from the URL, if the body has none.
    """

    project_id: int
    received_at: datetime
    ip: str | None
    body: bytes
    sent_at: datetime | None = None


_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(SpooledV1)


def job_of(spooled: SpooledV1, *, events: int) -> NewJob:
    """The job of a batch; batches of a project stay in order."""
    return NewJob(
        queue=SPOOL_QUEUE,
        payload=_encoder.encode(spooled),
        ordering_key=f"project:{spooled.project_id}",
        weight=max(events, 1),
    )


def read_spooled(payload: bytes) -> SpooledV1:
    """The batch in a job's payload."""
    return _decoder.decode(payload)


class Spool:
    """Makes jobs durable in group commits.

    Concurrency: any number of tasks may ``append``; one task at a time commits for all.
    """

    def __init__(self, database: Database, queue: Queue) -> None:
        self._database = database
        self._queue = queue
        self._waiting: list[tuple[NewJob, asyncio.Future[None]]] = []
        self._waiting_bytes = 0
        self._committer: asyncio.Task[None] | None = None
        self._failed_at: float | None = None

    def failed_within(self, seconds: float) -> bool:
        """Whether the last commit failed within this time."""
        return self._failed_at is not None and time.monotonic() - self._failed_at < seconds

    async def append(self, job: NewJob) -> None:
        """Return once the job is on disk.

        Raises:
            SpoolUnavailable: it is not, or the outcome is unknown.
        """
        if self._waiting_bytes + len(job.payload) > MAX_WAITING_BYTES and self._waiting:
            raise SpoolUnavailable("Too many batches are waiting for the disk.", wait_seconds=2)
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((job, done))
        self._waiting_bytes += len(job.payload)
        if self._committer is None:
            self._committer = asyncio.create_task(self._commit_all())
        await asyncio.shield(done)

    async def _commit_all(self) -> None:
        try:
            while self._waiting:
                await self._commit(self._next_commit())
        finally:
            self._committer = None

    def _next_commit(self) -> list[tuple[NewJob, asyncio.Future[None]]]:
        size = 0
        for place, (job, _) in enumerate(self._waiting):
            size += len(job.payload)
            if size > _MAX_COMMIT_BYTES and place:
                break
        else:
            place = len(self._waiting)
        taken, self._waiting = self._waiting[:place], self._waiting[place:]
        return taken

    async def _commit(self, taken: Sequence[tuple[NewJob, asyncio.Future[None]]]) -> None:
        problem: Exception | None = None
        try:
            async with self._database.write() as session:
                await self._queue.enqueue(session, [job for job, _ in taken])
        except Exception:
            # Whatever the error: every batch has a waiting request.
            log.exception("writing the spool failed", action="spool_failed")
            self._failed_at = time.monotonic()
            problem = SpoolUnavailable("The batch could not be stored; send it again later.")
        else:
            self._failed_at = None
        self._waiting_bytes -= sum(len(job.payload) for job, _ in taken)
        for _, done in taken:
            if done.cancelled():
                continue
            if problem is None:
                done.set_result(None)
            else:
                done.set_exception(problem)
