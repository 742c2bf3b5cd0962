"""Owners of the spool's partitions (hoglet.spool.owners), on SQLite and PostgreSQL."""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import msgspec
import pytest
from sqlalchemy import select, update

from hoglet.kit.clock import FixedClock, SystemClock, new_id
from hoglet.spool import owners, positions
from hoglet.spool.owners import HEARTBEAT, SILENT_AFTER, PartitionOwner
from hoglet.spool.positions import OwnershipLost, Position
from hoglet.spool.tables import SpoolOwnerRow, SpoolPositionRow
from hoglet.store.database import Database
from support.databases import sent_statements

LOG = "rows"
PARTITIONS = 16
SECONDS = 30


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock(datetime(2026, 1, 1, tzinfo=UTC))


def _owner(database: Database, clock: FixedClock, name: str) -> PartitionOwner:
    return PartitionOwner(database, clock, name=name, log_name=LOG)


@pytest.fixture
async def servers(database: Database, clock: FixedClock) -> list[PartitionOwner]:
    """Three servers; none has any partition yet."""
    await positions.create_partitions(database, LOG, PARTITIONS)
    return [_owner(database, clock, name) for name in ("a", "b", "c")]


async def _divide(servers: Sequence[PartitionOwner], rounds: int = 3) -> list[int]:
    """Let the servers divide the partitions a few times; returns how many each one has."""
    for _ in range(rounds):
        for server in servers:
            await server.divide()
    owned = [partition for server in servers for partition in server.owned]
    assert sorted(owned) == sorted(set(owned)), "a partition has two owners"
    return [len(server.owned) for server in servers]


async def _store(database: Database, before: Position, **changes: Any) -> Position:
    after = msgspec.structs.replace(before, **changes)
    async with database.write() as session:
        await positions.store(session, [(before, after)])
    return after


