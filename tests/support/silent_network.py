"""A network in front of PostgreSQL that stops delivering without closing a connection."""

import asyncio
import contextlib
import threading
from asyncio import StreamReader, StreamWriter
from collections.abc import Coroutine, Generator
from typing import Any

from sqlalchemy.engine import URL, make_url

_CHUNK_BYTES = 65_536


class SilentNetwork:
    """Forwards connections to a PostgreSQL server until it is silenced.

    Attributes:
        url: the address of the database through this network.
    """

    def __init__(self, database: URL) -> None:
        self._socket = f"{database.query['host']}/.s.PGSQL.5432"
        self._loop = asyncio.new_event_loop()
        self._delivers = asyncio.Event()
        threading.Thread(target=self._loop.run_forever, daemon=True).start()
        self._tasks = set[asyncio.Task[None]]()
        port = self._call(self._listen())
        address = database.set(host="127.0.0.1", port=port).difference_update_query(["host"])
        self.url = address.render_as_string(hide_password=False)

    def silence(self) -> None:
        """Deliver nothing more, in both directions and on new connections."""
        self._call(self._set(delivers=False))

    def restore(self) -> None:
        """Deliver again, first what has waited."""
        self._call(self._set(delivers=True))

    def close(self) -> None:
        """End all connections."""
        self._call(self._end())
        self._loop.call_soon_threadsafe(self._loop.stop)

    def _call[T](self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    async def _set(self, *, delivers: bool) -> None:
        if delivers:
            self._delivers.set()
        else:
            self._delivers.clear()

    async def _listen(self) -> int:
        self._delivers.set()
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        return self._server.sockets[0].getsockname()[1]

    async def _serve(self, reader: StreamReader, writer: StreamWriter) -> None:
        server_reader, server_writer = await asyncio.open_unix_connection(self._socket)
        directions = ((reader, server_writer), (server_reader, writer))
        tasks = [asyncio.create_task(self._forward(*direction)) for direction in directions]
        self._tasks.update(tasks)
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in tasks:
            task.cancel()
        for each in (writer, server_writer):
            each.transport.abort()
        self._tasks.difference_update(tasks)

    async def _forward(self, source: StreamReader, target: StreamWriter) -> None:
        with contextlib.suppress(OSError):
            while content := await source.read(_CHUNK_BYTES):
                await self._delivers.wait()
                target.write(content)
                await target.drain()
            await self._delivers.wait()  # the end of a connection is not delivered either

    async def _end(self) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()


@contextlib.contextmanager
def silent_network(database_url: str) -> Generator[SilentNetwork]:
    """A network before a database; ``url`` leads through it."""
    network = SilentNetwork(make_url(database_url))
    try:
        yield network
    finally:
        network.close()
