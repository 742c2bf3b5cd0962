"""Entries of the spool log as batches, and the members of a range of a partition."""

from collections.abc import Sequence

import msgspec

from hoglet.events.spool import SPOOL_QUEUE, SpooledV1, read_spooled
from hoglet.kit.ids import new_id
from hoglet.pipeline.ingest.sources import GroupLimits
from hoglet.queue import NewJob
from hoglet.spool import SpoolEntry


class LogBatch(msgspec.Struct, frozen=True):
    """An entry; ``spooled`` is None if it cannot be read."""

    position: int
    payload: bytes
    spooled: SpooledV1 | None

    @property
    def events(self) -> int:
        """How many it has; what cannot be read counts as one."""
        return self.spooled.events if self.spooled else 1


class RangeMembers(msgspec.Struct):
    """A begun range; ``left`` are its projects that are not stored yet, in order."""

    left: list[tuple[int, list[LogBatch]]]
    unreadable: list[bytes]


def batches_within(entries: Sequence[SpoolEntry], limits: GroupLimits) -> list[LogBatch]:
    """The longest beginning within the limits; at least one entry."""
    events = 0
    batches: list[LogBatch] = []
    for entry in entries:
        batch = batch_of(entry)
        events += batch.events
        if batches and events > limits.events:
            break
        batches.append(batch)
    return batches


def batch_of(entry: SpoolEntry) -> LogBatch:
    """Read an entry."""
    try:
        spooled = read_spooled(entry.payload)
    except msgspec.MsgspecError:
        spooled = None
    return LogBatch(entry.position, entry.payload, spooled if spooled and spooled.id else None)


def members_of(batches: Sequence[LogBatch], after_project: int) -> RangeMembers:
    """The batches by project; of projects up to ``after_project`` all are stored."""
    projects: dict[int, list[LogBatch]] = {}
    for batch in batches:
        if batch.spooled is not None and batch.spooled.project_id > after_project:
            projects.setdefault(batch.spooled.project_id, []).append(batch)
    unreadable = [batch.payload for batch in batches if batch.spooled is None]
    return RangeMembers(sorted(projects.items()), unreadable)


def unreadable_jobs(members: RangeMembers) -> list[NewJob]:
    """What is no batch stays as a failed job, which ``/_readyz`` reports."""
    error = "The entry of the spool log cannot be read."
    return [
        NewJob(queue=SPOOL_QUEUE, payload=payload, id=new_id(), error=error)
        for payload in members.unreadable
    ]
