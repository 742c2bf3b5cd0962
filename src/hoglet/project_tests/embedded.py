"""Runs the complete application in this process, on a temporary folder, without a port.

The clock is fixed and can be set, also for queries. Settings are the defaults: environment
variables, which could name a production database, are ignored.
"""

import asyncio
import json
import os
from collections.abc import AsyncGenerator, Generator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import urlsplit

from hoglet.access.bootstrap import ensure_first_project
from hoglet.access.principals import ProjectScope
from hoglet.access.provisioning import create_project
from hoglet.app.http.application import build_application
from hoglet.app.services.container import Services, open_services
from hoglet.app.services.features import Features, build_features
from hoglet.app.workers import Ingestion, build_ingestion
from hoglet.kit.clock import PinnedClock
from hoglet.kit.errors import HogletError
from hoglet.pipeline.telemetry_outbox import TelemetryOutbox
from hoglet.project_tests.cases import NOW
from hoglet.queue.consumers import Bursts
from hoglet.settings import Settings

_KEY = "phx_" + "t" * 40
_PREFIX = "HOGLET_"


class ApiProblem(HogletError):
    """The embedded application refused a request with this status."""

    code = "api_refused"
    blame = "author"

    def __init__(self, detail: str, *, status: int) -> None:
        super().__init__(detail)
        self.status = status


class Embedded:
    """A running application without a port.

    Attributes:
        clock: the clock of all parts; set ``clock.at``.
        features: the services, for operations without a route.
    """

    def __init__(self, services: Services, features: Features, clock: PinnedClock) -> None:
        self.clock = clock
        self.features = features
        self.services = services
        self._application = build_application(services, features)
        outbox = TelemetryOutbox(services.database, features.functions.telemetry)
        self._ingestion: Ingestion = build_ingestion(services, features, outbox, Bursts())

    async def new_project(self, timezone: str = "UTC") -> tuple[int, str]:
        """Create a project; returns its id and capture token."""
        async with self.services.database.write() as session:
            project = await create_project(session, self.clock, name="Tests", timezone=timezone)
        return project.id, project.api_token

    async def scope(self, project_id: int) -> ProjectScope:
        """The scope of a project's owner."""
        principal = await self.services.access.identify(_KEY)
        project = await self.services.access.project(project_id)
        assert principal is not None, "the key was created with the folder"  # noqa: S101
        assert project is not None, "callers created it"  # noqa: S101
        return ProjectScope(project, principal)

    async def call(self, method: str, path: str, body: Any = None) -> Any:
        """Send a request; returns the JSON of the response.

        Raises:
            ApiProblem: the status is 400 or higher.
        """
        status, content = await self._request(method, path, body)
        parsed: Any = json.loads(content) if content else None
        if status >= 400:
            detail = parsed.get("detail") if isinstance(parsed, dict) else content.decode()
            attr = parsed.get("attr") if isinstance(parsed, dict) else None
            raise ApiProblem(f"{attr}: {detail}" if attr else str(detail), status=status)
        return parsed

    async def _request(self, method: str, path: str, body: Any) -> tuple[int, bytes]:
        parts = urlsplit(path)
        content = b"" if body is None else json.dumps(body, default=str).encode()
        headers = {"authorization": f"Bearer {_KEY}", "content-type": "application/json",
                   "content-length": str(len(content)), "host": "hoglet"}  # fmt: skip
        scope = {
            "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "scheme": "http",
            "method": method, "path": parts.path, "raw_path": parts.path.encode(),
            "query_string": parts.query.encode(), "root_path": "",
            "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
            "client": ("127.0.0.1", 0), "server": ("hoglet", 80),
        }  # fmt: skip
        waiting = [{"type": "http.request", "body": content, "more_body": False}]
        status, chunks, never = 500, list[bytes](), asyncio.Event()

        async def receive() -> Any:
            if not waiting:
                await never.wait()  # the client does not disconnect
            return waiting.pop()

        async def send(message: Any) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            elif message["type"] == "http.response.body":
                chunks.append(message.get("body", b""))

        await self._application(scope, receive, send)
        return status, b"".join(chunks)

    async def store_events(self) -> None:
        """Process everything in the spool, since there are no background workers."""
        while await self._ingestion.batches[0].work_once():
            pass
        while await self._ingestion.copies.flush():
            pass

    def api(self, project_id: int) -> "ProjectApi":
        """The API of a project, for use outside of the event loop's thread."""
        return ProjectApi(self, project_id, asyncio.get_running_loop())


class ProjectApi:
    """Calls the embedded application from another thread; the ``Api`` of ``project_files``."""

    def __init__(
        self, embedded: Embedded, project_id: int, loop: asyncio.AbstractEventLoop
    ) -> None:
        self._embedded = embedded
        self._base = f"/api/projects/{project_id}"
        self._loop = loop

    def call(self, method: str, path: str, body: Any = None) -> Any:
        """Send a request to a path of the project; returns the JSON of the response."""
        asked = self._embedded.call(method, self._base + path, body)
        return asyncio.run_coroutine_threadsafe(asked, self._loop).result()

    def every(self, path: str, **query: str) -> Iterator[Any]:
        """All items of a list, page by page."""
        asked = "&".join(f"{name}={value}" for name, value in query.items())
        yield from self.call("GET", f"{path}?limit=500&{asked}")["results"]


@asynccontextmanager
async def open_embedded(*, with_warehouse: bool = True) -> AsyncGenerator[Embedded]:
    """Start an application on a temporary folder, which is deleted on exit."""
    import structlog

    clock = PinnedClock(NOW)
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(50))
    with TemporaryDirectory(prefix="hoglet-test-") as folder:
        with _without_settings():
            settings = Settings(
                data_dir=Path(folder),
                executor_workers=1,
                compile_workers=1,
                smtp_host="mail.invalid",  # messages are recorded, never sent
                site_url="http://hoglet.test",
            )  # pyright: ignore[reportCallIssue] (the rest has defaults)
        async with open_services(settings, clock, with_warehouse=with_warehouse) as services:
            await ensure_first_project(services.database, clock, personal_api_key=_KEY)
            yield Embedded(services, build_features(services), clock)


@contextmanager
def _without_settings() -> Generator[None]:
    hidden = {name: os.environ.pop(name) for name in list(os.environ) if name.startswith(_PREFIX)}
    try:
        yield
    finally:
        os.environ.update(hidden)
