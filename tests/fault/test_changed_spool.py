"""The spool changes under running servers: restarts, other partitions, a deleted or full stream."""

import asyncio
import re
import signal
from pathlib import Path
from typing import Any

import httpx
import nats
import psycopg
import pytest

from support.accepted import Accepted, add_destination
from support.databases import new_postgres_database
from support.nats_server import NatsServer
from support.ordered_sender import OrderedSender
from support.postgres_server import PostgresServer
from support.receiver import Receiver
from support.server import RunningServer, started
from support.waiting import wait_for

pytestmark = pytest.mark.slow

RESTARTS = 4
BATCHES = 6
# So short that some statements, waits and transactions of a busy server exceed them.
TIMEOUTS = {
    "statement_timeout": 100,
    "idle_in_transaction_session_timeout": 50,
    "lock_timeout": 20,
}


def test_postgres_is_restarted_during_commits(
    tmp_path: Path,
    own_postgres: PostgresServer,
    shared: dict[str, Any],
    receiver: Receiver,
) -> None:
    with new_postgres_database(own_postgres.url) as database:
        shared["database_url"] = database.render_as_string(hide_password=False)
        pair = [RunningServer(tmp_path / name, **shared) for name in ("a", "b")]
        with started(pair):
            add_destination(pair[0], f"{receiver.url}/{{event.uuid}}")
            sender = OrderedSender(pair)
            sender.start()
            for number in range(RESTARTS):
                accepted = len(sender.accepted)
                wait_for(lambda known=accepted: len(sender.accepted) > known + 60)
                own_postgres.kill(signal.SIGINT if number % 2 else signal.SIGQUIT)
                own_postgres.start()
            sender.stop()
            sender.assert_stored(pair[1], receiver)


def test_timeouts_that_an_administrator_sets_lose_nothing(
    pair: list[RunningServer], shared: dict[str, Any], receiver: Receiver
) -> None:
    """They end statements and connections in the middle of any work, until they are reset."""
    add_destination(pair[0], f"{receiver.url}/{{event.uuid}}")
    sender = OrderedSender(pair)
    sender.start()
    for name, milliseconds in TIMEOUTS.items():
        accepted = len(sender.accepted)
        _alter_database(shared["database_url"], f"SET {name} = {milliseconds}")
        wait_for(lambda known=accepted: len(sender.accepted) > known + 60)
        _alter_database(shared["database_url"], f"RESET {name}")
    sender.stop()
    sender.assert_stored(pair[1], receiver)


def _alter_database(url: str, change: str) -> None:
    """Change a setting; connections end, so that new ones have it."""
    plain = url.replace("+psycopg", "")
    with psycopg.connect(plain, autocommit=True) as connection:
        connection.execute(f"ALTER DATABASE {connection.info.dbname} {change}".encode())
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid != pg_backend_pid()"
        )


def test_entries_of_more_partitions_are_stored(
    tmp_path: Path, shared: dict[str, Any], receiver: Receiver
) -> None:
    first = RunningServer(tmp_path / "one", **shared, partitions="16").start()
    second = RunningServer(tmp_path / "two", **shared, partitions="16")
    accepted = Accepted(first, receiver)
    first.stop()
    capture_only = [
        RunningServer(each.data_dir, **shared, partitions="16", roles="api")
        for each in (first, second)
    ]
    for server in capture_only:
        accepted.server = server.start()
        for _ in range(BATCHES):
            assert accepted.send(40) == 200
    for server in capture_only:
        server.kill()

    fewer = RunningServer(tmp_path / "one", **shared, partitions="3").start()
    more = RunningServer(tmp_path / "two", **shared, partitions="40").start()
    try:
        for server in (fewer, more):
            accepted.server = server
            for _ in range(BATCHES):
                assert accepted.send(40) == 200
        accepted.assert_all_there()
    finally:
        fewer.kill()
        more.kill()


