"""Decodes entries of the spool log as batches, and collects the members of a range."""

from collections.abc import Sequence

import msgspec

from hoglet.events.spool import SPOOL_QUEUE, SpooledV1, read_spooled
from hoglet.kit.ids import new_id
from hoglet.pipeline.ingest.sources import GroupLimits
from hoglet.queue import NewJob
from hoglet.spool import SpoolEntry


class LogBatch(msgspec.Struct, frozen=True):
    """A decoded entry; ``spooled`` is None if it is unreadable."""

    position: int
    payload: bytes
    spooled: SpooledV1 | None

    @property
    def events(self) -> int:
        """Number of events; an unreadable entry counts as one."""
        return self.spooled.events if self.spooled else 1


class RangeMembers(msgspec.Struct):
    """The members of a range in progress; ``left`` are the projects not stored yet, in order."""

    left: list[tuple[int, list[LogBatch]]]
    unreadable: list[bytes]


def batches_within(entries: Sequence[SpoolEntry], limits: GroupLimits) -> list[LogBatch]:
    """Decode the longest prefix of entries that is within the limits; at least one entry."""
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
    """Decode an entry."""
    try:
        spooled = read_spooled(entry.payload)
    except msgspec.MsgspecError:
        spooled = None
    return LogBatch(entry.position, entry.payload, spooled if spooled and spooled.id else None)


def members_of(batches: Sequence[LogBatch], after_project: int) -> RangeMembers:
    """Group batches by project; projects up to ``after_project`` are stored and left out."""
    projects: dict[int, list[LogBatch]] = {}
    for batch in batches:
        if batch.spooled is not None and batch.spooled.project_id > after_project:
            projects.setdefault(batch.spooled.project_id, []).append(batch)
    unreadable = [batch.payload for batch in batches if batch.spooled is None]
    return RangeMembers(sorted(projects.items()), unreadable)


def unreadable_jobs(members: RangeMembers) -> list[NewJob]:
    """Failed jobs that keep unreadable entries; ``/_readyz`` reports them."""
    error = "The entry of the spool log cannot be read."
    return [
        NewJob(queue=SPOOL_QUEUE, payload=payload, id=new_id(), error=error)
        for payload in members.unreadable
    ]
