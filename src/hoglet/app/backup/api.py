"""``POST /_backup``: streams a backup as a tar archive. Not part of the project API.

Requires the token in ``server.json``, i.e. read access to the data folder, or the personal key of a
staff user with the scope ``*`` and no restriction. ``secret.key`` is not part of the response; it
can only be read from the folder.

Source: docs/adr/0020-online-backup.md.
"""

import asyncio
import secrets
import tarfile
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, aclosing
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from hoglet.access.auth import authenticate
from hoglet.access.principals import ANY_SCOPE, Principal
from hoglet.app.backup.service import BackupService
from hoglet.app.startup.server_file import TOKEN_HEADER
from hoglet.kit.errors import Forbidden

PATH = "/_backup"


def backup_route(service: BackupService, local_token: str) -> Route:
    """The route; ``local_token`` is the token in ``server.json``."""

    async def backup(request: Request) -> Response:
        given = request.headers.get(TOKEN_HEADER, "")
        if not secrets.compare_digest(given.encode(), local_token.encode()):
            _check_staff(await authenticate(request))
        stack = AsyncExitStack()
        return BackupResponse(await stack.enter_async_context(service.backup()), stack)

    return Route(PATH, backup, methods=["POST"])


class BackupResponse(StreamingResponse):
    """Sends a folder as a tar archive, and removes it in any case.

    A client may leave before the first chunk. Then the content is never iterated, and a ``finally``
    in its generator would not run.

    Args:
        folder: its content is sent.
        stack: closed at the end; removes the folder and admits the next backup.
    """

    def __init__(self, folder: Path, stack: AsyncExitStack) -> None:
        self._content = tar_stream(folder)
        self._stack = stack
        super().__init__(self._content, media_type="application/x-tar")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the archive."""
        async with self._stack, aclosing(self._content):
            await super().__call__(scope, receive, send)


def _check_staff(principal: Principal) -> None:
    is_restricted = principal.scoped_teams or principal.scoped_organizations
    is_staff = principal.user is not None and principal.user.is_staff
    if not is_staff or is_restricted or ANY_SCOPE not in principal.scopes:
        raise Forbidden(
            "A backup contains all projects: it requires the personal API key of a "
            "staff user with the scope * and no restriction to projects or "
            "organizations."
        )


_CHUNK_BYTES = 1024 * 1024
_CHUNKS = 8  # chunks waiting for a slow reader


async def tar_stream(folder: Path) -> AsyncGenerator[bytes]:
    """The content of a folder as chunks of one tar archive."""
    loop = asyncio.get_running_loop()
    chunks: asyncio.Queue[bytes | None] = asyncio.Queue(_CHUNKS)
    packing = asyncio.create_task(asyncio.to_thread(_pack, folder, _QueueFile(chunks, loop)))
    ended = asyncio.create_task(_announce_end(packing, chunks))
    try:
        while (chunk := await chunks.get()) is not None:
            yield chunk
        await packing  # an error while packing aborts the response
    finally:
        ended.cancel()
        await _drain(packing, chunks)


async def _announce_end(packing: asyncio.Task[None], chunks: asyncio.Queue[bytes | None]) -> None:
    await asyncio.wait([packing])
    await chunks.put(None)


async def _drain(packing: asyncio.Task[None], chunks: asyncio.Queue[bytes | None]) -> None:
    """Let the thread finish after the reader disconnected: it may be waiting for queue space."""
    while not packing.done():
        while not chunks.empty():
            chunks.get_nowait()
        await asyncio.sleep(0.01)


def _pack(folder: Path, file: "_QueueFile") -> None:
    target: Any = file  # write-only, although the annotation requires a complete file object
    with tarfile.open(fileobj=target, mode="w|", bufsize=_CHUNK_BYTES) as archive:
        for path in sorted(folder.iterdir()):
            archive.add(path, arcname=path.name)


class _QueueFile:
    """The file that ``tarfile`` writes to; blocks while the reader is behind."""

    def __init__(self, chunks: asyncio.Queue[Any], loop: asyncio.AbstractEventLoop) -> None:
        self._chunks = chunks
        self._loop = loop

    def write(self, data: bytes) -> int:
        asyncio.run_coroutine_threadsafe(self._chunks.put(bytes(data)), self._loop).result()
        return len(data)
