"""Distinguishes an unavailable database from an invalid statement."""

import sqlite3
from typing import Final

from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimedOut

# Classes of PostgreSQL's SQLSTATE: connections, resources, operator intervention; and the end of an
# idle transaction.
_CLASSES: Final = ("08", "53", "57", "25P03")
_WITHOUT_STATE: Final = {"OperationalError", "ConnectionTimeout"}
_SQLITE: Final = {
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_LOCKED,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_CANTOPEN,
}


def is_unavailable(error: BaseException) -> bool:
    """Whether a statement failed because the database is unreachable, busy, full or read-only.

    Example:
        >>> is_unavailable(PoolTimedOut()), is_unavailable(KeyError())
        (True, False)
    """
    if isinstance(error, PoolTimedOut):
        return True
    if not isinstance(error, DBAPIError):
        return False
    if error.connection_invalidated:
        return True
    if isinstance(error.orig, sqlite3.Error):
        return getattr(error.orig, "sqlite_errorcode", 0) & 0xFF in _SQLITE
    if type(error.orig).__name__ not in _WITHOUT_STATE:  # psycopg is an extra
        state = getattr(error.orig, "sqlstate", None)
        return state is not None and state.startswith(_CLASSES)
    return (getattr(error.orig, "sqlstate", None) or "08").startswith(_CLASSES)


def reason_of(error: BaseException) -> str:
    """The database's error message in one line, without the statement."""
    said = str(getattr(error, "orig", None) or error)
    return said.strip().partition("\n")[0]
