"""Date ranges of insights: rounding, intervals, and the compared period."""

from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from hoglet.hogql import QueryContext, compile_query
from hoglet.hogql.frontend.print_hogql import print_expression
from hoglet.hogql.insights.date_range import DateSpan, previous_span, span_of
from hoglet.hogql.insights.plan import build_insight
from hoglet.kit.errors import SourceError
from hoglet.kit.relative_dates import end_of_day
from hoglet.syntax import tree
from support.hogql_world import HogqlWorld

WEDNESDAY = datetime(2026, 1, 14, 15, 30, 20, tzinfo=UTC)
TICK = timedelta(microseconds=1)
DAY_END = "23:59:59.999999"


def context_of(now: datetime = WEDNESDAY, zone: str = "UTC", monday: int = 0) -> QueryContext:
    return QueryContext(project_id=1, now=now, timezone=zone, week_start_day=monday)


def span(dates: dict[str, Any], interval: str = "day", **more: Any) -> DateSpan:
    return span_of({"dateRange": dates, "interval": interval}, context_of(**more))


def short(moment: datetime) -> str:
    return moment.strftime("%m-%d %H:%M:%S") + (".999999" if moment.microsecond else "")


@pytest.mark.parametrize(
    ("text", "interval", "expected"),
    [
        ("-7d", "day", "01-07 00:00:00"),
        ("-7d", "week", "01-07 00:00:00"),
        ("-7d", "month", "01-07 00:00:00"),
        ("-7d", "hour", "01-07 00:00:00"),
        ("-1d", "minute", "01-13 15:30:20"),
        ("-5h", "day", "01-14 10:00:00"),
        ("-5h", "hour", "01-14 10:00:00"),
        ("-5h", "minute", "01-14 10:30:20"),
        ("-90M", "day", "01-14 14:00:20"),
        ("-90M", "hour", "01-14 14:00:20"),
        ("mStart", "hour", "01-01 00:00:00"),
        ("2026-01-05", "hour", "01-05 00:00:00"),
        ("2026-01-05T10:20", "day", "01-05 00:00:00"),
        ("2026-01-05T10:20", "hour", "01-05 10:00:00"),
        ("2026-01-14T10:20", "minute", "01-14 10:20:00"),
    ],
)
def test_the_beginning(text: str, interval: str, expected: str) -> None:
    assert short(span({"date_from": text}, interval).start) == expected


@pytest.mark.parametrize(
    ("text", "interval", "expected"),
    [
        (None, "day", f"01-14 {DAY_END}"),
        (None, "week", f"01-14 {DAY_END}"),
        (None, "hour", "01-14 15:59:59.999999"),
        (None, "minute", "01-14 15:30:59.999999"),
        ("-1d", "day", f"01-13 {DAY_END}"),
        ("-1d", "hour", "01-13 15:59:59.999999"),
        ("-1d", "minute", "01-13 15:30:59.999999"),
        ("-2h", "day", f"01-14 {DAY_END}"),
        ("-2h", "hour", "01-14 13:59:59.999999"),
        ("dStart", "day", "01-14 00:00:00"),
        ("-1dEnd", "hour", f"01-13 {DAY_END}"),
        ("2026-01-13", "day", f"01-13 {DAY_END}"),
        ("2026-01-13", "hour", f"01-13 {DAY_END}"),
        ("2026-01-13T10:20", "day", f"01-13 {DAY_END}"),
        ("2026-01-13T10:20", "hour", "01-13 10:20:00"),
    ],
)
def test_the_end(text: str | None, interval: str, expected: str) -> None:
    dates = {"date_from": "2026-01-12T00:00", "date_to": text}

    assert short(span(dates, interval).end) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [("-7d", "01-07 15:30:20"), ("-5h", "01-14 10:30:20"), ("2026-01-05T10:20", "01-05 10:20:00")],
)
@pytest.mark.parametrize("interval", ["minute", "hour", "day", "week", "month"])
def test_explicit_dates_are_not_rounded(text: str, interval: str, expected: str) -> None:
    date_range = span({"date_from": text, "explicitDate": True}, interval)

    assert (short(date_range.start), short(date_range.end)) == (expected, "01-14 15:30:20")


