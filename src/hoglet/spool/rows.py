"""The spool log in PostgreSQL.

A transaction that appends locks the partition's row, takes positions from it and inserts its
entries, so entries become visible in the order of their positions. A sequence cannot guarantee
that: transactions may commit in a different order than they drew their numbers.

Source: docs/adr/0037-spool-log.md.
"""

from collections.abc import AsyncGenerator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta

from sqlalchemy import delete, func, insert, select
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncSession

from hoglet.spool.port import SpoolEntry, SpoolUnavailable
from hoglet.spool.tables import SpoolEntryRow, SpoolPartitionRow
from hoglet.spool.wakeups import Wakeups
from hoglet.store.base import insert_into
from hoglet.store.database import Database

_MOST_ROWS = 1000  # per read

_Entry, _Partition = SpoolEntryRow, SpoolPartitionRow


class RowLog:
    """See :class:`hoglet.spool.port.SpoolLog`.

    Args:
        database: a PostgreSQL database.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._wakeups = Wakeups()

    async def append(self, batches: Mapping[int, Sequence[bytes]]) -> dict[int, int]:
        """Return once the payloads are durable, all or none; see the port."""
        filled = {partition: batches[partition] for partition in sorted(batches)}
        async with _reachable(), self._database.write() as session:
            last = await _take_positions(session, filled)
            rows = [row for partition in filled for row in _rows(filled, partition, last)]
            await (await session.connection()).execute(insert(_Entry), rows)
        self._wakeups.wake(filled)
        return last

    async def read(self, partition: int, after: int, limit_bytes: int) -> list[SpoolEntry]:
        """The entries at positions above ``after``; see the port."""
        nearest = (
            select(_Entry.position, _Entry.payload)
            .where(_Entry.partition == partition, _Entry.position > after)
            .order_by(_Entry.position)
            .limit(_MOST_ROWS)
            .subquery()
        )
        size = func.sum(func.length(nearest.c.payload)).over(order_by=nearest.c.position)
        rank = func.row_number().over(order_by=nearest.c.position)
        sized = select(nearest, size.label("size"), rank.label("rank")).subquery()
        within = (sized.c.size <= limit_bytes) | (sized.c.rank == 1)
        statement = (
            select(sized.c.position, sized.c.payload).where(within).order_by(sized.c.position)
        )
        async with _reachable(), self._database.read() as session:
            rows = (await session.execute(statement)).all()
        return [SpoolEntry(row.position, row.payload) for row in rows]

    async def trim(self, partition: int, upto: int) -> None:
        """Delete the entries up to a position."""
        done = (_Entry.partition == partition) & (_Entry.position <= upto)
        async with _reachable(), self._database.write() as session:
            await session.execute(delete(_Entry).where(done))

    async def last_position(self, partition: int) -> int:
        """The highest position ever appended."""
        statement = select(_Partition.last_position).where(_Partition.partition == partition)
        async with _reachable(), self._database.read() as session:
            return await session.scalar(statement) or 0

    async def wait(
        self,
        partitions: Collection[int],
        timeout: timedelta,  # noqa: ASYNC109 (a ceiling, not a cancellation)
    ) -> set[int]:
        """Wait until this process appends to one of the partitions; see the port."""
        return await self._wakeups.wait(partitions, timeout)

    def wake(self, partitions: Collection[int]) -> None:
        """End the current waits for these partitions, or the next one."""
        self._wakeups.wake(partitions)

    async def close(self) -> None:
        """Do nothing: the server closes the database."""


async def _take_positions(
    session: AsyncSession, batches: Mapping[int, Sequence[bytes]]
) -> dict[int, int]:
    """Lock the partitions in order, to avoid deadlocks; returns their last positions."""
    given = insert_into(session, _Partition).values(
        [{"partition": each, "last_position": len(batches[each])} for each in batches]
    )
    taken = given.on_conflict_do_update(
        index_elements=[_Partition.partition],
        set_={"last_position": _Partition.last_position + given.excluded.last_position},
    ).returning(_Partition.partition, _Partition.last_position)
    return {row.partition: row.last_position for row in await session.execute(taken)}


def _rows(
    batches: Mapping[int, Sequence[bytes]], partition: int, last: Mapping[int, int]
) -> list[dict[str, object]]:
    payloads = batches[partition]
    first = last[partition] - len(payloads) + 1
    return [
        {"partition": partition, "position": position, "payload": payload}
        for position, payload in enumerate(payloads, first)
    ]


@asynccontextmanager
async def _reachable() -> AsyncGenerator[None]:
    try:
        yield
    except (SQLAlchemyError, OSError) as error:
        raise SpoolUnavailable(f"The database of the spool does not answer: {error}") from error
