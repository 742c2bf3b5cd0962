"""The failover of PostgreSQL to a standby.

Nothing is lost if commits wait for the standby. Otherwise its last commits are missing: servers
must notice it and store nothing twice. Positions of the spool are assigned again: what is accepted
afterwards must not be lost as well.
"""

from collections.abc import Generator
from typing import Any

import httpx
import pytest
from cryptography.fernet import Fernet

from support.accepted import Accepted, add_destination
from support.ordered_sender import DISTINCT_IDS, OrderedSender
from support.postgres_standby import ReplicatedPostgres
from support.receiver import Receiver
from support.server import RunningServer
from support.waiting import wait_for
from support.warehouses import new_clickhouse_database

pytestmark = pytest.mark.slow

SECONDS = 120
LOST = 10  # requests that the standby does not receive


@pytest.fixture
def shared(
    clickhouse_server: str, replicated_postgres: ReplicatedPostgres
) -> Generator[dict[str, Any]]:
    """Settings that two servers share."""
    with new_clickhouse_database(clickhouse_server) as warehouse:
        yield {
            "database_url": replicated_postgres.url.replace("postgresql:", "postgresql+psycopg:"),
            "warehouse_url": warehouse,
            "secret_keys": Fernet.generate_key().decode(),
        }


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


def _fail_over_late(
    servers: list[RunningServer], postgres: ReplicatedPostgres, receiver: Receiver
) -> OrderedSender:
    """Fail over to a standby that lacks some seconds of commits, under load; servers notice it."""
    add_destination(servers[0], f"{receiver.url}/{{event.uuid}}")
    sender = OrderedSender(servers)
    sender.start()
    _wait_until_stored(sender, servers)
    postgres.stop_standby()
    _wait_until_stored(sender, servers)
    postgres.fail_over()
    _wait_for_events(sender)
    wait_for(lambda: any(map(_has_noticed, servers)), seconds=SECONDS)
    sender.stop()
    return sender


def _wait_until_stored(sender: OrderedSender, servers: list[RunningServer]) -> None:
    _wait_for_events(sender)
    latest = _last_batch(sender)
    wait_for(lambda: latest <= set(_stored(servers[0])), seconds=SECONDS)


def _has_noticed(server: RunningServer) -> bool:
    answer = httpx.get(server.url + "/_readyz", timeout=20)
    warned = "the database has lost commits" in str(answer.json().get("warnings"))
    counted = 'hoglet_lost_writes_total{storage="database"} 0' not in _metrics(server)
    return warned and counted and answer.status_code == 200


def _metrics(server: RunningServer) -> str:
    return httpx.get(server.url + "/metrics", timeout=20).text


def test_the_loss_of_commits_is_noticed_and_nothing_is_stored_twice(
    pair: list[RunningServer], replicated_postgres: ReplicatedPostgres, receiver: Receiver
) -> None:
    sender = _fail_over_late(pair, replicated_postgres, receiver)

    wait_for(lambda: _last_batch(sender) <= set(_stored(pair[0])), seconds=SECONDS)
    stored = _stored(pair[0])
    assert len(stored) == len(set(stored))


def _last_batch(sender: OrderedSender) -> set[str]:
    return set(list(sender.accepted)[-DISTINCT_IDS:])


def _stored(server: RunningServer) -> list[str]:
    return [row[0] for row in OrderedSender([server])._rows(server)]


def test_with_nats_the_loss_of_commits_loses_no_event(
    nats_pair: list[RunningServer], replicated_postgres: ReplicatedPostgres, receiver: Receiver
) -> None:
    sender = _fail_over_late(nats_pair, replicated_postgres, receiver)

    def is_complete() -> bool:
        return sender.accepted.keys() <= set(_stored(nats_pair[1])) & receiver.arrivals.keys()

    wait_for(is_complete, seconds=SECONDS)


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
