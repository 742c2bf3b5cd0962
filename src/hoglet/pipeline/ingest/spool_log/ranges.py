"""Ranges of the spool log's partitions: started, reloaded, and finished a few projects at a time.

A group has ranges of one or several partitions, stored before their members are processed, so it
has the same members on every attempt.

Source: docs/adr/0037-spool-log.md and docs/adr/0053-groups-of-several-partitions.md.
"""

import time
from collections import deque
from collections.abc import Mapping, Sequence

import msgspec
import structlog
from sqlalchemy import select
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncSession

from hoglet.events.spool import SPOOL_QUEUE
from hoglet.kit.clock import new_id
from hoglet.pipeline.ingest.spool_log.losses import SpoolLosses
from hoglet.pipeline.ingest.spool_log.members import (
    LogBatch,
    LogRange,
    batch_of,
    range_of,
    unreadable_jobs,
)
from hoglet.queue import Priority, Queue
from hoglet.queue.tables import JobRow
from hoglet.spool import NamedLog, SpoolEntry, SpoolUnavailable, positions
from hoglet.spool.owners import PartitionOwner
from hoglet.spool.positions import OwnershipLost, Position
from hoglet.store.database import Database

_TRIM_SECONDS = 1.0
_MAX_SHARE_OF_KEPT_ENTRIES = 0.5
"""Kept entries must not fill up a stream: beyond this share of its limit, none are kept."""
_FIRST_EPOCH = 1
_READ_BYTES = 16 * 1024 * 1024

log = structlog.get_logger()