@pytest.mark.parametrize(
    ("interval", "end"),
    [
        ("minute", "01-14 15:29:59.999999"),
        ("hour", "01-14 14:59:59.999999"),
        ("day", f"01-13 {DAY_END}"),
        ("week", f"01-10 {DAY_END}"),
        ("month", f"12-31 {DAY_END}"),
    ],
)
def test_incomplete_periods_are_left_out(interval: str, end: str) -> None:
    date_range = span({"date_from": "2025-11-01", "excludeIncompletePeriods": True}, interval)
    earlier = span(
        {"date_from": "2025-11-01", "date_to": "2025-11-05", "excludeIncompletePeriods": True},
        interval,
    )

    assert short(date_range.end) == end
    assert short(earlier.end) == f"11-05 {DAY_END}"


def test_a_range_with_nothing_but_the_running_period_is_empty() -> None:
    dates = {"date_from": "dStart", "excludeIncompletePeriods": True}
    query = {"kind": "TrendsQuery", "series": [{"event": "a"}], "dateRange": dates}

    results: Any = build_insight(query, context_of()).shape([[]])
    (line,) = results

    assert (line["data"], line["days"], line["count"]) == ([], [], 0)


@pytest.mark.parametrize(
    ("dates", "first", "last"),
    [
        ({"date_from": "mStart"}, "12-01 00:00:00", f"12-31 {DAY_END}"),
        ({"date_from": "0mStart"}, "12-01 00:00:00", f"12-31 {DAY_END}"),
        ({"date_from": "wStart"}, "01-04 00:00:00", f"01-10 {DAY_END}"),
        ({"date_from": "qStart"}, "10-01 00:00:00", f"12-31 {DAY_END}"),
        ({"date_from": "yStart"}, "01-01 00:00:00", f"12-31 {DAY_END}"),
        ({"date_from": "mStart", "date_to": "2026-01-10"}, "12-22 00:00:00", f"12-31 {DAY_END}"),
        ({"date_from": "-7d"}, "12-30 00:00:00", f"01-06 {DAY_END}"),
        ({"date_from": "dStart"}, "01-13 00:00:00", f"01-13 {DAY_END}"),
        ({"date_from": "-1mStart", "date_to": "-1mEnd"}, "10-31 00:00:00", f"11-30 {DAY_END}"),
    ],
)
def test_the_period_before(dates: dict[str, Any], first: str, last: str) -> None:
    query = {"dateRange": dates, "compareFilter": {"compare": True}}

    previous = previous_span(query, span(dates))

    assert (short(previous.start), short(previous.end)) == (first, last)


@pytest.mark.parametrize(
    ("dates", "interval", "first", "last"),
    [
        ({"date_from": "2026-01-10", "date_to": "2026-01-10"}, "hour", "09 00:00", "09 23:59"),
        ({"date_from": "dStart", "date_to": "dEnd"}, "minute", "13 00:00", "13 23:59"),
        ({"date_from": "-3h"}, "hour", "14 08:00", "14 11:59"),
        ({"date_from": "-3h", "date_to": "-1h"}, "hour", "14 09:00", "14 11:59"),
    ],
)
def test_hours_before_are_as_many_and_none_twice(
    dates: dict[str, Any], interval: str, first: str, last: str
) -> None:
    current = span(dates, interval)

    previous = previous_span({}, current)

    assert len(previous.buckets()) == len(current.buckets())
    assert [f"{each:%d %H:%M}" for each in (previous.start, previous.end)] == [first, last]
    assert previous.start.microsecond == 0
    assert previous.end < current.start


@pytest.mark.parametrize(
    ("by", "first", "last"),
    [
        ("-1w", "12-31 00:00:00", f"01-07 {DAY_END}"),
        ("1w", "12-31 00:00:00", f"01-07 {DAY_END}"),
        ("-1m", "12-07 00:00:00", f"12-14 {DAY_END}"),
        ("-1y", "01-07 00:00:00", f"01-14 {DAY_END}"),
        ("-2d", "01-05 00:00:00", f"01-12 {DAY_END}"),
    ],
)
def test_compared_with_another_time(by: str, first: str, last: str) -> None:
    query = {"compareFilter": {"compare": True, "compare_to": by}}

    previous = previous_span(query, span({"date_from": "-7d"}))

    assert (short(previous.start), short(previous.end)) == (first, last)


@pytest.mark.parametrize("by", ["+1w", "-w", "-1W", "wStart", "-1wStart", "soon", "-1.5d", " -1w"])
def test_what_cannot_be_compared_with(by: str) -> None:
    query = {"compareFilter": {"compare": True, "compare_to": by}}

    with pytest.raises(SourceError) as error:
        previous_span(query, span({}))

    assert error.value.attr == "compareFilter__compare_to"


