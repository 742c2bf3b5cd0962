"""Calls the application as a function: the whole API without a network.

The console and the MCP server are clients of the API and use their caller's key, so they can never
show or change more than that key permits and need no permission checks of their own.
"""

import asyncio
from typing import Any

import msgspec
import orjson
from starlette.types import ASGIApp, Message

from hoglet.kit.json import dump_json


class Origin(msgspec.Struct, frozen=True):
    """Scheme and host of the page or client, for absolute URLs in responses."""

    scheme: str
    host: str


class ApiRequest(msgspec.Struct, frozen=True):
    """A request, e.g. ``ApiRequest("GET", "/api/projects/1/events", "limit=10")``."""

    method: str
    path: str
    query: str = ""
    body: Any = None


class ApiResponse(msgspec.Struct, frozen=True):
    """A response: ``body`` is the parsed JSON (None if there is none), ``text`` the raw body."""

    status: int
    body: Any
    text: bytes = b""


async def call_application(
    app: ASGIApp, request: ApiRequest, *, authorization: str, origin: Origin
) -> ApiResponse:
    """Call any route by its absolute path.

    Args:
        app: the whole application, including middleware.
        request: the request.
        authorization: the header, e.g. ``Bearer phx_…``.
        origin: the client's origin.
    """
    call = _Call(b"" if request.body is None else dump_json(request.body))
    await app(_scope(request, authorization, origin), call.receive, call.send)
    return call.response()


def _scope(request: ApiRequest, authorization: str, origin: Origin) -> dict[str, Any]:
    return {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": request.method,
        "scheme": origin.scheme,
        "path": request.path,
        "raw_path": request.path.encode(),
        "root_path": "",
        "query_string": request.query.encode(),
        "headers": [
            (b"host", origin.host.encode("latin-1")),
            (b"authorization", authorization.encode("latin-1")),
            (b"content-type", b"application/json"),
        ],
        "client": None,
        "server": ("in-process", 80),
        "state": {},
    }


class _Call:
    """The ``receive`` and ``send`` channels of one ASGI call."""

    def __init__(self, body: bytes) -> None:
        self._body = body
        self._sent = False
        self._answered = asyncio.Event()
        self._status = 500
        self._parts: list[bytes] = []

    async def receive(self) -> Message:
        if self._sent:  # a second receive waits for the client to disconnect
            await self._answered.wait()
            return {"type": "http.disconnect"}
        self._sent = True
        return {"type": "http.request", "body": self._body, "more_body": False}

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._status = message["status"]
        elif message["type"] == "http.response.body":
            self._parts.append(message.get("body", b""))
            if not message.get("more_body", False):
                self._answered.set()

    def response(self) -> ApiResponse:
        text = b"".join(self._parts)
        try:
            return ApiResponse(self._status, orjson.loads(text) if text else None, text)
        except orjson.JSONDecodeError:
            return ApiResponse(self._status, None, text)
