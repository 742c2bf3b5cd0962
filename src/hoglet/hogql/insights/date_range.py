"""The date range of an insight: its intervals, their labels, and the previous period.

Source: docs/spec/query-endpoints.md#106-insight-queries-and-results,
docs/spec/data-and-queries.md#78-dates.
"""

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

import msgspec

from hoglet.hogql.ast_builders import Expression, array, call, compare, constant, field
from hoglet.hogql.context import QueryContext
from hoglet.hogql.errors import near, refused
from hoglet.hogql.filters.dates import clock_of, moment_constant, read_date
from hoglet.kit.relative_dates import (
    ResolvedDate,
    as_text,
    elapse,
    end_of,
    end_of_day,
    shift,
    start_of,
    start_of_day,
)
from hoglet.syntax import tree

_UNITS = {
    "second": "s", "minute": "M", "hour": "h", "day": "d", "week": "w", "month": "m",
    "quarter": "q", "year": "y",
}  # fmt: skip
_FUNCTIONS = {
    "second": "toStartOfSecond",
    "minute": "toStartOfMinute",
    "hour": "toStartOfHour",
    "day": "toStartOfDay",
    "week": "toStartOfWeek",
    "month": "toStartOfMonth",
    "quarter": "toStartOfQuarter",
    "year": "toStartOfYear",
}
_SECONDS = {"second": 1, "minute": 60, "hour": 3600}
_DAYS = frozenset("dwmqy")
_TICK = timedelta(microseconds=1)
_HALF_A_DAY = timedelta(hours=12)
_LAST_MICROSECOND = 999_999
_BY_WEEKDAY = frozenset({"TrendsQuery", "FunnelsQuery", "StickinessQuery"})
"""Insights whose numbers stay meaningful without the events of some weekdays."""
_WEEK = 7
_MAX_BUCKETS = 10_000
"""Allows a year of hours; minutes over months would produce results of many megabytes."""
_WHOLE_PERIOD = re.compile(r"[-+]?0*([wmqy])Start")
_COMPARE_TO = re.compile(r"-?0*([1-9][0-9]{0,5})([shdwmqyM])")


