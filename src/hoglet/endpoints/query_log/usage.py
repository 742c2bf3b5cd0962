"""Usage of an endpoint in a range of days in the project's time zone."""

from datetime import date, datetime, timedelta
from typing import NotRequired, TypedDict, cast
from zoneinfo import ZoneInfo

from hoglet.access.principals import ProjectScope
from hoglet.endpoints.query_log.log import QueryLog
from hoglet.endpoints.service import EndpointService
from hoglet.kit.clock import Clock, iso_z
from hoglet.kit.errors import Invalid
from hoglet.warehouse.run_usage import RunUsage, Usage

DEFAULT_DAYS, MAX_DAYS = 30, 366
_AHEAD = timedelta(minutes=1)  # tolerance for the clocks of other processes


class UsageFigures(TypedDict):
    """Figures of runs; shares are from 0 to 1, null without successful runs."""

    count: int
    errors: int
    p50_ms: float | None
    p95_ms: float | None
    cache_hit_share: float | None
    materialized_share: float | None
    rows: int
    rows_read: int
    bytes_read: int


class UsageOfDay(UsageFigures):
    """The figures of a day: ``2026-01-05``."""

    day: str


class UsageBody(UsageFigures):
    """The figures of a span, ``version`` only if one was requested."""

    name: str
    after: str
    before: str
    version: NotRequired[int]
    days: list[UsageOfDay]


class EndpointUsage:
    """Computes the usage of endpoints.

    Args:
        service: finds endpoints.
        query_log: buffered entries of this process.
        runs: reads the query log.
        clock: the current time.
    """

    def __init__(
        self, service: EndpointService, query_log: QueryLog, runs: RunUsage, clock: Clock
    ) -> None:
        self._service = service
        self._query_log = query_log
        self._runs = runs
        self._clock = clock

    async def of(
        self, scope: ProjectScope, name: str, days: int | None, version: int | None = None
    ) -> UsageBody:
        """Usage in the last ``days`` days (30), including today, in total and by day.

        Args:
            scope: project and caller.
            name: the name of the endpoint.
            days: number of days.
            version: only runs of this version; then ``version`` is in the response too.

        Returns:
            ``{"name", "after", "count", …, "days": [{"day": "2026-01-05", "count": 3, …}]}``

        Raises:
            NotFound: no such endpoint or version.
            Invalid: more days than are stored.
        """
        endpoint = await self._service.read(scope, name, version)
        days = days or DEFAULT_DAYS
        if days > MAX_DAYS:
            raise Invalid(f"At most {MAX_DAYS} days can be requested.", attr="days")
        now = self._clock.now()
        midnight = _first_midnight(now, days, ZoneInfo(scope.project.timezone))
        # Before its creation, the name may have belonged to a deleted endpoint.
        after = max(midnight, endpoint.endpoint.created_at)
        await self._query_log.flush()
        whole, by_day = await self._runs.of(
            scope.project.id,
            name,
            after=after,
            before=now + _AHEAD,
            version=version,
            timezone=scope.project.timezone,
        )
        visible = [_day(midnight.date() + timedelta(days=number), by_day) for number in range(days)]
        span = {"name": name, "after": iso_z(after), "before": iso_z(now)}
        requested = {} if version is None else {"version": version}
        body = {**span, **requested, **_figures(whole), "days": visible}
        return cast("UsageBody", body)


def _first_midnight(now: datetime, days: int, zone: ZoneInfo) -> datetime:
    """The start of the first of ``days`` days that end today."""
    first = now.astimezone(zone).date() - timedelta(days=days - 1)
    return datetime(first.year, first.month, first.day, tzinfo=zone)


def _day(day: date, by_day: dict[date, Usage]) -> UsageOfDay:
    return {"day": day.isoformat(), **_figures(by_day.get(day, Usage()))}


def _figures(usage: Usage) -> UsageFigures:
    good = usage.runs - usage.errors
    return {
        "count": usage.runs,
        "errors": usage.errors,
        "p50_ms": usage.p50_ms,
        "p95_ms": usage.p95_ms,
        "cache_hit_share": round(usage.cached / good, 4) if good else None,
        "materialized_share": round(usage.materialized / good, 4) if good else None,
        "rows": usage.rows,
        "rows_read": usage.rows_read,
        "bytes_read": usage.bytes_read,
    }
