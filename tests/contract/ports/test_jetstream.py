"""The spool on NATS beyond the port's contract: brokers that die, hang or cannot be the spool."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from uuid import uuid4

import nats
import pytest
from nats.js.api import DiscardPolicy, RetentionPolicy, StorageType, StreamConfig

from hoglet.kit.errors import HogletError
from hoglet.settings import Settings
from hoglet.spool import SpoolUnavailable
from hoglet.spool.address import nats_address
from hoglet.spool.jetstream import JetStreamLog, open_jetstream
from hoglet.spool.nats_stream import SpoolRefused
from support.nats_server import DeployedNats, NatsServer, nats_server

SMALL, PLENTY = 1000, 1_000_000


@asynccontextmanager
async def opened(url: str, *, owner: str | None = None) -> AsyncGenerator[JetStreamLog]:
    address = nats_address(url)
    log = await open_jetstream(address, payload_bytes=SMALL, owner=owner)
    try:
        yield log
    finally:
        await log.close()


async def everything(log: JetStreamLog, partition: int) -> list[bytes]:
    payloads: list[bytes] = []
    after = 0
    while entries := (await log.read({partition: after}, PLENTY)).get(partition):
        payloads += [entry.payload for entry in entries]
        after = entries[-1].position
    return payloads


async def until_longer(grown: list[bytes], *, by: int) -> None:
    before = len(grown)
    while len(grown) < before + by:  # noqa: ASYNC110 (four writers append to it)
        await asyncio.sleep(0.01)


async def until_it_works[T](call: Callable[[], Awaitable[T]]) -> T:
    async with asyncio.timeout(120):
        while True:
            try:
                return await call()
            except SpoolUnavailable:
                await asyncio.sleep(0.05)


async def test_a_killed_broker_loses_nothing_that_was_acknowledged(own_nats: NatsServer) -> None:
    acknowledged: list[bytes] = []
    stop = asyncio.Event()

    async def write(log: JetStreamLog, writer: int) -> None:
        number = 0
        while not stop.is_set():
            number += 1
            payloads = [b"%d:%d:%d" % (writer, number, part) for part in range(5)]
            try:
                await log.append({0: payloads})
            except SpoolUnavailable:
                continue
            acknowledged.extend(payloads)

    async with opened(own_nats.url()) as log:
        writers = [asyncio.create_task(write(log, number)) for number in range(4)]
        for _ in range(3):
            await until_longer(acknowledged, by=100)
            own_nats.kill()
            await asyncio.to_thread(own_nats.start)
        await until_longer(acknowledged, by=20)
        stop.set()
        await asyncio.gather(*writers)
        stored = await everything(log, 0)

    assert set(acknowledged) <= set(stored)
    counts = {payload: stored.count(payload) for payload in acknowledged}
    assert set(counts.values()) == {1}  # repeated by message id, stored once


async def test_a_broker_that_is_away_is_said_to_be_until_it_returns(own_nats: NatsServer) -> None:
    async with opened(own_nats.url()) as log:
        await log.append({0: [b"before"]})
        own_nats.kill()
        for call in (
            log.append({0: [b"while away"]}),
            log.read({0: 0}, PLENTY),
            log.trim({0: 2}),
            log.last_positions([0]),
        ):
            with pytest.raises(SpoolUnavailable, match=own_nats.address):
                await asyncio.wait_for(call, 60)
        own_nats.start()

        await until_it_works(lambda: log.append({0: [b"after"]}))

        assert [each for each in await everything(log, 0) if each != b"while away"] == [
            b"before",
            b"after",
        ]


async def test_a_broker_that_hangs_is_unavailable(own_nats: NatsServer) -> None:
    async with opened(own_nats.url()) as log:
        await log.append({0: [b"before"]})
        own_nats.pause()
        with pytest.raises(SpoolUnavailable):
            await asyncio.wait_for(log.append({0: [b"while it hangs"]}), 60)
        own_nats.resume()

        await until_it_works(lambda: log.append({0: [b"after"]}))

        assert {b"before", b"after"} <= set(await everything(log, 0))


async def test_a_full_broker_refuses_instead_of_forgetting(nats_broker: NatsServer) -> None:
    name = f"test-{uuid4().hex}"
    expected = spool_stream(name)
    expected.max_bytes, expected.discard = 20_000, DiscardPolicy.NEW
    await make_stream(nats_broker, expected)
    taken: list[bytes] = []
    async with opened(nats_broker.url(name)) as log:

        async def fill() -> None:
            for number in range(100):
                payload = b"%4d" % number * 250
                await log.append({0: [payload]})
                taken.append(payload)

        with pytest.raises(SpoolUnavailable, match="maximum bytes"):
            await fill()

        assert taken
        assert await everything(log, 0) == taken


async def test_the_used_share_is_that_of_the_nearest_limit(nats_broker: NatsServer) -> None:
    url = nats_broker.url()
    async with opened(url) as log:
        assert await log.used_share() == 0
        await log.append({0: [b"x" * 500]})
        assert await log.used_share() == 0
        client = await nats.connect(f"nats://{nats_broker.address}")
        context = client.jetstream()
        info = await context.stream_info(nats_address(url).stream)
        limited = await context.update_stream(info.config, max_bytes=10_000, max_msgs=4)
        assert await log.used_share() == 0.25
        await context.update_stream(limited.config, max_bytes=info.state.bytes * 2)
        assert await log.used_share() == 0.5
        await client.close()


async def test_a_stream_that_is_changed_by_hand_takes_no_more_entries_that_it_could_lose(
    nats_broker: NatsServer,
) -> None:
    """With an age of 2 s and a stopped warehouse, 670 of 2,240 accepted events were gone."""
    url = nats_broker.url(f"test-{uuid4().hex}")
    client = await nats.connect(f"nats://{nats_broker.address}")
    context = client.jetstream()
    async with opened(url) as log:
        await log.append({0: [b"a"]})
        config = (await context.stream_info(nats_address(url).stream)).config
        changed = await context.update_stream(config, max_age=3600)
        assert len((await log.read({0: 0, 1: 0}, PLENTY))[0]) == 1  # what it has is still stored

        with pytest.raises(SpoolUnavailable, match="by age or number: change it back"):
            await log.append({0: [b"b"]})

        await context.update_stream(changed.config, max_age=0)
        await log.read({0: 0, 1: 0}, PLENTY)
        assert await log.append({0: [b"c"]}) == {0: 2}
    await client.close()


async def test_a_server_that_only_appends_notices_changed_settings(nats_broker: NatsServer) -> None:
    """One with the role ``api`` reads no entries."""
    url = nats_broker.url(f"test-{uuid4().hex}")
    client = await nats.connect(f"nats://{nats_broker.address}")
    context = client.jetstream()
    async with opened(url) as log:
        config = (await context.stream_info(nats_address(url).stream)).config
        changed = await context.update_stream(config, max_age=3600)
        await _append_until(log, is_refused=True)

        await context.update_stream(changed.config, max_age=0)
        await _append_until(log, is_refused=False)
    await client.close()


async def _append_until(log: JetStreamLog, *, is_refused: bool) -> None:
    async with asyncio.timeout(30):
        while await _refuses(log) is not is_refused:  # noqa: ASYNC110 (it asks the broker)
            await asyncio.sleep(0.05)


async def _refuses(log: JetStreamLog) -> bool:
    try:
        await log.append({0: [b"a"]})
    except SpoolUnavailable:
        return True
    return False


async def test_a_full_stream_may_refuse_messages_by_number(nats_broker: NatsServer) -> None:
    stream = spool_stream(f"test-{uuid4().hex}")
    stream.max_msgs, stream.discard = 1_000_000, DiscardPolicy.NEW
    await make_stream(nats_broker, stream)

    async with opened(nats_broker.url(stream.name or "")) as log:
        assert await log.append({0: [b"a"]}) == {0: 1}


async def test_a_stream_belongs_to_one_database(nats_broker: NatsServer) -> None:
    name = f"test-{uuid4().hex}"
    async with opened(nats_broker.url(name), owner="one") as log:
        await log.append({0: [b"a"]})
    async with opened(nats_broker.url(name), owner="one") as log:
        assert await log.last_positions([0]) == {0: 1}
    with pytest.raises(SpoolRefused, match="another database"):
        async with opened(nats_broker.url(name), owner="two"):
            pass


async def test_a_stream_made_by_hand_is_claimed(nats_broker: NatsServer) -> None:
    stream = spool_stream(f"test-{uuid4().hex}")
    await make_stream(nats_broker, stream)
    async with opened(nats_broker.url(stream.name or ""), owner="one") as log:
        assert await log.append({0: [b"a"]}) == {0: 1}
    with pytest.raises(SpoolRefused, match="another database"):
        async with opened(nats_broker.url(stream.name or ""), owner="two"):
            pass


async def test_a_stream_that_is_made_anew_is_another_log(nats_broker: NatsServer) -> None:
    name = f"test-{uuid4().hex}"
    async with opened(nats_broker.url(name)) as first, opened(nats_broker.url(name)) as second:
        assert first.facts == second.facts
        assert len(first.facts.identity) <= 20
    client = await nats.connect(f"nats://{nats_broker.address}")
    await client.jetstream().delete_stream(name)
    await client.close()

    async with opened(nats_broker.url(name)) as log:
        assert log.facts.identity != first.facts.identity


async def make_stream(broker: NatsServer, expected: StreamConfig) -> None:
    client = await nats.connect(f"nats://{broker.address}")
    await client.jetstream().add_stream(expected)
    await client.close()


def spool_stream(name: str) -> StreamConfig:
    return StreamConfig(
        name=name, subjects=[f"{name}.spool.*"], storage=StorageType.FILE, allow_direct=True
    )


def _in_memory(stream: StreamConfig) -> None:
    stream.storage = StorageType.MEMORY


def _short_lived(stream: StreamConfig) -> None:
    stream.max_age = 3600


def _forgetful(stream: StreamConfig) -> None:
    stream.max_bytes = 1_000_000


def _bounded(stream: StreamConfig) -> None:
    stream.max_msgs = 1_000_000


def _bounded_by_partition(stream: StreamConfig) -> None:
    stream.max_msgs_per_subject = 1


def _queue(stream: StreamConfig) -> None:
    stream.retention = RetentionPolicy.WORK_QUEUE


def _elsewhere(stream: StreamConfig) -> None:
    stream.subjects = [f"{stream.name}.spool.>"]


def _indirect(stream: StreamConfig) -> None:
    stream.allow_direct = False


def _silent(stream: StreamConfig) -> None:
    stream.no_ack = True


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (_in_memory, "in memory"),
        (_short_lived, "age or number"),
        (_bounded, "the oldest messages"),
        (_bounded_by_partition, "age or number"),
        (_forgetful, "the oldest messages"),
        (_queue, "that were read"),
        (_elsewhere, "subjects"),
        (_indirect, "allow_direct"),
        (_silent, "acknowledge"),
    ],
)
async def test_a_stream_that_could_lose_entries_is_refused(
    nats_broker: NatsServer, change: Callable[[StreamConfig], None], reason: str
) -> None:
    stream = spool_stream(f"test-{uuid4().hex}")
    change(stream)
    await make_stream(nats_broker, stream)

    with pytest.raises(SpoolRefused, match=reason):
        async with opened(nats_broker.url(stream.name or "")):
            pass


async def test_a_stream_made_by_hand_is_accepted(nats_broker: NatsServer) -> None:
    stream = spool_stream(f"test-{uuid4().hex}")
    await make_stream(nats_broker, stream)

    async with opened(nats_broker.url(stream.name or "")) as log:
        assert await log.append({0: [b"a"]}) == {0: 1}


async def refusal(url: str, payload_bytes: int = SMALL) -> HogletError:
    with pytest.raises(HogletError) as raised:
        await open_jetstream(nats_address(url), payload_bytes=payload_bytes)
    return raised.value


async def test_brokers_that_cannot_be_the_spool_are_refused_with_the_reason(
    nats_broker: NatsServer,
) -> None:
    with nats_server(jetstream=False) as plain:
        assert "no JetStream" in (await refusal(plain.url())).detail
    too_large = await refusal(nats_broker.url(), payload_bytes=33 * 1024**2)
    assert "max_payload" in too_large.detail
    replicated = await refusal(nats_broker.url(f"test-{uuid4().hex}") + "?replicas=3")
    assert "replicas" in replicated.detail
    users = "authorization { users: [{user: hoglet, password: right}] }\n"
    with nats_server(configuration=users) as closed:
        wrong = f"nats://hoglet:wrong@{closed.address}"
        detail = (await refusal(wrong)).detail
        assert "uthorization" in detail
        assert "wrong" not in detail
        async with opened(f"nats://hoglet:right@{closed.address}") as log:
            assert await log.append({0: [b"a"]}) == {0: 1}
    assert "127.0.0.1:1" in (await refusal("nats://127.0.0.1:1")).detail


async def test_an_append_wakes_other_servers(nats_broker: NatsServer) -> None:
    name = f"test-{uuid4().hex}"
    async with opened(nats_broker.url(name)) as first, opened(nats_broker.url(name)) as second:
        woken = asyncio.create_task(second.wait([3, 4], timedelta(minutes=1)))
        await asyncio.sleep(0.05)
        await first.append({5: [b"a"]})
        await asyncio.sleep(0.05)
        assert not woken.done()

        await first.append({4: [b"b"]})

        assert await asyncio.wait_for(woken, 10) == {4}


async def test_the_broker_of_the_deployment_files_takes_the_largest_request(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    largest = Settings.model_fields["request_body_bytes"].default
    monkeypatch.setenv("NATS_PASSWORD", "secret1")
    server = DeployedNats(tmp_path).start()
    try:
        address = nats_address(f"nats://hoglet:secret1@{server.address}/hoglet")
        log = await open_jetstream(address, payload_bytes=largest)
        await log.append({0: [b"x" * largest]})
        assert [len(payload) for payload in await everything(log, 0)] == [largest]
        await log.close()
        with pytest.raises(nats.errors.Error, match="Authorization"):
            await nats.connect(f"nats://hoglet:wrong@{server.address}", allow_reconnect=False)
    finally:
        server.kill()


async def delete_stream(broker: NatsServer, name: str) -> None:
    client = await nats.connect(f"nats://{broker.address}")
    await client.jetstream().delete_stream(name)
    await client.close()


async def test_a_stream_that_is_deleted_is_created_again_by_running_servers(
    nats_broker: NatsServer,
) -> None:
    name = f"test-{uuid4().hex}"
    url = nats_broker.url(name)
    async with opened(url, owner="one") as first, opened(url, owner="one") as second:
        before = await first.append({0: [b"a"] * 9, 1: [b"b"]})
        assert await second.read({0: before[0], 1: 0}, PLENTY)
        identity = first.facts.identity
        await delete_stream(nats_broker, name)

        after, other = await asyncio.gather(first.append({0: [b"c"]}), second.append({1: [b"d"]}))

        assert after[0] > before[0]
        assert other[1] > before[1]
        for log in (first, second):
            entries = await log.read(before, PLENTY)
            assert [[e.payload for e in own] for own in entries.values()] == [[b"c"], [b"d"]]
            assert log.losses == 1
            assert (await log.last_positions([7]))[7] >= before[0]  # no position is above it
    async with opened(url, owner="one") as third:
        assert third.facts.identity == identity
    with pytest.raises(SpoolRefused, match="another database"):
        async with opened(url, owner="two"):
            pass


async def test_a_reader_creates_the_stream_again_before_anything_is_appended(
    nats_broker: NatsServer,
) -> None:
    name = f"test-{uuid4().hex}"
    async with opened(nats_broker.url(name)) as log:
        before = await log.append({0: [b"a"], 1: [b"b"]})
        for losses in (1, 2):
            await delete_stream(nats_broker, name)
            assert await log.read(before, PLENTY) == {}
            assert log.losses == losses
        assert (await log.append({0: [b"c"]}))[0] > before[0]


async def test_trimmed_entries_are_not_reported_but_purged_ones_are(
    nats_broker: NatsServer,
) -> None:
    name = f"test-{uuid4().hex}"
    async with opened(nats_broker.url(name)) as log:
        await log.append({0: [b"a"], 1: [b"b"]})
        stored = await log.append({0: [b"c"], 1: [b"d"]})
        await log.trim(stored)
        await log.read(stored, PLENTY)
        assert log.deleted(stored) == set()

        client = await nats.connect(f"nats://{nats_broker.address}")
        await client.jetstream().purge_stream(name)
        await client.close()
        await log.read(stored, PLENTY)
        assert log.deleted({**stored, 2: 0}) == {0, 1}
        after = await log.append({0: [b"e"]})
        await log.read(after | {1: stored[1]}, PLENTY)
        assert log.deleted(after) == set()


async def test_a_purge_is_noticed_by_the_read_that_finds_the_next_entry_of_one_partition(
    nats_broker: NatsServer,
) -> None:
    """A server with one partition would go on behind it, as if nothing had been deleted."""
    name = f"test-{uuid4().hex}"
    async with opened(nats_broker.url(name)) as log:
        stored = await log.append({0: [b"a"]})
        await log.append({0: [b"b"]})
        client = await nats.connect(f"nats://{nats_broker.address}")
        await client.jetstream().purge_stream(name)
        await client.close()
        await log.append({0: [b"c"]})

        read = await log.read(stored, PLENTY)

        assert [entry.payload for entry in read[0]] == [b"c"]
        assert log.deleted(stored) == {0}


async def test_a_stream_of_another_program_is_not_taken_for_the_log(
    nats_broker: NatsServer,
) -> None:
    stream = spool_stream(f"test-{uuid4().hex}")
    async with opened(nats_broker.url(stream.name or "")) as log:
        before = await log.append({0: [b"a"], 1: [b"b"]})
        await delete_stream(nats_broker, stream.name or "")
        await make_stream(nats_broker, stream)

        with pytest.raises(SpoolUnavailable, match="restart the servers"):
            await log.read(before, PLENTY)


async def test_last_positions_of_an_unchanged_stream_are_read_without_payloads(
    nats_broker: NatsServer,
) -> None:
    async with opened(nats_broker.url(f"stream-{uuid4()}")) as log:
        last = await log.append({1: [bytes(PLENTY)], 2: [bytes(PLENTY)]})
        expected = last | {0: 0}
        assert await log.last_positions([0, 1, 2]) == expected
        client = (await log._connection.ready()).client
        before = client.stats["in_bytes"]
        assert await log.last_positions([0, 1, 2]) == expected
        assert client.stats["in_bytes"] - before < PLENTY / 10
        last = await log.append({1: [b"next"]})
        assert await log.last_positions([0, 1, 2]) == expected | last


@pytest.mark.slow  # waits until the spool gives up
async def test_a_refused_login_is_the_reason_even_if_later_attempts_are_cut_off() -> None:
    attempts = 0

    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal attempts
        attempts += 1
        if attempts == 1:
            writer.write(b'INFO {"server_id":"A","version":"2.10.0","max_payload":1048576}\r\n')
            await reader.readline()  # CONNECT
            writer.write(b"-ERR 'Authorization Violation'\r\n")
            await writer.drain()
        writer.close()

    async with await asyncio.start_server(refuse, "127.0.0.1", 0) as broker:
        host, port = broker.sockets[0].getsockname()
        detail = (await refusal(f"nats://hoglet:wrong@{host}:{port}")).detail
    assert attempts > 1
    assert "uthorization" in detail
