"""Connections to PostgreSQL through a pooler, such as PgBouncer.

A pooler may lend a connection for one transaction only. The next transaction has another one, which
does not know the statements that the driver has prepared, but others of the same names. So
statements are not prepared then; sessions keep nothing else, as locks belong to transactions.

A pooler announces a process of its own to its clients, so it is recognized by the process that
answers statements.

Source: docs/adr/0056-connection-poolers.md.
"""

from typing import Any

import structlog
from sqlalchemy import URL, Engine, create_engine, event, make_url

_NEVER_PREPARE = {"prepare_threshold": None}

log = structlog.get_logger()


def blocking_engine(url: URL | str) -> Engine:
    """An engine for commands and migrations, which needs no prepared statements."""
    is_sqlite = make_url(url).get_backend_name() == "sqlite"
    return create_engine(url, connect_args={} if is_sqlite else _NEVER_PREPARE)


class PoolerDetector:
    """Finds out with an engine's first connection whether a pooler is between.

    Args:
        engine: one for PostgreSQL that has no connections yet.
    """

    def __init__(self, engine: Engine) -> None:
        self.is_pooled: bool | None = None
        event.listen(engine, "connect", self._connected)

    def _connected(self, connection: Any, _record: Any) -> None:
        if self.is_pooled is None:
            self.is_pooled = _answers_from_elsewhere(connection)
            if self.is_pooled:
                log.info(
                    "PostgreSQL is behind a connection pooler: statements are not prepared",
                    action="pooler_detected",
                )
        if self.is_pooled:
            connection.driver_connection.prepare_threshold = None


def _answers_from_elsewhere(connection: Any) -> bool:
    cursor = connection.cursor()
    cursor.execute("SELECT pg_backend_pid()")
    (process,) = cursor.fetchone()
    cursor.close()
    connection.rollback()
    return process != connection.driver_connection.info.backend_pid
