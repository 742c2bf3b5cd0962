"""ClickHouse's HTTP interface over chDB: the real engine behind the protocol of a server.

It runs in its own process, since chDB allows one folder per process and the tests use theirs. It
prints its port and stops at the end of standard input. It supports what ``clickhouse-connect``
uses: settings, bound parameters and the database in the address or a form, the query in the address
or the body, inserted data, compression both ways, error codes, summaries, users, and queries that
end when their client disconnects. The user ``reader`` is ``readonly = 2``, as in docs/operating.md.

It has one node: no clusters, no replication, no Keeper.
"""

import argparse
import asyncio
import gzip
import json
import os
import re
import sys
import tempfile
import threading
import time
import zlib
from base64 import b64decode
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

import brotli
import chdb
import lz4.frame
from aiohttp import web
from chdb._exceptions import ChdbError

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

THREADS = 64
USERS = {"default": "", "reader": "reader-password"}
READERS = {"reader"}
_TRANSPORT = frozenset(
    {
        "buffer_size",
        "cancel_http_readonly_queries_on_client_close",
        "client_protocol_version",
        "compress",
        "database",
        "decompress",
        "default_format",
        "enable_http_compression",
        "http_headers_progress_interval_ms",
        "password",
        "query",
        "query_id",
        "quota_key",
        "role",
        "send_progress_in_http_headers",
        "session_check",
        "session_id",
        "session_timeout",
        "user",
        "wait_end_of_query",
    }
)
_INSERT = re.compile(
    rb"\s*(INSERT\s+INTO\s[^\n]*?)\s+FORMAT\s+(\w+)\s*\n(.*)", re.DOTALL | re.IGNORECASE
)
_CODE = re.compile(r"Code: (\d+)\b")
_STATUS = {516: 403, 164: 403, 497: 403, 60: 404, 81: 404, 46: 404, 62: 400, 202: 429, 159: 408}
_VERSION = " (version 26.9.1.1 (a double for tests))"
_ENCODERS: dict[str, tuple[Callable[[bytes], bytes], Callable[[bytes], bytes]]] = {
    "lz4": (lz4.frame.compress, lz4.frame.decompress),
    "zstd": (zstd.compress, zstd.decompress),
    "br": (lambda data: brotli.compress(data, quality=1), brotli.decompress),
    "gzip": (lambda data: gzip.compress(data, 1), gzip.decompress),
    "deflate": (zlib.compress, zlib.decompress),
}


class EngineError(Exception):
    """An error with ClickHouse's code."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


@dataclass
class Statement:
    """One request."""

    text: bytes
    database: str
    user: str
    settings: dict[str, str]
    params: dict[str, str]
    default_format: str
    query_id: str = field(default_factory=lambda: uuid4().hex)


@dataclass
class Outcome:
    """What the engine returned."""

    body: bytes
    format: str | None
    summary: dict[str, str]


class Engine:
    """Runs each statement on its own connection, with its own settings."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._root = chdb.connect(folder)  # keeps the engine running

    def run(self, statement: Statement) -> Outcome:
        """Run one statement; blocks."""
        connection = chdb.connect(self._folder)
        try:
            self._prepare(connection, statement)
            return self._run(connection, statement)
        except ChdbError as error:
            raise _engine_error(str(error)) from None
        except UnicodeDecodeError as error:  # a message that quotes bytes; a server sends them
            raise _engine_error(error.object.decode(errors="surrogateescape")) from None
        finally:
            connection.close()

    def kill(self, statement: Statement) -> None:
        """Stop a statement whose client has disconnected."""
        tag = statement.text[:80].decode(errors="replace")
        where = f"startsWith(query, {_quoted(tag)})"
        killer = Statement(f"KILL QUERY WHERE {where} ASYNC".encode(), "", "default", {}, {}, "TSV")
        self.run(killer)

    def _prepare(self, connection: Any, statement: Statement) -> None:
        if statement.database:
            connection.query(f"USE `{statement.database}`", "TSV")
        if statement.user in READERS:
            connection.query("SET readonly = 2", "TSV")
        settings = sorted(statement.settings.items(), key=lambda item: item[0] == "readonly")
        for name, value in settings:
            if not re.fullmatch(r"\w+", name):
                raise EngineError(
                    115, f"Code: 115. DB::Exception: Unknown setting {name}{_VERSION}"
                )
            connection.query(f"SET {name} = {_quoted(value)}", "TSV")

    def _run(self, connection: Any, statement: Statement) -> Outcome:
        begun = time.monotonic_ns()
        insert = _INSERT.fullmatch(statement.text)
        if insert:
            head, kind, data = insert.groups()
            with tempfile.NamedTemporaryFile(suffix=".block") as file:
                file.write(data)
                file.flush()
                infile = b"%b FROM INFILE '%b' FORMAT %b" % (head, file.name.encode(), kind)
                result = connection.query(infile, "TSV", params=statement.params)
            return Outcome(b"", None, _written(result, begun))
        chosen = re.search(rb"\bFORMAT\s+(\w+)\s*;?\s*$", statement.text)
        if chosen:
            kind = chosen.group(1).decode()
            result = connection.query(statement.text, kind, params=statement.params)
            return Outcome(result.bytes() or b"", kind, _read(result, begun))
        # With names, every result has at least the line of the names, even without rows.
        kind = statement.default_format
        result = connection.query(statement.text, f"{kind}WithNames", params=statement.params)
        names, _, rows = (result.bytes() or b"").partition(b"\n")
        return Outcome(rows, kind if names else None, _read(result, begun))


