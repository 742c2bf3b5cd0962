"""JSON-RPC messages of the Model Context Protocol, as much of it as a server of tools needs.

A request is ``{"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}``; without ``id``
it is a notification, which has no response.

Source: docs/adr/0028-mcp.md.
"""

from typing import Any

import msgspec

from hoglet import __version__
from hoglet.kit.json_values import is_object
from hoglet.kit.nesting import is_deeper_than

type Json = dict[str, Any]

VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
"""Revisions with the ``initialize`` handshake, oldest first."""

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
UNSUPPORTED_VERSION = -32022
_DEEPEST = 100
_LONGEST_ID = 200

_INSTRUCTIONS = (
    "Tools named run_… run the saved queries of this project: prefer them. "
    "query runs HogQL, a dialect of ClickHouse SQL; call get_schema and read_taxonomy before "
    "writing one. Hog functions react to events; test_function runs one without sending anything."
)


class RpcError(Exception):
    """A JSON-RPC error response; ``status`` is that of the HTTP response."""

    def __init__(
        self,
        code: int,
        message: str,
        *,
        status: int = 200,
        request_id: str | int | None = None,
        data: Json | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.status = status
        self.request_id = request_id
        self.data = data

    def response(self) -> Json:
        """The message, e.g. ``{"jsonrpc": "2.0", "id": 1, "error": {"code": -32601, …}}``."""
        error: Json = {"code": self.code, "message": str(self)}
        if self.data is not None:
            error["data"] = self.data
        return {"jsonrpc": "2.0", "id": self.request_id, "error": error}


class RpcMessage(msgspec.Struct, frozen=True):
    """A request, or a notification if ``id`` is None; a response of the client has no method."""

    id: str | int | None
    method: str | None
    params: Json


def read_message(body: bytes) -> RpcMessage:
    """Parse one message.

    Raises:
        RpcError: not JSON, a batch, or not a message.
    """
    try:
        message: Any = msgspec.json.decode(body)
    except (msgspec.DecodeError, RecursionError):
        raise RpcError(PARSE_ERROR, "The body is not JSON.", status=400) from None
    if is_deeper_than(message, _DEEPEST):
        raise RpcError(INVALID_REQUEST, f"Nested deeper than {_DEEPEST} levels.", status=400)
    if not is_object(message) or message.get("jsonrpc") != "2.0":
        raise RpcError(
            INVALID_REQUEST,
            'Send one message with "jsonrpc": "2.0"; batches are not supported.',
            status=400,
        )
    return _read(message)


def _read(message: Json) -> RpcMessage:
    request_id = _read_id(message)
    method = message.get("method")
    if method is None and ("result" in message or "error" in message):
        return RpcMessage(None, None, {})
    if not isinstance(method, str):
        raise RpcError(
            INVALID_REQUEST, "method must be a string.", status=400, request_id=request_id
        )
    params = message.get("params", {})
    if not is_object(params):
        raise RpcError(
            INVALID_PARAMS, "params must be an object.", status=400, request_id=request_id
        )
    return RpcMessage(request_id, method, params)


def _read_id(message: Json) -> str | int | None:
    if "id" not in message:
        return None
    value = message["id"]
    is_number = isinstance(value, int) and not isinstance(value, bool)
    if is_number or (isinstance(value, str) and len(value) <= _LONGEST_ID):
        return value
    detail = f"id must be an integer or a string of at most {_LONGEST_ID} characters."
    raise RpcError(INVALID_REQUEST, detail, status=400)


def check_version(header: str | None) -> None:
    """Check the header ``MCP-Protocol-Version``; clients send it after the handshake.

    Raises:
        RpcError: another revision than ``VERSIONS``.
    """
    if header is not None and header not in VERSIONS:
        raise RpcError(
            UNSUPPORTED_VERSION,
            f"Unsupported protocol version; supported: {', '.join(VERSIONS)}.",
            status=400,
            data={"supported": list(VERSIONS), "requested": header[:40]},
        )


def result_of(request_id: str | int | None, result: Json) -> Json:
    """A response message."""
    return {"jsonrpc": "2.0", "id": request_id, "result": result}


def handshake(params: Json) -> Json:
    """The result of ``initialize``: the client's revision if supported, else the newest."""
    requested = params.get("protocolVersion")
    return {
        "protocolVersion": requested if requested in VERSIONS else VERSIONS[-1],
        "capabilities": {"tools": {"listChanged": False}},
        "serverInfo": {"name": "hoglet", "title": "hoglet", "version": __version__},
        "instructions": _INSTRUCTIONS,
    }
