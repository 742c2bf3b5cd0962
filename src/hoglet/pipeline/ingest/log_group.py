"""The batches of one project in a range of the spool log.

A group that fails leaves the log: its entries become jobs of the queue, where it can wait without
keeping others from being stored.
"""

import contextlib
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from datetime import timedelta
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from hoglet.events.spool import SPOOL_QUEUE, SpooledV1
from hoglet.pipeline.ingest.log_batches import LogBatch
from hoglet.pipeline.ingest.log_ranges import LogRanges
from hoglet.pipeline.ingest.sources import part_of
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
        self.retries = 0
        self.lane = f"partition:{position.partition}:{project_id}"
        """Of the jobs that were entries of the partition."""

    def held(self) -> AbstractAsyncContextManager[None]:
        """The partition stays this process's as long as it has a heartbeat."""
        return contextlib.nullcontext()

    async def finish(self, session: AsyncSession) -> None:
        """Move the position, if the partition is still this process's."""
        self._moved = await self._ranges.finish(session, self._position)

    async def ended(self) -> None:
        """Let the next group begin."""
        self._ranges.ended(self._moved)
        await self.release()

    async def release(self) -> None:
        """Let any worker begin it again."""
        self._ranges.owner.release(self._position.partition)

    async def postpone(self, pause: timedelta) -> None:  # noqa: ARG002 (the queue's worker has its own)
        """Go on as jobs, under the same id: some blocks may be in the warehouse."""
        try:
            await self.divert(together=True)
        finally:
            await self.release()

    async def follows_jobs(self) -> bool:
        """Whether earlier entries of the project are jobs that wait."""
        earlier = select(JobRow.id).where(
            JobRow.queue == SPOOL_QUEUE,
            JobRow.priority == Priority.NORMAL,
            JobRow.lane == self.lane,
            JobRow.buried_at.is_(None),
        )
        async with self._ranges.database.read() as session:
            return await session.scalar(earlier.limit(1)) is not None

    async def divert(self, *, together: bool) -> Position:
        """Turn the entries into jobs of the queue.

        Args:
            together: they have been tried as a group, and stay one.

        Returns:
            The position behind them.
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
