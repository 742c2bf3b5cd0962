"""Two full servers on one PostgreSQL and one ClickHouse server (the double)."""

import asyncio
import itertools
import threading
import time
from collections import Counter
from collections.abc import Generator
from pathlib import Path

import pytest
from cryptography.fernet import Fernet
from sqlalchemy import func, select

from hoglet.access.bootstrap import ensure_first_project
from hoglet.access.tables import MembershipRow, OrganizationRow, PersonalKeyRow, ProjectRow, UserRow
from hoglet.kit.clock import SystemClock
from hoglet.migrations import migrate
from hoglet.store.database import Database
from support.accepted import Accepted
from support.receiver import Receiver
from support.server import RunningServer
from support.warehouses import new_clickhouse_database

FIRST_ROWS = (OrganizationRow, ProjectRow, UserRow, MembershipRow, PersonalKeyRow)
LEAST_BATCHES = 10  # between the steps of a rolling restart


async def _first_start(url: str) -> None:
    await asyncio.to_thread(migrate, url)
    database = Database(url)
    try:
        await ensure_first_project(database, SystemClock())
    finally:
        await database.close()


async def test_first_starts_at_once_create_one_project(postgres_url: str) -> None:
    await asyncio.gather(*(_first_start(postgres_url) for _ in range(6)))

    database = Database(postgres_url)
    async with database.read() as session:
        counts = [await session.scalar(select(func.count()).select_from(row)) for row in FIRST_ROWS]
    await database.close()
    assert counts == [1] * len(FIRST_ROWS)


@pytest.fixture
def pair(
    tmp_path: Path, postgres_url: str, clickhouse_server: str
) -> Generator[list[RunningServer]]:
    """Two servers that were started at the same time on an empty database and warehouse."""
    with new_clickhouse_database(clickhouse_server) as warehouse:
        shared = {
            "database_url": postgres_url,
            "warehouse_url": warehouse,
            "secret_keys": Fernet.generate_key().decode(),
            "drain_seconds": "1",
        }
        servers = [RunningServer(tmp_path / name, **shared) for name in ("first", "second")]
        starts = [threading.Thread(target=server.start) for server in servers]
        for start in starts:
            start.start()
        for start in starts:
            start.join()
        try:
            for server in servers:
                assert server.client.get("/_readyz").status_code == 200, server.log()
            yield servers
        finally:
            for server in servers:
                server.stop()


class _Load:
    """Sends batches to the servers in turn until stopped, as a load balancer would."""

    def __init__(self, servers: list[RunningServer], receiver: Receiver) -> None:
        self.accepted = Accepted(servers[0], receiver)
        self._turns = itertools.cycle(servers)
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self.batches: Counter[str] = Counter()

    def start(self) -> None:
        self._thread.start()

    def wait(self, server: RunningServer) -> None:
        """Wait until some further batches were accepted by a server."""
        target = self.batches[server.url] + LEAST_BATCHES
        deadline = time.monotonic() + 120
        while self.batches[server.url] < target:
            assert time.monotonic() < deadline, self.accepted.statuses
            time.sleep(0.05)

    def stop(self) -> None:
        self._stopping.set()
        self._thread.join()

    def _run(self) -> None:
        for server in self._turns:
            if self._stopping.is_set():
                return
            self.accepted.server = server
            if self.accepted.send(10) == 200:
                self.batches[server.url] += 1


@pytest.mark.slow
def test_a_rolling_restart_under_load_loses_and_repeats_nothing(
    pair: list[RunningServer],
) -> None:
    receiver = Receiver()
    load = _Load(pair, receiver)
    load.start()
    try:
        for server, other in (pair, pair[::-1]):
            load.wait(server)
            assert server.stop() == 0
            load.wait(other)
            server.start()
        load.wait(pair[1])
        pair[0].kill()  # and one that is not announced
        load.wait(pair[1])
        pair[0].start()
        load.wait(pair[0])
    finally:
        load.stop()
    try:
        for server in pair:  # both give the same results
            load.accepted.server = server
            load.accepted.assert_all_there()
    finally:
        receiver.close()
