"""Group commits: what many runs want to record goes to disk in one transaction.

A commit costs a disk write. Runs that end while one is under way wait together for the next. Each
piece of work has its own savepoint, so that one that fails does not take the others with it.
"""

import asyncio
from collections.abc import Awaitable, Callable

from sqlalchemy.ext.asyncio import AsyncSession

from hoglet.store.database import Database

type Work = Callable[[AsyncSession], Awaitable[None]]

MOST_AT_ONCE = 200


class GroupCommits:
    """Runs pieces of work in shared transactions.

    Concurrency: any number of tasks may wait; one task at a time commits for all.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._waiting: list[tuple[Work, asyncio.Future[None]]] = []
        self._committer: asyncio.Task[None] | None = None

    async def commit(self, work: Work) -> None:
        """Return once ``work`` was done and committed.

        Raises:
            Exception: what ``work`` raised (its changes are undone), or what the commit raised.
        """
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((work, done))
        if self._committer is None:
            self._committer = asyncio.create_task(self._commit_all())
        await asyncio.shield(done)

    async def _commit_all(self) -> None:
        try:
            while self._waiting:
                taken = self._waiting[:MOST_AT_ONCE]
                self._waiting = self._waiting[MOST_AT_ONCE:]
                await self._commit(taken)
        finally:
            self._committer = None

    async def _commit(self, taken: list[tuple[Work, asyncio.Future[None]]]) -> None:
        failures: dict[int, Exception] = {}
        try:
            async with self._database.write() as session:
                for place, (work, _) in enumerate(taken):
                    try:
                        async with session.begin_nested():
                            await work(session)
                    except Exception as error:  # noqa: BLE001 (handed to the one who asked)
                        failures[place] = error
        except Exception as error:  # noqa: BLE001 (handed to all who wait)
            failures = dict.fromkeys(range(len(taken)), error)
        for place, (_, done) in enumerate(taken):
            if done.cancelled():
                continue
            if place in failures:
                done.set_exception(failures[place])
            else:
                done.set_result(None)
