"""Imports events from files into the capture spool, in durable chunks.

Events without a UUID get one derived from content and position, so importing a file again after an
interruption adds only the missing events.
"""

import asyncio
from collections.abc import Callable, Iterable
from typing import Any
from uuid import UUID, uuid5

import msgspec
import orjson
from sqlalchemy.ext.asyncio import AsyncSession

from hoglet.events import parse as incoming
from hoglet.events.decode import NESTING_LIMIT, deep_event_refusal
from hoglet.events.spool import SpooledV1, job_of
from hoglet.kit.clock import Clock
from hoglet.kit.json import is_deeper_than
from hoglet.queue import NewJob, Queue
from hoglet.store.database import Database

EVENTS_PER_BATCH = 1000
BYTES_PER_BATCH = 2 * 1024 * 1024  # large events are grouped by size, like captured ones
BATCHES_PER_COMMIT = 10
_NAMESPACE = UUID("0d3f9f0e-5b0a-4c8e-9a51-6c1f3b1d7a20")


class ImportResult(msgspec.Struct):
    """Number of spooled and rejected events, with the first reasons."""

    accepted: int = 0
    refused: int = 0
    reasons: list[str] = msgspec.field(default_factory=list[str])


class Importer:
    """Spools events for one project.

    Args:
        database: the metadata database; a server may be using it.
        queue: the spool's queue on that database.
        clock: source of the receive time.
        project_id: the project of the events.
        historical: events are stored and update persons, but trigger no destinations.
    """

    def __init__(
        self,
        *,
        database: Database,
        queue: Queue,
        clock: Clock,
        project_id: int,
        historical: bool = False,
    ) -> None:
        self._database = database
        self._queue = queue
        self._clock = clock
        self._project_id = project_id
        self._historical = historical

    async def run(
        self, events: Iterable[tuple[int, Any]], advance: Callable[[int, int], None]
    ) -> ImportResult:
        """Spool all events; those reported to ``advance`` are on disk.

        Args:
            events: ``(bytes read, raw event)``, from :func:`hoglet.events.files.read_events`.
            advance: called after each commit with bytes read and events accepted so far.
        """
        result = ImportResult()
        batch: list[bytes] = []
        jobs: list[NewJob] = []
        position = size = 0
        for number, (position, raw) in enumerate(events):
            refusal = _refusal_of(raw)
            if refusal is not None:
                _refuse(result, number, refusal)
                continue
            batch.append(_encoded(raw, number))
            size += len(batch[-1])
            if len(batch) == EVENTS_PER_BATCH or size >= BYTES_PER_BATCH:
                jobs.append(self._job(batch))
                batch, size = [], 0
            if len(jobs) == BATCHES_PER_COMMIT:
                await self._commit(jobs, result)
                jobs = []
                advance(position, result.accepted)
        if batch:
            jobs.append(self._job(batch))
        await self._commit(jobs, result)
        advance(position, result.accepted)
        return result

    def _job(self, batch: list[bytes]) -> NewJob:
        historical = b',"historical_migration":true' if self._historical else b""
        body = b'{"batch":[' + b",".join(batch) + b"]" + historical + b"}"
        spooled = SpooledV1(
            project_id=self._project_id, received_at=self._clock.now(), ip=None, body=body
        )
        return job_of(spooled, events=len(batch))

    async def _commit(self, jobs: list[NewJob], result: ImportResult) -> None:
        if not jobs:
            return
        async with self._database.write() as session:
            await self._enqueue(session, jobs)
        result.accepted += sum(job.weight for job in jobs)
        await asyncio.sleep(0)  # yield to progress bars and Ctrl-C

    async def _enqueue(self, session: AsyncSession, jobs: list[NewJob]) -> None:
        await self._queue.enqueue(session, jobs)


def _refusal_of(raw: Any) -> str | None:
    """Why an event cannot be imported; like capture, but rejects invalid timestamps."""
    refusal = incoming.refusal_of(raw)
    if refusal is None and is_deeper_than(raw, NESTING_LIMIT - 2):  # in an object with a batch
        refusal = deep_event_refusal()
    if refusal is not None:
        return refusal.detail
    timestamp = raw.get("timestamp")
    if timestamp is not None and incoming.read_time(timestamp) is None:
        return f"The timestamp {timestamp!r} is not a time."
    return None


def _encoded(raw: dict[str, Any], number: int) -> bytes:
    if raw.get("uuid"):
        return orjson.dumps(raw)
    content = orjson.dumps(raw, option=orjson.OPT_SORT_KEYS).decode()
    return orjson.dumps({**raw, "uuid": str(uuid5(_NAMESPACE, f"{number}:{content}"))})


def _refuse(result: ImportResult, number: int, reason: str) -> None:
    result.refused += 1
    if len(result.reasons) < 5:
        result.reasons.append(f"event {number + 1}: {reason}")
