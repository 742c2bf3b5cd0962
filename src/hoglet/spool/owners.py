"""Divides the partitions of a log among the live servers.

Each server writes a heartbeat and reads those of the others. It claims partitions whose owner has
stopped sending heartbeats, up to an equal share, and releases partitions beyond its share once they
have no group in progress. If two servers believe that they own the same partition, only the one
with the newest epoch can commit.

Partitions that have a group in progress together change their owner together, because only with
all of them the group can be stored as it was begun. So a server can have more than its share until
the group is stored.

Source: docs/adr/0037-spool-log.md.
"""

import asyncio
import contextlib
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import timedelta

import structlog
from sqlalchemy import delete, select
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncSession

from hoglet.kit.clock import Clock
from hoglet.spool import positions
from hoglet.spool.positions import OwnershipLost, Position
from hoglet.spool.tables import SpoolOwnerRow
from hoglet.store.database import Database, insert_into

HEARTBEAT = timedelta(seconds=2.5)
SILENT_AFTER = timedelta(seconds=9.5)
"""A server without a heartbeat for this long has lost its partitions. The others look again as soon
as one has been silent for so long, so its partitions are taken over within 10 s. When it took up to
12 s, busy machines needed 12 to 21.7 s until events were stored again; the limit is 15 s."""
_SOON = timedelta(milliseconds=20)
_FORGOTTEN_AFTER = timedelta(hours=1)
_LOCK = 5_309_117  # advisory lock: one server rebalances at a time

log = structlog.get_logger()


