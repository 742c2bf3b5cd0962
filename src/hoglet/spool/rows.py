"""The spool log in PostgreSQL.

A transaction that appends locks the partition's row, takes positions from it and inserts its
entries, so entries become visible in the order of their positions. A sequence cannot guarantee
that: transactions may commit in a different order than they drew their numbers.

Source: docs/adr/0037-spool-log.md.
"""

from collections.abc import AsyncGenerator, Callable, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from itertools import chain

from sqlalchemy import (
    ARRAY,
    BigInteger,
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

from hoglet.spool.port import SpoolEntry, SpoolUnavailable
from hoglet.spool.tables import SpoolEntryRow, SpoolPartitionRow, SpoolPositionRow
from hoglet.spool.wakeups import Wakeups
from hoglet.store.database import ConflictInsert, Database, insert_into

NAME = "rows"  # of the log, in its positions
_MAX_ROWS = 1000  # per read

_Entry, _Partition, _Stored = SpoolEntryRow, SpoolPartitionRow, SpoolPositionRow


class RowLog:
    """See :class:`hoglet.spool.port.SpoolLog`.

    Args:
        database: a PostgreSQL database.
        on_lost_commits: called if the database assigns positions again, because it has lost
            commits that it had confirmed.
    """

    losses = 0

    def __init__(
        self, database: Database, on_lost_commits: Callable[[], None] | None = None
    ) -> None:
        self._database = database
        self._on_lost_commits = on_lost_commits
        self._last: dict[int, int] = {}
        self._wakeups = Wakeups()

    async def append(self, batches: Mapping[int, Sequence[bytes]]) -> dict[int, int]:
        """Return once the payloads are durable, all or none; see the port."""
        filled = {partition: batches[partition] for partition in sorted(batches)}
        confirmed = {partition: self._last.get(partition, 0) for partition in filled}
        async with _reachable(), self._database.write() as session:
            rows = await session.execute(_append(insert_into(session, _Partition), filled))
            last = {row.partition: row.last_position for row in rows}
        self._wakeups.wake(filled)
        self._last |= last
        is_earlier = any(last[partition] <= confirmed[partition] for partition in last)
        if is_earlier and self._on_lost_commits is not None:
            self._on_lost_commits()
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
        """Delete the entries up to these positions, as far as the database has them as stored.

        After the failover to a standby without the last commits, there may be new entries at
        positions that were stored before.
        """
        given = _table(("partition", "upto"), sorted(upto.items()))
        done = (_Entry.partition == given.c.partition) & (_Entry.position <= given.c.upto)
        unstored = select(_Stored.partition).where(
            _Stored.log == NAME,
            _Stored.partition == _Entry.partition,
            _Stored.done_upto < _Entry.position,
        )
        done &= ~unstored.exists()
        async with _reachable(), self._database.write() as session:
            await (await session.connection()).execute(delete(_Entry).where(done))

    def deleted(self, stored: Mapping[int, int]) -> set[int]:  # noqa: ARG002 (the database keeps them)
        """None: nobody else deletes rows."""
        return set()

    async def used_share(self) -> float:
        """0: tables have no limit."""
        return 0.0

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


def _append(
    into_partitions: ConflictInsert, batches: Mapping[int, Sequence[bytes]]
) -> Select[int, int]:
    """Lock the partitions in order, take positions from them, and insert the entries.

    One statement, because other requests wait for the partitions until the commit. It yields the
    last positions. All payloads are one parameter that PostgreSQL cuts: a statement for each entry
    takes more processor time, here and in PostgreSQL; so does an array of payloads, here.
    """
    counts = _table(("partition", "entries"), [(each, len(batches[each])) for each in batches])
    insertion = into_partitions.from_select(
        [_Partition.partition, _Partition.last_position], select(counts)
    )
    taken = (
        insertion.on_conflict_do_update(
            index_elements=[_Partition.partition],
            set_={"last_position": _Partition.last_position + insertion.excluded.last_position},
        )
        .returning(_Partition.partition, _Partition.last_position)
        .cte("taken")
    )
    given = _table(("partition", "behind", "start", "length"), _places(batches))
    whole = bindparam(None, b"".join(chain.from_iterable(batches.values())), type_=LargeBinary())
    payload = func.substring(whole, cast(given.c.start, Integer), cast(given.c.length, Integer))
    position = taken.c.last_position - given.c.behind
    entries = select(given.c.partition, position, payload).join_from(
        given, taken, given.c.partition == taken.c.partition
    )
    columns = [_Entry.partition, _Entry.position, _Entry.payload]
    stored = insert(_Entry).from_select(columns, entries).cte("stored")
    return select(taken.c.partition, taken.c.last_position).add_cte(stored)


def _places(batches: Mapping[int, Sequence[bytes]]) -> list[tuple[int, int, int, int]]:
    """``(partition, entries behind, start, length)`` of each payload among all of them."""
    places: list[tuple[int, int, int, int]] = []
    start = 1
    for partition, payloads in batches.items():
        for behind, payload in zip(reversed(range(len(payloads))), payloads, strict=True):
            places.append((partition, behind, start, len(payload)))
            start += len(payload)
    return places


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
        .limit(_MAX_ROWS)
        .lateral()
    )
    nearest = (
        select(partitions.c.rank, partitions.c.partition, entries)
        .join_from(partitions, entries, true())
        .order_by(partitions.c.rank, entries.c.position)
        .limit(_MAX_ROWS)
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
