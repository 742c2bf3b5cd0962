"""Which arguments of functions are timestamps, so that strings there are parsed.

``toStartOfMonth({variables.day})`` gets a string, because JSON has no dates.
"""

from hoglet.hogql.functions.registry import functions

_FIRST = frozenset(
    {
        "toYear", "toQuarter", "toMonth", "toDayOfYear", "toDayOfMonth", "toDayOfWeek", "toHour",
        "toMinute", "toSecond", "toMillisecond", "toLastDayOfMonth", "toLastDayOfWeek", "toMonday",
        "toISOYear", "toISOWeek", "toWeek", "toYearWeek", "toTimeZone", "timeSlot", "monthName",
        "formatDateTime", "formatDateTimeInJodaSyntax",
    }
)  # fmt: skip
_PREFIXES = ("toStartOf", "toYYYYMM", "toRelative", "add", "subtract")
_NOT = frozenset({"addDate", "subDate", "addTupleOfIntervals", "addressToLine"})
_SECOND = frozenset({"dateTrunc", "dateName"})


def _time_index(name: str) -> int | None:
    if name in _SECOND:
        return 1
    first = name in _FIRST or (name.startswith(_PREFIXES) and name not in _NOT)
    return 0 if first else None


_WITH_MODE = frozenset({"toStartOfWeek", "toLastDayOfWeek"})

ZONED: dict[str, int] = {
    row.name: 3 if row.clickhouse in _WITH_MODE else 2
    for row in functions()
    if row.clickhouse in _WITH_MODE
    or (_time_index(row.clickhouse) == 0 and (row.low, row.high) == (1, 1))
}
"""Functions of one timestamp that take a time zone: ``toHour(timestamp, 'UTC')``.

Function name to the number of arguments of a call with a time zone.
"""

TIME_PLACES: dict[str, int] = {
    row.name: index for row in functions() if (index := _time_index(row.clickhouse)) is not None
}
"""Function name to the index of its timestamp argument."""
