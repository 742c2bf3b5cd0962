"""The outbox delivers telemetry to the warehouse exactly once, whatever happens."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest
from prometheus_client import CollectorRegistry

from hoglet.pipeline import telemetry_outbox
from hoglet.pipeline.health import Part, PipelineHealth
from hoglet.pipeline.telemetry_outbox import (
    TelemetryBatch,
    TelemetryOutbox,
    together,
)
from hoglet.warehouse.telemetry import (
    AppMetric,
    LogEntry,
    LogFilters,
    MetricFilters,
    Telemetry,
)

NOW = datetime.now(UTC).replace(microsecond=0)  # the warehouse drops lines of long ago
WINDOW = MetricFilters(after=NOW - timedelta(hours=1), before=NOW + timedelta(hours=1))


def messages(project_id):
    created = TelemetryBatch()
    created.logs.append(LogEntry(project_id, "hog_function", "f", "i", NOW, "INFO", "hello"))
    created.count(project_id, "f", "success", "succeeded", NOW)
    created.count(project_id, "f", "success", "succeeded", NOW)
    return created


async def add(outbox, database, project_id):
    async with database.write() as session:
        await outbox.add(session, messages(project_id))


async def logs_and_totals(telemetry, project_id):
    logs = await telemetry.read_logs(project_id, "hog_function", "f", LogFilters())
    totals = await telemetry.read_totals(project_id, "hog_function", "f", WINDOW)
    return [entry.message for entry in logs], totals


@pytest.fixture
def telemetry(warehouse):
    return Telemetry(warehouse)


async def test_messages_arrive(sqlite_database, telemetry, fresh_project_id):
    outbox = TelemetryOutbox(sqlite_database, telemetry)
    await add(outbox, sqlite_database, fresh_project_id)

    assert await outbox.flush() == 1
    assert await outbox.flush() == 0
    assert await logs_and_totals(telemetry, fresh_project_id) == (["hello"], {"success": 2})


async def test_a_crash_after_the_insert_does_not_double_them(
    sqlite_database, telemetry, fresh_project_id, monkeypatch
):
    outbox = TelemetryOutbox(sqlite_database, telemetry)
    await add(outbox, sqlite_database, fresh_project_id)
    written = telemetry.write_metrics

    async def dies_after(*arguments, **named):
        await written(*arguments, **named)
        raise ConnectionError("killed here")

    monkeypatch.setattr(telemetry, "write_metrics", dies_after)
    with pytest.raises(ConnectionError):
        await outbox.flush()
    monkeypatch.undo()
    await add(outbox, sqlite_database, fresh_project_id)

    restarted = TelemetryOutbox(sqlite_database, telemetry)
    while await restarted.flush():
        pass
    assert await logs_and_totals(telemetry, fresh_project_id) == (
        ["hello", "hello"],
        {"success": 4},
    )


async def test_blocks_are_bounded_by_bytes(
    sqlite_database, telemetry, fresh_project_id, monkeypatch
):
    """After an outage of the warehouse, hundreds of commits with long logs wait."""
    monkeypatch.setattr("hoglet.pipeline.telemetry_outbox.BYTES_PER_FLUSH", 10_000)
    outbox = TelemetryOutbox(sqlite_database, telemetry)
    for size in (4000, 4000, 4000, 30_000, 100):
        long = TelemetryBatch()
        long.logs.append(
            LogEntry(fresh_project_id, "hog_function", "f", "i", NOW, "INFO", "x" * size)
        )
        async with sqlite_database.write() as session:
            await outbox.add(session, long)

    assert [await outbox.flush() for _ in range(5)] == [2, 1, 1, 1, 0]
    lines, _ = await logs_and_totals(telemetry, fresh_project_id)
    assert sorted(map(len, lines)) == [100, 4000, 4000, 4000, 30_000]


class RecordedHealth(PipelineHealth):
    """Counts the inserts before each pause of the outbox."""

    inserts = 0

    def __init__(self) -> None:
        super().__init__(CollectorRegistry())
        self.paused_after: list[int] = []
        self.has_paused = asyncio.Event()

    def works(self, part: Part, *, worker: int = 0) -> None:
        super().works(part, worker=worker)
        self.paused_after.append(self.inserts)
        self.has_paused.set()


async def inserts_until_the_first_pause(outbox, health) -> int:
    task = asyncio.create_task(outbox.run())
    await health.has_paused.wait()
    outbox.stop()
    await task
    return health.paused_after[0]


async def test_rows_that_are_added_during_an_insert_wait_for_the_next_one(
    sqlite_database, telemetry, fresh_project_id, monkeypatch
):
    """A busy server commits during each insert: without pauses there would be one per commit."""
    health = RecordedHealth()
    outbox = TelemetryOutbox(sqlite_database, telemetry, health)
    write_logs = telemetry.write_logs

    async def adds_another(*arguments, **named):
        health.inserts += 1
        if health.inserts < 5:
            await add(outbox, sqlite_database, fresh_project_id)
        await write_logs(*arguments, **named)

    monkeypatch.setattr(telemetry, "write_logs", adds_another)
    await add(outbox, sqlite_database, fresh_project_id)

    assert await inserts_until_the_first_pause(outbox, health) == 1
    assert len((await logs_and_totals(telemetry, fresh_project_id))[0]) == 5


async def test_a_backlog_is_moved_without_pauses(
    sqlite_database, telemetry, fresh_project_id, monkeypatch
):
    monkeypatch.setattr(telemetry_outbox, "ROWS_PER_FLUSH", 2)
    health = RecordedHealth()
    outbox = TelemetryOutbox(sqlite_database, telemetry, health)
    write_logs = telemetry.write_logs

    async def counted(*arguments, **named):
        health.inserts += 1
        await write_logs(*arguments, **named)

    monkeypatch.setattr(telemetry, "write_logs", counted)
    for _ in range(5):
        await add(outbox, sqlite_database, fresh_project_id)

    assert await inserts_until_the_first_pause(outbox, health) == 3


async def test_stopping_leaves_nothing_behind(sqlite_database, telemetry, fresh_project_id):
    outbox = TelemetryOutbox(sqlite_database, telemetry)
    await add(outbox, sqlite_database, fresh_project_id)
    outbox.stop()
    await outbox.run()

    assert (await logs_and_totals(telemetry, fresh_project_id))[0] == ["hello"]


def test_equal_metrics_of_one_second_are_added_up():
    a = AppMetric(1, "s", "f", NOW, "success", "succeeded", 2)
    b = AppMetric(1, "s", "f", NOW.replace(microsecond=5), "success", "succeeded", 3)
    c = AppMetric(1, "s", "f", NOW, "failure", "failed")

    assert sorted(metric.count for metric in together([a, b, c])) == [1, 5]


async def test_an_idle_outbox_is_woken_by_what_is_added(
    sqlite_database, telemetry, fresh_project_id, monkeypatch
):
    monkeypatch.setattr(telemetry_outbox, "IDLE_SECONDS", 3600.0)
    outbox = TelemetryOutbox(sqlite_database, telemetry)
    marks = [1, 1]  # idle at the second look; unknown after the commit below
    looked = asyncio.Event()

    def change_mark():
        if not marks:
            return None
        if len(marks) == 1:
            looked.set()
        return marks.pop()

    monkeypatch.setattr(sqlite_database, "change_mark", change_mark)
    running = asyncio.create_task(outbox.run())
    await looked.wait()

    flushed = asyncio.Event()
    written = telemetry.write_metrics

    async def write_metrics(*arguments, **named):
        await written(*arguments, **named)
        flushed.set()

    monkeypatch.setattr(telemetry, "write_metrics", write_metrics)
    await add(outbox, sqlite_database, fresh_project_id)
    await flushed.wait()
    outbox.stop()
    await running
    assert await logs_and_totals(telemetry, fresh_project_id) == (["hello"], {"success": 2})


async def test_an_idle_outbox_stops_at_once(sqlite_database, telemetry, monkeypatch):
    monkeypatch.setattr(telemetry_outbox, "IDLE_SECONDS", 3600.0)
    monkeypatch.setattr(sqlite_database, "change_mark", lambda: 1)
    outbox = TelemetryOutbox(sqlite_database, telemetry)
    running = asyncio.create_task(outbox.run())
    await asyncio.sleep(1.2)  # the first pause is over

    outbox.stop()
    await running
