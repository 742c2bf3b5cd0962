"""Runs that can be cancelled by the id their caller chose, on this server or another.

The server that receives the request to cancel a run of another server of the same PostgreSQL does
not know which one has it, so it writes a row. Each server that has runs with ids looks for such
rows every half second, cancels its run and reports in the row.
"""

import asyncio
from collections import defaultdict
from collections.abc import Collection, Coroutine, Generator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any
from uuid import UUID

import msgspec
import structlog
from sqlalchemy import delete, select, update

from hoglet.endpoints.errors import RunCancelled
from hoglet.endpoints.tables import CancelRequestRow
from hoglet.kit.clock import Clock, new_id
from hoglet.store.database import Database

POLL_SECONDS = 0.5
FOUND_WITHIN_SECONDS = 2.0
ENDED_WITHIN_SECONDS = 35.0  # the warehouse tries to stop a query for this long
_STEP_SECONDS = 0.1
_VALID_FOR = timedelta(minutes=1)  # a request of a killed server must not cancel a later run

type RunKey = tuple[UUID, str]


class CancelRequests:
    """The rows through which servers request the cancellation of each other's runs.

    Concurrency: any number of servers; with SQLite there is one, and nothing is written.
    """

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock
        self.is_shared = not database.is_sqlite

    async def ask(self, key: RunKey) -> bool:
        """Ask other servers to cancel a run, and wait until it has ended.

        Returns:
            Whether another server had the run.
        """
        owner_id, query_id = key
        if not self.is_shared or "\x00" in query_id:  # no run has such an id
            return False
        row_id = new_id()
        now = self._clock.now()
        async with self._database.write() as session:
            expired = CancelRequestRow.requested_at < now - _VALID_FOR
            await session.execute(delete(CancelRequestRow).where(expired))
            session.add(
                CancelRequestRow(id=row_id, owner_id=owner_id, query_id=query_id, requested_at=now)
            )
        try:
            if not await self._reported(row_id, "found_at", FOUND_WITHIN_SECONDS):
                return False
            await self._reported(row_id, "ended_at", ENDED_WITHIN_SECONDS)
            return True
        finally:
            async with self._database.write() as session:
                await session.execute(delete(CancelRequestRow).where(CancelRequestRow.id == row_id))

    async def find(self, keys: Collection[RunKey]) -> list[tuple[UUID, RunKey]]:
        """The open requests for these runs: ``[(request id, key)]``."""
        async with self._database.read() as session:
            rows = await session.execute(
                select(
                    CancelRequestRow.id, CancelRequestRow.owner_id, CancelRequestRow.query_id
                ).where(
                    CancelRequestRow.found_at.is_(None),
                    CancelRequestRow.requested_at > self._clock.now() - _VALID_FOR,
                )
            )
            requests = [(row_id, (owner, query_id)) for row_id, owner, query_id in rows]
        return [request for request in requests if request[1] in keys]

    async def report(self, row_id: UUID, *, is_ended: bool) -> None:
        """Report to the requesting server that the run was found, or has ended."""
        now = self._clock.now()
        values = {"ended_at": now} if is_ended else {"found_at": now}
        async with self._database.write() as session:
            await session.execute(
                update(CancelRequestRow).where(CancelRequestRow.id == row_id).values(values)
            )

    async def _reported(self, row_id: UUID, column: str, seconds: float) -> bool:
        for _ in range(round(seconds / _STEP_SECONDS)):
            await asyncio.sleep(_STEP_SECONDS)
            async with self._database.read() as session:
                row = await session.get(CancelRequestRow, row_id)
            if row is not None and getattr(row, column) is not None:
                return True
        return False


log = structlog.get_logger()


class _Announced(msgspec.Struct, eq=False):
    """A run in preparation; ``watch`` refuses to start it once it is cancelled."""

    is_cancelled: bool = False


