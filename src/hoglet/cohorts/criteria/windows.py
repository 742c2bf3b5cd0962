"""Time windows of behavioral criteria.

Windows are rolling: they end now. Minutes and hours are elapsed time; longer units follow the
calendar of the project's time zone.

Source: docs/spec/data-and-queries.md#34-dynamic-cohorts and
docs/spec/hog-functions.md#9-rows-6-13.
"""

from datetime import datetime, timedelta
from typing import NamedTuple

from hoglet.cohorts.criteria.model import Behavior
from hoglet.hogql.errors import located, refused
from hoglet.kit.relative_dates import (
    DateClock,
    NotADate,
    elapse,
    end_of_day,
    resolve_date,
    shift,
    start_of_day,
)

_ELAPSED = {"minute": timedelta(minutes=1), "hour": timedelta(hours=1)}
_CALENDAR = {"day": "d", "week": "w", "month": "m", "year": "y"}


class TimeWindow(NamedTuple):
    """A time range; both bounds are inclusive."""

    start: datetime
    end: datetime


def back(moment: datetime, count: int, interval: str) -> datetime:
    """``moment`` minus a number of intervals, e.g. ``back(now, 7, "day")``."""
    if interval in _ELAPSED:
        return elapse(moment, -_ELAPSED[interval] * count)
    return shift(moment, -count, _CALENDAR[interval])


def window_of(leaf: Behavior, clock: DateClock) -> TimeWindow:
    """The window of a criterion: the last ``time_value`` intervals, or an explicit one.

    Raises:
        SourceError: an explicit bound that is not a date.
    """
    now = clock.local()
    if leaf.explicit_datetime is None:
        return TimeWindow(back(now, leaf.time_value, leaf.time_interval), now)
    with located("explicit_datetime"):
        start = _explicit(leaf.explicit_datetime, clock)
    if leaf.explicit_datetime_to is None:
        return TimeWindow(start, now)
    with located("explicit_datetime_to"):
        return TimeWindow(start, _explicit(leaf.explicit_datetime_to, clock, is_end=True))


def last_span(leaf: Behavior, window: TimeWindow) -> datetime:
    """The start of the last ``seq_time_value`` intervals of a window."""
    return back(window.end, leaf.seq_time_value, leaf.seq_time_interval)


def period_starts(leaf: Behavior, clock: DateClock) -> list[datetime]:
    """The bounds of the last periods, newest first; the first one is the start of today.

    Example:
        Three periods of a day on 10 January: the starts of 10, 9, 8 and 7 January.
    """
    today = start_of_day(clock.local())
    step, interval = leaf.time_value, leaf.time_interval
    starts = [back(today, step * count, interval) for count in range(leaf.total_periods + 1)]
    # Today may begin at 01:00, where clocks skip midnight.
    return starts if interval in _ELAPSED else [start_of_day(each) for each in starts]


def _explicit(text: str, clock: DateClock, *, is_end: bool = False) -> datetime:
    try:
        resolved = resolve_date(text, clock)
    except NotADate as error:
        raise refused(str(error)) from None
    return end_of_day(resolved.at) if is_end and resolved.form == "day" else resolved.at
