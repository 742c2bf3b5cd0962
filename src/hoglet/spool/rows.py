"""The spool log in PostgreSQL.

A transaction that appends locks the partition's row, takes positions from it and inserts its
entries, so entries become visible in the order of their positions. A sequence cannot guarantee
that: transactions may commit in a different order than they drew their numbers.

Source: docs/adr/0037-spool-log.md.
"""

from collections.abc import AsyncGenerator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from itertools import chain

from sqlalchemy import (
    ARRAY,
    BigInteger,
    Insert,
    Integer,
    LargeBinary,
    Select,
    TableValuedAlias,
    bindparam,
    cast,
    delete,
    func,
    insert,
    select,
    true,
)
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncSession

from hoglet.spool.port import SpoolEntry, SpoolUnavailable
from hoglet.spool.tables import SpoolEntryRow, SpoolPartitionRow
from hoglet.spool.wakeups import Wakeups
from hoglet.store.database import Database, insert_into

_MOST_ROWS = 1000  # per read

_Entry, _Partition = SpoolEntryRow, SpoolPartitionRow


class RowLog:
    """See :class:`hoglet.spool.port.SpoolLog`.

    Args:
        database: a PostgreSQL database.
    """

    losses = 0

    def __init__(self, database: Database) -> None:
        self._database = database
        self._wakeups = Wakeups()

    async def append(self, batches: Mapping[int, Sequence[bytes]]) -> dict[int, int]:
        """Return once the payloads are durable, all or none; see the port."""
        filled = {partition: batches[partition] for partition in sorted(batches)}
        async with _reachable(), self._database.write() as session:
            last = await _take_positions(session, filled)
            await session.execute(_insert(filled, last))
        self._wakeups.wake(filled)
        return last

    async def read(self, after: Mapping[int, int], limit_bytes: int) -> dict[int, list[SpoolEntry]]:
        """The entries behind these positions; see the port."""
        entries: dict[int, list[SpoolEntry]] = {}
        if after:
            async with _reachable(), self._database.read() as session:
                rows = (await session.execute(_entries_after(after, limit_bytes))).all()
            for row in rows:
                entry = SpoolEntry(row.position, row.payload)
                entries.setdefault(row.partition, []).append(entry)
        return entries

    async def trim(self, upto: Mapping[int, int]) -> None:
        """Delete the entries up to these positions."""
        given = _table(("partition", "upto"), sorted(upto.items()))
        done = (_Entry.partition == given.c.partition) & (_Entry.position <= given.c.upto)
        async with _reachable(), self._database.write() as session:
            await (await session.connection()).execute(delete(_Entry).where(done))

    async def last_positions(self, partitions: Collection[int]) -> dict[int, int]:
        """The highest positions ever appended."""
        statement = select(_Partition.partition, _Partition.last_position)
        async with _reachable(), self._database.read() as session:
            stored = {row.partition: row.last_position for row in await session.execute(statement)}
        return {partition: stored.get(partition, 0) for partition in partitions}

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
    given = _table(("partition", "entries"), [(each, len(batches[each])) for each in batches])
    insert = insert_into(session, _Partition).from_select(
        [_Partition.partition, _Partition.last_position], select(given)
    )
    taken = insert.on_conflict_do_update(
        index_elements=[_Partition.partition],
        set_={"last_position": _Partition.last_position + insert.excluded.last_position},
    ).returning(_Partition.partition, _Partition.last_position)
    return {row.partition: row.last_position for row in await session.execute(taken)}


def _insert(batches: Mapping[int, Sequence[bytes]], last: Mapping[int, int]) -> Insert:
    """One statement for all entries, whose payloads are one parameter that PostgreSQL cuts.

    A statement for each entry takes more processor time, here and in PostgreSQL; so does an array
    of payloads, here.
    """
    rows: list[tuple[int, ...]] = []
    start = 1
    for partition, payloads in batches.items():
        first = last[partition] - len(payloads) + 1
        for position, payload in enumerate(payloads, first):
            rows.append((partition, position, start, len(payload)))
            start += len(payload)
    given = _table(("partition", "position", "start", "length"), rows)
    whole = bindparam(None, b"".join(chain.from_iterable(batches.values())), type_=LargeBinary())
    payload = func.substring(whole, cast(given.c.start, Integer), cast(given.c.length, Integer))
    entries = select(given.c.partition, given.c.position, payload)
    return insert(_Entry).from_select([_Entry.partition, _Entry.position, _Entry.payload], entries)


def _entries_after(after: Mapping[int, int], limit_bytes: int) -> Select[int, int, bytes]:
    """The rows within the limits: PostgreSQL reads no partition behind the one that reaches them.

    The inner ``ORDER BY`` lets it read the partitions in turn, without sorting all their entries.
    """
    rows = [(rank, *each) for rank, each in enumerate(after.items())]
    given = _table(("rank", "partition", "after"), rows)
    partitions = select(given).order_by(given.c.rank).subquery()
    entries = (
        select(_Entry.position, _Entry.payload)
        .where(_Entry.partition == partitions.c.partition, _Entry.position > partitions.c.after)
        .order_by(_Entry.position)
        .limit(_MOST_ROWS)
        .lateral()
    )
    nearest = (
        select(partitions.c.rank, partitions.c.partition, entries)
        .join_from(partitions, entries, true())
        .order_by(partitions.c.rank, entries.c.position)
        .limit(_MOST_ROWS)
        .subquery()
    )
    order = (nearest.c.rank, nearest.c.position)
    size = func.sum(func.length(nearest.c.payload)).over(order_by=order)
    number = func.row_number().over(order_by=order)
    sized = select(nearest, size.label("size"), number.label("number")).subquery()
    within = (sized.c.size <= limit_bytes) | (sized.c.number == 1)
    columns = select(sized.c.partition, sized.c.position, sized.c.payload).where(within)
    return columns.order_by(sized.c.rank, sized.c.position)


def _table(names: Sequence[str], rows: Sequence[tuple[int, ...]]) -> TableValuedAlias:
    """Rows of integers as a table; the text of the statement is the same for any number of rows."""
    columns = [
        bindparam(None, list(column), type_=ARRAY(BigInteger)) for column in zip(*rows, strict=True)
    ]
    return func.unnest(*columns).table_valued(*names).render_derived()


@asynccontextmanager
async def _reachable() -> AsyncGenerator[None]:
    try:
        yield
    except (SQLAlchemyError, OSError) as error:
        raise SpoolUnavailable(f"The database of the spool does not answer: {error}") from error
