"""Groups of the spool log: the entries in a range of a partition, project by project.

A range is stored before it is processed, so it has the same members on every attempt, by any
server. Each project in the range is processed and committed separately; the last commit advances
the position past the range. Entries are trimmed later.

While a project has jobs that were entries of a partition, its later entries in that partition also
become jobs, which keeps the order.

Source: docs/adr/0037-spool-log.md.
"""

import time
from datetime import timedelta

from hoglet.pipeline.ingest.sources import GroupLimits, SpooledGroup
from hoglet.pipeline.ingest.spool_log.group import LogGroup
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
        """Start the next project of a range in progress or a new one; partitions take turns."""
        await self._ranges.trim()
        await self._poll()
        partitions = sorted(self._fresh & self._owner.owned)
        for partition in sorted(partitions, key=lambda each: (each <= self._last, each)):
            position = self._owner.hold(partition)
            if position is None:
                continue
            self._last = partition
            group = await self._begin(position, limits)
            if group is not None:
                return group
        return None

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

    async def _begin(self, position: Position, limits: GroupLimits) -> SpooledGroup | None:
        """Start the next group of a reserved partition; releases the partition if there is none."""
        group: LogGroup | None = None
        try:
            while group is None:
                members = self._ranges.members(position.partition)
                begun = position if members else await self._ranges.begin(position, limits)
                if begun is None:
                    self._fresh.discard(position.partition)
                    break
                position = begun
                first = self._first_group(position)
                if first is not None and await first.follows_jobs():
                    position = await first.divert(together=False)
                else:
                    group = first
        except OwnershipLost:
            group = None
        finally:
            if group is None:
                self._owner.release(position.partition)
        return group

    def _first_group(self, position: Position) -> LogGroup | None:
        """The first project of the range in progress; None if the range is empty."""
        members = self._ranges.members(position.partition)
        return None if members is None else LogGroup(self._ranges, position, *members.left[0])