class DateSpan(msgspec.Struct, frozen=True):
    """A time range in the project's time zone, divided into intervals.

    It is empty, with ``end`` before ``start``, if all intervals were incomplete and excluded.
    ``days_of_week`` are the only weekdays whose events count, 1 for Monday; empty for all.
    """

    start: datetime
    end: datetime
    interval: str = "day"
    week_start_day: int = 0
    days_of_week: tuple[int, ...] = ()

    def buckets(self) -> list[datetime]:
        """The starts of its intervals.

        Raises:
            SourceError: there would be too many.
        """
        following, end = self.first(), _instant(self.end)
        starts: list[datetime] = []
        while _instant(following) <= end:
            starts.append(following)
            if len(starts) > _MAX_BUCKETS:
                text = f"The date range contains too many intervals of a {self.interval}"
                raise refused(text, attr="dateRange")
            following = step(following, 1, self.interval)
        return starts

    def first(self) -> datetime:
        """The start of the first interval."""
        return start_of(self.start, _UNITS[self.interval], self.week_start_day)

    def earlier(self, count: int) -> datetime:
        """The start of the interval ``count`` before the first."""
        return step(self.first(), -count, self.interval)

    def between(self, start: datetime, end: datetime) -> "DateSpan":
        """Another time range with the same interval."""
        return msgspec.structs.replace(self, start=start, end=end)

    def moved(self, count: int, unit: str) -> "DateSpan":
        """The range moved by some units (negative: earlier)."""
        start, end = shift(self.start, count, unit), shift(self.end, count, unit)
        if unit in _DAYS and self.start == start_of_day(self.start):  # 01:00 without a midnight
            start = start_of_day(start)
        if unit in _DAYS and self.end == end_of_day(self.end):  # the last hour may occur twice
            end = end_of_day(end)
        return self.between(start, end)

    def before(self) -> "DateSpan":
        """The range of the same length just before."""
        is_whole_days = self.end == end_of_day(self.end) and self.start == start_of_day(self.start)
        length = _instant(self.end) - _instant(self.start)
        if self.interval in _SECONDS and length < timedelta(days=1) and not is_whole_days:
            if self.end.microsecond == _LAST_MICROSECOND:  # the end of an interval: 15:59:59.999999
                length += _TICK
            return self.between(elapse(self.start, -length), elapse(self.end, -length))
        # Moved by whole days, so that weekdays and midnights stay aligned.
        return self.moved(-(self.end.date() - self.start.date()).days - 1, "d")

    def labels(self) -> list[str]:
        """Labels such as ``4-May-2026`` or ``4-May-2026 15:00``."""
        clock = " %H:%M" if self.interval in _SECONDS else ""
        clock += ":%S" if self.interval == "second" else ""
        return [f"{day.day}-{day.strftime('%b-%Y' + clock)}" for day in self.buckets()]

    def days(self) -> list[str]:
        """Days such as ``2026-05-04`` or ``2026-05-04 15:00:00``."""
        clock = " %H:%M:%S" if self.interval in _SECONDS else ""
        return [day.strftime("%Y-%m-%d" + clock) for day in self.buckets()]

    def on_days[T](self, items: Sequence[T], days: Sequence[int]) -> list[T]:
        """The items of intervals on these weekdays; all of them if intervals are not days."""
        if not days or self.interval != "day":
            return list(items)
        weekdays = [bucket.isoweekday() for bucket in self.buckets()]
        return [item for item, day in zip(items, weekdays, strict=True) if day in days]

    def condition(self, column: Expression | None = None) -> list[Expression]:
        """Conditions that ``timestamp`` is in the range: start, end, weekdays if limited."""
        column = column or field("timestamp")
        conditions: list[Expression] = [
            compare(">=", column, moment_constant(self.start)),
            compare("<=", column, moment_constant(self.end)),
        ]
        if self.days_of_week:
            conditions.append(compare("in", call("toDayOfWeek", column), array(self.days_of_week)))
        return conditions

    def index(self, column: Expression) -> Expression:
        """The number of the interval of ``column``, 0 for the first, negative before it."""
        seconds = _SECONDS.get(self.interval)
        if seconds is not None:  # elapsed time, so that hours stay hours when clocks change
            origin = constant(int(self.first().timestamp()))
            since = tree.ArithmeticOperation(
                left=call("toUnixTimestamp", column), right=origin, op="-"
            )
            return call("_toInt64", call("floor", call("divide", since, constant(seconds))))
        first = call("toDateTime", constant(as_text(self.first())))
        bucket = call("toDateTime", self.bucket(column))
        number = call("dateDiff", constant(self.interval), first, bucket)
        for following in self._after_missing_days():
            day = call("toDateTime", constant(as_text(following)))
            is_later = compare(">=", bucket, day)
            number = tree.ArithmeticOperation(left=number, right=is_later, op="-")
        return number

    def _after_missing_days(self) -> list[datetime]:
        """The days before which the calendar has one that did not occur.

        Samoa had no 30 December 2011, when it changed to the other side of the date line.
        """
        days = (self.end.date() - self.start.date()).days
        elapsed = start_of_day(self.end).astimezone(UTC) - start_of_day(self.start).astimezone(UTC)
        if self.interval != "day" or timedelta(days) - elapsed < _HALF_A_DAY:
            return []
        return [day for before, day in pairwise(self.buckets()) if (day - before).days > 1]

    def bucket(self, column: Expression) -> Expression:
        """The start of the interval of ``column``."""
        return call(_FUNCTIONS[self.interval], column)


def _instant(moment: datetime) -> datetime:
    """In UTC: times of one zone are compared by their wall times, some of which occur twice."""
    return moment.astimezone(UTC)


def step(moment: datetime, count: int, interval: str) -> datetime:
    """The start of the interval ``count`` steps later; hours and minutes are elapsed time."""
    if interval in _SECONDS:
        return elapse(moment, timedelta(seconds=count * _SECONDS[interval]))
    # The day of a start at 01:00 has no midnight, the one reached from it has.
    return start_of_day(shift(moment, count, _UNITS[interval]))


