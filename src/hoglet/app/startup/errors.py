"""Turns startup failures into messages of one sentence for the operator.

Packages do not translate library errors; :func:`startup_faults` wraps the whole startup.
"""

import contextlib
import errno
import re
from collections.abc import Generator

import structlog
from sqlalchemy import make_url
from sqlalchemy.exc import DBAPIError, IntegrityError, SQLAlchemyError

from hoglet.kit.errors import HogletError
from hoglet.migrations.upgrade import UnknownSchema
from hoglet.settings import Settings
from hoglet.warehouse.errors import QueryTooCostly, WarehouseInUse, plain_message
from hoglet.warehouse.port import STARTUP

log = structlog.get_logger()

_WRITABLE = "the user that runs hoglet must own the data folder and everything in it"
_FREE_SPACE = "free some disk space, then start again"
_SYSTEM: dict[int, str] = {
    errno.EACCES: _WRITABLE,
    errno.EPERM: _WRITABLE,
    errno.EROFS: "choose a --data-dir on a writable disk",
    errno.ENOSPC: _FREE_SPACE,
    errno.EDQUOT: _FREE_SPACE,
    errno.EMFILE: "raise the limit of open files (ulimit -n)",
    errno.ENFILE: "the system has run out of file descriptors",
    errno.EAGAIN: "raise the limit of processes (ulimit -u)",
    errno.ENOMEM: "the machine, or its limit (ulimit -v), has too little memory",
    errno.ENOLCK: "the file system cannot lock files; choose a --data-dir on a local disk",
    errno.EEXIST: "it is a file; choose another --data-dir",
    errno.ENOTDIR: "part of the path is a file; choose another --data-dir",
}
_SQLITE: tuple[tuple[str, str], ...] = (
    ("not a database", "restore the file from a backup"),
    ("malformed", "restore the file from a backup"),
    ("readonly", _WRITABLE),
    ("unable to open", _WRITABLE),
    ("disk is full", _FREE_SPACE),
    ("disk I/O error", "check for a full or failing disk"),
    ("is locked", "another process is using it; stop that one first"),
    (
        "already exists",
        "it contains tables of another application; use a separate database for hoglet",
    ),
)
_NEWER = re.compile(r"Can't locate revision identified by '([^']+)'")
_WHAT = re.compile(r"e\.what\(\) = ([^,]+)")
_MAX_CHARACTERS = 500


class StartupFault(HogletError):
    """The server cannot start; the message says what to change."""

    code = "startup_fault"
    blame = "operator"


@contextlib.contextmanager
def startup_faults(settings: Settings) -> Generator[None]:
    """Wrap the startup of a server.

    Raises:
        HogletError: the failure as one line; the traceback is logged at level debug.
    """
    try:
        yield
    except Exception as error:
        log.debug("hoglet could not start", action="start_failed", exc_info=True)
        raise StartupFault(_one_line(describe(error, settings))) from None


@contextlib.contextmanager
def data_faults(settings: Settings) -> Generator[None]:
    """Wrap a command that uses the data folder or the database without a server.

    Raises:
        StartupFault: a failure of the disk or of the database as one line.
    """
    try:
        yield
    except (SQLAlchemyError, UnknownSchema, OSError) as error:
        raise StartupFault(_one_line(describe(error, settings))) from None


def describe(error: Exception, settings: Settings) -> str:
    """The problem and what to change.

    Example:
        ``The database /data/hoglet.db cannot be used (file is not a database): restore the file
        from a backup.``
    """
    match error:
        case HogletError():
            return _of_part(error, settings)
        case SQLAlchemyError() | UnknownSchema():
            return _of_database(error, settings)
        case OSError():
            return _of_system(error)
        case _:
            return (
                f"hoglet cannot start ({type(error).__name__}: {error}): set "
                "HOGLET_LOG_LEVEL=debug to see where, and report it."
            )


def _of_part(error: HogletError, settings: Settings) -> str:
    """The message of an operator error; other failures come from the warehouse."""
    notes: list[str] = getattr(error, "__notes__", [])
    refused = isinstance(error, WarehouseInUse) and bool(notes)
    if error.blame == "operator" and not refused:
        return error.detail
    where = _warehouse(settings)
    if isinstance(error, QueryTooCostly):
        return (
            f"The warehouse {where} did not answer within {STARTUP.seconds:g} seconds: start "
            "hoglet again when the machine is less busy."
        )
    if any("already running" in note or "Cannot lock" in note for note in notes):
        return (
            f"The warehouse {where} is in use by another process: stop that one, or choose "
            "another --data-dir."
        )
    reason = _engine_reason(notes) if refused else error.detail
    return (
        f"The warehouse {where} cannot be used ({reason.rstrip('. ')}): if the folder "
        "is writable, restore it from a backup."
    )


def _engine_reason(notes: list[str]) -> str:
    """Why the embedded engine failed to open: from stderr, or the end of its error message."""
    message, printed = notes[0], " ".join(notes[1:])
    what = _WHAT.search(message)
    if what is not None:
        return what.group(1)
    return plain_message(printed if "DB::" in printed else message)


def _of_database(error: SQLAlchemyError | UnknownSchema, settings: Settings) -> str:
    name = _database(settings)
    newer = _NEWER.search(str(error))
    if newer is not None:
        return (
            f"The database {name} was written by a newer version of hoglet (schema "
            f"{newer.group(1)}): start that version, or restore an older backup."
        )
    reason = str(error.orig if isinstance(error, DBAPIError) else error).strip()
    reason = reason.partition("\n")[0].rstrip(". ")
    if isinstance(error, IntegrityError) and "api_token" in reason:
        return f"HOGLET_BOOTSTRAP_PROJECT_TOKEN is the token of another project ({reason})."
    if name.startswith("postgresql"):
        advice = "check HOGLET_DATABASE_URL and that PostgreSQL is running"
    else:
        default = "check HOGLET_DATABASE_URL"
        advice = next((text for mark, text in _SQLITE if mark in reason), default)
    return f"The database {name} cannot be used ({reason}): {advice}."


def _of_system(error: OSError) -> str:
    what = error.strerror or str(error)
    where = f"{error.filename}: " if error.filename else ""
    advice = _SYSTEM.get(error.errno or 0)
    return f"hoglet cannot start ({where}{what})" + (f": {advice}." if advice else ".")


def _database(settings: Settings) -> str:
    """The database as operators know it: a path, or a URL without password and options."""
    url = make_url(settings.resolved_database_url())
    if url.drivername.startswith("sqlite"):
        return url.database or ""
    return url.set(query={}).render_as_string(hide_password=True)


def _warehouse(settings: Settings) -> str:
    """The folder of the warehouse, or the URL of the server without credentials."""
    scheme, _, rest = settings.resolved_warehouse_url().partition("://")
    return rest if scheme == "chdb" else f"{scheme}://{rest.rpartition('@')[2]}"


def _one_line(text: str) -> str:
    return " ".join(text.split())[:_MAX_CHARACTERS]
