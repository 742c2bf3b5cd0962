"""Date functions over the years 1900 to 2299, recomputed in plain Python.

The engine's narrow types end at 1970, 2106 and 2149 and would answer with the nearest of these.
"""

import calendar
import random
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import msgspec
import pytest

from hoglet.hogql import compile_query
from support.hogql_generated import CONTEXT
from support.hogql_world import HogqlWorld

ZONES = ("UTC", "America/New_York", "Europe/Berlin", "Asia/Kolkata")
_DAY = timedelta(days=1)


def times() -> list[datetime]:
    """The ends of the engine's types, and random times with and without a fraction."""
    rng = random.Random(11)  # noqa: S311 (repeatable)
    moments = [
        datetime(1900, 1, 2, 3, 4, 5, tzinfo=UTC),
        datetime(1950, 3, 15, 10, 20, 30, 500_000, tzinfo=UTC),
        datetime(1969, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC),
        datetime(1970, 1, 1, tzinfo=UTC),
        datetime(2026, 3, 29, 12, 30, tzinfo=UTC),
        datetime(2106, 2, 7, 6, 28, 16, tzinfo=UTC),
        datetime(2149, 6, 7, tzinfo=UTC),
        datetime(2200, 7, 9, 10, 11, 12, 250_000, tzinfo=UTC),
        datetime(2299, 12, 30, 1, 2, 3, tzinfo=UTC),
    ]
    first = datetime(1905, 1, 1, tzinfo=UTC)
    for _ in range(60):
        seconds = rng.randrange(390 * 365 * 86_400)
        moments.append(first + timedelta(seconds=seconds, microseconds=rng.choice([0, 1, 654_321])))
    return moments


TIMES = times()


def at_midnight(day: date) -> str:
    return f"{day} 00:00:00"


def floor_minutes(minutes: int) -> Callable[[datetime], str]:
    return lambda at: f"{at:%Y-%m-%d %H}:{at.minute // minutes * minutes:02d}:00"


def monday(at: datetime) -> date:
    return at.date() - _DAY * at.weekday()


def sunday(at: datetime) -> date:
    return at.date() - _DAY * (at.isoweekday() % 7)


def last_of_month(at: datetime) -> date:
    return at.date().replace(day=calendar.monthrange(at.year, at.month)[1])


