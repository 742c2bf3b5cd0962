"""JSON-RPC messages of the Model Context Protocol, as far as a server of tools needs them.

A request is ``{"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}``; without ``id``
it is a notification, which has no response.

Source: docs/adr/0028-mcp.md.
"""

from collections.abc import Mapping
from typing import Any, Literal, NotRequired, TypedDict

import msgspec

from hoglet import __version__
from hoglet.kit.errors import Invalid
from hoglet.kit.json import JsonObject, is_object

VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
"""Revisions with the ``initialize`` handshake, oldest first."""

INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
UNSUPPORTED_VERSION = -32022
_MAX_ID_CHARACTERS = 200

_INSTRUCTIONS = (
    "Tools named run_… run the saved queries of this project: prefer them. "
    "query runs HogQL, a dialect of ClickHouse SQL; call get_schema and read_taxonomy before "
    "writing one. Hog functions react to events; test_function runs one without sending anything."
)


class RpcFailure(TypedDict):
    """Why a request failed: ``{"code": -32601, "message": "Unknown method: x"}``."""

    code: int
    message: str
    data: NotRequired[JsonObject]


class RpcReply(TypedDict):
    """A response message, with ``result`` or ``error``."""

    jsonrpc: Literal["2.0"]
    id: str | int | None
    result: NotRequired[Mapping[str, Any]]
    error: NotRequired[RpcFailure]


class Handshake(TypedDict):
    """The result of ``initialize``."""

    protocolVersion: str
    capabilities: JsonObject
    serverInfo: dict[str, str]
    instructions: str


class RpcError(Exception):
    """A JSON-RPC error response; ``status`` is that of the HTTP response."""

    def __init__(
        self,
        code: int,
        message: str,
        *,
        status: int = 200,
        request_id: str | int | None = None,
        data: JsonObject | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.status = status
        self.request_id = request_id
        self.data = data

    def response(self) -> RpcReply:
        """The message, e.g. ``{"jsonrpc": "2.0", "id": 1, "error": {"code": -32601, …}}``."""
        error: RpcFailure = {"code": self.code, "message": str(self)}
        if self.data is not None:
            error["data"] = self.data
        return {"jsonrpc": "2.0", "id": self.request_id, "error": error}


class RpcMessage(msgspec.Struct, frozen=True):
    """A request, or a notification if ``id`` is None; a response of the client has no method."""

    id: str | int | None
    method: str | None
    params: JsonObject


def read_message(message: Any) -> RpcMessage:
    """One message, from parsed JSON.

    Raises:
        Invalid: not a message, or a batch; the HTTP response is an ordinary 400.
        RpcError: an invalid request whose id is known, so it gets a JSON-RPC response.
    """
    if not is_object(message) or message.get("jsonrpc") != "2.0":
        raise Invalid(
            'Send one JSON-RPC message with "jsonrpc": "2.0"; batches are not supported.',
            attr="jsonrpc",
        )
    request_id = _read_id(message)
    method = message.get("method")
    if method is None and ("result" in message or "error" in message):
        return RpcMessage(None, None, {})
    if not isinstance(method, str):
        raise _invalid_request("method must be a string.", request_id)
    params = message.get("params", {})
    if not is_object(params):
        raise _invalid_request("params must be an object.", request_id)
    return RpcMessage(request_id, method, params)


def _invalid_request(detail: str, request_id: str | int | None) -> RpcError | Invalid:
    if request_id is None:
        return Invalid(detail, attr=detail.partition(" ")[0])
    return RpcError(INVALID_REQUEST, detail, request_id=request_id)


def _read_id(message: JsonObject) -> str | int | None:
    if "id" not in message:
        return None
    value = message["id"]
    is_number = isinstance(value, int) and not isinstance(value, bool)
    if is_number or (isinstance(value, str) and len(value) <= _MAX_ID_CHARACTERS):
        return value
    detail = f"id must be an integer or a string of at most {_MAX_ID_CHARACTERS} characters."
    raise Invalid(detail, attr="id")


def check_version(header: str | None) -> None:
    """Check the header ``MCP-Protocol-Version``; clients send it after the handshake.

    Raises:
        RpcError: the revision is not in ``VERSIONS``.
    """
    if header is not None and header not in VERSIONS:
        raise RpcError(
            UNSUPPORTED_VERSION,
            f"Unsupported protocol version; supported: {', '.join(VERSIONS)}.",
            status=400,
            data={"supported": list(VERSIONS), "requested": header[:40]},
        )


def result_of(request_id: str | int | None, result: Mapping[str, Any]) -> RpcReply:
    """Build a response message."""
    return {"jsonrpc": "2.0", "id": request_id, "result": result}


def handshake(params: JsonObject) -> Handshake:
    """The result of ``initialize``: the client's revision if supported, else the newest."""
    requested = params.get("protocolVersion")
    return {
        "protocolVersion": requested if requested in VERSIONS else VERSIONS[-1],
        "capabilities": {"tools": {"listChanged": False}},
        "serverInfo": {"name": "hoglet", "title": "hoglet", "version": __version__},
        "instructions": _INSTRUCTIONS,
    }
