"""Capture routes: plain Starlette, because they are the hot path.

CORS, path normalization and error responses are handled by ``hoglet.web``.
"""

from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from hoglet.events.service import CaptureRequest, CaptureService
from hoglet.web.openapi import DocumentedResponse, describe, text
from hoglet.web.request_body import read_body

CAPTURE_PATHS = ("/batch", "/i/v0/e", "/e", "/capture", "/track", "/engage")
RECORDING_PATHS = ("/s",)
_STORED = b'{"status":1}'
_EVENT: dict[str, Any] = {
    "type": "object",
    "properties": {
        "event": {"type": "string", "maxLength": 200},
        "distinct_id": {"type": ["string", "number"]},
        "properties": {"type": "object"},
        "timestamp": {"type": "string", "format": "date-time"},
        "uuid": {"type": "string", "format": "uuid"},
        "api_key": {"type": "string"},
    },
}
_BATCH: dict[str, Any] = {
    "type": "object",
    "required": ["api_key", "batch"],
    "properties": {
        "api_key": {"type": "string", "description": "The project's token, phc_…"},
        "batch": {"type": "array", "items": _EVENT, "minItems": 1},
        "historical_migration": {"type": "boolean"},
        "sent_at": {"type": "string", "format": "date-time"},
    },
}
_BODY: dict[str, Any] = {"anyOf": [_BATCH, _EVENT, {"type": "array", "items": _EVENT}]}


_QUERY = (
    text("compression", "Compression of the body.", enum=["gzip", "gzip-js", "base64"]),
    text("token", "The project's token, if the body has none."),
    text("beacon", "1 requests a response without body."),
)


class Stored(DocumentedResponse):
    """The batch is on disk."""

    status: int


@describe({200: Stored, 204: None}, body=_BODY, query=_QUERY, problems=(401,))
async def capture(request: Request) -> Response:
    """Capture a batch of events; 200 means that it is on disk."""
    service: CaptureService = request.app.state.events.capture
    await service.capture(
        CaptureRequest(
            body=await read_body(request, limit_bytes=service.body_limit_bytes),
            query=request.query_params,
            content_encoding=request.headers.get("content-encoding", ""),
            ip=request.client.host if request.client else "",
        )
    )
    return _accepted(request)


@describe({200: Stored, 204: None}, body=_BODY, query=_QUERY, problems=(401,))
async def drop_recording(request: Request) -> Response:
    """Accept and drop session recordings."""
    await read_body(request)
    return _accepted(request)


def _accepted(request: Request) -> Response:
    if request.query_params.get("beacon") == "1":
        return Response(status_code=204)
    return Response(_STORED, media_type="application/json")


def capture_routes() -> list[Route]:
    """The capture routes; matched before all others."""
    accepted = [Route(path, capture, methods=["POST"]) for path in CAPTURE_PATHS]
    dropped = [Route(path, drop_recording, methods=["POST"]) for path in RECORDING_PATHS]
    return accepted + dropped