async def test_partitions_of_a_silent_server_are_not_left_until_the_next_heartbeat(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(owners, "HEARTBEAT", timedelta(hours=1))
    monkeypatch.setattr(owners, "SILENT_AFTER", timedelta(seconds=1))
    await positions.create_partitions(database, LOG, PARTITIONS)
    dead, living = (
        PartitionOwner(database, SystemClock(), name=name, log_name=LOG) for name in ("a", "b")
    )
    await dead.divide()
    has_taken = asyncio.Event()
    living.on_taken = lambda _: has_taken.set()

    beats = asyncio.create_task(living.run())
    async with asyncio.timeout(SECONDS):
        await has_taken.wait()
    assert len(living.owned) == PARTITIONS
    living.stop()
    await beats


async def test_a_single_server_has_all_partitions(servers: list[PartitionOwner]) -> None:
    assert await _divide(servers[:1]) == [PARTITIONS]


async def test_a_heartbeat_without_changes_takes_four_statements(
    servers: list[PartitionOwner],
) -> None:
    """With the lock of PostgreSQL; and two that begin and end the transaction."""
    await _divide(servers)
    with sent_statements(servers[0]._database) as sent:
        await servers[0].divide()
    assert len(sent) <= 4


async def test_partitions_are_divided_when_servers_come_and_go(
    servers: list[PartitionOwner],
) -> None:
    a, b, c = servers
    assert await _divide([a, b]) == [8, 8]
    assert await _divide([a, b, c]) == [6, 6, 4]

    b.stop()
    await b.run()

    assert b.owned == frozenset()
    assert await _divide([a, c]) == [8, 8]


async def test_only_consumers_of_a_log_have_a_share_of_it(
    servers: list[PartitionOwner], database: Database, clock: FixedClock
) -> None:
    """While servers move to a broker, one after the other."""
    await positions.create_partitions(database, "nats:1", PARTITIONS)
    (before, *_), names = servers, ["nats:1", LOG]
    nats, rows = (
        PartitionOwner(database, clock, name="moved", log_name=each, logs=names) for each in names
    )
    for server in [before, nats, rows] * 3:
        await server.divide()

    assert len(nats.owned) == PARTITIONS
    assert [len(before.owned), len(rows.owned)] == [8, 8]


async def test_a_silent_server_loses_its_partitions_within_15_seconds(
    servers: list[PartitionOwner], clock: FixedClock
) -> None:
    a, b, _ = servers
    await _divide([a, b])
    killed_at = clock.now()

    while len(a.owned) < PARTITIONS:
        clock.advance(seconds=HEARTBEAT.total_seconds())
        await a.divide()

    assert clock.now() - killed_at <= timedelta(seconds=15)
    assert clock.now() - killed_at > SILENT_AFTER - HEARTBEAT


async def test_a_server_that_was_silent_knows_that_it_lost(
    servers: list[PartitionOwner], clock: FixedClock
) -> None:
    a, b, _ = servers
    await _divide([a, b])
    clock.advance(seconds=(SILENT_AFTER + HEARTBEAT).total_seconds())
    await a.divide()
    assert len(a.owned) == PARTITIONS

    assert await _divide([b, a]) == [8, 8]


async def test_a_former_owner_cannot_move_a_position(
    servers: list[PartitionOwner], database: Database, clock: FixedClock
) -> None:
    a, b, _ = servers
    await _divide([b])
    former = b.hold(3)
    assert former is not None
    former = await _store(database, former, group_from=1, group_to=7)
    clock.advance(seconds=(SILENT_AFTER + HEARTBEAT).total_seconds())
    await _divide([a])
    current = a.hold(3)

    assert current is not None
    assert (current.group_from, current.group_to, current.done_upto) == (1, 7, 0)
    assert current.epoch > former.epoch
    with pytest.raises(OwnershipLost):
        await _store(database, former, done_upto=7)
    await _store(database, current, done_upto=7)
    with pytest.raises(OwnershipLost):  # as after a commit whose answer was lost
        await _store(database, current, done_upto=7)
    async with database.read() as session:
        stored = await positions.all_positions(session, LOG)
    assert [each.done_upto for each in stored] == [0, 0, 0, 7, *[0] * 12]


async def test_a_group_that_is_worked_on_is_not_given_up(servers: list[PartitionOwner]) -> None:
    a, b, _ = servers
    await _divide([a])
    held = [partition for partition in a.owned if a.hold(partition)]

    await _divide([a, b])
    assert b.owned == frozenset()
    assert len(a.owned) == PARTITIONS // 2  # no new group of the others is begun
    surplus = set(held) - a.owned
    assert all(a.hold(partition) is None for partition in surplus)

    for partition in held:
        a.release(partition)
    assert await _divide([a, b]) == [8, 8]
    assert b.owned == surplus


async def test_a_partition_is_held_by_one_task_at_a_time(servers: list[PartitionOwner]) -> None:
    (a, *_) = servers
    await _divide([a])

    assert a.hold(1) is not None
    assert a.hold(1) is None
    a.release(1)
    assert a.hold(1) is not None
    assert a.hold(99) is None


async def test_servers_that_divide_at_once_agree(
    servers: list[PartitionOwner], database: Database
) -> None:
    for _ in range(4):
        await asyncio.gather(*(server.divide() for server in servers))

    assert sorted(await _divide(servers, rounds=1)) == [4, 6, 6]
    async with database.read() as session:
        for name, server in zip("abc", servers, strict=True):
            assert (await positions.owned_by(session, LOG, name)).keys() == server.owned


async def test_partitions_of_a_commit_without_an_answer_are_found_again(
    servers: list[PartitionOwner], database: Database
) -> None:
    a, *_ = servers
    async with database.write() as session:
        await positions.take(session, LOG, [2, 5], "a")

    assert await _divide([a]) == [PARTITIONS]
    position = a.hold(5)
    assert position is not None
    await _store(database, position, done_upto=1)


async def test_partitions_beyond_a_smaller_setting_stay(
    servers: list[PartitionOwner], database: Database
) -> None:
    await _divide(servers[:1])
    position = servers[0].hold(12)
    assert position is not None
    await _store(database, position, done_upto=5)

    await positions.create_partitions(database, LOG, 4)

    async with database.read() as session:
        stored = await positions.all_positions(session, LOG)
    assert len(stored) == PARTITIONS
    assert stored[12].done_upto == 5


async def _begin(database: Database, server: PartitionOwner, partitions: Sequence[int]) -> UUID:
    """Begin a group of several partitions, and release them, as after a failure."""
    group = new_id()
    held = [position for each in partitions if (position := server.hold(each)) is not None]
    assert len(held) == len(partitions)
    begun = [msgspec.structs.replace(p, group_from=1, group_to=2, group_id=group) for p in held]
    async with database.write() as session:
        await positions.store(session, list(zip(held, begun, strict=True)))
    for position in begun:
        server.moved(position)
        server.release(position.partition)
    return group


async def test_partitions_of_a_group_are_taken_over_together(
    servers: list[PartitionOwner], database: Database, clock: FixedClock
) -> None:
    a, b, c = servers
    await _divide([c])
    shared = [2, 5, 9, 10, 11, 12, 13, 14, 15]
    await _begin(database, c, shared)
    clock.advance(seconds=(SILENT_AFTER + HEARTBEAT).total_seconds())

    await _divide([a, b], rounds=1)

    owner = a if 2 in a.owned else b
    assert owner.owned >= set(shared)  # more than its share
    await _divide([a, b])
    assert owner.owned >= set(shared)


async def test_partitions_of_a_group_are_not_given_up_before_it_ends(
    servers: list[PartitionOwner], database: Database
) -> None:
    a, b, _ = servers
    await _divide([a])
    await _begin(database, a, range(PARTITIONS))

    await _divide([a, b])
    assert b.owned == frozenset()
    for partition in range(PARTITIONS):
        begun = a.hold(partition)
        assert begun is not None
        ended = await _store(database, begun, done_upto=2, group_to=None, group_id=None)
        a.moved(ended)
        a.release(partition)

    assert await _divide([a, b]) == [8, 8]


async def test_a_group_of_which_a_part_is_being_committed_is_not_taken_over(
    servers: list[PartitionOwner], database: Database, clock: FixedClock
) -> None:
    if database.is_sqlite:  # has one writer
        return
    a, b, _ = servers
    await _divide([b])
    await _begin(database, b, [3, 4, 5])
    clock.advance(seconds=(SILENT_AFTER + HEARTBEAT).total_seconds())

    async with database.write() as session:
        row = select(SpoolPositionRow).where(SpoolPositionRow.partition == 4)
        assert await session.scalar(row.with_for_update())
        await _divide([a], rounds=1)
        assert a.owned == set(range(PARTITIONS)) - {3, 4, 5}

    assert await _divide([a]) == [PARTITIONS]


async def test_a_group_moves_in_all_its_partitions_or_in_none(
    servers: list[PartitionOwner], database: Database
) -> None:
    (a, *_) = servers
    await _divide([a])
    known = [position for each in (1, 2) if (position := a.hold(each)) is not None]
    stale = [known[0], msgspec.structs.replace(known[1], epoch=0)]
    moved = [msgspec.structs.replace(each, done_upto=7) for each in known]

    with pytest.raises(OwnershipLost):
        async with database.write() as session:
            await positions.store(session, list(zip(stale, moved, strict=True)))

    async with database.read() as session:
        assert {each.done_upto for each in await positions.all_positions(session, LOG)} == {0}


async def test_groups_are_shared_only_if_every_server_knows_them(
    servers: list[PartitionOwner], database: Database, clock: FixedClock
) -> None:
    a, *_ = servers
    await a.divide()
    assert a.shares_groups
    async with database.write() as session:  # a server of the version before
        session.add(SpoolOwnerRow(name="old", seen_at=clock.now()))

    await a.divide()
    assert not a.shares_groups
    clock.advance(seconds=(2 * SILENT_AFTER).total_seconds())
    await a.divide()
    assert not a.shares_groups  # it may be frozen
    clock.advance(seconds=3600)
    await a.divide()
    assert a.shares_groups


async def test_positions_that_the_database_has_lost_are_read_anew(
    servers: list[PartitionOwner], database: Database
) -> None:
    """A standby that took over without the last commits assigns the same positions again."""
    a, *_ = servers
    await _divide([a])
    before = a.hold(3)
    assert before is not None
    a.moved(await _store(database, before, done_upto=7))
    a.release(3)
    async with database.write() as session:
        lost = update(SpoolPositionRow).where(SpoolPositionRow.partition == 3)
        await session.execute(lost.values(done_upto=5))

    await a.divide()

    position = a.position(3)
    assert (position.done_upto, position.epoch) == (5, before.epoch + 1)
    assert len(a.owned) == PARTITIONS


@pytest.mark.parametrize(
    ("stored", "is_loss"),
    [
        ({"epoch": 1, "done_upto": 0}, True),  # nothing was stored before the claim was lost
        ({"done_upto": 6}, True),
        ({"done_upto": 0}, False),  # as after the log was replaced
        ({"group_from": None, "group_to": None}, True),  # the begin of a group
        ({}, False),
    ],
)
async def test_lost_commits_are_reported(
    servers: list[PartitionOwner],
    database: Database,
    clock: FixedClock,
    stored: dict[str, Any],
    is_loss: bool,
) -> None:
    reports: list[str] = []
    b = PartitionOwner(
        database, clock, name="b", log_name=LOG, on_lost_commits=lambda: reports.append("b")
    )
    await _divide([servers[0]])
    await _divide([servers[0], b])
    before = b.hold(12)
    assert before is not None
    assert before.epoch == 2
    done = await _store(database, before, done_upto=7)
    b.moved(await _store(database, done, group_from=8, group_to=9))
    b.release(12)
    async with database.write() as session:
        lost = update(SpoolPositionRow).where(SpoolPositionRow.partition == 12)
        await session.execute(lost.values(log=LOG, **stored))

    await b.divide()
    await b.divide()

    assert reports == ["b"] * is_loss
