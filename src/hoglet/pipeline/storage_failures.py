"""Distinguishes failures of storage from failures of what is stored."""

from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimedOut

from hoglet.kit.errors import HogletError


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
