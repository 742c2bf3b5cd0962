"""An unreachable database is told apart from wrong statements, on SQLite and PostgreSQL."""

import asyncio
import socket
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import make_url, text

from hoglet.store.availability import is_unavailable
from hoglet.store.database import Database
from support.server import free_port


async def _failure(database: Database, statement: str = "SELECT 1") -> Exception:
    with pytest.raises(Exception) as failed:
        async with database.read() as session:
            await session.execute(text(statement))
    return failed.value


async def test_a_postgres_that_is_away_is_unavailable() -> None:
    database = Database(f"postgresql+psycopg://me@127.0.0.1:{free_port()}/x")

    assert is_unavailable(await _failure(database))
    await database.close()


async def test_a_postgres_that_does_not_answer_is_unavailable() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        database = Database(f"postgresql+psycopg://me@127.0.0.1:{port}/x?connect_timeout=2")
        assert is_unavailable(await _failure(database))
    await database.close()


async def test_a_connection_that_the_server_ends_is_unavailable(postgres_url: str) -> None:
    database = Database(postgres_url)
    plain = make_url(postgres_url).set(drivername="postgresql")
    async with database.read() as session:
        backend = await session.scalar(text("SELECT pg_backend_pid()"))
        end = f"SELECT pg_terminate_backend({backend}, 10000)"
        with psycopg.connect(plain.render_as_string(hide_password=False)) as other:
            await asyncio.to_thread(other.execute, end)
        with pytest.raises(Exception) as failed:
            await session.execute(text("SELECT 1"))

    assert is_unavailable(failed.value)
    await database.close()


async def test_a_sqlite_file_that_cannot_be_opened_is_unavailable(tmp_path: Path) -> None:
    database = Database(f"sqlite+aiosqlite:///{tmp_path}/no/such/folder/x.db")

    assert is_unavailable(await _failure(database))
    await database.close()


@pytest.mark.parametrize("statement", ["SELEC 1", "SELECT * FROM no_such_table"])
async def test_a_wrong_statement_is_not(database: Database, statement: str) -> None:
    assert not is_unavailable(await _failure(database, statement))
