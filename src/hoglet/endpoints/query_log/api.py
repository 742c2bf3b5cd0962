"""Routes of an endpoint's query log.

Source: docs/spec/query-endpoints.md#58-run-errors-in-order-of-evaluation (last paragraph);
docs/spec/hog-functions.md#93-logs.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any

from msgspec.structs import replace
from starlette.requests import Request
from starlette.responses import Response

from hoglet.access.auth import requires
from hoglet.access.principals import ProjectScope
from hoglet.endpoints.container import services_of
from hoglet.endpoints.query_log.log import LOG_SOURCE, message_start
from hoglet.endpoints.response_schemas import VERSION_PARAMETER
from hoglet.endpoints.run.request import read_version
from hoglet.kit.clock import iso_z, parse_instant
from hoglet.kit.errors import Invalid
from hoglet.warehouse.telemetry import DEFAULT_LOGS, LogEntry, LogFilters
from hoglet.web.json_response import JsonResponse
from hoglet.web.openapi import LogLine, Page, describe, number, text
from hoglet.web.router import Depends, Router
from hoglet.web.validation import NOT_INSTANT, NOT_INTEGER

router = Router()

type Reader = Annotated[ProjectScope, Depends(requires("endpoint:read"))]

MIN_LINES, MAX_LINES = 1, 500


_LOG_QUERY = (
    number("limit", minimum=1, maximum=500),
    text("after"),
    text("before"),
    text("level"),
    text("search"),
    text("instance_id"),
    VERSION_PARAMETER,
)


@router.get("/endpoints/{name}/logs")
@describe({200: Page[LogLine]}, query=_LOG_QUERY)
async def list_query_log(request: Request, name: str, scope: Reader) -> Response:
    """List the runs of an endpoint, newest first; ``count`` is the number of lines returned."""
    services = services_of(request)
    await services.service.read(scope, name)
    filters = read_filters(request.query_params)
    version = await services.aliases.number(scope, name, read_version(request))
    endpoint = await services.service.read(scope, name, version)
    if version is not None:
        filters = replace(filters, starts_with=message_start(version))
    await services.query_log.flush()
    entries = await services.telemetry.read_logs(
        scope.project.id, LOG_SOURCE, str(endpoint.endpoint.id), filters
    )
    lines = [_line(entry) for entry in entries]
    return JsonResponse({"count": len(lines), "next": None, "previous": None, "results": lines})


def read_filters(query: Mapping[str, str]) -> LogFilters:
    """Parse the filters of a query string.

    Raises:
        Invalid: attr = the parameter.
    """
    levels = [word.strip().upper() for word in query.get("level", "").split(",") if word.strip()]
    return LogFilters(
        limit=_limit(query.get("limit")),
        after=_instant(query, "after"),
        before=_instant(query, "before"),
        levels=levels,
        search=query.get("search") or None,
        instance_id=query.get("instance_id") or None,
    )


def _limit(text: str | None) -> int:
    if text is None or not text.strip():
        return DEFAULT_LOGS
    digits = text.strip()
    if not (digits.removeprefix("-").isascii() and digits.removeprefix("-").isdecimal()):
        raise Invalid(NOT_INTEGER, attr="limit")
    if len(digits) > 9 or int(digits) > MAX_LINES:
        detail = f"Ensure this value is less than or equal to {MAX_LINES}."
        raise Invalid(detail, code="max_value", attr="limit")
    if int(digits) < MIN_LINES:
        detail = f"Ensure this value is greater than or equal to {MIN_LINES}."
        raise Invalid(detail, code="min_value", attr="limit")
    return int(digits)


def _instant(query: Mapping[str, str], name: str) -> datetime | None:
    text = query.get(name)
    if not text:
        return None
    at = parse_instant(text)
    if at is None:
        raise Invalid(NOT_INSTANT, attr=name)
    return at


def _line(entry: LogEntry) -> dict[str, Any]:
    return {
        "log_source_id": entry.source_id,
        "instance_id": entry.instance_id,
        "timestamp": iso_z(entry.timestamp),
        "level": entry.level,
        "message": entry.message,
    }
