"""Damaged data folders, kills during a start and unprivileged processes, for fault tests."""

import contextlib
import ctypes
import os
import random
import resource
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import httpx

from support.server import KEY, TOKEN, RunningServer, free_port

SECONDS = 120  # a start takes two on an idle machine
_PR_CAPBSET_DROP = 24
# Root ignores file modes and may listen on any port, unless it drops these capabilities.
_DAC_OVERRIDE, _DAC_READ_SEARCH, _NET_BIND_SERVICE = 1, 2, 10


class Start:
    """How to start one ``hoglet serve``; cases modify it.

    Attributes:
        folder: a data folder that a server has used before.
        words: arguments of the command line.
        environment: settings, upper case without ``HOGLET_``; None unsets one.
        prepare: called in the new process before the program runs.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.words = ["--port", str(free_port())]
        self.environment: dict[str, str | None] = {
            "DATA_DIR": str(folder),
            "BOOTSTRAP_PERSONAL_API_KEY": KEY,
            "BOOTSTRAP_PROJECT_TOKEN": TOKEN,
        }
        self.prepare: list[Callable[[], None]] = []

    def run(self) -> subprocess.CompletedProcess[str]:
        """Start it and wait until it exits."""
        process = self._started(stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        try:
            output, errors = process.communicate(timeout=SECONDS)
        finally:
            process.kill()
        return subprocess.CompletedProcess(process.args, process.returncode, output, errors)

    @contextlib.contextmanager
    def running(self) -> Generator[str]:
        """A running server and what it printed to standard output; stopped at the end."""
        with tempfile.TemporaryFile() as output:
            process = self._started(stdout=output)
            try:
                wait_until_healthy(process, int(self.words[1]))
                output.seek(0)
                yield output.read().decode()
            finally:
                process.terminate()
                process.wait(timeout=SECONDS)

    def _started(self, **streams: Any) -> subprocess.Popen[str]:
        ours = {f"HOGLET_{name}": value for name, value in self.environment.items()}
        names = {name: value for name, value in ours.items() if value is not None}
        others = {name: value for name, value in os.environ.items() if name not in ours}

        def prepare() -> None:
            for step in self.prepare:
                step()

        return subprocess.Popen(
            [sys.executable, "-m", "hoglet", "serve", *self.words],
            env=others | names,
            preexec_fn=prepare,  # noqa: PLW1509 (no threads in the tests that use this)
            text=True,
            **streams,
        )

    def as_plain_user(self) -> None:
        """Drop root's privileges, so that file modes and low ports are enforced."""
        if os.geteuid() == 0:
            self.prepare.append(_drop_capabilities)

    def limit(self, kind: int, most: int) -> None:
        """Set a resource limit, as ``ulimit`` does."""
        self.prepare.append(lambda: resource.setrlimit(kind, (most, most)))

    def sql(self, statement: str) -> None:
        """Run a statement on the metadata database."""
        with sqlite3.connect(self.folder / "hoglet.db") as database:
            database.execute(statement)

    def warehouse_sql(self, statement: str) -> str:
        """The CSV of a statement on the warehouse, which only a new process can open once more."""
        code = (
            "import chdb.session, sys; s = chdb.session.Session(sys.argv[1]); "
            "print(s.query(sys.argv[2], 'CSV'))"
        )
        command = [sys.executable, "-c", code, str(self.folder / "warehouse"), statement]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def wait_until_healthy(process: subprocess.Popen[str], port: int) -> None:
    """Wait for ``GET /_health``."""
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        with contextlib.suppress(httpx.TransportError):
            if httpx.get(f"http://127.0.0.1:{port}/_health", timeout=2).status_code == 200:
                return
        time.sleep(0.05)
    raise AssertionError("the server did not start")


def _drop_capabilities() -> None:
    libc = ctypes.CDLL(None)
    for capability in (_DAC_OVERRIDE, _DAC_READ_SEARCH, _NET_BIND_SERVICE):
        libc.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0)


def kill_while_starting(server: RunningServer, *, times: int, seed: int) -> None:
    """Start a server and kill it before it is ready, each time after 0.3 to 4 seconds."""
    chance = random.Random(seed)  # noqa: S311 (instants)
    command = [sys.executable, "-m", "hoglet", "serve", "--port", str(server.port)]
    for _ in range(times):
        process = subprocess.Popen(
            command, env=server.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        time.sleep(chance.uniform(0.3, 4))
        process.kill()
        process.wait()
