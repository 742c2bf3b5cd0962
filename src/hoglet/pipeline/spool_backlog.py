"""Measures the backlog of the spool logs, for metrics and for deletions that wait for it."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

import msgspec

from hoglet.events.spool import read_spooled
from hoglet.kit.clock import Clock
from hoglet.spool import NamedLog, SpoolEntry, SpoolLog, positions
from hoglet.spool.positions import Position
from hoglet.store.database import Database


class Backlog(NamedTuple):
    """Number of positions not stored yet (an upper bound of the entries), and age of the oldest."""

    positions: int
    lag_seconds: float


class SpoolBacklog:
    """Looks at the entries behind the stored positions.

    Args:
        logs: none with SQLite, where captured events are jobs.
    """

    def __init__(self, database: Database, logs: Sequence[NamedLog], clock: Clock) -> None:
        self._database = database
        self._logs = logs
        self._clock = clock
        self._oldest_at: dict[tuple[str, int], tuple[int, datetime | None]] = {}
        """For each partition, the position behind which it was read, and when that was received."""

    async def measure(self) -> Backlog:
        """Count the entries that are not stored yet.

        Raises:
            SpoolUnavailable: a log cannot be read.
        """
        waiting, oldest = 0, self._clock.now()
        for each in self._logs:
            for positions_left, received_at in await self._oldest(each):
                waiting += positions_left
                oldest = min(oldest, received_at or oldest)
        return Backlog(waiting, (self._clock.now() - oldest).total_seconds())

    async def has_before(self, until: datetime) -> bool:
        """Whether an event accepted up to this time is not stored yet.

        Raises:
            SpoolUnavailable: a log cannot be read.
        """
        for each in self._logs:
            for _, received_at in await self._oldest(each):
                if (received_at or until) <= until:
                    return True
        return False

    async def _oldest(self, named: NamedLog) -> list[tuple[int, datetime | None]]:
        """For each partition with a backlog, its positions and when its oldest entry was received.

        That is None if the entry cannot be read.
        """
        async with self._database.read() as session:
            stored = await positions.all_positions(session, named.name)
        last = await named.log.last_positions([each.partition for each in stored])
        waiting = [each for each in stored if last[each.partition] > each.done_upto]
        return [
            (last[each.partition] - each.done_upto, await self._received_behind(named.log, each))
            for each in waiting
        ]

    async def _received_behind(self, log: SpoolLog, position: Position) -> datetime | None:
        """When the first entry behind a position was received; an entry is read only once."""
        key = position.log, position.partition
        known = self._oldest_at.get(key)
        if known is None or known[0] != position.done_upto:
            read = await log.read({position.partition: position.done_upto}, 1)
            entries = read.get(position.partition)
            if not entries:  # stored and trimmed meanwhile
                return self._clock.now()
            known = self._oldest_at[key] = position.done_upto, _received_at(entries[0])
        return known[1]


def _received_at(entry: SpoolEntry) -> datetime | None:
    try:
        return read_spooled(entry.payload).received_at
    except msgspec.MsgspecError:
        return None