def _engine_error(message: str) -> EngineError:
    code = _CODE.search(message)
    text = message[max(message.find("Code: "), 0) :].strip()
    text = text if "(version" in text else text + _VERSION
    return EngineError(int(code.group(1)) if code else 1000, text)


def _written(result: Any, begun: int) -> dict[str, str]:
    rows, size = str(result.rows_read()), str(result.bytes_read())
    return {"written_rows": rows, "written_bytes": size, **_elapsed(begun)}


def _read(result: Any, begun: int) -> dict[str, str]:
    rows, size = str(result.storage_rows_read()), str(result.storage_bytes_read())
    return {"read_rows": rows, "read_bytes": size, **_elapsed(begun)}


def _elapsed(begun: int) -> dict[str, str]:
    return {"elapsed_ns": str(time.monotonic_ns() - begun)}


def _quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


class Interface:
    """The HTTP side."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._threads = ThreadPoolExecutor(THREADS)

    async def ping(self, _request: web.Request) -> web.Response:
        """GET /ping."""
        return web.Response(text="Ok.\n")

    async def handle(self, request: web.Request) -> web.Response:
        """POST /."""
        try:
            statement = await _statement(request)
            outcome = await self._run(statement, dict(request.query))
        except EngineError as error:
            status = _STATUS.get(error.code, 500)
            headers = {"X-ClickHouse-Exception-Code": str(error.code)}
            body = f"{error.message}\n".encode(errors="surrogateescape")
            return web.Response(body=body, status=status, headers=headers)
        headers = {
            "X-ClickHouse-Query-Id": statement.query_id,
            "X-ClickHouse-Summary": json.dumps(outcome.summary),
            "X-ClickHouse-Timezone": "UTC",
            "X-ClickHouse-Server-Display-Name": "double",
        }
        if outcome.format:
            headers["X-ClickHouse-Format"] = outcome.format
        body = outcome.body
        if encoding := _response_encoding(request):
            headers["Content-Encoding"] = encoding
            body = await asyncio.to_thread(_ENCODERS[encoding][0], body)
        return web.Response(body=body, headers=headers)

    async def _run(self, statement: Statement, query: Mapping[str, str]) -> Outcome:
        loop = asyncio.get_running_loop()
        running = loop.run_in_executor(self._threads, self._engine.run, statement)
        try:
            return await asyncio.shield(running)
        except asyncio.CancelledError:  # the client hung up
            if query.get("cancel_http_readonly_queries_on_client_close") == "1":
                loop.run_in_executor(self._threads, self._engine.kill, statement)
            raise


async def _statement(request: web.Request) -> Statement:
    user = _user(request)
    fields = dict(request.query)
    text = b""
    if request.content_type.startswith("multipart/"):
        for name, value in (await request.post()).items():
            if not isinstance(value, str):
                raise _engine_error("Code: 48. DB::Exception: The double takes no files")
            fields[name] = value
    else:
        text = await request.read()
        if encoding := request.headers.get("Content-Encoding"):
            text = _ENCODERS[encoding][1](text)
    query = fields.get("query", "").encode()
    text = query + b"\n" + text if query and text else query or text
    settings = {
        name: value
        for name, value in fields.items()
        if name not in _TRANSPORT and not name.startswith("param_")
    }
    params = {
        name.removeprefix("param_"): value
        for name, value in fields.items()
        if name.startswith("param_")
    }
    kind = fields.get("default_format", "TabSeparated")
    statement = Statement(text, fields.get("database", ""), user, settings, params, kind)
    statement.query_id = fields.get("query_id") or statement.query_id
    return statement


def _user(request: web.Request) -> str:
    kind, _, encoded = request.headers.get("Authorization", "").partition(" ")
    user, _, password = (
        b64decode(encoded).decode().partition(":") if kind == "Basic" else ("default", "", "")
    )
    if USERS.get(user) != password:
        raise _engine_error(f"Code: 516. DB::Exception: {user}: Authentication failed.")
    return user


def _response_encoding(request: web.Request) -> str | None:
    if request.query.get("enable_http_compression") != "1":
        return None
    accepted = request.headers.get("Accept-Encoding", "").replace(" ", "").split(",")
    return next((each for each in accepted if each in _ENCODERS), None)


async def serve(folder: str, port: int = 0) -> None:
    """Serve until standard input ends."""
    interface = Interface(Engine(folder))
    application = web.Application(client_max_size=2**30, handler_args={"auto_decompress": False})
    application.router.add_get("/ping", interface.ping)
    application.router.add_route("*", "/", interface.handle)
    runner = web.AppRunner(application, handler_cancellation=True)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", port)
    await site.start()
    print(runner.addresses[0][1], flush=True)  # noqa: T201 (read by the fixture)
    await asyncio.Event().wait()


def _stop_with_parent() -> None:
    sys.stdin.buffer.read()
    os._exit(0)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--port", type=int, default=0, help="after a kill: the port of before")
    options = parser.parse_args()
    threading.Thread(target=_stop_with_parent, daemon=True).start()
    asyncio.run(serve(options.folder, options.port))
