"""Applies the retention settings as TTLs of the tables at every start.

The engine deletes expired rows in the background: whole parts if possible, else by rewriting parts.
"""

import re

from hoglet.warehouse.cluster import on_cluster
from hoglet.warehouse.port import STARTUP, Warehouse
from hoglet.warehouse.schema import Retention

_TIME_COLUMNS = {
    "events": "timestamp",
    "log_entries": "timestamp",
    "app_metrics": "timestamp",
    "query_log": "event_time",
}
_DAYS = re.compile(r" TTL .*?toIntervalDay\((\d+)\)")
_ENGINES = """SELECT name, engine_full FROM system.tables
    WHERE database = currentDatabase() AND has({names:Array(String)}, name)"""


async def apply_retention(
    warehouse: Warehouse,
    retention: Retention,
    *,
    cluster: str | None = None,
    is_forced: bool = False,
) -> None:
    """Change the TTL of each table whose days differ from ``retention``.

    ``is_forced`` changes the TTL even if this node already has it, because other nodes may not.

    Idempotency: a table that already has its TTL is left alone.
    """
    days = {
        "events": retention.event_days,
        "log_entries": retention.log_days,
        "app_metrics": retention.metric_days,
        "query_log": retention.query_days,
    }
    suffix = "_local" if cluster else ""
    names = [table + suffix for table in days]
    rows = (await warehouse.query(_ENGINES, {"names": names}, budget=STARTUP)).rows
    engines: dict[str, str] = {str(name): str(engine) for name, engine in rows}
    for table, new_days in days.items():
        name = table + suffix
        if _days(engines[name]) != new_days or (is_forced and new_days is not None):
            change = _change(_TIME_COLUMNS[table], new_days)
            await warehouse.command(f"ALTER TABLE {name} {on_cluster(cluster)} {change}")


def _days(engine: str) -> int | None:
    """The TTL in days in a table's ``engine_full``; None without a TTL."""
    ttl = _DAYS.search(engine)
    return int(ttl.group(1)) if ttl else None


def _change(column: str, days: int | None) -> str:
    if days is None:
        return "REMOVE TTL"
    # Not toDateTime(column): it wraps around before 1970 and after 2106. Startup does not wait
    # until all parts are rewritten, which took 200 s for 1,300 small ones.
    return f"MODIFY TTL {column} + INTERVAL {days:d} DAY SETTINGS alter_sync = 0"
