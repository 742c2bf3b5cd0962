"""The contract of spool logs (hoglet.spool.port); each implementation is a fixture below.

A log is opened twice, as two servers have it open: what one appends, the other reads.
"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack
from datetime import timedelta
from typing import NamedTuple
from uuid import uuid4

import pytest

from hoglet.spool import SpoolEntry, SpoolLog, SpoolUnavailable
from hoglet.spool.address import nats_address
from hoglet.spool.jetstream import open_jetstream
from hoglet.spool.rows import RowLog
from hoglet.store.database import Database
from support.databases import open_database
from support.nats_server import NatsServer

ANY, PLENTY = 3, 1_000_000
LONG = timedelta(seconds=30)


class Logs(NamedTuple):
    """One log, as two servers have it open."""

    first: SpoolLog
    second: SpoolLog


@pytest.fixture
async def rows_logs(postgres_tables_url: str) -> AsyncGenerator[Logs]:
    """On PostgreSQL."""
    async with AsyncExitStack() as stack:
        yield Logs(
            *[
                RowLog(await stack.enter_async_context(open_database(postgres_tables_url)))
                for _ in range(2)
            ]
        )


@pytest.fixture
async def jetstream_logs(nats_broker: NatsServer) -> AsyncGenerator[Logs]:
    """On NATS, in a stream of its own."""
    address = nats_address(nats_broker.url(f"test-{uuid4().hex}"))
    opened = [await open_jetstream(address, payload_bytes=PLENTY) for _ in range(2)]
    yield Logs(*opened)
    for log in opened:
        await log.close()


@pytest.fixture(params=["rows", "jetstream"])
def logs(request: pytest.FixtureRequest) -> Logs:
    """An empty log of each kind."""
    return request.getfixturevalue(f"{request.param}_logs")


async def _read(log: SpoolLog, partition: int, after: int, limit_bytes: int) -> list[SpoolEntry]:
    """The entries of one partition."""
    return (await log.read({partition: after}, limit_bytes)).get(partition, [])


async def _last(log: SpoolLog, partition: int) -> int:
    return (await log.last_positions([partition]))[partition]


async def _payloads(log: SpoolLog, partition: int, after: int = 0) -> list[bytes]:
    """Everything above a position, read page by page."""
    payloads: list[bytes] = []
    while entries := await _read(log, partition, after, PLENTY):
        payloads += [entry.payload for entry in entries]
        after = entries[-1].position
    return payloads


async def test_what_is_appended_is_read_in_order_by_another_server(logs: Logs) -> None:
    await logs.first.append({ANY: [b"a", b"", b"\x00\xff"]})
    await logs.second.append({ANY: [b"b"]})

    entries = await _read(logs.second, ANY, 0, PLENTY)

    assert [entry.payload for entry in entries] == [b"a", b"", b"\x00\xff", b"b"]
    positions = [entry.position for entry in entries]
    assert positions == sorted(set(positions))
    assert positions[0] > 0


async def test_the_position_of_the_last_payload_is_answered(logs: Logs) -> None:
    last = await logs.first.append({0: [b"a", b"b"], 15: [b"c"]})
    entries = {partition: await _read(logs.second, partition, 0, PLENTY) for partition in (0, 15)}

    assert last == {partition: value[-1].position for partition, value in entries.items()}
    assert await _last(logs.second, 0) == last[0]


async def test_partitions_do_not_mix(logs: Logs) -> None:
    await logs.first.append({0: [b"a"], 1: [b"b"], 2: [b"c"]})
    await logs.first.append({1: [b"d"]})

    assert [await _payloads(logs.first, partition) for partition in range(4)] == [
        [b"a"],
        [b"b", b"d"],
        [b"c"],
        [],
    ]


async def test_reading_goes_on_after_a_position(logs: Logs) -> None:
    await logs.first.append({ANY: [b"a", b"b", b"c"]})
    first, *_ = await _read(logs.first, ANY, 0, 1)

    assert first.payload == b"a"
    assert await _payloads(logs.first, ANY, first.position) == [b"b", b"c"]
    last = await _last(logs.first, ANY)
    assert await _read(logs.first, ANY, last, PLENTY) == []
    assert await _read(logs.first, ANY, last + 1000, PLENTY) == []


async def test_a_read_is_bounded_by_bytes_but_always_goes_on(logs: Logs) -> None:
    payloads = [b"x" * 1000, b"y" * 10, b"z" * 10]
    await logs.first.append({ANY: payloads})
    first = await _read(logs.first, ANY, 0, 100)

    assert [entry.payload for entry in first] == payloads[:1]
    for limit in (19, 20, PLENTY):
        entries = await _read(logs.first, ANY, first[0].position, limit)
        assert entries
        assert sum(len(entry.payload) for entry in entries) <= limit
    assert await _payloads(logs.first, ANY) == payloads


async def test_several_partitions_are_read_in_turn_up_to_the_limit(logs: Logs) -> None:
    await logs.first.append({1: [b"a" * 10, b"b" * 10], 2: [b"c" * 10], 4: [b"d" * 100]})
    first = (await _read(logs.first, 1, 0, 1))[0].position

    whole = {1: b"ab", 2: b"c", 4: b"d"}

    async def initials(after: dict[int, int], limit_bytes: int) -> dict[int, bytes]:
        """The first byte of each payload, by partition; checks size and order of partitions."""
        entries = await logs.second.read(after, limit_bytes)
        payloads = [entry.payload for own in entries.values() for entry in own]
        assert len(payloads) <= 1 or sum(map(len, payloads)) <= limit_bytes
        assert list(entries) == [each for each in after if each in entries]
        return {each: b"".join(e.payload[:1] for e in own) for each, own in entries.items()}

    for _ in range(2):  # again, when it is known which partitions are empty
        assert await initials({3: 0, 2: 0, 1: first, 5: 0}, PLENTY) == {2: b"c", 1: b"b"}
        assert await initials({4: 0, 3: 0, 2: 0, 1: 0}, PLENTY) == whole
        assert await initials({4: 0, 1: 0}, 50) == {4: b"d"}
        for limit in (1, 10, 20, 30, 50, 100):
            some = await initials({1: 0, 2: 0, 4: 0}, limit)
            assert some
            assert all(whole[each].startswith(some[each]) for each in some)
        assert await initials({3: 0, 5: 0}, PLENTY) == {}
    await logs.first.append({3: [b"e"]})
    assert await initials({3: 0, 5: 0}, PLENTY) == {3: b"e"}
    assert await initials({}, PLENTY) == {}


async def test_many_and_large_payloads_come_back(logs: Logs) -> None:
    many = [b"%d" % number for number in range(1200)]  # more than one read of NATS answers
    await logs.first.append({0: many, 1: [b"L" * 700_000, b"l"]})

    assert await _payloads(logs.second, 0) == many
    assert await _payloads(logs.second, 1) == [b"L" * 700_000, b"l"]


async def test_trim_forgets_up_to_a_position_and_may_be_repeated(logs: Logs) -> None:
    await logs.first.append({ANY: [b"a", b"b", b"c"], 1: [b"other"]})
    second = (await _read(logs.first, ANY, 0, PLENTY))[1].position

    await logs.first.trim({ANY: second})
    await logs.second.trim({ANY: second})
    await logs.second.trim({ANY: second - 1})

    assert await _payloads(logs.first, ANY, second) == [b"c"]
    assert await _payloads(logs.first, 1) == [b"other"]


async def test_positions_go_on_after_everything_was_trimmed(logs: Logs) -> None:
    assert await _last(logs.first, ANY) == 0
    before = (await logs.first.append({ANY: [b"a", b"b"]}))[ANY]
    await logs.first.trim({ANY: before})

    assert await _last(logs.second, ANY) == before
    assert (await logs.second.append({ANY: [b"c"]}))[ANY] > before
    assert await _payloads(logs.first, ANY, before) == [b"c"]


async def test_trimming_a_partition_without_entries_does_nothing(logs: Logs) -> None:
    await logs.first.trim({ANY: 10})

    await logs.first.append({ANY: [b"a"]})
    assert await _last(logs.first, ANY) > 0


async def test_servers_that_append_at_once_lose_and_hide_nothing(logs: Logs) -> None:
    """A reader that follows the writers sees all they append, each writer's in its order."""
    rounds, partitions = 40, (0, 1)
    writers = [
        [{each: [b"%d:%d" % (writer, number)] for each in order} for number in range(rounds)]
        for writer, order in enumerate([(0, 1), (1, 0)])
    ]

    async def write(log: SpoolLog, batches: list[dict[int, list[bytes]]]) -> None:
        for batch in batches:
            await log.append(batch)

    async def follow(partition: int) -> list[bytes]:
        payloads: list[bytes] = []
        after = 0
        while len(payloads) < 2 * rounds:
            for entry in await _read(logs.second, partition, after, PLENTY):
                after = entry.position
                payloads.append(entry.payload)
        return payloads

    async with asyncio.timeout(60):
        *_, first, second = await asyncio.gather(
            *(write(log, batches) for log, batches in zip(logs, writers, strict=True)),
            *(follow(partition) for partition in partitions),
        )

    for payloads in (first, second):
        for writer in range(2):
            own = [each for each in payloads if each.startswith(b"%d:" % writer)]
            assert own == [b"%d:%d" % (writer, number) for number in range(rounds)]


