"""Batches in ranges of the spool log, of one or several partitions and projects.

If a group fails, its entries are moved from the log to the queue as jobs, where they can wait for a
retry without blocking later entries of the partition.
"""

import contextlib
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from datetime import timedelta

from sqlalchemy.ext.asyncio import AsyncSession

from hoglet.events.spool import SPOOL_QUEUE
from hoglet.pipeline.ingest.ipc import Part
from hoglet.pipeline.ingest.sources import ProjectParts, part_of
from hoglet.pipeline.ingest.spool_log.members import LogBatch, LogRange, id_of
from hoglet.pipeline.ingest.spool_log.ranges import LogRanges
from hoglet.queue import NewJob


class LogGroup:
    """See :class:`hoglet.pipeline.ingest.sources.SpooledGroup`."""

    def __init__(self, ranges: LogRanges, begun: LogRange) -> None:
        self._ranges = ranges
        self._range = begun
        self._moved = begun.positions
        self._projects = begun.next_projects()
        self.partitions = begun.partitions
        self.projects = [
            ProjectParts(project_id, _parts_of(batches)) for project_id, batches in self._projects
        ]
        self.id = begun.name_of_next()
        self.events = sum(each.events for _, batches in self._projects for each in batches)
        self.jobs = 0
        self.leaves_some = len(begun.left) > len(self._projects)
        self.is_new = begun.is_new
        self.is_divisible = begun.is_new and len(self._projects) > 1
        self.retries = 0

    @property
    def follows_jobs(self) -> bool:
        """Whether earlier entries of its projects were still waiting as jobs."""
        lanes = {batch.lane for _, batches in self._projects for batch in batches}
        return not self._range.lanes.isdisjoint(lanes)

    def held(self) -> AbstractAsyncContextManager[None]:
        """Do nothing: the process's heartbeat keeps the partition."""
        return contextlib.nullcontext()

    async def finish(self, session: AsyncSession) -> None:
        """Advance the positions if this process still owns the partitions."""
        self._moved = await self._ranges.finish(session, self._range)

    async def ended(self) -> None:
        """Release the partitions for their next group."""
        self._ranges.ended(self._range, self._moved)
        await self.undo()

    async def release(self) -> None:
        """Release the partitions, so that any worker can start this group again."""
        self._range.is_new = False
        await self.undo()

    async def undo(self) -> None:
        """Release the partitions of a group of which nothing was inserted."""
        for partition in self.partitions:
            self._ranges.owner.release(partition)

    async def postpone(self, pause: timedelta) -> None:  # noqa: ARG002 (the queue's worker has its own)
        """Turn the group into jobs under the same id: the warehouse may have some of its blocks."""
        try:
            await self.divert(together=True)
        finally:
            await self.release()

    async def postpone_project(self, project_id: int, pause: timedelta) -> None:  # noqa: ARG002 (it has one)
        """Have the projects stored one after another: the one that fails becomes jobs by itself."""
        try:
            await self._ranges.separate(self._range)
        finally:
            await self.undo()

    async def divert(self, *, together: bool) -> None:
        """Move the entries to the queue as jobs.

        Args:
            together: whether they must stay one group, because they were tried as a group.
        """
        async with self._ranges.database.write() as session:
            await self._ranges.queue.enqueue(session, self._as_jobs(together=together))
            await self.finish(session)
        self._ranges.ended(self._range, self._moved)

    def _as_jobs(self, *, together: bool) -> list[NewJob]:
        return [
            NewJob(
                queue=SPOOL_QUEUE,
                payload=batch.payload,
                id=id_of(batch.spooled),
                ordering_key=f"project:{project_id}",
                weight=max(batch.events, 1),
                lane=batch.lane,
                group=self.id if together else None,
            )
            for project_id, batches in self._projects
            for batch in batches
        ]


def _parts_of(batches: Sequence[LogBatch]) -> list[Part]:
    return [part_of(each.spooled, id_of(each.spooled)) for each in batches if each.spooled]
