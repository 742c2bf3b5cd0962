"""Entries that the spool log has lost are counted, and each project is warned."""

from collections.abc import AsyncGenerator
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import nats
import pytest
from sqlalchemy import delete, insert, update

from hoglet.access.bootstrap import ensure_first_project
from hoglet.kit.clock import FixedClock
from hoglet.pipeline.ingest.sources import GroupLimits
from hoglet.pipeline.ingest.spool_log.losses import WARNING
from hoglet.spool.address import nats_address
from hoglet.spool.jetstream import open_jetstream
from hoglet.spool.positions import Position, former_logs
from hoglet.spool.tables import SpoolEntryRow, SpoolPartitionRow, SpoolPositionRow
from hoglet.store.database import Database
from support.databases import open_database
from support.nats_server import NatsServer
from support.pipeline import Line, open_line

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)


@pytest.fixture
async def line(postgres_tables_url: str, warehouse: Any) -> AsyncGenerator[Line]:
    async with open_database(postgres_tables_url) as database:
        clock = FixedClock(NOW)
        await ensure_first_project(database, clock)
        async with open_line(database, warehouse, clock, 1) as opened:
            yield opened


def _losses(line: Line) -> float | None:
    return line.registry.get_sample_value("hoglet_spool_losses_total")


def _warnings(line: Line) -> list[dict[str, Any]]:
    counts = line.warnings._counts.values()
    return [each.example for each in counts if each.kind == WARNING and each.project_id == 1]


async def _change(database: Database, statement: Any) -> None:
    async with database.write() as session:
        await session.execute(statement)


async def test_entries_that_are_gone_from_a_begun_range(line: Line) -> None:
    await line.capture({"event": "e", "distinct_id": "u"})
    group = await line.log_source.begin(GroupLimits())
    assert group is not None
    await group.release()
    await _change(line.database, delete(SpoolEntryRow))
    line.log_source.taken(set(line.owner.owned))  # as another server that takes over

    assert await line.log_source.begin(GroupLimits()) is None

    assert _losses(line) == 1
    (warning,) = line.losses.operator_warnings()
    assert "see SpoolLosses" in warning
    (example,) = _warnings(line)
    assert "gone from the spool" in example["detail"]
    await line.capture({"event": "e", "distinct_id": "u"})
    assert await line.log_source.begin(GroupLimits()) is not None  # nothing else waits for them


async def test_a_log_that_ends_before_the_stored_position(line: Line) -> None:
    await line.capture({"event": "e", "distinct_id": "u"})
    await line.work()
    await _change(line.database, update(SpoolPartitionRow).values(last_position=0))
    line.owner.stop()
    await line.owner.run()  # gives its partitions up
    async with open_line(line.database, line.warehouse, line.clock, 1) as restarted:
        await restarted.own_partitions()
        assert await restarted.log_source.begin(GroupLimits()) is None

        assert _losses(restarted) == 1
        assert len(_warnings(restarted)) == 1


async def test_a_log_that_takes_the_place_of_another_one(line: Line) -> None:
    """A stream that was deleted while no server ran: its name is that of its creation."""
    stored = {"partition": 0, "owner": "gone", "epoch": 3, "group_project": 0}
    logs = [("nats:1", 7), ("nats:2", 0), ("rows", 9)]
    rows = [stored | {"log": log, "done_upto": done_upto} for log, done_upto in logs]
    await _change(line.database, delete(SpoolPositionRow))
    await _change(line.database, insert(SpoolPositionRow).values(rows))

    async with line.database.read() as session:
        assert await former_logs(session, "nats:2") == ["nats:1"]
        assert await former_logs(session, "nats:1") == []
        assert await former_logs(session, "rows") == []
    await line.losses.taken_first(Position(log="nats:2", partition=0, epoch=1, done_upto=0))

    assert _losses(line) == 1
    assert len(_warnings(line)) == 1


async def _purge(broker: NatsServer, stream: str) -> None:
    client = await nats.connect(f"nats://{broker.address}")
    await client.jetstream().purge_stream(stream)
    await client.close()


async def test_a_stream_that_is_purged_under_a_running_server(
    line: Line, nats_broker: NatsServer
) -> None:
    """Positions go on and entries need not follow one another, so only the stored one is missed."""
    stream = f"test-{uuid4().hex}"
    log = await open_jetstream(nats_address(nats_broker.url(stream)), payload_bytes=1000)
    async with open_line(line.database, line.warehouse, line.clock, 1, spool_log=log) as purged:
        await purged.own_partitions()
        event = {"event": "e", "distinct_id": "u"}
        await purged.capture(event)
        await purged.work()
        assert _losses(purged) == 0

        await purged.capture(event)
        await _purge(nats_broker, stream)
        for _ in range(2):  # it is reported once
            purged.log_source.taken(set(purged.owner.owned))
            assert await purged.log_source.begin(GroupLimits()) is None
            assert _losses(purged) == 1
            assert len(_warnings(purged)) == 1
        await purged.capture(event)
        assert await purged.log_source.begin(GroupLimits()) is not None
        assert _losses(purged) == 1
    await log.close()


async def test_a_whole_range_is_no_loss(line: Line) -> None:
    await line.capture(*({"event": "e", "distinct_id": f"u{n}"} for n in range(9)))
    group = await line.log_source.begin(GroupLimits())
    assert group is not None
    await group.release()
    line.log_source.taken(set(line.owner.owned))

    await line.work()

    assert _losses(line) == 0
    assert line.losses.operator_warnings() == []
    assert _warnings(line) == []
