"""Parameters and shapes of functions' logs and metrics.

Source: docs/spec/hog-functions.md#93-logs, docs/spec/hog-functions.md#94-metrics and
docs/spec/hog-functions.md#95-metricstotals.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Literal, TypedDict
from zoneinfo import ZoneInfo

from hoglet.kit.clock import iso_z, parse_instant
from hoglet.kit.errors import Invalid
from hoglet.kit.relative_dates import DateClock, NotADate, resolve_date
from hoglet.warehouse.telemetry import LogEntry, LogFilters, MetricFilters
from hoglet.web.openapi import LogLine

LOG_SOURCE = "hog_function"
"""``log_source`` and ``app_source`` of functions in the warehouse."""
DEFAULT_LOGS = 50
MAX_LOGS = 500
_INTERVALS = ("hour", "day", "week")
_BREAKDOWNS = ("name", "kind")


def read_log_filters(query: Mapping[str, str]) -> LogFilters:
    """Parse the parameters of the logs route.

    Raises:
        Invalid: an invalid limit or time; attr is the parameter.
    """
    return LogFilters(
        limit=_limit(query.get("limit")),
        after=_instant(query, "after"),
        before=_instant(query, "before"),
        levels=[level.upper() for level in _comma_list(query.get("level"))],
        search=query.get("search") or None,
        instance_id=query.get("instance_id") or None,
    )


def read_metric_filters(
    query: Mapping[str, str], *, clock: DateClock, with_instance: bool = True
) -> MetricFilters:
    """Parse the parameters of the metrics routes.

    Raises:
        Invalid: an invalid time or breakdown; attr is the parameter.
    """
    breakdown = query.get("breakdown_by") or "kind"
    if breakdown not in _BREAKDOWNS:
        raise _not_a_choice(breakdown, "breakdown_by")
    return MetricFilters(
        after=_relative(query.get("after") or "-7d", "after", clock),
        before=_relative(query.get("before"), "before", clock),
        names=_comma_list(query.get("name")),
        kinds=_comma_list(query.get("kind")),
        breakdown_by=breakdown,
        instance_id=(query.get("instance_id") or None) if with_instance else None,
    )


def read_interval(query: Mapping[str, str]) -> Literal["hour", "day", "week"]:
    """Parse ``interval``.

    Raises:
        Invalid: code ``invalid_choice``, attr ``interval``.
    """
    interval = query.get("interval") or "day"
    if interval not in _INTERVALS:
        raise _not_a_choice(interval, "interval")
    return interval


class LogPage(TypedDict):
    """The response of the logs route; ``count`` is the number of lines."""

    count: int
    next: None
    previous: None
    results: list[LogLine]


def log_objects(entries: list[LogEntry]) -> LogPage:
    """Log entries in the form of the API."""
    results: list[LogLine] = [
        {
            "log_source_id": entry.source_id,
            "instance_id": entry.instance_id,
            "timestamp": iso_z(entry.timestamp),
            "level": entry.level.upper(),
            "message": entry.message,
        }
        for entry in entries
    ]
    return {"count": len(results), "next": None, "previous": None, "results": results}


def _limit(text: str | None) -> int:
    if not text:
        return DEFAULT_LOGS
    try:
        limit = int(text)
    except ValueError:
        raise Invalid("A valid integer is required.", attr="limit") from None
    if limit < 1:
        detail = "Ensure this value is greater than or equal to 1."
        raise Invalid(detail, code="min_value", attr="limit")
    if limit > MAX_LOGS:
        detail = f"Ensure this value is less than or equal to {MAX_LOGS}."
        raise Invalid(detail, code="max_value", attr="limit")
    return limit


def _instant(query: Mapping[str, str], name: str) -> datetime | None:
    text = query.get(name)
    if not text:
        return None
    moment = parse_instant(text)
    if moment is None:
        raise Invalid("Enter an ISO 8601 time.", attr=name)
    return moment


def _relative(text: str | None, attr: str, clock: DateClock) -> datetime:
    """A time in a query string, where an unescaped ``+`` becomes a space."""
    if not text:
        return clock.now
    if (instant := parse_instant(text, ZoneInfo(clock.zone))) is not None:
        return instant
    try:
        return resolve_date("+" + text[1:] if text[0] == " " else text, clock).at
    except NotADate as error:
        raise Invalid(str(error), attr=attr) from None


def _comma_list(text: str | None) -> list[str]:
    return [part.strip() for part in (text or "").split(",") if part.strip()]


def _not_a_choice(value: str, attr: str) -> Invalid:
    return Invalid(f'"{value}" is not a valid choice.', code="invalid_choice", attr=attr)
