"""Serves with granian in one process and event loop; graceful shutdown on SIGTERM and Ctrl-C."""

import asyncio
import signal
import socket
from collections.abc import Awaitable, Callable
from typing import Any

from granian._granian import SocketHolder
from granian.constants import Interfaces
from granian.http import HTTP1Settings
from granian.server.embed import Server

from hoglet.app.http.draining import Drain
from hoglet.app.http.listener import BACKLOG
from hoglet.app.http.stop_limit import StopLimit

# Idle keep-alive connections are closed after this time. It exceeds the 60 s of common proxies, so
# that the proxy or client closes them first and no request is lost in a race.
IDLE_MILLISECONDS = 75_000
STOP_SIGNALS = (signal.SIGTERM, signal.SIGINT)


class _Server(Server):
    """Uses a socket that is already bound instead of a shared one."""

    def __init__(self, application: Any, listener: socket.socket, **options: Any) -> None:
        super().__init__(application, **options)
        self._listener = listener

    def _init_shared_socket(self) -> None:
        self._ssp = None
        holder: Any = SocketHolder  # its stub lacks the arguments
        self._shd = holder(self._listener.detach(), uds=False, backlog=BACKLOG)
        self._sfd = self._shd.get_fd()


async def serve(
    application: Any,
    *,
    listener: socket.socket,
    connections: int,
    drain: Drain,
    limit: StopLimit,
    on_stop: Callable[[], Awaitable[None]],
) -> None:
    """Serve an ASGI application until a stop signal, drain, then finish running requests.

    The application's lifespan opens and closes what it needs: it starts before the first request
    and ends after the last one.

    Args:
        application: the ASGI application.
        listener: a listening TCP socket; closed at the end.
        connections: maximum number; others wait.
        drain: how long requests are still accepted after a stop signal.
        limit: bounds the time after that; a stop signal during it ends the process at once.
        on_stop: awaited on shutdown; ends responses and websockets that would never end.
    """
    server = _Server(
        application,
        listener,
        interface=Interfaces.ASGI,
        http1_settings=HTTP1Settings(header_read_timeout=IDLE_MILLISECONDS),
        log_enabled=False,
        websockets=True,
        backpressure=connections,
    )

    stops = set[asyncio.Task[None]]()

    async def end() -> None:
        await on_stop()
        server.stop()

    def stop() -> None:
        if not limit.has_begun:
            limit.begin()
            _end_at_stop_signals(limit)
            stops.add(asyncio.ensure_future(end()))

    loop = asyncio.get_running_loop()
    for number in STOP_SIGNALS:
        loop.add_signal_handler(number, drain.begin, stop)
    await server.serve()


def _end_at_stop_signals(limit: StopLimit) -> None:
    """Until the process has ended, not only while it serves; the event loop may be blocked."""
    loop = asyncio.get_running_loop()
    for number in STOP_SIGNALS:
        loop.remove_signal_handler(number)
        signal.signal(number, lambda *_: limit.end_now())
