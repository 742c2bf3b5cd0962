"""hoglet's own log: one line per event, for humans on a terminal, as JSON elsewhere."""

import contextlib
import logging
import sys
import threading
from typing import Any, TextIO

import structlog
from structlog.typing import EventDict

from hoglet.kit.errors import Unavailable
from hoglet.store.availability import is_unavailable, reason_of

LEVELS = {"debug": logging.DEBUG, "info": logging.INFO, "warning": logging.WARNING}


def configure_logs(*, level: str, style: str) -> None:
    """Configure logging for this process.

    Args:
        level: ``debug``, ``info``, ``warning`` or ``error``.
        style: ``console``, ``json``, or ``auto`` to detect a terminal.
    """
    as_console = style == "console" or (style == "auto" and sys.stderr.isatty())
    renderer: Any = structlog.dev.ConsoleRenderer() if as_console else _json_renderer()
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            shorten_outages,
            structlog.processors.format_exc_info,
            renderer,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(LEVELS.get(level, logging.ERROR)),
        logger_factory=lambda *_: LineLogger(sys.stderr),
        cache_logger_on_first_use=True,
    )
    logging.basicConfig(level=logging.WARNING, stream=sys.stderr, format="%(name)s: %(message)s")


def shorten_outages(_logger: Any, _method: str, event: EventDict) -> EventDict:
    """Log an unavailable dependency in one sentence instead of a traceback per failed call."""
    given = event.get("exc_info")
    error = sys.exc_info()[1] if given is True else given
    if isinstance(error, Unavailable) or (
        isinstance(error, BaseException) and is_unavailable(error)
    ):
        del event["exc_info"]
        event["reason"] = reason_of(error)
    return event


class LineLogger:
    """Writes lines; one that cannot be written (a full disk, a closed pipe) is dropped.

    Otherwise a logging error would abort the work being logged: restarting workers and answering
    requests both log first.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._lock = threading.Lock()

    def msg(self, message: str) -> None:
        """Write a line."""
        with (
            self._lock,
            contextlib.suppress(OSError, ValueError),
        ):  # ValueError: the stream is closed
            self._stream.write(message + "\n")
            self._stream.flush()

    debug = info = warning = warn = error = critical = exception = fatal = log = msg


def _json_renderer() -> structlog.processors.JSONRenderer:
    return structlog.processors.JSONRenderer()
