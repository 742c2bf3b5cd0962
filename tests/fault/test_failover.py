"""The failover of PostgreSQL to a standby.

Nothing is lost if commits wait for the standby. Otherwise its last commits are missing, and
positions of the spool are assigned again: what is accepted afterwards must not be lost as well.
"""

from collections.abc import Generator
from pathlib import Path

import pytest
from cryptography.fernet import Fernet

from support.accepted import Accepted, add_destination
from support.ordered_sender import DISTINCT_IDS, OrderedSender
from support.postgres_standby import ReplicatedPostgres
from support.receiver import Receiver
from support.server import RunningServer, started
from support.waiting import wait_for
from support.warehouses import new_clickhouse_database

pytestmark = pytest.mark.slow

SECONDS = 120
LOST = 10  # requests that the standby does not receive


@pytest.fixture
def pair(
    tmp_path: Path, clickhouse_server: str, replicated_postgres: ReplicatedPostgres
) -> Generator[list[RunningServer]]:
    with new_clickhouse_database(clickhouse_server) as warehouse:
        key = Fernet.generate_key().decode()
        servers = [
            RunningServer(
                tmp_path / name,
                database_url=replicated_postgres.url.replace("postgresql:", "postgresql+psycopg:"),
                warehouse_url=warehouse,
                secret_keys=key,
            )
            for name in ("a", "b")
        ]
        with started(servers):
            yield servers


@pytest.mark.long
def test_a_synchronous_standby_costs_nothing(
    pair: list[RunningServer], replicated_postgres: ReplicatedPostgres, receiver: Receiver
) -> None:
    replicated_postgres.wait_for_commits()
    add_destination(pair[0], f"{receiver.url}/{{event.uuid}}")
    sender = OrderedSender(pair)
    sender.start()
    _wait_for_events(sender)
    replicated_postgres.fail_over()
    _wait_for_events(sender)
    sender.stop()
    sender.assert_stored(pair[1], receiver)


def _wait_for_events(sender: OrderedSender) -> None:
    expected = len(sender.accepted) + 6 * DISTINCT_IDS
    wait_for(lambda: len(sender.accepted) >= expected, seconds=SECONDS)


def test_what_is_accepted_after_the_loss_of_commits_is_stored(
    pair: list[RunningServer], replicated_postgres: ReplicatedPostgres, receiver: Receiver
) -> None:
    server, other = pair
    assert other.stop() == 0  # it would take over partitions, and read their positions anew
    accepted = Accepted(server, receiver)
    assert accepted.send() == 200
    accepted.assert_all_there()
    replicated_postgres.stop_standby()
    for _ in range(LOST):
        assert accepted.send() == 200
    accepted.assert_all_there()  # the server remembers these positions as stored
    lost, accepted.answered = accepted.answered, set()

    replicated_postgres.fail_over()
    wait_for(lambda: accepted.send() == 200, seconds=SECONDS)

    assert accepted.answered
    assert lost.isdisjoint(accepted.answered)
    accepted.assert_all_there()
