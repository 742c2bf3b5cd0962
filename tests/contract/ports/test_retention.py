"""Retention settings change the TTL of the tables that differ, and only of those."""

import asyncio
import time
from datetime import UTC, datetime, timedelta

import pytest
from msgspec.structs import replace

from hoglet.kit.errors import HogletError
from hoglet.warehouse import ClickHouseWarehouse, Retention
from hoglet.warehouse.retention import apply_retention
from support.warehouses import KEEP

_CENTURY = 36_500


@pytest.fixture
async def kept_events(warehouse: ClickHouseWarehouse):
    """The warehouse of all tests, which keeps its events afterwards."""
    yield warehouse
    await apply_retention(warehouse, KEEP)


async def _engine(warehouse: ClickHouseWarehouse, table: str) -> str:
    of_table = "database = currentDatabase() AND name = {name:String}"
    sql = f"SELECT engine_full FROM system.tables WHERE {of_table}"
    return (await warehouse.query(sql, {"name": table})).rows[0][0]


async def test_days_are_changed_and_taken_away(kept_events: ClickHouseWarehouse) -> None:
    assert "TTL" not in await _engine(kept_events, "events")

    await apply_retention(kept_events, replace(KEEP, event_days=_CENTURY))
    assert "TTL timestamp + toIntervalDay(36500)" in await _engine(kept_events, "events")
    await apply_retention(kept_events, replace(KEEP, event_days=_CENTURY + 1))
    assert "TTL timestamp + toIntervalDay(36501)" in await _engine(kept_events, "events")
    await apply_retention(kept_events, KEEP)
    assert "TTL" not in await _engine(kept_events, "events")


async def test_every_table_follows_its_setting(kept_events: ClickHouseWarehouse) -> None:
    days = Retention(event_days=None, log_days=9_001, metric_days=9_002, query_days=9_003)

    await apply_retention(kept_events, days)

    for table, expected in {"log_entries": 9_001, "app_metrics": 9_002, "query_log": 9_003}.items():
        assert f"toIntervalDay({expected})" in await _engine(kept_events, table)


async def test_expired_events_go_and_odd_times_stay(
    kept_events: ClickHouseWarehouse, fresh_project_id: int
) -> None:
    """An event from 2150 is not expired: seconds since 1970 as 32 bits would wrap around."""
    times = {
        "expired": datetime.now(UTC) - timedelta(days=_CENTURY + 2),
        "recent": datetime.now(UTC),
        "future": datetime(2150, 1, 1, tzinfo=UTC),
    }
    await apply_retention(kept_events, replace(KEEP, event_days=_CENTURY))
    await kept_events.insert(
        "events",
        ["project_id", "event", "timestamp"],
        [[fresh_project_id, name, time] for name, time in times.items()],
    )

    await _merge_events(kept_events)

    sql = "SELECT event FROM events WHERE project_id = {p:Int64} ORDER BY event"
    rows = (await kept_events.query(sql, {"p": fresh_project_id})).rows
    assert [event for (event,) in rows] == ["future", "recent"]


async def _merge_events(warehouse: ClickHouseWarehouse) -> None:
    """Merge all parts of the events; the engine refuses while it applies the new TTL to one."""
    deadline = time.monotonic() + 60
    while True:
        try:
            await warehouse.command(
                "OPTIMIZE TABLE events FINAL SETTINGS optimize_throw_if_noop = 1"
            )
        except HogletError:
            assert time.monotonic() < deadline
            await asyncio.sleep(0.2)
        else:
            return
