"""The processes that lease jobs, and the end of the leases of those that have died.

Processes on one PostgreSQL write a heartbeat each. A process that has been silent for too long has
lost its leases: any other one releases them, long before they expire. If it was only slow, it
notices that as if they had expired: it can no longer finish the jobs, and a delivery that it was
making is repeated under the same id.

A process that was cut off from the database itself does not judge the others, which may have been
cut off with it, until it has been back for as long as a process may be silent.

Source: docs/adr/0065-leases-of-dead-servers.md.
"""

import asyncio
import contextlib
from datetime import datetime, timedelta

import structlog
from sqlalchemy import delete, select, update
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncSession

from hoglet.kit.clock import Clock
from hoglet.queue.tables import JobOwnerRow, JobRow
from hoglet.store.database import Database, insert_into

HEARTBEAT = timedelta(seconds=2.5)
SILENT_AFTER = timedelta(seconds=15)
"""Longer than for partitions of the spool, which nobody outside notices: a server that is only slow
would repeat its deliveries."""
_CUT_OFF_AFTER = 2 * HEARTBEAT
_PAUSE_SECONDS = 1.0  # between heartbeats while the database is away
_CONSUMER = "/"  # separates a process's name from the numbers of its consumers

UNLEASED = {"leased_until": None, "lease": None, "lease_owner": None}

log = structlog.get_logger()


def owner_of_leases(process: str, consumer: int) -> str:
    """The owner that a consumer of a process writes: equally long for all, see ``lease_room``."""
    return f"{process}{_CONSUMER}{consumer}"


async def release_leases(session: AsyncSession, process: str) -> int:
    """Release the leases of a process and its consumers; returns how many."""
    leased = JobRow.lease_owner.is_not(None)  # few: read from the index, which LIKE may not use
    owners = (await session.scalars(select(JobRow.lease_owner).where(leased).distinct())).all()
    prefix = process + _CONSUMER
    mine = [each for each in owners if each and (each == process or each.startswith(prefix))]
    if not mine:
        return 0
    release = update(JobRow).where(JobRow.lease_owner.in_(mine)).values(**UNLEASED)
    return (await session.execute(release)).rowcount  # pyright: ignore[reportAttributeAccessIssue]


async def forget(session: AsyncSession, process: str) -> int:
    """Release the leases of a process that has ended, and its heartbeat; returns how many."""
    await session.execute(delete(JobOwnerRow).where(JobOwnerRow.name == process))
    return await release_leases(session, process)


class LeaseOwner:
    """Writes the heartbeat of this process and releases the leases of silent ones.

    Idempotency: several processes may release the same leases; jobs leased again are left alone.

    Args:
        database: stores jobs and heartbeats.
        clock: time of the heartbeats; on PostgreSQL the database's clock.
        name: unique name of this process, the ``owner`` of its queue.
    """

    def __init__(self, database: Database, clock: Clock, *, name: str) -> None:
        self._database = database
        self._clock = clock
        self._name = name
        self._beat_at: datetime | None = None
        self._connected_since: datetime | None = None
        self._stopping = asyncio.Event()

    async def run(self) -> None:
        """Write heartbeats until :meth:`stop`; then release what this process still has leased."""
        while not self._stopping.is_set():
            pause = HEARTBEAT.total_seconds()
            try:
                await self.beat()
            except (SQLAlchemyError, OSError) as error:
                log.warning("no heartbeat", action="heartbeat_failed", error=str(error))
                pause = _PAUSE_SECONDS
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._stopping.wait(), pause)
        with contextlib.suppress(SQLAlchemyError, OSError):  # others then wait for SILENT_AFTER
            async with self._database.write() as session:
                await forget(session, self._name)

    def stop(self) -> None:
        """End :meth:`run`; call it when no job is in progress."""
        self._stopping.set()

    async def beat(self) -> None:
        """Write the heartbeat; release the leases of processes that have been silent."""
        async with self._database.write() as session:
            now = self._clock.now()
            beat = insert_into(session, JobOwnerRow).values(name=self._name, seen_at=now)
            changes = {"seen_at": now}
            await session.execute(beat.on_conflict_do_update(index_elements=["name"], set_=changes))
            since = self._since(now)
            if now - since >= SILENT_AFTER:
                await self._release_silent(session, now)
        self._beat_at, self._connected_since = now, since

    def _since(self, now: datetime) -> datetime:
        """Since when this process has reached the database without a gap."""
        is_new = self._beat_at is None or now - self._beat_at > _CUT_OFF_AFTER
        return now if is_new or self._connected_since is None else self._connected_since

    async def _release_silent(self, session: AsyncSession, now: datetime) -> None:
        is_silent = JobOwnerRow.seen_at < now - SILENT_AFTER
        silent = select(JobOwnerRow.name).where(is_silent)
        free = silent.with_for_update(skip_locked=True)  # the others are being released
        for process in (await session.scalars(free)).all():
            jobs = await forget(session, process)
            log.warning(
                "a server is silent: its jobs are due again",
                action="leases_released",
                server=process,
                jobs=jobs,
            )
