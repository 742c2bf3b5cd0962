"""SQL statements on the positions of a log's partitions.

Positions are stored in the metadata database, not in the log, so that a position advances in the
transaction that stores the group. Every update is conditional on the owner's epoch. Taking over a
partition increments its epoch, which fences off the previous owner if it is still running.

Source: docs/adr/0037-spool-log.md.
"""

from collections.abc import Callable, Collection, Sequence
from typing import Any
from uuid import UUID

import msgspec
from sqlalchemy import (
    BindParameter,
    ColumnElement,
    Select,
    Update,
    bindparam,
    or_,
    select,
    update,
)
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.types import TypeEngine

from hoglet.kit.errors import HogletError
from hoglet.spool.tables import SpoolPositionRow
from hoglet.store.database import Database, insert_into, insert_rows
from hoglet.store.row_arrays import arrays_of, unnested

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
        insert = insert_into(session, _Row).on_conflict_do_nothing()
        await insert_rows(session, insert, rows)


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
        changes: for each partition, the position as the owner knows it, and the new one.

    Raises:
        OwnershipLost: another server owns a partition now, or an earlier commit whose response was
            lost succeeded after all; roll back.
    """
    rows = [_values(before, _KNOWN, "known_") | _values(after, _NEW) for before, after in changes]
    connection = await session.connection()
    if connection.dialect.name == "sqlite":
        result = await connection.execute(_STORE_EACH, rows)
    else:
        result = await connection.execute(_STORE_ALL, arrays_of(rows))
    if result.rowcount != len(changes):
        numbers = ", ".join(str(before.partition) for before, _ in changes)
        raise OwnershipLost(f"A partition of the spool has another owner ({numbers}).")


_KNOWN = ("log", "partition", "epoch", "done_upto", "group_to", "group_project")
_NEW = (
    "done_upto",
    "group_from",
    "group_to",
    "group_project",
    "group_id",
    "joined_events",
    "named_by_members",
)


def _values(position: Position, names: Sequence[str], prefix: str = "") -> dict[str, Any]:
    return {prefix + name: getattr(position, name) for name in names}


def _store(given: Callable[[str], ColumnElement[Any]]) -> Update:
    """The update; ``given`` yields the expression of a known or a new value."""
    return (
        update(_Row)
        .where(
            _Row.log == given("known_log"),
            _Row.partition == given("known_partition"),
            _Row.epoch == given("known_epoch"),
            _Row.done_upto == given("known_done_upto"),
            _Row.group_to.is_not_distinct_from(given("known_group_to")),
            _Row.group_project == given("known_group_project"),
        )
        .values({name: given(name) for name in _NEW})
    )


def _parameter(name: str) -> BindParameter[Any]:
    return bindparam(name, type_=_type_of(name))


def _type_of(name: str) -> TypeEngine[Any]:
    return _Row.__table__.c[name.removeprefix("known_")].type


_STORE_EACH = _store(_parameter)
_STORE_ALL = _store(
    unnested(
        {name: _type_of(name) for name in (*(f"known_{each}" for each in _KNOWN), *_NEW)}
    ).c.__getitem__
)


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
