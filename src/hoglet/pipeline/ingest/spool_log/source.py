"""Groups of the spool log: the entries in ranges of partitions, a few projects at a time.

A range is stored before it is processed, so it has the same members on every attempt, by any
server. Its projects are stored one after another, those with few events together; the last commit
advances the position past the range. Entries are trimmed later.

While a project has jobs that were entries of a partition, its later entries in that partition also
become jobs, which keeps the order.

Source: docs/adr/0037-spool-log.md.
"""

import time
from collections.abc import Collection, Sequence
from datetime import timedelta

from hoglet.pipeline.ingest.sources import GroupLimits, SpooledGroup
from hoglet.pipeline.ingest.spool_log.group import LogGroup
from hoglet.pipeline.ingest.spool_log.members import LogRange, batches_within
from hoglet.pipeline.ingest.spool_log.ranges import LogRanges
from hoglet.spool import SpoolLog
from hoglet.spool.positions import OwnershipLost, Position

_POLL_SECONDS = 1.0  # for entries that other servers appended


class LogSource:
    """Provides groups from the partitions that this process owns.

    Args:
        spool_log: the log.
        ranges: the ranges of these partitions.
    """

    def __init__(self, spool_log: SpoolLog, ranges: LogRanges) -> None:
        self._log = spool_log
        self._owner = ranges.owner
        self._ranges = ranges
        self._fresh: set[int] = set()
        self._polled_at = 0.0
        self._last = -1
        self._owner.on_taken = self.taken

    async def begin(self, limits: GroupLimits) -> SpooledGroup | None:
        """Start the next group of a range in progress or a new one; partitions take turns."""
        await self._ranges.trim()
        await self._poll()
        held = self._hold()
        group: LogGroup | None = None
        try:
            group = await self._begin(held, limits) if held else None
        except OwnershipLost:
            group = None
        finally:
            self._release(held, group)
        return group

    async def wait(self, timeout: timedelta) -> None:  # noqa: ASYNC109 (a ceiling, not a cancellation)
        """Return when an owned partition has new entries, or after ``timeout``."""
        self._fresh |= await self._log.wait(self._owner.owned, timeout)

    def wake(self) -> None:
        """End the current waits."""
        self._log.wake(self._owner.owned)

    def taken(self, partitions: set[int]) -> None:
        """Handle partitions that this process has taken over."""
        for partition in partitions:
            self._ranges.forget(partition)
        self._fresh |= partitions
        self._log.wake(partitions)

    async def _poll(self) -> None:
        """Update which partitions may have entries."""
        self._fresh |= await self._log.wait(self._owner.owned, timedelta(0))
        if time.monotonic() - self._polled_at >= _POLL_SECONDS:
            self._polled_at = time.monotonic()
            self._fresh |= self._owner.owned

    def _hold(self) -> list[Position]:
        """Reserve all partitions that may have entries, the one after the last group's first."""
        owned = sorted(self._owner.owned, key=lambda each: (each <= self._last, each))
        positions = [self._owner.hold(each) for each in owned if self._has_work(each)]
        return [position for position in positions if position is not None]

    def _has_work(self, partition: int) -> bool:
        is_begun = self._owner.position(partition).group_to is not None
        return is_begun or partition in self._fresh

    def _release(self, held: Sequence[Position], group: LogGroup | None) -> None:
        """Release partitions that are not part of the group; another worker may want them."""
        used = group.partitions if group else ()
        unused = [each.partition for each in held if each.partition not in used]
        for partition in unused:
            self._owner.release(partition)
        if group is not None:
            self._last = [each.partition for each in held if each.partition in used][-1]
            self._log.wake(self._fresh.intersection(unused))

    async def _begin(self, held: Sequence[Position], limits: GroupLimits) -> LogGroup | None:
        """Start the next group of reserved partitions."""
        while (begun := await self._next_range(held, limits)) is not None:
            if not begun.left:
                await self._ranges.finish_empty(begun)
            else:
                group = LogGroup(self._ranges, begun)
                if not group.follows_jobs:
                    return group
                await group.divert(together=False)
            held = [self._owner.position(each.partition) for each in held]
        return None

    async def _next_range(self, held: Sequence[Position], limits: GroupLimits) -> LogRange | None:
        """The range in progress in one of these partitions, or a new one; None without entries."""
        loaded = (self._ranges.loaded(each.partition) for each in held)
        begun = next((each for each in loaded if each is not None), None)
        if begun is None:
            held = await self._ranges.current(held)
            begun = await self._ranges.resume(held)
        if begun is None:
            entries = await self._ranges.read(held, limits.size)
            self._fresh -= _empty([each.partition for each in held], entries)
            if entries:
                batches = batches_within(entries, limits)
                begun = await self._ranges.begin(batches, joined_events=limits.small)
        return begun


def _empty(partitions: Sequence[int], entries: Collection[int]) -> set[int]:
    """The partitions that were read and have no entries: not those behind the last with some."""
    last = max((partitions.index(each) for each in entries), default=len(partitions))
    return set(partitions[:last]) - set(entries)
