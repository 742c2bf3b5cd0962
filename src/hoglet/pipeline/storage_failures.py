"""Distinguishes failures of storage from failures of what is stored."""

from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimedOut

from hoglet.events.errors import StateChanged
from hoglet.kit.errors import HogletError

_CONFLICTS = {"40001", "40P01", "23505"}  # serialization, deadlock, unique key (PostgreSQL)


def is_storage_failure(error: Exception) -> bool:
    """Whether a retry will succeed because the database, the warehouse or the disk failed.

    Example:
        >>> is_storage_failure(OSError(28, "full")), is_storage_failure(KeyError())
        (True, False)
    """
    if isinstance(error, HogletError):
        return error.blame == "operator"
    if isinstance(error, DBAPIError) and error.connection_invalidated:
        return True
    return isinstance(error, (OperationalError, InterfaceError, PoolTimedOut, OSError))


def is_conflict(error: Exception) -> bool:
    """Whether a concurrent transaction caused the error, so an immediate retry may succeed."""
    if isinstance(error, DBAPIError):
        return getattr(error.orig, "sqlstate", None) in _CONFLICTS
    return isinstance(error, StateChanged)
