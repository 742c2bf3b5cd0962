"""Serving: one process, one event loop, granian in it; stops cleanly on SIGTERM and Ctrl-C."""

import asyncio
import signal
import socket
from collections.abc import Callable
from typing import Any

from granian._granian import SocketHolder
from granian.constants import Interfaces
from granian.http import HTTP1Settings
from granian.server.embed import Server

from hoglet.app.draining import Drain
from hoglet.app.listener import BACKLOG

# A connection that is kept open is closed after this. Longer than the 60 s that common proxies keep
# theirs, so that it is the proxy or client that closes, and no request is lost on the way.
IDLE_MILLISECONDS = 75_000
STOP_SIGNALS = (signal.SIGTERM, signal.SIGINT)


class _Server(Server):
    """Takes a socket that already listens instead of binding one that others can share."""

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
    on_stop: Callable[[], None],
) -> None:
    """Serve an ASGI application until a stop signal, drain, then let running requests end.

    The application's lifespan opens and closes what it needs: it starts before the first request is
    taken and ends after the last one is answered.

    Args:
        application: what answers.
        listener: a TCP socket that listens; closed at the end.
        connections: how many are taken at once; further ones wait.
        drain: how long requests are still taken after a stop signal.
        on_stop: called when it stops; ends answers that would go on for ever.
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

    def stop() -> None:
        on_stop()
        server.stop()

    loop = asyncio.get_running_loop()
    for number in STOP_SIGNALS:
        loop.add_signal_handler(number, drain.begin, stop)
    try:
        await server.serve()
    finally:
        for number in STOP_SIGNALS:
            loop.remove_signal_handler(number)
