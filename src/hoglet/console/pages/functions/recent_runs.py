"""Recent activity of functions: runs by hour, the last run, the last error."""

from datetime import UTC, datetime, timedelta

import msgspec

from hoglet.console.api_client import Backend
from hoglet.console.pages.functions.logs import OF_EVENT

type Hours = dict[str, list[list[int]]]

_DAY = (
    "SELECT app_source_id, toStartOfHour(timestamp) AS hour, "
    "sumIf(count, metric_name = 'succeeded') AS good, sumIf(count, metric_name = 'failed') AS bad "
    "FROM app_metrics WHERE timestamp > now() - INTERVAL 24 HOUR "
    "GROUP BY app_source_id, hour ORDER BY hour LIMIT 50000"
)
_LAST_RUNS = (
    "SELECT app_source_id, max(timestamp) FROM app_metrics "
    "WHERE metric_name IN ('succeeded', 'failed') GROUP BY app_source_id LIMIT 10000"
)
_LAST_ERRORS = (
    "SELECT log_source_id, argMax(message, timestamp) FROM log_entries "
    "WHERE level = 'ERROR' AND timestamp > now() - INTERVAL 7 DAY "
    "GROUP BY log_source_id LIMIT 10000"
)


class RecentRuns(msgspec.Struct):
    """Per function: succeeded and failed runs by hour, the last run, the last error of 7 days."""

    hours: Hours = msgspec.field(default_factory=dict)
    last_run: dict[str, str] = msgspec.field(default_factory=dict)
    last_error: dict[str, str] = msgspec.field(default_factory=dict)


async def recent_runs(backend: Backend, now: datetime) -> RecentRuns:
    """The recent runs of the project's functions; parts that the key cannot read are empty."""
    return RecentRuns(
        await runs_by_hour(backend, now),
        await _by_function(backend, _LAST_RUNS),
        await _by_function(backend, _LAST_ERRORS),
    )


async def runs_by_hour(backend: Backend, now: datetime) -> Hours:
    """Succeeded and failed runs of 24 hours by function: ``{"<id>": [[3, 0], ...]}``."""
    reply = await backend.hogql(_DAY)
    start = now.astimezone(UTC).replace(minute=0, second=0, microsecond=0) - timedelta(hours=23)
    hours: Hours = {}
    for source, hour, good, bad in reply.body["results"] if reply.is_good else []:
        index = int((datetime.fromisoformat(hour) - start).total_seconds() // 3600)
        counts = hours.setdefault(source, [[0, 0] for _ in range(24)])
        if 0 <= index < 24:
            counts[index] = [int(good), int(bad)]
    return hours


async def _by_function(backend: Backend, query: str) -> dict[str, str]:
    reply = await backend.hogql(query)
    rows: list[tuple[str, str]] = reply.body["results"] if reply.is_good else []
    return {source: OF_EVENT.sub("", text) for source, text in rows}
