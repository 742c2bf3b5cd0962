"""The members of a range of the spool log: decoded entries, grouped by project."""

import heapq
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from hashlib import blake2b
from uuid import UUID

import msgspec

from hoglet.events.spool import SPOOL_QUEUE, SpooledV1, read_spooled
from hoglet.kit.clock import new_id
from hoglet.pipeline.ingest.sources import GroupLimits
from hoglet.queue import NewJob
from hoglet.spool import SpoolEntry
from hoglet.spool.positions import Position


class LogBatch(msgspec.Struct, frozen=True):
    """A decoded entry; ``spooled`` is None if it is unreadable."""

    partition: int
    position: int
    payload: bytes
    spooled: SpooledV1 | None

    @property
    def events(self) -> int:
        """Number of events; an unreadable entry counts as one."""
        return self.spooled.events if self.spooled else 1

    @property
    def lane(self) -> str:
        """Lane of the job that the entry may become: such jobs stay before later entries."""
        return f"partition:{self.partition}:{self.spooled.project_id if self.spooled else ''}"


class LogRange(msgspec.Struct):
    """Entries in progress, of partitions that are stored together.

    Args:
        positions: those of the partitions, ordered by partition.
        left: the projects not stored yet, in order, each with its batches, oldest first.
        unreadable: payloads of entries that cannot be decoded.
        lanes: lanes in which jobs wait that were earlier entries.
        is_new: nothing of its next projects can be in the warehouse yet.
    """

    positions: list[Position]
    left: list[tuple[int, list[LogBatch]]]
    unreadable: list[bytes]
    lanes: set[str]
    is_new: bool = False

    @property
    def partitions(self) -> list[int]:
        """The numbers of the partitions."""
        return [position.partition for position in self.positions]

    def next_projects(self) -> list[tuple[int, list[LogBatch]]]:
        """The projects that are stored next, together: the same ones on every attempt."""
        joined = self.positions[0].joined_events or 0
        events = 0
        for number, (_, batches) in enumerate(self.left):
            events += sum(batch.events for batch in batches)
            if number and events > joined:
                return self.left[:number]
        return self.left

    def name_of_next(self) -> UUID:
        """The name of the blocks of the next projects, the same one on every attempt.

        If the database lost its last commits, a group may be begun anew with other members. Under
        the name of its first entry, the warehouse would drop it as stored already.
        """
        ids = [id_of(batch.spooled) for _, batches in self.next_projects() for batch in batches]
        if not self.positions[0].named_by_members:
            return ids[0]
        return UUID(bytes=blake2b(b"".join(each.bytes for each in ids), digest_size=16).digest())


def batches_within(
    entries: Mapping[int, Sequence[SpoolEntry]], limits: GroupLimits
) -> dict[int, list[LogBatch]]:
    """Decode the first entries that are within the limits, by partition; at least one."""
    events = 0
    batches: dict[int, list[LogBatch]] = {}
    for partition, own in entries.items():
        for entry in own:
            batch = batch_of(partition, entry)
            events += batch.events
            if batches and events > limits.events:
                return batches
            batches.setdefault(partition, []).append(batch)
    return batches


def batch_of(partition: int, entry: SpoolEntry) -> LogBatch:
    """Decode an entry."""
    try:
        spooled = read_spooled(entry.payload)
    except msgspec.MsgspecError:
        spooled = None
    decoded = spooled if spooled and spooled.id else None
    return LogBatch(partition, entry.position, entry.payload, decoded)


def id_of(spooled: SpooledV1 | None) -> UUID:
    """The random id of a readable entry."""
    if spooled is None or spooled.id is None:
        raise TypeError("a batch of the log has an id")
    return spooled.id


def range_of(
    begun: Sequence[Position], batches: Mapping[int, Sequence[LogBatch]], lanes: Collection[str]
) -> LogRange:
    """Group batches by project; projects up to ``group_project`` are stored and left out.

    Partitions are merged by the times of receipt; within a partition the order stays.
    """
    done = {position.partition: position.group_project for position in begun}
    ordered = [batches.get(position.partition, ()) for position in begun]
    readable = [[each for each in own if each.spooled] for own in ordered]
    projects: dict[int, list[LogBatch]] = {}
    for batch in heapq.merge(*readable, key=_received_at):
        if batch.spooled and batch.spooled.project_id > done[batch.partition]:
            projects.setdefault(batch.spooled.project_id, []).append(batch)
    unreadable = [each.payload for own in ordered for each in own if each.spooled is None]
    return LogRange(list(begun), sorted(projects.items()), unreadable, set(lanes))


def _received_at(batch: LogBatch) -> datetime:
    if batch.spooled is None:
        raise TypeError("an unreadable entry has no time")
    return batch.spooled.received_at


def unreadable_jobs(members: LogRange) -> list[NewJob]:
    """Failed jobs that keep unreadable entries; ``/_readyz`` reports them."""
    error = "The entry of the spool log cannot be read."
    return [
        NewJob(queue=SPOOL_QUEUE, payload=payload, id=new_id(), error=error)
        for payload in members.unreadable
    ]
