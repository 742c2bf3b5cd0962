"""The maintenance worker deletes what expired, and nothing else."""

import asyncio
from datetime import timedelta
from uuid import UUID

from prometheus_client import CollectorRegistry
from sqlalchemy import func, select

from hoglet.access.tables import RateWindowRow
from hoglet.events.known_uuids import KnownUuids
from hoglet.events.repository import EventsRepository
from hoglet.events.tables import KnownUuidRow
from hoglet.events.warnings import IngestionWarnings
from hoglet.functions.dead_letters.service import NewDeadLetter
from hoglet.functions.tables import DeadLetterRow, MaskRow, PauseRow
from hoglet.kit.clock import new_id
from hoglet.pipeline.ingest.filtered_counts import DeferredFilteredCounts
from hoglet.pipeline.maintenance import ExpiredRows, MaintenanceWorker
from hoglet.pipeline.queue_metrics import QueueMetrics
from hoglet.pipeline.spool_backlog import SpoolBacklog
from hoglet.pipeline.tables import HostRateRow
from hoglet.pipeline.telemetry_outbox import TelemetryOutbox

EXPIRING = (DeadLetterRow, MaskRow, PauseRow, RateWindowRow, HostRateRow, KnownUuidRow)


async def add_rows(hoglet, function_id: UUID, known: KnownUuids, name: str) -> None:
    """A row of each table, which expires within a week."""
    soon = hoglet.clock.now() + timedelta(minutes=1)
    letter = NewDeadLetter(
        project_id=1,
        function_id=function_id,
        error_class="fetch",
        invocation_id=new_id(),
        globals={"event": {"uuid": "u", "event": "e", "distinct_id": "d"}},
        error="status 400",
    )
    async with hoglet.database.write() as session:
        await hoglet.app.state.dead_letters.add(session, [letter])
        session.add_all(
            [
                MaskRow(function_id=function_id, hash=name, count=1, expires_at=soon),
                PauseRow(function_id=function_id, host=name, until=soon),
                RateWindowRow(bucket=name, seconds=60, ends_at=soon, used=1),
                HostRateRow(name=name, next_at=soon),
            ]
        )
        await known.add(session, 1, [new_id()])


async def counts(hoglet) -> list[int]:
    async with hoglet.database.read() as session:
        statements = [select(func.count()).select_from(table) for table in EXPIRING]
        return [await session.scalar(statement) for statement in statements]


async def test_expired_rows_are_deleted_and_others_stay(hoglet):
    function_id = UUID((await hoglet.create(enabled=True))["id"])
    database, clock = hoglet.database, hoglet.clock
    known = KnownUuids(clock, window_days=7)
    worker = MaintenanceWorker(
        IngestionWarnings(database, EventsRepository(known), clock),
        QueueMetrics(
            database, hoglet.queue, SpoolBacklog(database, [], clock), CollectorRegistry()
        ),
        DeferredFilteredCounts(database, TelemetryOutbox(database, None), clock),
        ExpiredRows(database, hoglet.app.state.dead_letters, known, clock),
    )
    await add_rows(hoglet, function_id, known, "expired")
    clock.advance(seconds=8 * 86_400)
    await add_rows(hoglet, function_id, known, "current")
    assert await counts(hoglet) == [2] * len(EXPIRING)

    running = asyncio.create_task(worker.run())
    async with asyncio.timeout(30):
        while await counts(hoglet) != [1] * len(EXPIRING):  # noqa: ASYNC110 (in the database)
            await asyncio.sleep(0.01)
    worker.stop()
    await running

    async with database.read() as session:
        for column in (MaskRow.hash, PauseRow.host, RateWindowRow.bucket, HostRateRow.name):
            assert await session.scalar(select(column)) == "current"