def test_the_day_before_a_change_of_clocks_is_a_whole_day() -> None:
    now = datetime(2026, 3, 30, 12, tzinfo=UTC)
    date_range = span({"date_from": "dStart"}, now=now, zone="Europe/Berlin")

    before = previous_span({}, date_range)

    assert before.end - before.start + TICK == timedelta(days=1)  # on the clock of the wall
    assert before.end.timestamp() - before.start.timestamp() == pytest.approx(23 * 3600)


@pytest.mark.parametrize(
    ("monday", "first"),
    [(0, ["01-04", "01-11"]), (1, ["01-05", "01-12"])],
    ids=["sunday", "monday"],
)
def test_weeks_start_where_the_project_says(monday: int, first: list[str]) -> None:
    date_range = span({"date_from": "2026-01-06"}, "week", monday=monday)

    assert [short(each)[:5] for each in date_range.buckets()] == first


@pytest.mark.parametrize(("monday", "mode"), [(0, "(x)"), (1, "(x, 3)")])
def test_start_of_week_without_a_mode(monday: int, mode: str) -> None:
    context = context_of(monday=monday)
    plain = "SELECT toStartOfWeek(toDate(event)) FROM events"
    moded = "SELECT toStartOfWeek(toDate(event), 1) FROM events"

    sql = compile_query(plain, context=context).sql
    given = compile_query(moded, context=context).sql

    assert (", 3)" in sql) == (mode == "(x, 3)")
    assert ", 3)" not in given


def test_an_unknown_interval_is_refused_with_the_nearest() -> None:
    with pytest.raises(SourceError, match="Did you mean 'month'") as error:
        span({}, "moth")

    assert error.value.attr == "interval"


def test_starts_after_a_day_without_midnight_are_midnights() -> None:
    """Clocks of Santiago skip the first hour of September 6."""
    dates = {"date_from": "2026-09-06", "date_to": "2026-09-14"}

    weeks = span(dates, "week", zone="America/Santiago")

    assert [short(each) for each in weeks.buckets()] == ["09-06 01:00:00", "09-13 00:00:00"]
    assert short(weeks.earlier(1)) == "08-30 00:00:00"
    assert short(previous_span({}, weeks).start) == "08-28 00:00:00"


@pytest.mark.parametrize(
    ("zone", "dates", "query", "first", "last"),
    [
        # The last hour of October 29 occurs twice.
        (
            "Africa/Cairo",
            {"date_from": "2026-11-01", "date_to": "2026-11-01"},
            {"compareFilter": {"compare_to": "-3d"}},
            "2026-10-28T21:00",
            "2026-10-29T22:00",
        ),
        (
            "Africa/Cairo",
            {"date_from": "2026-10-30", "date_to": "2026-10-30"},
            {},
            "2026-10-28T21:00",
            "2026-10-29T22:00",
        ),
        # Clocks skip the first hour of September 6, a Sunday.
        (
            "America/Santiago",
            {"date_from": "wStart"},
            {"dateRange": {"date_from": "wStart"}},
            "2026-08-30T04:00",
            "2026-09-06T04:00",
        ),
    ],
)
def test_days_before_are_whole_days(
    zone: str, dates: dict[str, Any], query: dict[str, Any], first: str, last: str
) -> None:
    now = datetime(2026, 9, 8, 12, tzinfo=UTC)

    previous = previous_span(query, span(dates, zone=zone, now=now))

    start, end = (each.astimezone(UTC) for each in (previous.start, previous.end))
    assert [f"{each:%Y-%m-%dT%H:%M}" for each in (start, end + TICK)] == [first, last]


@pytest.mark.parametrize("now", ["2026-10-25T04:30", "2026-03-29T03:30"])
def test_the_hours_before_a_change_of_clocks_are_as_many(now: str) -> None:
    moment = datetime.fromisoformat(now).replace(tzinfo=UTC)
    current = span({"date_from": "-5h"}, "hour", zone="Europe/Berlin", now=moment)

    previous = previous_span({}, current)

    assert len(previous.buckets()) == len(current.buckets())
    assert previous.end.astimezone(UTC) + TICK == current.start.astimezone(UTC)


