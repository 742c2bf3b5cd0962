"""The console as an ASGI application, built on first use.

NiceGUI costs about a quarter of a second and 20 MB to import; a server whose console is never
opened avoids both. It has global state, so there is one console per process.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

from starlette.applications import Starlette
from starlette.types import ASGIApp, Receive, Scope, Send

from hoglet.web.app import set_fallback
from hoglet.web.websockets import OpenWebsockets

PREFIXES = ("/project/", "/sign-in", "/status", "/console/", "/_nicegui")

type MakeSite = Callable[[ASGIApp, list[str]], Starlette]


class Console:
    """Serves every path that no other route matches.

    Args:
        api: the whole application; the console is a client of it.
        secret_keys: Fernet keys that encrypt sessions, newest first.
    """

    def __init__(self, api: ASGIApp, secret_keys: list[str]) -> None:
        self._api = api
        self._secret_keys = secret_keys
        self._app: Starlette | None = None
        self._building = asyncio.Lock()
        self._open = AsyncExitStack()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one connection."""
        app = self._app or await self._build()
        await app(scope, receive, send)

    async def close(self) -> None:
        """Stop what NiceGUI started."""
        await self._open.aclose()

    async def _build(self) -> Starlette:
        async with self._building:
            if self._app is None:
                make = await asyncio.to_thread(_import)
                app = make(self._api, self._secret_keys)
                await self._open.enter_async_context(app.router.lifespan_context(app))
                self._app = app
            return self._app


def mount_console(app: Starlette, secret_keys: list[str], websockets: OpenWebsockets) -> Console:
    """Serve paths without a route of ``app`` with the console; closed with the application."""
    console = Console(app, secret_keys)
    set_fallback(app, websockets.around(console), PREFIXES)
    outer = app.router.lifespan_context

    @asynccontextmanager
    async def lifespan(running: Starlette) -> AsyncGenerator[Any]:
        async with outer(running) as state:
            try:
                yield state
            finally:
                await console.close()

    app.router.lifespan_context = lifespan
    return console


def _import() -> MakeSite:
    from hoglet.console.site import make_site

    return make_site
