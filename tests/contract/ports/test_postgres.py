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


async def test_waiting_for_a_lock_leaves_connections_to_others(
    postgres_database: Database,
) -> None:
    async def change() -> None:
        async with postgres_database.write() as session:
            await postgres_database.serialize(session, "a name")

    async with postgres_database.write() as session:
        await postgres_database.serialize(session, "a name")
        waiting = [asyncio.create_task(change()) for _ in range(30)]
        await asyncio.sleep(0.2)
        async with asyncio.timeout(10), postgres_database.read() as other:
            assert await other.scalar(text("SELECT 1")) == 1
        assert not any(each.done() for each in waiting)
    await asyncio.gather(*waiting)


async def test_who_gives_up_waiting_does_not_keep_the_lock(postgres_database: Database) -> None:
    async def change() -> None:
        async with postgres_database.write() as session:
            await postgres_database.serialize(session, 1)
            await postgres_database.serialize(session, 1)

    async with postgres_database.write() as session:
        await postgres_database.serialize(session, 1)
        first, second = asyncio.create_task(change()), asyncio.create_task(change())
        await asyncio.sleep(0.1)
        first.cancel()
    await second

    assert first.cancelled()
