"""Runs Alembic from the package: no alembic.ini, no working directory, one transaction."""

from pathlib import Path
from typing import Any

from alembic import command
from alembic.config import Config
from sqlalchemy import Connection, create_engine, event, text
from sqlalchemy.engine import make_url

# Arbitrary; concurrent startups on one PostgreSQL wait for each other with this lock.
_ADVISORY_LOCK = 7_226_311


def migrate(database_url: str) -> None:
    """Migrate the database to the newest schema; no effect if it is current.

    Blocking: call it before the event loop starts, or in a thread.

    Args:
        database_url: as :class:`hoglet.store.database.Database` takes it; the async SQLite driver
            is replaced by the blocking one.
    """
    engine = create_engine(_blocking(database_url))
    if engine.dialect.name == "sqlite":
        event.listen(engine, "connect", _leave_transactions_to_us)
        event.listen(engine, "begin", _begin)
    try:
        with engine.begin() as connection:
            if engine.dialect.name == "postgresql":
                connection.execute(text(f"SELECT pg_advisory_xact_lock({_ADVISORY_LOCK})"))
            command.upgrade(alembic_config(connection), "head")
    finally:
        engine.dispose()


def alembic_config(connection: Connection) -> Config:
    """Alembic's configuration for the revisions of this package on an open connection."""
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent).replace("%", "%%"))
    config.attributes["connection"] = connection
    return config


def _leave_transactions_to_us(connection: Any, _record: Any) -> None:
    """Disable the driver's commit before DDL: a crash would leave a partial schema."""
    connection.isolation_level = None


def _begin(connection: Connection) -> None:
    connection.exec_driver_sql("BEGIN IMMEDIATE")


def _blocking(database_url: str) -> str:
    url = make_url(database_url)
    if url.drivername == "sqlite+aiosqlite":
        url = url.set(drivername="sqlite")
    return url.render_as_string(hide_password=False)