class LogRanges:
    """The ranges in progress in the partitions that this process owns.

    Args:
        named: the log.
        owner: knows which partitions this process owns.
        database: stores the positions.
        queue: receives unreadable entries as failed jobs.
        losses: reports entries that the log has lost.
    """

    def __init__(
        self,
        named: NamedLog,
        owner: PartitionOwner,
        database: Database,
        queue: Queue,
        losses: SpoolLosses,
    ) -> None:
        self.owner = owner
        self.database = database
        self.queue = queue
        self._name, self._log, self._keep_seconds = named
        self._losses = losses
        self._loaded: dict[int, LogRange] = {}
        self._checked: set[tuple[int, int]] = set()
        self._stored_upto: dict[int, int] = {}
        self._trims: deque[tuple[float, dict[int, int]]] = deque()
        """When entries may be trimmed, and up to which positions."""
        self._trimmed_at = 0.0
        self._known_losses = self._log.losses
        self._purged: dict[int, int] = {}
        """The positions of partitions whose entries were reported as deleted."""

    def loaded(self, partition: int) -> LogRange | None:
        """The range in progress of a partition; None if there is none or it is not loaded."""
        return self._loaded.get(partition)

    def forget(self, partition: int) -> None:
        """Drop a loaded range, because the owner of one of its partitions has changed."""
        begun = self._loaded.get(partition)
        for each in begun.partitions if begun else ():
            self._loaded.pop(each, None)

    async def current(self, held: Sequence[Position]) -> list[Position]:
        """Reset positions if the log was replaced; else its first entries would be skipped.

        Also reports the loss of a log that was created again meanwhile, whose positions go on, and
        that a new log takes the place of another one.
        """
        if self._log.losses != self._known_losses:
            self._known_losses = self._log.losses
            await self._losses.created_again()
        new = [each for each in held if (each.partition, each.epoch) not in self._checked]
        last = await self._log.last_positions([each.partition for each in new]) if new else {}
        for position in new:
            done_upto = position.done_upto
            if position.partition == 0 and position.epoch == _FIRST_EPOCH:
                await self._losses.taken_first(position)
            if last[position.partition] < done_upto:
                await self._losses.replaced(position)
                done_upto = 0
                await self._store([(position, _at(position, done_upto))])
            self._checked.add((position.partition, position.epoch))
            self._stored_upto[position.partition] = done_upto
        return [self.owner.position(each.partition) for each in held]

    async def read(self, held: Sequence[Position], size: int) -> dict[int, list[SpoolEntry]]:
        """The entries behind these positions."""
        stored = {each.partition: each.done_upto for each in held}
        read = await self._log.read(stored, size)
        if self._log.deleted(stored):
            await self._report_purge()
        return read

    async def _report_purge(self) -> None:
        """Report once that entries were deleted; of positions that are still in the database.

        A server that was frozen has old ones: others may have stored and trimmed what is behind.
        """
        stored = await self._positions()
        deleted = {each: stored[each] for each in self._log.deleted(stored)}
        if not deleted.items() <= self._purged.items():
            self._purged |= deleted
            await self._losses.purged(deleted)

    async def begin(
        self, batches: Mapping[int, Sequence[LogBatch]], *, joined_events: int
    ) -> LogRange:
        """Start a range with these batches of reserved partitions.

        If earlier entries of a partition still wait as jobs, that partition has a range of its own,
        as its entries become jobs, too. So the range may have only some of the batches.

        Args:
            batches: entries by partition.
            joined_events: projects with up to so many events together are stored together.
        """
        every = [batch for own in batches.values() for batch in own]
        lanes = await self._waiting_lanes(every)
        first = next(iter(batches))
        free = {
            partition: own
            for partition, own in batches.items()
            if lanes.isdisjoint(batch.lane for batch in own)
        }
        if first not in free or not self.owner.shares_groups:
            free = {first: batches[first]}
        group = new_id() if len(free) > 1 else None
        changes: list[tuple[Position, Position]] = []
        for partition, own in sorted(free.items()):
            before = self.owner.position(partition)
            begun = msgspec.structs.replace(
                before,
                group_from=own[0].position,
                group_to=own[-1].position,
                group_id=group,
                joined_events=joined_events if self.owner.joins_projects and not lanes else None,
                named_by_members=self.owner.names_members or None,
            )
            changes.append((before, begun))
        await self._store(changes)
        started = self._load(range_of([begun for _, begun in changes], free, lanes))
        started.is_new = True
        return started

    async def separate(self, begun: LogRange) -> None:
        """Have the projects of a range stored one after another; none of the next was inserted.

        Raises:
            SQLAlchemyError, OSError: whether it was recorded is not known, and it decides which
                projects are stored together. So the partitions are claimed and read anew.
        """
        apart = [msgspec.structs.replace(each, joined_events=None) for each in begun.positions]
        try:
            await self._store(list(zip(begun.positions, apart, strict=True)))
        except (SQLAlchemyError, OSError):
            self._lose(begun.positions)
            raise
        begun.positions = apart

    async def resume(self, held: Sequence[Position]) -> LogRange | None:
        """Load the first range that is in progress; None if there is none."""
        begun = [position for position in held if position.group_to is not None]
        if not begun:
            return None
        ordered = await self._whole_group(begun)
        batches = {each.partition: await self._batches(each) for each in ordered}
        every = [batch for own in batches.values() for batch in own]
        return self._load(range_of(ordered, batches, await self._waiting_lanes(every)))

    async def _whole_group(self, begun: Sequence[Position]) -> list[Position]:
        """The partitions of the first position's group, in their order.

        Raises:
            OwnershipLost: the group has more partitions of this process than it knows, because the
                commit that began it got no answer. All of them are claimed anew.
        """
        group = begun[0].group_id
        if group is None:
            return [begun[0]]
        known = {each.partition: each for each in begun if each.group_id == group}
        async with self.database.read() as session:
            stored = await positions.all_positions(session, begun[0].log)
        members = [each for each in stored if each.group_id == group]
        if any(self.owner.owns(each) and each.partition not in known for each in members):
            for each in members:
                self.owner.lost(each)
            raise OwnershipLost("A group of the spool was begun without an answer.")
        return [known[partition] for partition in sorted(known)]

    def _load(self, begun: LogRange) -> LogRange:
        self._loaded.update(dict.fromkeys(begun.partitions, begun))
        return begun

    async def _waiting_lanes(self, batches: Sequence[LogBatch]) -> set[str]:
        """The lanes in which earlier entries still wait as jobs."""
        waiting = select(JobRow.lane).where(
            JobRow.queue == SPOOL_QUEUE,
            JobRow.priority == Priority.NORMAL,
            JobRow.lane.in_(sorted({batch.lane for batch in batches if batch.spooled})),
            JobRow.buried_at.is_(None),
        )
        async with self.database.read() as session:
            return {lane for lane in await session.scalars(waiting.distinct()) if lane}

    async def finish(self, session: AsyncSession, begun: LogRange) -> list[Position]:
        """Advance the positions past the next projects of a range, in the caller's transaction.

        Returns:
            The new positions.

        Raises:
            OwnershipLost: another server owns a partition now.
        """
        stored = begun.next_projects()
        if len(begun.left) > len(stored):
            project, _ = stored[-1]
            moved = [msgspec.structs.replace(p, group_project=project) for p in begun.positions]
        else:
            moved = [_at(position, position.group_to) for position in begun.positions]
            await self.queue.enqueue(session, unreadable_jobs(begun))
        await self._move(session, list(zip(begun.positions, moved, strict=True)))
        return moved

    def ended(self, begun: LogRange, moved: list[Position]) -> None:
        """Record that the transaction of :meth:`finish` was committed."""
        del begun.left[: len(begun.next_projects())]
        begun.positions = moved
        begun.is_new = True
        if not begun.left:
            self.forget(begun.partitions[0])
        for position in moved:
            self._moved(position)

    async def finish_empty(self, begun: LogRange) -> None:
        """Finish a range without batches left to store."""
        async with self.database.write() as session:
            moved = await self.finish(session, begun)
        self.ended(begun, moved)

    async def trim(self) -> None:
        """Delete entries stored some time ago from the log, once per ``_TRIM_SECONDS``."""
        now = time.monotonic()
        if now - self._trimmed_at < _TRIM_SECONDS or not (self._stored_upto or self._trims):
            return
        self._trimmed_at = now
        if self._stored_upto:
            self._trims.append((now + self._keep_seconds, self._stored_upto))
            self._stored_upto = {}
        await self._trim_due(now)

    async def _trim_due(self, now: float) -> None:
        due: dict[int, int] = {}
        try:
            is_ample = await self._log.used_share() <= _MAX_SHARE_OF_KEPT_ENTRIES
            while self._trims and (self._trims[0][0] <= now or not is_ample):
                due |= self._trims.popleft()[1]
            if due:
                await self._log.trim(await self._still_stored(due))
        except (SpoolUnavailable, SQLAlchemyError, OSError) as error:
            log.warning("the spool was not trimmed", action="trim_failed", error=str(error))
            self._trims.appendleft((now, due))

    async def _still_stored(self, upto: dict[int, int]) -> dict[int, int]:
        """The positions, or those of a database that has lost commits meanwhile."""
        if not self._keep_seconds:  # the log is in the database, which compares them
            return upto
        known = await self._positions()
        return {partition: min(upto[partition], known.get(partition, 0)) for partition in upto}

    async def _positions(self) -> dict[int, int]:
        """The stored position of each partition of the log."""
        async with self.database.read() as session:
            stored = await positions.all_positions(session, self._name)
        return {each.partition: each.done_upto for each in stored}

    async def _batches(self, position: Position) -> list[LogBatch]:
        """Read all entries of the range in progress."""
        batches: list[LogBatch] = []
        after, last = (position.group_from or 0) - 1, position.group_to or 0
        while after < last:
            read = await self._log.read({position.partition: after}, _READ_BYTES)
            entries = read.get(position.partition)
            if not entries:
                break
            batches += [
                batch_of(position.partition, entry) for entry in entries if entry.position <= last
            ]
            after = entries[-1].position
        if not {position.group_from, position.group_to} <= {each.position for each in batches}:
            await self._losses.missing_entries(position)
        return batches

    def _moved(self, moved: Position) -> None:
        self.owner.moved(moved)
        if moved.group_to is None:
            self._stored_upto[moved.partition] = moved.done_upto

    async def _store(self, changes: Sequence[tuple[Position, Position]]) -> None:
        async with self.database.write() as session:
            await self._move(session, changes)
        for _, after in changes:
            self.owner.moved(after)

    async def _move(
        self, session: AsyncSession, changes: Sequence[tuple[Position, Position]]
    ) -> None:
        try:
            await positions.store(session, changes)
        except OwnershipLost:
            self._lose([before for before, _ in changes])
            raise

    def _lose(self, known: Sequence[Position]) -> None:
        for position in known:
            self.forget(position.partition)
            self.owner.lost(position)


def _at(position: Position, done_upto: int | None) -> Position:
    """A position without a group in progress."""
    return msgspec.structs.replace(
        position,
        done_upto=position.done_upto if done_upto is None else done_upto,
        group_from=None,
        group_to=None,
        group_project=0,
        group_id=None,
        joined_events=None,
        named_by_members=None,
    )
