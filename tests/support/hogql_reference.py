"""Expected results of insights, computed in plain Python.

Nothing here shares code with hoglet; the meaning is that of
docs/spec/query-endpoints.md#106-insight-queries-and-results.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from support.hogql_generated import EVENTS, Seen

type Test = Callable[[Seen], bool]


def named(*names: str) -> Test:
    """Events with these names."""
    return lambda seen: seen.event in names


def within(start: datetime, end: datetime, events: Iterable[Seen] = EVENTS) -> list[Seen]:
    """Events from ``start`` to ``end``, both included, ordered by time."""
    return sorted(
        (event for event in events if start <= event.at <= end), key=lambda event: event.at
    )


def local(year: int, month: int, day: int, zone: str) -> datetime:
    """Local midnight."""
    return datetime(year, month, day, tzinfo=ZoneInfo(zone))


class Calendar:
    """The intervals of a range of whole local days; ``last`` is included."""

    def __init__(self, first: datetime, last: datetime, interval: str) -> None:
        self.zone, self.interval = first.tzinfo, interval
        self.start = first
        midnight = datetime(last.year, last.month, last.day, tzinfo=self.zone)
        self.end = midnight + timedelta(days=1) - timedelta(microseconds=1)
        self.starts: list[datetime] = []
        at = self.floor(first)
        while at <= self.end:
            self.starts.append(at)
            at = self.next(at)

    def floor(self, at: datetime) -> datetime:
        """The start of the interval around an instant."""
        at = at.astimezone(self.zone)
        if self.interval == "hour":
            return at.replace(minute=0, second=0, microsecond=0)
        day = datetime(at.year, at.month, at.day, tzinfo=self.zone)
        if self.interval == "week":
            return day - timedelta(days=day.isoweekday() % 7)
        return day.replace(day=1) if self.interval == "month" else day

    def next(self, at: datetime) -> datetime:
        """The start of the interval after the one that starts at ``at``."""
        if self.interval == "hour":
            return (at.astimezone(UTC) + timedelta(hours=1)).astimezone(self.zone)
        if self.interval == "month":
            return (at + timedelta(days=32)).replace(day=1)
        return at + timedelta(days=7 if self.interval == "week" else 1)

    def index_of(self, at: datetime) -> int:
        """The index of the interval that contains an instant."""
        return self._utc.index(self.floor(at).astimezone(UTC))

    @property
    def _utc(self) -> list[datetime]:
        return [start.astimezone(UTC) for start in self.starts]

    def events(self) -> list[Seen]:
        """Events within the range."""
        return within(self.start, self.end)


def by_interval(
    calendar: Calendar, test: Test, measure: Callable[[list[Seen]], float]
) -> list[float]:
    """A measure of the events of each interval; 0 without events."""
    groups: dict[int, list[Seen]] = defaultdict(list)
    for seen in calendar.events():
        if test(seen):
            groups[calendar.index_of(seen.at)].append(seen)
    return [
        measure(groups[index]) if index in groups else 0 for index in range(len(calendar.starts))
    ]


def percentile(values: list[float], level: float) -> float:
    """The quantile, interpolated between neighbors."""
    ordered = sorted(values)
    position = level * (len(ordered) - 1)
    low = int(position)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (position - low)


def person_count(events: Iterable[Seen]) -> int:
    """The number of persons."""
    return len({seen.human.id for seen in events})


def numbers(events: Iterable[Seen], key: str) -> list[float]:
    """The present values of a numeric property."""
    return [seen.properties[key] for seen in events if key in seen.properties]


def text(value: Any) -> str | None:
    """A property as breakdowns show it."""
    if value is None:
        return None
    return str(value).lower() if isinstance(value, bool) else str(value)
