"""The batches of one project in a range of the spool log.

If a group fails, its entries are moved from the log to the queue as jobs, where they can wait for a
retry without blocking later entries of the partition.
"""

import contextlib
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from datetime import timedelta
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from hoglet.events.spool import SPOOL_QUEUE, SpooledV1
from hoglet.pipeline.ingest.sources import part_of
from hoglet.pipeline.ingest.spool_log.ranges import LogBatch, LogRanges
from hoglet.queue import NewJob, Priority
from hoglet.queue.tables import JobRow
from hoglet.spool.positions import Position


class LogGroup:
    """See :class:`hoglet.pipeline.ingest.sources.SpooledGroup`."""

    def __init__(
        self,
        ranges: LogRanges,
        position: Position,
        project_id: int,
        batches: Sequence[LogBatch],
    ) -> None:
        self._ranges = ranges
        self._position = position
        self._moved = position
        self._batches = batches
        self.parts = [part_of(each.spooled, _id(each.spooled)) for each in batches if each.spooled]
        self.id = self.parts[0].job_id
        self.project_id = project_id
        self.events = sum(batch.events for batch in batches)
        self.retries = 0
        self.lane = f"partition:{position.partition}:{project_id}"
        """Lane of the jobs that entries of the partition are turned into."""

    def held(self) -> AbstractAsyncContextManager[None]:
        """Do nothing: the process's heartbeat keeps the partition."""
        return contextlib.nullcontext()

    async def finish(self, session: AsyncSession) -> None:
        """Advance the position if this process still owns the partition."""
        self._moved = await self._ranges.finish(session, self._position)

    async def ended(self) -> None:
        """Release the partition for its next group."""
        self._ranges.ended(self._moved)
        await self.release()

    async def release(self) -> None:
        """Release the partition, so that any worker can start this group again."""
        self._ranges.owner.release(self._position.partition)

    async def postpone(self, pause: timedelta) -> None:  # noqa: ARG002 (the queue's worker has its own)
        """Turn the group into jobs under the same id: the warehouse may have some of its blocks."""
        try:
            await self.divert(together=True)
        finally:
            await self.release()

    async def follows_jobs(self) -> bool:
        """Whether earlier entries of the project are still waiting as jobs."""
        earlier = select(JobRow.id).where(
            JobRow.queue == SPOOL_QUEUE,
            JobRow.priority == Priority.NORMAL,
            JobRow.lane == self.lane,
            JobRow.buried_at.is_(None),
        )
        async with self._ranges.database.read() as session:
            return await session.scalar(earlier.limit(1)) is not None

    async def divert(self, *, together: bool) -> Position:
        """Move the entries to the queue as jobs.

        Args:
            together: whether they must stay one group, because they were tried as a group.

        Returns:
            The position after these entries.
        """
        async with self._ranges.database.write() as session:
            await self._ranges.queue.enqueue(session, self._jobs(together=together))
            await self.finish(session)
        self._ranges.ended(self._moved)
        return self._moved

    def _jobs(self, *, together: bool) -> list[NewJob]:
        return [
            NewJob(
                queue=SPOOL_QUEUE,
                payload=batch.payload,
                id=part.job_id,
                ordering_key=f"project:{self.project_id}",
                weight=max(batch.events, 1),
                lane=self.lane,
                group=self.id if together else None,
            )
            for batch, part in zip(self._batches, self.parts, strict=True)
        ]


def _id(spooled: SpooledV1) -> UUID:
    if spooled.id is None:
        raise TypeError("a batch of the log has an id")
    return spooled.id
