"""Connections to PostgreSQL that end if the other side disappears without closing them.

A machine that loses power, or a network that drops packets, closes no connection. PostgreSQL would
keep the transaction that such a server had open, and its locks, for two hours (the kernel's
default), and the other servers would wait for those locks. A server would wait as long for the
answer of a database that is gone.

So PostgreSQL is told for each connection to end transactions in which it hears nothing for
:data:`IDLE_SECONDS`, and both sides test silent connections. Stricter settings of the database, its
user or its address remain.

Source: docs/adr/0070-lost-peers.md.
"""

from collections.abc import Mapping
from typing import Any, Final

from sqlalchemy import URL

from hoglet.kit.lost_peers import TESTED_AFTER_SECONDS, TESTED_EVERY_SECONDS, TESTS, UNANSWERED_MS

IDLE_SECONDS: Final = 10
"""Transactions wait for nothing but the database, and a silent server's partitions are taken over
after 10 s."""
_CONNECT_SECONDS = 10

TESTED: Final[Mapping[str, int]] = {
    "tcp_keepalives_idle": TESTED_AFTER_SECONDS,
    "tcp_keepalives_interval": TESTED_EVERY_SECONDS,
    "tcp_keepalives_count": TESTS,
    "tcp_user_timeout": UNANSWERED_MS,
}
"""Settings of PostgreSQL with which it notices that a client has disappeared."""
LIMITED: Final[Mapping[str, int]] = {
    **TESTED,
    "idle_in_transaction_session_timeout": 1000 * IDLE_SECONDS,
}
"""The same, and it ends the transactions of a client that is silent."""

_LIMIT = """WITH current AS MATERIALIZED (
    SELECT name, setting FROM pg_settings WHERE name IN ({names})
)
SELECT set_config(name, wanted, false) FROM current JOIN (VALUES {values}) AS given (name, wanted)
USING (name) WHERE setting::int NOT BETWEEN 1 AND wanted::int"""


def client_limits(url: URL) -> dict[str, Any]:
    """Arguments with which the driver notices that PostgreSQL has disappeared.

    Those that the address sets itself are left out.
    """
    limits = {
        "connect_timeout": _CONNECT_SECONDS,
        "keepalives_idle": TESTED_AFTER_SECONDS,
        "keepalives_interval": TESTED_EVERY_SECONDS,
        "keepalives_count": TESTS,
        "tcp_user_timeout": UNANSWERED_MS,
    }
    return {name: value for name, value in limits.items() if name not in url.query}


def limit_session(connection: Any, limits: Mapping[str, int]) -> None:
    """Change the settings of a new connection that are 0, which is no limit, or larger.

    Args:
        connection: the driver's, without an open transaction.
        limits: :data:`TESTED` or :data:`LIMITED`.
    """
    names = ", ".join(f"'{name}'" for name in limits)
    values = ", ".join(f"('{name}', '{value}')" for name, value in limits.items())
    cursor = connection.cursor()
    cursor.execute(_LIMIT.format(names=names, values=values))
    cursor.close()
    connection.commit()
