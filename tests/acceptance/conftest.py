"""One server per session; a project per case."""

import asyncio
import itertools
import json
from collections.abc import Generator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest

from hoglet.access import provisioning as issue
from hoglet.access.principals import Project
from hoglet.kit.clock import SystemClock
from hoglet.store.database import Database
from support.documented import RESPONSE_HOOKS
from support.local_http import Handler, LocalHttp
from support.server import KEY, RunningServer

SCOPED_KEYS = {
    "functions_read": ["hog_function:read"],
    "functions_write": ["hog_function:write"],
    "endpoints_read": ["endpoint:read"],
    "endpoints_write": ["endpoint:write"],
    "user_read": ["user:read"],
    "cohort_read": ["cohort:read"],
    "nothing": ["notebook:read"],
}


@dataclass
class Delivery:
    """A request a function made."""

    method: str
    path: str
    headers: dict[str, str]
    body: str


class Receiver(LocalHttp):
    """A web server for functions to call; ``/status/503/503/200/x`` answers so in turn."""

    def __init__(self) -> None:
        self.deliveries: list[Delivery] = []
        self._counts: dict[str, int] = {}
        receiver = self

        class Delivered(Handler):
            def handle_any(self) -> None:
                body = self.body().decode()
                receiver.deliveries.append(Delivery(self.command, self.path, self.names(), body))
                self.answer(receiver.status_of(self.path), json.dumps({"ok": True}).encode())

        super().__init__(Delivered)

    def status_of(self, path: str) -> int:
        statuses = [int(part) for part in path.split("/") if part.isdigit() and len(part) == 3]
        turn = self._counts[path] = self._counts.get(path, 0) + 1
        return statuses[min(turn, len(statuses)) - 1] if statuses else 200

    def at(self, path: str) -> list[Delivery]:
        """What arrived at a path."""
        return [each for each in self.deliveries if each.path.startswith(path)]


@dataclass
class World:
    """The running server, its keys, and a way to make projects."""

    server: RunningServer
    receiver: Receiver
    database: Database
    loop: asyncio.Runner
    keys: dict[str, str] = field(default_factory=dict)
    names: Any = field(default_factory=itertools.count)

    def project(self) -> Project:
        return self.loop.run(self._project())

    async def _project(self) -> Project:
        async with self.database.write() as session:
            name = f"Project {next(self.names)}"
            return await issue.create_project(session, SystemClock(), name=name)

    def new_key(
        self, scopes: list[str], project_id: int | None = None, *, secret: bool = False
    ) -> str:
        return self.loop.run(self._key(scopes, project_id, secret))

    async def _key(self, scopes: list[str], project_id: int | None, secret: bool) -> str:
        async with self.database.write() as session:
            if secret:
                assert project_id is not None
                created = await issue.issue_secret_key(
                    session, SystemClock(), scopes=scopes, label="s", project_id=project_id
                )
            else:
                created = await issue.issue_personal_key(
                    session, SystemClock(), scopes=scopes, label="p", project_id=project_id
                )
        return created.value


@dataclass
class CaseStage:
    """A fresh project on the running server."""

    world: World
    project: Project

    def __post_init__(self) -> None:
        self.client: httpx.Client = httpx.Client(
            base_url=self.world.server.url,
            timeout=30,
            event_hooks=RESPONSE_HOOKS,
        )
        self.values: dict[str, Any] = {
            "project": self.project.id,
            "token": self.project.api_token,
            "receiver": self.world.receiver.url,
            "site": self.world.server.url,
            "key": KEY,
            "unknown": "01890000-0000-7000-8000-000000000000",
        }

    def key(self, name: str) -> str | None:
        """Keys that a case names: ``all``, ``none``, ``bad``, ``secret``, a word of SCOPED_KEYS."""
        match name:
            case "all":
                return KEY
            case "none":
                return None
            case "bad":
                return "phx_" + "x" * 40
            case "secret":
                known = f"secret {self.project.id}"
                if known not in self.world.keys:
                    self.world.keys[known] = self.world.new_key(
                        ["endpoint:read"], self.project.id, secret=True
                    )
                return self.world.keys[known]
            case "elsewhere":
                if name not in self.world.keys:
                    self.world.keys[name] = self.world.new_key(["*"], 1)
                return self.world.keys[name]
            case _:
                if name not in self.world.keys:
                    self.world.keys[name] = self.world.new_key(SCOPED_KEYS[name])
                return self.world.keys[name]


@pytest.fixture(scope="session")
def receiver() -> Generator[Receiver]:
    opened = Receiver()
    yield opened
    opened.close()


@pytest.fixture(scope="session")
def world(tmp_path_factory: pytest.TempPathFactory, receiver: Receiver) -> Generator[World]:
    folder: Path = tmp_path_factory.mktemp("acceptance") / "data"
    server = RunningServer(folder, query_seconds="3").start()
    database = Database(f"sqlite+aiosqlite:///{folder.absolute()}/hoglet.db")
    with asyncio.Runner() as loop:
        yield World(server, receiver, database, loop)
        loop.run(database.close())
    (folder.parent.parent / "acceptance-server.log").write_text(server.log())
    server.stop()


@pytest.fixture
def stage(world: World) -> Generator[CaseStage]:
    opened = CaseStage(world, world.project())
    yield opened
    opened.client.close()
