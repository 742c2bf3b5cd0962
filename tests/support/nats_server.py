"""A real NATS server with JetStream, started, stopped and killed by tests."""

import contextlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator
from pathlib import Path

import nats
import pytest

from support.deploy import NATS
from support.server import free_port

START_SECONDS = 60
PROGRAM = Path(sys.executable).with_name("nats-server")
JETSTREAM = "jetstream {{ store_dir: '{folder}', sync_interval: {sync} }}\n"


class NatsServer:
    """A server on a free port and a folder; it keeps both when it is restarted."""

    def __init__(
        self, folder: Path, *, jetstream: bool = True, sync: str = "always", configuration: str = ""
    ) -> None:
        self.folder = folder
        self.port = free_port()
        self.address = f"127.0.0.1:{self.port}"
        self._file = folder / "nats.conf"
        self._file.write_text(
            f"listen: {self.address}\nmax_payload: 32MB\nlog_file: '{folder / 'nats.log'}'\n"
            + (JETSTREAM.format(folder=folder / "store", sync=sync) if jetstream else "")
            + configuration
        )
        self._process: subprocess.Popen[bytes] | None = None

    def url(self, stream: str = "hoglet") -> str:
        """The value of ``HOGLET_SPOOL_URL``."""
        return f"nats://{self.address}/{stream}"

    def start(self) -> "NatsServer":
        """Start it and wait until it accepts connections."""
        self._process = subprocess.Popen([PROGRAM, "-c", self._file])
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline and self._process.poll() is None:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port)):
                return self
            time.sleep(0.02)
        raise AssertionError((self.folder / "nats.log").read_text())

    def kill(self) -> None:
        """Kill it with SIGKILL."""
        assert self._process is not None
        self._process.kill()
        self._process.wait()

    @property
    def process_id(self) -> int:
        """The process id of the running server."""
        assert self._process is not None
        return self._process.pid

    def wait_for_death(self, seconds: float) -> None:
        """Wait until somebody has killed it."""
        assert self._process is not None
        self._process.wait(seconds)

    def pause(self) -> None:
        """Freeze it, as if its machine hung; connections stay open."""
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)
        threads = Path(f"/proc/{self._process.pid}/task")
        while any(
            "\nState:\tT" not in (thread / "status").read_text() for thread in threads.iterdir()
        ):
            time.sleep(0.01)  # until then, a thread may answer one more request

    def resume(self) -> None:
        """Resume it."""
        assert self._process is not None
        self._process.send_signal(signal.SIGCONT)


class DeployedNats(NatsServer):
    """A server with the configuration of the deployment files, on a free port and folder."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        text = NATS.read_text()
        for given, here in (
            ("listen: 0.0.0.0:4222", f"listen: {self.address}\nlog_file: '{folder / 'nats.log'}'"),
            ("http: 127.0.0.1:8222", f"http: 127.0.0.1:{free_port()}"),
            ("store_dir: /data", f"store_dir: '{folder / 'store'}'"),
        ):
            assert given in text
            text = text.replace(given, here)
        self._file.write_text(text)


class NatsCluster:
    """Three servers that elect the leaders of their streams; they do not sync for each message."""

    def __init__(self, folder: Path) -> None:
        routes = [f"127.0.0.1:{free_port()}" for _ in range(3)]
        urls = ", ".join(f"nats://{each}" for each in routes)
        self.servers: list[NatsServer] = []
        for number, route in enumerate(routes):
            (folder / f"n{number}").mkdir()
            listener = f"cluster {{ name: c, listen: {route}, routes: [{urls}] }}\n"
            server = NatsServer(
                folder / f"n{number}",
                sync="2m",
                configuration=f"server_name: n{number}\n{listener}",
            )
            self.servers.append(server)

    def url(self, *, replicas: int) -> str:
        """The value of ``HOGLET_SPOOL_URL``."""
        addresses = ",".join(f"nats://{each.address}" for each in self.servers)
        return f"{addresses}/hoglet?replicas={replicas}"

    async def leader(self) -> NatsServer:
        """The server that leads the stream."""
        context = await nats.connect([f"nats://{each.address}" for each in self.servers])
        try:
            info = await context.jetstream(timeout=START_SECONDS).stream_info("hoglet")
        finally:
            await context.close()
        assert info.cluster is not None
        assert info.cluster.leader is not None
        return self.servers[int(info.cluster.leader[1:])]


@pytest.fixture
def nats_cluster() -> Generator[NatsCluster]:
    """Three started servers that a test may kill."""
    with tempfile.TemporaryDirectory(prefix="hoglet-nats-", ignore_cleanup_errors=True) as name:
        cluster = NatsCluster(Path(name))
        try:
            for server in cluster.servers:
                server.start()
            yield cluster
        finally:
            for server in cluster.servers:
                server.kill()


@contextlib.contextmanager
def nats_server(
    *, jetstream: bool = True, sync: str = "always", configuration: str = ""
) -> Generator[NatsServer]:
    """A started server in an empty folder; by default it syncs the disk for each message."""
    folder = Path(tempfile.mkdtemp(prefix="hoglet-nats-"))
    server = NatsServer(folder, jetstream=jetstream, sync=sync, configuration=configuration)
    try:
        yield server.start()
    finally:
        server.kill()
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def nats_broker() -> Generator[NatsServer]:
    """A server for all tests that leave it running; each test uses its own stream.

    It does not sync the disk: a thousand messages on a busy disk take longer than the log waits.
    """
    with nats_server(sync="2m") as server:
        yield server


@pytest.fixture
def own_nats() -> Generator[NatsServer]:
    """A server that a test may kill."""
    with nats_server() as server:
        yield server
