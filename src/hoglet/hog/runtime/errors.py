"""Errors of runs.

Three families, distinguished by class:

- :class:`HogThrow`: thrown by ``throw``; the only one that programs can catch.
- :class:`EngineError`: a bad index, an unknown function, an arity, a bad library argument. Ends the
run, even inside ``try``.
- :class:`LimitExceeded`: a budget is exhausted. A ``BaseException``, so that no handler swallows it
by accident.

Source: docs/spec/hog-language.md#7-errors and docs/spec/hog-language.md#10-limits.
"""

from typing import Any, Literal

import msgspec

type FailureKind = Literal["uncaught", "engine", "timeout", "memory", "depth", "steps"]


class HogThrow(Exception):
    """A thrown Hog error on its way to a ``catch``.

    Attributes:
        value: the :class:`~hoglet.hog.runtime.values.HogError` itself; its identity is kept.
    """

    def __init__(self, value: Any) -> None:
        super().__init__()
        self.value = value


class EngineError(Exception):
    """An error of the engine or of a library function; programs cannot catch it."""


class LimitExceeded(BaseException):
    """A limit of docs/spec/hog-language.md#10-limits is exceeded; ``kind`` says which.

    ``kind`` is ``timeout``, ``memory``, ``depth`` or ``steps``.
    """

    def __init__(self, message: str, *, kind: FailureKind) -> None:
        super().__init__(message)
        self.kind: FailureKind = kind


class TraceFrame(msgspec.Struct, frozen=True):
    """A line of a traceback: ``TraceFrame("lambda", 3)``; the program itself is ``root``."""

    function: str
    line: int


class RunError(msgspec.Struct, frozen=True, kw_only=True):
    """How a run failed, as data for logs and responses.

    Attributes:
        type: type of the thrown error (``Error``, ``RetryError`` ...); ``Error`` for all others.
        message: the bare message, without the type.
        text: for display: ``Type('message')`` for a thrown error, else the message.
        payload: payload of a thrown error as plain JSON, else None.
        line: source line of the failing statement, from 1; 0 when unknown.
        kind: ``uncaught`` for thrown errors, ``engine``, or the limit that was exceeded.
        frames: innermost last, at most 50.
    """

    type: str
    message: str
    text: str
    payload: Any
    line: int
    kind: FailureKind
    frames: tuple[TraceFrame, ...] = ()


class HostFailure(Exception):
    """Raised by a host function to throw an error that the program can catch.

    Args:
        message: the message of the Hog error.
        type_name: its type, e.g. ``RetryError``.
        payload: plain data.
    """

    def __init__(self, message: str, *, type_name: str = "Error", payload: Any = None) -> None:
        super().__init__(message)
        self.message = message
        self.type_name = type_name
        self.payload = payload
