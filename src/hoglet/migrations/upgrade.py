"""Runs Alembic from the package: no alembic.ini, no working directory, one transaction."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import URL, Connection, Engine, event, inspect, text
from sqlalchemy.engine import make_url
from sqlalchemy.exc import OperationalError

from hoglet.store.pooler import blocking_engine

if TYPE_CHECKING:
    from alembic.config import Config

# Arbitrary number of the lock that serializes concurrent startups on one PostgreSQL database.
_ADVISORY_LOCK = 7_226_311
# Servers of the version before lock the altered tables in an order of their own. PostgreSQL ends
# one of the transactions then; without a second attempt, a rolling update would stop there.
_DEADLOCK: Final = "40P01"
_ATTEMPTS: Final = 10
_PAUSE_SECONDS: Final = 0.5


class UnknownSchema(Exception):
    """The database's schema version is unknown to this version; the message is Alembic's."""


def migrate(database_url: str) -> None:
    """Migrate the database to the newest schema; no effect if it is current.

    Blocking: call it before the event loop starts, or in a thread.

    Args:
        database_url: a URL for :class:`hoglet.store.database.Database`; the async SQLite driver
            is replaced by the blocking one.

    Raises:
        UnknownSchema: a newer version wrote the database.
    """
    engine = blocking_engine(_blocking(database_url))
    if engine.dialect.name == "sqlite":
        event.listen(engine, "connect", _leave_transactions_to_us)
        event.listen(engine, "begin", _begin)
    try:
        for _ in range(_ATTEMPTS - 1):
            try:
                return _migrate(engine)
            except OperationalError as error:
                if getattr(error.orig, "sqlstate", None) != _DEADLOCK:
                    raise
            time.sleep(_PAUSE_SECONDS)
        _migrate(engine)
    finally:
        engine.dispose()


def _migrate(engine: Engine) -> None:
    """Migrate in one transaction, of which a failure leaves nothing."""
    with engine.begin() as connection:
        if engine.dialect.name == "postgresql":
            connection.execute(text(f"SELECT pg_advisory_xact_lock({_ADVISORY_LOCK})"))
        if not _is_current(connection):
            _upgrade(connection)


def _is_current(connection: Connection) -> bool:
    """Whether the schema is current; then Alembic, which takes 0.2 s to import, is not needed."""
    if not inspect(connection).has_table("alembic_version"):
        return False
    applied = connection.execute(text("SELECT version_num FROM alembic_version")).scalars().all()
    return list(applied) == [max(path.name[:4] for path in _REVISIONS.glob("[0-9]*.py"))]


_REVISIONS = Path(__file__).parent / "versions"


def _upgrade(connection: Connection) -> None:
    from alembic import command
    from alembic.util import CommandError

    try:
        command.upgrade(alembic_config(connection), "head")
    except CommandError as error:
        raise UnknownSchema(str(error)) from error


def alembic_config(connection: Connection) -> "Config":
    """Alembic's configuration for the revisions of this package on an open connection."""
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent).replace("%", "%%"))
    config.attributes["connection"] = connection
    return config


def _leave_transactions_to_us(connection: Any, _record: Any) -> None:
    """Disable the driver's commit before DDL, so that a crash cannot leave a partial schema."""
    connection.isolation_level = None


def _begin(connection: Connection) -> None:
    connection.exec_driver_sql("BEGIN IMMEDIATE")


def _blocking(database_url: str) -> URL:
    url = make_url(database_url)
    return url.set(drivername="sqlite") if url.drivername == "sqlite+aiosqlite" else url
