"""``POST /_backup``: streams a backup as a tar archive. Not part of the project API.

Requires the token in ``server.json``, i.e. read access to the data folder, or the personal key of a
staff user with the scope ``*`` and no restriction. ``secret.key`` is not part of the response; it
can only be read from the folder.

Source: docs/adr/0020-online-backup.md.
"""

import asyncio
import secrets
import tarfile
import threading
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, suppress
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
    in its generator would not run. If the client leaves later, the generator is cancelled wherever
    it waits, also within a ``finally``. So all of that is done here.

    Args:
        folder: its content is sent.
        stack: closed at the end; removes the folder and admits the next backup.
    """

    def __init__(self, folder: Path, stack: AsyncExitStack) -> None:
        self._archive = Archive(folder)
        self._stack = stack
        super().__init__(self._archive.chunks(), media_type="application/x-tar")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the archive."""
        async with self._stack:
            try:
                await super().__call__(scope, receive, send)
            finally:
                await self._archive.close()


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


class Archive:
    """A folder as one tar archive, packed by a thread while it is read."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._file = _QueueFile(asyncio.get_running_loop())
        self._packing: asyncio.Task[None] | None = None

    async def chunks(self) -> AsyncGenerator[bytes]:
        """The content, once.

        Raises:
            OSError: a file cannot be read.
        """
        self._packing = asyncio.create_task(asyncio.to_thread(_pack, self._folder, self._file))
        self._packing.add_done_callback(lambda _: self._file.end())
        while (chunk := await self._file.read()) is not None:
            yield chunk
        await self._packing

    async def close(self) -> None:
        """End the thread, also if nobody reads the rest."""
        self._file.abandon()
        if self._packing is not None:
            await asyncio.gather(self._packing, return_exceptions=True)


def _pack(folder: Path, file: "_QueueFile") -> None:
    target: Any = file  # write-only, although the annotation requires a complete file object
    with suppress(_Abandoned), tarfile.open(fileobj=target, mode="w|", bufsize=_CHUNK_BYTES) as tar:
        for path in sorted(folder.iterdir()):
            tar.add(path, arcname=path.name)


class _Abandoned(Exception):
    """Nobody reads the rest of the archive."""


class _QueueFile:
    """The file that ``tarfile`` writes to; blocks while the reader is behind."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._chunks: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._loop = loop
        self._room = threading.Semaphore(_CHUNKS)
        self._is_abandoned = False

    def write(self, data: bytes) -> int:
        if not self._is_abandoned:
            self._room.acquire()
        if self._is_abandoned:
            raise _Abandoned
        self._loop.call_soon_threadsafe(self._chunks.put_nowait, bytes(data))
        return len(data)

    async def read(self) -> bytes | None:
        """The next chunk; None after the last one."""
        chunk = await self._chunks.get()
        self._room.release()
        return chunk

    def end(self) -> None:
        """Nothing more is written."""
        self._chunks.put_nowait(None)

    def abandon(self) -> None:
        """Let ``write`` fail: nothing more is read."""
        self._is_abandoned = True
        self._room.release()
