"""``hoglet mcp``: the MCP server over standard input and output, for agents on this machine.

Each line of standard input is a message; it is sent to ``/mcp`` of the server, and the response is
written as one line. Standard output carries nothing else. If the server is unreachable at the
start, the command exits with 2; later, the reason is the response to each message.
"""

import json
import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from typing import Any, TextIO

from hoglet.cli.server.api_client import ApiClient, ApiUnreachable, not_hoglet
from hoglet.cli.server.api_errors import ApiRefused
from hoglet.cli.server.connection import connect
from hoglet.kit.json import JsonObject

type RpcMessage = JsonObject
"""A JSON-RPC message, passed on as it is: ``{"jsonrpc": "2.0", "id": 1, "result": {}}``."""

_INTERNAL_ERROR = -32603
_PARSE_ERROR = -32700
_AT_ONCE = 8  # messages; a ping does not wait for a long query


def mcp() -> None:
    """Serve the project's tools to a local agent: MCP over standard input and output."""
    client = connect()
    refusal = _refusal_of(client)
    StdioBridge(client, sys.stdout).serve(sys.stdin)
    if refusal is not None:
        raise refusal


def _refusal_of(client: ApiClient) -> ApiRefused | None:
    """The server's error for this key, or None; raises if no server responds."""
    try:
        answer = client.call("POST", "/mcp", {"jsonrpc": "2.0", "id": 0, "method": "ping"})
    except ApiRefused as refusal:
        return refusal
    if not isinstance(answer, dict) or "jsonrpc" not in answer:
        raise not_hoglet(client.url)
    return None


class StdioBridge:
    """Passes messages between an agent and a server.

    Args:
        client: a client of the server.
        output: receives one message per line.
    """

    def __init__(self, client: ApiClient, output: TextIO) -> None:
        self._client = client
        self._output = output
        self._lock = Lock()

    def serve(self, lines: TextIO) -> None:
        """Pass messages until the input ends; responses to all of them are written before."""
        with ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="mcp") as pool:
            for line in lines:
                if line.strip():
                    pool.submit(self._pass, line)

    def _pass(self, line: str) -> None:
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            self._write(_error(None, _PARSE_ERROR, "The line is not JSON."))
            return
        request_id = message.get("id") if isinstance(message, dict) else None
        try:
            response = self._client.call("POST", "/mcp", message)
        except (ApiRefused, ApiUnreachable) as error:
            if request_id is not None:
                self._write(_error(request_id, _INTERNAL_ERROR, str(error)))
            return
        if response is not None:
            self._write(response)

    def _write(self, message: RpcMessage) -> None:
        text = json.dumps(message, ensure_ascii=False)
        with self._lock:
            self._output.write(text + "\n")
            self._output.flush()


def _error(request_id: Any, code: int, text: str) -> RpcMessage:
    return {"jsonrpc": "2.0", "id": request_id, "error": {"code": code, "message": text}}
