"""Which queues have no jobs: the consumers of a process ask together."""

import asyncio
import math
import time
from collections.abc import Collection

from sqlalchemy import exists, literal, select, union_all

from hoglet.queue.tables import JobRow
from hoglet.store.database import Database

_ASK_SECONDS = 0.5  # added to the pause of a consumer before it sees a job of another process


class EmptyQueues:
    """The queues without unfinished jobs: one statement for all consumers, not one for each.

    Args:
        database: database of the jobs.
        ask_seconds: how old an answer may be.
    """

    def __init__(self, database: Database, *, ask_seconds: float = _ASK_SECONDS) -> None:
        self._ask_seconds = ask_seconds
        self._database = database
        self._asking = asyncio.Lock()
        self._asked_at = -math.inf
        self._queues: set[str] = set()
        self._empty: set[str] = set()
        self._filled: set[str] = set()  # in this process, since the statement was sent

    def fill(self, queue: str) -> None:
        """Note that this process has enqueued jobs."""
        self._filled.add(queue)

    async def contain(self, queue: str) -> bool:
        """Whether a queue had no unfinished jobs a moment ago, and this process added none."""
        async with self._asking:
            is_old = time.monotonic() - self._asked_at >= self._ask_seconds
            if is_old or queue not in self._queues:
                await self._ask(self._queues | {queue})
        return queue in self._empty and queue not in self._filled

    async def _ask(self, queues: set[str]) -> None:
        asked_at = time.monotonic()
        self._filled.clear()
        self._empty = queues - await unfinished_queues(self._database, queues)
        self._queues, self._asked_at = queues, asked_at


async def unfinished_queues(database: Database, queues: Collection[str]) -> set[str]:
    """Those of the queues that have jobs which have not failed permanently."""
    unfinished = [
        select(literal(queue)).where(
            exists().where(JobRow.queue == queue, JobRow.buried_at.is_(None))
        )
        for queue in sorted(queues)
    ]
    async with database.read() as session:
        return set(await session.scalars(union_all(*unfinished)))
