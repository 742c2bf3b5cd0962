"""The live tail: log lines of a function as server-sent events.

Each line is an event ``log`` with the shape of the logs route. Its id is the line's timestamp, so
that a client that was disconnected can resume (``Last-Event-ID``).
"""

from collections.abc import AsyncGenerator, AsyncIterator

from msgspec.structs import replace
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from hoglet.functions.api import FUNCTION_PATH, Reads, service_of
from hoglet.functions.logs.api import LOG_QUERY
from hoglet.functions.logs.live_tail import LiveTail, NewLines
from hoglet.functions.logs.telemetry import log_objects, read_log_filters
from hoglet.kit.clock import iso_z, parse_instant
from hoglet.kit.errors import Invalid, Throttled
from hoglet.kit.json import dump_json
from hoglet.warehouse.telemetry import LogFilters
from hoglet.web.openapi import describe
from hoglet.web.router import Router

router = Router()

_HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
_GREETING = b"retry: 2000\n: log lines follow as they arrive\n\n"
_STILL_HERE = b": nothing new\n\n"
_FULL = b"retry: 5000\n: too many log streams are open\n\n"
_CUT = b"event: cut\ndata: more lines arrived at once than are shown\n\n"
_QUIET_LOOKS = 15  # empty polls until a comment that keeps the stream alive and detects disconnects


@router.get(FUNCTION_PATH + "/logs/stream")
@describe({200: "text/event-stream"}, query=LOG_QUERY)
async def stream_logs(request: Request, function_id: str, scope: Reads) -> Response:
    """Stream new log lines as server-sent events, with the parameters of the logs route."""
    filters = _filters(request)
    view = await service_of(request).get(scope, function_id)
    tail: LiveTail = request.app.state.live_tail
    tail.check_capacity()
    events = event_stream(request, tail.follow(scope.project.id, str(view.row.id), filters))
    return StreamingResponse(events, media_type="text/event-stream", headers=_HEADERS)


def _filters(request: Request) -> LogFilters:
    """The parameters; ``Last-Event-ID`` takes precedence over ``after``.

    Raises:
        Invalid: one of them is invalid.
    """
    filters = replace(read_log_filters(request.query_params), before=None)
    last = request.headers.get("last-event-id")
    if not last:
        return filters
    after = parse_instant(last)
    if after is None:
        raise Invalid(
            "Last-Event-ID must be the id of an event of this stream.", attr="Last-Event-ID"
        )
    return replace(filters, after=after)


async def event_stream(request: Request, checks: AsyncGenerator[NewLines]) -> AsyncIterator[bytes]:
    """The stream as sent: a greeting, lines, and comments while nothing is new."""
    quiet = 0
    try:
        yield _GREETING
        async for check in checks:
            if await request.is_disconnected():
                return
            quiet = 0 if check.entries else quiet + 1
            if check.entries:
                yield _written(check)
            elif quiet % _QUIET_LOOKS == 0:
                yield _STILL_HERE
    except Throttled:  # other streams were opened after the check
        yield _FULL
    finally:
        await checks.aclose()


def _written(check: NewLines) -> bytes:
    lines = log_objects(check.entries)["results"]
    text = b"".join(
        b"id: %b\nevent: log\ndata: %b\n\n" % (iso_z(entry.timestamp).encode(), dump_json(line))
        for entry, line in zip(check.entries, lines, strict=True)
    )
    return _CUT + text if check.is_cut else text
