"""Follows new log lines of a function as they arrive in the warehouse.

Lines arrive in blocks, shortly after their timestamps and out of order. So each poll starts a
little before the newest line and skips lines that were already returned.
"""

import asyncio
import contextlib
from collections import Counter
from collections.abc import AsyncGenerator, Generator, Sequence
from datetime import datetime, timedelta

import msgspec
from msgspec.structs import replace

from hoglet.functions.logs.telemetry import LOG_SOURCE
from hoglet.kit.clock import Clock
from hoglet.kit.errors import Throttled
from hoglet.warehouse.telemetry import LogEntry, LogFilters, Telemetry


class TailSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Settings of log streams; times in seconds."""

    pause: float = 1.0
    lateness: float = 30.0
    longest: float = 900.0
    lines_per_look: int = 2000
    open_streams: int = 100


class NewLines(msgspec.Struct, frozen=True, kw_only=True):
    """New lines of a poll, oldest first; ``is_cut``: there were more lines than fit."""

    entries: list[LogEntry]
    is_cut: bool = False


type _Key = tuple[datetime, str, str, str, int]


class LiveTail:
    """The open streams of this process.

    Args:
        telemetry: reads the lines.
        clock: the current time.
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
        """End all streams at once; a server shutdown does not wait for them."""
        self._closing.set()

    async def follow(
        self, project_id: int, function_id: str, filters: LogFilters
    ) -> AsyncGenerator[NewLines]:
        """Yield one item per poll, empty if nothing is new, until the stream's maximum age.

        Args:
            project_id: the function's project.
            function_id: the function.
            filters: selects lines; ``after`` is the start, None for now.

        Raises:
            Throttled: too many streams are open.
        """
        with self._counted():
            started = self._clock.now()
            window = _Window(filters.after or started, timedelta(seconds=self.settings.lateness))
            page_filters = replace(filters, limit=self.settings.lines_per_look)
            while not self._closing.is_set():
                requested = replace(page_filters, after=window.edge)
                lines = await self._telemetry.read_logs(
                    project_id, LOG_SOURCE, function_id, requested
                )
                entries = window.unseen(lines[::-1])
                yield NewLines(entries=entries, is_cut=len(lines) == page_filters.limit)
                if (self._clock.now() - started).total_seconds() > self.settings.longest:
                    return
                await self._pause()

    def check_capacity(self) -> None:
        """Reject a stream beyond the limit before its response starts.

        Raises:
            Throttled: too many are open.
        """
        if self._open >= self.settings.open_streams:
            detail = "Too many log streams are open; try again in a moment."
            raise Throttled(detail, wait_seconds=5)

    @contextlib.contextmanager
    def _counted(self) -> Generator[None]:
        self.check_capacity()
        self._open += 1
        try:
            yield
        finally:
            self._open -= 1

    async def _pause(self) -> None:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._closing.wait(), self.settings.pause)


class _Window:
    """The lines that were already returned, as far back as late ones may arrive."""

    def __init__(self, start: datetime, lateness: timedelta) -> None:
        self._start = start
        self._newest = start
        self._lateness = lateness
        self._seen: set[_Key] = set()

    @property
    def edge(self) -> datetime:
        """Lines after this time are polled."""
        return max(self._start, self._newest - self._lateness)

    def unseen(self, entries: Sequence[LogEntry]) -> list[LogEntry]:
        """The lines not returned before; identical lines are distinguished by count."""
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