class CancellableRuns:
    """The runs of this process, by endpoint and ``client_query_id``.

    A run is announced before anything is read for it and watched while it computes, so it can be
    cancelled at any time, with ``requests`` by other servers too.

    Concurrency: used from one event loop.
    """

    def __init__(self, requests: CancelRequests) -> None:
        self._requests = requests
        self._polling: asyncio.Task[None] | None = None
        self._announced: defaultdict[RunKey, set[_Announced]] = defaultdict(set)
        self._tasks: defaultdict[RunKey, set[asyncio.Task[Any]]] = defaultdict(set)
        self._cancelled: set[asyncio.Task[Any]] = set()

    @contextmanager
    def announced(self, endpoint_id: UUID, query_id: str) -> Generator[None]:
        """Announce a run with this id during the block."""
        key, run = (endpoint_id, query_id), _Announced()
        self._announced[key].add(run)
        self._start_polling()
        try:
            yield
        finally:
            _remove(self._announced, key, run)

    async def watch[T](self, endpoint_id: UUID, query_id: str, work: Coroutine[Any, Any, T]) -> T:
        """Do work that ``cancel`` can stop.

        Raises:
            RunCancelled: the run is or was cancelled.
        """
        key = (endpoint_id, query_id)
        if any(run.is_cancelled for run in self._announced.get(key, ())):
            work.close()
            raise _cancelled()
        task = asyncio.ensure_future(work)
        self._tasks[key].add(task)
        task.add_done_callback(lambda _: self._forget(key, task))
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            waiting = asyncio.current_task()
            if waiting is not None and waiting.cancelling():
                self._cancel(task)
                raise
            raise _cancelled() from None

    async def cancel_elsewhere(self, endpoint_id: UUID, query_id: str) -> bool:
        """Cancel the runs with this id on other servers; returns whether one had any."""
        return await self._requests.ask((endpoint_id, query_id))

    async def cancel(self, endpoint_id: UUID, query_id: str) -> bool:
        """Cancel this process's runs with this id and wait for their end.

        Returns whether there were any. A query that other callers wait for continues for them.

        Idempotency: a second call waits for the same end.
        """
        key = (endpoint_id, query_id)
        announced = self._announced.get(key, set())
        for run in announced:
            run.is_cancelled = True
        tasks = set(self._tasks.get(key, ()))
        for task in tasks:
            self._cancel(task)
        if tasks:
            await asyncio.wait(tasks)
        return bool(tasks or announced)

    def _start_polling(self) -> None:
        if self._requests.is_shared and (self._polling is None or self._polling.done()):
            self._polling = asyncio.create_task(self._poll(), name="cancel requests")

    async def _poll(self) -> None:
        """Answer cancel requests of other servers while this server has runs with ids."""
        while True:
            await asyncio.sleep(POLL_SECONDS)
            keys = {*self._announced, *self._tasks}
            if not keys:
                return
            try:
                requests = await self._requests.find(keys)
                await asyncio.gather(*(self._serve(row_id, key) for row_id, key in requests))
            except Exception:
                log.exception("cancel requests cannot be read", action="cancel_requests_failed")

    async def _serve(self, row_id: UUID, key: RunKey) -> None:
        await self._requests.report(row_id, is_ended=False)
        await self.cancel(*key)
        await self._requests.report(row_id, is_ended=True)

    def _cancel(self, task: asyncio.Task[Any]) -> None:
        """Cancel a task once: a second time would interrupt its wait for the engine to stop."""
        if task not in self._cancelled:
            self._cancelled.add(task)
            task.cancel()

    def _forget(self, key: RunKey, task: asyncio.Task[Any]) -> None:
        _remove(self._tasks, key, task)
        self._cancelled.discard(task)
        if not task.cancelled():
            task.exception()  # retrieved, so that asyncio does not warn if nobody waits


def _remove[V](members: dict[RunKey, set[V]], key: RunKey, member: V) -> None:
    members[key].discard(member)
    if not members[key]:
        del members[key]


def _cancelled() -> RunCancelled:
    return RunCancelled("The run was cancelled.")
