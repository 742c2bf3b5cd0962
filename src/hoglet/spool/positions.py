"""SQL statements on the positions of a log's partitions.

Positions are stored in the metadata database, not in the log, so that a position advances in the
transaction that stores the group. Every update is conditional on the owner's epoch. Taking over a
partition increments its epoch, which fences off the previous owner if it is still running.

Source: docs/adr/0037-spool-log.md.
"""

from collections.abc import Collection, Sequence
from typing import Any
from uuid import UUID

import msgspec
from sqlalchemy import BigInteger, ColumnElement, Select, bindparam, or_, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from hoglet.kit.errors import HogletError
from hoglet.spool.tables import SpoolPositionRow
from hoglet.store.database import Database, insert_into

_Row = SpoolPositionRow


class OwnershipLost(HogletError):
    """Another server took over the partition; roll back."""

    code = "ownership_lost"
    retry = "later"


class Position(msgspec.Struct, frozen=True, kw_only=True):
    """The progress of an owner in a partition.

    Args:
        log: the name of the log.
        partition: its number.
        epoch: incremented whenever the partition gets another owner.
        done_upto: entries up to this position are stored.
        group_from: first position of the group in progress; None if there is none.
        group_to: last position of that group.
        group_project: projects with ids up to this one are stored already.
        group_id: partitions with the same one are stored together; None for a group of one.
        joined_events: projects with up to so many events together are stored together; None: one
            after another.
        named_by_members: the blocks of the group are named after all of its entries; otherwise
            after the first one.
        owner: name of the owner; None if there is none.
    """

    log: str
    partition: int
    epoch: int
    done_upto: int
    group_from: int | None = None
    group_to: int | None = None
    group_project: int = 0
    group_id: UUID | None = None
    joined_events: int | None = None
    named_by_members: bool | None = None
    owner: str | None = None


async def create_partitions(database: Database, log: str, count: int) -> None:
    """Create the positions of ``count`` partitions; keeps existing ones, even surplus ones."""
    rows = [
        {
            "log": log,
            "partition": partition,
            "owner": None,
            "epoch": 0,
            "done_upto": 0,
            "group_project": 0,
        }
        for partition in range(count)
    ]
    async with database.write() as session:
        connection = await session.connection()
        insert = insert_into(session, _Row)
        await connection.execute(insert.on_conflict_do_nothing(), rows)


async def all_positions(session: AsyncSession, log: str) -> list[Position]:
    """The positions of all partitions of a log."""
    ordered = select(_Row).where(_Row.log == log).order_by(_Row.partition)
    return await _read(session, ordered)


async def former_logs(session: AsyncSession, log: str) -> list[str]:
    """The other logs on the same kind of broker that entries were stored from."""
    kind = log.partition(":")[0]
    is_former = (_Row.log != log) & _Row.log.startswith(f"{kind}:") & (_Row.done_upto > 0)
    return sorted(await session.scalars(select(_Row.log).where(is_former).distinct()))


async def lock_free(session: AsyncSession, log: str, living: Collection[str]) -> list[Position]:
    """Lock the partitions without a live owner, except those with a commit in progress."""
    free = select(_Row).where(_Row.log == log, _is_free(living))
    return await _read(session, free.order_by(_Row.partition).with_for_update(skip_locked=True))


async def take(
    session: AsyncSession, log: str, partitions: Sequence[int], owner: str
) -> list[Position]:
    """Become the owner of locked partitions; increments their epochs."""
    if not partitions:
        return []
    free = (_Row.log == log) & _Row.partition.in_(partitions)
    taken = (
        update(_Row)
        .where(free)
        .values(owner=owner, epoch=_Row.epoch + 1)
        .returning(_Row)
        .execution_options(synchronize_session=False)
    )
    return [_position(row) for row in await session.scalars(taken)]


async def owned_by(session: AsyncSession, log: str, owner: str) -> dict[int, int]:
    """The partitions of an owner and their epochs."""
    statement = select(_Row.partition, _Row.epoch).where(_Row.log == log, _Row.owner == owner)
    return {row.partition: row.epoch for row in await session.execute(statement)}


async def give_up(session: AsyncSession, log: str, owner: str, partitions: Collection[int]) -> None:
    """Release partitions, so that other servers can claim them at once."""
    mine = (_Row.log == log) & (_Row.owner == owner) & _Row.partition.in_(list(partitions))
    await session.execute(
        update(_Row).where(mine).values(owner=None).execution_options(synchronize_session=False)
    )


async def store(session: AsyncSession, changes: Sequence[tuple[Position, Position]]) -> None:
    """Store the progress of an owner in several partitions.

    Args:
        session: a write transaction.
        changes: for each partition, the position as the owner knows it, and the new one. Rows are
            locked in this order, so it should be that of the partitions.

    Raises:
        OwnershipLost: another server owns a partition now, or an earlier commit whose response was
            lost succeeded after all; roll back.
    """
    result = await (await session.connection()).execute(
        _STORE, [_known(before) | _stored(after) for before, after in changes]
    )
    if result.rowcount != len(changes):
        numbers = ", ".join(str(before.partition) for before, _ in changes)
        raise OwnershipLost(f"A partition of the spool has another owner ({numbers}).")


# Executed for many positions in one round trip.
_STORE = (
    update(_Row)
    .where(
        _Row.log == bindparam("known_log"),
        _Row.partition == bindparam("known_partition"),
        _Row.epoch == bindparam("known_epoch"),
        _Row.done_upto == bindparam("known_done_upto"),
        _Row.group_to.is_not_distinct_from(bindparam("known_group_to", type_=BigInteger)),
        _Row.group_project == bindparam("known_group_project"),
    )
    .values(
        done_upto=bindparam("done_upto"),
        group_from=bindparam("group_from"),
        group_to=bindparam("group_to"),
        group_project=bindparam("group_project"),
        group_id=bindparam("group_id"),
        joined_events=bindparam("joined_events"),
        named_by_members=bindparam("named_by_members"),
    )
)


def _known(position: Position) -> dict[str, Any]:
    return {
        "known_log": position.log,
        "known_partition": position.partition,
        "known_epoch": position.epoch,
        "known_done_upto": position.done_upto,
        "known_group_to": position.group_to,
        "known_group_project": position.group_project,
    }


def _stored(position: Position) -> dict[str, Any]:
    return {
        "done_upto": position.done_upto,
        "group_from": position.group_from,
        "group_to": position.group_to,
        "group_project": position.group_project,
        "group_id": position.group_id,
        "joined_events": position.joined_events,
        "named_by_members": position.named_by_members,
    }


async def _read(session: AsyncSession, statement: Select[SpoolPositionRow]) -> list[Position]:
    rows = await session.scalars(statement.execution_options(populate_existing=True))
    return [_position(row) for row in rows]


def _is_free(living: Collection[str]) -> ColumnElement[bool]:
    return or_(_Row.owner.is_(None), _Row.owner.not_in(list(living)))


def _position(row: SpoolPositionRow) -> Position:
    return Position(
        log=row.log,
        partition=row.partition,
        epoch=row.epoch,
        done_upto=row.done_upto,
        group_from=row.group_from,
        group_to=row.group_to,
        group_project=row.group_project,
        group_id=row.group_id,
        joined_events=row.joined_events,
        named_by_members=row.named_by_members,
        owner=row.owner,
    )
