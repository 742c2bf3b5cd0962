"""Groups of the spool log: a range of a partition, one project after another.

A group begins with its range being written, so it has the same members on every attempt, whoever
makes it. Each project of the range is processed and committed alone; the last commit moves the
position behind the range. Entries are trimmed later.

A project whose group fails leaves the log: its entries become jobs of the queue, where a group can
wait without keeping others from being stored. As long as such jobs wait, the project's later
entries of the partition follow them, so the order is kept.

Source: docs/adr/0037-spool-log.md.
"""

import contextlib
import time
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from datetime import timedelta
from uuid import UUID

import msgspec
import structlog
from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from hoglet.events.spool import SPOOL_QUEUE, SpooledV1, read_spooled
from hoglet.kit.ids import new_id
from hoglet.pipeline.ingest.sources import GroupLimits, SpooledGroup, part_of
from hoglet.queue import NewJob, Priority, Queue
from hoglet.queue.tables import JobRow
from hoglet.spool import LogEntry, SpoolLog, SpoolUnavailable, positions
from hoglet.spool.owners import PartitionOwner
from hoglet.spool.positions import OwnershipLost, Position
from hoglet.store.database import Database

_POLL_SECONDS = 1.0  # for entries that other servers appended
_TRIM_SECONDS = 1.0
_READ_BYTES = 16 * 1024 * 1024

log = structlog.get_logger()


class _Batch(msgspec.Struct, frozen=True):
    """An entry; ``spooled`` is None if it cannot be read."""

    position: int
    payload: bytes
    spooled: SpooledV1 | None

    @property
    def events(self) -> int:
        return self.spooled.events if self.spooled else 1


class _Members(msgspec.Struct):
    """A begun range; ``left`` are its projects that are not stored yet, in order."""

    left: list[tuple[int, list[_Batch]]]
    unreadable: list[bytes]


