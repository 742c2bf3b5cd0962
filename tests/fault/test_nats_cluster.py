"""The spool on three brokers: replicas of the stream, and brokers that die under two servers."""

import asyncio
import contextlib
import time
from collections.abc import AsyncGenerator, Generator
from pathlib import Path

import pytest
from cryptography.fernet import Fernet

from hoglet.spool import SpoolUnavailable
from hoglet.spool.address import nats_address
from hoglet.spool.jetstream import JetStreamLog, open_jetstream
from hoglet.spool.nats_stream import SpoolRefused
from support.accepted import add_destination
from support.nats_server import NatsCluster
from support.ordered_sender import DISTINCT_IDS, OrderedSender
from support.receiver import Receiver
from support.server import RunningServer, started
from support.waiting import wait_for
from support.warehouses import new_clickhouse_database

pytestmark = pytest.mark.slow

SECONDS = 120
WITHOUT_MAJORITY_SECONDS = 6  # longer than the patience with a broker


@contextlib.asynccontextmanager
async def _opened(cluster: NatsCluster, replicas: int) -> AsyncGenerator[JetStreamLog]:
    address = nats_address(cluster.url(replicas=replicas))
    deadline = time.monotonic() + SECONDS
    while True:
        try:
            opened = await open_jetstream(address, payload_bytes=1024)
            break
        except (SpoolRefused, SpoolUnavailable):  # no leader is elected yet
            assert time.monotonic() < deadline
    try:
        yield opened
    finally:
        await opened.close()


async def test_a_stream_gets_the_replicas_of_the_address(nats_cluster: NatsCluster) -> None:
    """It existed before with one: the operator would believe in copies that there are not."""
    async with _opened(nats_cluster, 1) as opened:
        assert opened.facts.replicas == 1
        await opened.append({0: [b"accepted"]})

    async with _opened(nats_cluster, 3) as opened:
        assert opened.facts.replicas == 3
        entries = await opened.read({0: 0}, 1024)
    async with _opened(nats_cluster, 1) as opened:
        assert opened.facts.replicas == 3, "a server without the setting removes no copies"

    assert [entry.payload for entry in entries[0]] == [b"accepted"]


@pytest.fixture
def pair(
    tmp_path: Path, postgres_url: str, clickhouse_server: str, nats_cluster: NatsCluster
) -> Generator[list[RunningServer]]:
    with new_clickhouse_database(clickhouse_server) as warehouse:
        servers = [
            RunningServer(
                tmp_path / name,
                database_url=postgres_url,
                warehouse_url=warehouse,
                spool_url=nats_cluster.url(replicas=3),
                secret_keys=_KEY,
            )
            for name in ("a", "b")
        ]
        with started(servers):
            yield servers


_KEY = Fernet.generate_key().decode()


async def test_brokers_die_under_two_servers(
    pair: list[RunningServer], nats_cluster: NatsCluster
) -> None:
    """One is tolerated; without two of them nothing is accepted until a majority is back."""
    receiver = Receiver()
    add_destination(pair[0], f"{receiver.url}/{{event.uuid}}")
    sender = OrderedSender(pair)
    sender.start()
    _wait_for_events(sender)
    for number in (1, 2):
        leader = await nats_cluster.leader()
        others = [each for each in nats_cluster.servers if each is not leader]
        killed = [leader, *others][:number]
        for server in killed:
            server.kill()
        if number == 1:
            _wait_for_events(sender)
        else:
            await asyncio.sleep(WITHOUT_MAJORITY_SECONDS)
        for server in killed:
            server.start()
        _wait_for_events(sender)
    sender.stop()
    sender.assert_stored(pair[1], receiver)
    receiver.close()


def _wait_for_events(sender: OrderedSender, batches: int = 6) -> None:
    expected = len(sender.accepted) + batches * DISTINCT_IDS
    wait_for(lambda: len(sender.accepted) >= expected, seconds=SECONDS)
