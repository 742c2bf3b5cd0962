"""Closes open websockets before the server stops."""

import asyncio
from typing import Any, Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

PATIENCE_SECONDS: Final = 1.0
GOING_AWAY: Final = 1001


class OpenWebsockets:
    """The open websockets of a server.

    granian never resumes a task that closes a websocket once the server is told to stop, so they
    are closed before that. When they were not, an open page of the console delayed each stop by
    the five seconds of ``hoglet.app.event_loop``.
    """

    def __init__(self) -> None:
        self._stopping = asyncio.Event()
        self._tasks = set[asyncio.Task[Any]]()

    def around(self, app: ASGIApp) -> ASGIApp:
        """``app``, whose websockets are closed by :meth:`close`."""

        async def watched(scope: Scope, receive: Receive, send: Send) -> None:
            if scope["type"] != "websocket":
                await app(scope, receive, send)
            elif self._stopping.is_set():
                await send({"type": "websocket.close", "code": GOING_AWAY})
            elif task := asyncio.current_task():
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)
                await app(scope, self._until_stop(receive), send)

        return watched

    async def close(self) -> None:
        """Disconnect all and refuse new ones; waits at most a second for their tasks to end."""
        self._stopping.set()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=PATIENCE_SECONDS)

    def _until_stop(self, receive: Receive) -> Receive:
        async def receive_until_stop() -> Message:
            message = asyncio.ensure_future(receive())
            stopping = asyncio.ensure_future(self._stopping.wait())
            await asyncio.wait((message, stopping), return_when=asyncio.FIRST_COMPLETED)
            if message.done():
                stopping.cancel()
                return message.result()
            message.cancel()
            return {"type": "websocket.disconnect", "code": GOING_AWAY}

        return receive_until_stop
