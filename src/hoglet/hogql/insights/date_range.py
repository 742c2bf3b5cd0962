"""The dates of an insight: its range, its buckets, their labels, and the period before.

Source: docs/spec/query-endpoints.md#106-insight-queries-and-results.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import msgspec

from hoglet.hogql.context import QueryContext
from hoglet.hogql.dates import as_text, resolve_date, shift, start_of
from hoglet.hogql.errors import refused
from hoglet.hogql.frontend.trees import Expression, call, compare, constant, field
from hoglet.syntax import tree

_UNITS = {"minute": "M", "hour": "h", "day": "d", "week": "w", "month": "m"}
_FUNCTIONS = {
    "minute": "toStartOfMinute",
    "hour": "toStartOfHour",
    "day": "toStartOfDay",
    "week": "toStartOfWeek",
    "month": "toStartOfMonth",
}
_SECONDS = {"minute": 60, "hour": 3600}
_MOST_BUCKETS = 10_000
"""A year of hours fits; minutes over months do not, and would make an answer of many megabytes."""


class Span(msgspec.Struct, frozen=True):
    """A range of time in the project's zone, cut into intervals."""

    start: datetime
    end: datetime
    interval: str = "day"

    def buckets(self) -> list[datetime]:
        """The starts of its intervals.

        Raises:
            SourceError: there would be too many.
        """
        unit = _UNITS[self.interval]
        found = [self.first()]
        while (following := shift(found[-1], 1, unit)) <= self.end:
            found.append(following)
            if len(found) > _MOST_BUCKETS:
                raise refused(f"The date range holds too many intervals of a {self.interval}")
        return found

    def first(self) -> datetime:
        """The start of the first interval."""
        return start_of(self.start, _UNITS[self.interval])

    def earlier(self, count: int) -> datetime:
        """The start of the interval ``count`` before the first."""
        return shift(self.first(), -count, _UNITS[self.interval])

    def moved(self, by: str | None) -> "Span":
        """The period before it: of the same length, or moved by a text such as ``-1w``."""
        if by:
            unit, count = by[-1], by[1:-1]
            if by[0] != "-" or not count.isdigit() or unit not in "hdwmqy":
                raise refused(f"compare_to must be like -1w, not {by}")
            step = -int(count)
            return Span(shift(self.start, step, unit), shift(self.end, step, unit), self.interval)
        # Whole days back, so that weekdays and midnights keep their places.
        if self.interval in {"minute", "hour"} and self.end - self.start < timedelta(days=1):
            length = self.end - self.start
        else:
            length = timedelta(days=(self.end.date() - self.start.date()).days + 1)
        return Span(self.start - length, self.end - length, self.interval)

    def labels(self) -> list[str]:
        """Labels such as ``4-May-2026`` or ``4-May-2026 15:00``."""
        clock = " %H:%M" if self.interval in {"minute", "hour"} else ""
        return [f"{day.day}-{day.strftime('%b-%Y' + clock)}" for day in self.buckets()]

    def days(self) -> list[str]:
        """Days such as ``2026-05-04`` or ``2026-05-04 15:00:00``."""
        clock = " %H:%M:%S" if self.interval in {"minute", "hour"} else ""
        return [day.strftime("%Y-%m-%d" + clock) for day in self.buckets()]

    def condition(self, column: Expression | None = None) -> list[Expression]:
        """``timestamp`` within the range."""
        column = column or field("timestamp")
        return [
            compare(">=", column, constant(as_text(self.start))),
            compare("<=", column, constant(as_text(self.end))),
        ]

    def index(self, column: Expression) -> Expression:
        """The number of the interval that holds ``column``, 0 for the first, below 0 before it."""
        seconds = _SECONDS.get(self.interval)
        if seconds is not None:  # elapsed time, so that hours stay hours when clocks change
            origin = constant(int(self.first().timestamp()))
            since = tree.ArithmeticOperation(
                left=call("toUnixTimestamp", self.bucket(column)), right=origin, op="-"
            )
            return call("intDiv", since, constant(seconds))
        first = call("toDateTime", constant(as_text(self.first())))
        bucket = call("toDateTime", self.bucket(column))
        return call("dateDiff", constant(self.interval), first, bucket)

    def bucket(self, column: Expression) -> Expression:
        """The start of the interval that holds ``column``."""
        return call(_FUNCTIONS[self.interval], column)


def span_of(
    query: Mapping[str, Any], context: QueryContext, *, default: str = "-7d", interval: str = "day"
) -> Span:
    """The range of an insight's ``dateRange`` and ``interval``.

    Raises:
        SourceError: a date or an interval that is none.
    """
    range_ = query.get("dateRange") or {}
    word = query.get("interval") or interval
    if word not in _UNITS:
        raise refused(f"Unknown interval '{word}'")
    explicit = bool(range_.get("explicitDate"))
    start = _date(range_.get("date_from") or default, context, end=False, explicit=explicit)
    end = _date(range_.get("date_to") or "", context, end=True, explicit=explicit)
    if end is None:
        end = _now(context) if explicit else _end_of(context, word)
    if start is None:
        start = shift(end, -10, "y")  # "all": callers that know the oldest event say its day
    return Span(min(start, end), end, word)


def _now(context: QueryContext) -> datetime:
    return context.now.astimezone(ZoneInfo(context.timezone))


def _end_of(context: QueryContext, interval: str) -> datetime:
    now = _now(context)
    unit = "h" if interval in {"minute", "hour"} else "d"
    return shift(start_of(now, unit), 1, unit) - timedelta(microseconds=1)


def _date(text: Any, context: QueryContext, *, end: bool, explicit: bool) -> datetime | None:
    now, zone = context.now, context.timezone
    try:
        return resolve_date(str(text), now, zone, end=end, explicit=explicit)
    except ValueError:
        raise refused(f"Not a date in dateRange: {text}") from None
