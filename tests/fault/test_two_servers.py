"""Faults of what two servers share, under load: full disks, a broker that hangs, a third server.

Nothing that was accepted is lost or stored twice, deliveries are repeated only under their id, and
the events of a distinct id keep their order. The servers recover by themselves.
"""

import contextlib
import tempfile
import time
from collections.abc import Generator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from cryptography.fernet import Fernet

from support.accepted import Accepted, add_destination
from support.databases import new_postgres_database
from support.nats_server import NatsServer
from support.ordered_sender import DISTINCT_IDS, OrderedSender
from support.postgres_server import PostgresServer
from support.receiver import Receiver
from support.server import RunningServer
from support.small_disk import SmallDisk, small_disk
from support.waiting import wait_for
from support.warehouses import new_clickhouse_database

pytestmark = pytest.mark.slow

SECONDS = 120
HANGS_SECONDS = 20  # longer than the patience with a broker, and than an owner may be silent
VISITS = 4  # of the third server


@pytest.fixture
def shared(clickhouse_server: str) -> Generator[dict[str, Any]]:
    """Settings of all servers but the database."""
    with new_clickhouse_database(clickhouse_server) as warehouse:
        yield {"warehouse_url": warehouse, "secret_keys": Fernet.generate_key().decode()}


@contextlib.contextmanager
def _running(folder: Path, number: int, shared: dict[str, Any]) -> Generator[list[RunningServer]]:
    servers = [RunningServer(folder / f"data{each}", **shared) for each in range(number)]
    try:
        for server in servers[:2]:
            server.start()
        yield servers
    finally:
        for server in servers:
            if server.process is not None:
                server.kill()


def _wait_for_events(sender: OrderedSender, batches: int = 6) -> None:
    expected = len(sender.accepted) + batches * DISTINCT_IDS
    wait_for(lambda: len(sender.accepted) >= expected, seconds=SECONDS)


@pytest.fixture
def disk() -> Generator[SmallDisk]:
    """One that the owner of a PostgreSQL server can reach."""
    with (
        tempfile.TemporaryDirectory(prefix="hoglet-postgres-") as name,
        small_disk(Path(name)) as (opened),
    ):
        yield opened


@pytest.fixture
def small_postgres(disk: SmallDisk) -> Generator[PostgresServer]:
    """A server whose files are on the small disk."""
    server = PostgresServer(disk.folder)
    with psycopg.connect(server.url, autocommit=True) as connection:
        connection.execute("ALTER SYSTEM SET max_wal_size = '48MB'")
        connection.execute("SELECT pg_reload_conf()")
    try:
        yield server
    finally:
        server.stop()


def test_postgresql_whose_disk_is_full(
    tmp_path: Path,
    disk: SmallDisk,
    small_postgres: PostgresServer,
    shared: dict[str, Any],
    receiver: Receiver,
) -> None:
    with new_postgres_database(small_postgres.url) as database:
        shared["database_url"] = database.render_as_string(hide_password=False)
        with _running(tmp_path, 2, shared) as pair:
            accepted = Accepted(pair[0], receiver)
            for number in range(10):
                accepted.server = pair[number % 2]
                assert accepted.send() == 200
            disk.fill(leaving=1024**2)
            while accepted.send(padding=5000) == 200:
                assert accepted.statuses[200] < 1000
            for number in range(10):
                accepted.server = pair[number % 2]
                accepted.send(padding=5000)
            assert accepted.statuses.keys() <= {200, 503}
            statuses = [server.client.get("/_readyz").status_code for server in pair]
            disk.free()
            if not _answers(small_postgres):
                small_postgres.start()  # it ends if it cannot write its log
            for server in pair:
                accepted.server = server
                wait_for(lambda: accepted.send() == 200, seconds=SECONDS)
            accepted.assert_all_there()
            for server in pair:
                assert server.client.get("/_readyz").status_code == 200
            assert "No space left" in pair[0].log() + pair[1].log()
    assert statuses == [503, 503]


def _answers(postgres: PostgresServer) -> bool:
    try:
        psycopg.connect(postgres.url).close()
    except psycopg.OperationalError:
        return False
    return True


def test_a_broker_that_hangs(
    tmp_path: Path,
    postgres_url: str,
    own_nats: NatsServer,
    shared: dict[str, Any],
    receiver: Receiver,
) -> None:
    shared |= {"database_url": postgres_url, "spool_url": own_nats.url()}
    with _running(tmp_path, 2, shared) as pair:
        add_destination(pair[0], f"{receiver.url}/{{event.uuid}}")
        sender = OrderedSender(pair)
        sender.start()
        _wait_for_events(sender)
        own_nats.pause()
        time.sleep(HANGS_SECONDS)
        own_nats.resume()
        _wait_for_events(sender)
        sender.stop()
        sender.assert_stored(pair[1], receiver)


def test_a_broker_whose_disk_is_full(
    tmp_path: Path,
    disk: SmallDisk,
    postgres_url: str,
    shared: dict[str, Any],
    receiver: Receiver,
) -> None:
    """It refuses messages until it is restarted, also when there is space again."""
    broker = NatsServer(disk.folder).start()
    shared |= {"database_url": postgres_url, "spool_url": broker.url()}
    try:
        with _running(tmp_path, 2, shared) as pair:
            accepted = Accepted(pair[0], receiver)
            assert accepted.send() == 200
            disk.fill(leaving=1024**2)
            while accepted.send(padding=20_000) == 200:
                assert accepted.statuses[200] < 1000
            accepted.server = pair[1]
            assert accepted.send(padding=20_000) == 503
            assert [each.client.get("/_readyz").status_code for each in pair] == [503, 503]
            disk.free()
            broker.kill()
            broker.start()
            for server in pair:
                accepted.server = server
                wait_for(lambda: accepted.send() == 200, seconds=SECONDS)
            accepted.assert_all_there()
    finally:
        broker.kill()


@pytest.mark.parametrize("spool", ["rows", pytest.param("nats", marks=pytest.mark.long)])
def test_a_third_server_comes_and_goes(
    tmp_path: Path,
    postgres_url: str,
    own_nats: NatsServer,
    shared: dict[str, Any],
    receiver: Receiver,
    spool: str,
) -> None:
    """Partitions, also those of shared groups in progress, change their owner every few seconds."""
    shared["database_url"] = postgres_url
    if spool == "nats":
        shared["spool_url"] = own_nats.url()
    with _running(tmp_path, 3, shared) as servers:
        *pair, third = servers
        add_destination(pair[0], f"{receiver.url}/{{event.uuid}}")
        sender = OrderedSender(pair)
        sender.start()
        for visit in range(VISITS):
            third.start()
            wait_for(lambda: _owners(postgres_url) == 3, seconds=SECONDS)
            _wait_for_events(sender, batches=visit)
            if visit % 2:
                third.kill()
            else:
                assert third.stop() == 0
        _wait_for_events(sender)
        sender.stop()
        sender.assert_stored(pair[1], receiver)
        wait_for(lambda: _owners(postgres_url) == 2, seconds=SECONDS)


def _owners(url: str) -> int:
    """How many servers own partitions."""
    with psycopg.connect(url.replace("+psycopg", "")) as connection:
        query = "SELECT count(DISTINCT owner) FROM spool_positions"
        return connection.execute(query).fetchall()[0][0]