async def test_all_who_wait_for_a_partition_are_woken_by_it(logs: Logs) -> None:
    waiting = [asyncio.create_task(logs.first.wait(each, LONG)) for each in ([ANY, 4], [4], [ANY])]
    await asyncio.sleep(0.01)
    await logs.first.append({5: [b"a"]})
    await asyncio.sleep(0.05)
    assert not any(each.done() for each in waiting)

    await logs.first.append({4: [b"b"]})

    assert await asyncio.wait_for(asyncio.gather(*waiting[:2]), 30) == [{4}, {4}]
    assert not waiting[2].done()
    logs.first.wake([ANY])
    assert await asyncio.wait_for(waiting[2], 30) == {ANY}


async def test_an_append_before_the_wait_ends_it_once(logs: Logs) -> None:
    await logs.first.append({ANY: [b"a"], 5: [b"b"], 6: [b"c"]})

    assert await asyncio.wait_for(logs.first.wait([ANY, 5], LONG), 30) == {ANY, 5}
    assert await logs.first.wait([ANY, 5], timedelta(0)) == set()
    assert await logs.first.wait([ANY, 6], timedelta(0)) == {6}


async def test_a_wait_ends_by_its_timeout(logs: Logs) -> None:
    timeout = timedelta(milliseconds=20)
    assert await asyncio.wait_for(logs.first.wait([ANY], timeout), 30) == set()


async def test_a_database_that_is_away_is_said_to_be() -> None:
    log = RowLog(Database("postgresql+psycopg://nobody@127.0.0.1:1/none"))

    for call in (
        log.append({0: [b"a"]}),
        log.read({0: 0}, 1),
        log.trim({0: 1}),
        log.last_positions([0]),
    ):
        with pytest.raises(SpoolUnavailable):
            await call


async def test_rows_of_a_call_are_stored_all_or_none(rows_logs: Logs) -> None:
    with pytest.raises(SpoolUnavailable):
        await rows_logs.first.append({0: [b"a"], 99_999: [b"no partition has this number"]})

    assert await _payloads(rows_logs.first, 0) == []
    assert await _last(rows_logs.first, 0) == 0
