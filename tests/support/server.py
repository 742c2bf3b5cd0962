"""``hoglet serve`` in its own process, for end-to-end tests."""

import asyncio
import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Generator, Sequence
from pathlib import Path
from typing import Any

import httpx

from hoglet.access.provisioning import create_project
from hoglet.kit.clock import SystemClock
from hoglet.store.database import Database
from support.documented import RESPONSE_HOOKS
from support.hoglet_process import HogletProcess, can_fork

KEY = "phx_" + "t" * 40
TOKEN = "phc_" + "t" * 40
START_SECONDS = 180  # an idle machine takes two; a busy one has taken sixty


class RunningServer:
    """A server on a data folder and a free port; ``client`` uses the first user's key."""

    module = "hoglet"
    python = sys.executable

    def __init__(self, data_dir: Path, *, port: int | None = None, **settings: str) -> None:
        self.data_dir = data_dir
        self.port = port or free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.environment = os.environ | {
            "HOGLET_BOOTSTRAP_PERSONAL_API_KEY": KEY,
            "HOGLET_BOOTSTRAP_PROJECT_TOKEN": TOKEN,
            "HOGLET_ALLOW_HOSTS": "127.0.0.1",
            "HOGLET_DATA_DIR": str(data_dir),
            **{f"HOGLET_{name.upper()}": value for name, value in settings.items()},
        }
        self.client = httpx.Client(
            base_url=self.url,
            headers={"Authorization": f"Bearer {KEY}"},
            timeout=30,
            event_hooks=RESPONSE_HOOKS,
        )
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> "RunningServer":
        """Start it and wait until it answers."""
        self.data_dir.mkdir(parents=True, exist_ok=True)
        log = (self.data_dir / "server.log").open("ab")
        options: dict[str, Any] = {"env": self.environment, "stdout": log, "stderr": log}
        words = ["serve", "--port", str(self.port)]
        is_usual = (self.python, self.module) == (sys.executable, "hoglet")
        if is_usual and can_fork(self.environment):
            self.process = HogletProcess(words, **options)
        else:
            self.process = subprocess.Popen([self.python, "-m", self.module, *words], **options)
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline and self.process.poll() is None:
            with contextlib.suppress(httpx.TransportError):
                if httpx.get(self.url + "/_health", timeout=2).status_code == 200:
                    return self
            time.sleep(0.05)
        raise AssertionError(f"the server did not start:\n{self.log()}")

    def kill(self) -> None:
        """Kill it with SIGKILL."""
        assert self.process is not None
        self.process.kill()
        self.process.wait()

    def stop(self) -> int:
        """Stop it with SIGTERM, as an operator would; the exit status."""
        assert self.process is not None
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout=60)

    def log(self) -> str:
        """The server's output so far."""
        return (self.data_dir / "server.log").read_text(errors="replace")


class ServerProject:
    """A new project on a running server, for modules that share one.

    ``@current`` in paths of ``client`` is this project; ``commands`` are variables for the command
    line to work in it.
    """

    def __init__(self, server: RunningServer, name: str) -> None:
        self.url = server.url
        self.data_dir = server.data_dir
        self.port = server.port
        self.environment = server.environment
        self.log = server.log
        database = f"sqlite+aiosqlite:///{server.data_dir.absolute()}/hoglet.db"
        self.id, self.token = asyncio.run(new_project(database, name))
        self.commands = {
            "HOGLET_URL": server.url,
            "HOGLET_API_KEY": KEY,
            "HOGLET_PROJECT": str(self.id),
        }
        self.client = httpx.Client(
            base_url=server.url,
            headers={"Authorization": f"Bearer {KEY}"},
            timeout=30,
            event_hooks=RESPONSE_HOOKS | {"request": [self._name_project]},
        )

    def _name_project(self, request: httpx.Request) -> None:
        path = request.url.raw_path.replace(b"/@current/", b"/%d/" % self.id)
        request.url = request.url.copy_with(raw_path=path)


async def new_project(database_url: str, name: str) -> tuple[int, str]:
    """Create a project; its id and its token."""
    database = Database(database_url)
    async with database.write() as session:
        project = await create_project(session, SystemClock(), name=name)
    await database.close()
    return project.id, project.api_token


@contextlib.contextmanager
def started(servers: Sequence[RunningServer]) -> Generator[None]:
    """Start servers one after the other; those that still run at the end are killed."""
    try:
        for server in servers:
            server.start()
        yield
    finally:
        for server in servers:
            if server.process is not None:
                server.kill()


def free_port() -> int:
    """A port that is currently free."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
