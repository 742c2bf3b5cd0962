"""Writes that the database or the warehouse had confirmed and has lost are noticed."""

from datetime import UTC, datetime
from typing import Any

import pytest
from prometheus_client import CollectorRegistry
from sqlalchemy import select, update

from hoglet.kit.clock import FixedClock, new_id
from hoglet.pipeline.checkpoints import Checkpoints
from hoglet.pipeline.health import PipelineHealth
from hoglet.pipeline.lost_writes import LostWrites
from hoglet.pipeline.tables import WarehouseCheckpointRow
from hoglet.store.database import Database
from hoglet.warehouse.port import Warehouse

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)


class Server:
    """The checkpoints of one process."""

    def __init__(self, database: Database, warehouse: Warehouse) -> None:
        self.registry = CollectorRegistry()
        self.health = PipelineHealth(self.registry)
        self.lost_writes = LostWrites(self.registry, FixedClock(NOW))
        self.checkpoints = Checkpoints(database, warehouse, self.lost_writes, self.health)

    async def store(self) -> None:
        """Store a group and take a checkpoint."""
        self.health.group_stored(new_id())
        await self.checkpoints.take()

    @property
    def losses(self) -> dict[str, float | None]:
        """The metric, by storage."""
        return {
            storage: self.registry.get_sample_value(
                "hoglet_lost_writes_total", {"storage": storage}
            )
            for storage in ("database", "warehouse")
        }


NOTHING = {"database": 0, "warehouse": 0}


@pytest.fixture
async def servers(database: Database, warehouse: Any) -> list[Server]:
    """Two servers that have stored something, and one that starts later."""
    await warehouse.command("TRUNCATE TABLE hoglet_checkpoints")
    opened = [Server(database, warehouse) for _ in range(3)]
    for server in opened[:2]:
        await server.checkpoints.compare()
    for server in (opened[0], opened[1], opened[0]):
        await server.store()
    return opened


async def _row(database: Database) -> tuple[int, int]:
    row = WarehouseCheckpointRow
    async with database.read() as session:
        return tuple((await session.execute(select(row.taken, row.confirmed))).one())


async def _set(database: Database, **values: int) -> None:
    async with database.write() as session:
        await session.execute(update(WarehouseCheckpointRow).values(**values))


async def _newest(warehouse: Warehouse) -> int:
    return (await warehouse.query("SELECT max(number) FROM hoglet_checkpoints")).rows[0][0]


async def test_servers_take_checkpoints_in_turn(
    servers: list[Server], database: Database, warehouse: Any
) -> None:
    await servers[0].checkpoints.take()  # nothing was stored since

    await servers[2].checkpoints.compare()

    assert await _row(database) == (3, 3)
    assert await _newest(warehouse) == 3
    assert [server.losses for server in servers] == [NOTHING] * 3


@pytest.mark.parametrize("taken", [3, 4])
async def test_a_server_that_was_killed_at_a_checkpoint_has_lost_nothing(
    servers: list[Server], database: Database, taken: int
) -> None:
    await _set(database, taken=taken, confirmed=2)

    await servers[2].checkpoints.compare()

    assert servers[2].losses == NOTHING


async def test_a_start_notices_that_the_database_is_older(
    servers: list[Server], database: Database
) -> None:
    await _set(database, taken=2, confirmed=2)

    await servers[2].checkpoints.compare()

    assert servers[2].losses == {"database": 1, "warehouse": 0}
    assert servers[2].lost_writes.doubtful_until == NOW
    (warning,) = servers[2].lost_writes.warnings()
    assert "the database has lost commits" in warning
    assert "2026-05-01 12:00:00 UTC" in warning
    await servers[2].store()
    again = Server(servers[2].checkpoints._database, servers[2].checkpoints._warehouse)
    await again.checkpoints.compare()
    assert again.losses == NOTHING  # it is reported once


async def test_a_start_notices_that_the_warehouse_is_older(
    servers: list[Server], warehouse: Any
) -> None:
    await warehouse.command("TRUNCATE TABLE hoglet_checkpoints")
    await warehouse.insert("hoglet_checkpoints", ["number"], [[2]])

    await servers[2].checkpoints.compare()

    assert servers[2].losses == {"database": 0, "warehouse": 1}
    assert servers[2].lost_writes.doubtful_until is None
    again = Server(servers[2].checkpoints._database, warehouse)
    await again.checkpoints.compare()
    assert again.losses == NOTHING


async def test_a_running_server_notices_that_the_database_is_older(
    servers: list[Server], database: Database, warehouse: Any
) -> None:
    await _set(database, taken=1, confirmed=1)

    await servers[0].store()

    assert servers[0].losses == {"database": 1, "warehouse": 0}
    assert await _row(database) == (4, 4)
    assert await _newest(warehouse) == 4


async def test_checkpoints_are_as_durable_as_events(warehouse: Any) -> None:
    """Otherwise a power failure that loses nothing else looks like a loss."""
    query = "SELECT create_table_query FROM system.tables WHERE name = 'hoglet_checkpoints'"
    [[created]] = (await warehouse.query(query)).rows
    assert "fsync_after_insert = 1" in created
