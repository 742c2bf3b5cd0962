"""Warehouses for tests: an embedded one per process, and a ClickHouse server behind HTTP.

chDB allows one data folder per process, so tests share the embedded warehouse and are separated by
project: use ``fresh_project_id`` or an id of your own.

The server is the double of ``clickhouse_double.py`` or, if ``HOGLET_TEST_CLICKHOUSE_URL`` is set
(``clickhouse://user:password@host:8123``), a real one, in databases of the tests that are dropped
at the end. If it is set, all tests use the server instead of the embedded warehouse; the value
``double`` stands for the double. ``make test-clickhouse`` runs the suites that way.
"""

import asyncio
import contextlib
import itertools
import os
import subprocess
import sys
import uuid
from collections.abc import Generator
from pathlib import Path
from urllib.parse import urlsplit

import clickhouse_connect
import pytest

from hoglet.warehouse import ClickHouseWarehouse, open_warehouse
from hoglet.warehouse.schema import Retention

# Many tests set the clock to January 2026, but the engine drops old rows by the real time.
KEEP = Retention(log_days=10_000, metric_days=10_000, query_days=10_000)
SERVER = os.environ.get("HOGLET_TEST_CLICKHOUSE_URL", "")
_project_ids = itertools.count(1_000_000)


@pytest.fixture(scope="session")
def warehouse(request: pytest.FixtureRequest) -> ClickHouseWarehouse:
    """A real warehouse with all tables; it is shared, so tables may not be empty."""
    name = "clickhouse_warehouse" if SERVER else "embedded_warehouse"
    return request.getfixturevalue(name)


@pytest.fixture(scope="session")
def embedded_warehouse(
    tmp_path_factory: pytest.TempPathFactory,
) -> Generator[ClickHouseWarehouse]:
    """A warehouse on chDB in this process."""
    folder = tmp_path_factory.mktemp("warehouse")
    yield from _opened(f"chdb://{folder}")


@pytest.fixture(scope="session")
def clickhouse_warehouse(clickhouse_url: str) -> Generator[ClickHouseWarehouse]:
    """A warehouse on a ClickHouse server."""
    yield from _opened(clickhouse_url)


@pytest.fixture(scope="session")
def clickhouse_url(clickhouse_server: str) -> Generator[str]:
    """The address of an empty database on a ClickHouse server; shared by a test run."""
    with new_clickhouse_database(clickhouse_server) as url:
        yield url


@pytest.fixture(scope="session")
def clickhouse_server(tmp_path_factory: pytest.TempPathFactory) -> Generator[str]:
    """The address of a ClickHouse server without a database, e.g. ``clickhouse://host:8123``."""
    if SERVER and SERVER != "double":
        yield SERVER.rstrip("/")
        return
    with clickhouse_double(tmp_path_factory.mktemp("clickhouse")) as url:
        yield url


class ClickHouseDouble:
    """The double on a folder; it keeps port and folder when it is restarted."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._port = 0
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """Its address, once it has been started."""
        return f"clickhouse://127.0.0.1:{self._port}"

    def start(self) -> None:
        """Start it and wait until it listens."""
        program = Path(__file__).with_name("clickhouse_double.py")
        command = [sys.executable, str(program), str(self._folder), "--port", str(self._port)]
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe)
        assert self._process.stdout is not None
        self._port = int(self._process.stdout.readline())

    def kill(self) -> None:
        """Kill it with SIGKILL."""
        process = self._process
        assert process is not None
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout):
            assert stream is not None
            stream.close()


@contextlib.contextmanager
def clickhouse_double(folder: Path) -> Generator[str]:
    """Run the double on a folder; its address."""
    double = ClickHouseDouble(folder)
    double.start()
    try:
        yield double.url
    finally:
        double.kill()


@contextlib.contextmanager
def new_clickhouse_database(server: str) -> Generator[str]:
    """An empty database on a server, dropped at the end; its address."""
    name = f"hoglet_test_{uuid.uuid4().hex}"
    _on_server(server, f"CREATE DATABASE {name}")
    try:
        yield f"{server}/{name}"
    finally:
        _on_server(server, f"DROP DATABASE {name} SYNC")


def _on_server(server: str, statement: str) -> None:
    parts = urlsplit(server)
    client = clickhouse_connect.get_client(
        host=parts.hostname or "localhost",
        port=parts.port or 8123,
        username=parts.username or "default",
        password=parts.password or "",
        secure=parts.scheme in {"clickhouses", "clickhouse+https"},
    )
    try:
        client.command(statement)
    finally:
        client.close()


def _opened(url: str) -> Generator[ClickHouseWarehouse]:
    opened = asyncio.run(open_warehouse(url, retention=KEEP))
    yield opened
    asyncio.run(opened.close())


@pytest.fixture
def fresh_project_id() -> int:
    """A project id that no other test of this run uses."""
    return next(_project_ids)
