"""SQL statements on the positions of a log's partitions.

Positions are stored in the metadata database, not in the log, so that a position advances in the
transaction that stores the group. Every update is conditional on the owner's epoch. Taking over a
partition increments its epoch, which fences off the previous owner if it is still running.

Source: docs/adr/0037-spool-log.md.
"""

from collections.abc import Collection, Sequence

import msgspec
from sqlalchemy import ColumnElement, or_, select, update
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
    """

    log: str
    partition: int
    epoch: int
    done_upto: int
    group_from: int | None = None
    group_to: int | None = None
    group_project: int = 0


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
    rows = await session.scalars(select(_Row).where(_Row.log == log).order_by(_Row.partition))
    return [_position(row) for row in rows]


async def lock_free(session: AsyncSession, log: str, living: Collection[str]) -> list[int]:
    """Lock the partitions without a live owner, except those with a commit in progress."""
    partitions = select(_Row.partition).where(_Row.log == log, _is_free(living))
    ordered = partitions.order_by(_Row.partition).with_for_update(skip_locked=True)
    return list(await session.scalars(ordered))


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


async def store(session: AsyncSession, before: Position, after: Position) -> None:
    """Store the progress of an owner.

    Args:
        session: a write transaction.
        before: the position as the owner knows it.
        after: the new position.

    Raises:
        OwnershipLost: another server owns the partition now, or an earlier commit whose response
            was lost succeeded after all.
    """
    mine = (
        (_Row.log == before.log)
        & (_Row.partition == before.partition)
        & (_Row.epoch == before.epoch)
        & (_Row.done_upto == before.done_upto)
        & _Row.group_to.is_not_distinct_from(before.group_to)
        & (_Row.group_project == before.group_project)
    )
    changed = (
        update(_Row)
        .where(mine)
        .values(
            done_upto=after.done_upto,
            group_from=after.group_from,
            group_to=after.group_to,
            group_project=after.group_project,
        )
    )
    result = await (await session.connection()).execute(changed)
    if result.rowcount != 1:
        raise OwnershipLost(f"Partition {before.partition} of the spool has another owner.")


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
    )
