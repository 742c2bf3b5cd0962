"""Streams a folder in tar format, without a second copy on disk or in memory."""

import asyncio
import tarfile
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

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
        await packing  # an error aborts the response
    finally:
        ended.cancel()
        await _drain(packing, chunks)


async def _announce_end(packing: asyncio.Task[None], chunks: asyncio.Queue[bytes | None]) -> None:
    await asyncio.wait([packing])
    await chunks.put(None)


async def _drain(packing: asyncio.Task[None], chunks: asyncio.Queue[bytes | None]) -> None:
    """Let the thread end after the reader disconnected: it may be waiting for queue space."""
    while not packing.done():
        while not chunks.empty():
            chunks.get_nowait()
        await asyncio.sleep(0.01)


def _pack(folder: Path, file: "_QueueFile") -> None:
    target: Any = file  # write-only, although the annotation wants a complete file
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
