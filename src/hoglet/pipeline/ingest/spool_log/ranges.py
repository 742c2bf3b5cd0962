"""Ranges of the spool log's partitions: started, reloaded, and finished project by project.

A range is stored before its members are processed, so it has the same members on every attempt.

Source: docs/adr/0037-spool-log.md.
"""

import time
from collections.abc import Sequence

import msgspec
import structlog
from sqlalchemy.ext.asyncio import AsyncSession

from hoglet.events.spool import SPOOL_QUEUE, SpooledV1, read_spooled
from hoglet.kit.clock import new_id
from hoglet.pipeline.ingest.sources import GroupLimits
from hoglet.pipeline.ingest.spool_log.losses import SpoolLosses
from hoglet.queue import NewJob, Queue
from hoglet.spool import SpoolEntry, SpoolLog, SpoolUnavailable, positions
from hoglet.spool.owners import PartitionOwner
from hoglet.spool.positions import OwnershipLost, Position
from hoglet.store.database import Database


class LogBatch(msgspec.Struct, frozen=True):
    """A decoded entry; ``spooled`` is None if it is unreadable."""

    position: int
    payload: bytes
    spooled: SpooledV1 | None

    @property
    def events(self) -> int:
        """Number of events; an unreadable entry counts as one."""
        return self.spooled.events if self.spooled else 1


class RangeMembers(msgspec.Struct):
    """The members of a range in progress; ``left`` are the projects not stored yet, in order."""

    left: list[tuple[int, list[LogBatch]]]
    unreadable: list[bytes]


def batches_within(entries: Sequence[SpoolEntry], limits: GroupLimits) -> list[LogBatch]:
    """Decode the longest prefix of entries that is within the limits; at least one entry."""
    events = 0
    batches: list[LogBatch] = []
    for entry in entries:
        batch = batch_of(entry)
        events += batch.events
        if batches and events > limits.events:
            break
        batches.append(batch)
    return batches


def batch_of(entry: SpoolEntry) -> LogBatch:
    """Decode an entry."""
    try:
        spooled = read_spooled(entry.payload)
    except msgspec.MsgspecError:
        spooled = None
    return LogBatch(entry.position, entry.payload, spooled if spooled and spooled.id else None)


def members_of(batches: Sequence[LogBatch], after_project: int) -> RangeMembers:
    """Group batches by project; projects up to ``after_project`` are stored and left out."""
    projects: dict[int, list[LogBatch]] = {}
    for batch in batches:
        if batch.spooled is not None and batch.spooled.project_id > after_project:
            projects.setdefault(batch.spooled.project_id, []).append(batch)
    unreadable = [batch.payload for batch in batches if batch.spooled is None]
    return RangeMembers(sorted(projects.items()), unreadable)


def unreadable_jobs(members: RangeMembers) -> list[NewJob]:
    """Failed jobs that keep unreadable entries; ``/_readyz`` reports them."""
    error = "The entry of the spool log cannot be read."
    return [
        NewJob(queue=SPOOL_QUEUE, payload=payload, id=new_id(), error=error)
        for payload in members.unreadable
    ]


_TRIM_SECONDS = 1.0
_READ_BYTES = 16 * 1024 * 1024

log = structlog.get_logger()


