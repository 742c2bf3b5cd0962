"""What the capture routes take and answer, for the OpenAPI document of the API.

Source: docs/spec/hog-functions.md#14-capture.
"""

from typing import Any

from hoglet.events.api import CAPTURE_PATHS, RECORDING_PATHS
from hoglet.web.openapi import DocumentedResponse, RouteDoc, text

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
    text("compression", "How the body is packed.", enum=["gzip", "gzip-js", "base64"]),
    text("token", "Token of the project, where the body has none."),
    text("beacon", "1 asks for an answer without body."),
)


class Stored(DocumentedResponse):
    """The batch is on disk."""

    status: int


_CAPTURE = RouteDoc({200: Stored, 204: None}, body=_BODY, query=_QUERY, problems=(401,))

ABOUT: dict[tuple[str, str], RouteDoc] = {
    ("POST", path): _CAPTURE for path in (*CAPTURE_PATHS, *RECORDING_PATHS)
}
