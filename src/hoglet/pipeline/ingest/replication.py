"""Replicates persons and groups to the warehouse; the commit that changes them enqueues the rows.

The rows of a commit are one job, so a crash loses none. Jobs are flushed in groups with permanent
ids, which serve as deduplication tokens, so no row is inserted twice.

A flush takes 20 to 30 ms of processor time however few rows there are, more than the group of
events that caused it, so small flushes are a quarter of a second apart.
"""

import asyncio
import contextlib
import time
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from typing import Any

import msgspec
import structlog
from sqlalchemy.ext.asyncio import AsyncSession

from hoglet.events.groups import GroupState
from hoglet.events.persons.model import DistinctIdState, PersonStoreState
from hoglet.kit.errors import HogletError
from hoglet.kit.json import dump_rows
from hoglet.pipeline.health import PipelineHealth
from hoglet.queue import Job, NewJob, Queue
from hoglet.store.database import Database
from hoglet.warehouse.port import Warehouse

type Rows = dict[str, Sequence[Sequence[Any]]]
log = structlog.get_logger()

COPIES_QUEUE = "copies"
COLUMNS: dict[str, tuple[str, ...]] = {
    "persons": (
        "project_id", "id", "created_at", "properties", "is_identified", "is_deleted", "version",
    ),
    "person_distinct_ids": ("project_id", "distinct_id", "person_id", "is_deleted", "version"),
    "person_distinct_id_overrides": (
        "project_id", "distinct_id", "person_id", "is_deleted", "version",
    ),
    "groups": (
        "project_id", "index", "key", "created_at", "updated_at", "properties", "version",
    ),
}  # fmt: skip
_LEASE = timedelta(seconds=60)
_MAX_JOBS = 500
_MAX_ROWS = 50_000
_MAX_BYTES = 16 * 1024 * 1024  # limits a flush after an outage of the warehouse
_IDLE_WAIT = timedelta(seconds=1)
_SECONDS_BETWEEN_FLUSHES = 0.25
_FAILURE_PAUSE_S = 1.0


class ReplicateV1(msgspec.Struct, array_like=True):
    """Rows of one or more tables as encoded blocks, ``{"persons": b"[1,...]"}``."""

    blocks: dict[str, bytes]


_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(ReplicateV1)


class WarehouseReplicator:
    """Enqueues rows of persons and groups, and flushes them to the warehouse."""

    def __init__(
        self,
        database: Database,
        queue: Queue,
        warehouse: Warehouse,
        health: PipelineHealth | None = None,
        *,
        seconds_between_flushes: float = _SECONDS_BETWEEN_FLUSHES,
    ) -> None:
        self._health = health
        self._database = database
        self._queue = queue
        self._warehouse = warehouse
        self._seconds_between_flushes = seconds_between_flushes
        self._stopping = asyncio.Event()

    async def add(self, session: AsyncSession, rows: Mapping[str, Sequence[Sequence[Any]]]) -> None:
        """Enqueue rows by table in the caller's transaction; values are in the order of COLUMNS."""
        blocks = {table: dump_rows(table_rows) for table, table_rows in rows.items() if table_rows}
        if blocks:
            weight = sum(len(table_rows) for table_rows in rows.values())
            job = NewJob(
                queue=COPIES_QUEUE, payload=_encoder.encode(ReplicateV1(blocks)), weight=weight
            )
            await self._queue.enqueue(session, [job])

    async def run(self) -> None:
        """Flush until :meth:`stop`, then once more, so that a clean stop leaves no rows behind."""
        while not self._stopping.is_set():
            started = time.monotonic()
            try:
                flushed = await self.flush()
                if self._health is not None:
                    self._health.works("persons")
                if not flushed and not self._stopping.is_set():
                    await self._queue.wait(COPIES_QUEUE, _IDLE_WAIT)
                elif flushed < _MAX_JOBS // 2:
                    await self._pause(started + self._seconds_between_flushes - time.monotonic())
            except HogletError as error:
                log.warning("replicating persons failed", action="copies_wait", error=str(error))
                if self._health is not None:
                    self._health.failed("persons", error)
                await self._pause(_FAILURE_PAUSE_S)
        while await self.flush():
            pass

    def stop(self) -> None:
        """Make :meth:`run` return."""
        self._stopping.set()
        self._queue.wake(COPIES_QUEUE)

    async def _pause(self, seconds: float) -> None:
        """Wait, but not after :meth:`stop`."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._stopping.wait(), seconds)

    async def flush(self) -> int:
        """Flush one group of jobs; returns the number of jobs, 0 if there are none."""
        jobs = await self._queue.lease_group(
            COPIES_QUEUE,
            limit=_MAX_JOBS,
            duration=_LEASE,
            max_weight=_MAX_ROWS,
            max_bytes=_MAX_BYTES,
        )
        if not jobs:
            return 0
        try:
            await self._insert(jobs)
        except BaseException:
            await asyncio.shield(self._queue.release(jobs))
            raise
        async with self._database.write() as session:
            await self._queue.finish(session, jobs)
        return len(jobs)

    async def _insert(self, jobs: Sequence[Job]) -> None:
        together: dict[str, list[bytes]] = {}
        for job in jobs:
            for table, block in _decoder.decode(job.payload).blocks.items():
                together.setdefault(table, []).append(block)
        for table, blocks in together.items():
            token = f"{jobs[0].group}:{table}"
            await self._warehouse.insert_block(
                table, COLUMNS[table], b"\n".join(blocks), dedup_token=token
            )


def person_rows(project_id: int, changes: PersonStoreState) -> Rows:
    """Warehouse rows of persons, distinct ids and overrides."""
    persons = [
        (
            project_id,
            person.id,
            person.created_at,
            person.text,
            int(person.is_identified),
            0,
            person.version,
        )
        for person in changes.persons
    ]
    persons += [
        (
            project_id,
            person.id,
            person.created_at,
            "{}",
            int(person.is_identified),
            1,
            person.version,
        )
        for person in changes.deleted
    ]
    return {
        "persons": persons,
        "person_distinct_ids": [
            (project_id, row.distinct_id, row.person_id, 0, row.version) for row in changes.ids
        ],
        **override_rows(project_id, [row for row in changes.ids if row.moved]),
    }


def override_rows(project_id: int, owners: Iterable[DistinctIdState]) -> Rows:
    """Warehouse rows that give past events of distinct ids to their owners."""
    return {
        "person_distinct_id_overrides": [
            (project_id, row.distinct_id, row.person_id, 0, row.version) for row in owners
        ]
    }


def group_rows(project_id: int, groups: Iterable[GroupState]) -> Rows:
    """Warehouse rows of groups."""
    return {
        "groups": [
            (
                project_id,
                group.index,
                group.key,
                group.created_at,
                group.updated_at,
                group.text,
                group.version,
            )
            for group in groups
        ]
    }
