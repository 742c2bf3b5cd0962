"""Connections to PostgreSQL whose other side is silent: what a server had locked becomes free."""

import asyncio
from datetime import UTC, datetime
from typing import Any

import pytest
from sqlalchemy import event, func, select, text
from sqlalchemy.exc import DBAPIError

from hoglet.kit.clock import FixedClock
from hoglet.spool import positions
from hoglet.spool.owners import SILENT_AFTER, PartitionOwner
from hoglet.store import pooler
from hoglet.store.database import Database
from hoglet.store.lost_peers import LIMITED
from support.pooler import transaction_pooler
from support.silent_network import silent_network

SECONDS = 30
LOCK = 4_711
PARTITIONS = 16
_SETTINGS = text(
    "SELECT name, setting FROM pg_settings WHERE name = 'idle_in_transaction_session_timeout'"
)


async def _idle_limit(url: str) -> int:
    """The milliseconds for which a transaction may be idle."""
    database = Database(url)
    try:
        async with database.read() as session:
            name, setting = (await session.execute(_SETTINGS)).one()
            assert name == "idle_in_transaction_session_timeout"
            return int(setting)
    finally:
        await database.close()


async def test_a_lock_of_a_server_that_is_cut_off_becomes_free(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    limits = {**LIMITED, "idle_in_transaction_session_timeout": 2_000}
    monkeypatch.setattr(pooler, "LIMITED", limits)
    with silent_network(postgres_url) as network:
        lost, other = Database(network.url), Database(postgres_url)
        try:
            async with lost.engine.connect() as connection:
                await connection.execute(select(func.pg_advisory_xact_lock(LOCK)))
                network.silence()
                async with asyncio.timeout(SECONDS), other.write() as session:
                    await other.serialize(session, LOCK)
                network.restore()
                await connection.invalidate()
            async with asyncio.timeout(SECONDS), lost.write() as session:
                await lost.serialize(session, LOCK)
        finally:
            await lost.close()
            await other.close()


@pytest.mark.slow
async def test_partitions_of_a_server_that_is_cut_off_in_its_heartbeat(
    postgres_database: Database, postgres_tables_url: str
) -> None:
    """Heartbeats share a lock, which the server that has disappeared holds."""
    clock = FixedClock(datetime(2026, 1, 1, tzinfo=UTC))
    await positions.create_partitions(postgres_database, "rows", PARTITIONS)
    with silent_network(postgres_tables_url) as network:
        database = Database(network.url)
        lost = PartitionOwner(database, clock, name="lost", log_name="rows")
        other = PartitionOwner(postgres_database, clock, name="other", log_name="rows")
        await lost.divide()
        is_silent = asyncio.Event()

        def silence(*given: Any) -> None:
            if "pg_advisory_xact_lock" in given[2] and not is_silent.is_set():
                network.silence()
                is_silent.set()

        event.listen(database.engine.sync_engine, "after_cursor_execute", silence)
        heartbeat = asyncio.create_task(lost.divide())
        await is_silent.wait()
        clock.advance(seconds=SILENT_AFTER.total_seconds())
        async with asyncio.timeout(SECONDS):
            await other.divide()
        assert len(other.owned) == PARTITIONS

        network.restore()
        with pytest.raises(DBAPIError):
            await heartbeat
        await lost.divide()
        await other.divide()
        await lost.divide()
        assert (len(lost.owned), len(other.owned)) == (PARTITIONS // 2, PARTITIONS // 2)
        await database.close()


async def test_a_stricter_limit_of_the_database_remains(postgres_url: str) -> None:
    limit = LIMITED["idle_in_transaction_session_timeout"]
    assert await _idle_limit(postgres_url) == limit
    database = Database(postgres_url)
    for milliseconds, expected in ((limit // 2, limit // 2), (limit * 2, limit)):
        async with database.write() as session:
            name = await session.scalar(select(func.current_database()))
            setting = f"SET idle_in_transaction_session_timeout = {milliseconds}"
            await session.execute(text(f'ALTER DATABASE "{name}" {setting}'))
        assert await _idle_limit(postgres_url) == expected
    await database.close()


async def test_connections_of_a_pooler_keep_their_settings(postgres_url: str) -> None:
    """They are lent to others."""
    with transaction_pooler(postgres_url, 1) as behind:
        assert await _idle_limit(behind.url) == 0