class PartitionOwner:
    """Claims and releases the partitions that this process owns.

    Concurrency: any number of tasks may hold partitions, each partition at most one.

    Args:
        database: stores the positions.
        clock: time of the heartbeats; on PostgreSQL the database's clock.
        name: unique name of this process.
        log_name: name of the log.
        logs: names of all logs that this process consumes; by default this one.
        on_lost_commits: called if the database has lost commits that it had confirmed.
    """

    def __init__(
        self,
        database: Database,
        clock: Clock,
        *,
        name: str,
        log_name: str,
        logs: Sequence[str] = (),
        on_lost_commits: Callable[[], None] | None = None,
    ) -> None:
        self._database = database
        self._clock = clock
        self._name = name
        self._log = log_name
        self._logs = " ".join(logs or [log_name])
        self._on_lost_commits = on_lost_commits
        self.on_taken: Callable[[set[int]], None] | None = None
        self._positions: dict[int, Position] = {}
        self._confirmed: dict[int, tuple[int, int, int]] = {}
        """How far the database has confirmed the partitions of all servers."""
        self._held: set[int] = set()
        self._leaving: set[int] = set()
        self._shares_groups = False
        self._joins_projects = False
        self._names_members = False
        self._pause = HEARTBEAT
        """Until the next heartbeat: shorter if another server is silent by then."""
        self._stopping = asyncio.Event()

    @property
    def owned(self) -> frozenset[int]:
        """The partitions from which this process may start groups, or finish shared ones."""
        return frozenset(
            each.partition
            for each in self._positions.values()
            if each.partition not in self._leaving or each.group_id is not None
        )

    @property
    def shares_groups(self) -> bool:
        """Whether a group may have several partitions: all servers know such groups."""
        return self._shares_groups

    @property
    def joins_projects(self) -> bool:
        """Whether a group may have several projects: all servers know such groups."""
        return self._joins_projects

    @property
    def names_members(self) -> bool:
        """Whether a group may be named after all of its entries: all servers know such groups."""
        return self._names_members

    def position(self, partition: int) -> Position:
        """The position of a reserved partition.

        Raises:
            OwnershipLost: another server has taken over the partition.
        """
        if partition not in self._positions:
            raise OwnershipLost(f"Partition {partition} of the spool has another owner.")
        return self._positions[partition]

    def owns(self, stored: Position) -> bool:
        """Whether a stored position names this process as its owner."""
        return stored.owner == self._name

    def hold(self, partition: int) -> Position | None:
        """Reserve a partition until :meth:`release`; None if it is reserved or not owned here."""
        if partition in self._held or partition not in self.owned:
            return None
        self._held.add(partition)
        return self._positions[partition]

    def moved(self, position: Position) -> None:
        """Record the new position after a group of a reserved partition was started or stored."""
        self._confirmed[position.partition] = _progress(position)
        known = self._positions.get(position.partition)
        if known is not None and known.epoch == position.epoch:
            self._positions[position.partition] = position

    def lost(self, position: Position) -> None:
        """Record that another server has taken over the partition."""
        known = self._positions.get(position.partition)
        if known is not None and known.epoch == position.epoch:
            del self._positions[position.partition]

    def release(self, partition: int) -> None:
        """End the reservation made by :meth:`hold`."""
        self._held.discard(partition)

    async def run(self) -> None:
        """Rebalance the partitions until :meth:`stop`; then release all of them."""
        while not self._stopping.is_set():
            self._pause = HEARTBEAT
            try:
                await self.divide()
            except (SQLAlchemyError, OSError) as error:
                log.warning("no heartbeat", action="heartbeat_failed", error=str(error))
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._stopping.wait(), self._pause.total_seconds())
        await self._leave()

    def stop(self) -> None:
        """End :meth:`run`; call it when no partition is reserved."""
        self._stopping.set()

    async def divide(self) -> None:
        """Write the heartbeat, release surplus partitions, claim free ones."""
        known, confirmed = dict(self._positions), dict(self._confirmed)
        async with self._database.write() as session:
            await self._database.serialize(session, _LOCK)
            living = await self._beat(session)
            everything = await positions.all_positions(session, self._log)
            mine = {each.partition: each for each in everything if each.owner == self._name}
            share = -(-len(everything) // len(living))
            self._leaving = set(sorted(mine)[share:])
            given_up = {each for each in self._leaving - self._held if self._is_idle(mine[each])}
            if given_up:
                await positions.give_up(session, self._log, self._name, given_up)
            has_free = any(each.owner not in living for each in everything)
            free = await self._whole(session, living) if has_free else []
            claimable = _claimable(free, share - len(mine)) + _unknown(mine, known)
            taken = await positions.take(session, self._log, claimable, self._name)
        self._compare(everything, confirmed)
        self._adopt(mine, given_up, taken)

    def _compare(
        self, everything: Sequence[Position], confirmed: Mapping[int, tuple[int, int, int]]
    ) -> None:
        """Report if the database has an earlier position than it has confirmed before.

        Positions that a group of this process has moved meanwhile are left out, and those that went
        back to 0 under the same epoch: their log may have been replaced.
        """
        stored = {each.partition: _progress(each) for each in everything}
        unmoved = {
            key: each
            for key, each in stored.items()
            if self._confirmed.get(key) == confirmed.get(key)
        }
        self._confirmed |= unmoved
        is_earlier = any(
            _is_earlier(each, confirmed[key]) for key, each in unmoved.items() if key in confirmed
        )
        if is_earlier and self._on_lost_commits is not None:
            self._on_lost_commits()

    def _is_idle(self, stored: Position) -> bool:
        """Whether no shared group is in progress; held partitions follow when theirs has ended."""
        known = self._positions.get(stored.partition, stored)
        return stored.group_id is None and known.group_id is None

    async def _whole(self, session: AsyncSession, living: Collection[str]) -> list[Position]:
        """Lock the free partitions; leaves out groups of which a part is being committed."""
        free = await positions.lock_free(session, self._log, living)
        if all(each.group_id is None for each in free):
            return free
        locked = {each.partition for each in free}
        torn = {
            each.group_id
            for each in await positions.all_positions(session, self._log)
            if each.partition not in locked and each.owner not in living
        }
        return [each for each in free if each.group_id is None or each.group_id not in torn]

    def _adopt(
        self, mine: Mapping[int, Position], given_up: set[int], taken: list[Position]
    ) -> None:
        unchanged = {
            partition: position
            for partition, position in self._positions.items()
            if partition in mine
            and mine[partition].epoch == position.epoch
            and partition not in given_up
        }
        self._positions = unchanged | {each.partition: each for each in taken}
        self._leaving -= given_up
        if taken or given_up:
            log.info(
                "partitions of the spool were divided",
                action="partitions_divided",
                taken=sorted(each.partition for each in taken),
                given_up=sorted(given_up),
            )
        if taken and self.on_taken is not None:
            self.on_taken({each.partition for each in taken})

    async def _beat(self, session: AsyncSession) -> list[str]:
        """Write the heartbeat; returns the live servers that consume the log, this one included.

        While ``HOGLET_SPOOL_URL`` is changed, one server after the other, some do not.
        """
        now = self._clock.now()
        row = SpoolOwnerRow
        known = {"shares_groups": True, "joins_projects": True, "names_members": True}
        changes = {"seen_at": now, "logs": self._logs, **known}
        beat = insert_into(session, row).values(name=self._name, **changes)
        await session.execute(beat.on_conflict_do_update(index_elements=["name"], set_=changes))
        servers = (await session.scalars(select(row))).all()
        if any(each.seen_at < now - _FORGOTTEN_AFTER for each in servers):
            await session.execute(delete(row).where(row.seen_at < now - _FORGOTTEN_AFTER))
        # A silent server of the version before may come back and take over partitions.
        recent = [each for each in servers if each.seen_at >= now - _FORGOTTEN_AFTER]
        self._shares_groups = all(each.shares_groups for each in recent)
        self._joins_projects = all(each.joins_projects for each in recent)
        self._names_members = all(each.names_members for each in recent)
        consumers = [
            each for each in servers if each.logs is None or self._log in each.logs.split()
        ]
        living = {each.name for each in consumers if each.seen_at > now - SILENT_AFTER}
        silent_in = [
            each.seen_at + SILENT_AFTER - now
            for each in consumers
            if each.name in living and each.name != self._name
        ]
        self._pause = min([HEARTBEAT, *(each + _SOON for each in silent_in)])
        return sorted({*living, self._name})

    async def _leave(self) -> None:
        with contextlib.suppress(SQLAlchemyError, OSError):  # others then wait for SILENT_AFTER
            async with self._database.write() as session:
                mine = await positions.owned_by(session, self._log, self._name)
                await positions.give_up(session, self._log, self._name, mine)
                await forget(session, self._name)
        self._positions.clear()


async def forget(session: AsyncSession, name: str) -> None:
    """Remove the heartbeat of a server that has ended: its partitions are free at once."""
    await session.execute(delete(SpoolOwnerRow).where(SpoolOwnerRow.name == name))


def _unknown(mine: Mapping[int, Position], known: Mapping[int, Position]) -> list[int]:
    """Partitions of ours whose position in the database this process does not know.

    The response to a claim was lost, or the database has lost commits that it had acknowledged,
    because a standby took over without them. Then lost positions are assigned again, and entries at
    them would be taken for stored.

    Args:
        mine: positions in the database.
        known: positions that this process knew before it read those.
    """
    return [
        each
        for each, stored in sorted(mine.items())
        if each not in known
        or known[each].epoch != stored.epoch
        or known[each].done_upto > stored.done_upto
    ]


def _progress(position: Position) -> tuple[int, int, int]:
    """Its epoch, what is stored, and the end of the group in progress: grows with each commit."""
    return position.epoch, position.done_upto, position.group_to or 0


def _is_earlier(stored: tuple[int, int, int], confirmed: tuple[int, int, int]) -> bool:
    is_replaced = stored[:2] == (confirmed[0], 0)
    return stored < confirmed and not is_replaced


def _claimable(free: Sequence[Position], capacity: int) -> list[int]:
    """The first partitions within the capacity, and those that share a group with them."""
    claimed: list[int] = []
    for each in free:
        shared = [other for other in free if other.group_id == each.group_id]
        if each.partition not in claimed and len(claimed) < capacity:
            claimed += [each.partition] if each.group_id is None else [p.partition for p in shared]
    return claimed
