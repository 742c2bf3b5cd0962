"""The batches of one project in ranges of the spool log, of one or several partitions.

If a group fails, its entries are moved from the log to the queue as jobs, where they can wait for a
retry without blocking later entries of the partition.
"""

import contextlib
from contextlib import AbstractAsyncContextManager
from datetime import timedelta
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from hoglet.events.spool import SPOOL_QUEUE, SpooledV1
from hoglet.pipeline.ingest.sources import ProjectParts, part_of
from hoglet.pipeline.ingest.spool_log.members import LogRange
from hoglet.pipeline.ingest.spool_log.ranges import LogRanges
from hoglet.queue import NewJob


class LogGroup:
    """See :class:`hoglet.pipeline.ingest.sources.SpooledGroup`."""

    def __init__(self, ranges: LogRanges, begun: LogRange) -> None:
        self._ranges = ranges
        self._range = begun
        self._moved = begun.positions
        self._project_id, self._batches = begun.left[0]
        self.partitions = begun.partitions
        batches = self._batches
        self._parts = [part_of(each.spooled, _id(each.spooled)) for each in batches if each.spooled]
        self.id = self._parts[0].job_id
        self.projects = [ProjectParts(self._project_id, self._parts)]
        self.events = sum(batch.events for batch in batches)
        self.jobs = 0
        self.leaves_some = len(begun.left) > 1
        self.is_divisible = False
        self.retries = 0

    @property
    def follows_jobs(self) -> bool:
        """Whether earlier entries of the project were still waiting as jobs."""
        return not self._range.lanes.isdisjoint(batch.lane for batch in self._batches)

    def held(self) -> AbstractAsyncContextManager[None]:
        """Do nothing: the process's heartbeat keeps the partition."""
        return contextlib.nullcontext()

    async def finish(self, session: AsyncSession) -> None:
        """Advance the positions if this process still owns the partitions."""
        self._moved = await self._ranges.finish(session, self._range)

    async def ended(self) -> None:
        """Release the partitions for their next group."""
        self._ranges.ended(self._range, self._moved)
        await self.release()

    async def release(self) -> None:
        """Release the partitions, so that any worker can start this group again."""
        for partition in self.partitions:
            self._ranges.owner.release(partition)

    async def undo(self) -> None:
        """Release the partitions; the group keeps its members."""
        await self.release()

    async def postpone(self, pause: timedelta) -> None:  # noqa: ARG002 (the queue's worker has its own)
        """Turn the group into jobs under the same id: the warehouse may have some of its blocks."""
        try:
            await self.divert(together=True)
        finally:
            await self.release()

    async def postpone_project(self, project_id: int, pause: timedelta) -> None:  # noqa: ARG002 (it has one)
        """Turn the group into jobs."""
        await self.postpone(pause)

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
                id=part.job_id,
                ordering_key=f"project:{self._project_id}",
                weight=max(batch.events, 1),
                lane=batch.lane,
                group=self.id if together else None,
            )
            for batch, part in zip(self._batches, self._parts, strict=True)
        ]


def _id(spooled: SpooledV1) -> UUID:
    if spooled.id is None:
        raise TypeError("a batch of the log has an id")
    return spooled.id
