"""Serving: one process, one event loop, granian in it; stops cleanly on SIGTERM and Ctrl-C."""

import asyncio
import signal
from collections.abc import Callable
from typing import Any

from granian.constants import Interfaces
from granian.http import HTTP1Settings
from granian.server.embed import Server

# A connection that is kept open is closed after this. Longer than the 60 s that common proxies keep
# theirs, so that it is the proxy or client that closes, and no request is lost on the way.
IDLE_MILLISECONDS = 75_000
STOP_SIGNALS = (signal.SIGTERM, signal.SIGINT)


async def serve(
    application: Any, *, host: str, port: int, connections: int, on_stop: Callable[[], None]
) -> None:
    """Serve an ASGI application until a stop signal, then let running requests end.

    The application's lifespan opens and closes what it needs: it starts before the first request is
    taken and ends after the last one is answered.

    Args:
        application: what answers.
        host: address to listen on.
        port: port to listen on.
        connections: how many are taken at once; further ones wait.
        on_stop: called when a stop signal comes; ends answers that would go on for ever.
    """
    server = Server(
        application,
        address=host,
        port=port,
        interface=Interfaces.ASGI,
        http1_settings=HTTP1Settings(header_read_timeout=IDLE_MILLISECONDS),
        log_enabled=False,
        websockets=True,
        backlog=1024,
        backpressure=connections,
    )

    def stop() -> None:
        on_stop()
        server.stop()

    loop = asyncio.get_running_loop()
    for number in STOP_SIGNALS:
        loop.add_signal_handler(number, stop)
    try:
        await server.serve()
    finally:
        for number in STOP_SIGNALS:
            loop.remove_signal_handler(number)