class LogSource:
    """Gives the groups of the partitions that this process owns to its workers.

    Args:
        spool_log: the log.
        owner: knows which partitions are this process's.
        database: of the positions.
        queue: takes the entries of projects whose groups fail.
    """

    def __init__(
        self, spool_log: SpoolLog, owner: PartitionOwner, database: Database, queue: Queue
    ) -> None:
        self.log = spool_log
        self.owner = owner
        self.database = database
        self.queue = queue
        self._ranges: dict[int, _Members] = {}
        self._fresh: set[int] = set()
        self._checked: set[tuple[int, int]] = set()
        self._stored_upto: dict[int, int] = {}
        self._polled_at = self._trimmed_at = 0.0
        self._last = -1
        owner.on_taken = self.taken

    async def begin(self, limits: GroupLimits) -> SpooledGroup | None:
        """The next project of a begun range, or of a new one; partitions take turns."""
        await self._trim()
        await self._poll()
        partitions = sorted(self._fresh & self.owner.owned)
        for partition in sorted(partitions, key=lambda each: (each <= self._last, each)):
            position = self.owner.hold(partition)
            if position is None:
                continue
            self._last = partition
            group = await self._begin(position, limits)
            if group is not None:
                return group
        return None

    async def wait(self, timeout: timedelta) -> None:  # noqa: ASYNC109 (a ceiling, not a cancellation)
        """Return when an owned partition has new entries, or after ``timeout``."""
        self._fresh |= await self.log.wait(self.owner.owned, timeout)

    def wake(self) -> None:
        """End the current waits."""
        self.log.wake(self.owner.owned)

    def taken(self, partitions: set[int]) -> None:
        """This process owns further partitions."""
        for partition in partitions:
            self._ranges.pop(partition, None)
        self._fresh |= partitions
        self.log.wake(partitions)

    async def _poll(self) -> None:
        """Find out which partitions may have entries."""
        self._fresh |= await self.log.wait(self.owner.owned, timedelta(0))
        if time.monotonic() - self._polled_at >= _POLL_SECONDS:
            self._polled_at = time.monotonic()
            self._fresh |= self.owner.owned

    async def _begin(self, position: Position, limits: GroupLimits) -> SpooledGroup | None:
        """The next group of a held partition; lets go of it if there is none."""
        group: LogGroup | None = None
        try:
            while group is None:
                members = self._ranges.get(position.partition)
                begun = position if members else await self._begin_range(position, limits)
                if begun is None:
                    self._fresh.discard(position.partition)
                    break
                position = begun
                group = self._first_group(position)
                if group is not None and await self._follows_jobs(group):
                    position = await group.divert(together=False)
                    group = None
        except OwnershipLost:
            group = None
        finally:
            if group is None:
                self.owner.let_go(position.partition)
        return group

    def _first_group(self, position: Position) -> "LogGroup | None":
        """The first project of a begun range; None if the range had none."""
        members = self._ranges.get(position.partition)
        return None if members is None else LogGroup(self, position, *members.left[0])

    async def _begin_range(self, position: Position, limits: GroupLimits) -> Position | None:
        """Begin a range, or find the members of one that was begun; None if nothing waits."""
        position = await self._checked_position(position)
        while True:
            if position.group_to is None:
                found = await self.log.read(position.partition, position.done_upto, limits.size)
                batches = _within(found, limits)
                if not batches:
                    return None
                position = await self._store(
                    position, group_from=batches[0].position, group_to=batches[-1].position
                )
            else:
                batches = await self._batches(position)
            members = _members_of(batches, position.group_project)
            if members.left:
                self._ranges[position.partition] = members
                return position
            position = await self._finish_empty(position, members)

    async def _checked_position(self, position: Position) -> Position:
        """Begin again if the log is a new one; its positions would be hidden otherwise."""
        key = (position.partition, position.epoch)
        if key in self._checked:
            return position
        if await self.log.last_position(position.partition) < position.done_upto:
            log.error(
                "the spool log was replaced: it ends before the stored position",
                action="spool_replaced",
                partition=position.partition,
                position=position.done_upto,
            )
            position = await self._store(
                position, done_upto=0, group_from=None, group_to=None, group_project=0
            )
        self._checked.add(key)
        self._stored_upto[position.partition] = position.done_upto
        return position

    async def _batches(self, position: Position) -> list[_Batch]:
        """All entries of a range that was begun before."""
        found: list[_Batch] = []
        after, last = (position.group_from or 0) - 1, position.group_to or 0
        while after < last:
            entries = await self.log.read(position.partition, after, _READ_BYTES)
            if not entries:
                log.error("entries of the spool log are gone", action="spool_entries_gone")
                break
            found += [_batch(entry) for entry in entries if entry.position <= last]
            after = entries[-1].position
        return found

    async def _finish_empty(self, position: Position, members: _Members) -> Position:
        """End a range that has no batches left to store."""
        moved = _behind(position)
        async with self.database.write() as session:
            await self.queue.enqueue(session, _unreadable_jobs(members))
            await positions.store(session, position, moved)
        self._moved(moved)
        return moved

    async def _follows_jobs(self, group: "LogGroup") -> bool:
        """Whether earlier entries of the project are jobs that wait."""
        earlier = select(JobRow.id).where(
            JobRow.queue == SPOOL_QUEUE,
            JobRow.priority == Priority.NORMAL,
            JobRow.lane == group.lane,
            JobRow.buried_at.is_(None),
        )
        async with self.database.read() as session:
            return await session.scalar(earlier.limit(1)) is not None

    async def finish(self, session: AsyncSession, position: Position) -> Position:
        """Move the position behind the first project of a range, in the caller's transaction.

        Returns:
            The new position.

        Raises:
            OwnershipLost: another server has the partition.
        """
        members = self._ranges[position.partition]
        if len(members.left) > 1:
            moved = msgspec.structs.replace(position, group_project=members.left[0][0])
        else:
            moved = _behind(position)
            await self.queue.enqueue(session, _unreadable_jobs(members))
        try:
            await positions.store(session, position, moved)
        except OwnershipLost:
            self._ranges.pop(position.partition, None)
            self.owner.lost(position)
            raise
        return moved

    def ended(self, moved: Position) -> None:
        """The transaction of :meth:`finish` was committed."""
        members = self._ranges[moved.partition]
        del members.left[0]
        if not members.left:
            del self._ranges[moved.partition]
        self._moved(moved)

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

    async def _trim(self) -> None:
        """Let the log forget what is stored, from time to time."""
        if time.monotonic() - self._trimmed_at < _TRIM_SECONDS or not self._stored_upto:
            return
        self._trimmed_at = time.monotonic()
        stored, self._stored_upto = self._stored_upto, {}
        for partition, position in stored.items():
            try:
                await self.log.trim(partition, position)
            except SpoolUnavailable as error:
                log.warning("the spool was not trimmed", action="trim_failed", error=str(error))
                self._stored_upto.setdefault(partition, position)


