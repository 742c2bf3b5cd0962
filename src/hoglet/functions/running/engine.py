"""The functions room's use of the Hog engine: filters, templates, whole programs. Pure.

Compiled code is cached by its text, so that a worker compiles a function once.

Source: spec/hog-functions.md sections 5.3, 6, 13.3 and 13.5.
"""

from typing import Any, NamedTuple


class EvaluationFailed(Exception):
    """A filter or template raised, or ran over its budget; the message says why."""


class Ended(NamedTuple):
    """How a program's step ended.

    Exactly one of ``call`` (``("fetch", {"url": ...})``), ``error`` and ``value`` counts.
    """

    milliseconds: float
    operations: int = 0
    memory_bytes: int = 0
    value: Any = None
    call: tuple[str, dict[str, Any]] | None = None
    error: str | None = None
    error_class: Any = None
