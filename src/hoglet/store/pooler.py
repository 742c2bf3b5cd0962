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

from hoglet.store.lost_peers import LIMITED, TESTED, client_limits, limit_session

_NEVER_PREPARE = {"prepare_threshold": None}

log = structlog.get_logger()


def blocking_engine(url: URL | str) -> Engine:
    """An engine for commands and migrations, which needs no prepared statements."""
    url = make_url(url)
    if url.get_backend_name() == "sqlite":
        return create_engine(url)
    engine = create_engine(url, connect_args=_NEVER_PREPARE | client_limits(url))
    event.listen(engine, "connect", lambda connection, _: limit_session(connection, TESTED))
    return engine


class PoolerDetector:
    """Finds out with an engine's first connection whether a pooler is between.

    Without one, connections are limited as ``lost_peers`` says. Settings of a pooler's connection
    would apply to whoever has it next.

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
        else:
            limit_session(connection, LIMITED)


def _answers_from_elsewhere(connection: Any) -> bool:
    cursor = connection.cursor()
    cursor.execute("SELECT pg_backend_pid()")
    (process,) = cursor.fetchone()
    cursor.close()
    connection.rollback()
    return process != connection.driver_connection.info.backend_pid