class LogGroup:
    """The batches of one project in a range; see :class:`SpooledGroup`."""

    def __init__(
        self, source: LogSource, position: Position, project_id: int, batches: Sequence[_Batch]
    ) -> None:
        self._source = source
        self._position = position
        self._moved = position
        self._batches = batches
        self.parts = [part_of(each.spooled, _id(each.spooled)) for each in batches if each.spooled]
        self.id = self.parts[0].job_id
        self.project_id = project_id
        self.retries = 0
        self.lane = f"partition:{position.partition}:{project_id}"
        """Of the jobs that were entries of the partition."""

    def held(self) -> AbstractAsyncContextManager[None]:
        """The partition stays this process's as long as it has a heartbeat."""
        return contextlib.nullcontext()

    async def finish(self, session: AsyncSession) -> None:
        """Move the position, if the partition is still this process's."""
        self._moved = await self._source.finish(session, self._position)

    async def ended(self) -> None:
        """Let the next group begin."""
        self._source.ended(self._moved)
        await self.release()

    async def release(self) -> None:
        """Let any worker begin it again."""
        self._source.owner.let_go(self._position.partition)

    async def postpone(self, pause: timedelta) -> None:  # noqa: ARG002 (the queue's worker has its own)
        """Go on as jobs, under the same id: some blocks may be in the warehouse."""
        try:
            await self.divert(together=True)
        finally:
            await self.release()

    async def divert(self, *, together: bool) -> Position:
        """Turn the entries into jobs of the queue.

        Args:
            together: they have been tried as a group, and stay one.

        Returns:
            The position behind them.
        """
        async with self._source.database.write() as session:
            await self._source.queue.enqueue(session, self._jobs(together=together))
            await self.finish(session)
        self._source.ended(self._moved)
        return self._moved

    def _jobs(self, *, together: bool) -> list[NewJob]:
        return [
            NewJob(
                queue=SPOOL_QUEUE,
                payload=batch.payload,
                id=part.job_id,
                ordering_key=f"project:{self.project_id}",
                weight=max(batch.events, 1),
                lane=self.lane,
                group=self.id if together else None,
            )
            for batch, part in zip(self._batches, self.parts, strict=True)
        ]


def _id(spooled: SpooledV1) -> UUID:
    if spooled.id is None:
        raise TypeError("a batch of the log has an id")
    return spooled.id


def _behind(position: Position) -> Position:
    return msgspec.structs.replace(
        position,
        done_upto=position.group_to or position.done_upto,
        group_from=None,
        group_to=None,
        group_project=0,
    )


def _within(entries: Sequence[LogEntry], limits: GroupLimits) -> list[_Batch]:
    """The longest beginning within the limits; at least one entry."""
    events = 0
    batches: list[_Batch] = []
    for entry in entries:
        batch = _batch(entry)
        events += batch.events
        if batches and events > limits.events:
            break
        batches.append(batch)
    return batches


def _batch(entry: LogEntry) -> _Batch:
    try:
        spooled = read_spooled(entry.payload)
    except msgspec.MsgspecError:
        spooled = None
    return _Batch(entry.position, entry.payload, spooled if spooled and spooled.id else None)


def _members_of(batches: Sequence[_Batch], after_project: int) -> _Members:
    projects: dict[int, list[_Batch]] = {}
    for batch in batches:
        if batch.spooled is not None and batch.spooled.project_id > after_project:
            projects.setdefault(batch.spooled.project_id, []).append(batch)
    unreadable = [batch.payload for batch in batches if batch.spooled is None]
    return _Members(sorted(projects.items()), unreadable)


def _unreadable_jobs(members: _Members) -> list[NewJob]:
    """What is no batch stays as a failed job, which ``/_readyz`` reports."""
    error = "The entry of the spool log cannot be read."
    return [
        NewJob(queue=SPOOL_QUEUE, payload=payload, id=new_id(), error=error)
        for payload in members.unreadable
    ]