def span_of(
    query: Mapping[str, Any],
    context: QueryContext,
    *,
    interval: str = "day",
    has_start: bool = True,
) -> DateSpan:
    """The date range of an insight's ``dateRange`` and ``interval``.

    Args:
        query: the insight.
        context: the project.
        interval: the default interval.
        has_start: whether ``date_from`` has an effect.

    Raises:
        SourceError: an invalid date or interval, or an end before the start.
    """
    word = query.get("interval") or interval
    if word not in _UNITS:
        raise refused(f"Unknown interval '{word}'.{near(word, _UNITS)}", attr="interval")
    range_ = query.get("dateRange") or {}
    end = _end(range_, word, context)
    start = _start(range_, word, context, end)
    if has_start and _instant(start) > _instant(end):
        raise refused(
            f"The date range ends ({end:%Y-%m-%d %H:%M}) before it starts ({start:%Y-%m-%d %H:%M})",
            attr="dateRange__date_from" if range_.get("date_from") else "dateRange__date_to",
        )
    start = min(start, end, key=_instant)
    if range_.get("excludeIncompletePeriods"):
        running = start_of(clock_of(context).local(), _UNITS[word], context.week_start_day)
        end = min(end, elapse(running, -_TICK), key=_instant)
    days = _days_of_week(query, range_)
    return DateSpan(start, end, word, context.week_start_day, days)


def _days_of_week(query: Mapping[str, Any], range_: Mapping[str, Any]) -> tuple[int, ...]:
    days = tuple(sorted(set(range_.get("daysOfWeek") or [])))
    kind = query.get("kind")
    if days and kind not in _BY_WEEKDAY:
        text = f"{kind} cannot be limited to days of the week"
        raise refused(text, attr="dateRange__daysOfWeek")
    return days if len(days) < _WEEK else ()


def _start(
    range_: Mapping[str, Any], interval: str, context: QueryContext, end: datetime
) -> datetime:
    text = range_.get("date_from") or "-7d"
    if text == "all":
        return shift(end, -10, "y")  # callers that know the oldest event pass its day
    date = read_date(text, context, "dateRange__date_from")
    if range_.get("explicitDate") or date.is_edge or "minute" in {interval, date.form[:-1]}:
        return date.at
    in_hours = date.form == "hours" or (date.form == "time" and interval == "hour")
    return start_of(date.at, "h") if in_hours else start_of_day(date.at)


def _end(range_: Mapping[str, Any], interval: str, context: QueryContext) -> datetime:
    text = range_.get("date_to")
    date = ResolvedDate(clock_of(context).local(), "minutes")
    if text:
        date = read_date(text, context, "dateRange__date_to")
    if range_.get("explicitDate") or date.is_edge:
        return date.at
    if interval not in _SECONDS or date.form == "day":
        return end_of_day(date.at)
    return end_of(date.at, _UNITS[interval]) if date.is_relative else date.at


def previous_span(query: Mapping[str, Any], span: DateSpan) -> DateSpan:
    """The period that an insight is compared with.

    ``compare_to`` such as ``-1w`` moves the range. Without it, ``mStart`` and similar dates without
    an end are compared with the whole previous month, others with the preceding range of the same
    length.

    Raises:
        SourceError: an invalid ``compare_to``.
    """
    if by := compare_to(query):
        return span.moved(-by[0], by[1])
    range_ = query.get("dateRange") or {}
    whole = _WHOLE_PERIOD.fullmatch(range_.get("date_from") or "")
    if whole and not range_.get("date_to"):
        start = start_of_day(shift(span.start, -1, whole[1]))
        return span.between(start, elapse(span.start, -_TICK))
    return span.before()


def compare_to(query: Mapping[str, Any]) -> tuple[int, str] | None:
    """``compareFilter.compare_to`` as count and unit: ``-1w`` is ``(1, "w")``.

    Raises:
        SourceError: another form.
    """
    text = (query.get("compareFilter") or {}).get("compare_to")
    if not text:
        return None
    match = _COMPARE_TO.fullmatch(text)
    if match is None:
        attr = "compareFilter__compare_to"
        raise refused(f"compare_to must be like -1w, not '{text[:40]}'", attr=attr)
    return int(match[1]), match[2]
