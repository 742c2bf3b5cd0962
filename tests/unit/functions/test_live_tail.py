"""The live tail: late lines are shown, none twice, and closing ends it at once."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest
from starlette.requests import Request

from hoglet.functions.logs.live_tail import LiveTail, TailSettings
from hoglet.functions.logs.live_tail_api import event_stream
from hoglet.functions.logs.telemetry import LOG_SOURCE
from hoglet.kit.clock import FixedClock
from hoglet.kit.errors import Throttled
from hoglet.warehouse.telemetry import LogEntry, LogFilters, Telemetry

NOW = datetime(2026, 1, 5, 12, tzinfo=UTC)


class StoredLines(Telemetry):
    """The lines of a warehouse that is a list."""

    def __init__(self) -> None:
        self.lines: list[LogEntry] = []

    def add(self, message: str, seconds: float) -> None:
        at = NOW + timedelta(seconds=seconds)
        self.lines.append(LogEntry(1, LOG_SOURCE, "f", "run", at, "INFO", message))

    async def read_logs(
        self, project_id: int, source: str, source_id: str, filters: LogFilters
    ) -> list[LogEntry]:
        assert (project_id, source, source_id) == (1, LOG_SOURCE, "f")
        assert filters.after is not None
        newer = [line for line in self.lines if line.timestamp > filters.after]
        return sorted(newer, key=lambda line: line.timestamp, reverse=True)[: filters.limit]


def tail_of(stored: StoredLines, **settings: float) -> LiveTail:
    expected = TailSettings(pause=0.001, **settings)  # pyright: ignore[reportArgumentType]
    return LiveTail(stored, FixedClock(NOW), expected)


def test_late_and_equal_lines_are_shown_once_each() -> None:
    async def work() -> list[list[str]]:
        stored = StoredLines()
        stored.add("before", -1)
        looks = tail_of(stored).follow(1, "f", LogFilters())
        seen: list[list[str]] = []
        for messages in ([("a", 2)], [("late", 1), ("b", 40), ("b", 40)], [("b", 40)], []):
            for message, seconds in messages:
                stored.add(message, seconds)
            seen.append([entry.message for entry in (await anext(looks)).entries])
        await looks.aclose()
        return seen

    assert asyncio.run(work()) == [["a"], ["late", "b", "b"], ["b"], []]


def test_it_tells_when_lines_are_cut() -> None:
    async def work() -> bool:
        stored = StoredLines()
        stored.add("a", 1)
        stored.add("b", 2)
        looks = tail_of(stored, lines_per_look=2).follow(1, "f", LogFilters())
        is_cut = (await anext(looks)).is_cut
        await looks.aclose()
        return is_cut

    assert asyncio.run(work())


def test_closing_ends_an_open_stream_without_its_pause() -> None:
    async def work() -> None:
        settings = TailSettings(pause=3600)
        tail = LiveTail(StoredLines(), FixedClock(NOW), settings)
        looks = tail.follow(1, "f", LogFilters())
        await anext(looks)
        asyncio.get_running_loop().call_soon(tail.close)
        with pytest.raises(StopAsyncIteration):
            await asyncio.wait_for(anext(looks), 30)

    asyncio.run(work())


def test_one_stream_too_many_is_refused_until_one_ends() -> None:
    async def work() -> None:
        tail = tail_of(StoredLines(), open_streams=1)
        first = tail.follow(1, "f", LogFilters())
        await anext(first)
        with pytest.raises(Throttled):
            tail.check_capacity()
        await first.aclose()
        tail.check_capacity()

    asyncio.run(work())


def test_a_stream_that_was_overtaken_after_its_response_began_ends_and_says_so() -> None:
    async def work() -> list[bytes]:
        tail = tail_of(StoredLines(), open_streams=0)
        request = Request({"type": "http"})
        return [part async for part in event_stream(request, tail.follow(1, "f", LogFilters()))]

    assert b"too many log streams" in asyncio.run(work())[-1]