async def _on_stream(broker: NatsServer, limit: int | None) -> None:
    """Limit the bytes of the stream; None deletes it."""
    client = await nats.connect(f"nats://{broker.address}")
    context = client.jetstream()
    if limit is None:
        await context.delete_stream("hoglet")
    else:
        config = (await context.stream_info("hoglet")).config
        config.max_bytes = limit
        await context.update_stream(config)
    await client.close()


def _wait_until_accepted(accepted: Accepted) -> None:
    wait_for(lambda: accepted.send(5) == 200, seconds=60)


def test_a_full_stream_refuses_until_there_is_room(
    nats_pair: list[RunningServer], own_nats: NatsServer, receiver: Receiver
) -> None:
    accepted = Accepted(nats_pair[0], receiver)
    _wait_until_accepted(accepted)
    asyncio.run(_on_stream(own_nats, limit=20_000))
    statuses = {accepted.send(20, padding=2000) for _ in range(3)}
    assert statuses == {503}
    _wait_until_accepted(accepted)  # small requests still fit
    asyncio.run(_on_stream(own_nats, limit=-1))
    accepted.server = nats_pair[1]
    assert accepted.send(20, padding=2000) == 200
    accepted.assert_all_there()


def _losses(server: RunningServer) -> float:
    metrics = httpx.get(server.url + "/metrics").text
    return float(re.findall(r"^hoglet_spool_losses_total (\S+)$", metrics, re.MULTILINE)[0])


def test_a_deleted_stream_is_created_again(
    nats_pair: list[RunningServer], own_nats: NatsServer, receiver: Receiver
) -> None:
    accepted = Accepted(nats_pair[0], receiver)
    for number in range(BATCHES):
        accepted.server = nats_pair[number % 2]
        _wait_until_accepted(accepted)
    accepted.assert_all_there()
    asyncio.run(_on_stream(own_nats, limit=None))
    for server in nats_pair:
        accepted.server = server
        assert accepted.send(5) == 200
    accepted.assert_all_there()
    wait_for(lambda: all(_losses(server) == 1 for server in nats_pair))
    for server in nats_pair:
        assert "see SpoolLosses" in httpx.get(server.url + "/_readyz").text
        assert server.stop() == 0
        accepted.server = server.start()
        assert accepted.send(5) == 200
    accepted.assert_all_there()
    assert [_losses(server) for server in nats_pair] == [0, 0]


def test_a_stream_that_was_deleted_while_no_server_ran_is_reported(
    nats_pair: list[RunningServer], own_nats: NatsServer, receiver: Receiver
) -> None:
    accepted = Accepted(nats_pair[0], receiver)
    _wait_until_accepted(accepted)
    accepted.assert_all_there()
    assert [server.stop() for server in nats_pair] == [0, 0]
    asyncio.run(_on_stream(own_nats, limit=None))
    for server in nats_pair:
        accepted.server = server.start()
        assert accepted.send(5) == 200
    accepted.assert_all_there()
    wait_for(lambda: sum(_losses(server) for server in nats_pair) == 1)
    for server in nats_pair:
        assert server.stop() == 0
        server.start()
    wait_for(lambda: all(server.client.get("/_readyz").status_code == 200 for server in nats_pair))
    assert [_losses(server) for server in nats_pair] == [0, 0]  # it is reported once


def test_events_are_stored_while_servers_move_to_a_broker(
    pair: list[RunningServer], own_nats: NatsServer, receiver: Receiver
) -> None:
    """The first one stores what it accepts, although the other one does not read the stream yet."""
    accepted = Accepted(pair[0], receiver)
    for server in pair:
        accepted.server = server
        assert accepted.send(40) == 200
    for server in pair:
        assert server.stop() == 0
        server.environment["HOGLET_SPOOL_URL"] = own_nats.url()
        server.start()
        for each in pair:
            accepted.server = each
            assert accepted.send(40) == 200
        accepted.assert_all_there()
    assert [_losses(server) for server in pair] == [0, 0]
