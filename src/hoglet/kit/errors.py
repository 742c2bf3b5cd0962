"""The errors of hoglet: what happened, who can fix it, and whether a retry helps.

Errors carry ``code``, ``blame`` and ``retry`` and are independent of HTTP. The only mapping, in
``hoglet.web.error_handlers``, turns them into a status and ``{type, code, detail, attr}``. Messages
are written for the person who has to change something.

Source: docs/spec/hog-functions.md#12-errors-keys-rate-limits;
docs/adr/0004-errors-and-wire-form.md.
"""

from typing import Any, ClassVar, Literal, NamedTuple

type Blame = Literal["caller", "author", "operator", "hoglet"]
type Retry = Literal["never", "later"]


class HogletError(Exception):
    """Base of all errors that hoglet raises on purpose.

    Args:
        detail: a sentence for the person who has to act.
        code: stable identifier that clients can match; defaults to the class's own.
        attr: the invalid field, nested keys joined with ``__`` (``inputs__url``), or None.
        extra: additional top-level keys of the response, e.g. ``{"current_version": 1}``.
    """

    code: ClassVar[str] = "error"
    blame: ClassVar[Blame] = "hoglet"
    retry: ClassVar[Retry] = "never"

    def __init__(
        self,
        detail: str,
        *,
        code: str | None = None,
        attr: str | None = None,
        extra: dict[str, Any] | None = None,
    ) -> None:
        super().__init__(detail)
        self.detail = detail
        self.error_code = code or type(self).code
        self.attr = attr
        self.extra = extra or {}


class Invalid(HogletError):
    """A field of the request is invalid (400 ``validation_error``)."""

    code = "invalid_input"
    blame = "caller"


class Unreadable(HogletError):
    """The body cannot be parsed (400 ``invalid_request``)."""

    code = "parse_error"
    blame = "caller"


class Unauthenticated(HogletError):
    """The API key is missing or not valid (401 ``authentication_error``)."""

    code = "not_authenticated"
    blame = "caller"


class Forbidden(HogletError):
    """The key is valid but lacks permission (403 ``authentication_error``)."""

    code = "permission_denied"
    blame = "caller"


class NotFound(HogletError):
    """The object does not exist, or not for this caller (404 ``invalid_request``)."""

    code = "not_found"
    blame = "caller"

    def __init__(self, detail: str = "Not found.", **more: Any) -> None:
        super().__init__(detail, **more)


class MethodNotAllowed(HogletError):
    """The route exists, but not for this method (405 ``invalid_request``)."""

    code = "method_not_allowed"
    blame = "caller"


class NotAcceptable(HogletError):
    """No format in ``Accept`` is supported (406 ``invalid_request``)."""

    code = "not_acceptable"
    blame = "caller"


class RequestTimeout(HogletError):
    """The request was not received in time (408 ``invalid_request``)."""

    code = "request_timeout"
    blame = "caller"
    retry = "later"


class Stale(HogletError):
    """The object changed since the caller read it (409 ``server_error``)."""

    code = "stale_update"
    blame = "caller"


class TooLarge(HogletError):
    """The body exceeds a limit (413 ``invalid_request``)."""

    code = "request_too_large"
    blame = "caller"


class UnsupportedMediaType(HogletError):
    """The content type is not supported (415 ``invalid_request``)."""

    code = "unsupported_media_type"
    blame = "caller"


class Throttled(HogletError):
    """Too many requests (429 ``throttled_error``); ``wait_seconds`` becomes ``Retry-After``."""

    code = "throttled"
    blame = "caller"
    retry = "later"

    def __init__(self, detail: str, *, wait_seconds: int, **more: Any) -> None:
        super().__init__(detail, **more)
        self.wait_seconds = wait_seconds


class CostExceeded(HogletError):
    """A query exceeded its budget (400 with type ``server_error``); a cheaper query helps."""

    code = "query_performance_limit"
    blame = "author"


class Unavailable(HogletError):
    """A required part is busy or down (503 ``server_error``, with ``Retry-After``)."""

    code = "unavailable"
    blame = "operator"
    retry = "later"

    def __init__(self, detail: str, *, wait_seconds: int = 5, **more: Any) -> None:
        super().__init__(detail, **more)
        self.wait_seconds = wait_seconds


class SourceSpan(NamedTuple):
    """A part of a text, ``source[start:end]``; ``line`` and ``column`` count from 1."""

    line: int = 1
    column: int = 1
    start: int = 0
    end: int = 0


START_OF_SOURCE = SourceSpan()


class SourceError(HogletError):
    """Hog or HogQL text that does not parse or compile; never worth retrying.

    ``line`` and ``column`` count from 1; ``start`` and ``end`` are character offsets such that
    ``source[start:end]`` is the offending text. ``str(error)`` is ``line:column: message``, or only
    the message if ``attr`` (the path of a key in a JSON query) gives the position.
    """

    code = "source_error"
    blame = "author"

    def __init__(
        self,
        message: str,
        span: SourceSpan = START_OF_SOURCE,
        *,
        hint: str | None = None,
        code: str | None = None,
        attr: str | None = None,
    ) -> None:
        super().__init__(message, code=code, attr=attr)
        self.message = message
        self.line, self.column, self.start, self.end = span
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.line}:{self.column}: {self.message}" if self.attr is None else self.message

    @property
    def advice(self) -> str:
        """``str(error)`` followed by the hint."""
        if not self.hint:
            return str(self)
        return f"{_ended(str(self))} {_ended(self.hint[:1].upper() + self.hint[1:])}"


def _ended(sentence: str) -> str:
    return sentence if sentence.endswith(("?", ".")) else f"{sentence}."


class Bug(HogletError):
    """An invariant of hoglet is broken; a bare 500, logged with its traceback."""

    code = "error"
