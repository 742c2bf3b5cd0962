"""Logs and metrics as the routes need them.

Source: docs/spec/hog-functions.md#93-logs and docs/spec/hog-functions.md#94-metrics.
"""

from datetime import UTC, datetime, timedelta

import pytest

from hoglet.warehouse import Warehouse
from hoglet.warehouse.telemetry import (
    AppMetric,
    LogEntry,
    LogFilters,
    MetricFilters,
    Telemetry,
)

AT = datetime(2026, 1, 7, 12, 0, 0, 5000, tzinfo=UTC)
RECENT = datetime.now(UTC)  # logs expire, so not a fixed day


@pytest.fixture
async def logged(warehouse: Warehouse, fresh_project_id: int) -> Telemetry:
    telemetry = Telemetry(warehouse)
    lines = [("DEBUG", "Started"), ("INFO", "half WAY"), ("ERROR", "it's gone")]
    await telemetry.write_logs(
        [
            LogEntry(
                fresh_project_id,
                "endpoint",
                "a",
                f"run-{n}",
                RECENT + timedelta(milliseconds=n),
                *line,
            )
            for n, line in enumerate(lines)
        ]
    )
    return telemetry


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        (LogFilters(), ["it's gone", "half WAY", "Started"]),
        (LogFilters(limit=1), ["it's gone"]),
        (LogFilters(levels=["DEBUG", "INFO"]), ["half WAY", "Started"]),
        (LogFilters(search="Way"), ["half WAY"]),
        (LogFilters(search="it's"), ["it's gone"]),
        (LogFilters(search="%"), []),
        (LogFilters(instance_id="run-0"), ["Started"]),
        (LogFilters(after=RECENT), ["it's gone", "half WAY"]),
        (LogFilters(before=RECENT + timedelta(milliseconds=1)), ["Started"]),
    ],
)
async def test_log_filters(
    logged: Telemetry, fresh_project_id: int, filters: LogFilters, expected: list[str]
) -> None:
    lines = await logged.read_logs(fresh_project_id, "endpoint", "a", filters)

    assert [entry.message for entry in lines] == expected


async def test_logs_of_others_are_not_seen(logged: Telemetry, fresh_project_id: int) -> None:
    assert await logged.read_logs(fresh_project_id + 1, "endpoint", "a", LogFilters()) == []
    assert await logged.read_logs(fresh_project_id, "hog_function", "a", LogFilters()) == []
    assert await logged.read_logs(fresh_project_id, "endpoint", "b", LogFilters()) == []


@pytest.fixture
async def counted(warehouse: Warehouse, fresh_project_id: int) -> Telemetry:
    telemetry = Telemetry(warehouse)
    await telemetry.write_metrics(
        [
            AppMetric(fresh_project_id, "hog_function", "f", AT, "success", "succeeded", 2),
            AppMetric(
                fresh_project_id, "hog_function", "f", AT - timedelta(days=2), "failure", "failed"
            ),
            AppMetric(
                fresh_project_id, "hog_function", "f", AT, "success", "succeeded", 1, "run-1"
            ),
        ]
    )
    return telemetry


async def test_metrics_by_day_fill_the_gaps(counted: Telemetry, fresh_project_id: int) -> None:
    filters = MetricFilters(AT - timedelta(days=3), AT)
    series = await counted.read_metrics(fresh_project_id, "hog_function", "f", filters)

    assert series.as_json() == {
        "labels": ["2026-01-04", "2026-01-05", "2026-01-06", "2026-01-07"],
        "series": [
            {"name": "failure", "values": [0, 1, 0, 0]},
            {"name": "success", "values": [0, 0, 0, 3]},
        ],
    }


async def test_metrics_by_week_and_hour_in_a_timezone(
    counted: Telemetry, fresh_project_id: int
) -> None:
    filters = MetricFilters(AT - timedelta(hours=1), AT, breakdown_by="name")
    weeks = await counted.read_metrics(
        fresh_project_id, "hog_function", "f", filters, interval="week", timezone="Asia/Tokyo"
    )
    hours = await counted.read_metrics(
        fresh_project_id, "hog_function", "f", filters, interval="hour", timezone="Asia/Tokyo"
    )

    assert weeks.as_json() == {
        "labels": ["2026-01-05"],
        "series": [{"name": "succeeded", "values": [3]}],
    }
    assert hours.labels == ["2026-01-07T20:00", "2026-01-07T21:00"]
    assert hours.series == {"succeeded": [0, 3]}


async def test_no_metrics_no_series(warehouse: Warehouse, fresh_project_id: int) -> None:
    filters = MetricFilters(AT - timedelta(days=3), AT)
    series = await Telemetry(warehouse).read_metrics(fresh_project_id, "x", "y", filters)

    assert series.as_json()["series"] == []


async def test_totals(counted: Telemetry, fresh_project_id: int) -> None:
    filters = MetricFilters(AT - timedelta(days=7), AT)
    only_failed = MetricFilters(AT - timedelta(days=7), AT, names=["failed"], breakdown_by="name")
    one_run = MetricFilters(AT - timedelta(days=7), AT, instance_id="run-1", kinds=["success"])

    read = counted.read_totals
    assert await read(fresh_project_id, "hog_function", "f", filters) == {
        "failure": 1,
        "success": 3,
    }
    assert await read(fresh_project_id, "hog_function", "f", only_failed) == {"failed": 1}
    assert await read(fresh_project_id, "hog_function", "f", one_run) == {"success": 1}
    assert await read(fresh_project_id, "hog_function", "nobody", filters) == {}
