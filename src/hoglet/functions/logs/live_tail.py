"""New log lines of a function as they arrive in the warehouse.

Lines come in blocks, a moment after the instant they carry, and not in its order. So each look
goes back a little behind the newest line, and what was handed out already is passed over.
"""

import asyncio
import contextlib
from collections import Counter
from collections.abc import AsyncGenerator, Generator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

import msgspec

from hoglet.functions.logs.telemetry import SOURCE
from hoglet.kit.clock import Clock
from hoglet.kit.errors import Throttled
from hoglet.warehouse.telemetry import LogEntry, LogFilters, Telemetry


class TailSettings(msgspec.Struct, frozen=True, kw_only=True):
    """How streams of log lines behave; times in seconds."""

    pause: float = 1.0
    lateness: float = 30.0
    longest: float = 900.0
    lines_per_look: int = 2000
    open_streams: int = 100


class NewLines(msgspec.Struct, frozen=True, kw_only=True):
    """What one look found, oldest first; ``is_cut`` when there was more than is read at once."""

    entries: list[LogEntry]
    is_cut: bool = False


type _Key = tuple[datetime, str, str, str, int]


class LiveTail:
    """The open streams of this process.

    Args:
        telemetry: where the lines are.
        clock: tells now.
        settings: pauses and limits.
    """

    def __init__(
        self, telemetry: Telemetry, clock: Clock, settings: TailSettings | None = None
    ) -> None:
        self.settings = settings or TailSettings()
        self._telemetry = telemetry
        self._clock = clock
        self._closing = asyncio.Event()
        self._open = 0

    def close(self) -> None:
        """End all streams at once; a stopping server waits for none."""
        self._closing.set()

    async def follow(
        self, project_id: int, function_id: str, filters: LogFilters
    ) -> AsyncGenerator[NewLines]:
        """One item a look, an empty one when nothing is new, until the stream has lived its time.

        Args:
            project_id: the function's.
            function_id: whose lines.
            filters: which; ``after`` is the instant to start at, now when None.

        Raises:
            Throttled: too many streams are open.
        """
        with self._counted():
            started = self._clock.now()
            window = _Window(filters.after or started, timedelta(seconds=self.settings.lateness))
            wanted = replace(filters, limit=self.settings.lines_per_look)
            while not self._closing.is_set():
                asked = replace(wanted, after=window.edge)
                found = await self._telemetry.read_logs(project_id, SOURCE, function_id, asked)
                entries = window.unseen(found[::-1])
                yield NewLines(entries=entries, is_cut=len(found) == wanted.limit)
                if (self._clock.now() - started).total_seconds() > self.settings.longest:
                    return
                await self._pause()

    def check_room(self) -> None:
        """Refuse one stream too many before its answer begins.

        Raises:
            Throttled: too many are open.
        """
        if self._open >= self.settings.open_streams:
            detail = "Too many streams of logs are open; try again in a moment."
            raise Throttled(detail, wait_seconds=5)

    @contextlib.contextmanager
    def _counted(self) -> Generator[None]:
        self.check_room()
        self._open += 1
        try:
            yield
        finally:
            self._open -= 1

    async def _pause(self) -> None:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._closing.wait(), self.settings.pause)


class _Window:
    """Which lines were handed out already, as far back as a late one may come."""

    def __init__(self, start: datetime, lateness: timedelta) -> None:
        self._start = start
        self._newest = start
        self._lateness = lateness
        self._seen: set[_Key] = set()

    @property
    def edge(self) -> datetime:
        """Lines after this instant are looked at."""
        return max(self._start, self._newest - self._lateness)

    def unseen(self, entries: Sequence[LogEntry]) -> list[LogEntry]:
        """The lines not handed out before; equal lines are told apart by their number."""
        numbers: Counter[tuple[datetime, str, str, str]] = Counter()
        fresh: list[LogEntry] = []
        for entry in entries:
            line = (entry.timestamp, entry.instance_id, entry.level, entry.message)
            numbers[line] += 1
            key = (*line, numbers[line])
            if key not in self._seen:
                self._seen.add(key)
                fresh.append(entry)
        if entries:
            self._newest = max(self._newest, entries[-1].timestamp)
            self._seen = {key for key in self._seen if key[0] > self.edge}
        return fresh
