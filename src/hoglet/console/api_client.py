"""The console's API client, which calls the application in-process.

The console is a client of the API like any other, with the key of the signed-in user. So it can
never show or change more than the key permits, and needs no access rules of its own. Calls do not
use the network: the application is called as a function.
"""

import asyncio
import re
from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import msgspec
from starlette.types import ASGIApp

from hoglet.web.in_process_client import ApiRequest, Origin, call_application

_POSITION = re.compile(r"(\d+):(\d+): ")
_LONG_SECONDS = 0.1

IN_BACKGROUND: ContextVar[bool] = ContextVar("in_background", default=False)
"""Whether the page makes calls on its own, such as polling, so that no user waits for them."""


class Reply(msgspec.Struct, frozen=True):
    """A response; ``body`` is the parsed JSON, None if there is none; ``text`` the raw body."""

    status: int
    body: Any
    text: bytes = b""

    @property
    def is_good(self) -> bool:
        """Whether the request succeeded."""
        return self.status < 400

    @property
    def problem(self) -> str:
        """The error for display, e.g. ``hog: 1:5: unexpected token``."""
        body = self.body if isinstance(self.body, dict) else {}
        detail = str(body.get("detail") or f"The request failed with status {self.status}.")
        return f"{body['attr']}: {detail}" if body.get("attr") else detail

    @property
    def next_page(self) -> dict[str, str] | None:
        """The query parameters of a list's next page: ``{"limit": "100", "offset": "100"}``."""
        url = self.body.get("next") if isinstance(self.body, dict) else None
        return dict(parse_qsl(urlsplit(url).query)) if url else None

    @property
    def error_position(self) -> tuple[int, int] | None:
        """Line and column of the error in the rejected text, both from 1."""
        detail = self.body.get("detail") if isinstance(self.body, dict) else None
        match = _POSITION.match(str(detail or ""))
        return None if match is None else (int(match[1]), int(match[2]))


class Backend:
    """Calls the API with the user's key.

    Args:
        api: the whole application.
        key: a personal API key.
        project_id: the project of relative paths.
        origin: scheme and host of the browser's page, so that absolute URLs in responses work for
            the user: ``("https", "hoglet.example.com")``.
    """

    def __init__(
        self,
        api: ASGIApp,
        key: str,
        project_id: str = "@current",
        origin: tuple[str, str] = ("http", "console"),
    ) -> None:
        self._api = api
        self._key: str | None = key
        self._origin = Origin(*origin)
        self.project_id = project_id
        self.zone = "UTC"
        """The project's time zone; pages set it."""
        self.on_signed_out: Callable[[], object] | None = None
        """Called when the key is refused or the user signs out; pages set it."""
        self.on_wait: Callable[[bool], object] | None = None
        """Called with True when a call takes long and with False when it ends; pages set it."""

    @property
    def address(self) -> str:
        """The server as the browser sees it: ``https://hoglet.example.com``."""
        return f"{self._origin.scheme}://{self._origin.host}"

    async def get(self, path: str, **query: Any) -> Reply:
        """GET below the project, e.g. ``get("/endpoints", limit=10)``."""
        given = {name: value for name, value in query.items() if value is not None}
        return await self.call("GET", self._below(path), query=urlencode(given))

    async def hogql(self, text: str, **values: Any) -> Reply:
        """Run a query; ``values`` replace its placeholders: ``hogql("SELECT {x}", x=1)``."""
        query = {"kind": "HogQLQuery", "query": text, "values": values}
        body = {"query": query, "refresh": "force_blocking"}
        return await self.send("POST", "/query", body)

    async def send(self, method: str, path: str, body: Any) -> Reply:
        """Send a write below the project, e.g. ``send("PATCH", "/actions/1", {"name": "x"})``."""
        return await self.call(method, self._below(path), body=body)

    async def call(self, method: str, path: str, *, query: str = "", body: Any = None) -> Reply:
        """Call any route of the API by its absolute path."""
        if self._key is None:
            return Reply(401, {"detail": "You are signed out."})
        with self.waiting():
            response = await call_application(
                self._api,
                ApiRequest(method, path, query, body),
                authorization=f"Bearer {self._key}",
                origin=self._origin,
            )
        if response.status == 401 and self.on_signed_out is not None:
            self.on_signed_out()
        return Reply(response.status, response.body, response.text)

    def sign_out(self) -> None:
        """Forget the key; every later call is refused."""
        self._key = None
        if self.on_signed_out is not None:
            self.on_signed_out()

    @contextmanager
    def waiting(self) -> Generator[None]:
        """Show that the page is busy if the block takes long, except in the background."""
        notify = self.on_wait
        if notify is None or IN_BACKGROUND.get():
            yield
            return
        is_shown = False

        def show() -> None:
            nonlocal is_shown
            is_shown = True
            notify(True)

        timer = asyncio.get_running_loop().call_later(_LONG_SECONDS, show)
        try:
            yield
        finally:
            timer.cancel()
            if is_shown:
                notify(False)

    def _below(self, path: str) -> str:
        return f"/api/projects/{self.project_id}{path}"
