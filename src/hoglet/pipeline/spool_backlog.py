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


class _FirstEntry(NamedTuple):
    """The first entry behind a stored position."""

    behind: int
    position: int
    received_at: datetime | None


class SpoolBacklog:
    """Looks at the entries behind the stored positions.

    Args:
        logs: none with SQLite, where captured events are jobs.
    """

    def __init__(self, database: Database, logs: Sequence[NamedLog], clock: Clock) -> None:
        self._database = database
        self._logs = logs
        self._clock = clock
        self._first: dict[tuple[str, int], _FirstEntry] = {}
        """Of each partition that had a backlog."""

    async def measure(self) -> Backlog:
        """Count the entries that are not stored yet.

        Raises:
            SpoolUnavailable: a log cannot be read.
        """
        waiting, now = 0, self._clock.now()
        oldest = now
        for each in self._logs:
            for positions_left, received_at in await self._oldest(each):
                waiting += positions_left
                oldest = min(oldest, received_at or oldest)
        return Backlog(waiting, (now - oldest).total_seconds())

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
        waiting: list[tuple[int, datetime | None]] = []
        for each in stored:
            if last[each.partition] > each.done_upto:
                first = await self._first_behind(named.log, each)
                if first is not None:
                    waiting.append((last[each.partition] - first.position + 1, first.received_at))
        return waiting

    async def _first_behind(self, log: SpoolLog, position: Position) -> _FirstEntry | None:
        """The first entry behind a position, which is read only once; None if there is none.

        There is none if it was stored and trimmed meanwhile, or if the log was created again and
        its positions continue far above the stored one.
        """
        key = position.log, position.partition
        known = self._first.get(key)
        if known is None or known.behind != position.done_upto:
            read = await log.read({position.partition: position.done_upto}, 1)
            entries = read.get(position.partition)
            if not entries:
                return None
            first = entries[0]
            known = _FirstEntry(position.done_upto, first.position, _received_at(first))
            self._first[key] = known
        return known


def _received_at(entry: SpoolEntry) -> datetime | None:
    try:
        return read_spooled(entry.payload).received_at
    except msgspec.MsgspecError:
        return None
