"""The only mapping from errors to HTTP: ``{type, code, detail, attr, **extra}``.

An unexpected error is a bare 500 with only a request id; its traceback goes to the log.

Source: docs/spec/hog-functions.md#12-errors-keys-rate-limits.
"""

from typing import Any

import structlog
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Match, Route

from hoglet.kit import errors
from hoglet.kit.errors import HogletError
from hoglet.web.json_response import JsonResponse

logger = structlog.get_logger(__name__)

REQUEST_ID = "hoglet.request_id"  # scope key; set by hoglet.web.request_log
SERVER_ERROR_DETAIL = "A server error occurred."
_DETAIL_CHARACTERS = 4000  # far more than sentences of our own have

_KINDS: dict[type[HogletError], tuple[int, str]] = {
    errors.Invalid: (400, "validation_error"),
    errors.SourceError: (400, "validation_error"),
    errors.Unreadable: (400, "invalid_request"),
    errors.Unauthenticated: (401, "authentication_error"),
    errors.Forbidden: (403, "authentication_error"),
    errors.NotFound: (404, "invalid_request"),
    errors.MethodNotAllowed: (405, "invalid_request"),
    errors.NotAcceptable: (406, "invalid_request"),
    errors.RequestTimeout: (408, "invalid_request"),
    errors.Stale: (409, "server_error"),
    errors.TooLarge: (413, "invalid_request"),
    errors.UnsupportedMediaType: (415, "invalid_request"),
    errors.Throttled: (429, "throttled_error"),
    errors.CostExceeded: (400, "server_error"),
    errors.Unavailable: (503, "server_error"),
}


def add_error_key[E: HogletError](error: E) -> E:
    """Repeat the detail under ``error``, where PostHog's clients look for it."""
    error.extra = {**error.extra, "error": error.detail}
    return error


def problem(error: HogletError) -> Response:
    """The response to a HogletError."""
    status, kind = status_and_type(type(error))
    if status == 500:
        return server_error(error.extra)
    detail = _shortened(str(error))
    body = {"type": kind, "code": error.error_code, "detail": detail, "attr": error.attr}
    extra = {
        name: detail if value == error.detail else value for name, value in error.extra.items()
    }
    return JsonResponse(body | extra, status_code=status, headers=_headers(error, status))


def _shortened(detail: str) -> str:
    """A detail that repeats a long value, without its middle: the advice is at the end."""
    if len(detail) <= _DETAIL_CHARACTERS:
        return detail
    half = _DETAIL_CHARACTERS // 2
    return f"{detail[:half]} … {detail[-half:]}"


def server_error(extra: dict[str, Any] | None = None) -> Response:
    """The bare 500; ``extra`` are keys specified for a route, e.g. ``{"status": "error"}``."""
    body = {"type": "server_error", "code": "error", "detail": SERVER_ERROR_DETAIL, "attr": None}
    return JsonResponse(body | (extra or {}), status_code=500)


def install(app: Starlette) -> None:
    """Register the error handlers of the application."""
    app.add_exception_handler(HogletError, _on_hoglet_error)
    app.add_exception_handler(HTTPException, _on_http_exception)


def status_and_type(error: type[HogletError]) -> tuple[int, str]:
    """Status and ``type`` of a class of errors, e.g. ``(404, "invalid_request")``."""
    for kind in error.__mro__:
        if kind in _KINDS:
            return _KINDS[kind]
    return 500, "server_error"


def _headers(error: HogletError, status: int) -> dict[str, str]:
    if status == 401:
        return {"WWW-Authenticate": "Bearer"}
    if status in {408, 413}:  # the rest of the body is not read, so the connection cannot be reused
        return {"Connection": "close"}
    wait_seconds: int | None = getattr(error, "wait_seconds", None)
    return {} if wait_seconds is None else {"Retry-After": str(wait_seconds)}


async def _on_hoglet_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HogletError)  # noqa: S101 (the handler is registered for this class)
    if status_and_type(type(error))[0] == 500:
        request_id = request.scope.get(REQUEST_ID)
        await logger.aerror(
            "unexpected error", action="request_failed", request_id=request_id, exc_info=error
        )
    return problem(error)


async def _on_http_exception(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101 (registered for this class)
    if error.status_code == 405 and request.method == "OPTIONS":
        return Response(status_code=204, headers={"Allow": _allowed_methods(request)})
    response = problem(_from_status(error.status_code, str(error.detail), request.method))
    response.headers.update(error.headers or {})
    if error.status_code == 405:
        response.headers["Allow"] = _allowed_methods(request)
    return response


def _allowed_methods(request: Request) -> str:
    """The methods of all routes with the request's path; Starlette lists those of the first one."""
    methods = {"OPTIONS"}
    for route in request.app.router.routes:
        if isinstance(route, Route) and route.matches(request.scope)[0] is not Match.NONE:
            methods |= route.methods or set()
    return ", ".join(sorted(methods))


def _from_status(status: int, detail: str, method: str) -> HogletError:
    match status:
        case 404:
            return errors.NotFound()
        case 405:
            return errors.MethodNotAllowed(f'Method "{method}" not allowed.')
        case 413:
            return errors.TooLarge(detail)
        case 400:
            return errors.Unreadable(detail)
        case _:
            return errors.Bug(detail)