@pytest.mark.parametrize(
    ("last", "display", "first"),
    [
        ("2026-09-07", "ActionsLineGraph", "2026-08-30 00:00:00"),
        ("2026-09-06", "BoldNumber", "2026-08-31 00:00:00"),
    ],
)
def test_windows_before_a_day_without_midnight_begin_at_midnight(
    last: str, display: str, first: str
) -> None:
    """Clocks of Santiago skip the first hour of September 6."""
    context = context_of(zone="America/Santiago")
    query = {
        "kind": "TrendsQuery",
        "series": [{"kind": "EventsNode", "event": "e", "math": "weekly_active"}],
        "dateRange": {"date_from": "2026-09-05", "date_to": last},
        "trendsFilter": {"display": display},
    }

    (plan,) = build_insight(query, context).queries
    compiled = compile_query(plan, context=context)

    starts = [str(each)[:19] for each in compiled.params.values() if str(each)[:7] == first[:7]]
    assert starts == [first]


@pytest.mark.parametrize(
    ("first", "last", "interval", "count"),
    [
        ("2026-10-25T01:00+02:00", "2026-10-25T02:30+02:00", "hour", 2),
        ("2026-10-25T01:00+02:00", "2026-10-25T02:30+01:00", "hour", 3),
        ("2026-10-25T02:00+02:00", "2026-10-25T02:05+01:00", "minute", 66),
        ("2026-10-25T02:45+02:00", "2026-10-25T02:15+01:00", "minute", 31),
    ],
)
def test_intervals_end_within_an_hour_that_occurs_twice(
    first: str, last: str, interval: str, count: int
) -> None:
    current = span({"date_from": first, "date_to": last}, interval, zone="Europe/Berlin")

    assert len(current.buckets()) == count


def test_hours_after_a_change_of_half_an_hour(hogql_world: HogqlWorld) -> None:
    """In Lord Howe, the hour after 01:00 is 02:30, the hours of the next days too."""
    dates = {"date_from": "2026-10-04", "date_to": "2026-10-05"}
    hours = span(dates, "hour", zone="Australia/Lord_Howe")
    starts = [int(each.timestamp()) for each in hours.buckets()]
    times = [starts[0] - 1, *starts, *(each + 3599 for each in starts)]
    index = print_expression(hours.index(tree.Field(chain=("at",))))
    rows = f"select fromUnixTimestamp(arrayJoin({times})) as at"

    query = f"select groupArray({index}) from ({rows})"
    compiled = compile_query(query, context=context_of(zone="Australia/Lord_Howe"))

    assert hogql_world.raw(compiled) == [[[-1, *range(len(starts)), *range(len(starts))]]]


@pytest.mark.parametrize(
    ("zone", "first", "last"),
    [
        ("Pacific/Apia", "2011-12-27", "2012-01-02"),  # without December 30
        ("Pacific/Kwajalein", "1993-08-18", "1993-08-24"),  # without August 21
        ("America/Santiago", "2026-09-04", "2026-09-08"),  # September 6 begins at 01:00
        ("Africa/Cairo", "2026-04-22", "2026-04-26"),  # April 24 begins at 01:00
        ("America/Havana", "2026-10-30", "2026-11-03"),  # midnight of November 1 occurs twice
    ],
)
def test_days_are_those_that_occurred(
    hogql_world: HogqlWorld, zone: str, first: str, last: str
) -> None:
    days = span({"date_from": first, "date_to": last}, zone=zone)
    index = print_expression(days.index(tree.Field(chain=("at",))))
    start, end = (datetime.fromisoformat(each).replace(tzinfo=UTC) for each in (first, last))
    hours = [start + timedelta(hours=n) for n in range(-24, 24 * ((end - start).days + 2))]
    local = [hour.astimezone(ZoneInfo(zone)) for hour in hours]
    seen = [each for each in local if first <= f"{each:%Y-%m-%d}" <= last]
    occurred = sorted({f"{each:%Y-%m-%d}" for each in seen})

    times = [int(each.timestamp()) for each in seen]
    rows = f"select fromUnixTimestamp(arrayJoin({times})) as at"
    query = f"select groupArray({index}) from ({rows})"
    compiled = compile_query(query, context=context_of(zone=zone))

    assert days.days() == occurred
    assert hogql_world.raw(compiled) == [[[occurred.index(f"{each:%Y-%m-%d}") for each in seen]]]
    after = [end_of_day(each).astimezone(UTC) + TICK for each in days.buckets()[:-1]]
    assert after == [each.astimezone(UTC) for each in days.buckets()[1:]]
