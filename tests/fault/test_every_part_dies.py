"""kill -9 of every part of two servers in turn, under load: servers, workers, and what they need.

Nothing that was accepted is lost, nothing is stored twice, deliveries are repeated only under
their id, and the events of a distinct id keep their order.
"""

import os
import signal
import time
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import pytest
from cryptography.fernet import Fernet

from support.accepted import add_destination
from support.databases import new_postgres_database
from support.nats_server import NatsServer
from support.ordered_sender import DISTINCT_IDS, OrderedSender
from support.postgres_server import PostgresServer
from support.receiver import Receiver
from support.server import RunningServer, started
from support.warehouses import ClickHouseDouble, new_clickhouse_database

pytestmark = pytest.mark.slow

SECONDS = 120  # until a part that is back, or its neighbor, accepts events
AWAY_SECONDS = 2.0


@pytest.fixture
def warehouse(tmp_path: Path) -> Generator[ClickHouseDouble]:
    double = ClickHouseDouble(tmp_path / "engine")
    double.start()
    yield double
    double.kill()


def test_nothing_is_lost_or_repeated(
    tmp_path: Path,
    own_postgres: PostgresServer,
    own_nats: NatsServer,
    warehouse: ClickHouseDouble,
    receiver: Receiver,
) -> None:
    with (
        new_postgres_database(own_postgres.url) as database,
        new_clickhouse_database(warehouse.url) as tables,
    ):
        settings: dict[str, Any] = {
            "database_url": database.render_as_string(hide_password=False),
            "warehouse_url": tables,
            "spool_url": own_nats.url(),
            "secret_keys": Fernet.generate_key().decode(),
        }
        pair = [RunningServer(tmp_path / name, **settings) for name in ("one", "two")]
        with started(pair):
            add_destination(pair[0], f"{receiver.url}/{{event.uuid}}")
            sender = OrderedSender(pair)
            sender.start()
            for die in _deaths(pair, own_postgres, own_nats, warehouse):
                _wait_for_events(sender)
                die()
            _wait_for_events(sender)
            sender.stop()
            sender.assert_stored(pair[1], receiver)


def _deaths(
    pair: list[RunningServer],
    postgres: PostgresServer,
    nats: NatsServer,
    warehouse: ClickHouseDouble,
) -> list[Callable[[], None]]:
    first, second = pair
    return [
        lambda: _die(first.kill, first.start),
        lambda: _kill_workers(second),
        lambda: _die(nats.kill, nats.start),
        lambda: _die(postgres.kill, postgres.start),
        lambda: _die(warehouse.kill, warehouse.start),
        lambda: _die(
            lambda: (first.kill(), second.kill()), lambda: (first.start(), second.start())
        ),
        lambda: _kill_workers(first, second),
    ]


def _die(kill: Callable[[], object], start: Callable[[], object]) -> None:
    kill()
    time.sleep(AWAY_SECONDS)  # what needs it notices
    start()


def _kill_workers(*servers: RunningServer) -> None:
    for server in servers:
        assert server.process is not None
        threads = Path(f"/proc/{server.process.pid}/task")
        for thread in threads.iterdir():
            for child in (thread / "children").read_text().split():
                os.kill(int(child), signal.SIGKILL)


def _wait_for_events(sender: OrderedSender) -> None:
    expected = len(sender.accepted) + 6 * DISTINCT_IDS
    deadline = time.monotonic() + SECONDS
    while len(sender.accepted) < expected:
        assert time.monotonic() < deadline, "no server accepts events"
        time.sleep(0.1)
