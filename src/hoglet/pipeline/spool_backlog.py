"""Measures the backlog of the spool logs, for metrics and for deletions that wait for it."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

import msgspec

from hoglet.events.spool import read_spooled
from hoglet.kit.clock import Clock
from hoglet.spool import NamedLog, SpoolEntry, positions
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

    async def measure(self) -> Backlog:
        """Count the entries that are not stored yet.

        Raises:
            SpoolUnavailable: a log cannot be read.
        """
        waiting, oldest = 0, self._clock.now()
        for each in self._logs:
            for positions_left, entry in await self._oldest(each):
                waiting += positions_left
                oldest = min(oldest, _received_at(entry) or oldest)
        return Backlog(waiting, (self._clock.now() - oldest).total_seconds())

    async def has_before(self, until: datetime) -> bool:
        """Whether an event accepted up to this time is not stored yet.

        Raises:
            SpoolUnavailable: a log cannot be read.
        """
        for each in self._logs:
            for _, entry in await self._oldest(each):
                if (_received_at(entry) or until) <= until:
                    return True
        return False

    async def _oldest(self, named: NamedLog) -> list[tuple[int, SpoolEntry]]:
        """The first entry that is not stored in each partition, and the positions that are left."""
        async with self._database.read() as session:
            stored = await positions.all_positions(session, named.name)
        last = await named.log.last_positions([each.partition for each in stored])
        oldest: list[tuple[int, SpoolEntry]] = []
        for each in stored:
            waiting = last[each.partition] - each.done_upto
            entries = (
                await named.log.read({each.partition: each.done_upto}, 1) if waiting > 0 else {}
            )
            oldest += [(waiting, entry) for entry in entries.get(each.partition, [])[:1]]
        return oldest


def _received_at(entry: SpoolEntry) -> datetime | None:
    try:
        return read_spooled(entry.payload).received_at
    except msgspec.MsgspecError:
        return None