class LogRanges:
    """The ranges in progress in the partitions that this process owns.

    Args:
        spool_log: the log.
        owner: knows which partitions this process owns.
        database: stores the positions.
        queue: receives unreadable entries as failed jobs.
        losses: reports entries that the log has lost.
    """

    def __init__(
        self,
        spool_log: SpoolLog,
        owner: PartitionOwner,
        database: Database,
        queue: Queue,
        losses: SpoolLosses,
    ) -> None:
        self.owner = owner
        self.database = database
        self.queue = queue
        self._log = spool_log
        self._losses = losses
        self._begun: dict[int, RangeMembers] = {}
        self._checked: set[tuple[int, int]] = set()
        self._stored_upto: dict[int, int] = {}
        self._trimmed_at = 0.0

    def members(self, partition: int) -> RangeMembers | None:
        """Members of a partition's range in progress; None if there is none or it is not loaded."""
        return self._begun.get(partition)

    def forget(self, partition: int) -> None:
        """Drop the loaded members of a range, because the partition's owner has changed."""
        self._begun.pop(partition, None)

    async def begin(self, position: Position, limits: GroupLimits) -> Position | None:
        """Start a range, or load the members of the one in progress; None without entries."""
        position = await self._checked_position(position)
        while True:
            if position.group_to is None:
                entries = await self._log.read(position.partition, position.done_upto, limits.size)
                batches = batches_within(entries, limits)
                if not batches:
                    return None
                position = await self._store(
                    position, group_from=batches[0].position, group_to=batches[-1].position
                )
            else:
                batches = await self._batches(position)
            members = members_of(batches, position.group_project)
            if members.left:
                self._begun[position.partition] = members
                return position
            position = await self._finish_empty(position, members)

    async def finish(self, session: AsyncSession, position: Position) -> Position:
        """Advance the position past the first project of a range, in the caller's transaction.

        Returns:
            The new position.

        Raises:
            OwnershipLost: another server owns the partition now.
        """
        members = self._begun[position.partition]
        if len(members.left) > 1:
            moved = msgspec.structs.replace(position, group_project=members.left[0][0])
        else:
            moved = _behind(position)
            await self.queue.enqueue(session, unreadable_jobs(members))
        try:
            await positions.store(session, position, moved)
        except OwnershipLost:
            self.forget(position.partition)
            self.owner.lost(position)
            raise
        return moved

    def ended(self, moved: Position) -> None:
        """Record that the transaction of :meth:`finish` was committed."""
        members = self._begun[moved.partition]
        del members.left[0]
        if not members.left:
            del self._begun[moved.partition]
        self._moved(moved)

    async def trim(self) -> None:
        """Delete stored entries from the log, at most once per ``_TRIM_SECONDS``."""
        if time.monotonic() - self._trimmed_at < _TRIM_SECONDS or not self._stored_upto:
            return
        self._trimmed_at = time.monotonic()
        stored, self._stored_upto = self._stored_upto, {}
        for partition, position in stored.items():
            try:
                await self._log.trim(partition, position)
            except SpoolUnavailable as error:
                log.warning("the spool was not trimmed", action="trim_failed", error=str(error))
                self._stored_upto.setdefault(partition, position)

    async def _checked_position(self, position: Position) -> Position:
        """Reset the position if the log was replaced; else its first entries would be skipped."""
        key = (position.partition, position.epoch)
        if key in self._checked:
            return position
        if await self._log.last_position(position.partition) < position.done_upto:
            await self._losses.replaced(position)
            position = await self._store(
                position, done_upto=0, group_from=None, group_to=None, group_project=0
            )
        self._checked.add(key)
        self._stored_upto[position.partition] = position.done_upto
        return position

    async def _batches(self, position: Position) -> list[LogBatch]:
        """Read all entries of the range in progress."""
        batches: list[LogBatch] = []
        after, last = (position.group_from or 0) - 1, position.group_to or 0
        while after < last:
            entries = await self._log.read(position.partition, after, _READ_BYTES)
            if not entries:
                break
            batches += [batch_of(entry) for entry in entries if entry.position <= last]
            after = entries[-1].position
        if not {position.group_from, position.group_to} <= {each.position for each in batches}:
            await self._losses.missing_entries(position)
        return batches

    async def _finish_empty(self, position: Position, members: RangeMembers) -> Position:
        """Finish a range without batches left to store."""
        moved = _behind(position)
        async with self.database.write() as session:
            await self.queue.enqueue(session, unreadable_jobs(members))
            await positions.store(session, position, moved)
        self._moved(moved)
        return moved

    def _moved(self, moved: Position) -> None:
        self.owner.moved(moved)
        if moved.group_to is None:
            self._stored_upto[moved.partition] = moved.done_upto

    async def _store(self, before: Position, **changes: int | None) -> Position:
        after = msgspec.structs.replace(before, **changes)
        try:
            async with self.database.write() as session:
                await positions.store(session, before, after)
        except OwnershipLost:
            self.owner.lost(before)
            raise
        self.owner.moved(after)
        return after


def _behind(position: Position) -> Position:
    return msgspec.structs.replace(
        position,
        done_upto=position.group_to or position.done_upto,
        group_from=None,
        group_to=None,
        group_project=0,
    )
