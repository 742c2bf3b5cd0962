"""What the metadata database does only on PostgreSQL."""

import asyncio
import re

import psycopg
import pytest
from sqlalchemy import insert, make_url, select, text

from hoglet.spool.tables import SpoolPartitionRow
from hoglet.store.database import Database
from support.deploy import ROOT

_ROW = {"partition": 1, "last_position": 1}


async def test_a_read_leaves_no_transaction_open(postgres_database: Database) -> None:
    url = make_url(str(postgres_database.engine.url)).set(drivername="postgresql")
    async with postgres_database.read() as session:
        backend = await session.scalar(text("SELECT pg_backend_pid()"))
        with psycopg.connect(url.render_as_string(hide_password=False)) as other:
            query = "SELECT state FROM pg_stat_activity WHERE pid = %s"
            assert other.execute(query, [backend]).fetchall() == [("idle",)]


async def test_a_read_sees_what_is_committed_meanwhile(postgres_database: Database) -> None:
    count = select(SpoolPartitionRow.last_position)
    async with postgres_database.read() as session:
        assert (await session.scalars(count)).all() == []
        async with postgres_database.write() as other:
            await other.execute(insert(SpoolPartitionRow), [_ROW])
        assert (await session.scalars(count)).all() == [1]


async def test_a_read_stores_nothing(postgres_database: Database) -> None:
    async with postgres_database.read() as session:
        session.add(SpoolPartitionRow(**_ROW))
        assert (await session.scalars(select(SpoolPartitionRow))).all() == []
        with pytest.raises(TypeError, match="only queries"):
            await session.execute(insert(SpoolPartitionRow).values(**_ROW))

    async with postgres_database.read() as session:
        assert (await session.scalars(select(SpoolPartitionRow))).all() == []


async def test_a_write_after_a_read_is_a_transaction(postgres_database: Database) -> None:
    async with postgres_database.read() as session:
        await session.execute(text("SELECT 1"))
    async with postgres_database.write() as session:
        await session.execute(insert(SpoolPartitionRow), [_ROW])
        await session.rollback()
    async with postgres_database.read() as session:
        assert (await session.scalars(select(SpoolPartitionRow))).all() == []


async def test_a_process_has_at_most_the_documented_connections(
    postgres_database: Database,
) -> None:
    count = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"

    async def connections() -> int:
        async with postgres_database.read() as session:
            await session.execute(text("SELECT pg_sleep(0.2)"))
            return await session.scalar(text(count)) or 0

    most = max(await asyncio.gather(*(connections() for _ in range(30))))

    growing = (ROOT / "docs" / "growing.md").read_text()
    assert re.findall(r"opens at most (\d+) connections", growing) == [str(most)]