def quarter(at: datetime) -> date:
    return date(at.year, (at.month - 1) // 3 * 3 + 1, 1)


def days(at: datetime) -> int:
    return (at.date() - date(1970, 1, 1)).days


def seconds(at: datetime) -> int:
    return int((at - datetime(1970, 1, 1, tzinfo=UTC)) / timedelta(seconds=1))


def seconds_until_2300(at: datetime) -> int:
    end = datetime(2300, 1, 1, tzinfo=at.tzinfo)
    return seconds(end) - seconds(at.replace(microsecond=0))


EXPECTED: dict[str, Callable[[datetime], Any]] = {
    "toString(toDate(t))": lambda at: str(at.date()),
    "toString(toDate32(t))": lambda at: str(at.date()),
    "toString(toStartOfDay(t))": lambda at: at_midnight(at.date()),
    "toString(toStartOfWeek(t))": lambda at: str(sunday(at)),
    "toString(toStartOfWeek(t, 1))": lambda at: str(monday(at)),
    "toString(toMonday(t))": lambda at: str(monday(at)),
    "toString(toLastDayOfWeek(t))": lambda at: str(sunday(at) + 6 * _DAY),
    "toString(toStartOfMonth(t))": lambda at: str(at.date().replace(day=1)),
    "toString(toLastDayOfMonth(t))": lambda at: str(last_of_month(at)),
    "toString(toStartOfQuarter(t))": lambda at: str(quarter(at)),
    "toString(toStartOfYear(t))": lambda at: f"{at.year}-01-01",
    "toString(toStartOfISOYear(t))": lambda at: str(
        date.fromisocalendar(at.isocalendar()[0], 1, 1)
    ),
    "toString(toStartOfHour(t))": lambda at: f"{at:%Y-%m-%d %H}:00:00",
    "toString(toStartOfMinute(t))": lambda at: f"{at:%Y-%m-%d %H:%M}:00",
    "toString(toStartOfFiveMinutes(t))": floor_minutes(5),
    "toString(toStartOfTenMinutes(t))": floor_minutes(10),
    "toString(toStartOfFifteenMinutes(t))": floor_minutes(15),
    "toString(timeSlot(t))": floor_minutes(30),
    "toString(dateTrunc('second', t))": lambda at: f"{at:%Y-%m-%d %H:%M:%S}",
    "toString(dateTrunc('hour', t))": lambda at: f"{at:%Y-%m-%d %H}:00:00",
    "toString(dateTrunc('day', t))": lambda at: at_midnight(at.date()),
    "toString(dateTrunc('week', t))": lambda at: str(monday(at)),
    "toString(dateTrunc('month', t))": lambda at: str(at.date().replace(day=1)),
    "toString(dateTrunc('quarter', t))": lambda at: str(quarter(at)),
    "toString(dateTrunc('year', t))": lambda at: f"{at.year}-01-01",
    "toString(toStartOfInterval(t, toIntervalDay(1)))": lambda at: at_midnight(at.date()),
    "toString(toStartOfInterval(t, toIntervalMonth(1)))": lambda at: str(at.date().replace(day=1)),
    "toString(toStartOfInterval(t, toIntervalSecond(1)))": lambda at: f"{at:%Y-%m-%d %H:%M:%S}",
    "toUnixTimestamp(t)": seconds,
    "toInt(t)": seconds,
    "toYYYYMM(t)": lambda at: at.year * 100 + at.month,
    "toYYYYMMDD(t)": lambda at: int(f"{at:%Y%m%d}"),
    "toYYYYMMDDhhmmss(t)": lambda at: int(f"{at:%Y%m%d%H%M%S}"),
    "toYear(t)": lambda at: at.year,
    "toISOWeek(t)": lambda at: at.isocalendar()[1],
    "toISOYear(t)": lambda at: at.isocalendar()[0],
    "toDayOfYear(t)": lambda at: at.timetuple().tm_yday,
    "toDayOfWeek(t)": lambda at: at.isoweekday(),
    "toHour(t)": lambda at: at.hour,
    "toSecond(t)": lambda at: at.second,
    "toRelativeDayNum(t)": days,
    "toRelativeWeekNum(t)": lambda at: (days(at) + 3) // 7,
    "toRelativeMonthNum(t) - toRelativeMonthNum(toDate('1970-01-01'))": (
        lambda at: (at.year - 1970) * 12 + at.month - 1
    ),
    "toMonthNumSinceEpoch(t)": lambda at: (at.year - 1970) * 12 + at.month - 1,
    "toYearNumSinceEpoch(t)": lambda at: at.year - 1970,
    "toDaysSinceYearZero(t)": lambda at: at.toordinal() + 365,
    "formatDateTime(t, '%Y-%m-%d %H:%i:%s')": lambda at: f"{at:%Y-%m-%d %H:%M:%S}",
    "formatDateTime(toDate(t), '%Y-%m-%d')": lambda at: str(at.date()),
    "monthName(t)": lambda at: f"{at:%B}",
    "monthName(toDate(t))": lambda at: f"{at:%B}",
    "dateName('year', t)": lambda at: str(at.year),
    "dateName('weekday', t)": lambda at: f"{at:%A}",
    "formatDateTime(t, '%M %W %e')": lambda at: f"{at:%B} {at:%A} {at.day}",
    "toMinute(t)": lambda at: at.minute,
    "toMonth(t)": lambda at: at.month,
    "toQuarter(t)": lambda at: (at.month + 2) // 3,
    "toDayOfMonth(t)": lambda at: at.day,
    "toDaysInMonth(t)": lambda at: calendar.monthrange(at.year, at.month)[1],
    "toYearWeek(t, 3)": lambda at: at.isocalendar()[0] * 100 + at.isocalendar()[1],
    "extract(decade from t)": lambda at: at.year // 10,
    "to_char(t, 'YYYY-MM-DD HH24:MI:SS')": lambda at: f"{at:%Y-%m-%d %H:%M:%S}",
    "dateDiff('second', t, toDateTime('2300-01-01 00:00:00'))": seconds_until_2300,
    "dateDiff('day', t, toDateTime('2026-01-01 00:00:00'))": (
        lambda at: (date(2026, 1, 1) - at.date()).days
    ),
    "dateDiff('month', toDate(t), toDate('2026-01-01'))": (
        lambda at: (2026 - at.year) * 12 + 1 - at.month
    ),
    "toDate(t) - toDate('2026-01-01')": lambda at: (at.date() - date(2026, 1, 1)).days,
    "toString(toDate(t) + 1)": lambda at: str(at.date() + _DAY),
    "toString(toDateTime(toDate(t)))": lambda at: at_midnight(at.date()),
    "toString(toDate(toString(toDate(t))))": lambda at: str(at.date()),
    "toString(makeDate(toYear(t), toMonth(t), toDayOfMonth(t)))": lambda at: str(at.date()),
    "toString(makeDateTime(toYear(t), toMonth(t), toDayOfMonth(t), 0, 0, 0))": (
        lambda at: at_midnight(at.date())
    ),
    "toString(YYYYMMDDToDate(toYYYYMMDD(t)))": lambda at: str(at.date()),
    "toString(fromDaysSinceYearZero(toDaysSinceYearZero(t)))": lambda at: str(at.date()),
    "toUnixTimestamp(fromUnixTimestamp(toUnixTimestamp(t)))": seconds,
    "toString(parseDateTime(toString(toDate(t)), '%Y-%m-%d'))": lambda at: at_midnight(at.date()),
    "toString(toDate(t)::date)": lambda at: str(at.date()),
    "t >= '1970-01-01'": lambda at: int(at.date() >= date(1970, 1, 1)),
    "toDate(t) >= '2149-06-07'": lambda at: int(at.date() >= date(2149, 6, 7)),
    "toDate(t) > toDate('2106-02-07')": lambda at: int(at.date() > date(2106, 2, 7)),
    "toStartOfMonth(t) = toStartOfMonth(toDate(t))": lambda _at: 1,
    "toDate(t) in (toDate('1970-01-01'), toDate('2149-06-06'))": (
        lambda at: int(at.date() in {date(1970, 1, 1), date(2149, 6, 6)})
    ),
}
"""Expressions over the timestamp ``t``, and their values at a local time."""


@pytest.mark.parametrize("zone", ZONES)
def test_values_are_those_of_python(hogql_world: HogqlWorld, zone: str) -> None:
    context = msgspec.structs.replace(CONTEXT, timezone=zone)
    columns = ", ".join(f"{expression} AS v{n}" for n, expression in enumerate(EXPECTED))
    texts = [f"{at:%Y-%m-%dT%H:%M:%S.%f}Z" for at in TIMES]
    query = (
        f"SELECT {columns} FROM (SELECT number, toDateTime(arrayElement({{texts}}, number + 1)) "
        f"AS t FROM numbers({len(TIMES)}) ORDER BY number)"
    )
    rows = hogql_world.raw(compile_query(query, context=context, values={"texts": texts}))

    wrong = [
        f"{expression} at {at.isoformat()}: {actual!r}, expected {value(local)!r}"
        for at, row in zip(TIMES, rows, strict=True)
        for local in [at.astimezone(ZoneInfo(zone))]
        for (expression, value), actual in zip(EXPECTED.items(), row, strict=True)
        if actual != value(local)
    ]
    assert wrong == []
