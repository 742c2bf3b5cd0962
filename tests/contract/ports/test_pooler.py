"""The metadata database behind a pooler that lends connections for single transactions."""

import asyncio

import pytest
from sqlalchemy import func, insert, select, text

from hoglet.app.startup.errors import StartupFault
from hoglet.app.startup.warehouse_identity import embedded_writer
from hoglet.migrations import migrate
from hoglet.settings import Settings
from hoglet.spool.tables import SpoolPartitionRow
from hoglet.store.database import Database
from support.pooler import transaction_pooler

CONNECTIONS = 3
WRITERS, TURNS = 8, 10  # a connection prepares a statement that it sends for the sixth time
COUNT = select(func.count()).select_from(SpoolPartitionRow)


async def _write_and_read(database: Database, writer: int) -> None:
    for turn in range(TURNS):
        number = 2 * (writer * TURNS + turn)
        rows = [{"partition": each, "last_position": 1} for each in (number, number + 1)]
        async with database.write() as session:
            await session.execute(insert(SpoolPartitionRow), rows)
        async with database.read() as session:
            assert await session.scalar(COUNT)


async def test_statements_survive_a_pooler(postgres_url: str) -> None:
    with transaction_pooler(postgres_url, CONNECTIONS) as pooler:
        await asyncio.to_thread(migrate, pooler.url)
        database = Database(pooler.url)
        try:
            await asyncio.gather(*(_write_and_read(database, each) for each in range(WRITERS)))
            async with database.read() as session:
                assert await session.scalar(COUNT) == 2 * WRITERS * TURNS
        finally:
            await database.close()


async def test_a_server_with_an_embedded_warehouse_refuses_a_pooler(postgres_url: str) -> None:
    """Its lock would belong to whoever has the connection next."""
    with transaction_pooler(postgres_url, CONNECTIONS) as pooler:
        database = Database(pooler.url)
        try:
            with pytest.raises(StartupFault, match="pooler"):
                async with embedded_writer(
                    database, Settings.model_validate({"database_url": pooler.url})
                ):
                    pass
        finally:
            await database.close()


async def test_without_a_pooler_statements_are_prepared(postgres_database: Database) -> None:
    async with postgres_database.engine.connect() as connection:
        for _ in range(10):
            await connection.execute(text("SELECT 1"))
        assert await connection.scalar(text("SELECT count(*) FROM pg_prepared_statements"))
